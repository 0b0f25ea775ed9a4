"""Deciders by name."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from racer._checks import did_you_mean
from racer.deciders.anytime import AnytimeRace
from racer.deciders.bayesian_best import BayesianBest
from racer.deciders.bayesian_friedman import BayesianFriedman
from racer.deciders.best_for_budget import BestForBudget
from racer.deciders.bradley_terry import BradleyTerryRace
from racer.deciders.correlated_t import CorrelatedTRace
from racer.deciders.decider import Decider
from racer.deciders.f_race import FRace
from racer.deciders.halving import SequentialHalving
from racer.deciders.plackett_luce import PlackettLuceRace
from racer.deciders.signed_rank import SignedRankRace
from racer.deciders.t_race import TRace
from racer.errors import SettingError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

DECIDERS: Mapping[str, Callable[[], Decider]] = MappingProxyType(
    {
        "bayesian-friedman": BayesianFriedman,
        "bayesian-friedman-2015": lambda: BayesianFriedman(
            gate="region", equalities="joint", pair_strength=0.0
        ),
        "best-for-budget": BestForBudget,
        "bayesian-best": BayesianBest,
        "f-race": FRace,
        "f-race-sign": lambda: FRace(posthoc="sign"),
        "f-race-mean-rank": lambda: FRace(posthoc="mean-rank"),
        "t-race": TRace,
        "correlated-t": CorrelatedTRace,
        "halving": SequentialHalving,
        "anytime": AnytimeRace,
        "bradley-terry": BradleyTerryRace,
        "plackett-luce": PlackettLuceRace,
        "signed-rank": SignedRankRace,
    }
)


def as_decider(decider: str | Decider) -> Decider:
    """Return the decider of that name, with its default settings; or the object itself.

    Raises
    ------
    SettingError
        Unknown name (with the nearest one), or not a decider.

    Examples
    --------
    >>> import racer
    >>> racer.deciders.as_decider("f-race")
    FRace(posthoc='conover', alpha=0.05, gate='sign-flip', correction=None, last_two=None)
    """
    if isinstance(decider, str):
        if decider not in DECIDERS:
            hint = did_you_mean(decider.lower(), DECIDERS)
            raise SettingError(
                f"decider={decider!r} is unknown: choose one of {', '.join(DECIDERS)}{hint}"
            )
        return DECIDERS[decider]()
    if isinstance(decider, type):
        raise SettingError(f"decider={decider.__name__} is a class: give {decider.__name__}()")
    if not isinstance(decider, Decider):
        raise SettingError(
            f"decider={decider!r} is not a decider: give a name ({', '.join(DECIDERS)}) or an "
            "object with start(n_candidates, rng) and decide(state, blocks)"
        )
    return decider
