"""Racing for objectives that report one value per instance, fold or seed."""

from racer.integrations.optuna import (
    RacingPruner,
    best_trials_by_evidence,
    finish,
    race_study,
)

__all__ = ["RacingPruner", "best_trials_by_evidence", "finish", "race_study"]
