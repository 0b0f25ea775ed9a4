"""The race of fixed confidence: its wealths, its promise, and when it ends."""

import math

import numpy as np
import pytest
from playing import looks

import racer
from racer.deciders import AnytimeRace, Blocks, FixedConfidence, Setting
from racer.deciders.parts.e_processes import Duels

each_form = pytest.mark.parametrize("form", ["median", "rank"])


def started(m, decider, **limits):
    return decider.start(Setting(m, np.random.default_rng(0), **limits))


def tied_and_failed(seed, n=40, m=6):
    """Return costs with ties and failures, of candidates that differ."""
    rng = np.random.default_rng(seed)
    costs = np.round(rng.standard_t(3, size=(n, m)) + 0.5 * np.arange(m), 1)
    costs[rng.random((n, m)) < 0.1] = np.inf
    return costs


def log_wealth(costs, form):
    """Return what each has after bets against the leader of the blocks before, pair by pair."""
    n, m = costs.shape
    places = 0.5 * np.subtract(
        costs[:, :, None] > costs[:, None, :],
        costs[:, :, None] < costs[:, None, :],
        dtype=np.float64,
    ).sum(axis=2)
    duels = [Duels(1, form) for _ in range(m)]
    for t in range(1, n):
        sums = places[:t].sum(axis=0)
        first, second, *_ = sorted(range(m), key=lambda i: (sums[i], places[t - 1, i]))
        for i, duel in enumerate(duels):
            duel.add(costs[t, [i]], costs[t, [second if i == first else first]])
    return [float(duel.log_e()[0, 0]) for duel in duels]


@each_form
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_each_bets_against_the_leader_of_the_blocks_before(form, seed):
    costs = tied_and_failed(seed)
    decider = FixedConfidence(form=form)
    state, _ = decider.decide(started(6, decider), Blocks(np.arange(6), costs))
    assert state.duels.log_e()[0] == pytest.approx(log_wealth(costs, form), rel=1e-9)


def test_a_candidate_that_stays_keeps_its_wealth_when_another_one_goes():
    costs = np.random.default_rng(4).normal(size=(30, 4))
    decider, kept = FixedConfidence(), np.array([0, 2, 3])
    state, _ = decider.decide(started(4, decider), Blocks(np.arange(4), costs))
    before = state.duels.log_e()[0, kept]
    state, _ = decider.decide(state, Blocks(kept, np.empty((0, 3))))
    assert state.duels.log_e()[0].tolist() == before.tolist()


def until_the_end(costs, decider):
    """Return who is left of a table, and the evaluations."""
    seen = list(looks(decider, costs))
    alive, last = seen[-1]
    left = np.setdiff1d(alive, [drop.candidate for drop in last.dropped])
    return left.tolist(), sum(len(alive) for alive, _ in seen)


@pytest.mark.thorough
@each_form
def test_a_given_best_one_is_ever_dropped_with_the_rest_of_the_confidence_at_most(form):
    """Leaders that had seen the block themselves would drop far more of them."""
    n, left = 60, []
    for seed in range(n):
        costs = np.random.default_rng([7, seed]).standard_t(3, size=(60, 4))
        left.append(until_the_end(costs, FixedConfidence(0.9, form))[0])
    lost = [sum(candidate not in alive for alive in left) / n for candidate in range(4)]
    assert 0.0 < np.mean(lost) <= 0.1
    assert max(lost) <= 0.1 + 2.0 * math.sqrt(0.09 / n)


@pytest.mark.thorough
def test_it_ends_with_the_best_sooner_than_the_race_of_all_pairs():
    """The others are equally bad: of the bets against all opponents, one in nine pays."""
    effects = np.r_[0.0, np.ones(9)]
    fixed, anytime = [], []
    for seed in range(40):
        costs = np.random.default_rng([8, seed]).normal(effects, size=(300, 10))
        for decider, evaluations in ((FixedConfidence(), fixed), (AnytimeRace(), anytime)):
            left, used = until_the_end(costs, decider)
            assert left == [0]
            evaluations.append(used)
    assert np.mean(fixed) < np.mean(anytime)


def test_a_race_that_cannot_be_decided_any_more_ends():
    race = racer.race([1, 2], lambda *cell: cell[0], decider="fixed-confidence", budget=10, seed=1)
    assert race.ended.name == "UNDECIDED"
    assert race.survivors == (0, 1)
    longer = racer.race(
        [1, 2], lambda *cell: cell[0], decider="fixed-confidence", budget=60, seed=1
    )
    (drop,) = longer.eliminations.itertuples()
    assert (drop.measure, drop.reason, longer.ended.name) == ("e-value", "inferior", "DECIDED")
    assert drop.probability >= 20.0 - 1e-9
    surer = FixedConfidence(0.99)
    assert len(racer.race([1, 2], lambda *cell: cell[0], decider=surer, budget=60).blocks) > len(
        longer.blocks
    )
