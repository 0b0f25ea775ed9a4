"""The posterior of the best: laws, calibration, failures, and digits that hold."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from racer import ScoresError, SettingError
from racer.stats import best_posterior

LAW = settings(max_examples=15, deadline=None, derandomize=True)
NAN, FAILED = math.nan, math.inf


@st.composite
def tables(draw):
    """Costs of a race: candidates leave one after the other, some evaluations fail."""
    m, n = draw(st.integers(2, 8)), draw(st.integers(2, 12))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    costs = rng.normal(size=(n, m)) + rng.normal(size=m)
    last = rng.integers(2, n + 1, m)
    last[0] = n
    costs[np.arange(n)[:, None] >= last] = NAN
    if draw(st.booleans()):
        costs[(rng.random((n, m)) < 0.1) & ~np.isnan(costs)] = FAILED
    return costs


def close(one, other, tolerance=0.02):
    np.testing.assert_allclose(one, other, atol=tolerance)


@LAW
@given(tables())
def test_it_is_a_distribution_and_its_set_holds_what_it_says(costs):
    found = best_posterior(costs)
    probability = found.probability_best
    assert (probability >= 0.0).all()
    assert probability.sum() == pytest.approx(1.0)
    chosen = found.credible_set()
    assert found.best == chosen[0]
    assert probability[list(chosen)].sum() >= 0.95 - 1e-6
    assert probability[list(chosen[:-1])].sum() < 0.95
    assert found.probability_best.max() == pytest.approx(probability[found.best], abs=1e-6)


@LAW
@given(tables(), st.integers(0, 99))
def test_order_unit_direction_and_levels_of_blocks_do_not_matter(costs, seed):
    found = best_posterior(costs).probability_best
    order = np.random.default_rng(seed).permutation(costs.shape[1])
    close(best_posterior(costs[:, order]).probability_best, found[order])
    close(best_posterior(costs[::-1]).probability_best, found, 1e-3)
    close(best_posterior(3.0 * costs - 7.0).probability_best, found, 1e-3)
    close(best_posterior(-costs, maximize=True).probability_best, found, 1e-3)
    levels = 100.0 * np.arange(len(costs))[:, None]
    close(best_posterior(costs + levels).probability_best, found)


def test_the_order_of_candidates_does_not_matter_where_tails_are_heavy():
    order = [0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11]
    for seed in range(4, 10):
        costs = np.exp(3.0 * np.random.default_rng(seed).normal(size=(30, 12)))
        costs[:, 0] *= 0.2
        found = best_posterior(costs).probability_best
        close(best_posterior(costs[:, order]).probability_best, found[order])
        scales = 10.0 ** np.random.default_rng(seed).uniform(-3.0, 3.0, size=(30, 1))
        close(best_posterior(costs * scales).probability_best, found, 0.2)  # nearly forgotten


def test_the_unit_does_not_matter_where_instances_are_used_again():
    levels = np.array([0.0, 0.6, *range(100, 800, 100)])
    for seed in range(6):
        costs = levels + np.random.default_rng(seed).normal(size=(12, 9))
        instances = np.arange(12) % 6
        found = [
            best_posterior(unit * costs, instances=instances, generalize=False).probability_best
            for unit in (1.0, 2.0, 3.0)
        ]
        close(found[1], found[0])
        close(found[2], found[0])


def test_those_that_are_equal_for_certain_share_it():
    assert best_posterior(np.ones((6, 4))).probability_best.tolist() == [0.25] * 4
    assert best_posterior(np.tile([1.0, 2.0, 2.0], (30, 1))).best == 0
    twins = np.random.default_rng(1).normal(size=(20, 1)) + np.zeros((20, 2))
    close(best_posterior(twins).probability_best, [0.5, 0.5], 1e-9)


@pytest.mark.parametrize("spread", [0.3, 1.0])
def test_what_it_says_is_right_as_often_as_it_says(spread):
    rng = np.random.default_rng(8)
    said, true = [], []
    for _ in range(60):
        quality = spread * rng.normal(size=6)
        found = best_posterior(quality + rng.normal(size=(12, 6))).probability_best
        said.append(found.max())
        true.append(found.argmax() == quality.argmin())
    error = math.sqrt(0.25 / len(said))
    assert abs(np.mean(said) - np.mean(true)) < 0.05 + 2 * error


def test_eliminated_candidates_count():
    """Two that were dropped while they led keep their chance; one far behind has none."""
    rng = np.random.default_rng(2)
    costs = rng.normal(size=(40, 4)) * 0.3 + [0.0, 0.0, 0.5, 5.0]
    costs[5:, 1] = NAN
    costs[3:, 3] = NAN
    found = best_posterior(costs).probability_best
    assert found[1] > 0.05
    assert found[3] < 1e-3


def test_who_fails_on_a_quarter_is_not_the_best_where_another_does_not():
    rng = np.random.default_rng(4)
    costs = rng.normal(size=(40, 3)) * 0.1 + [0.0, 1.0, 1.2]
    costs[::4, 0] = FAILED
    found = best_posterior(costs)
    assert found.best == 1
    assert found.probability_best[0] < 0.02


@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize("others", [[2.0, 3.0], [2.0, 2.0]])
def test_an_infinitely_good_score_is_no_failure(maximize, others):
    """The logarithm of an error of 0, or the signal-to-noise ratio of a perfect picture."""
    costs = np.random.default_rng(1).normal(size=(14, 1)) + np.array([2.0, *others])
    costs[:10, 0] = -math.inf
    found = best_posterior(-costs if maximize else costs, maximize=maximize)
    assert found.best == 0
    assert found.probability_best[0] > 0.7  # it ties on the other four


def test_blocks_without_a_finite_score_tell_those_that_fail():
    costs = np.array([[-math.inf, NAN, FAILED], [NAN, -math.inf, FAILED], [1.0, 2.0, 3.0]])
    found = best_posterior(np.repeat(costs, [2, 2, 1], axis=0)).probability_best
    assert found[2] < found[:2].min() / 3.0


def test_an_outlier_decides_only_where_means_count():
    rng = np.random.default_rng(7)
    costs = rng.normal(size=(40, 3)) * 0.5 + [0.0, 1.0, 1.0]
    costs[3, 0] = 1000.0
    assert best_posterior(costs).best == 0
    assert best_posterior(costs, measure="mean").probability_best[0] < 0.9


@pytest.mark.parametrize("size", [100.0, 1e4, 1e6])
def test_a_large_cost_of_another_does_not_favour_who_left_soon_after(size):
    effects = np.array([0.0, 3.0, 0.2, 1.0])
    for seed in range(10):
        costs = np.random.default_rng(seed).normal(size=(12, 4)) + effects
        costs[5:, [1, 3]] = NAN
        usual, without = (
            best_posterior(c, measure="mean").probability_best for c in (costs, costs[:, [0, 1, 3]])
        )
        costs[seed % 5, 2] += size
        found = best_posterior(costs, measure="mean").probability_best
        assert found[3] < max(usual[3], without[2]) + 0.1


@pytest.mark.parametrize("spread", [1.0, 10.0, 30.0])
@pytest.mark.parametrize("given", [{}, {"n_blocks": 40}, {"correlation": 0.1}])
def test_the_noise_of_a_hopeless_candidate_says_nothing_of_the_others(spread, given):
    """It made whoever was seen least the best, though it had lost on each of its blocks."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        costs = rng.normal(size=(40, 1)) + np.array([0.0, 0.01, 1.0, 100.0])
        costs += rng.normal(0.0, 0.1, (40, 4))
        costs[:, 3] += rng.normal(0.0, spread, 40)
        costs[5:, 2:] = NAN
        without = best_posterior(costs[:, :3], measure="mean", **given).probability_best
        found = best_posterior(costs, measure="mean", **given)
        close(found.probability_best[:3], without, 0.1)
        assert found.probability_best[2:].sum() < 0.02
        assert found.mean[:2].max() < found.mean[2] < found.mean[3] < np.inf


