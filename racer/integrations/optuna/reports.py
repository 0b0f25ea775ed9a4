"""Reports of trials: values by instance, as costs, and at the end their mean."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, NoReturn

import numpy as np
import optuna
from optuna.study import Study, StudyDirection

from racer._numerics import as_costs, mean_of
from racer.errors import SettingError
from racer.integrations.optuna.attributes import MEAN_STEP, recorded

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray
    from optuna.trial import FrozenTrial

_SURE = 5.0  # log of how much more probable
_SCALES = 1.5  # standard deviation of the logarithm of the scales of instances
_ROUNDING = 1e-9  # of the largest value: costs that differ by less tie
_TRIALS = 4  # the fewest from which running means are distinguished from values
_STEPS_OF_A_CURVE = 8


def as_study(study: object) -> Study:
    """Return it; SettingError unless it is a study."""
    if not isinstance(study, Study):
        raise SettingError(
            f"study={study!r}: give an optuna.Study, from optuna.create_study or load_study"
        )
    return study


def is_feasible(trial: FrozenTrial) -> bool:
    """Return whether a trial violates no constraint that is recorded of it."""
    told: list[float] = []
    for name, value in trial.system_attrs.items():
        if name == "constraints":  # of `constraints_func`
            told += value or ()
        elif name.startswith("constraints:"):  # of `Trial.set_constraint`
            told.append(value)
    return all(value <= 0.0 for value in told)


def is_maximized(study: Study) -> bool:
    """Return whether larger values are better in this study, which has one objective."""
    return study.direction == StudyDirection.MAXIMIZE


def values_of(trial: FrozenTrial) -> dict[int, float]:
    """Return the values that a trial reported, by instance, without the mean of `finish`."""
    values = trial.intermediate_values
    mean_at = recorded(trial, MEAN_STEP)
    if mean_at not in values:
        return values
    return {step: value for step, value in values.items() if step != mean_at}


def usable(trial: FrozenTrial) -> dict[int, float]:
    """Return the finite values of a trial."""
    return {step: value for step, value in values_of(trial).items() if np.isfinite(value)}


def costs_on(
    steps: Sequence[int], trials: Iterable[FrozenTrial], *, maximize: bool
) -> NDArray[np.float64]:
    """Return costs, shape (len(steps), trials); NaN without a finite value."""
    known = map(values_of, trials)
    rows = [[values.get(step, np.nan) for step in steps] for values in known]
    table = np.array(rows, dtype=np.float64).reshape(len(rows), len(steps)).T
    return as_costs(np.where(np.isfinite(table), table, np.nan), maximize=maximize)


def from_running_means(costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the values of running means, (steps, trials); NaN from the first gap on."""
    sums = costs * np.arange(1.0, len(costs) + 1.0)[:, None]
    return np.diff(sums, axis=0, prepend=0.0)


def kind_of(
    costs: NDArray[np.float64], *, by_instance: bool
) -> Literal["values", "running means", "learning curve", "unclear"]:
    """Return the kind of values that trials report, by their costs, (steps, trials).

    `by_instance`: their steps are known to be instances, which may be in order of difficulty.
    """
    are_means = are_running_means(costs)
    if not by_instance and is_ordered(costs):
        values = from_running_means(costs)[1:]  # the first is both
        is_smooth = is_ordered(values, 2.19)
        if not are_means or is_smooth or len(values) < _STEPS_OF_A_CURVE:
            is_known = np.count_nonzero(~np.isnan(costs).any(axis=0)) >= _TRIALS
            is_clear = is_smooth or (is_known and not are_means)
            return "learning curve" if is_clear and len(costs) >= _STEPS_OF_A_CURVE else "unclear"
    return "running means" if are_means else "values"


def is_ordered(costs: NDArray[np.float64], deviations: float = 2.88) -> bool:
    """Return whether costs follow a trend along the steps, (steps, trials): at least five of them.

    By Bartels' rank version of von Neumann's ratio (JASA 77, 1982) of the means over trials without
    gaps. Of eight steps or more in random order 0.2 % do, of fewer, means that only rise or only
    fall; looked at one by one up to 30, 3 % ever do.
    """
    known = costs[:, ~np.isnan(costs).any(axis=0)]
    n = len(known)
    # fewer steps can have no trend
    if n < 5 or known.shape[1] < 2:
        return False
    from scipy.stats import rankdata  # noqa: PLC0415  (takes long to import)

    places = rankdata((known / known.shape[1]).sum(axis=1))
    total = float(((places - places.mean()) ** 2).sum())
    if not total:
        return False
    ratio = float((np.diff(places) ** 2).sum()) / total
    variance = 4 * (n - 2) * (5 * n**2 - 2 * n - 9) / (5 * n * (n + 1) * (n - 1) ** 2)
    monotone = 12 / (n * (n + 1))
    return ratio <= max(monotone, 2.0 - deviations * math.sqrt(variance)) + 1e-9


