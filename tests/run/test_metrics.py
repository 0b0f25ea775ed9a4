"""Races and tunings whose evaluations return several metrics."""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import sys

import flat
import numpy as np
import pytest
from objectives import Counting
from objectives import two_metrics as evaluate
from objectives import two_metrics_of_x as tuned
from playing import story

import racer
from racer import Metric, ObjectiveError, Pareto, RaceStateError, SettingError, StoreError, Within
from racer.deciders.parts.several import best_first

HOW = {"error": "min", "dollars": "min"}
OBJECTIVES = [
    "error",
    Pareto("error", "dollars"),
    Within("dollars", error=0.2),
    racer.Constrained("dollars", error=("<=", 0.5)),
]
SPACE = racer.Space({"x": racer.Real(0, 1), "y": racer.Real(0, 1)})


some_objectives = pytest.mark.parametrize(  # of one metric, and of several
    "objective",
    [
        pytest.param(one, marks=[pytest.mark.thorough] * (one in OBJECTIVES[::2]))
        for one in OBJECTIVES
    ],
    ids=str,
)


@some_objectives
def test_workers_stores_and_interruptions_change_nothing(objective, path):
    given = {"metrics": HOW, "objective": objective, "seed": 3}
    alone = flat.race(range(8), evaluate, range(20), budget=300, **given)
    flat.race(range(8), evaluate, range(20), budget=100, store=path, **given)
    resumed = racer.resume(path, evaluate, budget=300, n_jobs=2)
    assert story(resumed) == story(alone) == story(racer.load(path))
    assert resumed.probability_best == alone.probability_best
    json.dumps(alone.to_dict())
    for kind in alone._pictures:
        alone.plot(kind)


TUNING = {"metrics": HOW, "seed": 3, "test_instances": range(3), "budget": 190}


@functools.cache
def tuning(objective):
    return flat.tune(SPACE, tuned, range(9), objective=objective, **TUNING)


@some_objectives
def test_tunings_too(objective, tmp_path):
    alone = tuning(objective)
    given = {**TUNING, "objective": objective, "store": tmp_path / "tuning.db"}
    again = flat.tune(SPACE, tuned, range(9), n_jobs=2, **given)
    assert story(again) == story(alone) == story(racer.load(given["store"]))
    assert again.configs == alone.configs
    assert str(alone).count("held-out") == 2
    json.dumps(alone.to_dict())
    repr(racer.ablation(alone, tuned, source=0, target=alone.survivors[0], budget=100))


@pytest.mark.parametrize("objective", [OBJECTIVES[1], OBJECTIVES[3]], ids=str)
def test_a_front_and_a_candidate_that_is_sought_have_pages(objective, tmp_path):
    tuning(objective).report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    for name in HOW:
        assert name in page


def test_a_recorded_metric_changes_no_race_on_another():
    plain = racer.race(range(8), lambda *cell: evaluate(*cell)["error"], budget=200, seed=1)
    several = racer.race(range(8), evaluate, budget=200, seed=1, goal=racer.Constrained(HOW))
    assert several.survivors == plain.survivors
    assert several.table.equals(plain.table)
    assert several.eliminations.equals(plain.eliminations)
    assert several.probability_best == plain.probability_best
    assert "metric:dollars" in several.scores
    assert "metric:dollars" not in plain.scores


def test_a_front_of_known_candidates():
    means = np.array([[0, 4], [1, 2], [2, 1], [4, 0], [3, 3], [2, 3]], dtype=float)

    def noisy(config, instance, seed):
        found = means[config] + 0.2 * np.random.default_rng([seed, config]).normal(size=2)
        return {"error": found[0], "dollars": found[1]}

    for decider in ("front", "bayesian-front"):
        result = racer.race(
            range(6),
            noisy,
            budget=900,
            seed=1,
            decider=decider,
            goal=Pareto(HOW, "error", "dollars"),
        )
        assert sorted(result.survivors) == [0, 1, 2, 3]
        assert result.ended is racer.Ended.SETTLED
        assert result.best is None
        assert result.probability_best == {}
        assert set(result.eliminations["reason"]) == {"dominated"}
        assert sorted(result.credible_front) == [0, 1, 2, 3]
        front = result.front
        assert front["probability_front"].iloc[3] > 0.95 > 0.05 > front["probability_front"].iloc[4]
        for c in range(6):
            row = front.loc[c]
            assert row["low:error"] - 0.1 < means[c, 0] < row["high:error"] + 0.1
        text = str(result)
        assert "4 of 6 candidates are on the Pareto front of error and dollars" in text
        survivors = " ".join(text.partition("Configurations of the survivors")[2].split())
        names = [f"#{c}" for c in result.leaders]
        assert survivors.startswith(f"parameter {' '.join(names)} ")
        assert f" value {' '.join(map(str, result.leaders))} " in survivors


