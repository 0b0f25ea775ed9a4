"""Tunings of several metrics: elites that cover the front, constraints, and what they need."""

from __future__ import annotations

from functools import partial

import flat
import numpy as np
import pytest
from objectives import two_metrics_of_x

import racer
from racer import Constrained, Pareto, Within
from racer.model.effects import natural_effects
from racer.tuner.drafts import NEAR_ENDS, OFTEN, Centres, drafts_around

HOW = {"error": "min", "dollars": "min"}
SPACE = racer.Space({"x": racer.Real(0, 1), "y": racer.Real(0, 1)})


def tuned(objective, evaluate=two_metrics_of_x, space=SPACE, **given):
    settings = {"budget": 500, "seed": 1, "metrics": HOW, "objective": objective, **given}
    return flat.tune(space, evaluate, range(20), **settings)


def test_elites_cover_the_front():
    result = tuned(Pareto("error", "dollars"))
    assert result.best is None
    assert result.evaluations == 500
    found = sorted(result.configs[c]["x"] for c in result.survivors)
    assert len(found) == 8
    assert found[0] < 0.15
    assert found[-1] > 0.6
    assert np.diff(found).max() < 0.4
    assert np.mean([result.configs[c]["y"] for c in result.survivors]) < 0.2
    blocks = [len(result.known.of(c)) for c in result.survivors]
    assert max(blocks) - min(blocks) <= max(blocks) // 2  # what is left is shared out


def test_more_elites_where_more_can_be_told_apart():
    assert len(tuned(Pareto("error", "dollars"), budget=2000).survivors) == 12
    assert len(tuned(Pareto("error", "dollars"), search=racer.Search(elites=4)).survivors) == 4


@pytest.mark.parametrize(("second", "ended"), [(0.0, "all-equal"), (1.0, "budget")])
def test_all_are_equal_only_if_no_metric_of_the_front_differs(second, ended):
    def evaluate(config, instance, seed):
        return {"error": 1.0, "dollars": second * config["x"] + seed % 100 / 1e3}

    result = tuned(Pareto("error", "dollars"), evaluate, budget=300)
    assert result.ended.value == ended


@pytest.mark.parametrize(
    "objective", [Constrained("dollars", error=("<=", 0.5)), Within("dollars", error=0.5)], ids=str
)
def test_the_cheapest_that_is_good_enough(objective):
    result = tuned(objective)
    assert result.best_index in result.survivors
    assert 0.3 < result.best["x"] < 0.62
    assert result.best["y"] < 0.15


@pytest.mark.parametrize(
    ("objective", "seed"),
    [(Within("dollars", error=0.5), 0), (Constrained("dollars", error=("<=", 0.4)), 2)],
    ids=str,
)
def test_the_best_is_the_likeliest_of_those_evaluated_most_often(objective, seed):
    """Of all candidates, another one was the likeliest: it had been seen on a few blocks only."""

    def evaluate(config, instance, seed):
        noise = 0.5 * np.random.default_rng([seed, int(1e6 * config["x"])]).normal(size=2)
        price = (1 - config["x"]) ** 2 + config["y"]
        return dict(zip(HOW, np.array([config["x"], price]) + noise, strict=True))

    tests = {"test_instances": [1], "search": racer.Search(test_elites=1)}
    result = tuned(objective, evaluate, budget=200, seed=seed, **tests)
    chances, compared = result.probability_best, {*result.compared}
    assert len(compared) < len(result.configs)
    assert max(chances, key=chances.get) == result.best_index == result.credible_set[0]
    assert compared >= {c for c in chances if chances[c]} | {*result.credible_set}
    assert result.to_dict()["probability_best"] == chances[result.best_index] > 0.0
    text = " ".join(result.details().split())
    assert " asks for among #" in text
    assert "evaluated most often; " in text
    assert list(result.tests.dropna(axis=1)) == [result.best_index]
    assert result.plot("posterior").get_xlabel() == f"P(best) of {len(compared)} candidates"


