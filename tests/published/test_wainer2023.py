"""Wainer: A Bayesian Bradley-Terry model to compare multiple ML algorithms (JMLR 2023).

Its tables are items of `experiments/papers`; here is what they rest on.
"""

import numpy as np
import pytest
from scipy import optimize
from scipy.special import expit

from experiments.wainer2023 import published
from racer.comparison import example_scores
from racer.stats import bradley_terry, win_table
from racer.stats._likelihoods import Likelihood, sum_to_zero
from racer.stats._sampling.chains import Sampler
from racer.stats._sampling.model import find_mode


def test_missing_results_take_away_their_meetings():
    """Table 7a: xgb meets everybody twice less, and nobody else does."""
    scores = example_scores().iloc[:, 1:].to_numpy()
    without = scores.copy()
    without[:2, published.NAMES.index("xgb")] = np.nan
    full, less = (
        win_table(table, names=published.NAMES, maximize=True) for table in (scores, without)
    )
    gone = (full.wins + full.wins.T + full.ties) - (less.wins + less.wins.T + less.ties)
    expected = np.zeros((5, 5))
    expected[3, :] = expected[:, 3] = 2
    expected[3, 3] = 0
    assert (gone == expected).all()


class FreeMean:
    """Eq. 2 as it is written: five beta, none of them bound, and log sigma. By the definition."""

    start = np.zeros(6)

    def __init__(self, wins):
        self.wins = wins

    def log_density(self, points):
        beta, tau = points[:, :5], points[:, 5]
        gap = beta[:, :, None] - beta[:, None, :]
        value = -(self.wins * np.logaddexp(0.0, -gap)).sum(axis=(1, 2))
        value -= (beta**2).sum(axis=1) * np.exp(-2.0 * tau) / 2.0 + 5.0 * tau
        return value - (tau / 0.5) ** 2 / 2.0

    def gradient(self, points):
        beta, tau = points[:, :5], points[:, 5]
        lost = self.wins * expit(beta[:, None, :] - beta[:, :, None])  # each win, by its surprise
        of_beta = lost.sum(axis=2) - lost.sum(axis=1) - beta * np.exp(-2.0 * tau)[:, None]
        of_tau = (beta**2).sum(axis=1) * np.exp(-2.0 * tau) - 5.0 - tau / 0.25
        return np.column_stack([of_beta, of_tau])


def test_to_bind_the_sum_of_strengths_changes_no_probability():
    """P(i beats j) of Table 4 with and without a free mean."""
    table = published.counts("table3b_wins")
    frame, wins = bradley_terry(table, draws=200_000, seed=2).to_frame(), table.wins
    model = FreeMean(wins)
    draws = Sampler(model, find_mode(model), np.random.default_rng(1)).run(1500)
    beta = draws.reshape(-1, 6)[:, :5]
    for row in frame.to_dict("records"):
        i, j = (published.NAMES.index(row[side]) for side in ("better", "worse"))
        p = 1.0 / (1.0 + np.exp(beta[:, j] - beta[:, i]))
        assert p.mean() == pytest.approx(row["estimate"], abs=0.005)
        assert (p > 0.5).mean() == pytest.approx(row["probability"], abs=0.015)


def test_davidson_under_a_flat_prior_is_maximum_likelihood():
    """Wins and ties of Table 3a; Davidson (JASA 1970) from its definition, by scipy's optimiser."""
    table = published.counts("table3a_wins_ties")
    i, j = np.triu_indices(5, 1)

    def loss(x):
        beta, nu = np.append(x[:4], -x[:4].sum()), np.exp(x[4])
        a, b = np.exp(beta[i]), np.exp(beta[j])
        total = a + b + nu * np.sqrt(a * b)
        terms = table.wins[i, j] * np.log(a / total) + table.wins[j, i] * np.log(b / total)
        return -(terms + table.ties[i, j] * np.log(nu * np.sqrt(a * b) / total)).sum()

    expected = optimize.minimize(loss, np.zeros(5), method="BFGS", options={"gtol": 1e-6}).x
    likelihood, basis = Likelihood(table.wins, table.ties), sum_to_zero(5)

    class Flat:
        start = np.zeros(5)

        def log_density(self, points):
            return likelihood.log_likelihood(points[:, :4] @ basis.T, np.exp(points[:, 4:]))

        def gradient(self, points):
            by_beta, by_nu = likelihood.slopes(points[:, :4] @ basis.T, np.exp(points[:, 4:]))
            return np.column_stack([by_beta @ basis, by_nu])

    mode = find_mode(Flat()).mode
    np.testing.assert_allclose((basis @ mode[:4])[:4], expected[:4], atol=1e-4)
    assert mode[4] == pytest.approx(expected[4], abs=1e-4)
