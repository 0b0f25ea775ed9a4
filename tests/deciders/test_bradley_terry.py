"""The Bradley-Terry race against the posterior it claims to use."""

import numpy as np
import pytest

from racer.deciders import Blocks, BradleyTerryRace
from racer.deciders.bradley_terry import chances
from racer.deciders.parts.ranking import Order, RunningRanks
from racer.stats._likelihoods import EvenLikelihood, GivenScale, Likelihood, sum_to_zero
from racer.stats._sampling.model import climb

WINS = np.array([[0.0, 8, 9, 12], [7, 0, 6.5, 11], [6, 8.5, 0, 10], [3, 4, 5, 0]])


def model(wins=WINS, sigma=1.0, start=None):
    k = len(wins)
    start = np.zeros(k) if start is None else start
    return GivenScale(Likelihood(wins, np.zeros((k, k))), sigma, start)


def test_derivatives_of_the_posterior():
    point, step = np.random.default_rng(1).normal(size=4), 1e-5 * np.eye(4)
    there = model(sigma=0.7)
    slope = there.log_density(point + step) - there.log_density(point - step)
    np.testing.assert_allclose(there.gradient(point[None])[0], slope / 2e-5, atol=1e-6)
    curve = there.gradient(point + step) - there.gradient(point - step)
    np.testing.assert_allclose(there.precision(point), -curve / 2e-5, atol=1e-6)


@pytest.mark.parametrize(
    "start", [np.zeros(4), np.array([5.0, -5.0, 30.0, 0.0]), np.full(4, -1e3)], ids=str
)
@pytest.mark.parametrize("sigma", [0.1, 1.0, 1e3])
def test_the_mode_does_not_depend_on_where_it_was_sought(start, sigma):
    mode = climb(model(sigma=sigma)).mode
    assert np.abs(model(sigma=sigma).gradient(mode[None])).max() < 1e-9
    np.testing.assert_allclose(climb(model(sigma=sigma, start=start)).mode, mode, atol=1e-9)


@pytest.mark.parametrize("far", [0.0, 3.0, 200.0, 1e4])
@pytest.mark.parametrize("k", [2, 3, 40, 41])
def test_logarithms_of_products_are_sums_of_logarithms(k, far):
    """Also where a product of few sums, or a sum itself, is too small for a float."""
    rng, n = np.random.default_rng(1), 12.0
    wins = np.triu(rng.uniform(0, n, (k, k)), 1)
    wins += np.tril(n - wins.T, -1)
    beta = rng.normal(size=(130, k)) * (1.0 + far)
    args = (beta, np.zeros((1, 1)))
    with np.errstate(divide="ignore"):
        expected = Likelihood(wins, np.zeros((k, k))).log_likelihood(*args)
        found = EvenLikelihood(wins, np.zeros((k, k))).log_likelihood(*args)
    np.testing.assert_allclose(found, expected, rtol=1e-11)


def test_many_candidates_are_decided_on_as_few_are(table, monkeypatch):
    rng = np.random.default_rng(7)
    costs = rng.normal(size=(15, 64)) + 0.1 * np.arange(64)
    found = table.decide(BradleyTerryRace(), costs)
    monkeypatch.setattr("racer.deciders.bradley_terry._MANY", 65)
    drops = [(d.candidate, pytest.approx(d.probability)) for d in found.dropped]
    assert [
        (d.candidate, d.probability) for d in table.decide(BradleyTerryRace(), costs).dropped
    ] == drops
    assert drops


def chances_of(wins, sigma=1.0, draws=20_000):
    there = model(wins, sigma)
    return chances(there, climb(there), draws, seed=3)


