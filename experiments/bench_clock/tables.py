"""Which program is faster, by simulated times: false claims, finds, and runs that they take.

The true times of the programs are known; a clock multiplies each run by a factor of its own. Three
ways: 20 runs of each program in a row and Welch's t-test between the two best means (as hyperfine's
users do), the same with rounds in random order, and `racer.bench`.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import joblib
import numpy as np
from scipy.signal import lfilter
from scipy.stats import ttest_ind

import racer
from experiments.options import jobs_option, number_option
from experiments.report import print_row, write
from racer.evaluate.command.timing import Timed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Clock = Callable[[np.random.Generator, int], Floats]

__all__ = ["main"]

HERE = Path(__file__).parent
ROUNDS = 200
RUNS = 20  # of each program, in the other ways
LEVEL = 0.05
MARGIN = 0.02
FIRST_SEED = 5000


def _noise(rng: np.random.Generator, n: int, size: float = 0.01) -> Floats:
    return size * rng.standard_normal(n)


def drifting(rng: np.random.Generator, n: int) -> Floats:
    """Return log factors: AR(1) of .98 with 3 % standard deviation, and 1 % of each run."""
    steps = 0.03 * np.sqrt(1.0 - 0.98**2) * rng.standard_normal(n)
    steps[0] = 0.03 * rng.standard_normal()  # as it is after a long time
    logs: Floats = _noise(rng, n)
    logs += lfilter([1.0], [1.0, -0.98], steps)
    return logs


def steady(rng: np.random.Generator, n: int) -> Floats:
    """Return log factors: 3 % of each run."""
    return _noise(rng, n, 0.03)


def heavy(rng: np.random.Generator, n: int) -> Floats:
    """Return log factors: 1 % of each run, and every tenth run is longer, by half on average."""
    return _noise(rng, n) + np.where(rng.random(n) < 0.1, rng.exponential(0.4, n), 0.0)


def bursts(rng: np.random.Generator, n: int) -> Floats:
    """Return log factors: 1 % of each run; other work adds 30 %, for 25 runs in 250 on average."""
    busy, state = np.zeros(n), rng.random() < 0.1
    for i, draw in enumerate(rng.random(n)):
        state = draw >= 1.0 / 25.0 if state else draw < 1.0 / 225.0
        busy[i] = state
    return _noise(rng, n) + math.log(1.3) * busy


CLOCKS: dict[str, Clock] = {
    "drift": drifting,
    "no drift": steady,
    "heavy tails": heavy,
    "bursts": bursts,
}
PROGRAMS = {
    "2 equal": (1.0, 1.0),
    "5 equal": (1.0,) * 5,
    "2, 1 % apart": (1.0, 1.01),
    "2, 3 % apart": (1.0, 1.03),
    "5, 5 % apart": (1.0, 1.05, 1.1, 1.15, 1.2),
}
WAYS = ("in a row, Welch", "interleaved, Welch", "bench, no margin", "bench, 2 %")


def by_means(logs: Floats, times: Floats, *, interleaved: bool, rng: np.random.Generator) -> Any:
    """Return what Welch's test says of the two best means: claimed, false, within, runs."""
    m = len(times)
    of = np.repeat(np.arange(m), RUNS)  # the program of each run
    if interleaved:
        of = np.concatenate([rng.permutation(m) for _ in range(RUNS)])
    taken = times[of] * np.exp(logs[: m * RUNS])
    samples = [taken[of == i] for i in range(m)]
    first, second = np.argsort([sample.mean() for sample in samples])[:2]
    claimed = ttest_ind(samples[first], samples[second], equal_var=False).pvalue < LEVEL
    return claimed, claimed and times[first] >= times[second], False, m * RUNS


class Simulated(racer.Command):
    """A program that is not run: it takes its true time, multiplied by the next factor of a clock."""

    def __init__(self, time: float, clock: Iterator[float]) -> None:
        super().__init__(["true"])
        self._time, self._clock = time, clock

    def timed(self, instance: Any, seed: int, *, keep: bool) -> Timed:  # noqa: ARG002
        """Return the time."""
        seconds = self._time * next(self._clock)
        return Timed(seconds, seconds, "", None)


def by_bench(logs: Floats, times: Floats, margin: float, seed: int) -> Any:
    """Return what `racer.bench` says: claimed, false, within, runs.

    False is a true fastest that is out, a fastest that is not, and any interval (and so any
    verdict on the margin) without the true ratio.
    """
    clock = iter(np.exp(logs).tolist())
    truth = {str(i): time for i, time in enumerate(times.tolist())}
    programs = {name: Simulated(time, clock) for name, time in truth.items()}
    result = racer.bench(programs, rounds=ROUNDS, warmup=0, margin=margin, seed=seed)
    lines: Any = result.table.to_dict("records")
    base = truth[lines[0]["program"]]
    least = min(times)
    false = any(
        not line["low"] * (1 - 1e-12) <= truth[line["program"]] / base <= line["high"] * (1 + 1e-12)
        or (line["verdict"] == "slower" and truth[line["program"]] == least)
        or (line["verdict"] == "fastest" and truth[line["program"]] > least)
        for line in lines
    )
    return result.fastest is not None, false, result.ended == "settled", result.race.evaluations


def measured(clock: str, programs: str, seed: int) -> dict[str, Any]:
    """Return (claimed, false, within, runs) of each way, on the same clock."""
    rng, times = np.random.default_rng(seed), np.array(PROGRAMS[programs])
    logs = CLOCKS[clock](rng, ROUNDS * len(times))
    return {
        WAYS[0]: by_means(logs, times, interleaved=False, rng=rng),
        WAYS[1]: by_means(logs, times, interleaved=True, rng=rng),
        WAYS[2]: by_bench(logs, times, 0.0, seed),
        WAYS[3]: by_bench(logs, times, MARGIN, seed),
    }


@click.command("bench")
@number_option("--repetitions", 500, help="Benchmarks for each clock and set of programs.")
@jobs_option
def main(repetitions: int, jobs: int) -> None:
    """Compare programs on simulated clocks; write experiments/bench_clock/bench.csv."""
    rows = []
    print_row("clock", "programs", "way", "false", "found", "within", "runs", head=True)
    for clock in CLOCKS:
        for programs in PROGRAMS:
            found = joblib.Parallel(n_jobs=jobs)(
                joblib.delayed(measured)(clock, programs, seed)
                for seed in range(FIRST_SEED, FIRST_SEED + repetitions)
            )
            for way in WAYS:
                claimed, false, within, runs = np.array([one[way] for one in found], float).T
                row = {
                    "clock": clock,
                    "programs": programs,
                    "way": way,
                    "benchmarks": repetitions,
                    "false": float(false.mean()),
                    "found": float((claimed * (1.0 - false)).mean()),
                    "within": float((within * (1.0 - false)).mean()),
                    "runs": float(runs.mean()),
                }
                rows.append(row)
                print_row(*shown(row))
    write(HERE / "bench.csv", rows)


def shown(row: dict[str, Any]) -> list[str]:
    """Return a row as the page has it: shares in per cent, runs in whole numbers."""
    shares = [f"{100.0 * float(row[name]):.1f}" for name in ("false", "found", "within")]
    return [row["clock"], row["programs"], row["way"], *shares, f"{float(row['runs']):.0f}"]
