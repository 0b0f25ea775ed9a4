"""What came of a race or a tuning, for a program or a terminal: plain data, frames, tables."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table

from racer._numerics import shown_probability
from racer.tuner.result import TuneResult

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from racer.racing.result import RaceResult

__all__ = ["as_dict", "frames", "print_answer"]

Line = Callable[[Any], str]  # from a configuration to its command line
_LATEST = 10  # eliminations shown


def as_dict(result: RaceResult | TuneResult, line: Line | None = None) -> dict[str, Any]:
    """Return the answer as plain data; with `line`, each survivor has its command line."""
    said: dict[str, Any] = {
        "best": result.best,
        "best_index": result.best_index,
        "survivors": [_survivor(result, candidate, line) for candidate in result.survivors],
        "ended": result.ended.value,
        "evaluations": result.evaluations,
        "failures": len(result.known.failures),
        "seconds": result.seconds,
        "seed": result.seed,
        "eliminations": [vars(elimination) for elimination in result.dropped],
    }
    if isinstance(result, TuneResult):
        said["races"] = [vars(race) for race in result.races_held]
    return said


def _survivor(result: RaceResult | TuneResult, candidate: int, line: Line | None) -> dict[str, Any]:
    said = {
        "candidate": candidate,
        "config": result.config(candidate),
        "probability_best": result.probability_best[candidate],
        "mean": result.mean(candidate),
        "blocks": len(result.known.of(candidate)),
    }
    if isinstance(result, TuneResult) and len(result.held_out):
        said["held_out_mean"] = result.held_out.mean(candidate)
        said["held_out_blocks"] = len(result.held_out.of(candidate))
    if line is not None:
        said["command"] = line(said["config"])
    return said


def frames(result: RaceResult | TuneResult) -> dict[str, pd.DataFrame]:
    """Return the frames of a result by name."""
    names = ["scores", "table", "eliminations", "failures", "blocks"]
    if isinstance(result, TuneResult):
        names += ["configurations", "races", "tests"]
    return {name: getattr(result, name) for name in names}


def print_answer(
    result: RaceResult | TuneResult, console: Console, line: Line | None = None
) -> None:
    """Print the best, the survivors, the races, the latest eliminations, and why it ended."""
    said = as_dict(result, line)
    if result.best_index is None:
        console.print("No candidate can be called the best.")
    else:
        console.print(f"The best is #{result.best_index}:", highlight=False)
        console.print(repr(result.best), soft_wrap=True, markup=False, highlight=False)
        if line is not None:
            text = line(result.best)
            console.print(text, soft_wrap=True, markup=False, highlight=False)
    console.print(_survivors(said["survivors"]))
    if isinstance(result, TuneResult):
        console.print(_races(result))
    if result.dropped:
        console.print(_eliminations(result))
    failed = f", {said['failures']} of them failed" if said["failures"] else ""
    console.print(
        f"{result.evaluations} evaluations{failed}, {result.seconds:.6g} seconds in all, seed "
        f"{result.seed}. {result.ended.message}",
        highlight=False,
        soft_wrap=True,
    )


def _number(value: float | None) -> str:
    return "-" if value is None or math.isnan(value) else f"{value:.6g}"


def _table(title: str, *names: str) -> Table:
    table = Table(title=title, title_justify="left")
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _survivors(survivors: list[dict[str, Any]]) -> Table:
    held_out = any("held_out_mean" in said for said in survivors)
    names = ["candidate", "P(best)", "mean", "blocks", *(["held out"] if held_out else [])]
    table = _table("Survivors", *names)
    table.add_column("configuration")
    for said in survivors:
        table.add_row(
            f"#{said['candidate']}",
            shown_probability(said["probability_best"]),
            _number(said["mean"]),
            str(said["blocks"]),
            *([_number(said["held_out_mean"])] if held_out else []),
            escape(repr(said["config"])),
        )
    return table


def _races(result: TuneResult) -> Table:
    table = _table(
        "Races", "race", "kind", "candidates", "alive", "blocks", "best", "mean", "ended"
    )
    for race in result.races_held:
        best = "-" if race.best is None else f"#{race.best}"
        sizes = map(str, (race.candidates, race.alive, race.blocks))
        table.add_row(str(race.race), race.kind, *sizes, best, _number(race.best_mean), race.ended)
    return table


def _eliminations(result: RaceResult | TuneResult) -> Table:
    counts = Counter(elimination.reason for elimination in result.dropped)
    said = ", ".join(f"{count} {reason}" for reason, count in counts.most_common())
    table = _table(
        f"Eliminations: {said}; the latest",
        *("block", "candidate", "reason", "against", "probability", "measure"),
    )
    for drop in result.dropped[-_LATEST:]:
        table.add_row(
            str(drop.block),
            f"#{drop.candidate}",
            escape(drop.reason),
            f"#{drop.against}",
            f"{drop.probability:.4g}",
            escape(drop.measure),
        )
    return table
