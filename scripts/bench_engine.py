"""Time the race engine: CPU per evaluation, incremental joint posterior, workers, import.

Run:  python scripts/bench_engine.py [--evaluations 50000] [--repeats 5] [--decider NAME ..]

"all stay": the decider's verdict is computed at every look and then withheld, so that every
block has all candidates. "as raced": races of candidates that are all alike, one after another
until the evaluations are spent, in which candidates do go. Figures are medians over the repeats.
The deciders that sample a posterior at a look, once the gate is open, are timed without a gate as
well. --decider chooses some, and leaves out what is not about deciders.
"""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import racer
from experiments.noise import evaluate
from racer.deciders import (
    DECIDERS,
    BayesianFriedman,
    Blocks,
    BradleyTerryRace,
    Decider,
    PlackettLuceRace,
    SignedRankRace,
    Verdict,
    as_decider,
)
from racer.deciders.decider import KnowsBudget
from racer.seeding import rng_for
from racer.stats import joint_comparisons

if TYPE_CHECKING:
    from collections.abc import Callable

TARGETS = {"f-race": 20.0, "t-race": 20.0, "bayesian-friedman": 60.0}
UNGATED: dict[str, Decider] = {
    "bradley-terry": BradleyTerryRace(gate=False),
    "plackett-luce": PlackettLuceRace(gate=False),
    "signed-rank": SignedRankRace(gate=False),
}
LOOK_TARGET = 10.0  # milliseconds, with 10 candidates


@dataclass(frozen=True)
class Withheld:
    """A decider whose drops are computed and not heeded."""

    inner: Decider

    def told_budget(self, evaluations: int | None, blocks: int | None) -> Withheld:
        """Tell the decider inside, if it plans ahead."""
        if isinstance(self.inner, KnowsBudget):
            return Withheld(self.inner.told_budget(evaluations, blocks))
        return self

    def start(self, n_candidates: int, rng: np.random.Generator) -> Any:
        """Start the decider inside."""
        return self.inner.start(n_candidates, rng)

    def decide(self, state: Any, blocks: Blocks) -> tuple[Any, Verdict]:
        """Decide, and keep everyone."""
        state, verdict = self.inner.decide(state, blocks)
        return state, verdict._replace(dropped=(), undecided=False)