def test_candidates_of_very_different_sizes_can_be_compared():
    rng = np.random.default_rng(3)
    for _ in range(80):
        n, m = rng.integers(3, 12), rng.integers(3, 7)
        costs = rng.normal(size=(n, m)) * 10.0 ** rng.uniform(-100.0, 100.0, m)
        costs[np.arange(n)[:, None] >= rng.integers(2, n + 1, m)] = NAN
        probability = best_posterior(costs, measure="mean").probability_best
        assert probability.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("far", [3.0, 5.0, 1e1, 1e2, 1e4, 1e6, 1e9, 1e12])
@pytest.mark.parametrize("measure", ["rank", "mean"])
def test_how_far_away_the_worst_is_says_nothing_of_the_others(far, measure):
    """Its distance was beyond the spreads of the prior, hid the noise, and made blocks unlike."""
    noise = np.random.default_rng(1).normal(0.0, 0.05, (20, 4))
    for leave in ([20, 20, 20, 20], [8, 8, 20, 5], [15, 20, 20, 3]):
        left = np.arange(20)[:, None] >= np.array(leave)
        at = [np.array([0.25, 0.5, 0.1, worst]) + noise for worst in (1.0, far)]
        near, found = (best_posterior(np.where(left, NAN, costs), measure=measure) for costs in at)
        close(found.probability_best, near.probability_best, 0.07)
        assert found.best == near.best == 2
        if measure == "mean":
            apart = found.mean - found.mean[2]
            np.testing.assert_allclose(apart[3] / apart[1], (far - 0.1) / 0.4, rtol=0.2)


