"""Time how busy workers are: the share of their time spent in the objective.

A race of 40 candidates and a tuning of 2 000 evaluations whose evaluations take .1 s on average.
On a simulated clock, whose workers and driver lose no time; `--real` waits in real workers, by
loky or Dask, and asserts that the result is the same as with one worker.
"""

from __future__ import annotations

import heapq
import importlib
import statistics
import time
import tracemalloc
import zlib
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import click
import joblib
from joblib.externals.loky import get_reusable_executor

import racer
from experiments.bench.sleeping import MEAN, Objective
from experiments.options import number_option
from experiments.report import print_row
from racer import BlockCompleted, Outcome, Race, Tuner
from racer.evaluate.executor import never
from racer.evaluate.objective import judge
from racer.run.drive import drive

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from racer import Cell
    from racer.run.drive import Ahead

__all__ = ["LAWS", "Clock", "main", "simulated"]

WORKERS = (4, 8, 16)
SAME = ["block", "candidate", "value"]
LAWS = ("equal", "log-normal", "exponential", "per candidate")
SPACE = racer.Space({name: racer.Real(-5.0, 5.0) for name in "abcde"})
GOALS: dict[tuple[str, str], tuple[float, ...]] = {  # useful share with 4, 8, 16 workers
    ("race", "equal"): (0.97, 0.95, 0.90),
    ("race", "exponential"): (0.95, 0.93, 0.88),
    ("tune", "equal"): (0.97, 0.95, 0.90),
    ("tune", "exponential"): (0.93, 0.86, 0.75),
}
AT_ONCE = (1, 2, 3, 4, 5)
GOALS_AT_ONCE = {64: 0.85, 256: 0.6}


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


OTHER = "tune, bayesian-friedman"


def _contest(kind: str, seed: int, evaluations: int, at_once: int | None) -> Race | Tuner:
    if kind == "race":
        return Race(range(40), budget=evaluations, seed=seed)
    decider: Any = {"decider": "bayesian-friedman"} if kind == OTHER else {}
    return Tuner(SPACE, budget=evaluations, seed=seed, parallel_races=at_once, **decider)


def simulated(
    kind: str,
    law: str,
    n_workers: int,
    ahead: Ahead,
    *,
    seed: int,
    evaluations: int,
    at_once: int | None = None,
) -> tuple[float, float, Any]:
    """Return the useful share of the workers' time, unused by used seconds, and the result."""
    clock = Clock(Objective(law), n_workers)
    result = drive(_contest(kind, seed, evaluations, at_once), clock, ahead=ahead)
    return (
        result.seconds / (n_workers * clock.now),
        result.unused.seconds / result.seconds,
        result,
    )


def end_loky() -> None:
    """End loky's workers, so that the next call starts them."""
    get_reusable_executor().shutdown(wait=True, kill_workers=True)


def pool_started(n_workers: int, evaluations: int) -> float:
    """Return the busy share of joblib's own pool with equal times, its start included."""
    end_loky()
    start = time.perf_counter()
    joblib.Parallel(n_workers)(joblib.delayed(time.sleep)(MEAN) for _ in range(evaluations))
    return evaluations * MEAN / (n_workers * (time.perf_counter() - start))


def real(
    kind: str,
    law: str,
    n_workers: int,
    ahead: Ahead,
    *,
    seed: int,
    evaluations: int,
    client: Any,
    started: bool = False,
) -> tuple[float, float, Any]:
    """Return the busy share, the unused share and the result of real workers, which sleep.

    They are loky's, or those of `client`. `started`: the time to start loky's workers counts.
    """
    executor = None if client is None else client.get_executor(pure=False)
    how: dict[str, Any] = {"n_jobs": n_workers, "executor": executor}
    if started:
        end_loky()
    else:
        racer.race([0, 1], Objective("equal", 0.1), budget=10 * n_workers, **how)  # starts them
    how |= {"budget": evaluations, "seed": seed, "ahead": ahead}
    start = time.perf_counter()
    result: Any = (
        racer.race(range(40), Objective(law), **how)
        if kind == "race"
        else racer.tune(SPACE, Objective(law), **how)
    )
    wall = time.perf_counter() - start
    return result.seconds / (n_workers * wall), result.unused.seconds / result.seconds, result


def print_simulated(kinds: dict[str, int], seeds: int, workers: tuple[int, ...]) -> None:
    """Print a table of simulated shares: block by block, ahead, and what was in vain."""
    print_row("", "times", "workers", "block by block", "ahead", "goal", "unused", head=True)
    for kind, evaluations in kinds.items():
        for law in LAWS:
            goals = dict(zip(WORKERS, GOALS.get((kind.split(",")[0], law), ()), strict=False))
            for n_workers in workers:
                shares = []
                for ahead in (0, "auto"):
                    runs = [
                        simulated(kind, law, n_workers, ahead, seed=seed, evaluations=evaluations)
                        for seed in range(seeds)
                    ]
                    shares.append(
                        [statistics.fmean(run[place] for run in runs) for place in (0, 1)]
                    )
                print_row(
                    *(kind, law, str(n_workers)),
                    *(f"{shares[0][0]:.2f}", f"{shares[1][0]:.2f}"),
                    str(goals.get(n_workers, "-")),
                    f"{shares[1][1]:.2f}",
                )


