"""How probably each optimiser is the best as the budget grows, and what the prior does to that.

From the runs in `runs.csv`; --generate makes them anew.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import click
import pandas as pd

from experiments.calvo2019 import analyses, runs
from experiments.options import (
    csv_option,
    jobs_option,
    number_option,
    seed_option,
)
from experiments.report import read, wide, write
from racer.cli.demo.problems import FUNCTIONS
from racer.stats import expected_running_time

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    Rows = list[dict[str, Any]]

__all__ = ["main"]

EVOLUTIONS = (("rastrigin",), ("ackley",), tuple(FUNCTIONS))
TARGETED = (("rosenbrock", 0.01), ("ackley", 0.01))
STRENGTHS = (1.0, 5.0)
ESTIMATE = "{estimate:.2f} ({low:.2f}, {high:.2f})"


def shown(frame: pd.DataFrame, **keys: str) -> str:
    """Return a line for each value of the keys, a column for each optimiser."""
    rows = sorted(frame.to_dict("records"), key=lambda row: runs.NAMES.index(row["algorithm"]))
    return wide(rows, keys, "{algorithm}", ESTIMATE)


def evolutions(rows: Rows, draws: int, seed: int) -> Iterator[pd.DataFrame]:
    """Print the evolution over budgets for some functions; yield the figures of each."""
    for functions in EVOLUTIONS:
        name = functions[0] if len(functions) == 1 else "all"
        frame = analyses.budget_evolution(rows, functions, draws, seed)
        print(f"\n## Best value within a budget: {name}\n\n{shown(frame, budget='{budget:.0f}')}")
        yield frame.assign(analysis="budget", function=name, prior="uniform")


def sensitivities(rows: Rows, draws: int, seed: int) -> Iterator[pd.DataFrame]:
    """Print what priors do where a target is to be reached first; yield the figures of each."""
    for function, target in TARGETED:
        frame = analyses.prior_sensitivity(rows, function, target, STRENGTHS, draws, seed)
        lines = shown(frame, prior="{prior}", strength="{strength:.3g}")
        print(f"\n## First to reach {target:g}: {function}\n\n{lines}\n")
        print("The estimate that moves most against the uniform prior of strength 1:\n")
        for prior, strength in product(("empirical", "deceptive"), STRENGTHS):
            name, shift = analyses.largest_shift(frame, prior, strength)
            print(f"- {prior}, strength {strength:g}: {shift:+.3f} ({name})")
        yield frame.assign(analysis=f"target {target:g}", function=function)


@click.command()
@click.option("--generate", is_flag=True, help="Run the optimisers and write their runs first.")
@number_option("--evaluations", max(runs.BUDGETS), help="Of each run, with --generate.")
@number_option("--draws", 20_000, least=100)
@jobs_option
@seed_option
@csv_option
def main(
    generate: bool,
    evaluations: int,
    draws: int,
    jobs: int,
    seed: int,
    csv_path: Path | None,
) -> None:
    """Print how winning probabilities change with the budget and with the prior."""
    if generate:
        count = len(FUNCTIONS) * runs.INSTANCES * len(runs.NAMES)
        print(f"{count} runs of {evaluations} evaluations, seed {seed}.")
        write(runs.RUNS, runs.play(tuple(FUNCTIONS), runs.INSTANCES, evaluations, seed, jobs))
    rows = read(runs.RUNS)
    print(f"{len(rows)} runs, {draws} draws, seed {seed}.")
    print("Probability of being the best (5 % and 95 % quantiles)")
    hits = {(f, t): runs.fixed_target(rows, f, t) for f in FUNCTIONS for t in runs.TARGETS}
    times = [
        {"f": f, "t": t, "name": name, "ert": ert}
        for (f, t), table in hits.items()
        for name, ert in zip(runs.NAMES, expected_running_time(table, evaluations), strict=True)
    ]
    print("\n## Expected running time\n")
    print(wide(times, {"function": "{f}", "target": "{t:g}"}, "{name}", "{ert:.0f}"))
    frames = [*evolutions(rows, draws, seed), *sensitivities(rows, draws, seed)]
    names = ["analysis", "function", "budget", "prior", "strength", *analyses.COLUMNS]
    found = pd.concat(frames)[names].astype(object)
    write(csv_path, found.where(found.notna(), "").to_dict("records"))
