"""Portfolios of three beside one configuration, at equal budget, where no single one is good.

Instances are drawn from a family; the regret of a configuration on an instance is its true cost
there, without noise, beyond that of the best configuration of the whole space.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import joblib
import numpy as np

import racer
from experiments.options import jobs_option, number_option

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator

__all__ = ["main"]

HERE = Path(__file__).parent
TRAINING, TEST, SIZE, BUDGET = 40, 400, 3, 1500
NOISE = 0.1
FIRST_SEED = 10  # ways to choose members were compared on 0 to 9, and 100 to 103
COLUMNS = ("family", "seed", "single_best", "portfolio", "ratio", "evaluations")
Instance = tuple[int, tuple[float, ...]]  # its kind, and where its optimum is


@dataclass(frozen=True)
class Places:
    """Kinds of instances, each with an optimum of its own in four dimensions."""

    centres: tuple[tuple[float, ...], ...]

    @classmethod
    def drawn(cls, rng: Generator, kinds: int) -> Places:
        """Draw the family."""
        return cls(tuple(map(tuple, rng.uniform(0.1, 0.9, (kinds, 4)).tolist())))

    @property
    def space(self) -> racer.Space:
        """What may be tuned."""
        return racer.Space({f"x{i}": racer.Real(0.0, 1.0) for i in range(4)})

    def instance(self, rng: Generator) -> Instance:
        """Draw an instance."""
        kind = int(rng.integers(len(self.centres)))
        return kind, tuple((np.array(self.centres[kind]) + rng.normal(0.0, 0.04, 4)).tolist())

    def regret(self, config: dict[str, Any], instance: Instance) -> float:
        """Return the mean distance to the optimum."""
        return float(np.mean([abs(config[f"x{i}"] - at) for i, at in enumerate(instance[1])]))


@dataclass(frozen=True)
class Solvers:
    """Three solvers with a parameter each; each is good on its kind of instances alone."""

    best: tuple[float, ...]  # of each solver's parameter

    @classmethod
    def drawn(cls, rng: Generator) -> Solvers:
        """Draw the family."""
        return cls(tuple(rng.uniform(0.1, 0.9, 3).tolist()))

    @property
    def space(self) -> racer.Space:
        """What may be tuned."""
        return racer.Space(
            {
                "solver": racer.Categorical(["0", "1", "2"]),
                **{f"x{i}": racer.Real(0.0, 1.0) for i in range(3)},
            },
            conditions={f"x{i}": racer.Param("solver") == str(i) for i in range(3)},
        )

    def instance(self, rng: Generator) -> Instance:
        """Draw an instance: its kind, how bad each solver is on it, how much parameters matter."""
        kind = int(rng.integers(3))
        bad = np.where(np.arange(3) == kind, 0.0, rng.uniform(0.3, 0.8, 3))
        return kind, (*bad.tolist(), float(rng.uniform(0.5, 1.5)))

    def regret(self, config: dict[str, Any], instance: Instance) -> float:
        """Return what the solver, and its parameter, lose."""
        solver, (*bad, slope) = int(config["solver"]), instance[1]
        return float(bad[solver] + slope * abs(config[f"x{solver}"] - self.best[solver]))


@dataclass(frozen=True)
class Noisy:
    """The objective: regret with noise that a seed and an instance decide."""

    family: Any

    def __call__(self, config: dict[str, Any], instance: Instance, seed: int) -> float:
        noise = np.random.default_rng([seed, hash(instance) % 2**32]).normal(0.0, NOISE)
        return float(self.family.regret(config, instance) + noise)


FAMILIES: dict[str, Callable[[Generator], Any]] = {
    "places": partial(Places.drawn, kinds=3),
    "places of four kinds": partial(Places.drawn, kinds=4),
    "solvers": Solvers.drawn,
}


def compared(name: str, seed: int) -> tuple[Any, ...]:
    """Return regrets on fresh instances of one configuration, and of the best of three."""
    rng = np.random.default_rng(seed)
    family = FAMILIES[name](rng)
    training = [family.instance(rng) for _ in range(TRAINING)]
    test = [family.instance(rng) for _ in range(TEST)]
    given: dict[str, Any] = {"deterministic": False, "seed": seed}
    single = racer.tune(family.space, Noisy(family), training, budget=BUDGET, **given)
    found = racer.portfolio(
        family.space, Noisy(family), training, size=SIZE, budget=BUDGET, **given
    )
    assert found.evaluations <= BUDGET  # noqa: S101
    config = single.config(single.leaders[0])
    one = np.mean([family.regret(config, i) for i in test])
    best = np.mean([min(family.regret(c, i) for c in found.members) for i in test])
    figures = (f"{one:.4f}", f"{best:.4f}", f"{best / one:.3f}")
    return (name, seed, *figures, found.evaluations)


@click.command()
@number_option("--seeds", 10)
@jobs_option
@click.option("--family", type=click.Choice(list(FAMILIES)), help="This one alone.")
def main(seeds: int, jobs: int, family: str | None) -> None:
    """Compare portfolios of three with one configuration, family by family."""
    names = list(FAMILIES) if family is None else [family]
    rows: list[Any] = joblib.Parallel(n_jobs=jobs)(
        joblib.delayed(compared)(name, seed)
        for name in names
        for seed in range(FIRST_SEED, FIRST_SEED + seeds)
    )
    path = HERE / "families.csv"
    with path.open(newline="", encoding="utf-8") as file:
        kept = [row for row in csv.reader(file) if row[0] not in {*names, COLUMNS[0]}]
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([COLUMNS, *sorted(kept + rows, key=lambda row: str(row[0]))])
    for name in names:
        of = np.array([[float(row[2]), float(row[3])] for row in rows if row[0] == name])
        ratios = of[:, 1] / of[:, 0]
        print(
            f"{name}: single best {of[:, 0].mean():.3f}, oracle of {SIZE} {of[:, 1].mean():.3f}; "
            f"ratio of means {of[:, 1].mean() / of[:, 0].mean():.2f}, "
            f"largest of {len(of)} seeds {ratios.max():.2f}"
        )