def test_the_first_mapping_without_metrics_says_what_to_give(tmp_path):
    counting = Counting(lambda *_: {"error": 1.0, "dollars": 2.0})
    store = tmp_path / "race.db"
    with pytest.raises(
        ObjectiveError, match=r"several metrics, .*'error'.* give goal=\{'error': 'min'\}"
    ):
        racer.race(range(50), counting, budget=500, store=store)
    assert len(counting.calls) == 1
    again = racer.race(
        range(50), counting, budget=500, goal=racer.Constrained(HOW), store=tmp_path / "b.db"
    )
    assert again.ended is racer.Ended.ALL_EQUAL


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"error": 1.0}, "returned no 'dollars', only 'error'"),
        ({"error": math.nan, "dollars": 1.0}, "metric 'error': returned nan"),
        ({"error": 1.0, "dollars": "cheap"}, "metric 'dollars': returned a str"),
        (2.0, "no mapping of metrics but a float"),
        ({"error": 1.0, "dollars": 99.0}, "99.0 is outside its bounds, (-9.0, 9.0)"),
    ],
)
def test_one_bad_cell_costs_that_cell(wrong, message):
    def sometimes(config, instance, seed):
        return wrong if config == 2 and instance == 1 else evaluate(config, instance, seed)

    result = racer.race(
        range(4),
        sometimes,
        racer.Instances(range(6), deterministic=True),
        budget=24,
        seed=1,
        goal=Pareto(HOW | {"dollars": Metric("min", bounds=(-9, 9))}, "error", "dollars"),
    )
    failed = result.failures
    assert failed[["candidate", "status"]].values.tolist() == [[2, "invalid"]]
    assert message in failed["message"].iloc[0]
    assert np.isnan(result.metric("dollars")[2].iloc[1])


def test_a_store_with_other_metrics_is_refused(tmp_path, path):
    given = {"budget": 60, "seed": 1, "store": path}
    flat.race(range(4), evaluate, metrics=HOW, objective="error", **given)
    with pytest.raises(
        StoreError, match=r"another goal: Constrained\(\{'err.*; now Constrained\(\{'dol"
    ):
        flat.race(range(4), evaluate, metrics=HOW, objective="dollars", **given)
    with pytest.warns(racer.RacerWarning, match="which this call leaves out"):
        again = flat.race(range(4), evaluate, **given)
    assert again.rules.objective == "error"
    other = tmp_path / "plain.db"
    racer.race(range(4), lambda c, *_: float(c), budget=60, seed=1, store=other)
    with pytest.raises(StoreError, match="another goal: 'min'; now Constrained"):
        racer.race(range(4), evaluate, budget=60, store=other, goal=racer.Constrained(HOW))


def test_told_outcomes_need_their_metrics():
    race = racer.Race.of(range(3), budget=60, seed=1, metrics=HOW, objective="error")
    cell = race.ask()[0]
    whole = r"Outcome\('ok', value, metrics=\{'error': \.\., 'dollars': \.\.\}\)"
    whole += ".* that of 'error' as the value"  # all that is needed, at once
    for told in (
        racer.Outcome("ok", 1.0),
        racer.Outcome("ok", 1.0, metrics={"error": 1.0}),
        racer.Outcome("ok", 1.0, metrics={"error": 2.0, "dollars": 1.0}),
        racer.Outcome("failed", None, message="no", metrics={"error": 0.0, "dollars": 0.0}),
    ):
        with pytest.raises(RaceStateError, match=whole):
            race.tell(cell, told)
    with pytest.raises(RaceStateError, match=whole):
        race.tell(cell, 1.0)


def test_margins_are_for_elimination_and_the_front_is_without():
    how = {name: Metric("min", margin=0.5) for name in ("a", "b")}
    worlds = {0: (0.0, 1.0), 1: (1.0, 0.0), 2: (0.2, 0.9)}

    def near(config, instance, seed):
        a, b = worlds[config] + 0.01 * np.random.default_rng([seed, config]).normal(size=2)
        return {"a": a, "b": b}

    result = racer.race(range(3), near, budget=900, seed=1, goal=Pareto(how, "a", "b"))
    assert len(result.survivors) == 2  # 0 and 2 are within the margins of each other
    assert all(chance > 0.99 for chance in result.probability_front.values())


