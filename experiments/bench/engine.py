"""Time the race engine: CPU per evaluation.

"all stay": the decider's verdict is computed at every look and then withheld, so that every
block has all candidates. "as raced": races of candidates that are all alike, one after another
until the evaluations are spent, in which candidates are dropped. Figures are medians over the repeats.
--decider chooses some, of those of one number per cell.

--growth: races in which all stay, of 100, 1 000 and 10 000 candidates on 20 blocks, and of 10 candidates
on 100 and 1 000 blocks, tested as often as by default. Deciders that hold something for each pair of
candidates have no 10 000.
"""

from __future__ import annotations

import resource
import statistics
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import racer
from experiments.bench import against
from experiments.bench.tools import Withheld, evaluate, timed
from experiments.deciders import OF_ONE_NUMBER
from experiments.options import number_option
from experiments.report import print_row

if TYPE_CHECKING:
    from collections.abc import Callable

    from racer.deciders.decider import Schedule

__all__ = ["main"]

TARGETS = {"f-race": 20.0, "t-race": 20.0, "bayesian-friedman": 60.0}
PAIRED = ("anytime", "mean")  # bet on each pair of candidates
GROWING = (
    *("f-race", "f-race-sign", "f-race-mean-rank", "t-race", "correlated-t", "signed-rank"),
    *("bayesian-friedman", "bayesian-friedman-2015", "bayesian-best", "best-for-budget", "halving"),
    *("fixed-confidence", *PAIRED),
)
_GROWTH, _BLOCKS = (100, 1000, 10_000), 20
_LONGER, _CANDIDATES = (100, 1000), 10


def median_cpu(repeats: int, work: Callable[..., int], *args: Any) -> float:
    """CPU microseconds per evaluation of `work`, which returns how many it made."""
    times = []
    for _ in range(repeats):
        seconds, count = timed(partial(work, *args), time.process_time)
        times.append(seconds / count * 1e6)
    return statistics.median(times)


def all_stay(name: str, m: int, evaluations: int, each_test: Schedule = 1) -> int:
    """One race in which all stay."""
    decider = Withheld(OF_ONE_NUMBER[name])
    return racer.race(
        range(m),
        evaluate,
        range(evaluations // m if decider.bounds else 20),  # means of items: each is used once
        decider=replace(decider, each_test=each_test),
        budget=evaluations,
        seed=1,
    ).evaluations


def as_raced(name: str, m: int, evaluations: int) -> int:
    """Races one after another."""
    done = 0
    for seed in range(evaluations):
        left = evaluations - done
        if left < 5 * m:
            break
        items = left // m if OF_ONE_NUMBER[name].bounds else 20
        done += racer.race(
            range(m), evaluate, range(items), decider=OF_ONE_NUMBER[name], budget=left, seed=seed
        ).evaluations
    return done


def objective_alone(m: int, evaluations: int) -> int:
    """Make the calls that any engine would have to make."""
    for index in range(evaluations):
        evaluate(index % m, index % 20, index)
    return evaluations


def _grown(name: str, m: int, blocks: int, each_test: Schedule) -> tuple[float, float]:
    """CPU microseconds per evaluation of races in which all stay, and the peak in MB: of one process.

    The fastest of five races counts, of two of the longest.
    """
    all_stay(name, 10, 100)  # loads the modules that are imported late
    repeats = 5 if m * blocks <= 20_000 else 2
    race = partial(median_cpu, 1, all_stay, name, m, m * blocks, each_test)
    each = min(race() for _ in range(repeats))
    return each, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def growth(names: tuple[str, ...]) -> dict[str, float]:
    """Print what an evaluation takes as candidates and blocks grow in number, and peaks of memory.

    Return for each decider the time with 1 000 candidates over that with 100, and the same of
    blocks.
    """
    ratios = {}
    context = get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context, max_tasks_per_child=1) as pool:

        def grown(name: str, m: int, blocks: int, each_test: Schedule) -> tuple[float, float]:
            return pool.submit(_grown, name, m, blocks, each_test).result()

        sizes = [f"{m} candidates, us" for m in _GROWTH]
        print_row("decider", *sizes, "1000 to 100", "10 000 to 100", "peak, MB", head=True)
        for name in names:
            counts = _GROWTH[:-1] if name in PAIRED else _GROWTH
            found = [grown(name, m, _BLOCKS, 1) for m in counts]
            rows = [f"{us:.1f}" for us, _ in found]
            times = [us / found[0][0] for us, _ in found[1:]]
            shown = [f"{ratio:.2f}" for ratio in times]
            gap = ["-"] * (len(_GROWTH) - len(counts))
            print_row(f"`{name}`", *rows, *gap, *shown, *gap, f"{found[-1][1]:.0f}")
            ratios[f"{name}, candidates"] = times[0]
        print()
        print_row("decider", *(f"{n} blocks, us" for n in _LONGER), "ratio", head=True)
        for name in names:
            each_test = OF_ONE_NUMBER[name].tests
            few, many = (grown(name, _CANDIDATES, n, each_test)[0] for n in _LONGER)
            print_row(f"`{name}`", f"{few:.1f}", f"{many:.1f}", f"{many / few:.2f}")
            ratios[f"{name}, blocks"] = many / few
    return ratios


