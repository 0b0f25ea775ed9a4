"""What holds for every decider, or for all that look at ranks only."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from playing import ONE_NUMBER, eliminated, short
from scipy import stats

import racer
from racer import Ended
from racer.deciders import (
    AnytimeRace,
    BayesianBest,
    BayesianFriedman,
    Blocks,
    CorrelatedTRace,
    FixedConfidence,
    FRace,
    Setting,
    SignedRankRace,
    TRace,
    as_decider,
)

LAWS = settings(max_examples=4, deadline=None, derandomize=True)  # for each of 24 deciders

PLANNERS = ("halving", "best-for-budget", BayesianBest())
# those that spend a budget to its end drop without need of evidence: they have laws of their own
NAMED = [short(decider) for decider in ONE_NUMBER if decider not in PLANNERS]
SIGNS = {"f-race, sign": FRace(last_two="sign")}
EAGER = {
    "bayesian-friedman, no gate": BayesianFriedman(gate=False),
    "f-race, no gate": FRace(gate=False),
    "f-race-sign, no gate": FRace(posthoc="sign", gate=False),
    "f-race-mean-rank, no gate": FRace(posthoc="mean-rank", gate=False),
    "t-race, holm": TRace(correction="holm"),
    "SignedRankRace, no gate": SignedRankRace(gate=False),
}
EVERY = {
    **{short(decider): as_decider(decider) for decider in ONE_NUMBER if decider not in PLANNERS},
    **EAGER,
    **SIGNS,
    "fixed-confidence, rank": FixedConfidence(form="rank"),
}
every_decider = pytest.mark.parametrize(  # who has no gate is who has one, and drops more
    "name", [pytest.param(n, marks=[pytest.mark.thorough] * (n in EAGER)) for n in EVERY]
)
# t-race looks at costs, f-race at those of the last two, the signed-rank race at how differences compare over blocks, and so do bets
BY_SIZE = ("t-race", "CorrelatedTRace", "anytime", "fixed-confidence", "SignedRankRace", "f-race")
# the default asks the posterior of the best, too, which compares sizes
RANK_BASED = [name for name in NAMED if name not in {*BY_SIZE, "bayesian-friedman"}] + list(SIGNS)

seeds = st.integers(0, 2**32 - 1)


def effects_and_noise(seed, n=30, *, m=None, spread=2.0):
    """Return costs without ties: candidates that differ, on blocks that differ."""
    rng = np.random.default_rng(seed)
    m = m or int(rng.integers(2, 7))
    effects = rng.normal(size=m) * rng.choice([0.2, 1.0])
    return effects + spread * rng.normal(size=(n, 1)) + rng.normal(size=(n, m))


def few_values(seed, n=20, *, failures=False):
    """Return costs full of ties, and of failures if asked for (but never a whole block)."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 7))
    costs = rng.integers(0, 4, size=(n, m)) + rng.integers(0, 2, size=m)
    costs = costs.astype(float)
    if failures:
        costs[:, 1:][rng.random((n, m - 1)) < 0.15] = np.inf
    return costs


def gone(result, names=None):
    names = range(len(result.configs)) if names is None else names
    return {(e.block, int(names[e.candidate]), e.reason) for e in eliminated(result)}


# -- the order of the candidates


def tied_statements(costs):
    """Return the pairs (better, worse) that tie with another pair in wins, losses and rank gap.

    Statements that tie in all of these are accepted in the order of the candidates, which is the
    one exception to the law below; it concerns the joint probability only.
    """
    wins = (costs[:, :, None] < costs[:, None, :]).sum(axis=0)
    ranks = stats.rankdata(costs, axis=1).sum(axis=0)
    pairs = {}
    for better, worse in np.argwhere(wins > wins.T).tolist():
        key = wins[better, worse], wins[worse, better], ranks[worse] - ranks[better]
        pairs.setdefault(key, []).append((better, worse))
    return [pair for tied in pairs.values() if len(tied) > 1 for pair in tied]


