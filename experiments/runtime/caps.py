"""Caps and the Friedman test: how often equal candidates are told apart, and what is saved."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np

from experiments.report import averaged, pm, table, write
from racer import Runtime
from racer.seeding import seed_for
from racer.simulate import RuntimeWorld
from racer.stats import friedman_test, rank_blocks

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from experiments.report import Columns, Row

    Times = NDArray[np.float64]

HERE = Path(__file__).parent
ELITES, CHALLENGERS, PAST, BLOCKS = 5, 5, 5, 20
LIMIT = 30.0
FASTER = math.log(0.7)
SLACKS = (1.0, 2.0, 4.0)
Q = ELITES + CHALLENGERS
EQUAL = RuntimeWorld(Q, 0.7, 1.0, LIMIT, tail=5.0, qualities=(0.0,) * Q)


def drawn(seed: int, faster: float) -> Times:
    """Return times, (past and new blocks, elites then challengers); the last may be faster."""
    draw = EQUAL.draw(seed)
    times = np.array([draw.costs(block) for block in range(PAST + BLOCKS)])
    times[:, -1] = np.where(times[:, -1] < LIMIT, times[:, -1] * math.exp(faster), LIMIT)
    return times


def uncapped(times: Times) -> tuple[Times, Times]:
    """Return costs and the time used, of new blocks."""
    return times[PAST:], times[PAST:]


def as_irace(times: Times) -> tuple[Times, Times]:
    """Stop each challenger at what elites took on average so far; who is stopped costs the limit.

    The bound of a candidate is the number of blocks times the median of the elites' means, less what
    it has used (Pérez Cáceres et al., LION 2017); elites are known up to the limit.
    """
    new = times[PAST:]
    costs, used = new.copy(), new.copy()
    spent = np.zeros(CHALLENGERS)
    for b in range(BLOCKS):
        reference = float(np.median(new[: b + 1, :ELITES].mean(axis=0)))
        bound = np.clip((b + 1) * reference - spent, 0.0, LIMIT)
        took = new[b, ELITES:]
        used[b, ELITES:] = np.minimum(took, bound)
        costs[b, ELITES:] = np.where(took >= bound, LIMIT, took)
        spent += used[b, ELITES:]
    return costs, used


def as_racer(times: Times, slack: float) -> tuple[Times, Times]:
    """Stop all at one cap per block, a function of the elites' capped times on earlier blocks."""
    runtime = Runtime(LIMIT, slack=slack)
    capped = times.copy()
    for b in range(PAST, PAST + BLOCKS):
        capped[b] = np.minimum(capped[b], runtime.cap(capped[:b, :ELITES]))
    return capped[PAST:], capped[PAST:]


CODINGS: dict[str, Callable[[Times], tuple[Times, Times]]] = {
    "no cap": uncapped,
    "irace's coding": as_irace,
    **{f"slack {slack:g}": lambda t, slack=slack: as_racer(t, slack) for slack in SLACKS},  # type: ignore[misc]
}


def measured(coding: Callable[[Times], tuple[Times, Times]], runs: int) -> dict[str, float]:
    """Return the rate of rejections of equals, the gap in mean ranks, what is saved, who is first."""
    found = []
    for run in range(runs):
        times = drawn(seed_for(1, "equal", run), 0.0)
        costs, used = coding(times)
        ranks = rank_blocks(costs).mean(axis=0)
        one = {"rejected": float(friedman_test(costs).f_p_value < 0.05)}
        one["gap"] = ranks[ELITES:].mean() - ranks[:ELITES].mean()
        one["saved"] = 1.0 - used[:, ELITES:].sum() / times[PAST:, ELITES:].sum()
        costs, _ = coding(drawn(seed_for(1, "faster", run), FASTER))
        ranks = rank_blocks(costs).mean(axis=0)
        found.append(one | {"first": (ranks[-1] == ranks.min()) / np.sum(ranks == ranks.min())})
    return averaged(found)


def _percent(name: str) -> Callable[[Row], str]:
    shown = pm(name, 1, 100)
    return lambda row: f"{shown(row)} %"


COLUMNS: Columns = {
    "": "{cap}",
    "equals rejected (nominal 5 %)": _percent("rejected"),
    "challengers behind, mean ranks": "{gap:+.3f} ± {gap_se:.3f}",
    "time saved": lambda row: f"{100 * row['saved']:.0f} %",
    "the 30 % faster one first": _percent("first"),
}


@click.command()
@click.option("--runs", default=4000, show_default=True, help="Tests per coding.")
def main(runs: int) -> None:
    """Measure, print the table, and write caps.csv."""
    rows = [
        {"cap": name, "runs": runs, **measured(coding, runs)} for name, coding in CODINGS.items()
    ]
    print(table(rows, COLUMNS))
    write(HERE / "caps.csv", rows)
