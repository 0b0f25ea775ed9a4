"""minisat on 3-SAT and HiGHS on lot sizing, tuned for speed at equal time: capped or not."""

from __future__ import annotations

import csv
import importlib
import math
import re
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

import racer
from experiments.formulas import formula
from experiments.programs.tables import HERE as PROGRAMS
from experiments.report import markdown, mean_and_error, plus_minus, read
from experiments.runtime.irace35 import best_of
from racer import Cell
from racer.evaluate.workers import outcomes_of, workers_for
from racer.seeding import seed_for

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from racer import Outcome

HERE = Path(__file__).parent
FILE = HERE / "solvers.csv"
TRAIN, TEST = 30, 40
SATISFIABLE_OR_NOT = (10, 20)  # exit codes
SLACKS = {"slack 2": 2.0, "no cap": math.inf}
CONTENDERS = (*SLACKS, "irace", "default")
FIELDS = ("solver", "budget", "seed", "contender", "par10", "evaluations", "seconds")
HEAD = ("", "PAR10 held out, ms: mean", "median", "evaluations", "slack 2 is better")


def minisat(options: Sequence[str], instance: str, seed: int) -> None:
    """Solve a formula."""
    command = ["minisat", "-verb=0", f"-rnd-seed={seed}", *options, instance]
    run = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603
    if run.returncode not in SATISFIABLE_OR_NOT:
        raise RuntimeError(f"minisat exited with code {run.returncode}: {run.stderr[-500:]}")


def highs(options: Sequence[str], instance: str, seed: int) -> None:
    """Solve a mixed-integer program, which has a solution, with one thread."""
    highspy = importlib.import_module("highspy")
    model = highspy.Highs()
    model.silent()
    for option in ("threads=1", f"random_seed={seed % 2**31}", *options):
        if model.setOptionValue(*option.split("=")) != highspy.HighsStatus.kOk:
            raise RuntimeError(f"HiGHS does not take {option}")
    model.readModel(instance)
    model.run()
    if (status := model.getModelStatus()) != highspy.HighsModelStatus.kOptimal:
        raise RuntimeError(f"HiGHS ended with {status}")


def lot_sizing(items: int, periods: int, *, seed: int) -> str:
    """Return a capacitated lot-sizing problem with set-up times and overtime, in the format LP."""
    rng = np.random.default_rng(seed)
    demand = rng.integers(10, 60, (items, periods))
    setup, holding = rng.integers(100, 500, items), rng.integers(1, 5, items)
    capacity = round(1.35 * demand.sum() / periods) + 5 * items
    pairs = [(i, t) for i in range(items) for t in range(periods)]
    costs = [f"{setup[i]} y{i}_{t} + {holding[i]} s{i}_{t}" for i, t in pairs]
    costs += [f"50 o{t}" for t in range(periods)]
    lines = ["Minimize", " + ".join(costs), "Subject To"]
    for i, t in pairs:
        stock = f" + s{i}_{t - 1}" if t else ""
        lines += [
            f"q{i}_{t} - s{i}_{t}{stock} = {demand[i, t]}",
            f"q{i}_{t} - {demand[i, t:].sum()} y{i}_{t} <= 0",
        ]
    for t in range(periods):
        used = " + ".join(f"q{i}_{t} + 10 y{i}_{t}" for i in range(items))
        lines.append(f"{used} - o{t} <= {capacity}")
    return "\n".join([*lines, "Binary", *(f"y{i}_{t}" for i, t in pairs), "End", ""])


@dataclass(frozen=True)
class Solver:
    """A solver and its problems; as an objective, its CPU time is the cost, and racer stops it."""

    solve: Callable[[Sequence[str], str, int], None]
    parameters: Path  # in irace's format
    problem: Callable[[int], str]
    suffix: str
    limit: float  # CPU seconds, 10 to 20 times what the default takes

    @cached_property
    def space(self) -> racer.Space:
        """What is tuned."""
        return racer.Space.read_irace(self.parameters)

    def __call__(self, config: dict[str, Any], instance: str, seed: int) -> None:
        """Solve an instance."""
        switches = self.space.switches
        self.solve([f"{switches[name]}{value}" for name, value in config.items()], instance, seed)

    def write(self, folder: Path) -> list[str]:
        """Write the problems, and return their paths."""
        paths = [folder / f"{number:03}{self.suffix}" for number in range(TRAIN + TEST)]
        for number, path in enumerate(paths):
            path.write_text(self.problem(number))
        return list(map(str, paths))


SOLVERS = {
    "minisat": Solver(
        minisat,
        PROGRAMS / "minisat" / "parameters.txt",
        # 4.26 clauses per variable: half are satisfiable
        lambda seed: formula(np.random.default_rng(seed), 150, 639),
        ".cnf",
        limit=0.5,
    ),
    "highs": Solver(
        highs, HERE / "highs.txt", lambda seed: lot_sizing(3, 5, seed=seed), ".lp", limit=0.75
    ),
}


