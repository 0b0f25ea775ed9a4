"""A Gaussian process over configurations: against the formula, written out densely."""

import numpy as np
import pytest

from racer import Categorical, Integer, Real, Space
from racer.model import surrogate as module
from racer.model.effects import Effects
from racer.model.surrogate import Correlations, Kernel, Surrogate
from racer.space.vectors import choice_counts, features


def points(m, d=2, seed=0):
    """Return numbers, and no choices, as `features` does."""
    numbers = np.random.default_rng(seed).random((m, d))
    return np.stack([numbers, np.zeros((m, d))], axis=2)


def smooth(x):
    return np.sin(4 * x[:, 0, 0]) + (x[:, 1, 0] - 0.3) ** 2


def dense(kernel, one, other, spread):
    """Return the covariances of `Surrogate`, entry by entry."""
    size = module._SIGNAL_VARIANCES[kernel.signal_variance] * spread
    own_part = module._OWN_FRACTIONS[kernel.own_fraction]
    joint, own = (
        module._LENGTH_SCALES[kernel.length_scale],
        module._OWN_LENGTH_SCALES[kernel.own_length_scale],
    )
    found = np.empty((len(one), len(other)))
    for i, a in enumerate(one):
        for j, b in enumerate(other):
            squared = ((a - b) ** 2).sum(axis=1)
            found[i, j] = size * (
                (1 - own_part) * np.exp(-squared.sum() / (2 * joint**2))
                + own_part * np.mean(np.exp(-squared / (2 * own**2)))
            )
    return found


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_posterior_is_that_of_the_formula(seed):
    rng = np.random.default_rng(seed)
    x, new = points(25, seed=seed), points(7, seed=100 + seed)
    variance = rng.uniform(0.01, 0.1, 25)
    costs = smooth(x) + rng.normal(size=25) * np.sqrt(variance)
    fitted = Surrogate(x, Effects(costs, variance))
    kernel, spread = fitted.kernel, costs.var()
    k = dense(kernel, x, x, spread)
    nugget = (
        module._NUGGETS[kernel.nugget] * module._SIGNAL_VARIANCES[kernel.signal_variance] * spread
    )
    weights = np.linalg.solve(k + np.diag(variance + nugget), costs - costs.mean())
    expected = costs.mean() + dense(kernel, new, x, spread) @ weights
    np.testing.assert_allclose(fitted(new), expected, atol=1e-4)
    # of the candidates themselves, their nuggets are known as far as the noise allows
    own = costs.mean() + (k + nugget * np.eye(25)) @ weights
    np.testing.assert_allclose(fitted.posterior, own, atol=1e-4)


def test_the_kernel_is_the_likeliest_among_its_neighbours():
    x = points(30)
    costs = smooth(x)
    spread, variance = costs.var(), np.full(30, 0.01)
    kernel = Surrogate(x, Effects(costs, variance)).kernel

    def likelihood(k):
        covariance = dense(k, x, x, spread) + np.diag(
            variance
            + module._NUGGETS[k.nugget] * module._SIGNAL_VARIANCES[k.signal_variance] * spread
        )
        centred = costs - costs.mean()
        _, log_det = np.linalg.slogdet(covariance)
        return -0.5 * centred @ np.linalg.solve(covariance, centred) - 0.5 * log_det

    best = likelihood(kernel)
    for field, most in zip(Kernel._fields, module._LAST, strict=True):
        for at in (getattr(kernel, field) - 1, getattr(kernel, field) + 1):
            if 0 <= at <= most:
                assert likelihood(kernel._replace(**{field: at})) <= best + 1e-3


def test_a_smooth_function_is_recovered():
    x, new = points(60), points(200, seed=1)
    rng = np.random.default_rng(2)
    costs = smooth(x) + 0.05 * rng.normal(size=60)
    fitted = Surrogate(x, Effects(costs, np.full(60, 0.05**2)))
    error = fitted(new) - smooth(new)
    assert np.sqrt(np.mean(error**2)) < 0.1 * smooth(new).std()


def test_luck_is_discounted():
    x = points(40)
    costs = smooth(x)
    lucky = int(np.argsort(costs)[20])
    costs[lucky] -= 2.0
    variance = np.full(40, 1e-4)
    variance[lucky] = 1.0
    fitted = Surrogate(x, Effects(costs, variance))
    assert fitted.posterior[lucky] > costs[lucky] + 1.0


def test_the_next_fit_begins_at_the_last_kernel():
    x = points(40)
    effects = Effects(smooth(x), np.full(40, 0.01))
    first = Surrogate(x, effects)
    assert Surrogate(x, effects, first.kernel).kernel == first.kernel


