"""The Bayesian Friedman race: joint statements, the gate, and pairs that are alike."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from playing import eliminated

from racer.deciders import BayesianFriedman, bayesian_friedman
from racer.stats import bayesian_friedman_test, bayesian_sign_test
from racer.stats.sign import probability_indistinguishable

REGION = BayesianFriedman(gate="region")

LAWS = settings(max_examples=15, deadline=None, derandomize=True)

seeds = st.integers(0, 2**32 - 1)


def costs_of(seed, n=30):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 7))
    return rng.normal(size=(n, m)) + rng.normal(size=m)


@LAWS
@given(seeds)
def test_the_gate_is_the_bayesian_friedman_test(table, seed):
    costs = costs_of(seed)
    expected = bayesian_friedman_test(costs)
    verdict = table.decide(REGION, costs)
    if costs.shape[1] == 2 or len(costs) < costs.shape[1]:  # not asked
        assert "f_statistic" not in verdict.evidence
        return
    assert verdict.evidence["gate"] == expected.gate
    assert verdict.evidence["f_statistic"] == pytest.approx(expected.f_statistic)
    assert verdict.evidence["tail_probability"] == pytest.approx(expected.tail_probability)
    if not expected.rejected:
        assert [drop for drop in verdict.dropped if drop.reason == "inferior"] == []


@LAWS
@given(seeds)
def test_each_drop_is_backed_by_the_bayesian_sign_test(table, seed):
    costs = costs_of(seed)
    for drop in table.decide(BayesianFriedman(pair_strength=0.0), costs).dropped:
        test = bayesian_sign_test(costs[:, drop.against], costs[:, drop.candidate])
        assert drop.probability == pytest.approx(test.probability)
    for drop in table.decide(BayesianFriedman(), costs).dropped:
        one, other = costs[:, drop.against], costs[:, drop.candidate]
        test = bayesian_sign_test([*one, 0.0, 1.0], [*other, 1.0, 0.0])  # a win and a loss more
        assert drop.measure == "posterior"
        assert drop.probability == pytest.approx(test.probability)
        assert drop.probability > 0.95


@LAWS
@given(seeds)
def test_more_confidence_drops_no_more_among_two(table, seed):
    costs = costs_of(seed)[:, :2]
    dropped = [
        {d.candidate for d in table.decide(BayesianFriedman(confidence=c), costs).dropped}
        for c in (0.999, 0.99, 0.95, 0.8)
    ]
    assert all(more <= less for more, less in itertools.pairwise(dropped))


@pytest.mark.parametrize(("confidence", "blocks"), [(0.95, 5), (0.99, 7), (0.9, 4)])
def test_one_of_two_must_win_as_many_blocks_as_would_convince_a_sign_test(
    table, confidence, blocks
):
    for gate, more in ((False, 0), (True, 1)):  # the gate is the two-sided sign test
        decider = BayesianFriedman(confidence=confidence, gate=gate)
        result, _ = table.race_over(decider, np.array([[1.0, 0.0]] * 20), first_test=2)
        assert len(result.blocks) == blocks + more
        assert result.best_index == 1


def test_even_wins_need_about_390_blocks(table):
    costs = np.array([[0.0, 1.0], [1.0, 0.0]] * 250)
    result, _ = table.race_over(BayesianFriedman(), costs, first_test=2)
    assert 380 <= len(result.blocks) <= 400
    assert [e.reason for e in eliminated(result)] == ["indistinguishable"]
    assert 0.95 < eliminated(result)[0].probability < 0.96


def test_of_two_that_are_alike_the_worse_one_goes(table):
    decider = BayesianFriedman(epsilon=0.2, gate=True)
    for better, worse in ((0, 1), (1, 0)):
        costs = np.zeros((41, 2))
        costs[::2, worse] = 1.0
        costs[1::2, better] = 1.0
        [drop] = table.decide(decider, costs).dropped
        assert (drop.candidate, drop.against) == (worse, better)
        assert drop.reason == "indistinguishable"


def test_the_region_alone_drops_nobody_before_there_are_as_many_blocks_as_candidates(table):
    costs = np.random.default_rng(0).normal(size=(40, 8)) + 0.7 * np.arange(8)
    result, looks = table.race_over(REGION, costs)
    assert {verdict.evidence["gate"] for _, verdict in looks} == {"bayesian", "none"}
    first = min(drop.block for drop in eliminated(result)) + 1
    assert first >= 8
    eager, _ = table.race_over(BayesianFriedman(), costs)
    assert min(drop.block for drop in eliminated(eager)) + 1 < 8


def test_the_last_two_are_compared_without_the_region(table):
    costs = np.array([[0.0, 1.0]] * 5)
    assert table.decide(BayesianFriedman(), costs[:2]).dropped == ()
    verdict = table.decide(REGION, costs)
    assert verdict.evidence == {"gate": "none"}
    assert [drop.candidate for drop in verdict.dropped] == [1]


JOINT = BayesianFriedman(equalities="joint", epsilon=0.1)


def alike_and_worse(m, n=400, seed=0):
    """Return m candidates that win as often against each other, and one that never wins."""
    rng = np.random.default_rng(seed)
    order = np.array([rng.permutation(m) for _ in range(n // 2)])
    rows = np.vstack([order, m - 1 - order])  # each order and its reverse: all win as often
    return np.column_stack([rows, np.full(len(rows), m)]).astype(float)


def test_joint_equalities_wait_for_the_gate(table):
    costs = alike_and_worse(3)
    assert {d.reason for d in table.decide(JOINT, costs[:, :3]).dropped} == set()
    reasons = [d.reason for d in table.decide(JOINT, costs).dropped]
    assert reasons == ["inferior", "indistinguishable", "indistinguishable"]


def test_joint_equalities_are_fewer_than_each_by_itself(table):
    """With fewer blocks each pair is indistinguishable by itself, not all pairs at once."""
    each = BayesianFriedman(equalities="each", epsilon=0.1)
    fewer = 0
    for n in range(90, 200, 10):
        costs = alike_and_worse(5, n)
        counts = [
            sum(d.reason == "indistinguishable" for d in table.decide(decider, costs).dropped)
            for decider in (JOINT, each)
        ]
        assert counts[0] <= counts[1]
        fewer += counts[0] < counts[1]
    assert fewer


def test_the_best_of_a_joint_list_may_be_several(table):
    """Two equal ones that beat a third in every block: only the third goes."""
    costs = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 2.0]] * 10)
    assert [d.candidate for d in table.decide(BayesianFriedman(), costs).dropped] == [2]


@pytest.mark.parametrize("epsilon", [0.05, 0.2])
@pytest.mark.parametrize("ties", [0.0, 0.5, 0.95])
def test_the_shortcut_misses_no_indistinguishable_pair(table, epsilon, ties):
    """At each number of blocks the verdict is that of the exact probability."""
    rng = np.random.default_rng(int(100 * ties))
    decider = BayesianFriedman(epsilon=epsilon)
    said = []
    for _ in range(4):
        lead = rng.choice([0.5, 0.52, 0.55])
        first = rng.random(600) < lead
        costs = np.column_stack([~first, first]).astype(float)
        costs[rng.random(600) < ties] = 0.0
        for n in range(20, 600, 29):
            won = (costs[:n, 0] < costs[:n, 1]).sum()
            lost = (costs[:n, 0] > costs[:n, 1]).sum()
            tied = 0 if won + lost else n
            [within] = probability_indistinguishable(
                *np.array([[won], [lost], [tied]]), epsilon=epsilon, strength=1.0
            )
            reasons = [drop.reason for drop in table.decide(decider, costs[:n]).dropped]
            if "inferior" not in reasons:
                assert (reasons == ["indistinguishable"]) == (within > 0.95)
            said.append(within > 0.95)
    assert any(said) or ties > 0.0


@pytest.mark.parametrize("gap", [0.06, 0.09])
def test_points_of_accuracy_are_not_indistinguishable(table, gap):
    """Right and wrong answers tie on most items: those are no evidence for equality."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        difficulty = rng.random((500, 1))
        wrong = (difficulty + 0.1 * rng.random((500, 2)) > [0.85, 0.85 - gap]).astype(float)
        reasons = [drop.reason for drop in table.decide(BayesianFriedman(), wrong).dropped]
        assert "indistinguishable" not in reasons


