"""What the trials of a study say of each instance, as costs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from optuna.study import Study, StudyDirection

from racer.errors import SettingError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray
    from optuna.trial import FrozenTrial

__all__ = ["MEAN_STEP", "check_study", "costs_on", "is_maximized", "mean", "usable"]

MEAN_STEP = "racer:mean_step"  # the attribute that names the step at which the mean stands


def check_study(study: object) -> None:
    """Raise SettingError unless this is a study with one objective."""
    if not isinstance(study, Study):
        raise SettingError(
            f"study={study!r}: give an optuna.Study, of optuna.create_study or load_study"
        )
    if len(study.directions) > 1:
        raise SettingError("the study has several objectives: give one with a single direction")


def is_maximized(study: Study) -> bool:
    """Say whether larger values are better in this study, which must have one objective."""
    return study.direction == StudyDirection.MAXIMIZE


def usable(trial: FrozenTrial) -> dict[int, float]:
    """Return the finite values that a trial reported, by instance; the mean of `finish` is none."""
    mean_at = trial.user_attrs.get(MEAN_STEP)
    return {
        step: value
        for step, value in trial.intermediate_values.items()
        if step != mean_at and np.isfinite(value)
    }


def costs_on(
    steps: Sequence[int], trials: Iterable[FrozenTrial], *, maximize: bool
) -> NDArray[np.float64]:
    """Return costs, shape (len(steps), trials): to be minimised, NaN where there is no value.

    A value that is not finite is none.
    """
    rows, positions = [], {step: i for i, step in enumerate(steps)}
    nothing = float("nan")
    for trial in trials:
        known = trial.intermediate_values
        row = [known.get(step, nothing) for step in steps]
        mean_at = trial.user_attrs.get(MEAN_STEP)
        if mean_at in positions:
            row[positions[mean_at]] = nothing
        rows.append(row)
    values = np.array(rows, dtype=np.float64).reshape(len(rows), len(steps)).T
    values = np.where(np.isfinite(values), values, np.nan)
    return -values if maximize else values


def mean(values: Sequence[float]) -> float:
    """Return the mean, also of values near the largest float."""
    return math.fsum(value / len(values) for value in values)
