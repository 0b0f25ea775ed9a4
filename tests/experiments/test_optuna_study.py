"""The measurements of the Optuna plugin, and its example."""

import numpy as np
import pytest
from typed import typed

from experiments.optuna_study import pruning, tables
from experiments.optuna_study.pruning import Challenge, pruned
from experiments.optuna_study.search import STRATEGIES, Problem, found_by


def test_a_clearly_worse_challenger_goes_whatever_the_difficulty():
    for pruner in ("anytime", "f-race"):
        for seed in range(4):
            went = [
                pruned(0, Challenge(pruner, 0.05, 30, 4.0, difficulty), seed)
                for difficulty in (0.0, 30.0)
            ]
            assert went[0] == went[1]
            assert 5 <= went[0]["instances"] < 30
            assert (went[0]["within_10"], went[0]["within_50"]) == (
                100.0 * (went[0]["instances"] <= 10),
                100.0,
            )


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_each_strategy_spends_its_budget_and_no_more(strategy):
    found = found_by(strategy, 120, 3)
    assert 90 < found["used"] <= 120
    assert found["regret"] >= 0.0
    assert np.isfinite(found["by_evidence"]) == strategy.startswith("race_study")


def test_the_regret_is_that_of_the_mean_over_the_instances():
    problem = Problem(5, 20)
    best = (problem.centre + problem.shifts.mean(axis=0)).tolist()
    assert problem.regret(best) == pytest.approx(0.0, abs=1e-12)
    config = [0.1, 0.2, 0.3, 0.4]

    def noise_free(config):
        return np.mean([10.0 * ((config - problem.centre - s) ** 2).sum() for s in problem.shifts])

    assert problem.regret(config) == pytest.approx(noise_free(config) - noise_free(best))


def test_the_tables_are_printed(monkeypatch):
    few = {name: pruning.DEFAULTS[name] for name in ("WilcoxonPruner", "anytime")}
    monkeypatch.setattr(pruning, "DEFAULTS", few)
    for name, size in {"ENDS": (6, 8), "MOST": 8}.items():
        monkeypatch.setattr(pruning, name, size)
    settings = ["--repetitions", "8", "--seeds", "2", "--budgets", "40", "--jobs", "1"]
    run = typed(*settings, command=tables.main, exits=0)
    assert run.stdout.count("| WilcoxonPruner (0.1) ") == 1
    assert run.stdout.count("| TPE, WilcoxonPruner ") == 1
    for part in tables.PARTS:
        assert f"{part}\n\n| " in run.stdout
