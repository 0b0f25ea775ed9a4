"""SMAC3 on a problem of the suite, by ask and tell; needs `pip install smac==2.4.1`.

The facade for algorithm configuration, without features of instances. Its defaults, but for a
cheaper search of the acquisition function and a history that is not written after each trial.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import joblib

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

    space = problem.space.to_configspace()
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


def _plain(config: Any) -> dict[str, Any]:
    """Return the values of a configuration of SMAC3 as Python has them."""
    return {k: v.item() if hasattr(v, "item") else v for k, v in dict(config).items()}
