"""Plackett-Luce against the Gibbs sampler of Caron and Doucet (JCGS 2012), which is kept here.

The posterior is that of Calvo et al. (GECCO 2019), eq. 3; ties by Efron's rule (JASA 1977).
"""

import numpy as np
import pytest

from racer.stats import plackett_luce

NAN, INF = np.nan, np.inf
CHAINS = 100  # at a time


def gibbs(costs, alpha, draws, seed):
    """Draws of w by the latent clocks of Caron and Doucet (2012), section 4, with Efron's rule.

    Independent of the package: every choice gets a clock Z ~ Exp(sum of the rates at risk), and
    given the clocks the rates are Gamma(alpha + choices, 1 + sum of the clocks each ran for).
    """
    rng = np.random.default_rng(seed)
    k = costs.shape[1]
    chosen, at_risk = np.zeros(k), []
    for row in costs:
        risk = {i: 1.0 for i in range(k) if not np.isnan(row[i])}
        for value in sorted(set(row[np.isfinite(row)])):
            tied = [i for i in risk if row[i] == value]
            for done in range(len(tied)):
                share = {i: 1 - done / len(tied) if i in tied else 1.0 for i in risk}
                at_risk.append([share.get(i, 0.0) for i in range(k)])
            chosen[tied] += 1
            for i in tied:
                del risk[i]
    at_risk = np.array(at_risk)
    rates, kept = np.ones((CHAINS, k)), np.empty((draws // CHAINS, CHAINS, k))
    for t in range(-200, len(kept)):
        clocks = rng.exponential(1 / (rates @ at_risk.T))
        rates = rng.gamma(alpha + chosen, 1 / (1 + clocks @ at_risk))
        if t >= 0:
            kept[t] = rates / rates.sum(axis=1, keepdims=True)
    return kept.reshape(draws, k)


RNG = np.random.default_rng(20)
PLAIN = RNG.standard_exponential((12, 5)) / [4.0, 2.0, 1.0, 1.0, 0.5]
TIED = PLAIN.round(0)
GAPS = np.where(RNG.random(PLAIN.shape) < 0.25, NAN, PLAIN)
FAILED = np.where(PLAIN > 1.0, INF, PLAIN)
ALL = np.where(RNG.random(PLAIN.shape) < 0.2, NAN, np.where(PLAIN > 2.0, INF, PLAIN.round(1)))


VECTOR = np.array([0.5, 1.0, 2.0, 3.0, 0.7])
TABLES = {"plain": PLAIN, "tied": TIED, "gaps": GAPS, "failed": FAILED, "all": ALL}


@pytest.mark.parametrize(
    ("costs", "alpha"),
    [
        *(pytest.param(costs, VECTOR, id=f"{name}-vector") for name, costs in TABLES.items()),
        pytest.param(ALL, 1.0, id="all-flat"),
    ],
)
def test_is_the_gibbs_sampler(costs, alpha):
    result = plackett_luce(costs, prior=alpha, draws=20_000)
    expected = gibbs(costs, alpha, 12_000, 3)
    np.testing.assert_allclose(result.weights.mean(axis=0), expected.mean(axis=0), atol=0.012)
    for level in (0.05, 0.5, 0.95):
        np.testing.assert_allclose(
            np.quantile(result.weights, level, axis=0),
            np.quantile(expected, level, axis=0),
            atol=0.02,
        )
