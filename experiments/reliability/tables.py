"""Reliability of P(best): what is said, and what is true, in races, tables and tunings.

Seven worlds, 3, 10 and 30 candidates. Tables are complete, of 5 to 50 blocks; races are held by three
deciders, with a budget of 15 and of 50 evaluations per candidate; tunings are of formulas. Of all
candidates of all of them, those of which a probability between two edges was said are counted
together. Where several are equally best, each is so with an equal part. Seeds are other ones than
those that the model was chosen on, which were 0 to 39.
"""

from __future__ import annotations

import csv
import math
import warnings
import zlib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import joblib
import numpy as np
import pandas as pd

import racer
from experiments.options import jobs_option, number_option
from racer.simulate import (
    HeavyTailedWorld,
    InteractionWorld,
    NormalWorld,
    UnequalInstancesWorld,
)
from racer.stats import best_posterior

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from racer.stats import BestPosterior

__all__ = ["main"]

HERE = Path(__file__).parent
EDGES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
CANDIDATES = (3, 10, 30)
BLOCKS = (5, 10, 20, 50)
DECIDERS = ("bayesian-friedman", "f-race", "best-for-budget")
PER_CANDIDATE = (15, 50)
LEAST = 40  # candidates of a point that is drawn
FIRST_SEED = 40  # the model was chosen on those before


class Said(NamedTuple):
    """What was said of all candidates of a table, and what is true."""

    source: str
    world: str
    candidates: int
    probability: NDArray[np.float64]  # (m,)
    truth: NDArray[np.float64]  # (m,), sums to 1
    covered: float  # whether the credible set holds the best
    regret: float  # of the best by the posterior
    leader_regret: float  # of the one that the decider puts first


def worlds(m: int) -> dict[str, Any]:
    """Return the worlds by name, with m candidates."""
    return {
        "normal": NormalWorld(m, 1.0),
        "near-equal": NormalWorld(m, 5.0),
        "one better": NormalWorld(m, 1.0, qualities=(0.0,) + (0.5,) * (m - 1)),
        "all equal": NormalWorld(m, 1.0, qualities=(0.0,) * m),
        "heavy tails": HeavyTailedWorld(m, 1.0),
        "interaction": InteractionWorld(m, 0.5),
        "unequal instances": UnequalInstancesWorld(m, 1.0),
    }


def said(
    source: str,
    world: str,
    quality: NDArray[np.float64],
    found: BestPosterior,
    leader: int | None = None,
) -> Said:
    """Return what a posterior says of candidates of known quality, and what is true."""
    best = quality <= quality.min() + 1e-12
    truth = best / best.sum()
    gap = quality - quality.min()
    return Said(
        *(source, world, len(quality), np.asarray(found.probability_best), truth),
        covered=float(truth[list(found.credible_set())].sum()),
        regret=float(gap[found.best]),
        leader_regret=math.nan if leader is None else float(gap[leader]),
    )


def in_worlds(m: int, seed: int) -> list[Said]:
    """Return what is said of tables and of races of m candidates in each world."""
    rows = []
    for name, world in worlds(m).items():
        drawn = world.draw(1000 * seed + m)
        for n in BLOCKS:
            table = np.array([drawn.costs(block) for block in range(n)])
            rows.append(said("tables", name, drawn.quality, best_posterior(table)))
        for decider in DECIDERS:
            for each in PER_CANDIDATE:
                race = racer.Race(range(m), decider=decider, budget=each * m, seed=seed)
                while cells := race.ask():
                    race.tell_block(drawn.costs(cells[0].block)[list(race.alive)])
                result = race.result()
                rows.append(said(decider, name, drawn.quality, result.posterior, result.leader))
    return rows


def formulas() -> dict[str, tuple[racer.Space, Any]]:
    """Return formulas to be tuned, by name."""
    unit = racer.Real(0, 1)
    offsets = {"p": 0.0, "q": 0.03, "r": 0.1, "s": 0.3}
    return {
        "sphere": (
            racer.Space({f"x{i}": unit for i in range(4)}),
            lambda config: sum((x - 0.3) ** 2 for x in config.values()),
        ),
        "interaction": (
            racer.Space(dict.fromkeys("abc", unit)),
            lambda c: (c["a"] - c["b"]) ** 2 + 0.5 * (c["b"] - 0.7) ** 2 + 0.3 * abs(c["c"] - 0.2),
        ),
        "choices": (
            racer.Space({"m": racer.Categorical(list(offsets)), "x": unit}),
            lambda config: offsets[config["m"]] + (config["x"] - 0.4) ** 2,
        ),
        "pure noise": (racer.Space({"x": unit, "y": unit}), lambda config: 0.0 * config["x"]),
    }


def in_tunings(seed: int) -> list[Said]:
    """Return what is said of the candidates of tunings."""
    rows = []
    for name, (space, formula) in formulas().items():
        for noise in (0.05, 0.3):
            evaluate = partial(noisy, formula, noise)
            result = racer.tune(space, evaluate, range(30), budget=400, seed=seed)
            quality = np.array([formula(config) for config in result.configs])
            rows.append(said("tunings", name, quality, result.posterior, result.leader))
    return rows


