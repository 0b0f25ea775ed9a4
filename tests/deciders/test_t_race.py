"""t-Race against the paired t-test of SciPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import racer
from racer.deciders import FRace, TRace
from racer.stats import holm

LAWS = settings(max_examples=20, deadline=None, derandomize=True)

seeds = st.integers(0, 2**32 - 1)


def costs_of(seed, n=12):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 7))
    return 1000 + 30 * rng.normal(size=(n, 1)) + rng.normal(size=(n, m)) + rng.normal(size=m)


def against_the_best(costs):
    best = int(costs.mean(axis=0).argmin())
    others = [c for c in range(costs.shape[1]) if c != best]
    return best, {c: stats.ttest_rel(costs[:, c], costs[:, best]).pvalue for c in others}


@LAWS
@given(seeds, st.sampled_from([0.01, 0.05, 0.3]), st.sampled_from([None, 1]))
def test_who_is_worse_than_the_best_mean_by_a_paired_t_test_goes(table, seed, alpha, step):
    costs = costs_of(seed)
    best, p_values = against_the_best(costs)
    verdict = table.decide(TRace(alpha=alpha), costs, step=step)
    assert verdict.best == best
    assert {d.candidate for d in verdict.dropped} == {c for c, p in p_values.items() if p < alpha}
    for drop in verdict.dropped:
        assert drop.against == best
        assert drop.probability == pytest.approx(p_values[drop.candidate], rel=1e-6)
    assert verdict.standing == pytest.approx(costs.mean(axis=0))


@LAWS
@given(seeds)
def test_a_correction_adjusts_the_comparisons_with_the_best(table, seed):
    costs = costs_of(seed)
    _, p_values = against_the_best(costs)
    adjusted = dict(zip(p_values, holm(list(p_values.values())), strict=True))
    verdict = table.decide(TRace(correction="holm"), costs)
    assert {d.candidate for d in verdict.dropped} == {c for c, p in adjusted.items() if p < 0.05}
    for drop in verdict.dropped:
        assert drop.probability == pytest.approx(adjusted[drop.candidate], rel=1e-6)


def test_the_smallest_p_value_is_dropped_first(table):
    rng = np.random.default_rng(0)
    costs = np.arange(5)[::-1] * 5.0 + rng.normal(size=(10, 5))
    verdict = table.decide(TRace(), costs)
    p_values = [drop.probability for drop in verdict.dropped]
    assert len(p_values) == 4
    assert p_values == sorted(p_values)


def test_a_constant_difference_is_certain(table):
    costs = np.random.default_rng(0).integers(0, 9, size=(5, 1)) + np.array([0.0, 0.0, 2.0])
    verdict = table.decide(TRace(), costs)
    assert [(d.candidate, d.probability) for d in verdict.dropped] == [(2, 0.0)]


def test_a_failed_cell_counts_as_one_range_behind_the_worst(table):
    failed = table.decide(TRace(), [[0.0, 3.0, np.inf]] * 4)
    counted = table.decide(TRace(), [[0.0, 3.0, 6.0]] * 4)
    assert failed.standing.tolist() == counted.standing.tolist() == [0.0, 3.0, 6.0]


def test_equal_means_are_not_equal_ranks(table):
    """Of log-normal run times of equal mean the wider are mostly shorter: ranks find a difference."""
    races, by_ranks, by_means = 40, 0, 0
    for seed in range(races):
        spread = np.array([0.2, 0.2, 0.2, 1.5])
        noise = np.random.default_rng(seed).normal(size=(60, 4))
        costs = np.exp(spread * noise - 0.5 * spread**2)
        by_ranks += bool(table.decide(FRace(), costs).dropped)
        by_means += bool(table.decide(TRace(), costs).dropped)
    assert by_means <= 0.3 * races < 0.9 * races < by_ranks


def test_who_lost_every_block_to_one_other_stays_until_its_test_says_so(table):
    """A difference to irace, which drops it: docs/reference/irace_options.md names it."""
    level = np.random.default_rng(1).normal(size=(5, 1))
    costs = level + np.array([0.0, 0.4, 0.0])
    costs[:, 2] += [0.1, 0.1, 0.1, 0.1, 9.0]
    assert (costs[:, 2] > costs[:, 0]).all()
    dropped = {drop.candidate for drop in table.decide(TRace(), costs).dropped}
    assert dropped == {1}


def test_a_hopeless_candidate_makes_no_eliminated_one_the_best():
    """Its noise counted as everybody's, and most for who was seen least."""
    means = [0.0, 0.01, 0.3, 1.0, 100.0]
    for seed in range(30):
        rng = np.random.default_rng(seed)
        hard, own = rng.normal(size=40), rng.normal(0.0, 0.4, (40, 5))
        own[:, 4] = 30.0 * rng.normal(size=40)
        result = racer.race(
            range(5),
            lambda config, instance, seed, hard=hard, own=own: (
                means[config] + hard[instance] + own[instance, config]
            ),
            racer.Instances(range(40), deterministic=True),
            budget=160,
            seed=seed,
            decider="t-race",
        )
        assert result.best_index in result.survivors
        assert result.best_index in (0, 1, 2)
