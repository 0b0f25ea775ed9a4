"""Which trial of a study is really best: the evidence of its values on single instances."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from optuna.trial import TrialState

from racer._checks import check_fraction
from racer._numerics import as_costs, mean_of
from racer.errors import ScoresError, SettingError
from racer.integrations.optuna.metrics import metrics_of, recorded_aim, sought
from racer.integrations.optuna.reports import (
    as_study,
    costs_on,
    from_running_means,
    is_feasible,
    is_maximized,
    kind_of,
    usable,
)
from racer.stats.best import best_posterior

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from optuna.study import Study
    from optuna.trial import FrozenTrial

    from racer.results.metrics import Metrics

    _Seen = tuple[FrozenTrial, dict[int, float]]  # with its values by instance


@dataclass(frozen=True, eq=False)
class Evidence:
    """The evidence of values on single instances about the trials of a study.

    Attributes
    ----------
    best : int
        The number of the trial that is most probably the best; `study.trials[best]` is the trial.
        Of a front, the trial that is most probably on it.
    probability : dict of int to float
        For each trial compared, the posterior probability that it is the best of them
        (`racer.stats.best_posterior`): the goal of the objective, or on the front
        (`racer.stats.front_posterior`).
    indistinguishable : tuple of int
        The best, and the others that may be: the fewest, likeliest first, that hold the best with
        probability `confidence`; with several directions the answer, or the whole front.
    compared_on : tuple of int
        The instances: all that the trials compared have in common; with several directions, all
        that any of them has seen.
    instances : dict of int to int
        On how many instances each complete or pruned trial has a usable value.
    front : tuple of int
        With several directions: the fewest trials, likeliest first, that hold the whole Pareto
        front with probability `confidence`; else ().

    Examples
    --------
    >>> import optuna
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> def objective(trial):
    ...     x = trial.suggest_float("x", 0, 1)
    ...     for step in range(8):
    ...         trial.report(x + step, step)
    ...     return x
    >>> study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1))
    >>> study.optimize(objective, n_trials=4)
    >>> evidence = best_trials_by_evidence(study)
    >>> evidence.best == study.best_trial.number
    True
    """

    best: int
    probability: dict[int, float]
    indistinguishable: tuple[int, ...]
    compared_on: tuple[int, ...]
    instances: dict[int, int]
    front: tuple[int, ...] = ()
    # state, value, mean
    _rows: tuple[tuple[str, float | None, float], ...] = ()
    _metrics: Metrics | None = None
    _states: Mapping[int, str] = field(default_factory=dict)

    @cached_property
    def trials(self) -> pd.DataFrame:
        """One row per complete or pruned trial with a usable value, the most probable first.

        Columns: state, value (Optuna's), instances, mean (over the instances it has seen),
        probability (of being best; NaN if it was not compared), indistinguishable (False if it was
        not compared). With several directions: probability (of being on the front:
        probability_front), each metric's mean with the interval that holds it with probability
        .95 (``metric:<name>``, ``low:<name>``,
        ``high:<name>``), state, instances.
        """
        import pandas as pd  # noqa: PLC0415

        if self._metrics is not None:
            numbers = list(self.probability)
            frame = self._metrics.frame.loc[numbers].rename_axis(index="trial")
            frame.insert(0, "probability", [*self.probability.values()])
            frame["state"] = [self._states[number] for number in numbers]
            frame["instances"] = [self.instances[number] for number in numbers]
            return frame

        numbers = list(self.instances)
        state, value, average = zip(*self._rows, strict=True)
        frame = pd.DataFrame(
            {
                "state": state,
                "value": np.array(value, dtype=np.float64),
                "instances": list(self.instances.values()),
                "mean": average,
                "probability": [self.probability.get(number, np.nan) for number in numbers],
                "indistinguishable": [number in self.indistinguishable for number in numbers],
            },
            index=pd.Index(numbers, name="trial"),
        )
        # as the probabilities are ordered, with ties by rounding; the others by how much they saw
        others = sorted({*numbers}.difference(self.probability), key=lambda n: -self.instances[n])
        return frame.loc[[*self.probability, *others]]

    def __repr__(self) -> str:
        if self.front:
            return f"Evidence(front={self.front}, trials={len(self.probability)})"
        return (
            f"Evidence(best={self.best}, probability={self.probability[self.best]:.3f}, "
            f"indistinguishable={self.indistinguishable}, instances={len(self.compared_on)})"
        )


def best_trials_by_evidence(study: Study, *, confidence: float = 0.95) -> Evidence:
    """Find the best trial of a study, its probability, and the others that may be best.

    `study.best_trial` is the trial with the best mean: the best one, or a lucky one. This
    compares the values on single instances that the trials reported, as
    ``trial.report(value, step=instance)``, with `RacingPruner`, `race_study` or anything else.

    All complete and pruned trials are compared that violate no constraint and have a usable value
    on each of the instances on which most values of complete trials stand (of pruned ones, if none
    is complete; of sets with equally many, the larger, then the earlier trial's). Of equally good
    trials each has a share of the probability. The instances needed to separate trials are not
    known before: with few instances all may be indistinguishable.

    Parameters
    ----------
    study : optuna.Study
        With one direction; or with several, if `race_study` has raced it.
    confidence : float in (0.5, 1)
        The posterior probability that the best is among the indistinguishable ones.

    Returns
    -------
    Evidence

    Raises
    ------
    ScoresError
        No trial that satisfies all constraints has a usable value on an instance.
    SettingError
        A parameter out of range, or a study with several directions that has not been raced.

    References
    ----------
    Benavoli, Mangili, Corani, Zaffalon: A Bayesian nonparametric procedure for comparing
    algorithms (ICML 2015), for the question.

    Examples
    --------
    >>> import optuna
    >>> from racer.integrations.optuna import best_trials_by_evidence
    >>> study = optuna.create_study()
    >>> for values in ([5, 3, 7, 1, 9], [4, 1, 6, 2, 8], [9, 8, 9, 8, 9]):
    ...     trial = study.ask()
    ...     for instance, value in enumerate(values):
    ...         trial.report(value, step=instance)
    ...     _ = study.tell(trial, sum(values) / 5)
    >>> evidence = best_trials_by_evidence(study)
    >>> evidence.best, evidence.indistinguishable
    (1, (1, 0))
    """
    confidence = check_fraction(confidence, "confidence", low=0.5)
    if len(as_study(study).directions) > 1:
        return _of_several(study, confidence)
    seen = _seen(study)
    steps = sorted(_common_instances(seen))
    compared, by_instance = zip(*(s for s in seen if s[1].keys() >= set(steps)), strict=True)
    costs = np.array([[values[step] for values in by_instance] for step in steps])
    found = best_posterior(costs, maximize=is_maximized(study))
    return Evidence(
        compared[found.best].number,
        {compared[i].number: float(found.probability_best[i]) for i in found.order},
        tuple(compared[i].number for i in found.credible_set(confidence)),
        tuple(steps),
        {trial.number: len(values) for trial, values in seen},
        _rows=tuple((t.state.name, t.value, mean_of([*v.values()])) for t, v in seen),
    )


def _of_several(study: Study, confidence: float) -> Evidence:
    """Return the evidence on a study with several directions."""
    aim = recorded_aim(study)
    if aim is None:
        raise SettingError(
            "the study has several directions, and no values on single instances: race it with "
            "race_study(study, .., objective=..)"
        )
    found, states = metrics_of(study, aim)
    posterior = sought(found)
    chances = posterior.probability_best
    order = sorted(found.eligible, key=lambda number: -chances[number].round(6))
    front = found.front_with(confidence)
    return Evidence(
        order[0],
        {number: float(chances[number]) for number in order},
        front if aim.is_front else posterior.credible_set(confidence),
        tuple(sorted({row.block for row in found.known.rows})),
        {n: sum(o.value is not None for o in found.known.of(n).values()) for n in order},
        front,
        _metrics=found,
        _states=states,
    )


def _seen(study: Study) -> list[_Seen]:
    """Return the feasible trials, complete or pruned, that have usable values, with these."""
    states = (TrialState.COMPLETE, TrialState.PRUNED)
    known = study.get_trials(deepcopy=False, states=states)
    trials = [(t, usable(t)) for t in known if is_feasible(t)]
    seen = [(trial, values) for trial, values in trials if values]
    if not seen and known and not trials:
        raise ScoresError(f"no trial of study {study.study_name!r} satisfies its constraints")
    if not seen:
        raise ScoresError(
            f"no complete or pruned trial of study {study.study_name!r} reported a finite value "
            "per instance: call trial.report(value, step=instance) in the objective"
        )
    return _of_instances(seen, maximize=is_maximized(study))


def _of_instances(seen: list[_Seen], *, maximize: bool) -> list[_Seen]:
    """Return the values of instances of trials that reported running means, as for MedianPruner.

    Such a trial's value is its last report, not their mean. ScoresError for a learning curve, of
    which that is also true.
    """
    ends = [
        math.isclose(t.value, values[max(values)], rel_tol=1e-9)
        and not math.isclose(t.value, mean_of([*values.values()]), rel_tol=1e-9)
        for t, values in seen
        if t.state == TrialState.COMPLETE and t.value is not None and len(values) > 1
    ]
    if 2 * sum(ends) <= len(ends):
        return seen
    steps = sorted(_common_instances(seen))
    costs = costs_on(steps, [t for t, _ in seen], maximize=maximize)
    if kind_of(costs, by_instance=False) in {"learning curve", "unclear"}:
        raise ScoresError(
            "the value of each trial is its last report, and reports rise or fall from step to step, "
            "as on a learning curve: there is no evidence in them. If steps are instances, such as "
            "folds, call trial.report(value, step=instance) with the value of that one alone, and "
            "return the mean"
        )
    values = as_costs(from_running_means(costs), maximize=maximize)  # as they were reported
    return [
        (trial, {step: v for step, v in zip(steps, column, strict=True) if np.isfinite(v)})
        for (trial, _), column in zip(seen, values.T.tolist(), strict=True)
    ]


def _common_instances(seen: list[_Seen]) -> frozenset[int]:
    """Return the instances of the trial whose instances have most values in all.

    Of several such sets the larger, then the earlier trial's.
    """
    complete = [values for trial, values in seen if trial.state == TrialState.COMPLETE]
    sets = [frozenset(values) for values in complete or [values for _, values in seen]]
    return max(
        dict.fromkeys(sets),
        key=lambda instances: (sum(s >= instances for s in sets) * len(instances), len(instances)),
    )