def test_one_number_has_no_front():
    result = racer.race(range(3), lambda c, *_: float(c), budget=60)
    for name in ("front", "probability_front", "credible_front"):
        with pytest.raises(SettingError, match=r"a front needs goal=racer\.Pareto"):
            getattr(result, name)
    with pytest.raises(SettingError, match="kind='front'"):
        result.plot("front")


def test_a_program_prints_its_metrics(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(
        "import json, sys\n"
        "x, seed = float(sys.argv[1]), int(sys.argv[2])\n"
        "print('a line of a log')\n"
        "print(json.dumps({'error': x + seed % 7, 'dollars': 9 - x, 'why': 'text'}))\n"
    )
    command = racer.Command(
        [sys.executable, "-I", "-S", str(script), "{x}", "{seed}"], reads="json"
    )
    configs = [{"x": float(x)} for x in range(4)]
    result = racer.race(configs, command, budget=24, seed=1, goal=racer.Constrained(HOW))
    assert result.best == {"x": 0.0}
    assert result.metric("dollars")[1].dropna().unique().tolist() == [8.0]
    script.write_text("print('no json')")
    with pytest.raises(ObjectiveError, match="no object in JSON"):
        racer.race(configs, command, budget=40, seed=1, goal=racer.Constrained(HOW))


def test_an_infeasible_candidate_never_stands_before_one_that_looks_feasible():
    decider = racer.deciders.GoalForBudget()
    goal = racer.deciders.Goal(
        kind="constrained",
        exact=(False,) * 2,
        margins=(0.0,) * 2,
        limits=(0.5,),
        bounds=(None,) * 2,
    )
    rng = np.random.default_rng(1)
    for seed in range(30):
        setting = racer.deciders.Setting(10, rng, objective=goal, budget=200)
        state = decider.start(setting)
        costs = np.random.default_rng(seed).random((8, 10, 2))
        blocks = racer.deciders.Blocks(np.arange(10), costs[:, :, 0], metrics=costs, used=150)
        _, verdict = decider.decide(state, blocks)
        fits = costs[:, :, 1].mean(axis=0) <= 0.5
        gone = [drop.candidate for drop in verdict.dropped]
        left = [c for c in range(10) if c not in gone]
        assert gone
        assert not any(fits[c] for c in gone) or all(fits[c] for c in left)


def test_a_metric_without_noise_is_pointed_out():
    def priced(config, instance, seed):
        return {"error": evaluate(config, instance, seed)["error"], "dollars": float(config)}

    given = {"budget": 200, "seed": 1, "objective": Pareto("error", "dollars")}
    said = flat.race(range(4), priced, metrics=HOW, **given).verdict[-1]
    assert said.startswith("'dollars' is the same on every block")
    assert 'racer.Metric("min", exact=True)' in said
    exact = {**HOW, "dollars": Metric(exact=True)}
    assert "same" not in flat.race(range(4), priced, metrics=exact, **given).verdict[-1]

    def equal(config, instance, seed):
        return {"error": evaluate(config, instance, seed)["error"], "dollars": 1.0}

    said = flat.race(range(4), equal, metrics=HOW, **given).verdict[-1]
    assert said == "'dollars' is the same for all candidates: leave it out of the objective."


@pytest.mark.parametrize("spread", [0.005, 0.02])
@pytest.mark.parametrize("exact", [True, False])
def test_of_unacceptable_candidates_the_nearest_is_left(exact, spread):
    """Not one that crosses the limit with the weakest evidence, and none that never succeeded."""
    error = {"a": 0.2, "b": 0.25, "c": 0.3, "d": 0.35}
    price = {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}

    def noisy(config, instance, seed):
        if config == "broken":
            raise ValueError("never works")
        noise = np.random.default_rng([seed, ord(config)]).normal()
        return {"error": error[config] + spread * noise, "dollars": price[config]}

    given = {
        "objective": racer.Constrained("dollars", error=("<=", 0.01)),
        "metrics": {"error": "min", "dollars": Metric(exact=exact)},
        "budget": 300,
        "seed": 1,
    }
    result = flat.race(["broken", *"dcba"], noisy, **given)
    assert (result.best, result.ended) == ("a", "decided")
    assert result.verdict[-1] == "With probability >0.99 no candidate satisfies the constraints."
    gone = result.eliminations
    assert gone["reason"].tolist() == ["failed", *["unacceptable"] * 3]
    assert all(
        against > candidate for candidate, against in zip(gone.candidate, gone.against, strict=True)
    )
    two = flat.race(["broken", *"dcba"], noisy, min_survivors=2, **given)
    assert set(two.survivors) == {3, 4}


def test_a_race_is_open_while_it_is_unclear_who_is_nearest_to_a_limit():
    def alike(config, instance, seed):
        noise = np.random.default_rng([seed, config]).normal()
        return {"error": 1.0 + 0.01 * noise, "dollars": float(config)}

    result = racer.race(
        *(range(2), alike),
        budget=60,
        seed=1,
        goal=racer.Constrained({"error": "min", "dollars": Metric(exact=True)}, error=("<=", 0.1)),
    )
    assert result.ended == "budget"
    assert result.survivors == (result.best_index, 1 - result.best_index)


HALF = [
    *(Within("dollars", error=0.06), racer.Constrained("dollars", error=("<=", 0.26))),
    racer.Constrained("dollars", error=("<=", 0.01)),
    Pareto("error", "dollars"),
]


@pytest.mark.parametrize("objective", HALF, ids=str)
@pytest.mark.parametrize("share", [2, 3])
def test_who_often_fails_is_not_the_best_where_another_never_does(objective, share):
    error, price = {"a": 0.2, "d": 0.35, "f": 0.1}, {"a": 4.0, "d": 1.0, "f": 0.5}

    def often(config, instance, seed):
        if config == "f" and instance % share == 0:
            raise ValueError("not this one")
        noise = 0.02 * np.random.default_rng([seed, ord(config)]).normal(size=2)
        return {"error": error[config] + noise[0], "dollars": price[config] * (1.0 + noise[1])}

    given = {"budget": 150, "seed": 1, "metrics": HOW, "objective": objective}
    result = flat.race(list("fad"), often, range(20), instance_order="shuffled", **given)
    if isinstance(objective, Pareto):
        assert sorted(result.survivors) == [1, 2]
        assert result.probability_front[0] < 0.01
        return
    assert result.best == "a"
    assert 1 in result.survivors
    if not result.verdict[-1].endswith("no candidate satisfies the constraints."):
        # beside limits, a failure costs four ranges, as in a race; in other posteriors, more
        assert result.probability_best[1] > (
            0.8 if isinstance(objective, racer.Constrained) else 0.95
        )


def test_a_failure_costs_the_bound_of_a_metric_in_the_posterior_too():
    """As in the race: who is right in .9 and fails in a tenth is right in .81."""

    def graded(config, instance, seed):
        draws = np.random.default_rng([seed, config]).random(2)
        if config and draws[0] < 0.1:
            raise ValueError("no answer")
        return {"score": float(draws[1] < 0.9), "dollars": 2.0 - config}

    result = racer.race(
        *(range(2), graded),
        budget=600,
        seed=1,
        goal=racer.Constrained(
            {"score": Metric("max", bounds=(0, 1)), "dollars": Metric(exact=True)},
            score=(">=", 0.7),
        ),
    )
    assert (result.best, result.survivors) == (1, (1,))
    assert result.probability_best[1] > 0.95


def test_nobody_is_within_both_tolerances():
    given = {"budget": 300, "seed": 1, "metrics": HOW | {"size": Metric(exact=True)}}

    def sized(config, instance, seed):
        return evaluate(config, instance, seed) | {"size": float(config)}

    objective = Within("size", error=0.1, dollars=0.1)
    result = flat.race([0, 1, 3], sized, objective=objective, **given)
    assert result.verdict[-1] == "With probability >0.99 no candidate is within each tolerance."
    assert "it is that or one of" not in str(result)


def test_who_is_good_enough_is_not_eliminated_as_unacceptable():
    """Also where several opponents are cheaper, none of which is most of the evidence."""

    def clear(config, instance, seed):
        noise = 0.1 * np.random.default_rng([seed, config]).normal()
        return {"error": float(config), "dollars": 4.0 - config + noise}

    objective = racer.Constrained("dollars", error=("<=", 99.0))
    result = flat.race(range(4), clear, budget=120, seed=1, metrics=HOW, objective=objective)
    assert result.eliminations["reason"].tolist() == ["inferior"] * 3


def test_events_have_all_metrics():
    seen = []
    result = racer.race(
        range(3),
        evaluate,
        budget=60,
        seed=1,
        goal=racer.Constrained({"dollars": "min", "error": "min"}),
        callbacks=[seen.append],
    )
    first = seen[0]
    assert first.values == first.metrics["dollars"]
    assert first.metrics["error"] == tuple(result.metric("error").iloc[0])
    seen.clear()
    racer.race(range(3), lambda c, *_: float(c), budget=60, callbacks=[seen.append])
    assert seen[0].metrics is None


def test_the_sentence_on_a_front_without_likely_members_names_none():
    result = racer.race(
        *(range(10), lambda c, i, seed: {"a": float(seed % 13), "b": float(seed % 11)}),
        goal=racer.Pareto({"a": "min", "b": "min"}),
        budget=100,
        seed=1,
    )
    assert max(result.probability_front.values()) < 0.5
    assert result.verdict[0] == (
        "0 of 10 candidates are on the Pareto front of a and b with a posterior probability of at "
        "least 0.5."
    )


@pytest.mark.parametrize(
    "objective", [racer.Constrained("seconds", size=("<=", 2.0)), Within("seconds", size=0.5)]
)
@pytest.mark.parametrize("size", [1e11, 1e300, math.inf], ids=["diverged", "huge", "failed"])
def test_one_hopeless_candidate_switches_off_no_limit_on_others(objective, size):
    noise = np.random.default_rng(1).normal(0, 0.01, (40, 4))

    def sized(config, instance, seed):
        if config == 3 and size == math.inf:
            raise MemoryError
        return {"seconds": config + noise[instance, config], "size": [9.0, 5.0, 1.0, size][config]}

    for first_test in (7, 20):  # by then, all others may have been given up
        result = flat.race(
            *(range(4), sized, range(40)),
            budget=160,
            seed=1,
            first_test=first_test,
            metrics={"seconds": "min", "size": Metric(exact=True)},
            objective=objective,
        )
        assert result.best == 2
        assert result.probability_best == {0: 0.0, 1: 0.0, 2: 1.0, 3: 0.0}


@pytest.mark.parametrize("kind", ["constrained", "within"])
@pytest.mark.parametrize("decider", [None, "goal-for-budget"])
def test_the_unit_of_one_constrained_metric_changes_no_race(kind, decider):
    noise = np.random.default_rng(1).normal(0, 0.1, (40, 7))
    error = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.9]
    size = [0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.2]

    def outcome(unit):
        def sized(config, instance, seed):
            shift = noise[instance, config]
            costs = {"error": error[config] + shift, "size": unit * (size[config] + shift)}
            return {"seconds": 1.0 + shift} | costs

        limits = {"error": 0.3, "size": 0.3 * unit}
        objective = Within("seconds", error=0.1, size=0.1 * unit)
        if kind == "constrained":
            objective = racer.Constrained("seconds", **{n: ("<=", x) for n, x in limits.items()})
        found = flat.race(
            *(range(7), sized, range(40)),
            budget=120,
            seed=1,
            decider=decider,
            metrics=dict.fromkeys(["seconds", "error", "size"], "min"),
            objective=objective,
        )
        decided = found.survivors, found.best, found.eliminations.to_dict("records")
        return *decided, found.probability_best

    expected = outcome(1.0)
    assert [outcome(unit) for unit in (2.0**-40, 2.0**40)] == [expected] * 2


