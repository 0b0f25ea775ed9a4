"""Elimination procedures, each a frozen record of settings."""

from racer.deciders.anytime import AnytimeRace
from racer.deciders.bayesian_best import BayesianBest
from racer.deciders.bayesian_friedman import BayesianFriedman
from racer.deciders.best_for_budget import BestForBudget
from racer.deciders.bradley_terry import BradleyTerryRace
from racer.deciders.correlated_t import CorrelatedTRace
from racer.deciders.decider import Blocks, Decider, Drop, Verdict
from racer.deciders.f_race import FRace
from racer.deciders.halving import SequentialHalving
from racer.deciders.names import DECIDERS, as_decider
from racer.deciders.plackett_luce import PlackettLuceRace
from racer.deciders.signed_rank import SignedRankRace
from racer.deciders.t_race import TRace

__all__ = [
    "DECIDERS",
    "AnytimeRace",
    "BayesianBest",
    "BayesianFriedman",
    "BestForBudget",
    "Blocks",
    "BradleyTerryRace",
    "CorrelatedTRace",
    "Decider",
    "Drop",
    "FRace",
    "PlackettLuceRace",
    "SequentialHalving",
    "SignedRankRace",
    "TRace",
    "Verdict",
    "as_decider",
]
