"""The anytime race: what its e-values are, what they promise, and when it gives up."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from playing import looks

from racer.deciders import AnytimeRace, Blocks, Setting
from racer.deciders.parts.e_processes import Duels
from racer.simulate import HeavyTailedWorld, play

LAWS = settings(max_examples=10, deadline=None, derandomize=True)
seeds = st.integers(0, 2**32 - 1)


def shown(costs, decider, state=None, candidates=None, **limits):
    """Show a table to a decider in one go; return its state and verdict."""
    costs = np.asarray(costs, dtype=np.float64)
    if state is None:
        state = decider.start(Setting(costs.shape[1], np.random.default_rng(0), **limits))
    names = np.arange(costs.shape[1]) if candidates is None else np.array(candidates)
    return decider.decide(state, Blocks(names, costs))


def e_table(costs):
    state, _ = shown(costs, AnytimeRace())
    return np.exp(state.log_e)


def e_values(table):
    return table.sum(axis=1) / (len(table) - 1)


def drawn(seed, n=25, m=4):
    """Return costs with ties and failures, of candidates that differ a little."""
    rng = np.random.default_rng(seed)
    costs = np.round(rng.standard_t(3, size=(n, m)) + 0.3 * np.arange(m), 1)
    costs[rng.random((n, m)) < 0.1] = np.inf
    return costs


def versus(differences):
    """Return costs of two candidates with these differences."""
    differences = np.asarray(differences, dtype=np.float64)
    return np.column_stack([differences, np.zeros(len(differences))])


@LAWS
@given(seed=seeds)
def test_e_values_are_those_of_the_pairs(seed):
    costs = drawn(seed)
    table = e_table(costs)
    for i, j in itertools.permutations(range(4), 2):
        duels = Duels(1, "median")
        for row in costs:
            duels.add(row[[i]], row[[j]])
        assert np.exp(duels.log_e()[:, 0]) == pytest.approx([table[i, j], table[j, i]], rel=1e-12)
    assert (np.diag(table) == 0.0).all()


# -- what they promise


@pytest.mark.parametrize("shift", [0.0, 0.3])
@pytest.mark.parametrize("heavy", [False, True])
def test_the_mean_is_at_most_one_where_the_candidate_is_not_worse(shift, heavy):
    """Also where it is better: shifted down, a symmetric difference bets no better."""
    rng = np.random.default_rng(11)
    mean = []
    for _ in range(4):
        costs = rng.standard_t(2, size=(15, 100)) if heavy else rng.normal(size=(15, 100))
        costs[:, ::2] -= shift
        mean += e_table(costs)[np.arange(0, 100, 2), np.arange(1, 100, 2)].tolist()
    assert np.mean(mean) <= 1.0 + 3.0 * np.std(mean) / math.sqrt(len(mean))
    if shift:
        assert np.mean(mean) < 0.9


def first_drop(costs):
    """Return after how many blocks somebody went, and who; one more than there are if nobody."""
    for n, (_, verdict) in enumerate(looks(AnytimeRace(), costs), 1):
        if verdict.dropped:
            return n, verdict.dropped[0].candidate
    return len(costs) + 1, None


@pytest.mark.thorough
def test_among_two_equals_a_given_one_is_ever_dropped_with_probability_alpha_at_most():
    gone = [first_drop(np.random.default_rng([2, r]).normal(size=(60, 2)))[1] for r in range(60)]
    for candidate in (0, 1):
        share = gone.count(candidate) / len(gone)
        assert share <= 0.05 + 2.0 * math.sqrt(0.05 * 0.95 / len(gone))
    assert gone.count(None) < len(gone)  # it does err


def test_one_standard_deviation_worse_goes_after_some_twenty_blocks():
    ends = [
        first_drop(np.random.default_rng([1, r]).normal([0.0, 1.0], size=(200, 2)))
        for r in range(100)
    ]
    assert {candidate for _, candidate in ends} == {1}
    assert 15.0 < np.mean([n for n, _ in ends]) < 22.0


# -- failures, opponents that are gone, who is dropped


@LAWS
@given(seed=seeds)
def test_to_fail_never_helps(seed):
    """In the last block; in an earlier one, a difference less changes the sizes of later ones."""
    costs = drawn(seed)
    failed = costs.copy()
    failed[-1, 1] = np.inf
    before, after = e_table(costs), e_table(failed)
    assert (after[1] >= before[1] * (1.0 - 1e-12)).all()
    assert (after[:, 1] <= before[:, 1] * (1.0 + 1e-12)).all()


@LAWS
@given(seed=seeds)
def test_evidence_against_opponents_that_are_gone_stays_as_it_was(seed):
    costs = drawn(seed, 30, 5)
    costs[10:, 4] -= 1.0
    decider = AnytimeRace(alpha=0.4999)
    state, _ = shown(costs[:10], decider)
    first = np.exp(state.log_e)
    state, _ = shown(costs[10:20][:, [0, 2, 3, 4]], decider, state, [0, 2, 3, 4])
    second = e_table(costs[:20])
    state, verdict = shown(costs[20:][:, [0, 3, 4]], decider, state, [0, 3, 4])
    third = e_table(costs)
    alive = [0, 3, 4]
    expected = {
        i: (first[i, 1] + second[i, 2] + sum(third[i, j] for j in alive if j != i)) / 4
        for i in alive
    }
    assert np.allclose(np.exp(state.log_e), third[np.ix_(alive, alive)])
    for drop in verdict.dropped:
        assert drop.probability == pytest.approx(expected[drop.candidate])
    dropped = {drop.candidate for drop in verdict.dropped}
    standing = dict(zip(alive, verdict.standing, strict=True))
    leads = min(standing.values())
    assert dropped == {i for i in alive if expected[i] >= 1 / 0.4999 and standing[i] > leads}


def test_strongest_first_and_against_who_stays_and_speaks_most_against_it():
    costs = np.random.default_rng(3).normal(size=(60, 6)) + 0.8 * np.arange(6)
    _, verdict = shown(costs, AnytimeRace())
    table = e_table(costs)
    dropped = [drop.candidate for drop in verdict.dropped]
    stay = [c for c in range(6) if c not in dropped]
    assert len(dropped) > 2
    measured = [drop.probability for drop in verdict.dropped]
    assert measured == sorted(measured, reverse=True)
    for drop in verdict.dropped:
        assert (drop.reason, drop.measure) == ("inferior", "e-value")
        assert drop.probability == pytest.approx(e_values(table)[drop.candidate])
        assert drop.against == max(stay, key=lambda j: table[drop.candidate, j])


def test_who_stands_first_is_not_dropped_however_large_its_losses():
    """It wins more often, by little, and loses by much: bets by size and ranks disagree."""
    costs = versus([-1.0] * 160 + [100.0] * 140)
    assert e_values(e_table(costs))[0] > 20.0
    _, verdict = shown(costs, AnytimeRace())
    assert (verdict.dropped, verdict.best) == ((), 0)


# -- when it gives up


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("m", [2, 3])
def test_undecided_is_exact(seed, m):
    """Not a block too late, and not one too early: against all of the best bets there are."""
    costs = np.random.default_rng(seed).normal(size=(30, m))
    decider, budget = AnytimeRace(), 30 * m + m - 1

    def goes_if_failing(n, candidate):
        state, _ = shown(costs[:n], decider, budget=budget)
        worst = costs[n:].copy()
        worst[:, candidate] = np.inf
        for row in worst:
            state, verdict = shown(row[None, :], decider, state)
            if verdict.dropped:
                return True
        return False

    said = [shown(costs[:n], decider, budget=budget)[1].undecided for n in range(1, 31)]
    when = said.index(True) + 1
    assert said == [False] * (when - 1) + [True] * (31 - when)
    assert not any(goes_if_failing(when, c) for c in range(m))
    assert any(goes_if_failing(when - 1, c) for c in range(m))


def test_undecided_needs_to_know_the_budget():
    costs = np.random.default_rng(8).normal(size=(26, 2))
    assert not shown(costs, AnytimeRace())[1].undecided
    assert not shown(costs, AnytimeRace(), budget=10**400)[1].undecided
    assert shown(costs, AnytimeRace(), budget=10**400, n_blocks=26)[1].undecided
    assert shown(costs, AnytimeRace(), budget=3)[1].undecided


# -- nobody wrongly dropped at all


def test_familywise_asks_for_as_many_times_more_as_are_still_in():
    """Ten times the evidence with ten candidates, twice with two: seen at the same e-values."""
    costs = np.random.default_rng(3).normal(size=(60, 10)) + np.arange(10) * 0.12
    verdict = shown(costs, AnytimeRace())[1]
    strict = shown(costs, AnytimeRace(familywise=True))[1]
    by_name = {drop.candidate: drop.probability for drop in verdict.dropped}
    assert {c for c, e in by_name.items() if e >= 200.0} == {d.candidate for d in strict.dropped}
    assert 0 < len(strict.dropped) < len(by_name)
    two = costs[:, [0, 9]]
    strict, half = (
        shown(two, AnytimeRace(**given))[1].dropped
        for given in ({"familywise": True}, {"alpha": 0.025})
    )
    assert strict == half != ()


@pytest.mark.thorough
def test_familywise_equal_candidates_all_stay_in_all_but_alpha_of_races():
    races = 60
    world = HeavyTailedWorld(6, 1.0, qualities=(0.0,) * 6)
    rows = play(AnytimeRace(familywise=True), world, repetitions=races, blocks=60, seed=4).frame
    wrong = float((rows["survivors"] < 6).mean())
    assert wrong <= 0.05 + 2.0 * math.sqrt(0.05 * 0.95 / races)


def test_a_verdict_that_drops_somebody_is_not_undecided():
    costs = versus([1.0] * 20)
    _, verdict = shown(costs, AnytimeRace(), n_blocks=20)
    assert [drop.candidate for drop in verdict.dropped] == [0]
    assert not verdict.undecided


# -- at the ends of the floats


@pytest.mark.parametrize("failing", [False, True])
def test_e_values_stay_finite_over_thousands_of_blocks(failing):
    worse = np.inf if failing else 1.0
    costs = np.tile([0.0, worse], (5000, 1))
    state, verdict = shown(costs, AnytimeRace(), n_blocks=6000)
    [drop] = verdict.dropped
    assert drop.candidate == 1
    assert 1e300 < drop.probability < math.inf
    assert not np.isnan(state.log_e).any()
    assert state.log_e[0, 1] < 0.0