@pytest.mark.parametrize("kind", ["constrained", "within"])
def test_violations_of_several_limits_are_compared_in_spreads(kind):
    goal = racer.deciders.Goal(
        kind=kind,
        exact=(False, True, False),
        margins=(0.0,) * 3,
        limits=(1.0, 1.0),
        bounds=(None,) * 3,
    )
    # the spreads are 1 and 15.5, and the largest violations 4, 1.9, infinite, 0, 6e9 and 1.9
    means = np.array(
        [[9, 5, 0], [8, 0, 30], [7, np.inf, 0], [10, 1, 1], [9, 3, 1e11], [9, 0, 31.0]]
    )
    assert best_first(goal, means) == [3, 1, 5, 0, 4, 2]
    for unit in (2.0**-30, 2.0**30):
        scaled = dataclasses.replace(goal, limits=(unit, 1.0))
        assert best_first(scaled, means * [1.0, unit, 1.0]) == best_first(goal, means)
    alike = np.array([[9, 5, 3], [8, 5, 2], [7, np.inf, 2.0]])  # the second metric separates none
    if kind == "constrained":
        assert best_first(goal, alike) == [1, 0, 2]


@pytest.mark.parametrize(("memory", "limit"), [(0.1 + 0.2, 0.3), (0.1 + 0.2 - 0.3, 0.0)])
@pytest.mark.parametrize("decider", ["goal-for-budget", None])
def test_what_exceeds_a_limit_by_rounding_is_within_it(memory, limit, decider):
    noise = np.random.default_rng(1).normal(0.0, 0.1, (60, 4))
    at = [memory, limit - 1.0, limit - 1.0, limit - 1.0]

    def evaluate(config, instance, seed):
        return {
            "seconds": (1.0, 50.0, 51.0, 52.0)[config] + noise[instance, config],
            "mb": at[config],
        }

    result = flat.race(
        *(range(4), evaluate, range(60)),
        budget=100,
        seed=1,
        metrics={"seconds": "min", "mb": racer.Metric(exact=True)},
        objective=racer.Constrained("seconds", mb=("<=", limit)),
        **({} if decider is None else {"decider": decider}),
    )
    assert result.best == 0
    assert result.probability_best[0] > 0.9