@every_decider
@LAWS
@given(seed=seeds)
@example(seed=3635)
def test_the_order_of_the_candidates_changes_nothing(table, name, seed):
    costs = effects_and_noise(seed)
    order = np.random.default_rng(seed + 1).permutation(costs.shape[1])
    result, looks = table.race_over(EVERY[name], costs)
    turned, turned_looks = table.race_over(EVERY[name], costs[:, order])
    for block, ((alive, verdict), (turned_alive, turned_verdict)) in enumerate(
        zip(looks, turned_looks, strict=False), start=5
    ):
        by_name = dict(zip(order[turned_alive].tolist(), turned_verdict.standing, strict=True))
        assert dict(zip(alive, verdict.standing, strict=True)) == by_name
        best = None if turned_verdict.best is None else int(order[turned_verdict.best])
        if verdict.best is None or best is None:
            assert verdict.best is best is None
        else:  # where several stand best, the first of them is named
            assert by_name[best] == by_name[verdict.best] == min(by_name.values())
        dropped = {(d.candidate, d.reason) for d in verdict.dropped}
        turned_dropped = {(int(order[d.candidate]), d.reason) for d in turned_verdict.dropped}
        if dropped != turned_dropped:
            assert isinstance(EVERY[name], BayesianFriedman)
            tied = {alive[worse] for _, worse in tied_statements(costs[:block, alive])}
            assert {candidate for candidate, _ in dropped ^ turned_dropped} <= tied
            return
    assert len(looks) == len(turned_looks)
    assert gone(result) == gone(turned, order)
    assert result.ended == turned.ended
    assert {int(order[c]) for c in turned.survivors} == set(result.survivors)
    last = np.sort(looks[-1][1].standing)
    if len(last) < 2 or last[0] < last[1]:
        assert result.leader == int(order[turned.leader])


# -- values and ranks

TRANSFORMS = [
    np.exp,
    lambda x: x**3,
    lambda x: 1e-6 * x - 7.0,
    lambda x: -1.0 / (x + 1.0),
    lambda x: x * 2.0**60,
    np.sqrt,
]


@pytest.mark.parametrize("name", RANK_BASED)
@LAWS
@given(seed=seeds)
def test_what_keeps_the_order_within_blocks_changes_nothing_for_rank_deciders(table, name, seed):
    costs = few_values(seed, 25)
    rng = np.random.default_rng(seed + 1)
    bent = np.array([TRANSFORMS[rng.integers(len(TRANSFORMS))](row) for row in costs])
    result, looks = table.race_over(EVERY[name], costs)
    other, other_looks = table.race_over(EVERY[name], bent)
    assert eliminated(result) == eliminated(other)
    assert (result.survivors, result.leader) == (other.survivors, other.leader)
    assert [verdict.evidence for _, verdict in looks] == [v.evidence for _, v in other_looks]


@pytest.mark.parametrize("name", [*BY_SIZE, "fixed-confidence, rank"])
@LAWS
@given(seed=seeds, power=st.integers(-30, 30))
def test_the_unit_of_the_costs_changes_nothing(table, name, seed, power):
    costs = effects_and_noise(seed)
    result, _ = table.race_over(EVERY[name], costs)
    other, _ = table.race_over(EVERY[name], costs * 2.0**power)
    assert eliminated(result) == eliminated(other)
    assert result.survivors == other.survivors


@pytest.mark.parametrize("decider", [*PLANNERS, "t-race", CorrelatedTRace()], ids=short)
@pytest.mark.parametrize("level", [8.0, 1024.0])
def test_neither_level_nor_unit_of_the_costs_matters_though_one_of_two_fails(decider, level):
    costs = np.random.default_rng(5).integers(0, 16, size=(40, 2)).astype(float)
    costs[:, 1] -= 4.0
    costs[1::9, 1] = np.inf  # beside one success, there is no range

    def won(costs):
        def evaluate(candidate, block, seed):
            if np.isinf(costs[block, candidate]):
                raise ValueError
            return costs[block, candidate]

        result = racer.race([0, 1], evaluate, range(40), decider=decider, budget=80, seed=1)
        return result.survivors, eliminated(result)

    assert won(costs + level) == won(costs) == won(costs * 2.0**-10)


