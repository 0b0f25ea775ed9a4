"""How probably each optimiser is the best as the budget grows, and what the prior does to that.

From the runs in `runs.csv`; --generate makes them anew.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from experiments.calvo2019 import analyses, runs
from experiments.options import (
    csv_option,
    file_in_a_directory,
    jobs_option,
    number_option,
    seed_option,
)
from experiments.report import duration, markdown, read, takes, write
from racer.cli.demo.problems import FUNCTIONS

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["main"]

SECONDS = 5e-5  # per evaluation, with what the optimisers need
EVOLUTIONS = (("rastrigin",), ("ackley",), tuple(FUNCTIONS))
TARGETED = (("rosenbrock", 0.01), ("ackley", 0.01))
STRENGTHS = (1.0, 5.0)


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a frame."""
    return [{str(k): v for k, v in row.items()} for row in frame.to_dict("records")]


def wide(frame: pd.DataFrame, keys: list[str]) -> str:
    """Return a line for each value of the keys, a column for each optimiser."""
    lines: dict[tuple[Any, ...], dict[str, str]] = {}
    for row in records(frame):
        text = f"{row['estimate']:.2f} ({row['low']:.2f}, {row['high']:.2f})"
        lines.setdefault(tuple(row[key] for key in keys), {})[row["algorithm"]] = text
    body = [
        [f"{v:.3g}" if isinstance(v, float) else str(v) for v in key]
        + [line[name] for name in runs.NAMES]
        for key, line in lines.items()
    ]
    return markdown([*keys, *runs.NAMES], body)


def evolutions(rows: list[dict[str, Any]], draws: int, seed: int) -> list[dict[str, Any]]:
    """Print the evolution over budgets for some functions; return its figures."""
    kept: list[dict[str, Any]] = []
    for functions in EVOLUTIONS:
        name = functions[0] if len(functions) == 1 else "all"
        frame = analyses.budget_evolution(rows, functions, draws, seed)
        print(f"\n## Best value within a budget: {name}\n\n{wide(frame, ['budget'])}")
        kept += records(frame.assign(analysis="budget", function=name, prior="uniform"))
    return kept


def sensitivities(rows: list[dict[str, Any]], draws: int, seed: int) -> list[dict[str, Any]]:
    """Print what priors do where a target is to be reached first; return the figures."""
    kept: list[dict[str, Any]] = []
    for function, target in TARGETED:
        frame = analyses.prior_sensitivity(rows, function, target, STRENGTHS, draws, seed)
        print(
            f"\n## First to reach {target:g}: {function}\n\n{wide(frame, ['prior', 'strength'])}\n"
        )
        print("The estimate that moves most against the uniform prior of strength 1:\n")
        for prior in ("empirical", "deceptive"):
            for strength in STRENGTHS:
                name, shift = analyses.largest_shift(frame, prior, strength)
                print(f"- {prior}, strength {strength:g}: {shift:+.3f} ({name})")
        kept += records(frame.assign(analysis=f"target {target:g}", function=function))
    return kept


@click.command()
@click.option("--generate", is_flag=True, help="Run the optimisers and write their runs first.")
@click.option(
    "--runs",
    "runs_path",
    type=click.Path(dir_okay=False, path_type=Path),
    default=runs.RUNS,
    callback=file_in_a_directory,
    help="The runs to read, or with --generate to write.",
)
@number_option("--evaluations", max(runs.BUDGETS), help="Of each run, with --generate.")
@number_option("--draws", 20_000, least=100)
@jobs_option
@seed_option
@csv_option
def main(
    generate: bool,
    runs_path: Path,
    evaluations: int,
    draws: int,
    jobs: int,
    seed: int,
    csv_path: Path | None,
) -> None:
    """Print how winning probabilities change with the budget and with the prior."""
    start = time.monotonic()
    if generate:
        count = len(FUNCTIONS) * runs.INSTANCES * len(runs.NAMES)
        print(f"{count} runs of {evaluations} evaluations, seed {seed}.")
        print(takes(SECONDS * count * evaluations, jobs), flush=True)
        write(runs_path, runs.play(tuple(FUNCTIONS), runs.INSTANCES, evaluations, seed, jobs))
    elif not runs_path.exists():
        raise click.BadParameter(
            f"there is no {runs_path}; --generate makes it", param_hint="--runs"
        )
    rows = read(runs_path)
    print(f"{len(rows)} runs, {draws} draws, seed {seed}.")
    print("Probability of being the best (5 % and 95 % quantiles)")
    kept = evolutions(rows, draws, seed) + sensitivities(rows, draws, seed)
    print(f"\nTook {duration(time.monotonic() - start)}.")
    names = ("analysis", "function", "budget", "prior", "strength", *analyses.COLUMNS)
    write(csv_path, [{name: row.get(name, "") for name in names} for row in kept])