def test_choices_are_tried_and_failures_avoided():
    space = racer.Space({"model": racer.Categorical(["a", "b", "c"]), "x": racer.Real(0, 1)})
    offsets = {"a": (0.0, 1.0), "b": (1.0, 0.0), "c": (1.5, 1.5)}

    def evaluate(config, instance, seed):
        if config["x"] > 0.9:
            raise ValueError
        noise = 0.1 * np.random.default_rng([seed, int(1e6 * config["x"])]).normal(size=2)
        first, second = np.array(offsets[config["model"]]) + (config["x"] - 0.5) ** 2 + noise
        return {"error": first, "dollars": second}

    result = tuned(Pareto("error", "dollars"), evaluate, space, seed=2)
    likely = [c for c, p in result.probability_front.items() if p >= 0.2]
    assert {result.configs[c]["model"] for c in likely} == {"a", "b"}
    assert {result.configs[c]["model"] for c in result.survivors} == {"a", "b"}
    assert all(result.configs[c]["x"] <= 0.9 for c in likely)


def test_effects_in_the_unit_of_the_costs():
    rng = np.random.default_rng(1)
    truth = np.array([1.0, 2.0, 4.0])
    costs = 10.0 + truth + rng.normal(size=(40, 1)) + 0.1 * rng.normal(size=(40, 3))
    costs[30:, 2] = np.nan
    costs[3, 0] = np.inf
    found = natural_effects(costs)
    assert np.allclose(np.diff(found.value), [1.0, 2.0], atol=0.2)
    assert abs(found.value.mean() - 12.3) < 0.6
    assert found.variance[2] > found.variance[1]
    assert natural_effects(costs, 40).variance[1] < 1e-9


def drawn(centre, *, spread=0.05, choices=(0, 0), **how):
    """Return forty drafts around a centre of parameters that all exist."""
    return drafts_around(
        *(Centres(np.array([centre]), np.array([spread]), 1), 40, np.array(choices)),
        *(lambda vectors: np.ones(vectors.shape, dtype=bool), None, np.random.default_rng(1)),
        **how,
    ).vectors


def test_drafts_of_fronts_reach_the_ends_of_ranges():
    around = partial(drawn, [0.02, 0.5, 0.5 / 3.0], choices=(0, 0, 3))
    plain, ends = around(), around(to_ends=OFTEN)
    assert not (plain[:, :, 0] == 0.0).any()
    at_end = ends[:, :, 0] == 0.0
    assert 0.2 < at_end.mean() < 0.5
    assert (ends[~at_end] == plain[~at_end]).all()
    assert (ends[:, :, 1:] == plain[:, :, 1:]).all()  # far from an end, and a choice


def test_the_first_drafts_of_a_child_near_an_end_do_not_reach_it():
    """Without a surrogate they are the children; all those at the end may be the same."""
    drafts = drawn([0.04, 0.5], to_ends=NEAR_ENDS)
    at_end = (drafts[:, :, 0] == 0.0).any(axis=0)
    assert at_end.tolist() == [False] * 21 + [True] * 9


def test_drafts_around_a_centre_near_an_end_reach_it_once_the_neighbourhood_is_narrow():
    near = partial(drawn, [0.04, 0.5], to_ends=NEAR_ENDS)
    assert 0.1 < (near()[:, :, 0] == 0.0).mean() < 0.5
    assert not (near(spread=0.3) == 0.0).any()  # not narrow yet
    assert not (near(spread=0.01) == 0.0).any()  # too far from the end
    assert not (near()[:, :, 1] == 1.0).any()


@pytest.mark.parametrize(
    ("kind", "exact"),
    [
        (Constrained, False),
        (Within, True),
        pytest.param(Constrained, True, marks=pytest.mark.thorough),
        pytest.param(Within, False, marks=pytest.mark.thorough),
    ],
)
def test_the_units_of_metrics_change_no_tuning(kind, exact):
    metrics = {"a": "min", "b": racer.Metric("min", exact=exact), "size": "min"}

    def outcome(first, second):
        def evaluate(config, instance, seed):
            x, y = config["x"], config["y"]
            if x < 0.05:
                raise ValueError
            noise = 0.01 * np.random.default_rng([seed, int(1e6 * x)]).normal()
            a, b = (x - 0.2) ** 2 + y + noise, (x - 0.8) ** 2 + (1.0 - y) ** 2
            return {"a": first * a, "b": second * b, "size": 1.0 + x}

        limit, most = 0.3 * second, 1.7
        objective = Within("a", b=limit, size=0.7)
        if kind is Constrained:
            objective = Constrained("a", b=("<=", limit), size=("<=", most))
        found = tuned(objective, evaluate, budget=200, first_test=2, metrics=metrics)
        return found.configs, found.survivors, found.best_index

    assert outcome(2.0**-30, 2.0**20) == outcome(1.0, 1.0)