def print_at_once(evaluations: int, seeds: int, workers: tuple[int, ...]) -> None:
    """Print a table of simulated shares of tunings with several races at once."""
    print_row("races at once", "times", "workers", "busy", "unused", "goal", head=True)
    for at_once in AT_ONCE:
        for law in ("exponential", "log-normal"):
            for n_workers in workers:
                runs = [
                    simulated(
                        *("tune", law, n_workers, "auto"),
                        seed=seed,
                        evaluations=evaluations,
                        at_once=at_once,
                    )
                    for seed in range(seeds)
                ]
                busy, unused = (statistics.fmean(run[place] for run in runs) for place in (0, 1))
                goal = GOALS_AT_ONCE.get(n_workers, "-") if law == "exponential" else "-"
                print_row(
                    *(str(at_once), law, str(n_workers)),
                    *(f"{busy:.2f}", f"{unused:.2f}", str(goal)),
                )


REAL = (("race", "exponential"), ("tune", "equal"), ("tune", "log-normal"))


def print_real(kinds: dict[str, int], n_workers: int) -> None:
    """Print a table of the shares of real workers beside the simulated ones."""
    distributed: Any = importlib.import_module("distributed")  # an extra

    head = ("", "times", "block by block", "ahead", "simulated", "unused", "ahead, with start")
    print_row("workers", *head, head=True)
    with (
        distributed.LocalCluster(
            n_workers=n_workers, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as dask,
    ):
        for name, client in (("loky", None), ("Dask", dask)):
            for kind, law in REAL:
                measure = partial(real, kind, law, n_workers, seed=0, evaluations=kinds[kind])
                barrier, _, expected = measure(0, client=client)
                share, unused, result = measure("auto", client=client)
                if not result.scores[SAME].equals(expected.scores[SAME]):
                    raise AssertionError(f"{name}: going ahead changed the {kind}")
                clock = simulated(kind, law, n_workers, "auto", seed=0, evaluations=kinds[kind])
                shares = [barrier, share, clock[0], unused]
                if client is None:
                    shares.append(measure("auto", client=None, started=True)[0])
                print_row(name, kind, law, *(f"{value:.2f}" for value in shares))
    pools = [f"{n} calls {pool_started(n_workers, n):.2f}" for n in dict.fromkeys(kinds.values())]
    print(f"\njoblib's own pool, equal times, with start: {', '.join(pools)}")


def print_memory(evaluations: int) -> None:
    """Print a table of what the driver holds after each quarter of a race in eight threads."""
    print_row("ahead", *(f"{quarter * evaluations // 4:,}" for quarter in range(1, 5)), head=True)
    for ahead in (0, 8):
        held: list[int] = []

        def look(event: Any, held: list[int] = held) -> None:
            quarter = len(held) + 1
            if isinstance(event, BlockCompleted) and event.evaluations * 4 >= quarter * evaluations:
                held.append(tracemalloc.get_traced_memory()[0])

        tracemalloc.start()
        with ThreadPoolExecutor(8) as executor:
            racer.race(
                range(40),
                lambda config, instance, seed: zlib.crc32(b"%d %d" % (config, seed)),  # noqa: ARG005
                budget=evaluations,
                decider=racer.deciders.FRace(alpha=1e-9, gate=False),  # so all stay
                seed=1,
                ahead=ahead,
                executor=executor,
                n_jobs=8,
                callbacks=[look],
            )
        tracemalloc.stop()
        print_row(str(ahead), *(f"{size / 1e6:.1f} MB" for size in held))


@click.command()
@number_option("--seeds", 5)
@number_option("--race", 1_000)
@number_option("--tune", 2_000)
@click.option("--workers", type=int, multiple=True, default=WORKERS, show_default=True)
@click.option("--at-once", type=int, help="Measure tunings of so many with races at once instead.")
@click.option("--real", "n_real", type=int, help="Measure so many real workers instead.")
@click.option("--memory", type=int, help="Measure memory in a race of so many evaluations instead.")
def main(
    seeds: int,
    race: int,
    tune: int,
    workers: tuple[int, ...],
    at_once: int | None,
    n_real: int | None,
    memory: int | None,
) -> None:
    """Print a Markdown table: the share of the workers' time that useful evaluations take."""
    kinds = {"race": race, "tune": tune}
    if memory is not None:
        print_memory(memory)
    elif at_once is not None:
        print_at_once(at_once, seeds, workers)
    elif n_real is None:
        print_simulated({**kinds, OTHER: tune}, seeds, workers)
    else:
        print_real(kinds, n_real)
