"""Racing for objectives that report one value per instance, fold or seed."""

from racer.integrations.optuna import best_trials_by_evidence
from racer.integrations.optuna import finish
from racer.integrations.optuna import race_study
from racer.integrations.optuna import RacingPruner


__all__ = ["RacingPruner", "best_trials_by_evidence", "finish", "race_study"]
