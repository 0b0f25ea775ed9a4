"""Whole runs: what is spent, who is kept, what comes out, whatever the objective does."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from playing import ONE_NUMBER, short

from racer import (
    BlockCompleted,
    Budget,
    BudgetError,
    CandidateError,
    Categorical,
    Ended,
    Instances,
    Integer,
    Outcome,
    Param,
    RaceEnded,
    RacerWarning,
    Real,
    Search,
    Space,
    Tuner,
    tune,
)
from racer.deciders import BayesianBest, BayesianFriedman
from racer.tuner import CandidatesAdded, RaceCompleted
from racer.tuner import tuning as tuning_module
from racer.tuner.schedule import Schedule

KEEN = BayesianFriedman(pair_strength=0.0)  # races that end early leave more to new candidates
LAWS = settings(max_examples=20, deadline=None, derandomize=True)
SET_ASIDE = pytest.mark.filterwarnings("ignore:block .* is set aside:racer.RacerWarning")


def run(tuning, space=None, instances=None, evaluate=None, **settings_):
    tuner = Tuner.of(space or tuning.reals(), instances, **{"budget": 300, "seed": 1, **settings_})
    steps = tuning.play(tuner, evaluate or tuning.noisy)
    return tuner.result(), steps


def assert_sound(result, space, instances, *, deterministic, budget):
    """Check what holds of every run that has ended."""
    assert result.ended is not Ended.INTERRUPTED
    assert len({space.key(config) for config in result.configs}) == len(result.configs)
    for config in result.configs:
        assert space.check(config) == config
    assert result.best_index is None or result.best_index == result.leaders[0]
    assert result.leader is None or result.leader == result.elites[0]
    assert len(set(result.elites)) == len(result.elites)
    scores = result.scores
    assert len(scores) == result.evaluations <= budget
    assert not scores.duplicated(["block", "candidate"]).any()
    assert (scores.groupby("block")["seed"].nunique() <= 1).all()
    if deterministic:
        assert not scores.duplicated(["instance", "candidate"]).any()
    if len(result.configs) > 1 and result.elites and not deterministic:
        assert result.evaluations == budget
    if deterministic and result.elites and len(result.configs) > 1:
        known = [scores["candidate"].eq(candidate).sum() for candidate in result.elites]
        assert result.evaluations == budget or known == [len(instances)] * len(known)
    assert sum(result.probability_best.values()) == pytest.approx(1)
    assert set(result.indistinguishable) <= {*result.elites, result.best_index}
    assert len(result.configurations) == len(result.configs)
    assert len(result.races) == len(result.completed_races)


@SET_ASIDE
@LAWS
@given(
    space=st.sampled_from(["reals", "mixed", "three", "four", "one"]),
    objective=st.sampled_from(
        [
            *("noisy", "constant", "all fail", "half fail", "every other candidate fails"),
            *("all fail at first", "huge", "wild", "tiny"),
        ]
    ),
    instances=st.sampled_from([None, 1, 3, 8, 40]),
    deterministic=st.booleans(),
    decider=st.sampled_from(ONE_NUMBER),
    search=st.sampled_from([None, None, Search(1), Search(4), Search(7)]),
    first_test=st.sampled_from([1, 2, 5, 7]),
    each_test=st.sampled_from([1, 3]),
    n_initial=st.sampled_from([0, 0, 1, 15]),
    more=st.sampled_from([0, 1, 50, 200]),
    seed=st.integers(0, 10**6),
    maximize=st.booleans(),
)
def test_every_run_spends_its_budget_and_not_more(
    tuning, space, objective, instances, deterministic, more, n_initial, seed, **settings_
):
    space = tuning.SPACES[space]()
    given_ = {
        "instances": None if instances is None else [f"i{k}" for k in range(instances)],
        "deterministic": deterministic and instances is not None,
        "initial": space.sample(n_initial, seed=seed),
        "seed": seed,
        **settings_,
    }
    least = 1
    try:
        Tuner.of(space, budget=1, **given_)
    except BudgetError as error:  # the least that it names works
        least = int(re.search(r"at least (\d+) are needed", str(error)).group(1))
    tuner = Tuner.of(space, budget=least + more, **given_)
    tuning.play(tuner, tuning.OBJECTIVES[objective])
    result = tuner.result()
    assert_sound(
        result,
        space,
        given_["instances"],
        deterministic=given_["deterministic"],
        budget=least + more,
    )
    if least > 1:
        assert result.evaluations > 0 or space.size == 1
        with pytest.raises(BudgetError, match="raise the budget, or lower first_test"):
            Tuner.of(space, budget=least - 1, **given_)
    reasons = {"constant": Ended.ALL_EQUAL, "all fail": Ended.ALL_FAILED}
    if objective in reasons and space.size > 1:
        assert (result.best, result.ended) == (None, reasons[objective])


def test_what_does_not_pay_for_a_block_of_a_race_ends_the_races(tuning, in_series):
    """Seven elites and a new candidate: the first block costs more than is left."""
    settings_ = {"deterministic": True, "search": Search(elites=7), "first_test": 1, "each_test": 3}
    tuner = Tuner.of(
        *(tuning.mixed(), ["i0", "i1", "i2"]),
        **{"budget": 25, "seed": 220696, "decider": "anytime", "maximize": True, **settings_},
    )
    tuning.play(tuner, tuning.OBJECTIVES["wild"])
    result = tuner.result()
    assert (result.ended, result.evaluations) == (Ended.BUDGET, 25)
    assert len(result.configs) < 30


@pytest.mark.parametrize("decider", ONE_NUMBER, ids=short)
def test_every_decider_finds_a_good_configuration(tuning, decider):
    result, _ = run(tuning, budget=500, decider=decider, seed=3)
    best = tuning.height(result.best)  # at most 5; of random ones, 1.7 on average
    assert best < 0.35
    assert result.evaluations == 500
    assert result.ended is Ended.BUDGET


def test_a_race_begins_with_a_new_block_and_elites_keep_what_is_known(tuning):
    seen = []
    _, steps = run(tuning, instances=list(range(7)), budget=600, callbacks=[seen.append])
    held = [event for event in seen if isinstance(event, RaceCompleted)]
    assert len([race for race in held if race.kind == "race"]) >= 4
    begun = [event for event in seen if isinstance(event, CandidatesAdded)]
    elites, highest = (), -1
    for race, added in zip(held, begun, strict=False):
        if race.kind != "race":
            break
        first = next(cells for cells in steps if max(c.candidate for c in cells) >= added.first)
        assert {cell.block for cell in first} == {highest + 1}
        assert {cell.candidate for cell in first} == {
            *elites,
            *range(added.first, added.first + len(added.configs)),
        }
        done = steps.index(first)
        blocks = [cells[0].block for cells in steps[: done + race.blocks]]
        highest, elites = max([highest, *blocks]), race.elites
    # elites are asked only for what is not known: no cell comes twice (as play() checks)
    asked = [(cell.block, cell.candidate) for cells in steps for cell in cells]
    assert len(asked) == len(set(asked)) == 600


def test_challengers_see_what_the_elites_have_seen_before_an_elite_goes(tuning):
    def look(event):
        if isinstance(event, RaceCompleted):
            elites[:] = event.elites
        if isinstance(event, BlockCompleted):
            known = tuner.result().known
            for gone in {e.candidate for e in event.eliminated} & {*elites}:
                dropped.append(gone)
                for other in event.alive:
                    assert known.of(gone).keys() <= known.of(other).keys()

    elites, dropped = [], []
    tuner = Tuner(tuning.reals(), budget=800, seed=5, callbacks=[look])
    tuning.play(tuner, lambda cell: 10 * tuning.height(cell.config) + 0.1 * tuning.noise(cell))
    assert len(dropped) > 2


@SET_ASIDE
@pytest.mark.parametrize(
    ("fails", "settings"),
    [(lambda block: block % 3 == 0, {}), (lambda block: block < 7, {"first_test": 7})],
    ids=["now and then", "at first"],
)
def test_elites_and_races_survive_blocks_in_which_everything_fails(tuning, fails, settings):
    def evaluate(cell):
        return None if fails(cell.block) else tuning.noisy(cell)

    result, _ = run(tuning, evaluate=evaluate, budget=800, **settings)
    assert tuning.height(result.best) < 0.5
    assert (result.ended, result.evaluations) == (Ended.BUDGET, 800)


@SET_ASIDE
def test_a_run_in_which_nothing_succeeds_is_given_up_after_two_races(tuning):
    result, _ = run(tuning, evaluate=lambda _: None, budget=2000)
    assert (result.best, result.ended) == (None, Ended.ALL_FAILED)
    assert len(result.completed_races) == 2
    assert result.evaluations < 600
    assert len(result.failures) == result.evaluations


def test_a_race_in_which_nobody_goes_ends_early(tuning):
    result, _ = run(tuning, evaluate=tuning.noise, budget=900, decider="f-race-sign")
    assert "no-elimination" in [race.ended for race in result.completed_races]


def test_what_is_left_goes_to_a_race_among_the_elites(tuning):
    """Where nothing is random, and races leave nothing that a model could order better."""
    result, _ = run(tuning, instances=list(range(40)), deterministic=True, budget=700)
    *before, last = result.completed_races
    assert [race.kind for race in before] == ["race"] * len(before)
    assert last.kind == "selection"
    assert last.candidates == len(before[-1].elites)
    assert set(result.elites) == set(before[-1].elites)
    assert result.shared_blocks >= 5


def test_with_noise_the_rest_goes_to_those_that_the_model_expects_to_be_the_best(tuning):
    """Also to candidates that a race has eliminated; all of them are known about as well."""
    came_back = 0
    for seed in range(4):
        result, steps = run(tuning, budget=700, seed=seed)
        *_, last, finish = result.completed_races
        assert (last.kind, finish.kind) == ("race", "selection")
        assert last.evaluations < 700 == finish.evaluations == result.evaluations
        assert finish.candidates == finish.alive == len(last.elites)
        assert finish.elites == result.elites
        came_back += len(set(result.elites) - set(last.elites))
        rest = [cell for step in steps for cell in step][last.evaluations :]
        assert {cell.candidate for cell in rest} <= set(finish.elites)
    assert came_back > 0


@pytest.mark.parametrize("decider", [BayesianBest(), "f-race"], ids=short)
def test_no_race_uses_more_than_its_part(tuning, decider):
    result, _ = run(tuning, evaluate=tuning.noise, budget=900, decider=decider)
    schedule = Schedule.of(2, 900, elites=None, first_test=5, length=None)
    used = 0
    for number, race in enumerate(race for race in result.completed_races if race.kind == "race"):
        left = 900 - used
        assert race.evaluations - used <= max(schedule.part(number, left), schedule.least(number))
        used = race.evaluations
    assert number >= 3


def test_the_first_race_is_larger_where_parameters_are_conditional(tuning, monkeypatch):
    space = Space(
        {"k": Categorical(["a", "b"]), "x": Real(0.0, 1.0), "y": Real(0.0, 1.0)},
        conditions={"x": {"k": "a"}, "y": {"k": "b"}},
    )

    def evaluate(cell):
        return cell.seed % 1000 / 1000

    first = []
    for _ in range(2):
        tuner = Tuner(space, budget=900, seed=1, decider="f-race")
        tuning.play(tuner, evaluate)
        first.append(tuner.result().completed_races[0].candidates)
        monkeypatch.setattr(Schedule, "first_part", lambda plan, left: plan.part(0, left))
    assert first[0] == pytest.approx(5 / 3 * first[1], abs=1)


@pytest.mark.parametrize("seed", range(15))
def test_where_all_is_known_no_elite_is_better_than_the_best_on_every_instance(seed):
    space = Space(
        {"x": Real(-5, 5), "y": Real(-5, 5), "k": Categorical(["a", "b"]), "n": Integer(1, 9)},
        conditions={"n": {"k": "b"}},
    )

    def cost(config, instance, seed):  # instances that favour different configurations
        of_kind = 0.1 * config["n"] if config["k"] == "b" else 1.0
        apart = instance * (1.0 + 0.3 * math.sin(3 * config["x"]))
        return (config["x"] - 1) ** 2 + config["y"] ** 2 + of_kind + apart

    instances = [1.0, 10.0, 100.0]
    result = tune(space, cost, Instances(instances, deterministic=True), budget=300, seed=seed)
    costs = {c: [cost(result.config(c), i, 0) for i in instances] for c in result.elites}
    best = costs[result.best_index]
    assert not any(all(a < b for a, b in zip(other, best, strict=True)) for other in costs.values())


def test_given_instances_come_in_order_and_shuffled_ones_do_not(tuning):
    instances = [f"i{k}" for k in range(40)]
    orders = []
    for order in ("given", "shuffled"):
        result, _ = run(tuning, instances=instances, instance_order=order)
        by_block = result.scores.drop_duplicates("block").set_index("block")["instance"]
        orders.append(by_block.sort_index().tolist())
    assert orders[0] == [block % 40 for block in range(len(orders[0]))]
    assert orders[1][:9] != orders[0][:9]


def test_maximising_mirrors_minimising(tuning):
    low, _ = run(tuning, budget=300)
    high, _ = run(tuning, budget=300, maximize=True, evaluate=lambda cell: -tuning.noisy(cell))
    assert (low.best, low.elites, low.configs) == (high.best, high.elites, high.configs)
    assert low.probability_best == high.probability_best
    assert low.mean(low.elites[0]) == -high.mean(high.elites[0])


def test_initial_candidates_are_in_the_first_race(tuning):
    space = tuning.mixed()
    initial = [{"kind": "b", "n": 5, "level": 2}, {"level": 1, "kind": "c"}]
    result, _ = run(tuning, space, initial=initial)
    assert result.configs[:2] == ({"kind": "b", "n": 5, "level": 2}, {"kind": "c", "level": 1})
    assert [origin.initial for origin in result.origins[:3]] == [True, True, False]
    assert result.origins[0].race == 0
    assert result.mean(0) is not None


def test_only_initial_candidates_when_they_use_the_first_race_up(tuning, in_series):
    initial = tuning.reals().sample(30, seed=9)
    result, steps = run(tuning, initial=initial, budget=200)
    assert len(steps[0]) == 30
    assert sum(origin.race == 0 for origin in result.origins) == 30
    assert result.evaluations == 200


def test_a_good_initial_candidate_is_found_again(tuning):
    result, _ = run(tuning, tuning.reals(5), initial=[{f"x{i}": 0.0 for i in range(5)}], budget=400)
    candidate = result.best_index
    while (parent := result.origins[candidate].parent) is not None:
        candidate = parent
    assert candidate == 0


def test_a_small_space_is_drawn_once_and_raced_to_the_end(tuning):
    result, _ = run(
        tuning,
        tuning.countable(3),
        evaluate=lambda cell: cell.config["k0"] + tuning.noise(cell),
        budget=1000,
    )
    assert len(result.configs) == 3
    assert result.best == {"k0": 0}
    assert result.evaluations == 1000
    assert (
        result.shared_blocks > 200
    )  # much is left when all three have been raced: all elites get of it


def test_one_configuration_needs_no_evaluation_but_tests(tuning):
    result, steps = run(tuning, tuning.countable(1))
    assert (result.best, result.ended) == ({"k0": 0}, Ended.ONE_CANDIDATE)
    assert (steps, result.evaluations, result.elites) == ([], 0, (0,))
    result, _ = run(tuning, tuning.countable(1), test_instances=["u", "v"])
    assert (result.tests.shape, result.evaluations) == ((2, 1), 0)


RARE = {"a": Integer(0, 1000), "b": Integer(0, 1000), "c": Real(0, 1)}


@pytest.mark.parametrize("initial", [(), ({"a": 1, "b": 2, "c": 0.9},)])
def test_a_space_in_which_hardly_anything_is_allowed_is_tuned(tuning, initial, in_series):
    space = Space(RARE, forbidden=[Param("a") > 2, Param("b") > 2])
    tuner = Tuner(space, budget=400, seed=5, initial=initial, decider=KEEN)
    tuning.play(tuner, lambda cell: cell.config["a"] + cell.config["b"] + cell.config["c"])
    result = tuner.result()
    assert (result.evaluations, result.ended) == (400, Ended.BUDGET)
    assert len(result.configs) > 40
    assert (result.best["a"], result.best["b"]) == (0, 0)
    assert result.best["c"] < 0.2


def test_where_only_one_is_found_but_there_may_be_more_a_warning_says_so():
    space = Space(RARE, forbidden=[Param("a") + Param("b") + Param("c") != 0])
    tuner = Tuner(space, budget=200, seed=1)
    with pytest.warns(RacerWarning, match=r"only one configuration that is allowed was found: if"):
        tuner.ask()
    assert (tuner.ended, tuner.result().evaluations) == (Ended.ONE_CANDIDATE, 0)


def test_elites_are_tested_on_held_out_instances_beyond_the_budget(tuning, in_series):
    result, steps = run(tuning, instances=[0, 1, 2], test_instances=["u", "v"])
    assert result.evaluations == 300
    assert [cells[0].instance for cells in steps[-2:]] == ["u", "v"]
    assert len({cells[0].seed for cells in steps[-2:]}) == 2
    tested = list(dict.fromkeys([*result.elites, result.best_index]))
    assert [{cell.candidate for cell in cells} for cells in steps[-2:]] == [set(tested)] * 2
    assert result.tests.columns.tolist() == list(result.leaders)
    assert set(result.leaders) == set(tested)
    one = steps[-1][0]
    assert result.tests.loc[1, one.candidate] == tuning.noisy(one)
    assert "u" not in result.scores["instance"].tolist()
    plain, _ = run(tuning, instances=[0, 1, 2])
    assert (plain.best, plain.elites) == (result.best, result.elites)


def test_held_out_results_can_be_looked_at_while_they_come_and_failures_are_missing(tuning):
    tuner = Tuner.of(tuning.reals(), budget=100, seed=1, test_instances=["u"])
    while not (cells := tuner.ask())[0].held_out:
        for cell in cells:
            tuner.tell(cell, tuning.outcome_of(tuning.noisy(cell)))
    assert tuner.result().tests.shape[0] == 0
    tuner.tell(cells[0], Outcome("ok", 7.0))
    tests = tuner.result().tests
    assert tests.shape == (1, len(tuner.result().leaders))
    assert tests.notna().sum().sum() == 1
    for cell in cells[1:]:
        tuner.tell(cell, Outcome("failed"))
    assert tuner.result().tests.equals(tests)
    assert tuner.result().evaluations == 100


@pytest.mark.parametrize("seconds", [0.7, 8.0, 30.0])
def test_a_budget_of_seconds_is_nearly_used_up(tuning, seconds):
    tuner = Tuner(tuning.reals(), budget=Budget(seconds=seconds), seed=1)
    tuning.play(tuner, seconds=lambda cell: 0.02 + 0.01 * (cell.candidate % 3))
    result = tuner.result()
    assert result.ended is Ended.BUDGET
    # as played
    assert seconds - 0.1 <= result.seconds <= seconds + 0.05
    assert result.best is not None or seconds < 1


def test_evaluations_that_take_no_time_leave_the_seconds_alone(tuning):
    tuner = Tuner(tuning.reals(), budget=Budget(seconds=5, evaluations=200), seed=1)
    tuning.play(tuner, seconds=lambda cell: 0.0, most=200)
    assert tuner.result().evaluations == 200


@SET_ASIDE
@pytest.mark.parametrize("seconds", [0.05, 0.5, 2.0])
def test_a_budget_of_seconds_that_ends_while_everything_fails(tuning, seconds):
    tuner = Tuner(tuning.mixed(), [1, 2, 3], budget=Budget(seconds=seconds), seed=1)
    tuning.play(tuner, lambda cell: None, seconds=lambda cell: 0.01 * (1 + cell.block))
    result = tuner.result()
    assert (result.best, result.elites, result.ended) == (None, (), Ended.ALL_FAILED)


@pytest.mark.parametrize("seed", range(12))
def test_a_budget_of_seconds_that_does_not_reach_the_first_test(tuning, seed):
    tuner = Tuner.of(
        tuning.countable(2, 2),
        budget=Budget(seconds=0.1),
        first_test=7,
        search=Search(elites=3),
        seed=seed,
    )
    with pytest.warns(
        RacerWarning, match=r"before the first test of a race \(7 blocks\): no configuration can"
    ):
        tuning.play(tuner, seconds=lambda cell: 0.01 * min(abs(tuning.noise(cell)), 1))
    assert tuner.result().best is None
    # as played
    assert tuner.result().seconds <= 0.15
    assert tuner.ended is Ended.BUDGET


def test_many_initial_candidates_with_a_budget_of_seconds(tuning):
    initial = tuning.reals().sample(40, seed=3)
    tuner = Tuner(tuning.reals(), budget=Budget(seconds=10), initial=initial, seed=1)
    tuning.play(tuner)
    assert all(tuner.result().mean(candidate) is not None for candidate in range(40))


def test_the_least_budget_is_told_with_what_it_is_made_of(tuning):
    with pytest.raises(BudgetError) as caught:
        Tuner(tuning.reals(), budget=9)
    assert str(caught.value) == (
        "budget of 9 evaluations: at least 10 are needed with 0 initial candidates, the first test "
        "after 5 blocks; raise the budget, or lower first_test"
    )
    assert Tuner(tuning.reals(), budget=5000).least_budget == 10


def test_a_run_goes_on_from_its_end_with_a_larger_budget(tuning):
    first, _ = run(tuning, budget=200)
    both, _ = run(tuning, budget=[200, 500])
    assert both.evaluations == 500
    assert both.configs[: len(first.configs)] == first.configs
    assert both.completed_races[: len(first.completed_races)] == first.completed_races
    assert first.scores.merge(both.scores).shape[0] == 200
    assert len(both.completed_races) > len(first.completed_races) + 1


def test_a_repair_hook_that_leaves_the_space_is_told(tuning):
    space = Space({"x": Real(0, 1)}, repair=lambda config: {"x": config["x"] + 1})
    with pytest.raises(CandidateError, match=r"repair, given .* left the space"):
        Tuner(space, budget=200).ask()


def test_events_come_in_order_with_the_numbers_of_the_run(tuning):
    seen = []
    tuner = Tuner(tuning.reals(), budget=400, seed=2, callbacks=[seen.append])
    tuning.play(tuner)
    result = tuner.result()
    kinds = [type(event) for event in seen]
    assert kinds[0] is CandidatesAdded
    assert kinds[-1] is RaceEnded
    assert kinds.count(RaceEnded) == 1
    assert seen[-1].ended is result.ended
    assert tuple(e for e in seen if isinstance(e, RaceCompleted)) == result.completed_races
    blocks = [event for event in seen if isinstance(event, BlockCompleted)]
    assert [event.block for event in blocks] == list(range(len(blocks)))
    assert all(set(event.alive) <= set(range(len(result.configs))) for event in blocks)
    added = [event for event in seen if isinstance(event, CandidatesAdded)]
    assert [config for event in added for config in event.configs] == list(result.configs)
    assert [p for event in added for p in event.parents] == [o.parent for o in result.origins]
    assert [event.first for event in added] == [
        sum(len(e.configs) for e in added[:i]) for i in range(len(added))
    ]
    used = [event.evaluations for event in seen if hasattr(event, "evaluations")]
    assert used == sorted(used)
    for event in blocks:
        for gone in event.eliminated:
            assert gone.block == event.block
            assert gone.candidate not in event.alive
    for race in result.completed_races:
        assert race.left == 400 - race.evaluations


def test_a_callback_may_look_at_the_run(tuning):
    def look(event):
        if tuner:
            results.append(tuner[0].result())

    tuner, results = [], []
    tuner.append(Tuner(tuning.reals(), budget=120, seed=1, callbacks=[look]))
    tuning.play(tuner[0])
    plain, _ = run(tuning, budget=120)
    assert tuning.content(results[-1]) == tuning.content(plain)


def test_parents_are_older_elites(tuning):
    result, _ = run(tuning, budget=800)
    children = [(c, o) for c, o in enumerate(result.origins) if o.parent is not None]
    assert children
    for candidate, origin in children:
        assert origin.parent < candidate
        assert origin.parent in result.completed_races[origin.race - 1].elites


def test_who_was_lucky_in_a_large_tuning_is_evaluated_again(monkeypatch):
    def evaluate(config, instance, seed):
        rng = np.random.default_rng([seed, int(1e6 * config["x"])])
        return (5 * config["x"] - 2) ** 2 + rng.standard_t(1.5)

    def found():
        return tune(Space({"x": Real(0, 1)}), evaluate, range(20), budget=1500, seed=1)

    again = found()
    monkeypatch.setattr(tuning_module, "_LARGE", 2000)
    plain = found()
    assert again.evaluations == plain.evaluations == 1500
    # what is left after the last race: the answer rests on more blocks than its race had
    races = [[race for race in r.completed_races if race.kind == "race"] for r in (plain, again)]
    left = [1500 - of_one[-1].evaluations for of_one in races]
    assert left[0] < 16 < 60 < left[1] < 75 + 16  # what is kept, and less than a block of a race