@pytest.mark.parametrize(("won", "lost"), [(5.0, 0.0), (9.0, 3.0), (3.5, 6.5)])
def test_two_candidates_by_integration(won, lost):
    """beta_1 - beta_2 ~ Normal(0, 2 sigma^2)."""
    gap = np.linspace(-12, 12, 20_001)
    density = np.exp(-(gap**2) / 4 - won * np.log1p(np.exp(-gap)) - lost * np.log1p(np.exp(gap)))
    expected = density[gap > 0].sum() / density.sum()
    found = chances_of(np.array([[0.0, won], [lost, 0.0]]))
    assert found.best[0] == pytest.approx(expected, abs=0.006)
    assert found.effective_draws > 10_000


def test_four_candidates_by_a_grid():
    """In the sum-to-zero space, where the prior is normal too: no sampling."""
    side = np.linspace(-2.2, 2.2, 80)  # 0 is midway between two
    u = np.stack(np.meshgrid(side, side, side), axis=-1).reshape(-1, 3)
    beta = u @ sum_to_zero(4).T
    p = 1 / (1 + np.exp(beta[:, None, :] - beta[:, :, None]))
    log = (WINS * np.log(p)).sum(axis=(1, 2)) - (u**2).sum(axis=1) / 2
    weight = np.exp(log - log.max())
    expected = np.bincount(beta.argmax(axis=1), weight, minlength=4) / weight.sum()
    np.testing.assert_allclose(chances_of(WINS).best, expected, atol=0.012)


def test_a_race_decides_by_these_chances(table):
    """One candidate of five is far behind: what its drop says is what sampling from scratch says.

    As the sum of the scores is all that counts, a table of wins made by hand will do.
    """
    rng = np.random.default_rng(2)
    costs = rng.normal(size=(30, 5))
    costs[:, 4] += 0.9
    verdict = table.decide(BradleyTerryRace(draws=20_000), costs)
    (drop,) = verdict.dropped
    assert (drop.candidate, drop.reason, drop.measure) == (4, "unlikely", "posterior")
    wins = (costs[:, :, None] < costs[:, None, :]).sum(axis=0) * 3.0 / 6.0
    assert drop.probability == pytest.approx(chances_of(wins, draws=100_000).best[4], abs=0.003)
    assert drop.probability < 0.05 / 5
    assert drop.against == verdict.best


def test_copies_have_the_same_chance():
    """Draws are dealt out by position; shares of those alike are averaged."""
    costs = np.random.default_rng(7).normal(size=(12, 3))
    costs = np.column_stack([costs[:, 0], costs, costs[:, 0]])
    ranks = RunningRanks(5)
    ranks.update(Blocks(np.arange(5), costs))
    order = Order.sorted_from(ranks)
    there = model(ranks.wins[np.ix_(order.places, order.places)])
    found = chances(there, climb(there), 300, seed=1)
    shares = order.averaged(found.best)
    assert shares[0] == shares[1] == shares[4]
    assert shares.sum() == pytest.approx(1.0)
    assert len(set(found.best.tolist())) == 5


def test_meetings_of_a_block_count_less_than_independent_ones(table):
    rng = np.random.default_rng(3)
    costs = rng.normal(size=(12, 10)) + 0.08 * np.arange(10)
    few = table.decide(BradleyTerryRace(gate=False), costs).dropped
    many = table.decide(BradleyTerryRace(gate=False, independent=True), costs).dropped
    assert 0 < len(few) < len(many)


def test_scores_of_equal_candidates_have_the_variance_that_is_taken():
    """A block's scores: (m^2 - 1) / 12; of (m - 1) independent meetings (m - 1) / 4."""
    m, rng = 9, np.random.default_rng(4)
    scores = rng.permuted(np.tile(np.arange(m), (20_000, 1)), axis=1)
    assert scores[:, 0].var() * 3.0 / (m + 1.0) == pytest.approx((m - 1) / 4.0, rel=0.03)


def test_a_smaller_sigma_is_more_doubtful(table):
    rng = np.random.default_rng(5)
    costs = rng.normal(size=(15, 6)) + 0.25 * np.arange(6)
    strict, loose = (
        len(table.decide(BradleyTerryRace(sigma=s, gate=False), costs).dropped) for s in (0.1, 3.0)
    )
    assert strict < loose
