"""Tables of configurations as irace has them: a header of names, a row each, NA for absent."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from racer._checks import did_you_mean
from racer.errors import CandidateError, SettingError, SpaceFileError, warn
from racer.space.irace.parameter_file import read
from racer.space.numeric import Integer
from racer.space.parameters import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from _typeshed import StrPath

    from racer.space.space import Space

_ABSENT = {"NA", "<NA>"}
_FIELD = re.compile(r"""\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^\s"'#]+))(?=\s|#|$)""")
_ESCAPE = re.compile(r"\\(.)")
_ESCAPES = {"\n": r"\n", "\r": r"\r"}
_UNESCAPED = {written: character for character, written in _ESCAPES.items()}
_LINE = re.compile(r"\r\n|\n|\r")
_BARE = re.compile(r"[A-Za-z0-9_.+-]+")


def read_configurations(path: StrPath, space: Space) -> list[dict[str, Any]]:
    """Return the configurations of a table, in the order of its rows, as the space writes them.

    SpaceFileError, with the line, for a column that is not a parameter, a parameter without a
    column, a row that does not fit, or a configuration outside the space.
    """
    source = str(path)
    rows = [
        (number, fields)
        for number, line in enumerate(_LINE.split(read(path)), start=1)
        if (fields := _fields(line, source, number))
    ]
    if not rows:
        raise SpaceFileError("there is no header in it", source)
    names = [text for text, _ in rows[0][1]]
    found = []
    for i, (number, row) in enumerate(rows):
        try:
            if i == 0:
                _check_header(names, space)
            else:
                found.append(_configuration(names, row, space, f"{source}, line {number}"))
        except CandidateError as error:
            raise SpaceFileError(str(error), source, number, 1) from error
    return found


def _fields(line: str, source: str, number: int) -> list[tuple[str, bool]]:
    """Split a line; each field with whether it was quoted."""
    fields, at, end = [], 0, len(line.rstrip())
    while at < end and line[at:].lstrip()[:1] != "#":
        match = _FIELD.match(line, at)
        if match is None:
            raise SpaceFileError(
                "a value, or its closing quote, is expected here", source, number, at + 1, line
            )
        quoted = match[3] is None
        text = _ESCAPE.sub(_unescaped, match[1] or match[2] or "") if quoted else match[3]
        fields.append((text, quoted))
        at = match.end()
    return fields


def _check_header(names: Sequence[str], space: Space) -> None:
    for name in names:
        if name not in space.parameters:
            hint = did_you_mean(name, space.parameters)
            raise CandidateError(f"the column {name!r} is not a parameter{hint}")
        if names.count(name) > 1:
            raise CandidateError(f"the column {name!r} is there twice")
    for name in space.free:
        if name not in names:
            raise CandidateError(
                f"there is no column for the parameter {name!r}: add one, with NA where it does "
                "not exist"
            )


def _configuration(
    names: Sequence[str], row: Sequence[tuple[str, bool]], space: Space, where: str
) -> dict[str, Any]:
    if len(row) == len(names) + 1:  # R writes row names without a header
        row = row[1:]
    if len(row) != len(names):
        raise CandidateError(f"{len(row)} values are there for {len(names)} columns")
    config = {
        name: _value(text, name, space, where)
        for name, (text, quoted) in zip(names, row, strict=True)
        if quoted or text not in _ABSENT
    }
    fixed = {
        name: domain.decode(0.0)
        for name, parameter in space.parameters.items()
        if name not in names and (domain := parameter.domain({})) is not None
    }
    both, conditions = {**fixed, **config}, space.conditions
    # a fixed parameter, which has no column, may be one that does not exist
    exists = {name for name in both if name not in conditions or conditions[name].holds(both)}
    return space.check({n: value for n, value in both.items() if n in names or n in exists})


def _value(text: str, name: str, space: Space, where: str) -> Any:
    """Return a field as a value of its parameter; the space refuses values that do not fit."""
    parameter = space.parameters[name]
    if (domain := listed(parameter)) is not None:
        alike = [value for value in domain.values() if str(value) == text]
        if len(alike) > 1:
            raise CandidateError(
                f"{name} = {text} is {' or '.join(map(repr, alike))}: a table cannot tell them apart"
            )
        return alike[0] if alike else text
    try:
        number = float(text)
    except ValueError:
        return text
    if isinstance(parameter, Integer):
        return int(number) if number.is_integer() else number
    digits = getattr(parameter, "digits", None)
    if digits is not None and round(number, digits) != number:
        warn(f"{where}: {name} = {text} is rounded to {digits} decimals")
        return round(number, digits)
    return number


def written_configurations(configs: Sequence[Mapping[str, Any]], names: Iterable[str]) -> str:
    """Return a table of configurations with these columns; SettingError unless all are mappings."""
    columns = list(names)
    if not all(hasattr(config, "get") for config in configs):
        raise SettingError("a table of configurations needs configurations that are dicts")
    lines = [" ".join(_quoted(str(name)) for name in columns)]
    lines += [
        " ".join("NA" if name not in config else _quoted(str(config[name])) for name in columns)
        for config in configs
    ]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    if _BARE.fullmatch(text) and text not in _ABSENT:
        return text
    return (
        '"'
        + re.sub(r'["\\\n\r]', lambda found: _ESCAPES.get(found[0], f"\\{found[0]}"), text)
        + '"'
    )


def _unescaped(found: re.Match[str]) -> str:
    return _UNESCAPED.get(found[0], found[1])
