"""minisat tuned for speed on random 3-SAT near the threshold, at equal time: capped or not."""

from __future__ import annotations

import csv
import math
import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import click
import numpy as np

import racer
from experiments.programs.tables import HERE as PROGRAMS
from experiments.programs.tables import formula
from experiments.runtime.irace35 import best_of
from racer import Cell
from racer.evaluate.workers import outcomes_of, workers_for
from racer.seeding import seed_for

HERE = Path(__file__).parent
VARIABLES, CLAUSES = 150, 639  # 4.26 clauses per variable: half are satisfiable
TRAIN, TEST = 30, 40
LIMIT = 0.5  # CPU seconds; the default takes some 0.02
SATISFIABLE_OR_NOT = (10, 20)  # exit codes
SLACKS = {"slack 2": 2.0, "no cap": math.inf}
CONTENDERS = (*SLACKS, "irace")


def options(config: dict[str, Any]) -> list[str]:
    """Return minisat's options."""
    switches = racer.Space.read_irace(PROGRAMS / "minisat" / "parameters.txt").switches
    return [f"{switches[name]}{value}" for name, value in config.items()]


def evaluate(config: dict[str, Any], instance: str, seed: int) -> None:
    """Solve an instance: its CPU time is the cost; racer stops it."""
    command = ["minisat", "-verb=0", f"-rnd-seed={seed}", *options(config), instance]
    run = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603
    if run.returncode not in SATISFIABLE_OR_NOT:
        raise RuntimeError(f"minisat exited with code {run.returncode}: {run.stderr[-500:]}")


def tuned(folder: Path, seed: int, seconds: float, slack: float) -> dict[str, float]:
    """Tune once; return the PAR10 of the best on held-out instances, and how many evaluations."""
    space = racer.Space.read_irace(PROGRAMS / "minisat" / "parameters.txt")
    paths = [str(folder / f"{number:03}.cnf") for number in range(TRAIN + TEST)]
    result = racer.tune(
        space,
        evaluate,
        paths[:TRAIN],
        budget=racer.Budget(seconds=seconds),
        runtime=racer.Runtime(LIMIT, slack=slack),
        elites=3,
        seed=seed,
        test_instances=paths[TRAIN:],
    )
    best = result.best_index
    return {
        "par10": math.nan if best is None else result.test_means[best],
        "evaluations": result.evaluations,
        "seconds": result.seconds,
    }


def of_irace(folder: Path, seed: int, seconds: float) -> dict[str, float]:
    """Let irace tune with capping; return the PAR10 of its best on the same held-out instances."""
    space = racer.Space.read_irace(PROGRAMS / "minisat" / "parameters.txt")
    paths = [str(folder / f"{number:03}.cnf") for number in range(TRAIN + TEST)]
    home = folder / f"irace{seed}"
    found = best_of(home, paths[:TRAIN], seconds, seed, LIMIT)
    kinds: dict[type, Any] = {racer.Real: float, racer.Integer: int}
    best = {
        name: kinds.get(type(space.parameters[name]), str)(value) for name, value in found.items()
    }
    cells = [
        Cell(i, 0, best, path, seed_for(seed, "held out", i), True, i, LIMIT)  # noqa: FBT003
        for i, path in enumerate(paths[TRAIN:])
    ]
    runtime = racer.Runtime(LIMIT)
    with workers_for(evaluate, [best], paths, timed=True) as workers:
        scores = [runtime.score(outcome) for _, outcome in outcomes_of(workers, cells)]
    log = (home / "log.txt").read_text()
    used = {
        name: float(re.findall(rf"{name}: (\d+)", log)[-1])
        for name in ("experimentsUsedSoFar", "timeUsed")
    }
    return {
        "par10": sum(scores) / len(scores),
        "evaluations": used["experimentsUsedSoFar"],
        "seconds": used["timeUsed"] / 1000.0,
    }


@click.command()
@click.option("--seeds", default=10, show_default=True)
@click.option("--first", default=0, show_default=True, help="The first seed.")
@click.option("--seconds", default=6.0, show_default=True, help="Budget of a tuning.")
@click.option(
    "--contender", "names", multiple=True, default=tuple(SLACKS), type=click.Choice(CONTENDERS)
)
def main(seeds: int, first: int, seconds: float, names: tuple[str, ...]) -> None:
    """Tune by each contender, add rows to minisat.csv, and print the table of all."""
    path = HERE / "minisat.csv"
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for number in range(TRAIN + TEST):
            text = formula(VARIABLES, CLAUSES, seed=number)
            (folder / f"{number:03}.cnf").write_text(text)
        for seed in range(first, first + seeds):
            for name in names:
                told = (
                    of_irace(folder, seed, seconds)
                    if name == "irace"
                    else tuned(folder, seed, seconds, SLACKS[name])
                )
                found = {"seed": seed, "contender": name, **told}
                is_new = not path.exists()
                with path.open("a", newline="", encoding="utf-8") as file:
                    writer = csv.DictWriter(file, list(found), lineterminator="\n")
                    if is_new:
                        writer.writeheader()
                    writer.writerow(found)
    click.echo(table(path))


def table(path: Path) -> str:
    """Return the means in Markdown, and in how many seeds the first contender was better."""
    with path.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    par10 = {(row["contender"], row["seed"]): float(row["par10"]) for row in rows}
    lines = [
        "| | PAR10 held out, ms: mean | median | evaluations | slack 2 is better |",
        "|---|---|---|---|---|",
    ]
    for name in CONTENDERS:
        some = [row for row in rows if row["contender"] == name]
        if not some:
            continue
        scores = np.array([1000.0 * float(row["par10"]) for row in some])
        error = scores.std(ddof=1) / math.sqrt(len(scores)) if len(scores) > 1 else math.nan
        evaluations = sum(float(row["evaluations"]) for row in some) / len(some)
        better = sum(par10["slack 2", row["seed"]] < float(row["par10"]) for row in some)
        against = "" if name == "slack 2" else f"{better} of {len(some)}"
        lines.append(
            f"| {name} | {scores.mean():.1f} ± {error:.1f} | {np.median(scores):.1f} | {evaluations:.0f} | {against} |"
        )
    return "\n".join(lines)
