"""Importance: the parameters that matter first, nothing where too little is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import check_grad

import racer
from racer import Categorical, Integer, Real, Space
from racer.model.effects import Effects
from racer.model.relevance import Relevance

SPACE = Space(
    {
        "none": Real(0, 1),
        "alg": Categorical(["a", "b"]),
        "x": Real(0, 1),
        "child": Real(0, 1),
        "fixed": 3,
        "whole": Integer(1, 9),
    },
    conditions={"child": {"alg": "a"}},
)


def cost(config, instance, seed):
    own = 0.5 * (config["child"] - 0.5) ** 2 if config["alg"] == "a" else 1.0
    noise = np.random.default_rng([seed, int(1e9 * config["x"])]).normal(0, 0.02)
    return 3 * config["x"] ** 2 + own + instance + noise


@pytest.fixture(scope="module", name="found")
def _found():
    return racer.tune(SPACE, cost, range(5), budget=700, seed=1).importance


def test_what_matters_comes_first(found):
    total = dict(zip(found.parameters, found.total, strict=True))
    assert found.parameters == ("none", "alg", "x", "child", "whole")
    assert found.order[:2] == ("x", "alg")
    assert found.r_squared > 0.8
    assert total["x"] > 0.6
    assert max(total["none"], total["whole"]) < 0.03
    assert np.nansum(found.local) == pytest.approx(1.0)
    assert " x " in repr(found)
    assert "leave-one-out R²" in found._repr_html_()
    assert len(found.plot().patches) == 5
    assert list(found.to_frame()["parameter"]) == list(found.parameters)


def test_a_single_parameter_has_all_of_it():
    space = Space({"x": Real(0, 9)})
    found = racer.tune(
        space, lambda c, i, s: c["x"] + s % 3, range(5), budget=200, seed=1
    ).importance
    assert found.total == found.local == (1.0,)


def test_nothing_is_said_where_the_surrogate_is_poor_or_little_is_known():
    def noise(config, instance, seed):
        return np.random.default_rng([seed, int(1e9 * config["x"])]).normal()

    poor = racer.tune(SPACE, noise, range(5), budget=300, seed=1).importance
    assert poor.is_poor
    assert np.isnan(poor.total).all()
    assert "unknown" in repr(poor)
    few = racer.tune(Space({"x": Integer(0, 9)}), lambda c, i, s: c["x"] + s % 3, budget=60, seed=1)
    assert "too few" in repr(few.importance)
    assert few.plot("importance").texts
    with pytest.raises(racer.SettingError, match=r"racer\.ablation\(result, evaluate\)\.plot"):
        few.plot("ablation")


def test_the_gradient_is_that_of_the_posterior():
    rng = np.random.default_rng(1)
    points = np.zeros((25, 4, 2))
    points[:, :3, 0] = rng.random((25, 3))
    points[:, 3, 1] = rng.integers(1, 4, 25)
    costs = points[:, 0, 0] ** 2 + (points[:, 3, 1] == 2) + rng.normal(0, 0.05, 25)
    model = Relevance(points, Effects(costs, np.full(25, 0.01)))
    at = np.array([0.1, -0.5, 0.3, 0.2, 0.4, -2.0])
    value, gradient = model._objective(at)
    error = check_grad(lambda x: model._objective(x)[0], lambda x: model._objective(x)[1], at)
    assert error < 1e-4 * max(1.0, float(np.abs(gradient).max()))
    assert np.isfinite(value)
    left_out = np.abs(model.leave_one_out)
    assert (np.abs(costs - model(points)) <= left_out + 1e-9).all()
