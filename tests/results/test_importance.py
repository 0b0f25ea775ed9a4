"""Importance: the parameters that matter first, nothing where too little is known."""

import numpy as np
import pytest
from playing import play
from scipy.optimize import check_grad

import racer
from racer import Categorical, Integer, Ordinal, Real, Space
from racer.model.effects import Effects
from racer.model.relevance import Relevance
from racer.results.importance import _Model

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


SAMPLED = np.meshgrid(*[(np.arange(50) + 0.5) / 50] * 2, indexing="ij")
REALS = Space({name: Real(0, 1) for name in "abc"})


def linear(config, seed):
    """Return a + 2 b, of which b has 0.8 of the variance, with a little noise."""
    noise = np.random.default_rng([seed, int(1e9 * config["a"])]).normal(0, 0.02)
    return config["a"] + 2 * config["b"] + noise


def unlike(instance):
    """Return a scale from 0.03 to 30."""
    return 10 ** np.random.default_rng(instance).uniform(-1.5, 1.5)


WORLDS = {
    "plain": (lambda c, i, s: linear(c, s) + i, {}),
    "maximize": (lambda c, i, s: -linear(c, s) - i, {"maximize": True}),
    "means": (lambda c, i, s: linear(c, s) + i, {"decider": "t-race"}),
    "scales": (lambda c, i, s: unlike(i) * (linear(c, s) + i), {}),
    "run times": (lambda c, i, s: 0.01 * 10 ** linear(c, s), {"runtime": racer.Runtime(100.0)}),
}


@pytest.mark.parametrize("world", WORLDS)
def test_the_shares_are_those_of_the_objective(world):
    evaluate, settings = WORLDS[world]
    tuner = racer.Tuner.of(REALS, range(20), budget=200, seed=0, **settings)
    # no clock: with run times each evaluation has a process else
    result = play(tuner, lambda cell: evaluate(cell.config, cell.instance, cell.seed))
    found = result.importance
    assert found.total == pytest.approx((0.2, 0.8, 0.0), abs=0.05)
    assert found.local == pytest.approx((0.2, 0.8, 0.0), abs=0.05)
    assert found.r_squared > 0.9


def test_a_conditional_parameter_has_its_share():
    space = Space({"alg": Categorical(["p", "q"]), "x": Real(0, 1)}, conditions={"x": {"alg": "p"}})

    def evaluate(config, instance, seed):
        noise = np.random.default_rng([seed, len(config)]).normal(0, 0.02)
        return noise + (config["x"] - 0.5 if config["alg"] == "p" else 0.0)

    found = racer.tune(space, evaluate, range(20), budget=300, seed=1).importance
    assert found.total == pytest.approx((0.5, 1.0), abs=0.05)


def test_parameters_of_two_values_count_alike_whatever_their_kind():
    space = Space(
        {
            "whole": Integer(0, 1),
            "choice": Categorical(["x", "y"]),
            "level": Ordinal(["low", "high"]),
            "logarithmic": Integer(1, 2, log=True),
            "none": Real(0, 1),
        }
    )
    high = {"whole": 1, "choice": "y", "level": "high", "logarithmic": 2}
    configs = space.sample(120, seed=1)
    costs = [sum(c[name] == value for name, value in high.items()) for c in configs]
    model = _Model(space, configs, Effects(np.array(costs, np.float64), np.full(120, 1e-4)))
    of_one = np.log(3) / np.log(5)  # share of the range, on a log scale from 0.5 to 2.5
    variances = np.array([0.25, 0.25, 0.25, of_one * (1 - of_one), 0.0])
    shares = pytest.approx(variances / variances.sum(), abs=0.01)
    assert model.total([*range(5)], np.random.default_rng(0)) == shares
    assert model.local([*range(5)], configs[0]) == shares


def test_of_several_metrics_it_names_the_one_it_explains():
    def evaluate(config, instance, seed):
        return {"error": linear(config, seed), "price": config["c"]}

    result = racer.tune(
        REALS,
        evaluate,
        range(10),
        goal=racer.Pareto({"price": "min", "error": "min"}, "error", "price"),
        budget=300,
        seed=1,
    )
    assert result.importance.metric == "error"
    assert result.importance.total == pytest.approx((0.2, 0.8, 0.0), abs=0.05)
    assert "By a surrogate of 'error'" in repr(result.importance)


def test_inert_parameters_stay_so_where_a_few_costs_are_far_above_the_rest():
    def evaluate(config, instance, seed):
        noise = np.random.default_rng([seed, int(1e9 * config["a"])]).normal(0, 0.3)
        return 10 ** (config["a"] + 4 * config["b"]) * np.exp(noise)

    truth = 10.0 ** (SAMPLED[0] + 4 * SAMPLED[1])
    rest = [truth - truth.mean(axis=axis, keepdims=True) for axis in (0, 1)]
    share = [float((part**2).mean() / truth.var()) for part in rest]
    found = racer.tune(REALS, evaluate, range(20), budget=400, seed=0).importance
    assert found.total == pytest.approx((*share, 0.0), abs=0.2)
    assert found.total[2] < 0.03


def test_a_model_of_logarithms_that_explains_less_is_not_taken():
    space = Space(
        {"a": Real(1e-3, 1e3, log=True), "b": Real(0, 1), "c": Integer(1, 1000, log=True)}
    )

    def evaluate(config, instance, seed):
        noise = np.random.default_rng([seed % 2**31, int(1e9 * config["b"])]).normal(0, 0.02)
        return np.log10(config["a"]) + 6 * config["b"] + noise

    found = racer.tune(space, evaluate, range(20), budget=600, seed=4).importance
    assert found.total == pytest.approx((0.5, 0.5, 0.0), abs=0.02)
