"""One candidate against many that have not seen the same blocks."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from racer.deciders import AnytimeRace, Blocks, Setting
from racer.deciders.parts.scores import rank_scores
from racer.deciders.parts.single_trial import evidence_against

LAWS = settings(max_examples=10, deadline=None, derandomize=True)
SHARES = np.array((0.1, 0.2, 0.35, 0.5, 0.75, 1.0))
seeds = st.integers(0, 2**32 - 1)


def drawn(seed, n=20, k=5):
    """Return a candidate and opponents of which each has seen a part of its blocks, one all."""
    rng = np.random.default_rng(seed)
    own, others = rng.normal(0.5, size=n), rng.normal(size=(n, k))
    others[rng.random((n, k)) < 0.3] = np.nan
    others[:, 0] = rng.normal(size=n)
    return own, others


def bets(own, other):
    """Each share's winnings in each block, as they are written down; NaN blocks bet nothing."""
    sizes, factors = [], []
    for a, b in zip(own, other, strict=True):
        if np.isnan(b) or a == b:
            factors.append(np.ones(len(SHARES)))
            continue
        sizes.append(abs(a - b))
        relative = min(sizes[-1] / np.median(sizes), 3.0)
        factors.append(1.0 + np.tanh(SHARES * relative * np.sign(a - b)))
    return np.array(factors)


def leader_before(others, block):
    """Who leads before a block, of those who see it; None where nothing tells."""
    scores, costs = {}, {}
    sees = np.flatnonzero(~np.isnan(others[block])).tolist()
    for row in others[:block]:
        seen = np.flatnonzero(~np.isnan(row)).tolist()
        for j, score in zip(seen, rank_scores(row[seen]) if seen else (), strict=True):
            scores.setdefault(j, []).append(score)
            costs.setdefault(j, []).append(row[j])
    n = {j: len(scores[j]) for j in sees if j in scores}
    order = [(sum(scores[j]) / n[j], sum(costs[j]) / n[j], j) for j in n]  # rounded as there
    if order:
        return min(order)[2]
    return sees[0] if len(sees) == 1 else None


def slowly(own, others):
    """The e-value as it is written down."""
    leaders = [leader_before(others, t) for t in range(len(own))]
    each = [bets(own, others[:, j]) for j in range(others.shape[1])]
    plain = np.mean([factors.prod(axis=0).mean() for factors in each])
    followed = np.ones(len(SHARES))
    for t, j in enumerate(leaders):
        if j is not None:
            followed *= each[j][t]
    return (plain + followed.mean()) / 2.0


@given(seed=seeds)
@LAWS
def test_the_e_value_is_what_is_written_down(seed):
    own, others = drawn(seed)
    log_e, _ = evidence_against(own, others)
    assert np.exp(log_e) == pytest.approx(slowly(own, others), rel=1e-9)


@given(seed=seeds)
@LAWS
def test_the_order_of_the_opponents_does_not_matter(seed):
    own, others = drawn(seed)
    order = np.random.default_rng(seed).permutation(others.shape[1])
    one = evidence_against(own, others)
    other = evidence_against(own, others[:, order])
    assert other.log_e == pytest.approx(one.log_e, rel=1e-9, abs=1e-12)


def test_with_one_opponent_it_is_the_race_of_two():
    rng = np.random.default_rng(3)
    costs = np.column_stack([rng.normal(1.0, size=30), rng.normal(size=30)])
    decider = AnytimeRace()
    state, _ = decider.decide(
        decider.start(Setting(2, np.random.default_rng(0))), Blocks(np.arange(2), costs)
    )
    log_e, against = evidence_against(costs[:, 0], costs[:, 1:])
    assert against == 0
    assert log_e == pytest.approx(state.log_e[0, 1], rel=1e-12)


def test_an_opponent_without_common_blocks_does_not_count():
    own, others = drawn(1)
    decider = AnytimeRace(alpha=0.4)
    with_stranger = np.column_stack([np.full(len(own), np.nan), others])
    one, other = decider.judge(own + 3.0, others), decider.judge(own + 3.0, with_stranger)
    assert one is not None
    assert other == replace(one, candidate=one.candidate + 1, against=one.against + 1)
    assert decider.judge(own + 3.0, np.full_like(others, np.nan)) is None


def test_who_wins_everything_is_never_judged_to_go():
    own, others = drawn(2)
    assert AnytimeRace(alpha=0.49).judge(own - 9.0, others) is None


def test_huge_values_and_endless_evidence_give_a_finite_e_value():
    n = 1200  # 2**n is beyond the floats
    others = np.full((n, 2), -1e308)
    drop = AnytimeRace().judge(np.full(n, 1e308), others)
    assert drop is not None
    assert np.isfinite(drop.probability)


def test_familywise_asks_for_more():
    own, others = drawn(5)
    own, levels = own + 1.0, np.geomspace(1e-6, 0.49, 60)
    plain = [AnytimeRace(alpha=a).judge(own, others) is not None for a in levels]
    strict = [AnytimeRace(alpha=a, familywise=True).judge(own, others) for a in levels]
    assert sum(plain) > sum(drop is not None for drop in strict) > 0


def test_only_those_who_can_judge_one_say_so():
    from racer.deciders import DECIDERS

    can = {name for name, make in DECIDERS.items() if make().judge is not None}
    assert can == {"anytime"}


@pytest.mark.thorough
def test_an_equal_challenger_of_many_lucky_ones_is_rarely_ever_dropped():
    rng = np.random.default_rng(11)
    decider, dropped, repetitions = AnytimeRace(), 0, 30
    for _ in range(repetitions):
        own, others = rng.normal(size=30), rng.normal(size=(30, 20))
        lasts = rng.integers(3, 31, size=20)  # most have been pruned somewhere
        lasts[0] = 30
        others[np.arange(30)[:, None] >= lasts] = np.nan
        dropped += any(decider.judge(own[:n], others[:n]) is not None for n in range(6, 31, 4))
    # 5 % and two standard errors
    assert dropped / repetitions <= 0.05 + 2.0 * np.sqrt(0.05 * 0.95 / repetitions)
