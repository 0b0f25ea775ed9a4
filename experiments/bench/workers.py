"""Time how busy workers are: the share of their time spent in the objective.

A race of 40 candidates and a tuning of 2 000 evaluations whose evaluations take .1 s on average, on
a simulated clock, whose workers and driver lose no time.
"""

from __future__ import annotations

import heapq
import zlib
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import click
import numpy as np

import racer
from experiments.options import number_option
from experiments.report import measured, table
from racer import Outcome, Race, Tuner
from racer.evaluate.executor import never
from racer.evaluate.objective import judge
from racer.run.drive import Feed, drive

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from experiments.report import Columns
    from racer import Cell

__all__ = ["LAWS", "SPACE", "Clock", "Objective", "main", "shares"]

WORKERS = (4, 8, 16)
LAWS = ("equal", "log-normal", "exponential", "per candidate")
SPACE = racer.Space({name: racer.Real(-5.0, 5.0) for name in "abcde"})
MEAN = 0.1  # seconds of an evaluation


@dataclass(frozen=True)
class Objective:
    """A noisy cost, after as many seconds as the law of running times says."""

    law: str

    def seconds(self, config: Any, seed: int) -> float:
        """Return how long an evaluation takes: the same each time."""
        name = zlib.crc32(repr(config).encode())
        rng = np.random.default_rng([name] if self.law == "per candidate" else [name, seed])
        factor = 1.0
        if self.law == "log-normal":
            factor = rng.lognormal(-0.5, 1.0)
        elif self.law != "equal":
            factor = rng.standard_exponential()
        return factor * MEAN

    def cost(self, config: Any, seed: int) -> float:
        """Return 0.05 times the candidate's number, or the sum of squares, and N(0, 1)."""
        noise = np.random.default_rng([seed, zlib.crc32(repr(config).encode())]).standard_normal()
        known = 0.05 * config if isinstance(config, int) else sum(x * x for x in config.values())
        return float(known + noise)


class Clock:
    """Workers on a simulated clock: first come, first served; nothing else takes any time."""

    takes_more = True

    def __init__(self, objective: Objective, n_workers: int) -> None:
        self.capacity = n_workers + 2
        self.now = self.busy = 0.0
        self._objective = objective
        self._free = [0.0] * n_workers  # when each worker is
        self._running: list[tuple[float, int, Cell, float]] = []
        self._count = 0

    def submit(self, cell: Cell) -> None:
        """Begin a cell as soon as a worker is free."""
        seconds = self._objective.seconds(cell.config, cell.seed)
        end = max(heapq.heappop(self._free), self.now) + seconds
        heapq.heappush(self._free, end)
        self._count += 1
        heapq.heappush(self._running, (end, self._count, cell, seconds))

    def next(self, stopping: Callable[[], bool] = never) -> tuple[Cell, Outcome]:  # noqa: ARG002
        """Let time go on to the next end of an evaluation."""
        self.now, _, cell, seconds = heapq.heappop(self._running)
        status, value, message = judge(self._objective.cost(cell.config, cell.seed))
        return cell, Outcome(status, value, seconds=seconds, message=message)

    def withdraw(self, cell: Cell) -> bool:  # noqa: ARG002
        """Refuse, as loky does."""
        return False

    def finish(self) -> list[Cell]:
        """Return all that run."""
        return [cell for _, _, cell, _ in self._running]

    def rest(self) -> Iterator[tuple[Cell, Outcome]]:
        """Yield what has been evaluated in vain by now."""
        for end, _, cell, seconds in self._running:
            if end - seconds < self.now:
                yield cell, Outcome("ok", 0.0, seconds=min(end, self.now) - end + seconds)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._running.clear()


class Case(NamedTuple):
    """A contest: a race, or a tuning."""

    kind: str
    law: str
    workers: int
    evaluations: int


def shares(case: Case, seed: int) -> dict[str, float]:
    """Return the useful share of the workers' time, without and with prefetched cells.

    And, of what is evaluated with them, the part that is not used.
    """
    found: dict[str, float] = {}
    for ahead in (0, "auto"):
        contest: Race | Tuner = (
            Race(range(40), budget=case.evaluations, seed=seed)
            if case.kind == "race"
            else Tuner(SPACE, budget=case.evaluations, seed=seed)
        )
        clock = Clock(Objective(case.law), case.workers)
        result: Any = drive(Feed(contest, clock, ahead))
        name = "ahead" if ahead else "by_block"
        found[name] = result.seconds / (case.workers * clock.now)
        found["unused"] = result.unused.seconds / result.seconds
    return found


@click.command()
@number_option("--seeds", 5)
@number_option("--jobs", 1)
@number_option("--race", 1_000)
@number_option("--tune", 2_000)
@click.option("--workers", type=int, multiple=True, default=WORKERS, show_default=True)
def main(seeds: int, jobs: int, race: int, tune: int, workers: tuple[int, ...]) -> None:
    """Print a Markdown table: the share of the workers' time that useful evaluations take."""
    grid = product((("race", race), ("tune", tune)), LAWS, workers)
    cases = [Case(kind, law, n, size) for (kind, size), law, n in grid]
    columns: Columns = {
        "": "{kind}",
        "times": "{law}",
        "workers": "{workers}",
        "block by block": "{by_block:.2f}",
        "ahead": "{ahead:.2f}",
        "unused": "{unused:.2f}",
    }
    print(table(measured(shares, cases, range(seeds), jobs), columns))
