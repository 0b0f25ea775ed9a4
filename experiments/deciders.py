"""The deciders of one number per cell, by the names that tables give them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from racer.deciders import DECIDERS, BayesianBest, CorrelatedTRace, SignedRankRace

if TYPE_CHECKING:
    from collections.abc import Mapping

    from racer.deciders import Decider

__all__ = ["BY_CLASS", "OF_ONE_NUMBER"]

BY_CLASS: Mapping[str, Decider] = {
    "bayesian-best": BayesianBest(),
    "correlated-t": CorrelatedTRace(),
    "signed-rank": SignedRankRace(),
}
"""Those that have no name in a call."""

OF_ONE_NUMBER: Mapping[str, Decider] = {
    **{name: make() for name, make in DECIDERS.items() if "cost" in make().objectives},
    **BY_CLASS,
}
