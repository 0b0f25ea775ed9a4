"""R expressions as conditions of a space; R's comparisons of numbers as text are refused."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from racer._checks import did_you_mean
from racer.space.expressions import (
    SWAPPED,
    And,
    Arithmetic,
    Compare,
    Condition,
    Constant,
    Exists,
    In,
    Literal,
    Not,
    Or,
    Param,
    Term,
    compares,
)
from racer.space.irace.r_syntax import Node, RError
from racer.space.parameters import listed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from racer.space.parameters import Parameter

_CONSTANTS = {"TRUE": True, "T": True, "FALSE": False, "F": False}
_BINARY = {"+", "-", "*", "/", "%%", "%/%", "^"}
_FUNCTIONS = {"min": 9, "max": 9, "round": 2, "floor": 1, "ceiling": 1, "trunc": 1, "abs": 1}
_AS_NUMBER = {"as.numeric", "as.integer"}
_PLAIN_NUMBER = re.compile(r"\d+(\.\d+)?")
_LONGEST_RANGE = 1000


@dataclass(frozen=True)
class Translator:
    """Translates; parameters of `always` exist always, and doubtful places are added to `notes`."""

    parameters: Mapping[str, Parameter]
    always: frozenset[str] = frozenset()
    notes: list[tuple[str, int]] = field(default_factory=list)

    def condition(self, node: Node) -> Condition:
        """Translate a logical expression."""
        match node.kind:
            case "&" | "|":
                parts = tuple(map(self.condition, node.parts))
                return And(parts) if node.kind == "&" else Or(parts)
            case "!":
                return Not(self.condition(node.parts[0]))
            case "%in%":
                return self._membership(*node.parts)
            case "name" if node.text in _CONSTANTS and node.text not in self.parameters:
                return Constant(_CONSTANTS[node.text])
            case "call" if node.text == "is.na" and len(node.parts) == 1:
                return Not(Exists(self._known(node.parts[0]).name))
        if node.kind in SWAPPED:
            return self._comparison(node.kind, *node.parts)
        raise RError(f"{node.text!r} is not a condition: compare it with something", node.column)

    def number(self, node: Node) -> Term:
        """Translate an arithmetic expression."""
        if node.kind == "number":
            return Literal(_number(node))
        if node.kind == "name":
            if self._choices(node) is not None:
                raise RError(f"{node.text!r} is text in R, not a number", node.column)
            return self._known(node)
        if node.kind == "neg" or node.kind in _BINARY:
            parts = tuple(self.number(part) for part in node.parts)
            if node.kind == "neg" and isinstance(parts[0], Literal):
                return Literal(-parts[0].constant)
            return Arithmetic(node.kind, parts)
        if node.kind == "call":
            if not 1 <= len(node.parts) <= _FUNCTIONS.get(node.text, 0):
                known = ", ".join(_FUNCTIONS)
                raise RError(
                    f"{node.text}(..) with {len(node.parts)} values is not known: use {known}",
                    node.column,
                )
            return Arithmetic(node.text, tuple(self.number(part) for part in node.parts))
        raise RError(f"{node.text!r} is not a number", node.column)

    def _known(self, node: Node) -> Param:
        if node.kind != "name":
            raise RError(
                f"the name of a parameter is expected instead of {node.text!r}", node.column
            )
        if node.text not in self.parameters:
            hint = did_you_mean(node.text, self.parameters)
            raise RError(f"{node.text!r} is not a parameter{hint}", node.column)
        return Param(node.text)

    def _choices(self, node: Node) -> tuple[str, ...] | None:
        """Return the choices of the parameter that a node names; None for all else."""
        if node.kind != "name" or (node.text in _CONSTANTS and node.text not in self.parameters):
            return None
        values = listed(self.parameters[self._known(node).name])
        return None if values is None else tuple(values.values())

    def _comparison(self, operation: str, left: Node, right: Node) -> Condition:
        if self._choices(left) is None and self._choices(right) is not None:
            operation, left, right = SWAPPED[operation], right, left
        if right.kind == "call" and right.text in _AS_NUMBER:
            operation, left, right = SWAPPED[operation], right, left
        if left.kind == "call" and left.text in _AS_NUMBER and len(left.parts) == 1:
            return self._as_numbers(operation, left.parts[0], right)
        choices, others = self._choices(left), self._choices(right)
        if choices is None:
            return Compare(operation, self.number(left), self.number(right))
        if others is not None:
            if operation not in {"==", "!="}:
                raise RError("the order of two texts differs between languages", left.column)
            return Compare(operation, Param(left.text), Param(right.text))
        if operation in {"==", "!="}:
            same = In(Param(left.text), self._matching(left, choices, [right]))
            return same if operation == "==" else Not(same)
        return In(Param(left.text), _ordered(operation, choices, right))

    def _as_numbers(self, operation: str, name: Node, right: Node) -> Condition:
        """Translate choices that are read as numbers and compared with one."""
        limit, choices = _literal_number(right), self._choices(name)
        if choices is None:
            return Compare(operation, self.number(name), Literal(limit))
        numbers = [_as_number(choice) for choice in choices]
        if None in numbers:
            raise RError(f"not all values of {name.text!r} are numbers", name.column)
        pairs = zip(choices, numbers, strict=True)
        return In(self._known(name), tuple(c for c, v in pairs if compares(operation, v, limit)))

    def _membership(self, left: Node, right: Node) -> Condition:
        items = right.parts if right.kind == "call" and right.text == "c" else (right,)
        choices = self._choices(left)
        if choices is not None:
            found = In(Param(left.text), self._matching(left, choices, _ranges_out(items)))
        else:
            found = In(self.number(left), tuple(map(_literal_number, _ranges_out(items))))
        # in R, what does not exist is in nothing; here that would be unknown
        missing = sorted(found.names() - self.always)
        return And((*map(Exists, missing), found)) if missing else found

    def _matching(self, left: Node, choices: tuple[str, ...], items: list[Node]) -> tuple[str, ...]:
        """Return the choices that equal one of the items, as text."""
        texts, among = [_text(item) for item in items], ", ".join(map(repr, choices))
        for text, item in zip(texts, items, strict=True):
            if text in choices:
                continue
            is_number = item.kind in {"number", "neg"}
            alike = [c for c in choices if is_number and _as_number(c) == _literal_number(item)]
            said = (
                f"{text!r} is never {alike[0]!r}: R compares text here; write it in quotes"
                if alike
                else f"{left.text} is never {text!r}: its values are {among}"
            )
            self.notes.append((said, item.column))
        return tuple(choice for choice in choices if choice in texts)


def _number(node: Node) -> float:
    text = node.text.rstrip("L")
    number = int(text) if text.isdecimal() and len(text) < 400 else float(text)
    if not math.isfinite(number) if isinstance(number, float) else number > 10**300:
        raise RError(f"{node.text} is too large", node.column)
    return int(number) if node.text.endswith("L") else number


def _literal_number(node: Node) -> float:
    if node.kind == "number":
        return _number(node)
    if node.kind == "neg" and node.parts[0].kind == "number":
        return -_number(node.parts[0])
    raise RError(f"a number is expected instead of {node.text!r}", node.column)


def _ranges_out(items: tuple[Node, ...]) -> list[Node]:
    """Return the items, with a:b spelled out."""
    found: list[Node] = []
    for item in items:
        if item.kind != ":":
            found.append(item)
            continue
        first, last = (_literal_number(part) for part in item.parts)
        if not float(first).is_integer() or not float(last).is_integer():
            raise RError("a:b is known for whole numbers only", item.column)
        if not 0 <= last - first < _LONGEST_RANGE:
            raise RError(f"a:b is known for up to {_LONGEST_RANGE} numbers, upwards", item.column)
        for number in range(int(first), int(last) + 1):
            node = Node("number", str(abs(number)), item.column)
            found.append(node if number >= 0 else Node("neg", "-", item.column, (node,)))
    return found


def _text(node: Node) -> str:
    """Return R's text of a literal in a comparison with text."""
    if node.kind == "string":
        return node.text
    if node.kind == "name" and node.text in _CONSTANTS:
        return str(_CONSTANTS[node.text]).upper()
    return _as_character(_literal_number(node))


