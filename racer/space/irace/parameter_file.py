"""Parameter files of the R package irace, read after the description in its user guide."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

from racer._checks import whole
from racer._files import as_path, read_bytes
from racer.errors import SettingError, SpaceFileError, warn
from racer.space.expressions import Condition, Literal
from racer.space.irace.r_syntax import Node, RError, unquoted
from racer.space.irace.r_syntax import parse as parse_r
from racer.space.irace.translator import Translator
from racer.space.numeric import Integer, Real
from racer.space.parameters import Categorical, Ordinal, Parameter
from racer.space.structure import CircularError, in_order

if TYPE_CHECKING:
    from collections.abc import Iterator

    from _typeshed import StrPath


QUOTED = re.compile(r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'""")
"""A text in quotes."""

_CODE = re.compile(rf"(?:{QUOTED.pattern}|[^#])*")  # what precedes a comment
_NAME = re.compile(r"""[^\s"'(),|#\[\]]+""")
_TYPE = re.compile(r"(?P<kind>[rico])(?P<log>,log)?(?=[\s(])")
_PLAIN = re.compile(r"""[^,()|"'\s]+(?:[ \t]+[^,()|"'\s]+)*""")  # up to the comma, as irace does
_SECTION = re.compile(r"\[\s*(\w+)\s*\]\s*$")
_DIGITS = re.compile(r"digits\s*=\s*(\d{1,3})\s*$")
_REAL = Real(0.0, 1.0)


@dataclass
class _Line:
    """A line without its comment, read from left to right."""

    text: str
    number: int
    source: str
    at: int = 0

    def fail(self, message: str, column: int | None = None) -> NoReturn:
        """Refuse the line; columns count from 0 here, and from 1 in the message."""
        column = self.at if column is None else column
        raise SpaceFileError(message, self.source, self.number, column + 1, self.text)

    def skip(self) -> None:
        """Skip white space."""
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1

    def take(self, pattern: re.Pattern[str], wanted: str) -> re.Match[str]:
        self.skip()
        match = pattern.match(self.text, self.at)
        if match is None:
            self.fail(f"{wanted} is expected here")
        self.at = match.end()
        return match

    def next_is(self, mark: str) -> bool:
        """Read a mark if it comes next, after white space."""
        self.skip()
        found = self.text.startswith(mark, self.at)
        self.at += len(mark) if found else 0
        return found

    @contextmanager
    def offset(self, column: int) -> Iterator[None]:
        """Report errors of a part of the line that begins at `column`."""
        try:
            yield
        except RError as error:
            self.fail(str(error), column + error.column)

    def expression(self, text: str, column: int) -> Node:
        with self.offset(column):
            return parse_r(text)

    def rest(self) -> tuple[Node, int]:
        """Return the expression that the line ends with, and its column."""
        return self.expression(self.text[self.at :], self.at), self.at

    def condition(self, translator: Translator, node: Node, column: int) -> Condition:
        """Translate an expression that begins at `column`; warn of doubtful parts."""
        with self.offset(column):
            condition = translator.condition(node)
        for note, at in translator.notes:
            where = f"{self.source}, line {self.number}, column {column + at + 1}"
            warn(f"{where}: {note}")
        translator.notes.clear()
        return condition


@dataclass
class _Entry:
    """A parameter as it is written in the file."""

    line: _Line
    kind: str
    log: bool
    column: int  # of the values
    parameter: Parameter = _REAL  # of its kind: bounds are read when all kinds are known
    bounds: list[tuple[Node, int]] = field(default_factory=list)
    condition: tuple[Node, int] | None = None


def read(path: StrPath) -> str:
    """Return the text of a file, UTF-8 except comments; SpaceFileError if it cannot be read."""
    try:
        data = read_bytes(as_path(path, "path"))
    except OSError as error:
        raise SpaceFileError(f"the file cannot be read: {error.strerror}", str(path)) from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        text = data.decode("utf-8", "replace")
        # irace's files often have names in Latin-1 in their comments, which mean nothing here
        if all(without_comment(line).isascii() for line in text.splitlines()):
            return text
        raise SpaceFileError(f"the file is not UTF-8 text: {error.reason}", str(path)) from error


def parse(
    text: str, *, digits: int, source: str, forbidden: tuple[str, str] | None = None
) -> dict[str, Any]:
    """Return the arguments of the Space that a file's text describes, or raise SpaceFileError.

    `forbidden` is the text, and the name, of a file of more that is forbidden, a line each.
    """
    digits, text = whole(digits, "digits", least=0), text.removeprefix("\ufeff")
    entries: dict[str, _Entry] = {}
    switches: dict[str, str] = {}
    clauses: list[tuple[_Line, Node, int]] = []
    section = "parameters"
    for line in _lines(text, source):
        if line.text[line.at] == "[":
            section = line.take(_SECTION, "[forbidden] or [global]")[1]
            if section not in {"forbidden", "global"}:
                line.fail(f"[{section}] is not known: use [forbidden] or [global]", 0)
        elif section == "forbidden":
            clauses.append((line, *line.rest()))
        elif section == "global":
            digits = int(line.take(_DIGITS, '"digits = " and a number')[1])
        else:
            name = line.take(_NAME, "the name of a parameter")
            if name[0] in entries:
                line.fail(f"{name[0]!r} is a parameter already", name.start())
            switch = line.take(QUOTED, f'the switch of {name[0]!r} in quotes, or ""')
            with line.offset(switch.start()):
                switches[name[0]] = unquoted(switch[0], 0)
            entries[name[0]] = _entry(line)
    if not entries:
        raise SpaceFileError("there are no parameters in it", source)
    clauses += [(line, *line.rest()) for line in _lines(*forbidden)] if forbidden else ()
    return {**_translated(entries, clauses, digits), "switches": switches}


