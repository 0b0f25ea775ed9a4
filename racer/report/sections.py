"""What is shown of a result, whatever the form: sentences, tables and pictures under titles."""

from __future__ import annotations

import math
from collections.abc import Callable  # noqa: TC003  (of a NamedTuple)
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["Code", "Drawing", "Grid", "Piece", "Section", "number", "parameters", "value_shown"]


class Grid(NamedTuple):
    """A table of text; `right` says which columns are figures, to be aligned on the right."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: tuple[bool, ...]
    title: str = ""

    @classmethod
    def of(
        cls, head: Sequence[str], rows: Iterable[Sequence[object]], left: str = "", title: str = ""
    ) -> Grid:
        """Return a table; the columns named in `left`, a text, hold words."""
        shown = tuple(tuple(map(str, row)) for row in rows)
        return cls(tuple(head), shown, tuple(name not in left for name in head), title)


class Drawing(NamedTuple):
    """A picture: `draw` returns axes; `words` say what is seen."""

    draw: Callable[[], Any]
    words: str


class Code(NamedTuple):
    """Text to be copied as it is."""

    text: str


class Section(NamedTuple):
    """Pieces under a title; `is_folded`: a page shows them when they are asked for."""

    title: str
    pieces: tuple[Piece, ...]
    is_folded: bool = False


Piece = str | Grid | Drawing | Code | Section


def number(value: float | None, digits: int = 6) -> str:
    """Return a number in so many digits, "-" for none."""
    return "-" if value is None or math.isnan(value) else f"{value:.{digits}g}"


def parameters(config: Mapping[str, Any]) -> Grid:
    """Return a configuration as a table, in its order."""
    rows = [(name, value_shown(value)) for name, value in config.items()]
    return Grid.of(("parameter", "value"), rows, left="parameter value")


def value_shown(value: Any) -> str:
    """Return a value as it is written: text without quotes, unless it would look like something else."""
    is_text = isinstance(value, str) and value.strip() == value and value != ""
    return value if is_text and not _looks_else(value) else repr(value)


def _looks_else(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return text in {"True", "False", "None"} or not text.isprintable()
    return True
