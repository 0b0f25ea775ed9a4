"""The race on mean scores of items."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from playing import looks

import racer
from racer.deciders import Blocks, MeanRace, Setting
from racer.seeding import rng_for
from racer.stats._bets import mean_limits

RIGHT = (0.0, 1.0)


def started(decider, m, *, n_blocks=None, bounds=RIGHT):
    return decider.start(Setting(m, rng_for(0, "test"), n_blocks=n_blocks, bounds=bounds))


def drops_of(decider, costs, *, n_blocks=None, bounds=RIGHT):
    """Return all drops of a race on costs (n, m), each with the number of blocks before it."""
    seen = enumerate(looks(decider, costs, n_blocks=n_blocks, bounds=bounds), 1)
    found = [(n, drop) for n, (_, verdict) in seen for drop in verdict.dropped]
    gone = [drop.candidate for _, drop in found]
    return found, np.setdiff1d(np.arange(costs.shape[1]), gone).tolist()


def wrong(chances, n, seed):
    return (np.random.default_rng(seed).random((n, len(chances))) < chances).astype(float)


def test_of_known_items_it_ends_with_the_true_best():
    ends = 0
    for seed in range(20):
        costs = wrong([0.3, 0.3, 0.32, 0.4], 60, seed)
        found, alive = drops_of(MeanRace(), costs, n_blocks=60)
        assert len(alive) == 1
        sums = costs.sum(axis=0)
        assert sums[alive[0]] == sums.min()
        last = [drop for n, drop in found if n == 60]
        ends += bool(last)
        for drop in last:
            behind = sums[drop.candidate] - sums.min()
            assert drop.probability == pytest.approx(behind / 60)
            assert drop.reason == ("inferior" if behind else "indistinguishable")
            assert drop.measure == "difference of means"
        assert [d.probability for d in last] == sorted((d.probability for d in last), reverse=True)
    assert ends > 3


def test_of_a_population_nobody_leaves_for_the_items_being_over():
    costs = wrong([0.3, 0.3], 60, 1)
    assert len(drops_of(MeanRace(population=True), costs, n_blocks=60)[1]) == 2
    apart = wrong([0.1, 0.6], 200, 1)
    (before, drop), *_ = drops_of(MeanRace(population=True), apart, n_blocks=200)[0]
    assert (drop.candidate, drop.reason, drop.against) == (1, "inferior", 0)
    assert before < 100
    assert drop.probability >= 20.0


def test_it_follows_the_bounds_and_the_direction():
    scores = np.clip(np.random.default_rng(3).normal([4.0, 3.0], 1.0, (80, 2)), 1.0, 5.0)
    found, alive = drops_of(MeanRace(), -scores, bounds=(-5.0, -1.0))
    assert alive == [0]
    # the same in other units
    again, _ = drops_of(MeanRace(), (5.0 - scores) / 4.0)
    assert [n for n, _ in again] == [n for n, _ in found]


@pytest.mark.thorough
def test_a_best_candidate_is_rarely_ever_dropped_and_its_wealth_is_no_more_than_one_on_average():
    dropped, wealth, n = 0, [], 60
    for seed in range(200):
        rng = np.random.default_rng(seed)
        costs = np.stack([rng.permutation(np.arange(n) < 18) for _ in range(2)], axis=1)
        found, _ = drops_of(MeanRace(alpha=0.2), costs.astype(float), n_blocks=n)
        dropped += any(drop.candidate == 0 and k < n for k, drop in found)
        decider = MeanRace()
        state = started(decider, 2, n_blocks=n)
        state, _ = decider.decide(state, Blocks(np.arange(2), costs[:20].astype(float)))
        wealth.append(np.exp(state.bets.log_e()[0, 1]))
    assert 0 < dropped <= 200 * 0.2
    error = np.std(wealth) / np.sqrt(len(wealth))
    assert abs(np.mean(wealth) - 1.0) < 3.0 * error


def test_familywise_asks_for_more():
    plain = [drops_of(MeanRace(), wrong([0.3, 0.3, 0.7], 100, s))[0][0][0] for s in range(10)]
    strict = [
        drops_of(MeanRace(familywise=True), wrong([0.3, 0.3, 0.7], 100, s))[0][0] for s in range(10)
    ]
    assert sum(n for n, _ in strict) > sum(plain)
    assert min(drop.probability for _, drop in strict) >= 60.0


def test_a_margin_ends_earlier_and_nobody_beyond_it_is_left():
    used, beyond = {0.0: 0, 0.1: 0}, 0
    for seed in range(8):
        costs = wrong([0.30, 0.33, 0.36, 0.5], 300, seed)
        means = costs.mean(axis=0)
        for margin in used:
            found, alive = drops_of(MeanRace(margin=margin), costs, n_blocks=300)
            assert len(alive) == 1
            used[margin] += max(n for n, _ in found)
            beyond += means[alive[0]] > means.min() + margin + 1e-9
            if margin:
                beside = [d.against for _, d in found if d.reason == "not better"]
                changes = sum(a != b for a, b in pairwise(beside))
                replaced = sum(d.reason == "inferior" and d.candidate in beside for _, d in found)
                assert changes <= replaced
    assert used[0.1] < 0.8 * used[0.0]
    assert beyond <= 1


def test_who_stands_for_others_is_dropped_only_for_one_that_is_shown_to_be_better():
    """#0 leads, others leave beside it; then it turns out to be the worst."""
    costs = np.ones((400, 3))
    costs[:14, 0] = 0.0
    costs[1:, 1] = 0.0
    found, alive = drops_of(MeanRace(margin=0.2), costs)
    assert alive == [1]
    first, *_, last = [drop for _, drop in found]
    assert (first.candidate, first.against, first.reason) == (2, 0, "not better")
    assert (last.candidate, last.against, last.reason) == (0, 1, "inferior")
    # 6 ordered pairs, and a tenth of alpha
    assert last.probability >= 6 / (0.1 * 0.05) * 0.45 / 2