@pytest.mark.parametrize("costs", [np.zeros(12), np.full(12, 10.0), np.r_[np.zeros(11), 10.0]])
@pytest.mark.parametrize("variance", [1e-12, 1.0])
def test_costs_that_say_little_do_no_harm(costs, variance):
    x = points(12)
    x[3] = x[4]  # the same place twice
    fitted = Surrogate(x, Effects(costs, np.full(12, variance)))
    assert np.isfinite(fitted.posterior).all()
    assert np.isfinite(fitted(points(5, seed=3))).all()
    assert fitted(points(5, seed=3)).min() >= costs.min() - 10.0


def test_one_candidate_is_enough():
    fitted = Surrogate(points(1), Effects(np.array([3.0]), np.array([0.1])))
    assert fitted(points(2)) == pytest.approx([3.0, 3.0])


def test_choices_and_absent_parameters_are_learnt():
    space = Space(
        {"kind": Categorical(["a", "b", "c"]), "x": Real(0, 1), "n": Integer(0, 9)},
        conditions={"x": {"kind": "a"}},
    )
    choices = choice_counts(space.parameters)

    def cost(config):
        return {"a": 0.0, "b": 2.0, "c": 4.0}[config["kind"]] + config.get("x", 0.0)

    configs, new = (space.sample(60, seed=seed) for seed in (1, 2))
    x, other = (
        features(np.array([space.encode(c) for c in some]), choices) for some in (configs, new)
    )
    assert x.shape == (60, 3, 2)
    assert np.isfinite(x).all()
    costs = np.array([cost(config) for config in configs])
    fitted = Surrogate(x, Effects(costs, np.full(60, 1e-3)))
    wanted = np.array([cost(config) for config in new])
    assert np.abs(fitted(other) - wanted).mean() < 0.2


def test_two_choices_are_as_far_apart_as_the_ends_of_a_range():
    space = Space({"kind": Categorical(["a", "b", "c"]), "x": Real(0, 1)})
    choices = choice_counts(space.parameters)
    assert choices.tolist() == [3, 0]
    corners = [{"kind": k, "x": x} for k, x in (("a", 0), ("b", 0), ("c", 0), ("a", 1))]
    vectors = np.array([*(space.encode(config) for config in corners), [np.nan, np.nan]])
    some = features(vectors, choices)
    distances = module._Between(some, some)._distance
    assert distances[0].tolist() == [0.0, 1.0, 1.0, 1.0, 1.25]  # absent: another choice, the middle
    assert distances[4, 4] == 0.0


def test_distances_that_are_not_kept_give_the_same(monkeypatch):
    rng = np.random.default_rng(4)
    vectors = rng.random((40, 3))
    vectors[:, 2] = (np.floor(3 * vectors[:, 2]) + 0.5) / 3  # a choice of three
    some = features(vectors, np.array([0, 0, 3]))
    known = Effects(vectors[:, 0] + (vectors[:, 2] < 0.3), np.full(40, 0.01))
    kept = Surrogate(some, known)
    monkeypatch.setattr("racer.model.surrogate._KEPT", 0)
    anew = Surrogate(some, known)
    assert anew.kernel == kept.kernel
    assert anew(some).tolist() == kept(some).tolist()
    assert anew.lower_bound(some).tolist() == kept.lower_bound(some).tolist()


def keys():
    """Return all parts of all kernels."""
    joint = [("joint", at) for at in range(len(module._LENGTH_SCALES))]
    return [*joint, *(("own", at) for at in range(len(module._OWN_LENGTH_SCALES)))]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (range(30), range(40)),  # some are new
        (range(40), [35, 3, 17, 2, 3]),  # in another order, one twice
        ([4, 4, 8], [8, 50, 4, 51, 4]),
        (range(20), range(20, 40)),  # all are new
        (range(20), range(20)),
    ],
)
def test_correlations_of_the_last_fit_are_those_that_are_computed_anew(before, after):
    vectors = np.random.default_rng(5).random((60, 4))
    some = features(vectors, np.array([0, 0, 3, 0]))
    known = Correlations(some[[*before]])
    for key in keys()[::2]:
        known(*key)
    found, anew = Correlations(some[[*after]], known), Correlations(some[[*after]])
    for key in keys():
        assert found(*key).tolist() == anew(*key).tolist()


def test_known_correlations_are_not_computed_again(monkeypatch):
    some = points(30)
    first = Correlations(some[:25])
    Surrogate(some[:25], Effects(smooth(some[:25]), np.full(25, 0.01)), Kernel(), first)
    computed = []
    compute = module._Between._compute

    def counted(self, j, out):
        computed.append(out.shape)
        return compute(self, j, out)

    monkeypatch.setattr(module._Between, "_compute", counted)
    second = Correlations(some, first)
    Surrogate(some, Effects(smooth(some), np.full(30, 0.01)), Kernel(), second)
    assert {*computed} == {(5, 30)}
    computed.clear()
    Surrogate(some, Effects(smooth(some)[::-1], np.full(30, 0.01)), Kernel(), second)
    assert not computed
