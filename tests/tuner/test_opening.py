"""Budgets that are too small for races in series."""

from __future__ import annotations

import numpy as np
import pytest

import racer
from racer import Budget, BudgetError, Outcome, Tuner
from racer.tuner import CandidatesAdded
from racer.tuner.opening import to_explore


def played(tuning, evaluate=None, space=None, instances=None, **settings):
    tuner = Tuner.of(space or tuning.reals(), instances, **{"budget": 100, "seed": 1, **settings})
    steps = tuning.play(tuner, evaluate or tuning.noisy)
    return tuner.result(), steps


@pytest.mark.parametrize(
    ("budget", "elites"), [(10, None), (37, 1), (90, 2), (100, 7), (599, None)]
)
def test_it_spends_the_budget_exactly(tuning, budget, elites):
    result, _ = played(tuning, budget=budget, search=racer.Search(elites=elites))
    assert result.evaluations == len(result.scores) == budget
    assert result.best is not None
    assert elites in (None, len(result.elites))
    kinds = [race.kind for race in result.completed_races]
    assert kinds == ["selection"] * (elites != 1)  # one has nobody to be selected from
    assert all(result.known.of(candidate) for candidate in range(len(result.configs)))


def test_it_finds_better_ones_the_more_it_may_spend(tuning):
    def mean(budget):
        found = [played(tuning, budget=budget, seed=seed)[0].best for seed in range(3)]
        return np.mean([tuning.height(config) for config in found])

    assert mean(300) < 0.5 * mean(30)


def test_it_begins_with_a_design_from_the_whole_space_on_one_block(tuning):
    """15 % of the evaluations, of which `initial` is a part."""
    initial = tuning.reals().sample(3, seed=7)
    result, steps = played(tuning, budget=200, initial=initial)
    assert {cell.block for cell in steps[0]} == {0}
    assert {cell.candidate for cell in steps[0]} == set(range(30))
    assert [origin.initial for origin in result.origins[:4]] == [True] * 3 + [False]
    assert all(origin.parent is None for origin in result.origins[:30])
    assert any(origin.parent is not None for origin in result.origins[30:36])


def test_every_initial_candidate_is_evaluated(tuning):
    initial = tuning.reals().sample(100, seed=7)
    with pytest.raises(BudgetError, match="at least 108 are needed"):
        played(tuning, budget=107, initial=initial)
    result, _ = played(tuning, budget=108, initial=initial)
    assert result.evaluations == 108
    assert all(result.mean(candidate) is not None for candidate in range(100))


def test_the_best_is_evaluated_on_as_many_blocks_as_a_test_takes(tuning):
    def evaluate(cell):
        return 5.0 * (cell.candidate > 0) + tuning.noisy(cell)

    initial = [{"x0": 0.0, "x1": 0.0}]
    result, _ = played(
        tuning, evaluate, budget=40, first_test=9, search=racer.Search(elites=1), initial=initial
    )
    assert result.best_index == 0
    assert len(result.known.of(0)) >= 9
    assert result.elites == (0,)


@pytest.mark.parametrize(("d", "budget"), [(2, 100), (20, 700)], ids=["few", "many parameters"])
def test_a_rejected_candidate_is_no_elite_and_told_as_eliminated(tuning, d, budget):
    def evaluate(cell):
        bad = cell.config["x0"] < 0
        return Outcome("rejected", None, message="no") if bad else tuning.noisy(cell)

    result, _ = played(tuning, evaluate, space=tuning.reals(d), budget=budget)
    rejected = set(result.eliminations["candidate"][result.eliminations["reason"] == "rejected"])
    assert rejected == {c for c, config in enumerate(result.configs) if config["x0"] < 0} != set()
    assert result.eliminations["candidate"].is_unique
    assert all(result.config(elite)["x0"] >= 0 for elite in result.elites)
    assert all(len(result.known.of(candidate)) == 1 for candidate in rejected)


def test_where_nothing_succeeds_it_is_given_up_and_said_why(tuning):
    with pytest.warns(racer.RacerWarning, match="block 0 is set aside: all 118 evaluations failed"):
        result, _ = played(tuning, lambda cell: None, budget=590)
    assert (result.best, result.ended) == (None, racer.Ended.ALL_FAILED)
    assert result.evaluations == 88 + 5 * 6


def test_a_space_that_is_drawn_in_full_is_raced(tuning):
    space = tuning.countable(4, 5)
    result, _ = played(tuning, space=space, budget=400)
    assert len(result.configs) == 20
    assert [race.kind for race in result.completed_races] == ["race", "selection"]
    assert result.completed_races[0].candidates == 20
    assert result.evaluations == 400


def test_seconds_beside_evaluations_end_it(tuning):
    tuner = Tuner(tuning.reals(), budget=Budget(evaluations=200, seconds=60.0), seed=1)
    tuning.play(tuner, seconds=lambda cell: 1.0)
    result = tuner.result()
    assert result.evaluations == 60
    assert result.best is not None
    tuner = Tuner(tuning.reals(), budget=Budget(evaluations=200, seconds=60.0), seed=1)
    assert len(tuner.ask()) == 1  # which shows what the others cost


@pytest.mark.parametrize("is_noisy", [True, False])
def test_instances_used_again_count_only_if_they_bring_anything_new(tuning, is_noisy):
    def evaluate(cell):
        return tuning.height(cell.config) + cell.instance + is_noisy * tuning.noise(cell)

    result, _ = played(tuning, evaluate, instances=[0, 1, 2], budget=200)
    known = [result.known.of(candidate) for candidate in range(len(result.configs))]
    again = sum(block >= 3 for told in known for block in told)
    assert (again > 20) is is_noisy
    assert result.shared_blocks <= 3 or is_noisy


def test_a_larger_budget_goes_on_by_races(tuning):
    seen = []
    first, _ = played(tuning, budget=60)
    both, _ = played(tuning, budget=[60, 400], callbacks=[seen.append])
    assert both.evaluations == 400
    assert both.configs[: len(first.configs)] == first.configs
    kinds = [race.kind for race in both.completed_races]
    assert kinds[:2] == ["selection", "race"]
    batches = [event for event in seen if isinstance(event, CandidatesAdded)]
    assert sum(len(event.configs) for event in batches) == len(both.configs)


def test_before_races_parameters_beyond_ten_are_explored():
    assert to_explore(10, 5000) == to_explore(14, 5000) == 0
    assert to_explore(20, 5000) == 2 * to_explore(15, 5000) > 0
    assert to_explore(500, 1000) == 700


def test_races_follow_the_exploration_of_many_parameters(tuning):
    part = to_explore(20, 700)
    result, steps = played(tuning, space=tuning.reals(20), budget=700)
    assert {cell.candidate for cell in steps[0]} == set(range(round(0.15 * part)))
    assert {cell.block for cell in steps[0]} == {0}
    assert {race.kind for race in result.completed_races[:-1]} == {"race"}
    first = result.completed_races[0]
    explored = [c for c, origin in enumerate(result.origins) if origin.race == 0]
    assert first.candidates < len(explored)
    assert sum(len(result.known.of(c)) for c in explored) >= part
    assert result.evaluations == 700
    assert result.best is not None


@pytest.mark.parametrize("settings", [{"instances": [1, 2, 3], "deterministic": True}, {"d": 10}])
def test_few_parameters_and_exact_costs_begin_with_a_race(tuning, settings):
    space = tuning.reals(settings.pop("d", 20))
    result, _ = played(tuning, tuning.noisy, space=space, budget=700, **settings)
    assert result.completed_races[0].candidates == sum(o.race == 0 for o in result.origins)
