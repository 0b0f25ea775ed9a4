from functools import cache

import numpy as np
import pytest
from scipy import stats

from racer.errors import ScoresError, SettingError
from racer.stats import WinTable, bradley_terry, win_table
from racer.stats._likelihoods import SCALES, Likelihood, ScalePrior, StrengthModel
from racer.stats._sampling.chains import Sampler, r_hat
from racer.stats._sampling.model import find_mode

PRIORS = {
    "lognormal": stats.lognorm(0.5),
    "cauchy": stats.halfcauchy,
    "normal": stats.halfnorm(0, 3),
}


def played(k, n, *, seed, sd=1.0, nu=0.0):
    """A win table of n meetings of each pair, and the strengths behind it."""
    rng = np.random.default_rng(seed)
    beta = rng.normal(0, sd, k)
    return WinTable(*counts(beta - beta.mean(), n, nu, rng)), beta - beta.mean()


def counts(beta, n, nu, rng):
    k = len(beta)
    wins, ties = np.zeros((k, k)), np.zeros((k, k))
    for i in range(k):
        for j in range(i):
            a, b = np.exp((beta[i] - beta[j]) / 2), np.exp((beta[j] - beta[i]) / 2)
            won, lost, tied = rng.multinomial(n, np.array([a, b, nu]) / (a + b + nu))
            wins[i, j], wins[j, i], ties[i, j], ties[j, i] = won, lost, tied, tied
    return wins, ties


def model_of(table, prior="lognormal", trust=1.0):
    likelihood = Likelihood(table.wins, table.ties)
    return StrengthModel(likelihood, ScalePrior(prior, SCALES[prior]), trust)


class TestModel:
    @pytest.mark.parametrize("nu", [0.0, 0.7])
    @pytest.mark.parametrize("prior", PRIORS)
    @pytest.mark.parametrize("trust", [1.0, 0.1, 0.0])
    def test_gradient(self, nu, prior, trust):
        model = model_of(played(5, 9, seed=1, nu=nu)[0], prior, trust)
        points = np.random.default_rng(2).normal(size=(4, len(model.start)))
        step = 1e-6 * np.eye(points.shape[1])
        numeric = [
            (model.log_density(points + h) - model.log_density(points - h)) / 2e-6 for h in step
        ]
        np.testing.assert_allclose(model.gradient(points), np.transpose(numeric), atol=1e-5)

    @pytest.mark.parametrize("prior", PRIORS)
    def test_prior_of_sigma(self, prior):
        """sigma has in its law the quantile that xi has in the normal one."""
        xi = np.array([-8.0, -6.0, -3.0, -0.5, 0.0, 1.0, 3.0, 6.0])
        tau, slope = ScalePrior(prior, SCALES[prior])(xi)
        np.testing.assert_allclose(PRIORS[prior].cdf(np.exp(tau)), stats.norm.cdf(xi), rtol=1e-6)
        numeric = np.subtract(*(ScalePrior(prior, SCALES[prior])(xi + h)[0] for h in (1e-5, -1e-5)))
        np.testing.assert_allclose(slope, numeric / 2e-5, rtol=1e-4)

    @pytest.mark.parametrize("trust", [1.0, 0.1, 0.0])
    def test_coordinates_do_not_change_the_posterior(self, trust):
        """Chains in each system of coordinates give the same strengths."""
        model = model_of(played(4, 6, seed=3)[0], trust=trust)
        draws = Sampler(model, find_mode(model), np.random.default_rng(1)).run(600)
        beta = model.strengths(draws.reshape(-1, draws.shape[2]))
        mean, deviation = self._exact()
        np.testing.assert_allclose(beta.mean(axis=0), mean, atol=0.05)
        np.testing.assert_allclose(beta.std(axis=0), deviation, atol=0.05)

    @staticmethod
    @cache
    def _exact():
        table, _ = played(4, 6, seed=3)
        result = bradley_terry(table, draws=50_000, seed=9)
        return result.strengths.mean(axis=0), result.strengths.std(axis=0)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("wins", [(3, 2), (5, 0), (20, 11)])
def test_two_algorithms_by_integration(wins, prior):
    """beta_1 - beta_2 ~ Normal(0, 2 sigma^2): a double integral."""
    won, lost = wins
    xi = np.linspace(-7, 7, 801)
    sigma = PRIORS[prior].ppf(stats.norm.cdf(xi))
    z = np.linspace(-9, 9, 1601)
    gap = np.sqrt(2) * sigma[:, None] * z
    with np.errstate(over="ignore"):
        p = 1 / (1 + np.exp(-gap))
    weight = p**won * (1 - p) ** lost * stats.norm.pdf(z) * stats.norm.pdf(xi)[:, None]
    expected = (weight * p).sum() / weight.sum()
    above = weight[:, z > 0].sum() + weight[:, z == 0].sum() / 2
    result = bradley_terry(WinTable([[0, won], [lost, 0]]), sigma_prior=prior, draws=20_000)
    draws = result.win_probability("0", "1")
    assert draws.mean() == pytest.approx(expected, abs=0.01)
    assert (draws > 0.5).mean() == pytest.approx(above / weight.sum(), abs=0.015)


def test_davidson_recovers_ties():
    table, beta = played(6, 300, seed=6, nu=1.5)
    result = bradley_terry(table, ties="davidson")
    assert np.median(result.nu) == pytest.approx(1.5, abs=0.15)
    np.testing.assert_allclose(result.strengths.mean(axis=0), beta, atol=0.2)
    check = result.predictive_check()
    assert list(check.columns) == ["level", "wins", "ties"]
    assert (check.loc[1, ["wins", "ties"]] >= 0.8).all()


