"""How a pruned trial ends: with its mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import optuna

from racer.errors import SettingError
from racer.integrations.optuna.values import MEAN_STEP, mean, usable

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial

__all__ = ["finish", "report_mean"]


def finish(trial: optuna.Trial) -> NoReturn:
    """End a trial as pruned, with the mean of its values.

    Optuna gives a pruned trial the value that was reported at its highest step: here that of an
    arbitrary instance, hard or easy. This reports the mean of all finite values once more, one
    step behind the last, and names that step in the trial's user attribute "racer:mean_step", so
    that nobody here takes it for an instance. Samplers such as TPE order pruned trials by their
    last step, then by their value: those with equally many instances by their means.

    Parameters
    ----------
    trial : optuna.Trial
        That runs, and has reported a value per instance: ``trial.report(value, step=instance)``.

    Raises
    ------
    optuna.TrialPruned
        Always.
    SettingError
        Not a trial that runs in a study.

    Examples
    --------
    >>> import optuna
    >>> from racer.integrations.optuna import finish
    >>> study = optuna.create_study()
    >>> trial = study.ask()
    >>> for instance, value in enumerate([3.0, 1.0, 2.0]):
    ...     trial.report(value, step=instance)
    >>> try:
    ...     finish(trial)
    ... except optuna.TrialPruned:
    ...     study.tell(trial, state=optuna.trial.TrialState.PRUNED).value
    2.0
    """
    if not isinstance(trial, optuna.Trial):
        raise SettingError(f"finish({trial!r}): give the trial that the objective was called with")
    report_mean(trial, frozen(trial))
    raise optuna.TrialPruned


def frozen(trial: optuna.Trial) -> FrozenTrial:
    """Return what the study knows of a trial."""
    return trial.study.get_trials(deepcopy=False)[trial.number]


def report_mean(trial: optuna.Trial, known: FrozenTrial, step: int | None = None) -> None:
    """Report the mean of a trial's values at a step above all others, and name that step.

    Parameters
    ----------
    trial : optuna.Trial
    known : FrozenTrial
        The same trial, with all that it reported.
    step : int, optional
        The step, above all others. None: the next one.
    """
    values = list(usable(known).values())
    if not values:
        return  # there is no mean: Optuna gives the trial no value
    if known.user_attrs.get(MEAN_STEP) in known.intermediate_values:
        return  # it stands there already
    if step is None:
        step = max(known.intermediate_values) + 1
    trial.set_user_attr(MEAN_STEP, step)  # first: a mean that is not named would be an instance
    trial.report(mean(values), step)
