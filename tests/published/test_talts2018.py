"""Simulation-based calibration of each sampled model (Talts et al., arXiv:1804.06788).

What the prior draws must have uniform ranks among what the posterior draws from its data.
"""

import numpy as np
import pytest
from scipy import stats

from racer.stats import WinTable, bradley_terry, plackett_luce
from racer.stats._likelihoods import ScalePrior

NAN, INF = np.nan, np.inf
REPETITIONS = 80


def assert_uniform(ranks):
    for column in np.transpose(ranks):
        assert stats.kstest(column, "uniform").pvalue > 0.002


def meetings(beta, n, nu, rng):
    """Wins and ties of n meetings of each pair (Davidson 1970; without ties where nu is 0)."""
    i, j = np.triu_indices(len(beta), 1)
    gap = (beta[i] - beta[j]) / 2
    shares = np.stack([np.exp(gap), np.exp(-gap), np.full(len(gap), nu)], axis=1)
    won, lost, tied = rng.multinomial(n, shares / shares.sum(axis=1, keepdims=True)).T
    wins, ties = np.zeros((2, len(beta), len(beta)))
    wins[i, j], wins[j, i], ties[i, j], ties[j, i] = won, lost, tied, tied
    return WinTable(wins, ties)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("prior", "nu"),
    [("lognormal", 0.0), ("normal", 0.0), ("lognormal", None)],
    ids=["bradley-terry", "bradley-terry, normal sigma", "davidson"],
)
def test_bradley_terry(prior, nu):
    rng = np.random.default_rng(12)
    ranks, of_nu = [], []
    for seed in range(REPETITIONS):
        sigma = float(np.exp(ScalePrior(prior, 1.0)(rng.normal(size=1))[0][0]))
        beta = rng.normal(0, sigma, 4)
        beta -= beta.mean()
        log_nu = rng.normal(0, 2.0)
        result = bradley_terry(
            meetings(beta, 5, np.exp(log_nu) if nu is None else nu, rng),
            ties="davidson",
            sigma_prior=prior,
            sigma_scale=1.0,
            draws=400,
            seed=seed,
        )
        row = [(result.strengths[:, 0] < beta[0]).mean(), (result.sigma < sigma).mean()]
        gap = result.strengths[:, 1] - result.strengths[:, 2]
        row.append((gap < beta[1] - beta[2]).mean())
        ranks.append(row)
        if nu is None and result.nu is not None:  # None: no ties were seen
            of_nu.append([(result.nu < np.exp(log_nu)).mean()])
    assert_uniform(ranks)
    if nu is None:
        assert len(of_nu) > REPETITIONS / 2
        assert_uniform(of_nu)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["plain", "gaps and failures"])
def test_plackett_luce(kind):
    rng = np.random.default_rng(6)
    ranks = []
    for seed in range(REPETITIONS):
        w = rng.dirichlet([1.0, 1.0, 2.0, 0.5])
        costs = rng.standard_exponential((6, 4)) / w  # who arrives first
        if kind != "plain":  # a limit that does not depend on the order of those who fail
            costs = np.where(costs > np.sort(costs, axis=1)[:, 2:3], INF, costs)
            costs[rng.random(costs.shape) < 0.2] = NAN
        result = plackett_luce(costs, prior=[1.0, 1.0, 2.0, 0.5], draws=400, seed=seed)
        ranks.append((result.weights < w).mean(axis=0))
    assert_uniform(ranks)
