"""Measure what racer's sampler finds in an Optuna study, beside TPE, and the time it takes.

Run:  python scripts/bench_optuna_sampler.py [--seeds 10] [--evaluations 1000] [--repeats 3]

The problems of `bench_tuner.py`: five reals; 50 instances for tuning that differ in level, scale
and optimum; noise of sd 1. The number of evaluations is the same with one instance a trial and
with five. Quality is the mean over 100 instances without bias and noise, smaller is better: that
of the trial with the best value, and the median of the last tenth of the trials. The time of a
trial is what `study.ask` takes, in memory, the samplers taking turns.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from experiments.report import (
    csv_option,
    markdown,
    mean_and_error,
    plus_minus,
    with_progress,
    write,
)
from experiments.tuner.problems import KINDS, problem
from experiments.tuner.samplers import SAMPLERS, ran

PER_TRIAL = (5, 1)
TRIALS = (200, 1_000)  # of which the time is measured
SECONDS = 5e-3  # per trial


@click.command()
@click.option("--seeds", type=click.IntRange(2), default=10, show_default=True)
@click.option("--evaluations", type=click.IntRange(200), default=1_000, show_default=True)
@click.option("--repeats", type=click.IntRange(1), default=3, show_default=True)
@csv_option
def main(seeds: int, evaluations: int, repeats: int, csv_path: Path | None) -> None:
    """Print the table of qualities, mean ± standard error, and that of the times."""
    jobs = [
        (name, kind, per, seed)
        for kind in KINDS
        for per in PER_TRIAL
        for seed in range(seeds)
        for name in SAMPLERS
    ]
    expected = [evaluations / per * SECONDS for _, _, per, _ in jobs]
    rows = []
    for name, kind, per, seed in with_progress(
        jobs, expected, 1, lambda job: f"{job[0]}, {job[1]}"
    ):
        found = ran(name, problem(kind, seed), evaluations // per, per, seed)
        rows.append(
            {"sampler": name, "problem": kind, "per_trial": per, "seed": seed, **found._asdict()}
        )
    write(csv_path, rows)
    cases = [(kind, per) for kind in KINDS for per in PER_TRIAL]
    for which, title in (
        ("best", "trial with the best value"),
        ("late", "last tenth of the trials"),
    ):
        table = [
            [
                name,
                *(
                    plus_minus(
                        *mean_and_error(
                            np.array(
                                [
                                    float(str(r[which]))
                                    for r in rows
                                    if (r["sampler"], r["problem"], r["per_trial"]) == (name, *case)
                                ]
                            )
                        )
                    )
                    for case in cases
                ),
            ]
            for name in SAMPLERS
        ]
        print(markdown((title, *(f"{kind}, {per} a trial" for kind, per in cases)), table), "\n")
    print(
        markdown(
            ("ms a trial", *(f"{n} trials, {w}" for n in TRIALS for w in WHEN)), times(repeats)
        )
    )


WHEN = ("all", "last tenth")


def times(repeats: int) -> list[list[str]]:
    """Return the rows of the times: medians over studies."""
    taken = [
        [[ran(name, problem("sphere", seed), n, 5, seed)[2:] for n in TRIALS] for name in SAMPLERS]
        for seed in range(repeats)
    ]
    medians = np.median(taken, axis=0).reshape(len(SAMPLERS), -1)
    return [[name, *(f"{t:.2f}" for t in row)] for name, row in zip(SAMPLERS, medians, strict=True)]


if __name__ == "__main__":
    main()
