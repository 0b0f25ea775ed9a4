"""Lines and tables on a terminal."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table

from racer.comparison.render.tables import DISPENSABLE, HEADS, Figure, cells, on_the_right
from racer.report.sections import Grid
from racer.report.text import folded

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd
    from rich.console import JustifyMethod

_WIDTH = 80
_LEAST = 10  # of a folded column


def as_text(pieces: Iterable[str | pd.DataFrame]) -> str:
    """Return lines and tables as plain text in 80 columns, if the figures of a table fit."""
    console = Console(width=2000, color_system=None, force_terminal=False, legacy_windows=False)
    with console.capture() as capture:
        for piece in pieces:
            if isinstance(piece, str):
                text = folded(piece, _WIDTH, "  " if piece.startswith("- ") else "")
                console.print(escape(text), highlight=False, soft_wrap=True)
            else:
                _print(piece, console)
    return "\n".join(line.rstrip() for line in capture.get().splitlines())


def as_grid(frame: pd.DataFrame) -> Grid:
    """Return a table with all that it has, for a notebook."""
    head, rows = cells(frame)
    marked = any(isinstance(text, Figure) and text.bold for row in rows for text in row)
    shown = [
        [f"{t}*" if marked and isinstance(t, Figure) and t.bold else str(t) for t in row]
        for row in rows
    ]
    return Grid(tuple(head), tuple(map(tuple, shown)), tuple(on_the_right(frame)))


def _print(frame: pd.DataFrame, console: Console) -> None:
    """Print a table without what has no room, and with long names folded."""
    left_out = []
    for name in frame.attrs.get(DISPENSABLE, ()):
        if _width(frame, console) > _WIDTH:
            frame = frame.drop(columns=name)
            left_out.append(HEADS.get(name, name))
    table = _table(frame)
    if _width(frame, console) > _WIDTH:
        right = np.array(on_the_right(frame))
        if _WIDTH - _width(frame.loc[:, right], console) >= _LEAST * (~right).sum():
            table.width = _WIDTH
    console.print(table)
    if left_out:
        said = f"(no room for {', '.join(left_out)}: see `pairs`)"
        console.print(said, highlight=False)


def _width(frame: pd.DataFrame, console: Console) -> int:
    """Return how wide a table is if no name is folded."""
    return Measurement.get(console, console.options, _table(frame)).maximum


def _table(frame: pd.DataFrame) -> Table:
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    head, rows = cells(frame)
    for name, right in zip(head, on_the_right(frame), strict=True):
        if right:  # heads may be wrapped, figures not
            name = fill(name.replace("/tied", " /tied"), 7, break_long_words=False)  # noqa: PLW2901
        justify: JustifyMethod = "right" if right else "left"
        table.add_column(escape(name), justify=justify, no_wrap=right, overflow="fold")
    is_marked = any(isinstance(text, Figure) and text.bold for row in rows for text in row)
    for row in rows:
        table.add_row(*(_marked(text) if is_marked else escape(text) for text in row))
    return table


def _marked(text: str) -> str:
    """Return a cell of a table some of whose figures are marked."""
    if not isinstance(text, Figure):
        return escape(text)
    return escape(text) + ("*" if text.bold else " ")