def tuned(
    solver: Solver, paths: Sequence[str], seed: int, seconds: float, slack: float
) -> dict[str, float]:
    """Tune once; return the PAR10 of the best on held-out instances, and how many evaluations."""
    result = racer.tune(
        solver.space,
        solver,
        paths[:TRAIN],
        budget=racer.Budget(seconds=seconds),
        runtime=racer.Runtime(solver.limit, slack=slack),
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


def outcomes(
    evaluate: Callable[..., None],
    config: Any,
    paths: Sequence[str],
    seeds: Sequence[int],
    bound: float,
) -> list[Outcome]:
    """Evaluate one configuration on all paths, as racer does."""
    cells = [
        Cell(i, 0, config, path, seed, held_out=True, instance_index=i, bound=bound)
        for i, (path, seed) in enumerate(zip(paths, seeds, strict=True))
    ]
    with workers_for(evaluate, [config], paths, timed=True) as workers:
        return [outcome for _, outcome in outcomes_of(workers, cells)]


def par10_of(solver: Solver, config: dict[str, Any], paths: Sequence[str], seed: int) -> float:
    """Return the PAR10 of a configuration on the held-out instances; without options, the default's."""
    seeds = [seed_for(seed, "held out", i) for i in range(TEST)]
    found = outcomes(solver, config, paths[TRAIN:], seeds, solver.limit)
    return float(np.mean([racer.Runtime(solver.limit).score(outcome) for outcome in found]))


def of_irace(
    solver: Solver, paths: Sequence[str], seed: int, seconds: float, home: Path
) -> dict[str, float]:
    """Let irace tune with capping; return the PAR10 of its best on the same held-out instances."""

    def run(options: list[str], path: str, its_seed: int, bound: float) -> float | None:
        return outcomes(solver.solve, options, [path], [its_seed], bound)[0].value

    best = best_of(
        home,
        solver.parameters,
        paths[:TRAIN],
        seconds=seconds,
        seed=seed,
        limit=solver.limit,
        run=run,
    )
    log = (home / "log.txt").read_text()
    used = {
        name: float(re.findall(rf"{name}: (\d+)", log)[-1])
        for name in ("experimentsUsedSoFar", "timeUsed")
    }
    return {
        "par10": par10_of(solver, best, paths, seed),
        "evaluations": used["experimentsUsedSoFar"],
        "seconds": used["timeUsed"] / 1000.0,
    }


@click.command()
@click.option("--solver", "named", required=True, type=click.Choice(list(SOLVERS)))
@click.option("--seeds", default=10, show_default=True)
@click.option("--first", default=0, show_default=True, help="The first seed.")
@click.option("--seconds", default=20.0, show_default=True, help="Budget of a tuning.")
@click.option(
    "--contender", "names", multiple=True, default=tuple(SLACKS), type=click.Choice(CONTENDERS)
)
def main(named: str, seeds: int, first: int, seconds: float, names: tuple[str, ...]) -> None:
    """Tune by each contender, add rows to solvers.csv, and print the table of all."""
    solver = SOLVERS[named]
    if named == "highs":
        importlib.import_module("highspy")  # evaluations are forked: none has to pay for it
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        paths = solver.write(folder)
        for seed in range(first, first + seeds):
            for name in names:
                told: dict[str, float]
                if name == "irace":
                    told = of_irace(solver, paths, seed, seconds, folder / f"irace{seed}")
                elif name == "default":
                    par10 = par10_of(solver, {}, paths, seed)
                    told = {"par10": par10, "evaluations": 0, "seconds": 0.0}
                else:
                    told = tuned(solver, paths, seed, seconds, SLACKS[name])
                is_new = not FILE.exists()
                with FILE.open("a", newline="", encoding="utf-8") as file:
                    writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
                    if is_new:
                        writer.writeheader()
                    of = {"solver": named, "budget": seconds, "seed": seed, "contender": name}
                    writer.writerow({**of, **told})
    click.echo(table(FILE, named, seconds))


def table(path: Path, solver: str, budget: float) -> str:
    """Return the means in Markdown, and in how many seeds the first contender was better."""
    rows = [r for r in read(path) if r["solver"] == solver and float(r["budget"]) == budget]
    par10 = {(row["contender"], row["seed"]): float(row["par10"]) for row in rows}
    lines = []
    for name in CONTENDERS:
        some = [row for row in rows if row["contender"] == name]
        if not some:
            continue
        scores = np.array([1000.0 * float(row["par10"]) for row in some])
        evaluations = sum(float(row["evaluations"]) for row in some) / len(some)
        ours = [par10.get(("slack 2", row["seed"]), math.nan) for row in some]
        better = sum(one < float(row["par10"]) for one, row in zip(ours, some, strict=True))
        against = "" if name == "slack 2" else f"{better} of {len(some)}"
        found = (plus_minus(*mean_and_error(scores), 1), f"{np.median(scores):.1f}")
        lines.append((name, *found, f"{evaluations:.0f}", against))
    return markdown(HEAD, lines)
