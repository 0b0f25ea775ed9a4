"""HiGHS on lot sizing, tuned for speed at equal time: capped or not, and by irace's capping."""

from __future__ import annotations

import importlib
import math
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
import pandas as pd

import racer
from experiments.options import number_option
from experiments.report import markdown, mean_and_error, plus_minus
from experiments.tuner import irace
from racer import Cell
from racer.evaluate.workers import outcomes_of, workers_for
from racer.seeding import seed_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from racer import Outcome

__all__ = ["main", "table"]

HERE = Path(__file__).parent
FILE = HERE / "solvers.csv"
TRAIN, TEST = 30, 40
LIMIT = 0.75  # CPU seconds, 15 times what the default takes
RUNTIME = racer.Runtime(LIMIT)
SLACKS = {"slack 2": 2.0, "no cap": math.inf}
CONTENDERS = (*SLACKS, "irace", "default")
HEAD = ("", "PAR10 held out, ms: mean", "median", "evaluations", "slack 2 is better")
SPACE = racer.Space.read_irace(HERE / "highs.txt")


def solve(config: dict[str, Any], instance: str, seed: int) -> None:
    """Solve a mixed-integer program, which has a solution, with one thread."""
    highspy = importlib.import_module("highspy")
    model = highspy.Highs()
    model.silent()
    options = [f"{SPACE.switches[name]}{value}" for name, value in config.items()]
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


def by_racer(paths: Sequence[str], seed: int, seconds: float, slack: float) -> dict[str, float]:
    """Tune once; return the PAR10 of the best on held-out instances, and how many evaluations."""
    result = racer.tune(
        SPACE,
        solve,
        racer.Instances(paths[:TRAIN], held_out=paths[TRAIN:]),
        budget=racer.Budget(seconds=seconds),
        goal=racer.Runtime(LIMIT, slack=slack),
        search=racer.Search(elites=3),
        seed=seed,
    )
    best = result.best_index
    return {
        "par10": math.nan if best is None else result.test_means[best],
        "evaluations": result.evaluations,
        "seconds": result.seconds,
    }


def outcomes(
    config: Any, paths: Sequence[str], seeds: Sequence[int], bound: float
) -> list[Outcome]:
    """Evaluate one configuration on all paths, as racer does."""
    cells = [
        Cell(i, 0, config, path, seed, held_out=True, instance_index=i, bound=bound)
        for i, (path, seed) in enumerate(zip(paths, seeds, strict=True))
    ]
    with workers_for(solve, [config], paths, timed=True) as workers:
        return [outcome for _, outcome in outcomes_of(workers, cells)]


def par10_of(config: dict[str, Any], paths: Sequence[str], seed: int) -> float:
    """Return the PAR10 of a configuration on the held-out instances; without options, the default's."""
    seeds = [seed_for(seed, "held out", i) for i in range(TEST)]
    found = outcomes(config, paths[TRAIN:], seeds, LIMIT)
    return float(np.mean([RUNTIME.score(outcome) for outcome in found]))


def by_irace(paths: Sequence[str], seed: int, seconds: float) -> dict[str, float]:
    """Let irace tune with capping; return the PAR10 of its best on the same held-out instances.

    It is told milliseconds, as its bounds are whole.
    """
    times: list[float] = []

    def run(config: dict[str, Any], instance: int, its_seed: int, bound: float) -> float:
        found = outcomes(config, [paths[instance]], [its_seed], bound / 1000.0)[0]
        times.append(bound if found.value is None else 1000.0 * found.value)
        return math.inf if found.value is None else times[-1]

    settings = {"maxTime": 1000.0 * seconds, "boundMax": 1000.0 * LIMIT, "boundPar": 10}
    best = irace.tuned(SPACE, run, instances=TRAIN, seed=seed, capping="TRUE", digits=4, **settings)
    return {
        "par10": par10_of(best, paths, seed),
        "evaluations": len(times),
        "seconds": sum(times) / 1000.0,
    }


@click.command()
@number_option("--seeds", 10)
@number_option("--first", 0, least=0, help="The first seed.")
@click.option("--seconds", default=15.0, show_default=True, help="Budget of a tuning.")
@click.option(
    "--contender", "contenders", multiple=True, default=CONTENDERS, type=click.Choice(CONTENDERS)
)
def main(seeds: int, first: int, seconds: float, contenders: tuple[str, ...]) -> None:
    """Tune HiGHS by each contender, add rows to solvers.csv, and print the table of all."""
    importlib.import_module("highspy")  # evaluations are forked: none has to pay for it
    with tempfile.TemporaryDirectory() as made:
        paths = [str(Path(made, f"{number:03}.lp")) for number in range(TRAIN + TEST)]
        for number, path in enumerate(paths):
            Path(path).write_text(lot_sizing(3, 5, seed=number))
        for seed in range(first, first + seeds):
            for name in contenders:
                if name == "irace":
                    told = by_irace(paths, seed, seconds)
                elif name == "default":
                    told = {"par10": par10_of({}, paths, seed), "evaluations": 0, "seconds": 0.0}
                else:
                    told = by_racer(paths, seed, seconds, SLACKS[name])
                row = {"budget": seconds, "seed": seed, "contender": name, **told}
                recorded = [pd.read_csv(FILE)] if FILE.exists() else []
                pd.concat([*recorded, pd.DataFrame([row])]).to_csv(FILE, index=False)
    click.echo(table(FILE, seconds))


def table(path: Path, budget: float = 15.0) -> str:
    """Return the means in Markdown, and in how many seeds the first contender was better."""
    rows = pd.read_csv(path)
    par10 = rows[rows["budget"] == budget].set_index(["contender", "seed"])
    lines = []
    for name in CONTENDERS:
        if name not in par10.index:
            continue
        some = par10.loc[name]
        scores = 1000.0 * some["par10"].to_numpy(dtype=np.float64)
        ours = par10.loc["slack 2"].reindex(some.index)["par10"]
        against = "" if name == "slack 2" else f"{(ours < some['par10']).sum()} of {len(some)}"
        found = (plus_minus(*mean_and_error(scores), 1), f"{np.median(scores):.1f}")
        lines.append((name, *found, f"{some['evaluations'].mean():.0f}", against))
    return markdown(HEAD, lines)