@pytest.mark.parametrize("far", [1e6, 1e10])
def test_candidates_that_are_far_away_together_are_compared(far):
    noise = np.random.default_rng(1).normal(0.0, 0.05, (20, 4))
    found = best_posterior(np.array([0.9, 0.5, far, far + 1.0]) + noise)
    assert found.best == 1
    assert found.probability_best[1] > 0.99


def test_hardly_any_noise_makes_no_ties():
    costs = np.tile([0.1, 0.2], (3, 1)) + 1e-13 * np.random.default_rng(0).normal(size=(3, 2))
    assert best_posterior(costs).probability_best[0] > 0.99


def test_who_was_not_seen_is_moved_with_those_that_are_most_like_it():
    x = np.linspace(0.0, 1.0, 8)
    alike = np.exp(-0.5 * (x[:, None] - x) ** 2 / 0.09)
    costs = 1000.0 * x + np.random.default_rng(1).normal(size=(12, 8))
    costs[:, 6] = NAN
    mean = best_posterior(costs, covariances=alike[None]).mean
    assert mean[5] <= mean[6] <= mean[7]


def test_gaps_are_wide_beside_what_the_blocks_share():
    """With highly correlated blocks, a gap of 25 standard deviations of the noise is little."""
    noise = np.random.default_rng(0).normal(size=(10, 3))
    near, far = (
        best_posterior(np.array([0.0, 25.0, worst]) + noise, correlation=0.999).probability_best
        for worst in (500.0, 2000.0)
    )
    close(near, far, 0.05)


def test_without_noise_the_widest_gap_is_what_it_is():
    for one in ([1.0, 2.0, 3.0, 3.0], [0.1, 0.2, 0.3, 1e5], [0.1, 0.1, 0.1, 1e6]):
        costs = np.tile(one, (10, 1)) + np.random.default_rng(0).normal(size=(10, 1))
        chances = best_posterior(costs).probability_best
        best = np.array(one) == min(one)
        close(chances, best / best.sum(), 0.01)


