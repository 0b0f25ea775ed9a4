"""The posterior of several metrics: its draws, what it says of fronts, and what it refuses."""

from functools import cache

import numpy as np
import pytest

from racer import ScoresError, SettingError
from racer.stats import front_posterior, several
from racer.stats.hypervolume import contributions, hypervolume, thinned
from racer.stats.several import drawn_fronts, intervals, on_front


def tables(means, n, seed, *, rho=0.0, noise=1.0):
    """Return scores (d, n, m) around means (m, d), with levels of blocks, noise correlated by rho."""
    rng = np.random.default_rng(seed)
    drawn = rng.normal(size=(n, *means.shape))
    drawn[..., 1] = rho * drawn[..., 0] + np.sqrt(1.0 - rho**2) * drawn[..., 1]
    return (means + noise * drawn + rng.normal(size=(n, 1, means.shape[1]))).transpose(2, 0, 1)


def chances_of(scores):
    """Return P(on the front), (m,), without the intervals of means, a third of the time."""
    return drawn_fronts(scores, np.zeros(len(scores), dtype=bool), n_blocks=None).mean(axis=0)


def front_of(means):
    return ~(means[:, None] > means[None]).all(axis=2).any(axis=1)


@pytest.mark.thorough
@pytest.mark.parametrize("rho", [0.0, 0.9, -0.9])
def test_what_is_said_is_true_as_often(rho, monkeypatch):
    monkeypatch.setattr(several, "_TURNS", 1)  # of draws: finer digits do not matter here
    said, true = [], []
    for seed in range(240):
        means = 0.8 * np.random.default_rng([seed, 1]).random((8, 2))
        said.append(chances_of(tables(means, 15, seed, rho=rho)))
        true.append(front_of(means))
    said, true = np.concatenate(said), np.concatenate(true)
    for low, high in ((0.05, 0.35), (0.35, 0.65), (0.65, 0.95)):
        here = (said >= low) & (said < high)
        assert here.sum() > 25
        assert abs(said[here].mean() - true[here].mean()) < 0.12


@pytest.mark.thorough
def test_metrics_are_drawn_independently(monkeypatch):
    """Of random points, each metric has parts of its mixture, and scales, of its own."""
    rng = np.random.default_rng(3)
    scores = tables(rng.random((30, 2)), 5, 3)
    found = front_posterior(scores).probability_front
    model = several.Means(scores, np.zeros(2, dtype=bool), by_block=True, n_blocks=None)

    def points(m, **_):
        def scale(freedom):
            return np.sqrt(rng.chisquare(freedom, 4096) / freedom)

        return rng.standard_normal((m, 4096)), scale

    monkeypatch.setattr(several, "lattice_points", points)
    expected = np.mean([on_front(model.drawn()).mean(axis=0) for _ in range(40)], axis=0)
    assert np.abs(found - expected).max() < 0.007  # of these random draws, .004


def test_a_noisy_candidate_does_not_blur_the_others():
    """Of latencies, with a third candidate whose latency varies by factors."""
    draws = np.random.default_rng(3).normal(size=(2, 12, 3))
    latency = np.array([10.0, 12.0, 300.0]) * np.exp(draws * [0.02, 0.02, 1.2])
    assert (latency[:, :, 0] < latency[:, :, 1]).all()
    found = front_posterior(latency)
    assert found.probability_front[1] < 0.1 < 0.9 < found.probability_front[0]
    np.testing.assert_allclose(found.mean[:2], [[10.0] * 2, [12.0] * 2], atol=1.0)
    assert (found.low[:2] > 8.0).all()
    assert (found.high[:2] < 14.0).all()
    assert (found.high[2] > latency[:, :, 2].mean(axis=1)).all()  # not drawn to the others


@pytest.mark.parametrize("are_pruned", [False, True])
def test_the_front_of_candidates_that_are_far_apart_is_known(are_pruned, monkeypatch):
    """Noise differs from block to block, but what candidates differ by does not."""
    monkeypatch.setattr(several, "_TURNS", 1)
    said = []
    for seed in range(8):
        rng = np.random.default_rng([seed, 4])
        means = 30.0 * rng.random((40, 2))
        scores = means.T[:, None] + np.exp(0.7 * rng.normal(size=(2, 15, 1))) * rng.normal(
            size=(2, 15, 40)
        )
        if are_pruned:  # two in three, after three blocks in random order
            for candidate in np.flatnonzero(rng.random(40) < 2 / 3):
                scores[:, rng.permutation(15)[3:], candidate] = np.nan
        chances = chances_of(scores)
        said += np.where(front_of(means), chances, 1.0 - chances).tolist()
    assert np.mean(said) > 0.93


