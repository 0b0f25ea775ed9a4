"""One cell of the table: what to evaluate, how, and what came of it."""

from racer.evaluate.cell import Cell, Outcome, Status
from racer.evaluate.objective import Objective, check_objective

__all__ = ["Cell", "Objective", "Outcome", "Status", "check_objective"]
