"""Which races are played, and what sequential halving makes of as many observations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from experiments.deciders import OF_ONE_NUMBER
from experiments.frontier.bandits import BANDITS, FIRST, played
from experiments.worlds import WORLDS
from racer.deciders import BestForBudget, SequentialHalving
from racer.seeding import seed_for
from racer.simulate import play

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from racer.deciders import Decider

__all__ = ["COMPETITORS", "HALVING", "Point", "Size", "point", "races"]

HALVING = "halving"
FIRST_TEST = FIRST
NAMES = ("bayesian-friedman", "best-for-budget", "bayesian-best", "f-race", "t-race", "anytime")
COMPETITORS: dict[str, Decider | None] = {
    HALVING: OF_ONE_NUMBER[HALVING],
    "halving-mean-rank": SequentialHalving(by="mean-rank"),
    **{name: OF_ONE_NUMBER[name] for name in NAMES},
    "best-for-budget-mean": BestForBudget(by="mean"),
    **dict.fromkeys(BANDITS),
}


@dataclass(frozen=True)
class Size:
    """What is common to all races of a run."""

    rho: float
    repetitions: int
    jobs: int
    seed: int


@dataclass(frozen=True)
class Point:
    """What a decider made of a budget, and halving of the observations that it used.

    Attributes
    ----------
    observations : float
        Mean over the races.
    mae, mae_se, regret, regret_se : float
    halving : float
        Regret of sequential halving by means, given that number of observations.
    ratio, ratio_se : float
        Regret over that of halving, in the same races, and its standard error.
    """

    world: str
    candidates: int
    decider: str
    budget: int
    observations: float
    mae: float
    mae_se: float
    regret: float
    regret_se: float
    halving: float
    ratio: float
    ratio_se: float


def point(decider: str, world: str, candidates: int, budget: int, size: Size) -> Point:
    """Play a decider, and halving on as many observations."""
    used, mae, regret = races(decider, world, candidates, budget, size)
    mean = float(used.mean())
    # what is left of a budget is less than a block: as good as spent
    equal = budget if mean > 0.98 * budget else max(round(mean), FIRST_TEST * candidates)
    _, _, halving = races(HALVING, world, candidates, equal, size)
    ratio, ratio_se = _ratio(regret, halving)
    moments = (*_moments(mae), *_moments(regret))
    return Point(
        *(world, candidates, decider, budget, mean, *moments),
        *(float(halving.mean()), ratio, ratio_se),
    )


def _moments(values: NDArray[np.float64]) -> tuple[float, float]:
    error = values.std(ddof=1) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return float(values.mean()), float(error)


def _ratio(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> tuple[float, float]:
    """Return the ratio of the means of paired values, and its error by the delta method."""
    if not theirs.mean():
        return math.nan, math.nan
    ratio = float(ours.mean() / theirs.mean())
    return ratio, _moments(ours - ratio * theirs)[1] / float(theirs.mean())


@lru_cache
def races(
    decider: str, world: str, candidates: int, budget: int, size: Size
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return observations, MAE and regret of each race; the races of all deciders are the same."""
    made, chosen = WORLDS[world](candidates, size.rho), COMPETITORS[decider]
    if chosen is None:
        seeds = [seed_for(size.seed, "play", number) for number in range(size.repetitions)]
        mae, regret = np.array([played(decider, made, budget, seed) for seed in seeds]).T
        return np.full(size.repetitions, float(budget)), mae, regret
    frame = play(
        chosen,
        made,
        repetitions=size.repetitions,
        n_jobs=size.jobs,
        seed=size.seed,
        blocks=budget,  # more than a race can use
        budget=budget,
        first_test=FIRST_TEST,
    ).frame
    used, mae, regret = frame[["observations", "mae", "regret"]].to_numpy(dtype=np.float64).T
    return used, mae, regret
