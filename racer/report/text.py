"""Sections as plain text, for `print` and the terminal."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

from racer.report.sections import Code, Grid, Section

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.table import Table

    from racer.report.sections import Piece

__all__ = ["as_text", "folded"]

_WIDTH = 80


def as_text(pieces: Iterable[Piece], width: int = _WIDTH) -> str:
    """Return sentences and tables as text in so many columns; pictures are left out."""
    text = "\n\n".join(filter(None, (_part(piece, width) for piece in pieces)))
    return "\n".join(line.rstrip() for line in text.split("\n"))


def folded(text: str, width: int = _WIDTH, indent: str = "") -> str:
    """Return text with its long lines broken between words; `indent` begins what is broken off."""
    return "\n".join(
        fill(
            line,
            width,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
            replace_whitespace=False,
        )
        for line in text.split("\n")
    )


def _part(piece: Piece, width: int) -> str:
    if isinstance(piece, str):
        return folded(piece, width)
    if isinstance(piece, Grid):
        return _grid(piece, width)
    if isinstance(piece, Code):
        return piece.text
    if isinstance(piece, Section):
        return "\n".join([piece.title, *(_part(one, width) for one in piece.pieces)])
    return ""


def _grid(grid: Grid, width: int) -> str:
    from rich.console import Console  # noqa: PLC0415  (only where something is shown)

    console = Console(width=2000, color_system=None, force_terminal=False, legacy_windows=False)
    table = _table(grid)
    if console.measure(table).maximum > width:
        figures = grid._replace(
            head=tuple(n for n, r in zip(grid.head, grid.right, strict=True) if r), rows=()
        )
        room = width - 8 * len(figures.head)
        table.width = width if room >= 10 * (len(grid.head) - len(figures.head)) else None
    with console.capture() as capture:
        console.print(table)
    text = capture.get().strip("\n ")
    return f"{grid.title}\n {text}" if grid.title else f" {text}"


def _table(grid: Grid) -> Table:
    from rich.box import SIMPLE_HEAD  # noqa: PLC0415
    from rich.markup import escape  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name, right in zip(grid.head, grid.right, strict=True):
        table.add_column(
            escape(name),
            justify="right" if right else "left",
            no_wrap=right,
            overflow="fold",
        )
    for row in grid.rows:
        table.add_row(*map(escape, row))
    return table
