"""A comparison on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from racer.comparison.render.tables import cells, facts

if TYPE_CHECKING:
    import pandas as pd

    from racer.comparison.record import Record

__all__ = ["as_text", "print_comparison"]

_WORDS = ("algorithm", "better", "worse", "decision")


def print_comparison(comparison: Record, console: Console) -> None:
    """Print what was compared, the ranking, the pairs and the notes."""

    def say(text: str) -> None:
        console.print(escape(text), highlight=False, soft_wrap=True)

    say(comparison.title)
    for fact in facts(comparison):
        say(fact)
    say(f"\nRanking by {comparison.order}")
    console.print(_table(comparison.ranking))
    say("Pairs")
    console.print(_table(comparison.pairs))
    say(f"better: {comparison.meaning}")
    for note in comparison.explained:
        say(f"- {note}")


def _table(frame: pd.DataFrame) -> Table:
    table = Table(box=SIMPLE_HEAD)
    head, rows = cells(frame)
    for name, shown_as in zip(frame, head, strict=True):
        left = name in _WORDS
        table.add_column(shown_as, justify="left" if left else "right", no_wrap=not left)
    for row in rows:
        table.add_row(*map(escape, row))
    return table


def as_text(comparison: Record) -> str:
    """Return the same as plain text."""
    console = Console(width=2000, color_system=None, force_terminal=False, legacy_windows=False)
    with console.capture() as capture:
        print_comparison(comparison, console)
    return "\n".join(line.rstrip() for line in capture.get().splitlines())
