"""Who may go: elimination procedures, each a frozen record of settings."""

from racer.deciders.anytime import AnytimeRace
from racer.deciders.bayesian_best import BayesianBest
from racer.deciders.bayesian_friedman import BayesianFriedman
from racer.deciders.decider import Blocks, Decider, Drop, Verdict
from racer.deciders.frace import FRace
from racer.deciders.halving import SequentialHalving
from racer.deciders.names import DECIDERS, as_decider
from racer.deciders.trace import TRace

__all__ = [
    "DECIDERS",
    "AnytimeRace",
    "BayesianBest",
    "BayesianFriedman",
    "Blocks",
    "Decider",
    "Drop",
    "FRace",
    "SequentialHalving",
    "TRace",
    "Verdict",
    "as_decider",
]
