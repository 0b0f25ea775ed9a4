"""Parameter files of SMAC and ParamILS (PCS), old and new, in one reader."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NoReturn

from racer._checks import did_you_mean
from racer.errors import SettingError, SpaceFileError
from racer.space.expressions import And, Compare, Condition, In, Literal, Or, Param
from racer.space.irace.r_syntax import RError, parse
from racer.space.irace.translator import Translator
from racer.space.numeric import Integer, Real
from racer.space.parameters import Categorical, Ordinal

if TYPE_CHECKING:
    from racer.space.parameters import Parameter

_LISTED = re.compile(r"([^\s{\[|]+)\s*(?:(categorical|ordinal)\s*)?\{(.*)\}\s*\[\s*(.*?)\s*\]")
_RANGE = re.compile(
    r"([^\s{\[|]+)\s*(?:(real|integer)\s*)?\[\s*([^,\]\s]+)\s*,\s*([^\]\s]+)\s*\]\s*"
    r"\[\s*([^\]\s]+)\s*\]\s*(log|[il]{0,2})"
)
_COMMENTED = re.compile(r"((?:\{[^}]*\}|\[[^]]*\]|[^#])*).*")  # none begins within brackets
_FORBIDDEN = re.compile(r"\{(.*)\}")
_HEADINGS = re.compile(r"(conditionals?|forbidden)\s*:", re.IGNORECASE)
_COMPARES = re.compile(r"[<>+*()]|!=|\|\|")
_CLAUSE = re.compile(r"(\S+?)\s*(==|!=|<|>|\bin\b)\s*(\{.*\}|\S+)")


class _File:
    """The contents so far, line by line."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.number = 0
        self.text = ""
        self.parameters: dict[str, Parameter] = {}
        self.default: dict[str, Any] = {}
        self.conditions: dict[str, Condition] = {}
        self.forbidden: list[Condition] = []

    def fail(self, message: str) -> NoReturn:
        raise SpaceFileError(message, self.source, self.number, 1, self.text)

    def add(self, name: str, parameter: Parameter, default: Any) -> None:
        if name in self.parameters:
            self.fail(f"{name!r} is a parameter already")
        try:
            self.parameters[name] = parameter.checked(name)
        except SettingError as error:
            self.fail(str(error))
        self.default[name] = self._allowed(name, default, f"the default is not allowed: {name}=")

    def value(self, name: str, text: str) -> Any:
        """Return a value of a parameter as it stands in the file."""
        parameter = self.known(name)
        if parameter.scale != "numeric":
            return self._allowed(name, text.strip(), f"{name!r} cannot be ")
        number = self.number_of(text.strip())
        return int(number) if isinstance(parameter, Integer) and number.is_integer() else number

    def _allowed(self, name: str, value: Any, where: str) -> Any:
        """Return a value; fail if its parameter cannot have it."""
        domain = self.parameters[name].domain({})
        try:
            if domain is not None:
                domain.clean(value)
        except ValueError as error:
            self.fail(f"{where}{value!r}: {error}")
        return value

    def known(self, name: str) -> Parameter:
        if name not in self.parameters:
            self.fail(f"{name!r} is not a parameter{did_you_mean(name, self.parameters)}")
        return self.parameters[name]

    def number_of(self, text: str) -> float:
        try:
            return float(text)
        except ValueError:
            self.fail(f"{text!r} is not a number")

    def condition(self, child: str, text: str) -> None:
        self.known(child)
        ors = [[self.clause(clause) for clause in part.split("&&")] for part in text.split("||")]
        found = _joined(Or, [_joined(And, ands) for ands in ors])
        known = self.conditions.get(child)
        self.conditions[child] = found if known is None else known & found

    def clause(self, text: str) -> Condition:
        match = _CLAUSE.fullmatch(text.strip())
        if match is None:
            self.fail(
                f"{text.strip()!r} is not a condition: parent in {{..}}, ==, !=, < or > a value"
            )
        parent, operation, right = match.groups()
        if operation == "in":
            values = [self.value(parent, item) for item in right.strip("{}").split(",")]
            return In(Param(parent), tuple(values))
        return Compare(operation, Param(parent), Literal(self.value(parent, right)))

    def forbid(self, text: str) -> Condition:
        """Return a clause of name=value, or of numbers that are compared."""
        try:
            return _joined(And, [self._equality(clause) for clause in re.split(r",|&&", text)])
        except SpaceFileError:
            if not _COMPARES.search(text):
                raise
        try:  # written as in R but for the remainder
            return Translator(self.parameters).condition(parse(text))
        except RError as error:
            self.fail(f"this is no comparison of numeric parameters: {error}")

    def _equality(self, clause: str) -> Condition:
        name, equals, value = (part.strip() for part in clause.partition("="))
        if not equals or "=" in value.strip("="):
            self.fail("give {parameter=value, ..}, or compare numbers")
        return In(Param(name), (self.value(name, value.strip("= ")),))


def _joined(kind: type[And | Or], parts: list[Condition]) -> Condition:
    return kind(tuple(parts)) if len(parts) > 1 else parts[0]


def arguments_of(text: str, source: str) -> dict[str, Any]:
    """Return the arguments of the Space that a PCS file describes; SpaceFileError with the line."""
    file = _File(source)
    later: list[tuple[int, str, str]] = []
    for file.number, raw in enumerate(text.splitlines(), start=1):
        file.text = raw
        line = _COMMENTED.sub(r"\1", raw).strip()
        if not line or _HEADINGS.fullmatch(line):
            continue
        if listed := _LISTED.fullmatch(line):
            name, kind, values, default = listed.groups()
            items = tuple(item.strip() for item in values.split(","))
            file.add(name, (Ordinal if kind == "ordinal" else Categorical)(items), default)
        elif ranged := _RANGE.fullmatch(line):
            _add_range(file, *ranged.groups())
        else:
            later.append((file.number, raw, line))  # names of parameters may follow
    for file.number, file.text, line in later:
        if forbidden := _FORBIDDEN.fullmatch(line):
            file.forbidden.append(file.forbid(forbidden[1]))
        elif "|" in line:
            child, _, condition = line.partition("|")
            file.condition(child.strip(), condition)
        else:
            file.fail("this is neither a parameter, a condition, nor {forbidden values}")
    if not file.parameters:
        raise SpaceFileError("there are no parameters in it", source)
    return {
        "parameters": file.parameters,
        "conditions": file.conditions,
        "forbidden": file.forbidden,
        "default": file.default,
    }


def _add_range(
    file: _File, name: str, kind: str | None, low: str, high: str, default: str, flags: str
) -> None:
    ends = [file.number_of(text) for text in (low, high, default)]
    log = flags == "log" or "l" in flags.replace("log", "")
    if kind == "integer" or (kind is None and "i" in flags):
        if not all(number.is_integer() for number in ends):
            file.fail(f"{name!r} is whole: give whole bounds and a whole default")
        whole = [int(number) for number in ends]
        file.add(name, Integer(whole[0], whole[1], log=log), whole[2])
    else:
        file.add(name, Real(ends[0], ends[1], log=log), ends[2])
