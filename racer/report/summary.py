"""The result of a race on a terminal: winner, survivors, evaluations saved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from racer._numerics import shown_probability
from racer.racing.events import Ended

if TYPE_CHECKING:
    from rich.console import Console

    from racer.racing.result import RaceResult


def print_summary(result: RaceResult, console: Console, *, blocks: int | None = None) -> None:
    """Print winner, survivors and evaluations saved against `blocks` (those raced) for all."""
    if result.best_index is None:
        console.print("No candidate can be called the best.")
    else:
        console.print(f"The best is #{result.best_index}:", highlight=False)
        console.print(repr(result.best), soft_wrap=True, markup=False)

    table = Table(title="Survivors", title_justify="left")
    for name in ("candidate", "P(best)", "mean"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("configuration")
    for candidate in result.survivors:
        mean = result.mean(candidate)
        table.add_row(
            f"#{candidate}",
            shown_probability(result.probability_best[candidate]),
            "-" if mean is None else f"{mean:.4g}",
            escape(repr(result.config(candidate))),
        )
    console.print(table)
    if result.caveat:
        console.print(result.caveat, highlight=False, soft_wrap=True)

    if result.ended == Ended.INTERRUPTED:
        return
    full = len(result.configs) * (blocks or len(result.blocks))
    saved = 1.0 - result.evaluations / full if full else 0.0
    console.print(
        f"{result.evaluations} evaluations instead of {full} "
        f"(every candidate on every instance): {saved:.0%} saved.",
        highlight=False,
        soft_wrap=True,
    )
    if len(result.failures):
        console.print(f"{len(result.failures)} evaluations failed.", highlight=False)
