"""Sections as plain text, for `print` and the terminal."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

from racer.render.escape import printable
from racer.render.sections import Bold, Code, Grid, Section

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from rich.console import Console, JustifyMethod
    from rich.table import Table

    from racer.render.sections import Piece


_LEAST = 10  # letters of a folded column, without the two spaces beside it


def as_text(pieces: Iterable[Piece], width: int = 80) -> str:
    """Return sentences and tables as text of the given width; pictures are left out."""
    text = "\n\n".join(filter(None, (_part(piece, width) for piece in pieces)))
    return "\n".join(line.rstrip() for line in text.split("\n"))


def folded(text: str, width: int = 80, indent: str = "") -> str:
    """Return text with its long lines broken between words; `indent` begins the further lines."""
    return "\n".join(
        fill(
            line,
            width,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
            replace_whitespace=False,
        )
        for line in printable(text).split("\n")
    )


def _part(piece: Piece, width: int) -> str:
    if isinstance(piece, str):
        return folded(piece, width)
    if isinstance(piece, Grid):
        return grid_text(piece, width)
    if isinstance(piece, Code):
        return printable(piece.text)
    if isinstance(piece, Section):
        return "\n".join([folded(piece.title, width), *(_part(one, width) for one in piece.pieces)])
    return ""


def grid_text(grid: Grid, width: int, wrap: Callable[[str], str] | None = None) -> str:
    """Return a table as text, in several parts if it is too wide.

    `wrap` breaks the heads of figures, whose columns keep their width.
    """
    return "\n\n".join(_table_text(part, width, wrap) for part in _parts(grid, width, wrap or slim))


def _table_text(grid: Grid, width: int, wrap: Callable[[str], str] | None) -> str:
    is_slim = _measure(grid) > width >= _measure(grid, slim)
    if wrap is None and (is_slim or _least(grid) > width >= _least(grid, slim)):
        wrap = slim
    table = _table(grid, wrap)
    if _measure(grid, wrap) > width:
        is_room = _least(grid, wrap) <= width
        if not wrap and not is_room:  # else some figures would be cut off
            table = _table(grid._replace(right=(False,) * len(grid.right)))
            is_room = 8 * sum(grid.right) + _LEAST * grid.right.count(False) <= width
        if is_room:
            table.width = width
    shown = "".join(segment.text for segment in _console().render(table))  # nothing is printed
    text = "\n".join(line.rstrip() for line in shown.split("\n")).strip("\n")
    return f"{folded(grid.title, width)}\n{text}" if grid.title else text


def slim(head: str) -> str:
    """Return the head of a column of figures, broken between words."""
    return fill(head, _LEAST, break_long_words=False, break_on_hyphens=False)


def _parts(grid: Grid, width: int, wrap: Callable[[str], str]) -> list[Grid]:
    """Split a table that is too wide into several with the same first column."""
    if _least(grid, wrap) <= width:
        return [grid]
    parts: list[list[int]] = [[]]
    for column in range(1, len(grid.head)):
        if parts[-1] and _least(_cut(grid, [*parts[-1], column]), wrap) > width:
            parts.append([])
        parts[-1].append(column)
    first, *others = (_cut(grid, part) for part in parts)
    return [first, *(part._replace(title="") for part in others)]


def _cut(grid: Grid, columns: Sequence[int]) -> Grid:
    """Return the first column of a table, and some others."""
    return grid.only([i in {0, *columns} for i in range(len(grid.head))])


def _least(grid: Grid, wrap: Callable[[str], str] | None = None) -> int:
    """Return how wide the table is if words are folded, and figures are not."""
    words = [
        min(_LEAST + 2, _measure(grid.only([i == at for i in range(len(grid.head))])) - 1)
        for at, is_right in enumerate(grid.right)
        if not is_right
    ]
    return max(_measure(grid.only(grid.right), wrap), 1) + sum(words)


def narrowed(
    grid: Grid, width: int, wrap: Callable[[str], str] | None = None
) -> tuple[Grid, list[str]]:
    """Return a table without optional columns that have no room, and the heads of these."""
    left_out: list[str] = []
    for name in grid.optional:
        if _measure(grid, wrap) > width:
            grid = grid.only([head != name for head in grid.head])
            left_out.append(name)
    return grid, left_out


def _console() -> Console:
    from rich.console import Console  # noqa: PLC0415  (only where something is shown)

    return Console(
        width=2000,
        color_system=None,
        force_terminal=False,
        force_jupyter=False,  # or a notebook shows an empty box
        legacy_windows=False,
    )


def _measure(grid: Grid, wrap: Callable[[str], str] | None = None) -> int:
    """Return how wide the table is if nothing is folded."""
    from rich.cells import cell_len  # noqa: PLC0415

    marked = 1 if grid.is_marked else 0
    heads = [wrap(h) if wrap and r else h for h, r in zip(grid.head, grid.right, strict=True)]
    widths = [max(map(cell_len, head.split("\n"))) for head in heads]
    for at, is_right in enumerate(grid.right):
        longest = max(
            (cell_len(line) for row in grid.rows for line in row[at].split("\n")), default=0
        )
        widths[at] = max(widths[at], longest + (marked if is_right else 0))
    return sum(widths) + 2 * len(widths) + 1 if widths else 0


def _table(grid: Grid, wrap: Callable[[str], str] | None = None) -> Table:
    from rich.box import SIMPLE_HEAD  # noqa: PLC0415
    from rich.markup import escape  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name, right in zip(map(printable, grid.head), grid.right, strict=True):
        head = wrap(name) if wrap and right else name
        justify: JustifyMethod = "right" if right else "left"
        table.add_column(escape(head), justify=justify, no_wrap=right, overflow="fold")
    marks = (" ", "*") if grid.is_marked else ("", "")
    for row in grid.rows:
        cells = zip(row, grid.right, strict=True)
        table.add_row(
            *(
                escape(printable(cell)) + (marks[isinstance(cell, Bold)] if right else "")
                for cell, right in cells
            )
        )
    return table
