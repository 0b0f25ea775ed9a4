"""Noise within instances and between them, and what it makes of the probability of being best."""

from __future__ import annotations

import numpy as np
import pytest

from racer.stats import best_posterior
from racer.stats.strata import noise_by_instance


def table(rng, *, mixed=1.0, spread=0.3, m=6, n_instances=6, seeds=8):
    """Return costs, the instances of blocks, and who is best on others like them, and on these."""
    ability = spread * rng.normal(size=m)
    own = mixed * rng.normal(size=(n_instances, m))
    instances = np.tile(np.arange(n_instances), seeds)
    costs = (ability + own[instances]) + rng.normal(size=(len(instances), m))
    return costs, instances, int(ability.argmin()), int((ability + own.mean(axis=0)).argmin())


def mean_squares(costs, instances):
    """Return the mean squares of a balanced analysis of variance, by the sums of the textbook."""
    cells = np.array([costs[instances == i] for i in np.unique(instances)])  # (I, k, m)
    n_instances, seeds, m = cells.shape
    block = cells.mean(axis=2, keepdims=True)
    cell = cells.mean(axis=1, keepdims=True)
    within = cells - block - cell + cells.mean(axis=(1, 2), keepdims=True)
    means = cell[:, 0]
    between = means - means.mean(axis=0) - means.mean(axis=1, keepdims=True) + means.mean()
    return (
        (within**2).sum() / (n_instances * (seeds - 1) * (m - 1)),
        seeds * (between**2).sum() / ((n_instances - 1) * (m - 1)),
    )


def test_where_all_have_seen_all_it_is_a_mean_square_of_the_textbook():
    costs, instances, _, _ = table(np.random.default_rng(1))
    known = np.ones(costs.shape, dtype=bool)
    within, between = mean_squares(costs, instances)
    like = noise_by_instance(costs, known, instances, generalize=True)
    these = noise_by_instance(costs, known, instances, generalize=False)
    assert (like.variance, like.freedom) == pytest.approx((between, 5 * 5))
    assert (these.variance, these.freedom) == pytest.approx((within, 6 * 7 * 5))
    assert np.allclose([like.relative, these.relative], 1.0)


def test_who_left_before_the_last_instance_is_less_well_known_on_these():
    costs, instances, _, _ = table(np.random.default_rng(1))
    known = np.ones(costs.shape, dtype=bool)
    known[9:, 2] = False  # half of the instances twice, half once
    known[3:, 4] = False  # half of the instances only
    found = noise_by_instance(np.where(known, costs, 0.0), known, instances, generalize=False)
    assert np.allclose(found.relative[[0, 1, 3, 5]], 1.0)
    assert 1.05 < found.relative[2] < found.relative[4]


@pytest.mark.parametrize("instances", [np.arange(48), np.zeros(48, dtype=int)])
def test_blocks_that_are_independent_are_left_as_they_are(instances):
    costs = table(np.random.default_rng(2))[0]
    plain = best_posterior(costs)
    for generalize in (True, False):
        found = best_posterior(costs, instances=instances, generalize=generalize)
        assert found.probability_best.tolist() == plain.probability_best.tolist()


def test_what_is_said_is_true_in_either_reading():
    leads = []
    for seed in range(1000, 1080):
        rng = np.random.default_rng(seed)
        costs, instances, like, these = table(rng, spread=rng.choice((0.1, 0.3, 1.0)))
        if seed % 2:  # as after a race
            costs[20:, costs[:20].mean(axis=0).argsort()[3:]] = np.nan
        said = [best_posterior(costs)]
        said += [best_posterior(costs, instances=instances, generalize=g) for g in (True, False)]
        blind, of_like, of_these = [found.probability_best for found in said]
        pairs = [(of_like, like), (of_these, these), (blind, like), (blind, these)]
        leads.append([p.max() - (p.argmax() == best) for p, best in pairs])
    like, these, blind_like, blind_these = np.mean(leads, axis=0).tolist()
    assert abs(like) < 0.1
    assert abs(these) < 0.1
    assert blind_like > 0.15  # too sure
    assert blind_these < these < 0.05


def test_candidates_that_are_not_compared_in_full_have_their_instances_too():
    costs, instances, _, _ = table(np.random.default_rng(3), m=310)
    blind = best_posterior(costs).probability_best.max()
    assert best_posterior(costs, instances=instances).probability_best.max() < blind