# -- block by block, or all at once


@every_decider
@LAWS
@given(seed=seeds, step=st.integers(1, 7))
def test_deciding_block_by_block_is_deciding_on_all_blocks_at_once(table, name, seed, step):
    for costs in (effects_and_noise(seed), few_values(seed)):
        at_once = table.decide(EVERY[name], costs)
        stepwise = table.decide(EVERY[name], costs, step=step)
        assert [(d.candidate, d.reason, d.against) for d in stepwise.dropped] == [
            (d.candidate, d.reason, d.against) for d in at_once.dropped
        ]
        assert np.allclose(
            [d.probability for d in stepwise.dropped], [d.probability for d in at_once.dropped]
        )
        assert stepwise.best == at_once.best
        assert np.allclose(stepwise.standing, at_once.standing)
        assert stepwise.evidence.get("gate") == at_once.evidence.get("gate")


@LAWS
@given(seeds)
def test_forgetting_who_is_gone_is_never_having_seen_them(table, seed):
    costs = effects_and_noise(seed, m=6)
    kept = np.array([0, 2, 5])
    for decider in EVERY.values():
        if isinstance(decider, AnytimeRace | FixedConfidence):
            continue  # what it has seen of an opponent stays: that is what its promise rests on
        state = decider.start(Setting(6, np.random.default_rng(0)))
        state, _ = decider.decide(state, Blocks(np.arange(6), costs[:15]))
        _, verdict = decider.decide(state, Blocks(kept, costs[15:, kept]))
        alone = table.decide(decider, costs[:, kept])
        assert [kept[d.candidate] for d in alone.dropped] == [d.candidate for d in verdict.dropped]
        assert np.allclose(alone.standing, verdict.standing)
        assert int(kept[alone.best]) == verdict.best


# -- what a verdict says


@pytest.mark.filterwarnings("ignore:block .* is set aside:racer.RacerWarning")
@every_decider
@LAWS
@given(seed=seeds)
def test_every_verdict_is_complete_and_never_drops_everybody(table, name, seed):
    result, looks = table.race_over(EVERY[name], few_values(seed, failures=True), first_test=2)
    for alive, verdict in looks:
        for drop in verdict.dropped:
            table.check_drop(drop, alive)
        dropped = [drop.candidate for drop in verdict.dropped]
        assert len(dropped) == len(set(dropped)) < len(alive)
        assert verdict.standing.shape == (len(alive),)
        assert not np.isnan(verdict.standing).any()
        if verdict.best is not None:
            assert verdict.standing[alive.index(verdict.best)] == verdict.standing.min()
            assert verdict.best not in dropped
        else:
            assert len(set(verdict.standing)) == 1
        assert all(value == value for value in verdict.evidence.values())
    assert len(result.survivors) >= 1


@every_decider
def test_one_candidate_far_better_wins(table, name):
    costs = effects_and_noise(4, 40, m=6)
    costs[:, 3] -= 10.0
    result, _ = table.race_over(EVERY[name], costs)
    assert result.ended == Ended.DECIDED
    assert result.leader == 3
    assert set(result.eliminations["reason"]) == {"inferior"}
    assert len(result.blocks) < 20


@every_decider
def test_nothing_is_said_about_one_block_or_one_candidate(table, name):
    assert table.decide(EVERY[name], [[1.0, 2.0, 3.0]]).dropped == ()
    verdict = table.decide(EVERY[name], [[1.0]] * 10)
    assert (verdict.dropped, verdict.best) == ((), 0)


# -- ties, circles, copies


