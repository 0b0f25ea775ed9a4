"""Evaluation of one cell of the table: objective, limits, workers, outcome."""

from racer.evaluate.objective import Objective, check_objective
from racer.evaluate.outcome import Cell, Outcome, Status

__all__ = ["Cell", "Objective", "Outcome", "Status", "check_objective"]
