"""Text that leaves, made harmless for its medium: one function for each."""

from __future__ import annotations

import html
import json
import re
from typing import TYPE_CHECKING, Any
from unicodedata import category

if TYPE_CHECKING:
    from collections.abc import Iterable


_NOT_SHOWN = {"Cc", "Cf", "Cs", "Zl", "Zp"}  # control, format (also direction), half a pair, breaks
_FORMULA = re.compile(r"[=+\-@\t\r\n]")
_LATEX = {
    **{char: f"\\{char}" for char in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": "$<$",
    ">": "$>$",
    "|": "$|$",
    "\n": " ",
}
_MARKDOWN = {**{char: f"\\{char}" for char in "\\|*_`<>[]"}, "\n": " "}


class _Escapes(dict[int, str]):
    """Table for `str.translate`: the replacement of a letter, found at its first use."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        hidden = category(letter) in _NOT_SHOWN and letter not in "\n\t"
        width, mark = (2, "x") if code < 256 else (4, "u") if code < 0x10000 else (8, "U")
        return self.setdefault(code, f"\\{mark}{code:0{width}x}" if hidden else letter)


_ESCAPES = _Escapes()


def printable(text: str) -> str:
    """Return text for a terminal: escapes for control characters and invisible ones."""
    return text if text.isascii() and text.isprintable() else text.translate(_ESCAPES)


def one_line(text: str) -> str:
    """Return text for a terminal in which nothing begins another line, or another column."""
    return printable(text).replace("\n", "\\n").replace("\t", "\\t")


def escape_markdown(text: str) -> str:
    """Return text that Markdown leaves as it is."""
    return "".join(_MARKDOWN.get(char, char) for char in printable(text))


def escape_latex(text: str) -> str:
    """Return text that LaTeX leaves as it is."""
    return "".join(_LATEX.get(char, char) for char in printable(text))


def escape_html(text: str) -> str:
    """Return text that HTML leaves as it is."""
    return html.escape(printable(text))


def in_json(data: Any, **how: Any) -> str:
    """Return JSON in which nothing is unseen, so that it may be shown in a terminal."""
    text = json.dumps(data, ensure_ascii=False, **how)
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    return "".join(char if printable(char) == char else _json_escape(char) for char in text)


def _json_escape(char: str) -> str:
    return "\\u007f" if char == "\x7f" else json.dumps(char)[1:-1]


def in_csv(values: Iterable[Any]) -> list[Any]:
    """Return values of a table; text that a spreadsheet would compute begins with an apostrophe."""
    return [
        f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value
        for value in values
    ]