def refuse_slower(ratios: dict[str, float], at_most: float | None) -> None:
    """Raise ClickException with the ratios that exceed the largest one allowed, if one is given."""
    slower = [
        f"{name}: {ratio:.2f}" for name, ratio in ratios.items() if ratio > (at_most or ratio)
    ]
    if slower:
        raise click.ClickException(f"ratios above {at_most:g}:\n  " + "\n  ".join(slower))


@click.command()
@number_option("--evaluations", 50_000)
@number_option("--repeats", 5)
@click.option("--decider", "chosen", type=click.Choice(list(OF_ONE_NUMBER)), multiple=True)
@click.option(
    "--against",
    "other",
    type=click.Path(exists=True, file_okay=False, resolve_path=True, path_type=Path),
    help="Another checkout of racer, timed in turn with this one.",
)
@click.option(
    "--growth", "grows", is_flag=True, help="Only races of ever more candidates and blocks."
)
@click.option(
    "--at-most",
    type=click.FloatRange(min=1),
    help="Fail where a ratio is larger: of minima, here to there; of 1 000 to 100 candidates, and blocks.",
)
def main(
    *,
    evaluations: int,
    repeats: int,
    chosen: tuple[str, ...],
    other: Path | None,
    grows: bool,
    at_most: float | None,
) -> None:
    """Print CPU per evaluation."""
    if grows:
        refuse_slower(growth(chosen or GROWING), at_most)
        return
    if other is None and at_most is not None:
        raise click.UsageError("--at-most needs --against or --growth: times alone are no ratio")
    if other is not None:
        sizes = {"evaluations": max(evaluations // 10, 500), "tuned": max(evaluations // 50, 100)}
        deciders = chosen or against.DECIDERS
        refuse_slower(against.compare(other, deciders=deciders, rounds=repeats, **sizes), at_most)
        return
    print(f"CPU us per evaluation beyond the objective, {evaluations} evaluations, n_jobs=1")
    print(f"{'decider':<20}{'candidates':>11}{'all stay':>10}{'as raced':>10}{'goal':>6}")
    for name in chosen or OF_ONE_NUMBER:
        for m in (10, 100):
            floor = median_cpu(repeats, objective_alone, m, evaluations)
            stay = median_cpu(repeats, all_stay, name, m, evaluations) - floor
            raced = median_cpu(repeats, as_raced, name, m, evaluations) - floor
            goal = f"{TARGETS[name]:.0f}" if name in TARGETS else "-"
            print(f"{name:<20}{m:>11}{stay:>10.1f}{raced:>10.1f}{goal:>6}", flush=True)