def test_a_failed_cell_has_the_worst_score():
    costs = wrong([0.3, 0.3], 100, 2)
    failed, worst = costs.copy(), costs.copy()
    failed[::2, 1], worst[::2, 1] = np.inf, 1.0
    found, alive = drops_of(MeanRace(), failed, n_blocks=100)
    assert alive == [0]
    assert found == drops_of(MeanRace(), worst, n_blocks=100)[0]


def test_without_bounds_of_costs_it_does_not_start():
    with pytest.raises(racer.SettingError, match="needs their bounds"):
        MeanRace().start(Setting(2, rng_for(0, "test")))


# -- confidence limits


def test_limits_hold_at_all_looks():
    """At each of the looks at once, at level .2, for means of 40 items and of their law."""
    missed = {None: 0, 40: 0}
    x = wrong(np.full(150, 0.3), 40, 7)
    for n_blocks in missed:
        true = x.mean(axis=0) if n_blocks else 0.3
        ever = np.zeros(150, dtype=bool)
        for n in range(2, 41, 2):
            low, high = mean_limits(x[:n], RIGHT, n_blocks=n_blocks, alpha=0.2)
            ever |= (low > true + 1e-9) | (true > high + 1e-9)
        missed[n_blocks] = ever.sum()
    assert 0 < missed[None] <= 30
    assert missed[40] <= 30


def test_limits_close_in_and_are_exact_in_the_end():
    x = wrong([0.2, 0.7], 50, 5)
    widths = []
    for n in (10, 30, 50):
        low, high = mean_limits(x[:n], RIGHT, n_blocks=50, alpha=0.05)
        assert (low <= x[:n].mean(axis=0)).all()
        assert (x[:n].mean(axis=0) <= high + 1e-12).all()
        widths.append(high - low)
    assert (widths[0] > widths[1]).all()
    assert widths[2] == pytest.approx(0.0, abs=1e-9)
    assert low == pytest.approx(x.mean(axis=0))


def test_a_column_that_ends_early_has_the_limits_of_what_it_has_seen():
    x = wrong([0.2, 0.7], 50, 6)
    x[20:, 1] = np.nan
    low, high = mean_limits(x, RIGHT, n_blocks=50, alpha=0.05)
    early = mean_limits(x[:20, 1:], RIGHT, n_blocks=50, alpha=0.05)
    assert (low[1], high[1]) == pytest.approx((early[0][0], early[1][0]))