def _lines(text: str, source: str) -> Iterator[_Line]:
    """Yield the lines that are more than a comment, each read up to its first letter."""
    for number, raw in enumerate(text.splitlines(), start=1):
        line = _Line(without_comment(raw), number, source)
        line.skip()
        if line.at < len(line.text):
            yield line


def without_comment(text: str) -> str:
    """Return a line up to its comment."""
    code = _CODE.match(text)
    return code[0].rstrip() if code else ""


def _entry(line: _Line) -> _Entry:
    """Read the rest of a line: type, values, condition."""
    kind = line.take(_TYPE, "a type (r, i, c, o, r,log or i,log) and a space")
    if not line.next_is("("):
        line.fail("'(' and the values are expected here")
    entry = _Entry(line, kind["kind"], kind["log"] is not None, line.at)
    if entry.kind in "co":
        if entry.log:
            line.fail("log is for r and i only", kind.start())
        values = tuple(_choices(line))
        entry.parameter = Categorical(values) if entry.kind == "c" else Ordinal(values)
    else:
        entry.bounds = [_bound(line, ","), _bound(line, ")")]
    if line.next_is("|"):
        line.skip()
        entry.condition = line.rest()
    elif line.at < len(line.text):
        line.fail("'|' and a condition, or the end of the line, are expected here")
    return entry


def _choices(line: _Line) -> list[str]:
    values: list[str] = []
    while True:
        line.skip()
        start = line.at
        if line.text[start : start + 1] in {'"', "'"}:
            with line.offset(start):
                value = unquoted(line.take(QUOTED, "the end of the quotes")[0], 0)
        else:
            value = line.take(_PLAIN, 'a value (the empty one is "")')[0]
        if value in values:
            line.fail(f"{value!r} is there already", start)
        values.append(value)
        if line.next_is(")"):
            return values
        if not line.next_is(","):
            line.fail("',' or ')' is expected here")


def _bound(line: _Line, end: str) -> tuple[Node, int]:
    """Read a bound, quoted or not, and the mark that ends it."""
    line.skip()
    start, depth = line.at, 0
    while line.at < len(line.text):
        quoted = QUOTED.match(line.text, line.at)
        mark = line.text[line.at]
        if depth == 0 and mark in ",)":
            break
        depth += (mark == "(") - (mark == ")")
        line.at = quoted.end() if quoted else line.at + 1
    text = line.text[start : line.at].rstrip()
    if not line.next_is(end):
        line.fail(f"{end!r} is expected here: two bounds in parentheses")
    if not text:
        line.fail("a bound is expected here", start)
    if QUOTED.fullmatch(text):
        return line.expression(text[1:-1], start + 1), start + 1
    return line.expression(text, start), start


def _translated(
    entries: dict[str, _Entry], clauses: list[tuple[_Line, Node, int]], digits: int
) -> dict[str, Any]:
    translator = Translator({name: entry.parameter for name, entry in entries.items()})
    parameters = {n: _parameter(n, entry, translator, digits) for n, entry in entries.items()}
    always = (n for n, e in entries.items() if e.condition is None and not parameters[n].names())
    translator = Translator(parameters, frozenset(always))
    conditions = {
        name: entry.line.condition(translator, *entry.condition)
        for name, entry in entries.items()
        if entry.condition is not None
    }
    try:
        in_order(parameters, conditions)
    except CircularError as error:
        entry = entries[error.names[0]]
        entry.line.fail(str(error), entry.condition[1] if entry.condition else entry.column)
    forbidden = [line.condition(translator, node, column) for line, node, column in clauses]
    return {"parameters": parameters, "conditions": conditions, "forbidden": forbidden}


def _parameter(name: str, entry: _Entry, translator: Translator, digits: int) -> Parameter:
    if entry.kind in "co":
        return entry.parameter
    bounds: list[Any] = []
    for node, column in entry.bounds:
        with entry.line.offset(column):
            term = translator.number(node)
        bound = term.constant if isinstance(term, Literal) else term
        if entry.kind == "r" and isinstance(bound, float) and round(bound, digits) != bound:
            entry.line.fail(
                f"{bound} has more than {digits} decimals: write digits = .. under [global], or in "
                "the scenario, or give digits= when reading the file",
                column,
            )
        bounds.append(bound)
    low, high = bounds
    try:
        if entry.kind == "r":
            return Real(low, high, log=entry.log, digits=digits).checked(name)
        return Integer(low, high, log=entry.log).checked(name)
    except SettingError as error:
        entry.line.fail(str(error), entry.column)
