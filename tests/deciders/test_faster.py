"""Statements on speed: right at all times, and the same as those of a confidence sequence."""

import math

import numpy as np
import pytest
from playing import looks

from racer.deciders.faster import FasterRace
from racer.deciders.parts.e_processes import log_e_of_signs, median_interval


def drawn(rng, times, n, size=0.02):
    return times * np.exp(size * rng.standard_normal((n, len(times))))


@pytest.mark.parametrize(("m", "least"), [(2, 8), (5, 12)])
def test_a_clear_difference_takes_as_many_rounds_as_it_must(m, least):
    times = np.tile(np.arange(1.0, m + 1.0), (50, 1))
    *before, (_, last) = looks(FasterRace(), times)
    assert len(before) == least - 1
    assert not any(verdict.dropped for _, verdict in before)
    assert {drop.candidate for drop in last.dropped} == set(range(1, m))
    assert all(drop.probability >= m * (m - 1) / 0.05 for drop in last.dropped)


@pytest.mark.parametrize("factor", [1.0, 1.01, 1.04])
def test_it_decides_as_the_confidence_sequence_says(factor):
    decider, rng = FasterRace(margin=0.03), np.random.default_rng(3)
    needed, margin = decider.log_needed(2), math.log(1.03)
    for _ in range(20):
        times = drawn(rng, np.array([1.0, factor]), 150)
        logs = np.log(times[:, 1] / times[:, 0])
        for n, (_, verdict) in enumerate(looks(decider, times), 1):
            low, high = median_interval(logs[:n], needed)
            assert [drop.candidate for drop in verdict.dropped] == [1] * (low > 0) + [0] * (
                high < 0
            )
            if not verdict.dropped:
                assert verdict.settled == (-margin < low and high < margin)


@pytest.mark.thorough
def test_equal_programs_are_rarely_told_apart_on_a_drifting_clock():
    decider, rng, false = FasterRace(margin=0.0), np.random.default_rng(4), 0
    for _ in range(80):
        drift = np.cumsum(0.01 * rng.standard_normal(180))
        steps = np.exp(drift + 0.001 * rng.standard_normal(180)).reshape(60, 3)
        times = rng.permuted(steps, axis=1)  # the programs of a round in random order
        false += any(verdict.dropped for _, verdict in looks(decider, times))
    assert false <= 8  # 80 x .05 is 4


def test_without_a_margin_it_never_settles_and_with_one_it_does():
    times = drawn(np.random.default_rng(5), np.ones(3), 300, 0.01)
    for margin, settles in ((0.0, False), (0.02, True)):
        *_, (_, last) = looks(FasterRace(margin=margin), times)
        assert last.settled is settles
        assert not last.dropped


def test_who_is_near_is_not_held_up_by_who_is_slower():
    times = drawn(np.random.default_rng(6), np.array([1.0, 1.3, 1.0]), 300, 0.01)
    *_, (alive, last) = looks(FasterRace(), times)
    assert alive.tolist() == [0, 2]
    assert last.settled


@pytest.mark.parametrize("needed", [math.log(40.0), math.log(400.0)])
def test_the_interval_holds_the_medians_that_are_not_refuted(needed):
    rng = np.random.default_rng(7)
    for n in (1, 7, 8, 9, 20, 61):
        values = rng.standard_normal(n)
        low, high = median_interval(values, needed)
        medians = np.concatenate([[-9.0], np.sort(values) + 1e-9, [9.0]])
        over = (values > medians[:, None]).sum(axis=1)
        found = np.maximum(log_e_of_signs(over, n - over), log_e_of_signs(n - over, over))
        kept = medians[found < needed]
        assert low <= kept.min() + 1e-9
        assert high >= kept.max() - 1e-9
        assert math.isinf(low) == (kept.min() == -9.0)
        if math.isfinite(low):
            assert np.isin([low, high], values).all()
            assert found[medians < low - 1e-8].min() >= needed


def crossing(n, passes, needed):
    """Return how likely an e-value is ever reached, half of n instances being for either side.

    Each pass takes all of them in random order.
    """
    crossed, before = 0.0, 1.0
    for number in range(passes):
        mass = np.array([before])  # by losses within the pass
        for seen in range(n):
            lost = np.arange(seen + 1)
            chance = (n // 2 - lost) / (n - seen)
            after = np.zeros(seen + 2)
            after[1:] += mass * chance
            after[:-1] += mass * (1.0 - chance)
            lost = np.arange(seen + 2)
            reached = (after > 0.0) & (
                log_e_of_signs(number * n // 2 + lost, number * n // 2 + seen + 1 - lost) >= needed
            )
            crossed += after[reached].sum()
            mass = np.where(reached, 0.0, after)
        before = mass.sum()
    return crossed


@pytest.mark.parametrize("n", [2, 16, 40, 100])
def test_instances_without_replacement_err_less_than_independent_ones(n):
    assert crossing(n, 2, math.log(40.0)) <= 0.5 / 40.0
    assert crossing(16, 1, math.log(2.0)) > 0.0
