"""The package loads, prunes what is worse, and ends it with its mean."""

from __future__ import annotations

import importlib.util
from pathlib import Path
import sys
from types import ModuleType

import numpy as np
import optuna
import pytest


def load() -> ModuleType:
    """Load the package as optunahub does, from where it stands."""
    path = Path(__file__).resolve().parents[1] / "__init__.py"
    spec = importlib.util.spec_from_file_location("racing_package", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


racing = load()


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_worse_trials_are_pruned_with_their_mean(direction: str) -> None:
    sign = 1.0 if direction == "minimize" else -1.0

    def objective(trial: optuna.Trial) -> float:
        worse = trial.suggest_float("worse", 0.0, 9.0)
        noise = np.random.default_rng(trial.number)
        values = []
        for i in range(30):
            values.append(sign * (worse + i + noise.normal()))
            trial.report(values[-1], step=i)
            if trial.should_prune():
                racing.finish(trial)
        return float(np.mean(values))

    pruner = racing.RacingPruner(instances=30)
    study = optuna.create_study(direction=direction, pruner=pruner)
    for worse in (0.0, 5.0, 0.0):
        study.enqueue_trial({"worse": worse})
    study.optimize(objective, n_trials=3)
    assert [t.state.name for t in study.trials] == ["COMPLETE", "PRUNED", "COMPLETE"]
    pruned = study.trials[1]
    seen = pruned.last_step
    assert 5 <= seen < 20
    values = [pruned.intermediate_values[i] for i in range(seen)]
    assert pruned.value == pytest.approx(np.mean(values))
    assert racing.best_trials_by_evidence(study).best in (0, 2)


def test_a_study_is_raced() -> None:
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    evidence = racing.race_study(
        study,
        lambda config, instance, seed: config["x"] ** 2 + instance,
        range(10),
        suggest={"x": optuna.distributions.FloatDistribution(-5.0, 5.0)},
        budget=200,
        seed=0,
    )
    assert evidence.best == study.best_trial.number
    assert "PRUNED" in {trial.state.name for trial in study.trials}
