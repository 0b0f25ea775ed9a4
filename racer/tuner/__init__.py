"""Races in series: iterated racing over a space."""

from racer.tuner.events import CandidatesAdded, RaceCompleted
from racer.tuner.result import TuneResult
from racer.tuner.tuner import Tuner

__all__ = ["CandidatesAdded", "RaceCompleted", "TuneResult", "Tuner"]
