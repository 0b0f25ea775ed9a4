"""Racing in Optuna: a pruner, a sampler, races of a study's trials, and which trial is really best."""

try:
    import optuna as _optuna  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "optuna":
        raise
    raise ModuleNotFoundError(
        "racer.integrations.optuna needs Optuna, which is not installed: pip install 'racer-tuning[optuna]'",
        name="optuna",
    ) from error

from racer._entry import public_room
from racer.integrations.optuna.evidence import Evidence, best_trials_by_evidence
from racer.integrations.optuna.pruner import RacingPruner
from racer.integrations.optuna.races import race_study
from racer.integrations.optuna.reports import finish
from racer.integrations.optuna.sampler import RacingSampler

__all__ = [
    "Evidence",
    "RacingPruner",
    "RacingSampler",
    "best_trials_by_evidence",
    "finish",
    "race_study",
]

public_room(vars())