def test_windows_of_blocks_make_no_noise_and_no_correlation():
    """Each candidate sees three blocks in a row: alternating projections would take very long."""
    rng = np.random.default_rng(6)
    one = np.linspace(0.0, 100.0, 40)
    scores = np.array([one, 100.0 - one])[:, None] + rng.normal(size=(2, 15, 40))
    for candidate in range(40):
        first = candidate * 13 // 40
        scores[:, :first, candidate] = scores[:, first + 3 :, candidate] = np.nan
    _, low, high = intervals(scores, np.zeros(2, dtype=bool))
    assert (high - low).mean() < 5.0
    assert front_posterior(scores).probability_front.min() > 0.9  # each trades one for the other


@pytest.mark.thorough
@pytest.mark.parametrize("turned", [False, True], ids=["aligned", "trade-off"])
def test_effects_that_go_together(turned, monkeypatch):
    """Compare sums where a candidate better in one metric is better, or worse, in the other."""
    monkeypatch.setattr(several, "_TURNS", 1)
    said, true = 0.0, 0
    for seed in range(12):
        rng = np.random.default_rng([seed, 7])
        one, own = rng.random((2, 20))
        means = 3.0 * np.stack([one, 0.8 * (1.0 - one if turned else one) + 0.2 * own], axis=1)
        said += chances_of(tables(means, 10, seed)).sum()
        true += front_of(means).sum()
    assert (0.8 if turned else 0.9) < said / true < (1.0 if turned else 1.3)


def test_two_candidates_and_a_constant_metric():
    scores = np.random.default_rng(8).normal(size=(2, 6, 2))
    scores[0] = 5.0
    assert front_posterior(scores).probability_front.min() > 0.0  # and no warning


@pytest.mark.thorough
def test_intervals_hold_the_means():
    held = []
    for seed in range(60):
        means = np.random.default_rng([seed, 2]).normal(size=(6, 2))
        costs = tables(means, 20, seed, noise=0.5)
        _, low, high = intervals(costs, np.zeros(2, dtype=bool))
        held.append((low <= means) & (means <= high))
    assert 0.90 < np.mean(held) < 0.99


def test_what_is_exact_has_no_error_and_an_order_of_its_own():
    means = np.array([[0.0, 1.0], [0.0, 2.0], [5.0, 0.5]])
    scores = tables(means, 30, 1)
    scores[0][:, 1] = scores[0][:, 0]
    scores[1] = means[:, 1]
    found = front_posterior(scores, exact=[False, True])
    assert found.mean[:, 1].tolist() == found.low[:, 1].tolist() == means[:, 1].tolist()
    assert found.probability_front[2] == 1.0  # nobody is cheaper
    assert found.probability_front[1] == pytest.approx(0.5, abs=0.05)  # as good, and dearer


def test_larger_may_be_better_in_one_metric():
    scores = tables(np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]), 30, 3)
    turned = scores.copy()
    turned[1] *= -1.0
    plain, other = front_posterior(scores), front_posterior(turned, maximize=[False, True])
    assert other.probability_front.tolist() == plain.probability_front.tolist()
    assert np.allclose(other.mean[:, 1], -plain.mean[:, 1])
    assert np.allclose(other.low[:, 1], -plain.high[:, 1])
    assert next(iter(plain.to_frame().columns)) == "probability_front"


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"scores": np.zeros((2, 0, 0))}, ScoresError),
        ({"scores": [[1.0, 2.0]]}, ScoresError),
        ({"scores": np.zeros((2, 3, 4)), "maximize": [True]}, SettingError),
        ({"scores": np.zeros((2, 3, 4)), "exact": [True]}, SettingError),
        ({"scores": np.zeros((2, 3, 4)), "n_blocks": 2}, SettingError),
    ],
)
def test_bad_arguments(given, error):
    with pytest.raises(error):
        front_posterior(**given)


@pytest.mark.parametrize(
    ("seed", "n", "m", "scale"), [(23, 4, 15, 1e2), (148, 6, 14, 1e2), (196, 12, 18, 10.0)]
)
def test_a_metric_without_noise_but_for_rounding(seed, n, m, scale, monkeypatch):
    """Compare residuals that are rounding: they are no measure of the metric's noise."""
    monkeypatch.setattr(several, "_TURNS", 1)
    for more in range(9):
        rng = np.random.default_rng([seed, more])
        plain = scale * (rng.random((n, 1)) + rng.random(m))
        if seed % 2 == 0:
            plain = np.repeat(scale * rng.random((1, m)), n, axis=0)
        noisy = rng.random(m) + rng.normal(size=(n, m)) * [0.0, 1e-3, 1.0][more % 3]
        scores = np.stack([plain, noisy])
        scores[:, rng.random((n, m)) < 0.3 * (more % 2)] = np.nan
        with np.errstate(all="raise", under="ignore"):
            found = front_posterior(scores)
        assert np.isfinite(found.probability_front).all()
        best = plain[0].argmin()
        is_seen = np.isfinite(scores[0, :, best]).any()
        assert not is_seen or found.probability_front[best] > 0.9


