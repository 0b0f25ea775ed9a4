"""Stand-ins for pipelines with a choice of five models, calibrated to scikit-learn's.

The cost is an error rate on a hundred rows. One model has a parameter without any effect, one is
the best where two of its parameters are right and useless elsewhere, the others are mediocre. The
same predictions have the same cost: what disturbs is a function of the instance and of what the
parameters do, not of the seed. The quality leaves it out.
"""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING, Any

from experiments.tuner.problem import Problem
from racer import Categorical, Integer, Real, Space
from racer.seeding import rng_for

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    Config = Mapping[str, Any]

__all__ = ["pipelines"]

TUNING, HELD_OUT = 50, 100
ROWS = 100  # of an instance, on which errors are counted
DIFFICULTY = 0.04  # sd of an instance's level
DISTURBANCE = 0.02  # sd of what a model's predictions differ by from instance to instance


def pipelines(seed: int) -> Problem:
    """Return a scaler, and a network among four others: rate and width right on a diagonal."""
    space = Space(
        {
            "scaler": Categorical(["none", "standard"]),
            "model": Categorical(["logistic", "forest", "network", "centroid", "boosting"]),
            "penalty": Real(1e-4, 1e3, log=True),
            "features": Real(0.1, 1.0),
            "trees": Integer(10, 300, log=True),
            "rate": Real(1e-5, 1.0, log=True),
            "width": Integer(4, 1024, log=True),
            "shrinkage": Real(0.0, 1.0),
            "learning": Real(1e-3, 1.0, log=True),
            "rounds": Integer(5, 500, log=True),
        },
        conditions={
            "penalty": {"model": "logistic"},
            **{key: {"model": "forest"} for key in ("features", "trees")},
            **{key: {"model": "network"} for key in ("rate", "width")},
            "shrinkage": {"model": "centroid"},
            **{key: {"model": "boosting"} for key in ("learning", "rounds")},
        },
    )
    rng = rng_for(seed, "pipelines")
    rate, width = float(rng.uniform(-3.5, -1.5)), float(rng.uniform(1.5, 2.5))
    penalty, share = float(rng.uniform(-2.0, 1.0)), float(rng.uniform(0.2, 0.6))

    def effect(config: Config) -> tuple[float, Hashable]:
        """Return the error rate, and a key that configurations of equal predictions share."""
        model, raw = config["model"], config["scaler"] == "none"
        if model == "network":
            x, y = math.log10(config["rate"]) - rate, math.log10(config["width"]) - width
            missed = (x + y) ** 2 / 0.18 + (x - y) ** 2 / 2.0
            error = 0.10 + 0.05 * raw + 0.55 * (1.0 - math.exp(-missed))
            return error, ("network", raw, round(x, 2), round(y, 2))
        if model == "logistic":
            off = math.log10(config["penalty"]) - penalty
            return 0.17 + 0.04 * raw + 0.01 * off**2, ("logistic", raw, round(off, 1))
        if model == "forest":
            off, trees = abs(config["features"] - share), config["trees"]
            return 0.15 + 0.06 * off + 0.3 / trees, ("forest", round(off, 2), trees)
        if model == "centroid":
            return 0.16 + 0.05 * raw, ("centroid", raw)
        x = math.log10(config["learning"] * config["rounds"]) - 1.0
        return 0.165 + 0.05 * x**2, ("boosting", round(x, 2))

    optimum: dict[str, Any] = {"scaler": "standard", "model": "network"}
    optimum |= {"rate": 10.0**rate, "width": round(10.0**width)}
    levels = rng_for(seed, "pipelines").normal(0.0, DIFFICULTY, TUNING + HELD_OUT).tolist()

    def worth(config: Config, _: int, __: int) -> float:
        return float(effect(config)[0])

    def cost(config: Config, instance: int, _: int) -> float:
        rate, predictions = effect(config)
        draw = random.Random(f"{seed} 1 {instance} {predictions}")  # noqa: S311
        error = rate + levels[instance] + draw.gauss(0.0, DISTURBANCE)
        return float(round(ROWS * min(max(error, 0.0), 1.0)) / ROWS)

    return Problem(space, cost, TUNING, HELD_OUT, worth, effect(optimum)[0])
