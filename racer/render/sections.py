"""The content of a result for any form: sentences, tables and pictures under titles."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextvars import ContextVar, copy_context
from itertools import compress
from textwrap import shorten
from typing import TYPE_CHECKING, Any, NamedTuple

from racer._numerics import as_plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Heads = Sequence[str]

OF_PAGE: ContextVar[str] = ContextVar("OF_PAGE", default="")  # what is drawn is of a page
_LARGE = 1e15  # a number from which on digits before the point are not worth their room
_LINE = 60  # characters of a configuration in a line
_LONG = 9  # characters of a number that nobody has typed


class Bold(str):
    """A cell to be seen first: bold, or starred where nothing can be."""

    __slots__ = ()


class Grid(NamedTuple):
    """A table of text; `right`: the columns of figures, aligned on the right."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: tuple[bool, ...]
    title: str = ""
    mark: str = ""  # what bold cells are
    optional: tuple[str, ...] = ()  # columns that narrow text leaves out, in this order

    @property
    def is_marked(self) -> bool:
        """Whether any cell is bold."""
        return any(isinstance(cell, Bold) for row in self.rows for cell in row)

    def only(self, kept: Sequence[bool]) -> Grid:
        """Return some of the columns."""
        lines = [tuple(compress(line, kept)) for line in (self.head, *self.rows)]
        right = tuple(compress(self.right, kept))
        return self._replace(head=lines[0], rows=tuple(lines[1:]), right=right)

    @classmethod
    def of(
        cls, head: Heads, rows: Iterable[Sequence[object]], left: Heads = (), title: str = ""
    ) -> Grid:
        """Return a table; the columns with these heads, `left`, hold words."""
        shown = tuple(tuple(map(str, row)) for row in rows)
        return cls(tuple(head), shown, tuple(name not in left for name in head), title)

    @classmethod
    def of_columns(
        cls,
        columns: Sequence[tuple[str, Sequence[object]]],
        left: Heads = (),
        title: str = "",
        *,
        n_more: int = 0,
    ) -> Grid:
        """Return a table of columns, each with its head; a last row counts the rows left out."""
        head, cells = zip(*columns, strict=True)
        rows = list(zip(*cells, strict=True))
        if n_more:
            rows.append((f"and {n_more} more", *[""] * (len(head) - 1)))
        return cls.of(head, rows, left, title)


class Drawing(NamedTuple):
    """A picture: `draw` returns axes; `words` describe it."""

    draw: Callable[[], Any]
    words: str

    def figure(self) -> Any:
        """Return the figure of a page or a file, which pyplot does not keep open."""
        page = copy_context()
        page.run(OF_PAGE.set, "page")
        return page.run(self.draw).figure


class Code(NamedTuple):
    """Text to be copied as it is."""

    text: str


class Section(NamedTuple):
    """Pieces under a title; `is_folded`: a page shows them when they are asked for."""

    title: str
    pieces: tuple[Piece, ...]
    is_folded: bool = False


Piece = str | Grid | Drawing | Code | Section


def number(value: float | None, digits: int = 4) -> str:
    """Return a number with the given digits, more before a decimal point; "-" for none."""
    if value is None or math.isnan(value):
        return "-"
    whole = len(str(int(abs(value)))) if abs(value) < _LARGE else 0
    return f"{value:z.{max(digits, whole)}g}"


def parameters(config: Mapping[str, Any]) -> Grid:
    """Return a configuration as a table, in its order."""
    rows = [(name, value_shown(value)) for name, value in config.items()]
    return Grid.of(("parameter", "value"), rows, left=("parameter", "value"))


def in_line(config: Any) -> str:
    """Return a configuration in one short line."""
    if not isinstance(config, Mapping):
        return shorten(value_shown(config), _LINE, placeholder=" ..")
    return shorten(
        " ".join(f"{k}={value_shown(v)}" for k, v in config.items()), _LINE, placeholder=" .."
    )


def value_shown(value: Any) -> str:
    """Return a value as it is written: text without quotes, unless it would look like something else."""
    is_text = isinstance(value, str) and value.strip() == value and value != ""
    shown = value if is_text and not _looks_else(value) else repr(as_plain(value))
    return number(value, 5) if isinstance(value, float) and len(shown) > _LONG else shown


def _looks_else(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return text in {"True", "False", "None"} or not text.isprintable()
    return True