@pytest.mark.parametrize(("p", "m", "d"), [(2000, 50, 2), (3, 400, 3), (1, 200, 1), (700, 1, 2)])
def test_the_front_is_that_of_all_pairs(p, m, d):
    rng = np.random.default_rng(m)
    drawn = rng.integers(0, 40, size=(p, m, d)).astype(float)  # with ties
    drawn[rng.random(drawn.shape) < 0.1] = np.inf
    beaten = [[(one[:, None] > one).all(axis=2).any(axis=1)] for one in drawn]
    np.testing.assert_array_equal(on_front(drawn), ~np.concatenate(beaten))


def test_volumes():
    reference = np.array([2.0, 2.0])
    points = np.array([[0.0, 1.0], [1.0, 0.0], [1.5, 1.5]])
    assert hypervolume(points, reference) == pytest.approx(3.0)
    assert contributions(points, reference).tolist() == pytest.approx([1.0, 1.0, 0.0])
    assert hypervolume(np.array([[3.0, 0.0]]), reference) == 0.0
    assert set(thinned(points, 2)) == {0, 1}


@pytest.mark.parametrize("d", [2, 3, 4])
def test_volumes_are_those_of_drawn_points(d):
    rng = np.random.default_rng(d)
    points, inside = rng.random((9, d)), rng.random((200_000, d))
    share = (points[None, :, :] <= inside[:, None, :]).all(axis=2).any(axis=1).mean()
    assert hypervolume(points, np.ones(d)) == pytest.approx(share, abs=0.01)


@pytest.mark.parametrize("factor", [1.0, 0.1, 0.3, 0.07, 1.0 / 3.0])
def test_rounding_is_no_noise(factor):
    k = np.arange(10) + 1
    rng = np.random.default_rng(1)
    error = 0.1 + 0.5 / k + 0.02 * rng.normal(size=(16, 10))
    price = np.tile(k * factor, (16, 1))
    plain = front_posterior([error, price], exact=[False, True]).probability_front
    found = front_posterior([error, price]).probability_front
    assert np.abs(found - plain).max() < 0.1


@pytest.mark.parametrize("d", [2, 3, 5, 8])
def test_many_points_are_put_in_order_whatever_the_number_of_metrics(d):
    points = np.random.default_rng(d).random((80, d))
    assert sorted(thinned(points, 80)) == list(range(80))


@pytest.mark.parametrize("shift", [0.0, 8.0, -100.0])
@pytest.mark.parametrize("unit", [1.0, 2.0**-20, 2.0**20])
def test_neither_level_nor_unit_of_costs_with_failures_matters(shift, unit, monkeypatch):
    monkeypatch.setattr(several, "_TURNS", 2)  # the same draws on both sides
    rng = np.random.default_rng(3)
    costs = rng.normal(size=(2, 12, 2))
    costs[:, ::4, 1] = np.inf
    plain = front_posterior(costs).probability_front
    found = front_posterior(costs * unit + shift * unit).probability_front
    np.testing.assert_allclose(found, plain, atol=1e-6)


@pytest.mark.parametrize("sizes", [(2.0**1000, 2.0**-1000), (2.0**-400, 2.0**400)])
def test_units_beyond_what_squares_hold_do_not_matter(sizes):
    scores = np.random.default_rng(1).normal(size=(2, 6, 2))
    scores[:, np.random.default_rng(2).random((6, 2)) < 0.2] = np.inf
    unit = np.array(sizes)
    usual, found = front_posterior(scores), front_posterior(scores * unit[:, None, None])
    np.testing.assert_allclose(found.probability_front, usual.probability_front, atol=0.01)
    for name in ("mean", "low", "high"):
        np.testing.assert_allclose(getattr(found, name) / unit, getattr(usual, name), rtol=1e-6)


def test_one_block_may_be_huge():
    scores = np.random.default_rng(0).normal(size=(2, 12, 3))
    scores[0, 3, :] = 1e200 * np.arange(1, 4)
    assert front_posterior(scores).probability_front.min() >= 0.0


@pytest.mark.parametrize("where", [slice(None), 3])
@pytest.mark.parametrize("size", [1e120, 1e200, 1e300])
def test_others_are_healthy_beside_one_with_huge_costs(where, size):
    scores = np.random.default_rng(0).normal(size=(2, 12, 3))
    alone = front_posterior(scores[:, :, :2])
    scores[0, where, 2] = size
    found = front_posterior(scores)
    assert found.mean[0, 0] == pytest.approx(alone.mean[0, 0], abs=0.3)
    width = (found.high - found.low)[:2, 0]
    assert (width < 2.0).all()
    assert found.mean[2, 0] == pytest.approx(scores[0, :, 2].mean(), rel=0.01)
    assert found.low[2, 0] <= found.mean[2, 0] <= found.high[2, 0]
    assert found.probability_front[:2] == pytest.approx(alone.probability_front, abs=0.2)