@pytest.mark.parametrize("names", [("error", "dollars"), ("error", "dollars", "seconds")])
def test_who_never_succeeded_has_no_place_beside_the_front(names):
    def evaluate(config, instance, seed):
        if config == 3:
            raise ValueError
        noise = 0.1 * np.random.default_rng([seed, config]).normal()
        return {"error": config + noise, "dollars": -config + noise, "seconds": 1.0}

    result = racer.race(
        range(5), evaluate, budget=60, seed=1, goal=Pareto(dict.fromkeys(names, "min"), *names)
    )
    known = result.front.notna().all(axis=1)
    assert list(known.index[~known]) == [3]
    assert result.front.loc[3].dropna().to_dict() == {"probability_front": 0.0}
    drawn = [line.get_xydata() for line in result.plot("front").lines]
    assert all(np.isfinite(points).all() for points in drawn)


def test_a_front_with_ties_has_one_order():
    result = racer.tune(
        racer.Space({"x": racer.Real(0, 1)}),
        lambda config, instance, seed: {"a": config["x"], "b": 1 - config["x"]},
        racer.Instances(range(9), deterministic=True),
        budget=100,
        seed=1,
        search=racer.Search(elites=5),
        goal=Pareto({"a": "min", "b": "min"}),
    )
    everyone = tuple(range(len(result.configs)))
    assert result.survivors != tuple(sorted(result.survivors))
    assert result.leaders == tuple(sorted(result.survivors))
    assert result.credible_front == tuple(result.front.index) == everyone
    assert result.front.index.name == "candidate"
    assert f"at least 0.5: {', '.join(f'#{c}' for c in everyone[:12])}" in " ".join(
        str(result).split()
    )


