"""Races in series: iterated racing over a space."""

from racer.core.events import CandidatesAdded, RaceCompleted
from racer.results.tuning import TuneResult
from racer.tuner.tuner import Tuner

__all__ = ["CandidatesAdded", "RaceCompleted", "TuneResult", "Tuner"]