@pytest.mark.parametrize("equalities", ["each", "joint"])
def test_pairs_sought_by_their_counts_are_those_of_all_pairs(table, equalities, monkeypatch):
    decider = BayesianFriedman(equalities=equalities, epsilon=0.2, gate=False)
    drops = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        costs = rng.integers(0, 3, size=(int(rng.integers(2, 45)), 4))[:, rng.integers(0, 4, 60)]
        costs = costs + (rng.random(costs.shape) < 0.02)
        monkeypatch.setattr(bayesian_friedman, "_MANY", 200)
        by_pairs = table.decide(decider, costs).dropped
        monkeypatch.setattr(bayesian_friedman, "_MANY", 1)
        with monkeypatch.context() as patched:
            if len(costs) * 3 < 60 - len(by_pairs):
                patched.setattr(bayesian_friedman, "index_pairs", None)  # not asked for
            assert table.decide(decider, costs).dropped == by_pairs
        drops += sum(drop.reason == "indistinguishable" for drop in by_pairs)
    assert drops


@pytest.mark.parametrize("beyond", [-1e-9, 1e-9])
def test_what_is_not_sampled_counts_against_the_joint_probability(table, monkeypatch, beyond):
    """The clear statement is conceded: the sampled one has to make up for its being false."""
    conceded = []

    def joint(statements, draws, *, stop_at):
        conceded.append(stop_at - 0.95)
        return [stop_at + beyond]

    monkeypatch.setattr(bayesian_friedman, "running_joint", joint)
    costs = np.tile([0.0, 2.0, 1.0], (16, 1))
    costs[:3, 0] = 1.5  # the last one wins against the first, the second never does
    verdict = table.decide(BayesianFriedman(gate=False, epsilon=0.0), costs)
    assert 1e-9 < conceded[0] < 0.01 * 0.05
    assert [drop.candidate for drop in verdict.dropped] == ([1, 2] if beyond > 0.0 else [1])


@pytest.mark.parametrize(("together", "dropped"), [(950, []), (951, [1])])
def test_joint_equalities_need_more_than_the_confidence(table, monkeypatch, together, dropped):
    alike = np.arange(1000) < together
    monkeypatch.setattr(bayesian_friedman.PairSums, "alike", lambda *_: iter([alike]))
    verdict = table.decide(replace(JOINT, gate=False), np.zeros((60, 2)))
    assert [drop.candidate for drop in verdict.dropped] == dropped


def test_pairs_sought_by_their_counts_may_be_beside_one_that_always_wins_or_loses(table):
    """Four blocks are too few to drop an inferior one, at this confidence, but not to be alike."""
    costs = np.ones((4, bayesian_friedman._MANY + 3))
    costs[:, [0, 1, -1]] = [2.0, 0.0, 3.0]
    verdict = table.decide(BayesianFriedman(confidence=0.99, epsilon=0.4), costs)
    stay = {0, 1, 2, costs.shape[1] - 1}
    assert {drop.candidate for drop in verdict.dropped} == {*range(costs.shape[1])} - stay