def are_running_means(costs: NDArray[np.float64]) -> bool:
    """Return whether costs by step, (steps, trials), are much more probably running means than values.

    Over trials without gaps, in three steps at least, by two models of the costs, or of the values
    of which they would be running means: a variance for each trial, which is quick; and, as steps
    are seldom of one scale, a variance for each step and one between trials. Both must agree.
    The determinant of the change is the factorial of the number of steps.
    """
    known = costs[:, ~np.isnan(costs).any(axis=0)]
    steps, trials = known.shape
    if steps < 3 or trials < _TRIALS:
        return False
    size = float(np.abs(known).max())
    if size == 0.0:
        return False
    known = known / size  # squares neither overflow nor vanish
    both = known, from_running_means(known)
    tables = [table - table.mean(axis=1, keepdims=True) for table in both]
    gain = trials * math.lgamma(steps + 1) * (steps - 1) / steps
    for sign, rest in zip((1.0, -1.0), tables, strict=True):
        squares = ((rest - rest.mean(axis=0)) ** 2).sum(axis=0)
        if (squares < _ROUNDING**2).any():
            return False
        gain += sign * (steps - 1) / 2.0 * np.log(squares).sum()
    if gain <= _SURE or any((np.abs(rest).max(axis=1) < _ROUNDING).any() for rest in tables):
        return False
    of_costs, of_values = (_log_likelihood(rest @ rest.T, trials - 1) for rest in tables)
    return bool(of_values - of_costs + (trials - 1) * math.lgamma(steps + 1) > _SURE)


def _log_likelihood(products: NDArray[np.float64], freedom: int) -> float:
    """Return the largest, penalised, for the covariance diag(step) + between, of products."""
    from scipy.optimize import minimize  # noqa: PLC0415  (rarely needed)

    own = np.diag(products)
    variances = own / freedom

    def negative(at: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        steps, between = at[:-1], math.exp(at[-1])
        weights = np.exp(-steps)
        total = 1.0 + between * weights.sum()
        shrunk = between / total
        along = products @ weights
        whole = float(weights @ along)
        apart = (steps - steps.mean()) / (2.0 * _SCALES)
        value = freedom * (steps.sum() + math.log(total)) + own @ weights - shrunk * whole
        by_weight = own - 2.0 * shrunk * along + shrunk**2 * whole
        by_step = freedom * (1.0 - shrunk * weights) - by_weight * weights
        by_between = (freedom * (total - 1.0) - shrunk * whole) / total
        slope = np.append(by_step + (apart - apart.mean()) / _SCALES, by_between)
        return 0.5 * float(value + apart @ apart), 0.5 * slope

    # of a step's variance some is not between trials
    lowest, middle = np.log(1e-4 * variances), math.log(np.median(variances))
    found = minimize(
        negative,
        np.append(np.log(variances / 2.0), middle),
        jac=True,
        method="L-BFGS-B",
        bounds=[*zip(lowest, lowest + 10.0, strict=True), (middle - 25.0, middle + 12.0)],
    )
    return -float(found.fun)


def finish(trial: optuna.Trial) -> NoReturn:
    """End a trial as pruned, with the mean of its values.

    Optuna gives a pruned trial the value that was reported at its highest step: here an
    arbitrary instance, hard or easy. This reports the mean of all finite values once more, one
    step behind the last, and names that step in the trial's user attribute "racer:mean_step", so
    that it is not taken for an instance. Samplers such as TPE order pruned trials by their
    last step, then by their value, so trials with equally many instances by their means.

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
    report_mean(trial, trial.study.get_trials(deepcopy=False)[trial.number])
    raise optuna.TrialPruned


def report_mean(trial: optuna.Trial, known: FrozenTrial, step: int | None = None) -> None:
    """Report the mean of a trial's values at `step`, above all others (None: the next); name it."""
    values = list(usable(known).values())
    if not values:
        return  # there is no mean: Optuna gives the trial no value
    if recorded(known, MEAN_STEP) in known.intermediate_values:
        return  # it stands there already
    if step is None:
        step = max(known.intermediate_values) + 1
    trial.set_user_attr(MEAN_STEP, step)  # first: a mean that is not named would be an instance
    trial.report(mean_of(values), step)