def noisy(formula: Any, noise: float, config: Any, instance: int, seed: int) -> float:
    """Return what a formula says, with noise that depends on the configuration and the seed."""
    key = zlib.crc32(repr(sorted(config.items())).encode())
    drawn = np.random.default_rng([seed, key]).normal()
    return float(formula(config) + noise * drawn + 0.5 * math.sin(instance))


def folds(n_folds: int, seed: int) -> list[Said]:
    """Return what is said of ten models over folds that share data, correlation 1/`n_folds`."""
    rng = np.random.default_rng([seed, n_folds])
    share = 1.0 / n_folds
    rows = []
    for spread in (0.0, 0.25, 0.5, 1.0):
        quality = spread * rng.random(10)
        shared = math.sqrt(share) * rng.standard_normal(10)
        own = math.sqrt(1.0 - share) * rng.standard_normal((n_folds, 10))
        found = best_posterior(quality + shared + own, by_block=False, correlation=share)
        rows.append(said(f"{n_folds} folds", f"models, {spread:g}", quality, found))
    return rows


def table(rows: Sequence[Said]) -> list[tuple[float, float, int]]:
    """Return by bin what was said on average, how often it was true, and of how many."""
    probability = np.concatenate([row.probability for row in rows])
    truth = np.concatenate([row.truth for row in rows])
    bins = np.digitize(probability, EDGES[1:-1])
    return [
        (float(probability[here].mean()), float(truth[here].mean()), int(here.sum()))
        for here in (bins == k for k in range(len(EDGES) - 1))
        if here.any()
    ]


def groups(rows: Sequence[Said]) -> Iterable[tuple[str, list[Said]]]:
    """Yield what is reported: by source, by world of races and tables, by candidates."""
    drawn = [row for row in rows if row.source in ("tables", *DECIDERS)]
    yield "tables and races", drawn
    for source in dict.fromkeys(row.source for row in rows):
        yield source, [row for row in rows if row.source == source]
    for world in dict.fromkeys(row.world for row in drawn):
        yield world, [row for row in drawn if row.world == world]
    for m in CANDIDATES:
        yield f"{m} candidates", [row for row in drawn if row.candidates == m]


@click.command("reliability")
@number_option("--repetitions", 60, help="Draws of each world.")
@jobs_option
@click.option("--picture", type=click.Path(path_type=Path), help="Draw the diagram there.")
def main(repetitions: int, jobs: int, picture: Path | None) -> None:
    """Count how often P(best) is right, and write experiments/reliability/reliability.csv."""
    warnings.simplefilter("ignore", racer.RacerWarning)
    seeds = range(FIRST_SEED, FIRST_SEED + repetitions)
    calls: list[Any] = [joblib.delayed(in_worlds)(m, seed) for m in CANDIDATES for seed in seeds]
    calls += [joblib.delayed(in_tunings)(seed) for seed in seeds]
    calls += [
        joblib.delayed(folds)(n, seed) for n in (5, 10, 20) for seed in range(8 * repetitions)
    ]
    rows = [row for found in joblib.Parallel(n_jobs=jobs)(calls) for row in found]
    with (HERE / "reliability.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("group", "said", "true", "candidates"))
        for name, some in groups(rows):
            covered = float(np.mean([row.covered for row in some]))
            gaps = [row.regret - row.leader_regret for row in some]
            gaps = [gap for gap in gaps if not math.isnan(gap)]
            error = np.std(gaps) / math.sqrt(len(gaps)) if gaps else 0.0
            more = f"; regret less the leader's {np.mean(gaps):+.4f} ± {error:.4f}" if gaps else ""
            click.echo(f"\n{name}: the credible set holds the best in {covered:.3f}{more}")
            click.echo("said  " + " ".join(f"{one:.2f}" for one, _, _ in table(some)))
            click.echo("true  " + " ".join(f"{one:.2f}" for _, one, _ in table(some)))
            writer.writerows(
                (name, f"{one:.4f}", f"{other:.4f}", n) for one, other, n in table(some)
            )
    if picture is not None:
        draw(pd.read_csv(HERE / "reliability.csv")).savefig(picture)


def draw(found: pd.DataFrame) -> Figure:
    """Draw what was said beside what was true, a line for each source."""
    from matplotlib.figure import Figure  # noqa: PLC0415  (an extra)

    figure = Figure(figsize=(5.6, 5.2), layout="constrained")
    ax = figure.add_subplot()
    ax.plot([0, 1], [0, 1], color="grey", linewidth=1, linestyle="--")
    for name, marker in zip(("tables", *DECIDERS, "5 folds", "tunings"), "osD^vX", strict=True):
        some = found[(found["group"] == name) & (found["candidates"] >= LEAST)]
        ax.plot(some["said"], some["true"], marker=marker, markersize=4, linewidth=1, label=name)
    ax.set(xlabel="P(best), as said", ylabel="share of candidates that are best", aspect="equal")
    ax.legend(frameon=False)
    return figure
