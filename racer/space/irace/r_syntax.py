"""The part of R's syntax that parameter files use, read into a tree. Nothing is evaluated."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable

_TOKEN = re.compile(
    r"""(?P<space>\s+)
      | (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?L?)
      | (?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
      | (?P<name>`[^`]+`|(?:[^\W\d_]|\.(?!\d))[\w.]*)
      | (?P<mark>%in%|%%|%/%|<=|>=|==|!=|&&|\|\||[-+*/^()<>!&|,:])""",
    re.VERBOSE,
)
_ESCAPES = {"n": "\n", "t": "\t", "\\": "\\", '"': '"', "'": "'", "`": "`"}
_DEEPEST = 30  # parentheses in parentheses
_LOGIC = {"&": "&", "&&": "&", "|": "|", "||": "|"}  # chains of these stay flat
_COMPARISONS = {"==", "!=", "<", "<=", ">", ">="}


class RError(Exception):
    """An error, with its column in the text (from 0)."""

    def __init__(self, message: str, column: int) -> None:
        super().__init__(message)
        self.column = column


@dataclass(frozen=True)
class Node:
    """A piece of an expression: "number", "string", "name", "call", "end", "mark" or operator."""

    kind: str
    text: str
    column: int
    parts: tuple[Node, ...] = ()


def unquoted(text: str, column: int) -> str:
    """Return the content of a quoted string."""

    def escape(found: re.Match[str]) -> str:
        if found[1] not in _ESCAPES:
            raise RError(f"the escape \\{found[1]} is not known", column)
        return _ESCAPES[found[1]]

    return re.sub(r"\\(.)", escape, text[1:-1], flags=re.DOTALL)


def _tokens(text: str) -> list[Node]:
    found, at = [], 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if text.startswith("<-", at):
            raise RError("'<-' is an assignment in R: write '< -', with a blank", at)
        if match is None:
            what = "a string that does not end" if text[at] in "\"'" else f"{text[at]!r}"
            raise RError(f"{what} is not expected here", at)
        kind, token = str(match.lastgroup), match[0]
        if kind == "string":
            token = unquoted(token, at)
        if kind == "name":
            token = token.strip("`")
        if kind != "space":
            found.append(Node(kind, token, at))
        at = match.end()
    return [*found, Node("end", "the end", len(text))]


def parse(text: str) -> Node:
    """Read one expression; RError if it is invalid, or uses more of R than is known here."""
    reader = _Reader(_tokens(text))
    tree = reader.either()
    reader.expect_end()
    return tree


class _Reader:
    """Reads tokens by descent, a method per level of R's precedence, from loose to tight."""

    def __init__(self, tokens: list[Node]) -> None:
        self._tokens = tokens
        self._at = 0
        self._deep = 0

    def _here(self) -> Node:
        return self._tokens[self._at]

    def _take(self, *marks: str) -> Node | None:
        token = self._here()
        if token.kind != "mark" or token.text not in marks:
            return None
        self._at += 1
        return token

    def _fail(self, wanted: str) -> NoReturn:
        token = self._here()
        raise RError(f"{wanted} is expected instead of {token.text!r}", token.column)

    def expect_end(self) -> None:
        if self._here().kind != "end":
            self._fail("an operator or the end")

    def _chain(self, below: Callable[[], Node], *marks: str) -> Node:
        """Read operands joined by operators of one level, from left to right."""
        left, count = below(), 0
        while mark := self._take(*marks):
            count += 1
            if count > 100 and mark.text not in _LOGIC:
                raise RError("the expression is too long", mark.column)
            kind = _LOGIC.get(mark.text, mark.text)
            flat = left.parts if left.kind == kind and kind in {"&", "|"} else (left,)
            left = Node(kind, kind, mark.column, (*flat, below()))
        return left

    def either(self) -> Node:
        self._deep += 1
        if self._deep > _DEEPEST:
            raise RError("the expression is nested too deeply", self._here().column)
        tree = self._chain(self._both, "|", "||")
        self._deep -= 1
        return tree

    def _both(self) -> Node:
        return self._chain(self._negation, "&", "&&")

    def _negation(self) -> Node:
        marks = []
        while mark := self._take("!"):
            marks.append(mark)
        tree = self._comparison()
        return Node("!", "!", marks[0].column, (tree,)) if len(marks) % 2 else tree

    def _comparison(self) -> Node:
        left = self._sum()
        mark = self._take(*_COMPARISONS)
        if mark is None:
            return left
        tree = Node(mark.text, mark.text, mark.column, (left, self._sum()))
        if self._take(*_COMPARISONS):
            self._at -= 1
            self._fail("one comparison at a time, joined by &,")
        return tree

    def _sum(self) -> Node:
        return self._chain(self._product, "+", "-")

    def _product(self) -> Node:
        return self._chain(self._special, "*", "/")

    def _special(self) -> Node:
        return self._chain(self._range, "%in%", "%%", "%/%")

    def _range(self) -> Node:
        left = self._sign()
        mark = self._take(":")
        return Node(":", ":", mark.column, (left, self._sign())) if mark else left

    def _sign(self) -> Node:
        marks = []
        while mark := self._take("+", "-"):
            marks.append(mark)
        tree = self._power()
        if sum(mark.text == "-" for mark in marks) % 2:
            tree = Node("neg", "-", marks[0].column, (tree,))
        return tree

    def _power(self) -> Node:
        base = self._atom()
        mark = self._take("^")
        if mark is None:
            return base
        self._deep += 1
        if self._deep > _DEEPEST:
            raise RError("the expression is nested too deeply", mark.column)
        tree = Node("^", "^", mark.column, (base, self._sign()))
        self._deep -= 1
        return tree

    def _atom(self) -> Node:
        token = self._here()
        if self._take("("):
            tree = self.either()
            if self._take(")") is None:
                self._fail("')'")
            return tree
        if token.kind not in {"number", "string", "name"}:
            self._fail("a value or a name")
        self._at += 1
        if token.kind == "name" and self._take("("):
            return Node("call", token.text, token.column, self._arguments())
        return token

    def _arguments(self) -> tuple[Node, ...]:
        if self._take(")"):
            return ()
        found = [self.either()]
        while self._take(","):
            found.append(self.either())
        if self._take(")") is None:
            self._fail("',' or ')'")
        return tuple(found)