def _as_character(number: float) -> str:
    """Write a number as R does: 15 digits, fixed unless the exponent is shorter."""
    sign, digits, exponent = "-" if number < 0 else "", *f"{abs(number):.14e}".split("e")
    digits, power = digits.rstrip("0").rstrip("."), int(exponent)
    count = len(digits.replace(".", ""))
    fixed = f"{abs(number):.{max(count - 1 - power, 0)}f}"
    scientific = f"{digits}e{power:+03d}"
    return sign + (fixed if len(fixed) <= len(scientific) else scientific)


def _as_number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _ordered(operation: str, choices: tuple[str, ...], limit: Node) -> tuple[str, ...]:
    """Return the choices on that side, if their order is the same as text and as numbers."""
    text = _text(limit)
    for choice in (text, *choices):
        if not _PLAIN_NUMBER.fullmatch(choice):
            raise RError(
                "R orders these as text, by the rules of some language: list the values with %in%",
                limit.column,
            )
    found: list[Any] = []
    for choice in choices:
        as_text = compares(operation, choice, text)
        if as_text is not compares(operation, float(choice), float(text)):
            raise RError(
                f"R orders these as text, where {choice!r} and {text!r} are in another order than as "
                "numbers: list the values with %in%",
                limit.column,
            )
        if as_text:
            found.append(choice)
    return tuple(found)
