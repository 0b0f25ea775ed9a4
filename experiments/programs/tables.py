"""Both programs tuned from their scenarios, against their defaults on held-out instances."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import numpy as np

import racer
from experiments.formulas import formula
from experiments.report import print_row
from racer.scenario.scenario import read_scenario

if TYPE_CHECKING:
    from numpy.typing import NDArray

HERE = Path(__file__).resolve().parent
PROGRAMS = ("maxsat", "minisat")
SIZES = {"maxsat": (150, 900), "minisat": (120, 511)}  # variables, clauses of three literals
TRAIN, TEST = 20, 20
HEAD = ("program", "evaluations", "default", "tuned", "tuned better / worse")


class Compared(NamedTuple):
    """Costs on the held-out instances, and what was found."""

    default: NDArray[np.float64]
    tuned: NDArray[np.float64]
    best: dict[str, Any]
    evaluations: int


def is_there(name: str) -> bool:
    """Say whether what a program needs is installed."""
    return shutil.which("cc" if name == "maxsat" else "minisat") is not None


def set_up(name: str, folder: Path, *, train: int = TRAIN, test: int = TEST) -> Path:
    """Write a scenario with its instances into a folder, compiled; return its scenario.txt."""
    target = folder / name
    shutil.copytree(HERE / name, target)
    if name == "maxsat":
        command = ["cc", "-O2", "-o", str(target / "solver"), str(target / "solver.c")]
        subprocess.run(command, check=True)  # noqa: S603
    for number in range(train + test):
        part = target / ("train" if number < train else "test")
        part.mkdir(exist_ok=True)
        (part / f"{number:03}.cnf").write_text(formula(np.random.default_rng(number), *SIZES[name]))
    return target / "scenario.txt"


def compared(
    scenario: Path, *, budget: int | None = None, jobs: int = 1, runs: int = 3
) -> Compared:
    """Tune by a scenario, and race best and default on the held-out instances `runs` times."""
    given = read_scenario(str(scenario))
    if budget is not None:
        given = replace(given, settings={**given.settings, "budget": budget})
    arguments = given.arguments()
    held_out = arguments["test_instances"]
    default, evaluate = arguments["initial"][0], arguments["evaluate"]
    result = racer.tune(**{**arguments, "n_jobs": jobs})
    seeds = [1 + run for run in range(runs)]
    default_costs, tuned = (
        np.array([np.mean([evaluate(config, i, seed) for seed in seeds]) for i in held_out])
        for config in (default, result.best)
    )
    return Compared(default_costs, tuned, result.best or {}, result.evaluations)


def row(found: Compared) -> tuple[str, ...]:
    """Return the figures of a program."""
    better, worse = (found.tuned < found.default).sum(), (found.tuned > found.default).sum()
    means = (f"{costs.mean():.4g}" for costs in (found.default, found.tuned))
    return (f"{found.evaluations}", *means, f"{better} / {worse} of {len(found.default)}")


@click.command()
@click.argument("programs", nargs=-1, type=click.Choice(PROGRAMS))
@click.option(
    "--budget", type=click.IntRange(1), help="Evaluations; those of the scenario if not given."
)
@click.option("--jobs", type=int, default=1, show_default=True, help="Evaluations at a time.")
def main(programs: tuple[str, ...], budget: int | None, jobs: int) -> None:
    """Tune both PROGRAMS by their scenarios, and compare them with their defaults."""
    print_row(*HEAD, head=True)
    bests = []
    for name in programs or PROGRAMS:
        if not is_there(name):
            print(f"{name}: its program is not installed")
            continue
        with tempfile.TemporaryDirectory() as folder:
            scenario = set_up(name, Path(folder))
            found = compared(scenario, budget=budget, jobs=jobs)
        print_row(name, *row(found))
        bests.append(f"{name}: {found.best}")
    print("", *bests, sep="\n")
