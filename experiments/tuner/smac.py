"""SMAC3 on a problem of the suite, by ask and tell; needs `pip install smac==2.4.1`.

The facade for algorithm configuration, without features of instances. Its defaults, but for a
cheaper search of the acquisition function and a history that is not written after each trial.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import joblib

from racer.space.expressions import In
from racer.space.numeric import Integer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from experiments.tuner.problem import Problem

__all__ = ["tuned"]

CHALLENGERS, LOCAL_STEPS = 1_000, 3
QUIET = 50  # level of logging


def tuned(problem: Problem, budget: int, seed: int) -> Mapping[str, Any]:
    """Return the incumbent of SMAC3 after a budget of evaluations."""
    import smac  # type: ignore[import-not-found]  # noqa: PLC0415  (not an extra)
    from smac import acquisition  # noqa: PLC0415
    from smac.runhistory import StatusType, TrialValue  # type: ignore[import-not-found]  # noqa: PLC0415

    space = _space_of(problem)
    search = acquisition.maximizer.LocalAndSortedRandomSearch(
        space, challengers=CHALLENGERS, local_search_iterations=LOCAL_STEPS, seed=seed
    )
    with tempfile.TemporaryDirectory() as folder, joblib.parallel_config(backend="sequential"):
        scenario = smac.Scenario(
            space,
            output_directory=Path(folder),
            deterministic=problem.deterministic,
            n_trials=budget,
            instances=[str(number) for number in range(problem.tuning)],
            seed=seed,
        )
        tuner = smac.AlgorithmConfigurationFacade(
            scenario, acquisition_maximizer=search, overwrite=True, logging_level=QUIET
        )
        for _ in range(budget):
            trial = tuner.ask()
            try:
                cost = problem(_plain(trial.config), int(trial.instance), trial.seed or 0)
            except ArithmeticError:
                value = TrialValue(cost=float("inf"), status=StatusType.CRASHED)
            else:
                value = TrialValue(cost=cost)
            tuner.tell(trial, value, save=False)
        incumbents = tuner.intensifier.get_incumbents(sort_by="num_trials")
    return _plain(incumbents[0])


def _space_of(problem: Problem) -> Any:
    """Return the space of a problem for ConfigSpace: a condition lists values of one parameter."""
    import ConfigSpace as theirs  # noqa: N813, PLC0415  (smac brings it)

    found = theirs.ConfigurationSpace()
    for name, parameter in problem.space.parameters.items():
        settings: dict[str, Any] = parameter.to_json()
        settings = {k: v for k, v in settings.items() if k not in ("step", "digits")}
        middle: Any = problem.space.domain(name, {}) or parameter.domain({})
        default = (problem.space.default or {}).get(name, middle.decode(0.5))
        if "low" not in settings:
            (values,) = settings.values()
            make: Any = theirs.OrdinalHyperparameter
            if parameter.scale == "nominal":
                make = theirs.CategoricalHyperparameter
            found.add(make(name, values, default_value=default))
            continue
        make = theirs.Integer if isinstance(parameter, Integer) else theirs.Float
        ends = (settings["low"], settings["high"])
        found.add(make(name, ends, log=settings["log"], default=default))
    for name, condition in problem.space.conditions.items():
        if not isinstance(condition, In):
            raise TypeError(f"{name}: a condition that lists no values, {condition}")
        parent = found[str(condition.term)]
        found.add(theirs.InCondition(found[name], parent, list(condition.among)))
    return found


def _plain(config: Any) -> dict[str, Any]:
    """Return the values of a configuration of SMAC3 as Python has them."""
    return {k: v.item() if hasattr(v, "item") else v for k, v in dict(config).items()}