def test_a_single_candidate_is_the_front():
    alone = flat.race([7], evaluate, budget=60, metrics=HOW, objective=OBJECTIVES[1])
    assert alone.best == 7
    assert "The only candidate is #0." in str(alone)
    assert alone.probability_front == {0: 1.0}
    assert alone.credible_front == (0,)
    assert alone.to_dict()["credible_front"] == [0]
    assert [text.get_text() for text in alone.plot("posterior").texts] == [">0.99"]
    assert "P(front)" in str(alone)


def test_the_configurations_of_all_that_a_verdict_names_are_shown_in_one_order():
    def measured(config, item, seed):
        size = config["size"]
        noise = np.random.default_rng([seed, size]).normal(size=2)
        error = 0.1 + 0.4 / size + 0.004 * max(size - 16, 0) + 0.05 * noise[0] + item
        return {"error": error, "dollars": 0.05 * size * (1 + 0.1 * noise[1])}

    result = racer.tune(
        racer.Space({"size": racer.Integer(1, 100, log=True)}),
        measured,
        [0.0, 0.02, 0.05, 0.1],
        budget=300,
        seed=1,
        goal=Pareto(HOW, "error", "dollars"),
    )
    likely = [c for c, chance in result.probability_front.items() if chance >= 0.5]
    gone = sorted(set(likely) - set(result.survivors))
    assert gone, "this seed has no eliminated candidate on the front"
    text = " ".join(str(result).split())
    named = text.partition("at least 0.5: ")[2].partition(".")[0].split(", ")
    head, _, rest = text.partition("Configurations of the front and the elites parameter ")[
        2
    ].partition(" ──")
    assert head.split()[: len(named)] == named
    elites = [name for name in head.split() if int(name[1:]) in result.survivors]
    assert elites == [f"#{c}" for c in result.leaders]
    assert f"not among the elites: {', '.join(n for n in named if n not in elites)}." in rest
