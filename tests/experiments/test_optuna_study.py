"""The measurements of the Optuna plugin, and its example."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner

import racer
from experiments.optuna_study import tables
from experiments.optuna_study.pruning import (
    DEFAULTS,
    LADDERS,
    Setting,
    milliseconds,
    prunings,
    running,
)
from experiments.optuna_study.search import STRATEGIES, Problem, find
from racer.deciders import DECIDERS
from racer.integrations.optuna import RacingPruner


def test_a_clearly_worse_challenger_goes_whatever_the_difficulty():
    for pruner in ("anytime", "f-race"):
        went = [
            prunings(pruner, 0.05, Setting(30, 4.0, difficulty), 4, 1, 0)
            for difficulty in (0.0, 30.0)
        ]
        assert np.isfinite(went[0]).all()
        assert went[0].tolist() == went[1].tolist()
        assert (went[0] >= 5).all()


def test_trials_that_run_at_once_are_rarely_pruned_if_equal():
    assert running("anytime", 3, 12, 4, 1, 0).max() <= 1.0 / 3.0


def test_the_time_of_each_report_is_measured():
    times = milliseconds("anytime", 5, 6, 0)
    assert times.shape == (12,)
    assert (times >= 0.0).all()


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_each_strategy_spends_its_budget_and_no_more(strategy):
    (found,) = find(strategy, 120, 10, 1, 1, 3)
    assert 90 < found.evaluations <= 120
    assert found.regret >= 0.0
    assert np.isfinite(found.by_evidence) == strategy.startswith("race_study")


def test_the_regret_is_that_of_the_mean_over_the_instances():
    problem = Problem(5, 20)
    best = (problem.centre + problem.shifts.mean(axis=0)).tolist()
    assert problem.regret(best) == pytest.approx(0.0, abs=1e-12)
    config = [0.1, 0.2, 0.3, 0.4]

    def noise_free(config):
        return np.mean([10.0 * ((config - problem.centre - s) ** 2).sum() for s in problem.shifts])

    assert problem.regret(config) == pytest.approx(noise_free(config) - noise_free(best))


@pytest.mark.thorough
def test_the_tables_are_printed(monkeypatch):
    few = {name: LADDERS[name] for name in ("WilcoxonPruner", "anytime")}
    monkeypatch.setattr(tables, "LADDERS", few)
    monkeypatch.setattr(tables, "STRATEGIES", dict(list(STRATEGIES.items())[:4]))
    sizes = {"LEVELS": (0.05,), "ENDS": (6, 8), "MOST": 8, "EARLIER": 6, "TIMED": (6, 8)}
    for name, size in sizes.items():
        monkeypatch.setattr(tables, name, size)
    settings = ["--repetitions", "8", "--seeds", "2", "--budgets", "100", "--jobs", "1"]
    run = CliRunner().invoke(tables.main, settings)
    assert run.exit_code == 0, run.output
    for part in tables.PARTS:
        assert f"{part}\n\n| " in run.output


def test_every_decider_that_can_prune_stands_in_the_tables():
    def prunes(name):
        try:
            RacingPruner(name)
        except racer.SettingError:  # halving plans with a budget
            return False
        return True

    published = {"bayesian-friedman-2015", "fixed-confidence"}  # for a paper, and for whole races
    assert {name for name in DECIDERS if prunes(name)} - published <= set(LADDERS)
    assert DEFAULTS.keys() == LADDERS.keys()


def test_learning_curves_are_told_from_instances():
    from experiments.optuna_study.curves import PRUNERS, curves, on_instances, one

    rng, make = np.random.default_rng(1), PRUNERS["RacingPruner"]
    assert one(make, curves(rng, 6, 12, 0.0)) == (False, 72, True)
    pruned, rounds, has_warned = one(make, on_instances(rng, 8, 30, 3.0))
    assert (pruned, has_warned) == (False, False)
    assert rounds < 8 * 30