def test_where_only_copies_are_left_the_unit_says_nothing():
    """Costs that tie left residuals of rounding, which were a scale of that block or none."""
    costs = np.random.default_rng(4).normal(size=(2, 10, 3)) + np.array([[[0.0, 0.3, 0.2]]])
    costs = np.concatenate([costs, costs[:, :, :1]], axis=2)
    costs[:, 5:, 1:3] = np.nan
    one, *others = (front_posterior(unit * costs).probability_front for unit in (1, 2, 3, 0.1))
    assert one.min() > 0.1
    for other in others:
        np.testing.assert_allclose(other, one, atol=1e-6)


def tokens_and_error():
    rng = np.random.default_rng(3)
    tokens = rng.normal(size=(12, 4)) + np.array([5.0, 5.4, 5.8, 6.2])
    return tokens, rng.normal(size=(12, 4)) + np.array([0.5, 0.9, 0.3, -0.3])


@cache
def without_price():
    """Return P(on the front) by tokens, and by error and tokens."""
    tokens, error = tokens_and_error()
    return [front_posterior(table).probability_front for table in ([tokens], [error, tokens])]


@pytest.mark.parametrize(("slope", "level"), [(2.0, 0.0), (3.0, 0.0), (0.1, 7.0), (1e-6, 0.0)])
def test_a_linear_function_of_a_metric_adds_nothing(slope, level):
    """Such as a price of tokens: an axis without noise told that candidates are equal along all."""
    tokens, error = tokens_and_error()
    price = slope * tokens + level
    found = [
        front_posterior(metrics)
        for metrics in ([tokens, price], [error, tokens, price], [price, error, tokens])
    ]
    of_tokens, of_both = without_price()
    for one, expected in zip(found, (of_tokens, of_both, of_both), strict=True):
        np.testing.assert_allclose(one.probability_front, expected, atol=0.01)
    for ends in (found[0].mean, found[0].low, found[0].high):
        np.testing.assert_allclose(ends[:, 1], slope * ends[:, 0] + level)


@pytest.mark.parametrize("unit", [1.0, 5.0])
def test_of_opposites_all_are_on_the_front(unit):
    right = unit * np.random.default_rng(0).normal(size=(6, 4))
    assert (front_posterior([right, 1.0 - right]).probability_front == 1.0).all()


def test_a_metric_that_is_the_same_everywhere_tells_nothing_of_the_others():
    error = np.random.default_rng(1).normal(size=(8, 4)) + np.arange(4.0)
    for constant in (0.1, 3e5):
        chances = front_posterior([error, np.full_like(error, constant)])
        assert (chances.probability_front == 1.0).all()  # nobody is worse in all
        np.testing.assert_allclose(chances.high[:, 1], constant)
        np.testing.assert_allclose(chances.low[:, 0], front_posterior([error]).low[:, 0], atol=0.2)


@pytest.mark.parametrize("far", [50.0, 1e4, 1e10])
def test_who_is_far_behind_in_all_metrics_says_nothing_of_the_others(far):
    """As a penalty in each: the axes of the noise were those of its effects."""
    effects = np.array([[0.0, -1.2, 0.0, 0.0, 0.0], [0.0, 0.3, -0.5, 0.2, 0.0]])
    costs = effects[:, None] + np.random.default_rng(0).normal(size=(2, 12, 5))
    near, found = (
        front_posterior(costs + worst * np.eye(5)[4]).probability_front for worst in (10.0, far)
    )
    np.testing.assert_allclose(found, near, atol=0.06)


def test_metrics_of_one_block_are_no_functions_of_each_other():
    one, other = (
        front_posterior([[[0.0, 0.3]], [other]]).probability_front
        for other in ([0.0, 0.5], [0.0, -0.5])
    )
    assert one[0] > one[1]
    assert (other < 1.0).all()


def test_a_rounded_linear_function_adds_little():
    tokens, error = tokens_and_error()
    found = front_posterior([error, tokens, np.round(2.0 * tokens, 4)]).probability_front
    np.testing.assert_allclose(found, without_price()[1], atol=0.07)


def test_what_differs_by_rounding_is_the_same():
    error = np.random.default_rng(1).normal(size=(8, 4)) + np.arange(4.0)
    price = np.full((8, 4), 0.3)
    price[::2, 1] = 0.1 + 0.2
    assert (front_posterior([error, price]).probability_front == 1.0).all()


def test_chances_are_those_of_all_that_is_said():
    scores = tables(np.random.default_rng(0).random((5, 2)), 10, 0)
    assert chances_of(scores).tolist() == front_posterior(scores).probability_front.tolist()
