"""Which races are played, and what sequential halving makes of as many observations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from experiments.worlds import WORLDS
from racer.deciders import DECIDERS, BayesianBest, SequentialHalving, as_decider
from racer.simulate import play

if TYPE_CHECKING:
    from racer.deciders import Decider

__all__ = ["COMPETITORS", "HALVING", "Point", "Size", "moments", "point"]

HALVING = "halving"
FIRST_TEST = 5
# which would take hours: with 100 candidates, a look that samples takes tens of milliseconds
LEFT_OUT = ("bradley-terry", "plackett-luce", "signed-rank")
COMPETITORS: dict[str, Decider] = {
    **{name: as_decider(name) for name in DECIDERS if name not in LEFT_OUT},
    "bayesian-best-mean": BayesianBest(by="mean"),
    "halving-mean-rank": SequentialHalving(by="mean-rank"),
}


@dataclass(frozen=True)
class Size:
    """What is common to all races of a run."""

    q: int
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
    halving, halving_se : float
        MAE of sequential halving by means, given that number of observations.
    """

    world: str
    decider: str
    budget: int
    observations: float
    mae: float
    mae_se: float
    regret: float
    regret_se: float
    halving: float
    halving_se: float

    @property
    def ratio(self) -> float:
        """MAE over that of halving."""
        return self.mae / self.halving if self.halving else math.nan

    @property
    def ratio_se(self) -> float:
        """Its standard error, by the delta method, as if the races were independent."""
        if not self.mae or not self.halving:
            return math.nan
        return self.ratio * math.hypot(self.mae_se / self.mae, self.halving_se / self.halving)


def point(decider: str, world: str, budget: int, size: Size) -> Point:
    """Play a decider, and halving on as many observations."""
    (used, _), mae, regret = moments(decider, world, budget, size)
    # what is left of a budget is less than a block: as good as spent
    equal = budget if used > 0.98 * budget else max(round(used), FIRST_TEST * size.q)
    _, halving, _ = moments(HALVING, world, equal, size)
    return Point(world, decider, budget, used, *mae, *regret, *halving)


@lru_cache
def moments(decider: str, world: str, budget: int, size: Size) -> tuple[tuple[float, float], ...]:
    """Return observations, MAE and regret, each with its standard error."""
    result = play(
        COMPETITORS[decider],
        WORLDS[world](size.q, size.rho),
        repetitions=size.repetitions,
        n_jobs=size.jobs,
        seed=size.seed,
        blocks=budget,  # more than a race can use
        budget=budget,
        first_test=FIRST_TEST,
    )
    names = ("observations", "mae", "regret")
    return tuple((result.summary[name], result.errors[name]) for name in names)
