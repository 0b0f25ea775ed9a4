"""Races in series: iterated racing over a space."""

from racer.racing.events import CandidatesAdded
from racer.tuner.events import RaceCompleted
from racer.tuner.result import TuneResult
from racer.tuner.tuner import Tuner

__all__ = ["CandidatesAdded", "RaceCompleted", "TuneResult", "Tuner"]
