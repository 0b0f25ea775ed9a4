"""Studies with several directions: metrics, objective and evidence of their races."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from optuna.study import StudyDirection
from optuna.trial import TrialState

from racer.core.objective import Aim
from racer.core.table import Table
from racer.errors import ScoresError, SettingError
from racer.evaluate.outcome import Outcome
from racer.integrations.optuna.attributes import (
    FAILED,
    SETTINGS,
    VALUES,
    checked,
    recorded,
    recorded_by_block,
)
from racer.integrations.optuna.reports import as_study, is_feasible, values_of
from racer.results.metrics import Metrics
from racer.stats.best import best_posterior

if TYPE_CHECKING:
    from optuna.study import Study
    from optuna.trial import FrozenTrial

    from racer.stats.best import BestPosterior


def aim_of(study: Study, metrics: Any, objective: Any) -> Aim | None:
    """Return metrics and objective of a study's races; None where it has one direction.

    SettingError unless the metrics agree with its directions, in their order.
    """
    directions = as_study(study).directions
    if len(directions) == 1:
        if metrics is None and objective is None:
            return None
        raise SettingError(
            "metrics= and objective= are for a study with several directions, "
            'optuna.create_study(directions=["minimize", ..]); this one has one'
        )
    told = ["max" if d == StudyDirection.MAXIMIZE else "min" for d in directions]
    if metrics is None and study.metric_names is not None:
        metrics = dict(zip(study.metric_names, told, strict=True))
    if metrics is None:
        example = ", ".join(f"'..': {direction!r}" for direction in told)
        raise SettingError(
            f"the study has {len(told)} directions: name the metrics of evaluate, in their order, "
            f"metrics={{{example}}}, or by study.set_metric_names([..])"
        )
    aim = Aim.of(metrics, objective)
    given = [] if aim is None else [metric.direction for metric in aim.metrics.values()]
    if given != told:
        raise SettingError(
            f"metrics= has the directions {given}, and the study {told}: give a metric for each "
            "direction of the study, in their order"
        )
    return aim


def settings_of(aim: Aim) -> dict[str, Any]:
    """Return metrics and objective as plain data."""
    return {
        "metrics": [[name, metric.plain()] for name, metric in aim.metrics.items()],
        "objective": aim.objective if isinstance(aim.objective, str) else aim.objective.plain(),
    }


def recorded_aim(study: Study) -> Aim | None:
    """Return metrics and objective that a study has been raced with; None without."""
    settings = recorded(study, SETTINGS, {})
    if "metrics" not in settings:
        return None
    return Aim.of(dict(settings["metrics"]), settings["objective"])


def outcomes_of_trial(trial: FrozenTrial, aim: Aim | None) -> dict[int, Outcome]:
    """Return the outcomes that a trial holds, by block."""
    reasons = recorded_by_block(trial, FAILED)
    if aim is None:
        told = values_of(trial)
        outcomes = {b: Outcome("ok", value) for b, value in told.items() if not math.isnan(value)}
        failed = [block for block in told if block not in outcomes]
    else:
        outcomes = {}
        for block, value in recorded_by_block(trial, VALUES).items():
            checked(trial, f"{VALUES}{block}", value, is_sound=value.keys() >= aim.metrics.keys())
            outcomes[block] = Outcome("ok", value[aim.names[0]], metrics=value)
        failed = [*reasons]
    for block in failed:
        name = f"{FAILED}{block}"
        status, message = checked(trial, name, reasons.get(block))
        outcomes[block] = Outcome(status, None, message=message)
    return outcomes


def metrics_of(study: Study, aim: Aim) -> tuple[Metrics, dict[int, str]]:
    """Return the metrics of a study's feasible trials, and the states of trials with values."""
    states = (TrialState.COMPLETE, TrialState.PRUNED)
    known, state = Table(maximize=aim.maximize), {}
    for trial in study.get_trials(deepcopy=False, states=states):
        outcomes = outcomes_of_trial(trial, aim)
        if is_feasible(trial) and any(outcome.value is not None for outcome in outcomes.values()):
            state[trial.number] = trial.state.name
            for block, outcome in outcomes.items():
                known.add(block, [trial.number], [outcome])
    if not state:
        raise ScoresError(
            f"no trial of study {study.study_name!r} that satisfies its constraints has values on "
            "an instance"
        )
    return Metrics(aim, known, max(state) + 1, None), state


def sought(found: Metrics) -> BestPosterior:
    """Return the posterior of being the answer, or of being on the front."""
    if found.aim.goal is not None:
        return found.posterior(found.aim.goal)
    costs = found.costs(found.aim.deciding)[0]
    return best_posterior(costs).among(found.eligible, found.n_candidates)