@every_decider
@pytest.mark.parametrize("m", [2, 3, 5])
def test_ties_everywhere_drop_nobody_as_inferior(table, name, m):
    result, looks = table.race_over(EVERY[name], np.full((60, m), 3.0))
    assert result.ended == Ended.ALL_EQUAL
    assert result.best is None
    assert {verdict.best for _, verdict in looks} == {None}
    if name == "bayesian-friedman-2015":  # behind the gate, which is not asked of two
        reasons = [reason for _, _, reason in gone(result)]
        assert reasons == (["indistinguishable"] if m == 2 else [])
    elif "bayesian-friedman" in name:
        assert gone(result) == {(28, c, "indistinguishable") for c in range(1, m)}
    else:
        assert gone(result) == set()
        assert len(result.blocks) == 60 or name.startswith(("anytime", "fixed"))  # undecided before


def test_without_epsilon_ties_never_drop_anybody(table):
    result, _ = table.race_over(BayesianFriedman(epsilon=0.0), np.zeros((80, 3)))
    assert gone(result) == set()


@every_decider
@pytest.mark.parametrize("m", [3, 4])
def test_a_circle_of_winners_never_drops_everybody(table, name, m):
    """Each beats the next in all blocks but one of m."""
    circle = np.array([np.roll(np.arange(m, dtype=float), k) for k in range(m)])
    costs = np.tile(circle, (60 // m, 1))
    verdict = table.decide(EVERY[name], costs)
    assert len(verdict.dropped) < m
    assert np.ptp(verdict.standing) <= 1e-12
    if not isinstance(EVERY[name], TRace):  # means of floats tie by luck only
        assert verdict.best is None
    result, _ = table.race_over(EVERY[name], costs)
    assert len(result.survivors) >= 1


@pytest.mark.parametrize(
    "decider",
    [FRace(posthoc="sign", gate=False), BayesianFriedman(gate=False, equalities="joint")],
    ids=["f-race-sign", "as in the paper"],
)
def test_of_a_circle_in_which_everybody_loses_one_stays(table, decider):
    circle = np.array([np.roll(np.arange(3.0), k) for k in range(3)])
    verdict = table.decide(decider, np.tile(circle, (60, 1)))
    assert [drop.candidate for drop in verdict.dropped] in ([1, 2], [2, 1])


@every_decider
def test_copies_of_a_candidate_make_neither_nan_nor_warnings(table, name):
    costs = effects_and_noise(7, 40, m=4)
    costs = np.column_stack([costs, costs[:, 0], costs[:, 0]])
    _, looks = table.race_over(EVERY[name], costs)
    for alive, verdict in looks:
        assert np.isfinite(verdict.standing).all()
        standing = dict(zip(alive, verdict.standing, strict=True))
        copies = [standing[c] for c in (0, 4, 5) if c in standing]
        assert len(set(copies)) <= 1
        assert all(value == value for value in verdict.evidence.values())
        for drop in verdict.dropped:
            table.check_drop(drop, alive)
            if drop.reason != "indistinguishable":
                assert not {drop.candidate, drop.against} <= {0, 4, 5}


@every_decider
def test_two_copies_are_never_told_apart(table, name):
    column = np.random.default_rng(3).normal(size=(100, 1))
    result, _ = table.race_over(EVERY[name], np.hstack([column, column]))
    assert result.best is None
    assert {reason for _, _, reason in gone(result)} <= {"indistinguishable"}


@every_decider
@pytest.mark.parametrize("scale", [1e308, 1e-308, 5e-324])
def test_costs_at_the_ends_of_the_floats(table, name, scale):
    rng = np.random.default_rng(1)
    costs = scale * rng.choice([-1.0, 0.0, 1.0], size=(30, 3), p=[0.3, 0.3, 0.4])
    _, looks = table.race_over(EVERY[name], costs)
    for alive, verdict in looks:
        assert not np.isnan(verdict.standing).any()
        for drop in verdict.dropped:
            table.check_drop(drop, alive)
