"""Who is called the best of a race of run times, and who is: P(best) in seconds and in ratios."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest import mock

import click
import joblib
import numpy as np

import racer
from experiments.options import jobs_option
from experiments.report import markdown, mean_and_error, write
from racer.results import base
from racer.stats import best_posterior

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

HERE = Path(__file__).parent
FILE = HERE / "best.csv"
LIMIT, PAR = 10.0, 10.0
INSTANCES, PER_CANDIDATE = 40, 25
HELD_OUT = 40_000
HEAD = ("candidates", "`leader`", "`best`, costs in seconds", "`best`", "P(best) of `best`")


class World(NamedTuple):
    """Log-normal times: of q candidates, instances, and runs; `hangs`, whatever the instance."""

    q: int
    apart: float  # standard deviation of the logarithms of the candidates' medians
    spreads: tuple[float, float]  # least and largest standard deviation of log times
    hangs: tuple[float, ...] = (0.0,)  # shares, of which each candidate has one


WORLDS = {
    "8 of different speeds": World(8, 1.0, (0.5, 0.5)),
    "20 of different speeds": World(20, 1.0, (0.5, 0.5)),
    "8 of nearly equal speeds": World(8, 0.3, (0.5, 0.5)),
    "8 with spreads of their own": World(8, 0.3, (0.3, 1.4)),
    "8 of which some hang": World(8, 0.5, (0.4, 0.4), (0.0, 0.02, 0.05, 0.15)),
    "8 that all hang in 4 %": World(8, 0.5, (0.4, 0.4), (0.04,)),
}


class Drawn:
    """Candidates of a world."""

    def __init__(self, world: World, seed: int) -> None:
        rng = np.random.default_rng([seed, world.q])
        self.seed = seed
        self.median = rng.normal(-1.0, world.apart, world.q)
        self.spread = rng.uniform(*world.spreads, world.q)
        self.hangs = rng.choice(world.hangs, world.q)
        self.hard = rng.normal(size=INSTANCES)

    def times(self, rng: np.random.Generator, hard: Any) -> NDArray[np.float64]:
        """Return times (blocks, candidates) on instances as hard as these, (blocks, 1)."""
        size = (len(hard), len(self.median))
        times = np.exp(self.median + hard + self.spread * rng.normal(size=size))
        return np.where(rng.random(size) < self.hangs, math.inf, times)

    def time(self, candidate: int, instance: int, seed: int) -> float:
        """Return the time of a cell."""
        rng = np.random.default_rng([self.seed, instance, seed % 2**31])
        return float(self.times(rng, self.hard[[instance], None])[0, candidate])

    def par(self) -> NDArray[np.float64]:
        """Return the true PAR10 of each candidate, on instances like these."""
        rng = np.random.default_rng(self.seed)
        times = self.times(rng, rng.normal(size=(HELD_OUT, 1)))
        return np.asarray(np.where(times >= LIMIT, PAR * LIMIT, times).mean(axis=0))


def raced(name: str, seed: int) -> dict[str, Any]:
    """Hold a race; return for each rule whether it chose the best, its PAR10, and what it says."""
    world = WORLDS[name]
    drawn = Drawn(world, seed)
    runtime = racer.Runtime(LIMIT, par=PAR)
    budget = PER_CANDIDATE * world.q
    race = racer.Race(range(world.q), range(INSTANCES), budget=budget, seed=seed, runtime=runtime)
    while cells := race.ask():
        for cell in cells:
            time = drawn.time(cell.candidate, cell.instance, cell.seed)
            is_over = cell.bound is not None and time >= cell.bound
            told = racer.Outcome("capped", cell.bound) if is_over else racer.Outcome("ok", time)
            race.tell(cell, told)
    result = race.result()
    with mock.patch.object(base, "best_posterior", wraps=best_posterior) as call:
        posterior = result.posterior
    given = {**call.call_args.kwargs, "ratios": False}
    in_seconds = best_posterior(*call.call_args.args, **given)
    leader = result.survivors[0] if result.leader is None else result.leader
    chosen = {"leader": leader, "seconds": in_seconds.best, "best": result.best_index}
    par = drawn.par()
    row: dict[str, Any] = {"world": name, "said": posterior.probability_best.max()}
    for rule, candidate in chosen.items():
        row[f"{rule}_right"] = float(par[candidate] == par.min())
        row[f"{rule}_above"] = par[candidate] - par.min()
        row[f"{rule}_eliminated"] = float(candidate not in result.survivors)
    return row


@click.command()
@click.option("--races", default=400, show_default=True, help="Races of each world.")
@jobs_option
def main(races: int, jobs: int) -> None:
    """Count how often the best is the best, print the table, and write best.csv."""
    calls = [(name, seed) for name in WORLDS for seed in range(races)]
    found = joblib.Parallel(n_jobs=jobs)(joblib.delayed(raced)(*call) for call in calls)
    rows = []
    for name in WORLDS:
        some = [row for row in found if row["world"] == name]
        keys = [key for key in some[0] if key != "world"]
        row = {"world": name, "races": races}
        for key in keys:
            mean, error = mean_and_error(np.array([one[key] for one in some]))
            row |= {key: round(mean, 4), f"{key}_error": round(error, 4)}
        rows.append(row)
    print(table(rows))
    write(FILE, rows)


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the table in Markdown: how often each rule is right, and its PAR10 above the best's."""
    lines = []
    for row in rows:
        cells = [
            f"{100 * float(row[f'{rule}_right']):.0f} %, {float(row[f'{rule}_above']):.2f} s"
            for rule in ("leader", "seconds", "best")
        ]
        lines.append((str(row["world"]), *cells, f"{float(row['said']):.2f}"))
    return markdown(HEAD, lines)