def median_cpu(repeats: int, work: Callable[..., int], *args: Any) -> float:
    """CPU microseconds per evaluation of `work`, which returns how many it made."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        count = work(*args)
        times.append((time.process_time() - start) / count * 1e6)
    return statistics.median(times)


def all_stay(name: str, m: int, evaluations: int) -> int:
    """One race in which nobody goes."""
    return racer.race(
        range(m),
        evaluate,
        range(20),
        decider=Withheld(as_decider(name)),
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
        done += racer.race(
            range(m), evaluate, range(20), decider=name, budget=left, seed=seed
        ).evaluations
    return done


def objective_alone(m: int, evaluations: int) -> int:
    """Make the calls that any engine would have to make."""
    for index in range(evaluations):
        evaluate(index % m, index % 20, index)
    return evaluations


def incremental(repeats: int, m: int = 100, n: int = 500) -> tuple[float, float, float]:
    """Milliseconds of one more block, of that decision from scratch, and of the joint table.

    From scratch: a new state that is given all blocks. The joint table: `joint_comparisons`,
    which samples every pair and takes none of the decider's shortcuts.
    """
    rng = rng_for(1, "bench")
    costs = rng.normal(size=(n + repeats, m)) + rng.random(m)
    decider = BayesianFriedman()
    state = decider.start(m, rng_for(1, "decider"))
    everyone = np.arange(m)
    for row in costs[:n]:
        state, _ = decider.decide(state, Blocks(everyone, row[None, :]))
    step, scratch, anew = [], [], []
    for index in range(n, n + repeats):
        start = time.perf_counter()
        state, _ = decider.decide(state, Blocks(everyone, costs[index][None, :]))
        step.append(time.perf_counter() - start)
    for index in range(n, n + repeats):
        start = time.perf_counter()
        joint_comparisons(costs[: index + 1], draws=decider.draws)
        anew.append(time.perf_counter() - start)
    for index in range(n, n + repeats):
        start = time.perf_counter()
        decider.decide(
            decider.start(m, rng_for(1, "decider")), Blocks(everyone, costs[: index + 1])
        )
        scratch.append(time.perf_counter() - start)
    return tuple(statistics.median(times) * 1e3 for times in (step, scratch, anew))  # type: ignore[return-value]


def look(decider: Decider, m: int, n: int, repeats: int) -> float:
    """Return the CPU milliseconds of one more block after n, of m candidates who all stay."""
    rng = rng_for(1, "look")
    costs = rng.normal(size=(n + repeats, m)) + 0.3 * rng.random(m)
    everyone = np.arange(m)
    state = decider.start(m, rng_for(1, "decider"))
    state, _ = decider.decide(state, Blocks(everyone, costs[:n]))
    times = []
    for row in costs[n:]:
        start = time.process_time()
        state, _ = decider.decide(state, Blocks(everyone, row[None, :]))
        times.append(time.process_time() - start)
    return statistics.median(times) * 1e3


def looks(names: tuple[str, ...], repeats: int) -> None:
    """Print the CPU milliseconds of a look that samples."""
    print("\nCPU ms per look that samples, all stay (goal: 10 with 10 candidates)")
    print(f"{'decider':<20}{'candidates':>11}{'20 blocks':>10}{'50':>8}{'200':>8}{'goal':>6}")
    for name in names:
        for m in (10, 30, 100):
            times = [look(UNGATED[name], m, n, max(repeats, 7)) for n in (20, 50, 200)]
            goal = f"{LOOK_TARGET:.0f}" if m == 10 else "-"
            print(
                f"{name:<20}{m:>11}{times[0]:>10.1f}{times[1]:>8.1f}{times[2]:>8.1f}{goal:>6}",
                flush=True,
            )


def seeding(repeats: int) -> float:
    """CPU microseconds of seeding both legacy generators, a part of every evaluation."""

    def both() -> int:
        for seed in range(20_000):
            random.seed(seed)
            np.random.seed(seed)  # noqa: NPY002
        return 20_000

    return median_cpu(repeats, both)


def workers(blocks: int = 40) -> tuple[float, float]:
    """Wall milliseconds of joblib per block, and per evaluation, with n_jobs=2."""

    def per_block(m: int) -> float:
        start = time.perf_counter()
        racer.race(
            range(m),
            evaluate,
            range(20),
            decider=Withheld(as_decider("f-race")),
            budget=m * blocks,
            n_jobs=2,
            seed=1,
        )
        return (time.perf_counter() - start) / blocks * 1e3

    per_block(2)  # starts the workers
    few, many = per_block(2), per_block(102)
    each = (many - few) / 100
    return few - 2 * each, each


def import_seconds(repeats: int) -> float:
    """Wall seconds of `import racer` beyond an empty interpreter."""

    def run(code: str) -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603  (own code)
        return time.perf_counter() - start

    return statistics.median(run("import racer") - run("pass") for _ in range(repeats))


@click.command()
@click.option("--evaluations", default=50_000, show_default=True)
@click.option("--repeats", default=5, show_default=True)
@click.option("--decider", "chosen", type=click.Choice(list(DECIDERS)), multiple=True)
def main(evaluations: int, repeats: int, chosen: tuple[str, ...]) -> None:
    """Print CPU per evaluation, the joint posterior's two times, and the import."""
    print(f"CPU us per evaluation beyond the objective, {evaluations} evaluations, n_jobs=1")
    print(f"{'decider':<20}{'candidates':>11}{'all stay':>10}{'as raced':>10}{'goal':>6}")
    names = chosen or tuple(DECIDERS)
    for name in names:
        for m in (10, 100):
            floor = median_cpu(repeats, objective_alone, m, evaluations)
            stay = median_cpu(repeats, all_stay, name, m, evaluations) - floor
            raced = median_cpu(repeats, as_raced, name, m, evaluations) - floor
            goal = f"{TARGETS[name]:.0f}" if name in TARGETS else "-"
            print(f"{name:<20}{m:>11}{stay:>10.1f}{raced:>10.1f}{goal:>6}", flush=True)

    looks(tuple(name for name in names if name in UNGATED), repeats)
    if chosen:
        return
    step, scratch, anew = incremental(max(repeats, 11))
    print(
        f"\none more block at 100 candidates x 500 blocks, {BayesianFriedman().draws} draws: "
        f"{step:.2f} ms; the same decision from all blocks {scratch:.1f} ms, "
        f"{scratch / step:.0f} times; joint_comparisons on all blocks {anew:.1f} ms, "
        f"{anew / step:.0f} times (goal 20)"
    )
    print(f"of each evaluation, seeding random and np.random: {seeding(repeats):.1f} us")
    block, each = workers()
    print(f"joblib workers, n_jobs=2: {block:.1f} ms per block and {each:.2f} ms per evaluation")
    print(f"import racer: {import_seconds(repeats):.3f} s (goal 0.3)")


if __name__ == "__main__":
    main()