class TestFrame:
    def test_columns(self):
        result = bradley_terry(played(4, 20, seed=7)[0])
        frame = result.to_frame()
        assert len(frame) == 6
        first = result.ranking[0]
        assert (frame.better[:3] == first).all()
        p = result.win_probability(first, result.ranking[3])
        row = frame.iloc[2]
        assert row.worse == result.ranking[3]
        assert row.estimate == pytest.approx(p.mean())
        assert row.probability == (p > 0.5).mean()
        assert ((p >= row.low) & (p <= row.high)).mean() == pytest.approx(0.89, abs=0.001)
        assert row.delta == row.high - row.low
        wide = result.to_frame(rope=(0.0, 1.0), level=0.5)
        assert (wide.in_rope == 1.0).all()
        assert (wide.delta < frame.delta).all()

    def test_waic_by_definition(self):
        table, _ = played(4, 12, seed=8)
        result = bradley_terry(table)
        fit = parameters = 0.0
        for i in range(4):
            for j in range(i):
                p = result.win_probability(str(i), str(j))
                log = stats.binom.logpmf(table.wins[i, j], 12, p)
                fit += np.log(np.exp(log).mean())
                parameters += log.var(ddof=1)
        assert result.waic().waic == pytest.approx(-2 * (fit - parameters), rel=1e-8)
        assert result.waic().parameters == pytest.approx(parameters, rel=1e-8)

    def test_predictive_check(self):
        result = bradley_terry(played(12, 30, seed=9)[0])
        check = result.predictive_check()
        assert list(check.columns) == ["level", "wins"]
        assert check.wins.is_monotonic_increasing
        assert (check.wins >= check.level - 0.1).all()

    def test_bad_settings(self):
        result = bradley_terry(played(3, 5, seed=1)[0])
        with pytest.raises(SettingError, match="no algorithm 'x': choose from 0, 1, 2"):
            result.win_probability("0", "x")
        with pytest.raises(SettingError, match="rope="):
            result.to_frame(rope=(0.6, 0.4))


class TestHardInput:
    @pytest.mark.parametrize("policy", ["spread", "add", "forget", "davidson"])
    def test_all_tied(self, policy):
        result = bradley_terry(win_table(np.ones((6, 4))), ties=policy)
        frame = result.to_frame()
        np.testing.assert_allclose(frame.estimate, 0.5, atol=0.02)
        np.testing.assert_allclose(frame.probability, 0.5, atol=0.04)

    @pytest.mark.parametrize("policy", ["spread", "davidson"])
    def test_undefeated(self, policy):
        table = win_table([[1.0, 2.0, 3.0, 3.0], [1.0, 3.0, 2.0, 4.0]] * 4)
        frame = bradley_terry(table, ties=policy).to_frame()
        assert frame.better[0] == "0"
        assert (frame.estimate[:3] > 0.85).all()
        assert (frame.high <= 1.0).all()

    @pytest.mark.parametrize("prior", ["lognormal", "normal"])
    def test_perfect_order(self, prior):
        result = bradley_terry(win_table([np.arange(6.0)] * 10), sigma_prior=prior)
        assert result.ranking == tuple("012345")
        assert result.posterior.converged

    def test_missing_results_are_neither_won_nor_lost(self):
        scores = np.random.default_rng(2).normal(size=(10, 3))
        scores[:4, 1] = np.nan
        met = win_table(scores)
        result = bradley_terry(met)
        assert result.wins[0, 1] + result.wins[1, 0] == 6
        assert met.n_missing == 4

    @pytest.mark.parametrize(
        ("scores", "message"),
        [
            (
                [[1.0, 2.0, np.nan, np.nan], [np.nan, np.nan, 1.0, 2.0]],
                "never compared with a.*: c, d",
            ),
            ([[1.0, 2.0, np.nan, 3.0]], "never compared with a.*: c"),
            (np.full((3, 4), np.nan), "no two algorithms have a result"),
        ],
    )
    def test_what_was_never_compared(self, scores, message):
        with pytest.raises(ScoresError, match=message):
            bradley_terry(win_table(scores, names="abcd"))


def test_same_seed_same_answer_and_names_are_only_names():
    table, _ = played(4, 10, seed=4)
    first, second = bradley_terry(table, seed=3), bradley_terry(table, seed=3)
    np.testing.assert_array_equal(first.strengths, second.strengths)
    named = bradley_terry(WinTable(table.wins, names="dcba"), seed=3)
    np.testing.assert_array_equal(named.strengths, first.strengths)
    assert (first.strengths != bradley_terry(table, seed=4).strengths).any()


def test_permuting_algorithms_permutes_the_answer():
    table, _ = played(5, 15, seed=11)
    order = [3, 0, 4, 2, 1]
    moved = WinTable(table.wins[np.ix_(order, order)])
    straight, permuted = bradley_terry(table, draws=20_000), bradley_terry(moved, draws=20_000)
    np.testing.assert_allclose(
        straight.strengths.mean(axis=0)[order], permuted.strengths.mean(axis=0), atol=0.03
    )


@pytest.mark.parametrize(("k", "n"), [(5, 20), (16, 132), (100, 20)])
def test_many_algorithms_are_drawn_well(k, n):
    result = bradley_terry(played(k, n, seed=13)[0])
    assert result.posterior.r_hat <= 1.01
    assert result.posterior.ess > 400


def test_chains_meet_with_many_algorithms():
    """Where importance sampling would not do: R-hat at most 1.01 for K = 40."""
    model = model_of(played(40, 3, seed=14)[0])
    draws = Sampler(model, find_mode(model), np.random.default_rng(1)).run(250)
    assert r_hat(draws).max() <= 1.01