def test_copies_that_outlast_the_others_do_not_make_noise_outliers():
    """Where only copies are left residuals are 0, and all others were clipped."""
    costs = np.random.default_rng(4).normal(size=(10, 3)) + np.array([0.0, 0.3, 0.2])
    costs = np.concatenate([costs, costs[:, :1]], axis=1)
    costs[5:, 1:3] = NAN
    by_rank, by_mean = (best_posterior(costs, measure=one) for one in ("rank", "mean"))
    close(by_rank.probability_best, by_mean.probability_best, 0.1)


def test_an_outlier_among_few_values_hardly_moves():
    """From the mean of five values, an outlier was hardly pulled in by the few steps there are."""
    for seed in range(5):
        costs = np.random.default_rng(seed).normal(size=(5, 12))
        costs[:, 3] = np.abs(costs[:, 3])
        costs[2, 3] = -60.0
        assert best_posterior(costs).probability_best[3] < 0.3


def test_who_is_noisy_is_believed_less():
    """Candidates' noise differs: of those that lead, the noisy ones lead by luck."""
    rng = np.random.default_rng(11)
    said, true = [], []
    for _ in range(120):
        quality = 0.25 * rng.normal(size=12)
        noise = np.exp(0.6 * rng.normal(size=12)) * rng.normal(size=(20, 12))
        found = best_posterior(quality + noise).probability_best
        said.append(found.max())
        true.append(found.argmax() == quality.argmin())
    assert np.mean(said) - np.mean(true) < 0.1


def smooth(rng, m=25, length=0.3):
    """Return a kernel (m, m) of points on a line, and effects that are smooth in them."""
    at = rng.random(m)
    kernel = np.exp(-0.5 * ((at[:, None] - at) / length) ** 2) + 1e-4 * np.eye(m)
    return kernel, np.linalg.cholesky(kernel) @ rng.normal(size=m)


def test_candidates_that_are_alike_tell_of_each_other():
    """With the covariance that is true, the best is found better, and right as often as is said."""
    rng = np.random.default_rng(12)
    alike, exchangeable, said, true = [], [], [], []
    for _ in range(40):
        kernel, effect = smooth(rng)
        costs = effect + 2.0 * rng.normal(size=(8, 25))
        found = best_posterior(costs, covariances=[np.eye(25), kernel]).probability_best
        alike.append(math.log(max(found[effect.argmin()], 1e-6)))
        plain = best_posterior(costs).probability_best[effect.argmin()]
        exchangeable.append(math.log(max(plain, 1e-6)))
        said.append(found.max())
        true.append(found.argmax() == effect.argmin())
    assert np.mean(alike) > np.mean(exchangeable) + 0.3
    assert abs(np.mean(said) - np.mean(true)) < 0.15


def test_covariances_of_alike_candidates_are_those_of_no_covariances():
    costs = np.random.default_rng(13).normal(size=(9, 5)) + np.arange(5) * 0.3
    plain = best_posterior(costs, measure="mean").probability_best
    alike = best_posterior(costs, measure="mean", covariances=[7.0 * np.eye(5)])
    close(alike.probability_best, plain, 1e-3)
    twice = best_posterior(costs, measure="mean", covariances=np.stack([np.eye(5), np.eye(5)]))
    close(twice.probability_best, plain, 5e-3)


def test_noise_counts_more_where_likeness_is_guessed_and_costs_are_in_units_of_blocks():
    costs = np.random.default_rng(13).normal(size=(9, 5)) + np.arange(5) * 0.3
    plain, alike = (best_posterior(costs, covariances=c) for c in (None, [7.0 * np.eye(5)]))
    assert alike.best == plain.best
    assert max(alike.probability_best) < max(plain.probability_best) - 0.05


def test_covariances_go_with_the_candidates_that_are_compared():
    rng = np.random.default_rng(14)
    kernel, effect = smooth(rng, 320)
    costs = effect + 0.3 * rng.normal(size=(6, 320))
    found = best_posterior(costs, covariances=kernel[None]).probability_best
    order = rng.permutation(320)
    turned = kernel[np.ix_(order, order)][None]
    close(best_posterior(costs[:, order], covariances=turned).probability_best, found[order], 0.03)


