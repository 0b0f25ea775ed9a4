"""What a problem of the suite is: a space, costs on instances, and the quality of a configuration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from racer.seeding import block_seed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from racer import Space

    Config = Mapping[str, Any]
    Cost = Callable[[Config, int, int], float]
    Draw = Callable[[int], "Problem"]
    Half = Literal["chosen", "reported", "failing"]

__all__ = ["Problem", "ProblemClass"]

FAILED = 1e6  # quality of a configuration that fails on a held-out instance


@dataclass(frozen=True, eq=False)
class Problem:
    """An algorithm, or a stand-in for one, with instances to tune on and others held out.

    Attributes
    ----------
    space : Space
    cost : callable
        Of a configuration, the number of an instance, and a seed.
    tuning, held_out : int
        Numbers of instances: those to tune on come first.
    worth : callable
        Cost without what only disturbs (noise, level, scale); `cost` where there is none.
    reference : float or None
        Quality that can be reached; None: the best that any run found.
    deterministic : bool
    """

    space: Space
    cost: Cost
    tuning: int
    held_out: int
    worth: Cost | None = None
    reference: float | None = None
    deterministic: bool = False

    def __call__(self, config: Config, instance: int, seed: int) -> float:
        """Return the cost on an instance."""
        return self.cost(config, instance, seed)

    def quality(self, config: Config) -> float:
        """Return the mean over the held-out instances; smaller is better."""
        worth = self.cost if self.worth is None else self.worth
        numbers = range(self.tuning, self.tuning + self.held_out)
        try:
            return float(np.mean([worth(config, i, block_seed(0, i)) for i in numbers]))
        except ArithmeticError:
            return FAILED


class ProblemClass(NamedTuple):
    """A class of problems: for each seed another draw of instances.

    Attributes
    ----------
    name : str
    half : {"chosen", "reported", "failing"}
        Whether settings of the tuner were chosen on it, or it is kept for the report; or fails.
    real : bool
        An algorithm, not a formula.
    draw : callable
        From a seed to a `Problem`.
    """

    name: str
    half: Half
    real: bool
    draw: Draw
