"""irace's scenario files: assignments of values in R's syntax. Nothing is evaluated as R."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from racer.errors import SpaceFileError
from racer.space.irace.parameter_file import QUOTED, read, without_comment
from racer.space.irace.r_syntax import Node, RError, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from _typeshed import StrPath

_ASSIGNED = re.compile(r"\s*([A-Za-z.][\w.]*)\s*(?:<-|=(?!=))\s*")
_CODE = re.compile(r"(function)\s*\(|\b(if|for|while|repeat|source|library|require)\b")
_NA = math.nan  # until the file has been read; then no value, as NULL
_CONSTANTS = {"TRUE": True, "T": True, "FALSE": False, "F": False, "NULL": None, "NA": _NA}
_LARGEST = 100_000  # letters, or entries, that an expression may make
_INSTEAD = {
    "targetRunner": "write it as a program, or in Python, with evaluate = 'module:function' in a "
    "scenario.toml",
    "targetEvaluator": "let the runner print the cost",
    "repairConfiguration": "use racer.Space(.., repair=) and racer.tune in Python",
}


def read_assignments(path: StrPath) -> dict[str, tuple[Any, int]]:
    """Return the options of a scenario file, each with its line; SpaceFileError with the place."""
    source = str(path)
    found: dict[str, tuple[Any, int]] = {}
    lines = read(path).splitlines()
    at = 0
    while at < len(lines):
        number, text = at + 1, without_comment(lines[at])
        at += 1
        while _is_open(text) and at < len(lines):
            text += " " + without_comment(lines[at]).strip()
            at += 1
        for start, part in _parts(text):
            name, value = _assignment(" " * start + part, source, number, found)
            found[name] = (value, number)
    return {name: (None if value is _NA else value, line) for name, (value, line) in found.items()}


def _parts(text: str) -> list[tuple[int, str]]:
    """Split a line at its semicolons, each part with its column."""
    bare = QUOTED.sub(lambda quoted: "0" * len(quoted[0]), text)
    ends = [*(at for at, letter in enumerate(bare) if letter == ";"), len(text)]
    starts = [0, *(end + 1 for end in ends[:-1])]
    parts = [(start, text[start:end]) for start, end in zip(starts, ends, strict=True)]
    return [(start, part) for start, part in parts if part.strip()]


def _is_open(text: str) -> bool:
    """Return whether parentheses, or an assignment, go on in the next line."""
    bare = QUOTED.sub("0", text)
    return bare.count("(") > bare.count(")") or bool(_ASSIGNED.fullmatch(bare))


def _assignment(
    text: str, source: str, number: int, known: Mapping[str, tuple[Any, int]]
) -> tuple[str, Any]:
    match = _ASSIGNED.match(text)
    name = match[1] if match else ""
    start = match.end() if match else len(text) - len(text.lstrip())
    code = _CODE.match(text, start)
    if match is None or code is not None:
        column = (code.start() if code else start) + 1
        instead = _INSTEAD.get(name, "write options as name = value")
        what = "a function of R" if code and code[1] else "code of R"
        raise SpaceFileError(
            f"this is {what}, which racer does not run: {instead}", source, number, column, text
        )
    try:
        return name, _value(parse(text[start:]), known)
    except RError as error:
        raise SpaceFileError(str(error), source, number, start + error.column + 1, text) from None


def _value(node: Node, known: Mapping[str, tuple[Any, int]]) -> Any:
    """Return the value of an expression; RError for other expressions."""
    if node.kind == "string":
        return node.text
    if node.kind in {"number", "neg", *_OPERATIONS}:
        return _number(node, known)
    if node.kind == "name" and (node.text in _CONSTANTS or node.text in known):
        return _CONSTANTS[node.text] if node.text in _CONSTANTS else known[node.text][0]
    if node.kind == "call" and node.text in {"c", "list", "paste0", "file.path"}:
        return _combined(node, [_value(part, known) for part in node.parts])
    what = f"{node.text}(..)" if node.kind == "call" else repr(node.text)
    raise RError(f"{what} is R that racer does not run: write the value itself", node.column)


def _combined(node: Node, values: list[Any]) -> Any:
    """Return c, list, paste0 or file.path of values, without NULL; RError if large, or no text."""
    flat = [item for value in values for item in (value if isinstance(value, list) else [value])]
    if len(flat) + sum(len(item) for item in flat if isinstance(item, str)) > _LARGEST:
        raise RError(f"{node.text}(..) makes more than {_LARGEST} letters of it", node.column)
    some = [item for item in flat if item is not None]
    if node.text in {"c", "list"}:
        return some if len(some) > 1 else next(iter(some), None)
    if len(flat) > len(values):
        raise RError(f"{node.text}(..) of a vector is several texts: write one", node.column)
    if not some or (node.text == "file.path" and len(some) < len(flat)):
        raise RError(f"{node.text}(..) is no text with NULL alone, or in a path", node.column)
    texts = [_text(item, node.column) for item in some]
    return ("" if node.text == "paste0" else "/").join(texts)


def _text(value: Any, column: int) -> str:
    """Return a value as R writes it; RError for numbers that it may write with an exponent."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or value is _NA:
        return "NA" if value is _NA else str(value).upper()
    text = f"{value:.15g}"
    digits, _, exponent = f"{value:.14e}".partition("e")
    short = f"{digits.rstrip('0').rstrip('.')}e{exponent}"
    if "e" in text or len(short) < len(text):
        raise RError(f"R may write the number {text} as {short}: put it in quotes", column)
    return text


def _number(node: Node, known: Mapping[str, tuple[Any, int]]) -> float:
    if node.kind == "number":
        number = float(node.text.rstrip("L"))
    else:
        parts = [_real(part, known) for part in node.parts]
        try:
            number = -parts[0] if node.kind == "neg" else _OPERATIONS[node.kind](*parts)
            number = float(number)
        except (ArithmeticError, ValueError):
            number = math.nan
    if not math.isfinite(number):
        raise RError("this is no finite number", node.column)
    return int(number) if number.is_integer() else number


_OPERATIONS: Mapping[str, Callable[[float, float], float]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "/": lambda left, right: left / right,
    "^": math.pow,
}


def _real(node: Node, known: Mapping[str, tuple[Any, int]]) -> float:
    value = _value(node, known)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise RError(f"a number is expected instead of {node.text!r}", node.column)
    return value