@pytest.mark.parametrize("settings", [{"covariances": np.eye(2)[None]}, {"correlation": 0.1}])
def test_covariances_of_other_candidates_are_refused(settings):
    given = {"covariances": np.eye(3)[None]} | settings
    with pytest.raises(SettingError, match=r"give k x 3 x 3, and no correlation"):
        best_posterior(np.ones((4, 3)) * np.arange(3), **given)


def test_the_best_is_sought_among_some():
    """Who is not among these has no chance, but says what candidates differ by."""
    rng = np.random.default_rng(3)
    costs = rng.normal([-9.0, -9.0, 0.3, 0.4, 0.2, 9.0], size=(6, 6))
    costs[0, 1:3] = FAILED
    everyone, some = best_posterior(costs), best_posterior(costs, among=[4, 2, 3])
    assert everyone.best == 0
    assert (some.probability_best[[0, 1, 5]] == 0.0).all()
    assert some.probability_best.sum() == pytest.approx(1.0)
    assert some.best == min((2, 3, 4), key=everyone.mean.__getitem__)
    assert np.argsort(some.mean[2:5]).tolist() == np.argsort(everyone.mean[2:5]).tolist()
    apart = best_posterior(costs[:, 2:5]).probability_best
    assert np.abs(some.probability_best[2:5] - apart).max() > 0.01
    np.testing.assert_array_equal(
        best_posterior(costs, among=range(6)).probability_best, everyone.probability_best
    )


def test_who_is_sought_is_compared_among_many():
    costs = np.random.default_rng(1).normal(size=(5, 400))
    costs[:, 390:] += 3.0
    found = best_posterior(costs, among=[390, 395])
    assert found.probability_best[[390, 395]].sum() == pytest.approx(1.0)


@pytest.mark.parametrize("among", [[], [6], [-1], [0.5], ["a"]])
def test_others_are_not_among_the_candidates(among):
    with pytest.raises((SettingError, ScoresError), match="among"):
        best_posterior(np.ones((3, 6)), among=among)


def test_correlated_folds_are_less_sure():
    rng = np.random.default_rng(6)
    costs = rng.normal(size=(20, 4)) * 0.5 + [0.0, 0.4, 0.5, 0.6]
    said = [best_posterior(costs, correlation=rho).probability_best[0] for rho in (0.0, 0.2, 0.6)]
    assert said[0] > said[1] > said[2] > 0.25


@pytest.mark.parametrize("size", [1e-200, 1e-5, 1e200])
def test_costs_of_any_size(size):
    costs = np.random.default_rng(1).normal([0.0, 3.0, 3.0], size=(10, 3))
    found = best_posterior(size * costs)
    assert found.best == 0
    assert found.probability_best[0] > 0.9


def test_nothing_known_is_nothing_said():
    for costs in (np.full((3, 4), NAN), np.empty((0, 4)), np.full((3, 4), FAILED)):
        found = best_posterior(costs)
        assert found.probability_best.tolist() == pytest.approx([0.25] * 4)
        assert found.n_blocks == 0
    assert best_posterior([[1.0]]).credible_set() == (0,)


def test_it_is_a_frame():
    frame = best_posterior([[1.0, 2.0], [1.1, 2.2]]).to_frame()
    assert list(frame) == ["probability_best", "mean"]
    assert frame.index.name == "candidate"


def test_bad_input_is_refused():
    with pytest.raises(ScoresError, match="no column"):
        best_posterior(np.empty((3, 0)))
    with pytest.raises(SettingError, match=r"level=1\.5"):
        best_posterior([[1.0, 2.0]]).credible_set(1.5)


