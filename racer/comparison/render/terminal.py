"""Lines and tables on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from racer.comparison.render.tables import cells, on_the_right

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd


def as_text(pieces: Iterable[str | pd.DataFrame]) -> str:
    """Return lines and tables as plain text."""
    console = Console(width=2000, color_system=None, force_terminal=False, legacy_windows=False)
    with console.capture() as capture:
        for piece in pieces:
            if isinstance(piece, str):
                console.print(escape(piece), highlight=False, soft_wrap=True)
            else:
                console.print(_table(piece))
    return "\n".join(line.rstrip() for line in capture.get().splitlines())


def _table(frame: pd.DataFrame) -> Table:
    table = Table(box=SIMPLE_HEAD)
    head, rows = cells(frame)
    for name, right in zip(head, on_the_right(frame), strict=True):
        table.add_column(name, justify="right" if right else "left", no_wrap=right)
    for row in rows:
        table.add_row(*map(escape, row))
    return table
