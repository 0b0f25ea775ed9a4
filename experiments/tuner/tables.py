"""What tuning finds with a budget, beside other ways to spend it, and what it costs.

Five reals in [-5, 5]; 100 instances, 50 of them for tuning, with an additive bias N(0, 20), a
log-normal scale (sd 0.25), an optimum shifted by N(0, 0.15) in each coordinate, and noise of sd 1.
Quality is the mean over all 100 instances without bias and noise; the floor is that of the best
point there is, found by local search from the origin. The costs are CPU time per evaluation
without that of the objective.
"""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

import click
import numpy as np
from scipy.optimize import minimize

from experiments.options import csv_option, number_option
from experiments.report import markdown, mean_and_error, plus_minus, with_progress, write
from experiments.tuner.contenders import CONTENDERS, overhead
from experiments.tuner.problems import DIMENSIONS, KINDS, Problem, problem

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["main"]

GOALS = {"sphere": 0.16, "rastrigin": 25.0}
SECONDS = dict(zip(CONTENDERS, (2e-4, 7e-3, 5e-4, 5e-5), strict=True))  # per evaluation
COSTS = {2_000: 100.0, 50_000: 30.0}  # us per evaluation, at most


def floor(drawn: Problem) -> float:
    """Return the quality of the best point near the origin."""
    names = [f"x{i}" for i in range(DIMENSIONS)]

    def quality(x: NDArray[np.float64]) -> float:
        return drawn.quality(dict(zip(names, x.tolist(), strict=True)))

    return float(minimize(quality, np.zeros(DIMENSIONS)).fun)


@click.command()
@number_option("--seeds", 10, least=2)
@number_option("--budget", 2_000, least=200)
@click.option("--costs/--no-costs", default=True, help="Measure the CPU time as well.")
@number_option("--repeats", 5)
@csv_option
def main(seeds: int, budget: int, *, costs: bool, repeats: int, csv_path: Path | None) -> None:
    """Print the table of qualities, mean +- standard error, and the costs."""
    jobs = [(name, kind, seed) for name in CONTENDERS for kind in KINDS for seed in range(seeds)]
    expected = [SECONDS[name] * budget for name, _, _ in jobs]
    found = []
    for name, kind, seed in with_progress(jobs, expected, 1, lambda job: f"{job[0]}, {job[1]}"):
        drawn = problem(kind, seed)
        quality = drawn.quality(CONTENDERS[name](drawn, budget, seed))
        found.append({"contender": name, "problem": kind, "seed": seed, "quality": quality})
    floors = {
        kind: statistics.mean(floor(problem(kind, s)) for s in range(seeds)) for kind in KINDS
    }
    rows = [("goal", *(f"{GOALS[kind]:g}" for kind in KINDS))]
    for name in CONTENDERS:
        qualities = [
            np.array(
                [f["quality"] for f in found if (f["contender"], f["problem"]) == (name, kind)]
            )
            for kind in KINDS
        ]
        rows.append((name, *(plus_minus(*mean_and_error(of_kind), 3) for of_kind in qualities)))
    rows.append(("the best point there is", *(f"{floors[kind]:.3f}" for kind in KINDS)))
    print(markdown((f"{budget} evaluations, {seeds} seeds", *KINDS), rows))
    write(csv_path, found)
    if costs:
        print()
        print(
            markdown(("evaluations", "decider", "CPU, us per evaluation", "goal"), _costs(repeats))
        )


def _costs(repeats: int) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for evaluations, goal in COSTS.items():
        times = max(repeats * 2_000 // evaluations, 3)
        for decider in ("bayesian-friedman", "f-race"):
            taken = [
                overhead(problem("sphere", s), evaluations, s, decider=decider)
                for s in range(times)
            ]
            rows.append((str(evaluations), decider, f"{statistics.median(taken):.0f}", f"{goal:g}"))
    return rows