def test_on_these_blocks_a_mean_of_all_has_no_error():
    costs = np.random.default_rng(3).normal(size=(4, 5))
    found = best_posterior(costs, measure="mean", n_blocks=4)
    assert found.probability_best[costs.mean(axis=0).argmin()] == 1.0
    more = best_posterior(costs, measure="mean", n_blocks=400).probability_best
    close(more, best_posterior(costs, measure="mean").probability_best, 0.03)
    with pytest.raises(SettingError, match="n_blocks=3: give at least the 4"):
        best_posterior(costs, n_blocks=3)


def test_means_that_are_equal_but_for_rounding_share_it():
    assert best_posterior([[1, 2, 3], [2, 1, 3]], n_blocks=2).probability_best.tolist() == [
        *(0.5, 0.5, 0.0)
    ]
    rows = [[1, 2, 5], [2, 1, 5], [3, 4, 7], [4, 3, 7], [1, 2, 5], [2, 1, 5]]
    close(best_posterior(rows, n_blocks=6).probability_best, [0.5, 0.5, 0.0], 1e-9)


def test_of_many_candidates_those_that_may_be_the_best_are_compared():
    rng = np.random.default_rng(3)
    quality = rng.permutation(np.linspace(0.0, 30.0, 1000))
    found = best_posterior(rng.normal(size=(20, 1000)) + quality)
    assert quality[found.best] < 0.5
    assert found.probability_best[quality > 20.0].sum() == 0.0
    assert found.probability_best.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("nearly", [False, True])
def test_scores_that_mostly_lie_near_one_end_are_compared_by_their_means(nearly):
    """Where few scores are far from the others, the spread of a block is chance, or next to none."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        if nearly:
            size = np.where(rng.random((300, 20)) < np.linspace(0.05, 0.4, 20), 1.0, 1e-3)
            costs = -size * rng.random((300, 20))
        else:
            shape = 0.2 * np.linspace(0.25, 0.5, 20)
            costs = -rng.beta(shape, 0.2 - shape, size=(300, 20))
        costs[20:, :18] = NAN  # as after eliminations; the last two stay
        found = best_posterior(costs)
        assert found.best >= 18 or found.probability_best.max() < 0.6


def test_blocks_of_unequal_spread_are_still_brought_to_one():
    rng = np.random.default_rng(3)
    wide = np.exp(rng.normal(0.0, 3.0, (40, 1)))
    costs = wide * (rng.normal(size=(40, 10)) + np.where(np.arange(10) == 4, -0.8, 0.0))
    assert best_posterior(costs).best == 4
    assert best_posterior(costs).probability_best[4] > 0.9


def test_failures_that_hit_all_alike_cost_nobody():
    rng = np.random.default_rng(2)
    said, true, covered = [], [], []
    for _ in range(60):
        quality = rng.normal(0.0, 0.5, 5)
        costs = quality + rng.normal(size=(30, 5))
        costs[rng.random((30, 5)) < 0.05] = FAILED
        found = best_posterior(costs)
        said.append(found.probability_best[found.best])
        true.append(found.best == quality.argmin())
        covered.append(quality.argmin() in found.credible_set())
    assert np.mean(true) > np.mean(said) - 0.1
    assert np.mean(true) > 0.5
    assert np.mean(covered) > 0.9


@pytest.mark.parametrize("world", ["scales", "log-normal"])
def test_a_hopeless_candidate_does_not_hide_the_units_of_blocks(world):
    shifts = []
    for seed in range(8):
        rng = np.random.default_rng([seed, 7])
        costs = rng.normal(0.0, 0.5, 10) + rng.normal(size=(30, 1)) + rng.normal(size=(30, 10))
        costs = (
            np.exp(costs) if world == "log-normal" else costs * np.exp(2 * rng.normal(size=(30, 1)))
        )
        alone = best_posterior(costs).probability_best
        beside = best_posterior(np.c_[costs, np.full(30, 1e6)]).probability_best
        assert beside[-1] < 1e-6
        shifts.append(np.abs(beside[:-1] - alone).max())
    assert np.mean(shifts) < (0.25 if world == "log-normal" else 0.1)


def _kernel(points):
    return np.exp(-0.5 * (np.subtract.outer(points, points) / 0.3) ** 2)[None]


def test_alike_candidates_that_fail_alike_do_not_fail_by_chance():
    rng = np.random.default_rng(3)
    points = rng.random(40)
    costs = 0.3 * rng.normal(size=(8, 40)) + np.abs(points - 0.5)
    by_chance, by_region = costs.copy(), costs.copy()
    by_chance[rng.random(costs.shape) < 0.125] = FAILED
    by_region[2, points > 0.45] = FAILED  # one of eight instances, half of the space
    kernel = _kernel(points)
    chosen = best_posterior(by_region, covariances=kernel)
    assert points[chosen.best] < 0.45
    assert chosen.probability_best[points > 0.45].sum() < 0.02
    spared = best_posterior(by_chance, covariances=kernel)
    failed = (by_chance == FAILED).any(axis=0)
    assert spared.probability_best[failed].sum() > 0.4  # as most have failed somewhere


def test_failures_of_many_that_are_alike_have_an_end_of_digits():
    """That all fail by one law is certain, and that alike ones then fail alike below any float."""
    side, rng = np.repeat([1.0, -1.0], 200), np.random.default_rng(1)
    costs = np.where(rng.random((6, 400)) < 0.85 + 0.08 * side, FAILED, rng.normal(size=(6, 400)))
    found = best_posterior(costs, covariances=[np.outer(side, side)]).probability_best
    assert found.sum() == pytest.approx(1.0)
    assert found[200:].sum() > 0.95


def test_a_penalty_prices_failures_that_nobody_has_seen():
    rng = np.random.default_rng(3)
    times = np.exp(0.3 * rng.standard_normal((25, 4)) + np.array([-0.5, 0.0, 0.3, 0.3]))
    certain = best_posterior(times, measure="log").probability_best
    few = times.copy()
    few[5:, 0] = np.nan  # of five cells, none failed
    few[[3, 9, 14], 3] = few[[2, 7, 11, 20], 2] = np.inf
    free = best_posterior(few, measure="log").probability_best
    priced = best_posterior(few, measure="log", penalty=100.0).probability_best
    assert certain[0] > 0.99
    assert free[0] > 0.8 > priced[0] + 0.1
    assert priced[1] > free[1] + 0.1  # slower, and none of 25 failed
    assert priced[2:].max() < 0.05


def test_without_failures_a_penalty_changes_little():
    rng = np.random.default_rng(4)
    times = np.exp(0.3 * rng.standard_normal((40, 5)) + 0.15 * np.arange(5))
    free = best_posterior(times, measure="log").probability_best
    priced = best_posterior(times, measure="log", penalty=10.0 * times.max()).probability_best
    assert np.abs(free - priced).max() < 0.1


def test_with_a_penalty_others_are_best_only_by_failing_less():
    rng = np.random.default_rng(5)
    times = np.exp(0.3 * rng.standard_normal((12, 3)))
    priced = best_posterior(times, measure="log", among=[0], penalty=1.0).probability_best
    times[[1, 4, 8], 0] = np.inf
    failing = best_posterior(times, measure="log", among=[0], penalty=1000.0).probability_best
    assert priced[0] > 0.9
    assert failing[0] < 0.1


@pytest.mark.parametrize(
    ("measure", "penalty"), [*(("log", p) for p in (0.0, -1.0, FAILED, "10")), ("rank", 10.0)]
)
def test_a_penalty_is_a_finite_positive_number_and_of_logarithms(measure, penalty):
    with pytest.raises(SettingError, match=r"penalty=.*measure="):
        best_posterior([[1.0, 2.0]] * 3, measure=measure, penalty=penalty)


def test_after_one_block_nobody_is_too_far_behind():
    """Its values have no noise to compare gaps with: one of a normal sample was without a chance."""
    found = best_posterior([[0.13, -0.13, 0.64, 0.10, 2.46, 3.36]])
    assert found.probability_best.min() > 0.01
    assert len(found.credible_set()) == 6
