"""The anytime race: what its e-values are, what they promise, and when it gives up."""

from __future__ import annotations

import copy
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from racer.deciders import AnytimeRace, Blocks, Setting
from racer.deciders.parts.e_processes import log_e_of_signs
from racer.simulate import HeavyTailedWorld, play

LAWS = settings(max_examples=10, deadline=None, derandomize=True)
FORMS = ("sign", "rank", "median")
each_form = pytest.mark.parametrize("form", FORMS)
seeds = st.integers(0, 2**32 - 1)


def shown(costs, decider, state=None, candidates=None, **limits):
    """Show a table to a decider in one go; return its state and verdict."""
    costs = np.asarray(costs, dtype=np.float64)
    if state is None:
        state = decider.start(Setting(costs.shape[1], np.random.default_rng(0), **limits))
    names = np.arange(costs.shape[1]) if candidates is None else np.array(candidates)
    return decider.decide(state, Blocks(names, costs))


def e_table(costs, form):
    state, _ = shown(costs, AnytimeRace(form=form))
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


# -- e-values by definition


def slowly(costs, i, j, form):
    """E_ij as it is written down."""
    if form == "sign":
        lost, won = int((costs[:, i] > costs[:, j]).sum()), int((costs[:, i] < costs[:, j]).sum())
        ratio = integrate.quad(lambda p: p**lost * (1.0 - p) ** won, 0.5, 1.0, epsabs=0.0)[0]
        return 2.0 * ratio * 2.0 ** (lost + won)
    shares = (0.5, 0.7, 0.9) if form == "rank" else (0.1, 0.2, 0.35, 0.5, 0.75, 1.0)
    products, sizes = dict.fromkeys(shares, 1.0), []
    for a, b in costs[:, [i, j]].tolist():
        if a == b:
            continue
        sign = 1.0 if a > b else -1.0
        if math.inf in (a, b):
            size = 1.0 if form == "rank" else 3.0
        else:
            now = abs(a - b)
            so_far = [*sizes, now]
            if len(sizes) < 256:
                sizes.append(now)
            if form == "rank":
                size = stats.rankdata(so_far)[-1] / len(so_far)
            else:
                size = min(now / np.median(sizes), 3.0)
        for c in shares:
            z = sign * size
            factor = 1.0 + c * z if form == "rank" else math.exp(c * z) / math.cosh(c * z)
            products[c] *= factor
    return sum(products.values()) / len(shares)


@each_form
@LAWS
@given(seed=seeds)
def test_e_values_are_what_they_are_defined_to_be(form, seed):
    costs = drawn(seed)
    table = e_table(costs, form)
    for i, j in itertools.permutations(range(4), 2):
        assert table[i, j] == pytest.approx(slowly(costs, i, j, form), rel=1e-9)
    assert (np.diag(table) == 0.0).all()


@pytest.mark.parametrize("form", ["rank", "median"])
def test_later_differences_are_measured_by_the_first_256(form):
    """Pairs reach 256 at different blocks: two ties in three leave one pair far behind."""
    costs = np.random.default_rng(5).normal(size=(400, 4))
    costs[:, 3] = np.where(np.arange(400) % 3 == 0, costs[:, 3], costs[:, 2])
    table = e_table(costs, form)
    for i, j in itertools.permutations((0, 2, 3), 2):
        assert table[i, j] == pytest.approx(slowly(costs, i, j, form), rel=1e-9)


@pytest.mark.parametrize(("lost", "won"), [(0, 0), (0, 1), (1, 0), (7, 3), (3, 7), (40, 20)])
def test_the_sign_form_is_the_likelihood_ratio_of_the_upper_half(lost, won):
    ratio = integrate.quad(lambda p: p**lost * (1 - p) ** won, 0.5, 1.0, epsabs=0.0)[0]
    expected = math.log(2.0 * ratio) + (lost + won) * math.log(2.0)
    assert log_e_of_signs(np.array([lost]), np.array([won])) == pytest.approx([expected])


def test_the_sign_form_where_its_probability_is_below_the_smallest_float():
    [log_e] = log_e_of_signs(np.array([0]), np.array([3000]))
    assert math.exp(log_e) == pytest.approx(1.0 / 3001.0)


# -- what they promise


@each_form
@pytest.mark.parametrize("noise", ["normal", "t(2)", "ties in size"])
def test_over_all_signs_that_differences_may_have_the_mean_is_one(form, noise):
    """With fair signs given the sizes, each factor has mean 1 exactly, whatever the sizes."""
    rng = np.random.default_rng(5)
    draw = {"normal": rng.normal, "t(2)": lambda size: rng.standard_t(2, size)}
    sizes = np.abs(draw[noise](size=7)) if noise in draw else rng.integers(1, 4, size=7)
    total = 0.0
    for signs in itertools.product((-1.0, 1.0), repeat=7):
        total += e_table(versus(sizes * signs), form)[0, 1]
    assert total / 2**7 == pytest.approx(1.0, rel=1e-9)


@each_form
@pytest.mark.parametrize("shift", [0.0, 0.3])
@pytest.mark.parametrize("heavy", [False, True])
def test_the_mean_is_at_most_one_where_the_candidate_is_not_worse(form, shift, heavy):
    """Also where it is better: shifted down, a symmetric difference bets no better."""
    rng = np.random.default_rng(11)
    mean = []
    for _ in range(4):
        costs = rng.standard_t(2, size=(15, 100)) if heavy else rng.normal(size=(15, 100))
        costs[:, ::2] -= shift
        mean += e_table(costs, form)[np.arange(0, 100, 2), np.arange(1, 100, 2)].tolist()
    assert np.mean(mean) <= 1.0 + 3.0 * np.std(mean) / math.sqrt(len(mean))
    if shift:
        assert np.mean(mean) < 0.9


def first_drop(form, costs):
    """Return after how many blocks somebody went, and who; one more than there are if nobody."""
    decider = AnytimeRace(form=form)
    state = decider.start(Setting(costs.shape[1], np.random.default_rng(0)))
    for n, row in enumerate(costs, start=1):
        state, verdict = shown(row[None, :], decider, state)
        if verdict.dropped:
            return n, verdict.dropped[0].candidate
    return len(costs) + 1, None


@each_form
def test_among_two_equals_a_given_one_is_ever_dropped_with_probability_alpha_at_most(form):
    gone = [
        first_drop(form, np.random.default_rng([2, r]).normal(size=(60, 2)))[1] for r in range(60)
    ]
    for candidate in (0, 1):
        share = gone.count(candidate) / len(gone)
        assert share <= 0.05 + 2.0 * math.sqrt(0.05 * 0.95 / len(gone))
    assert gone.count(None) < len(gone)  # it does err


def test_one_standard_deviation_worse_goes_after_some_twenty_blocks():
    ends = [
        first_drop("median", np.random.default_rng([1, r]).normal([0.0, 1.0], size=(200, 2)))
        for r in range(100)
    ]
    assert {candidate for _, candidate in ends} == {1}
    assert 15.0 < np.mean([n for n, _ in ends]) < 22.0


# -- failures, opponents that are gone, who is dropped


@each_form
@LAWS
@given(seed=seeds)
def test_to_fail_never_helps(form, seed):
    """In the last block, for any form; in any block, where only the sign counts."""
    costs = drawn(seed)
    failed = costs.copy()
    failed[-1 if form != "sign" else seed % len(costs), 1] = np.inf
    before, after = e_table(costs, form), e_table(failed, form)
    assert (after[1] >= before[1] * (1.0 - 1e-12)).all()
    assert (after[:, 1] <= before[:, 1] * (1.0 + 1e-12)).all()


@each_form
@LAWS
@given(seed=seeds)
def test_evidence_against_opponents_that_are_gone_stays_as_it_was(form, seed):
    costs = drawn(seed, 30, 5)
    costs[10:, 4] -= 1.0
    decider = AnytimeRace(form=form, alpha=0.4999)
    state, _ = shown(costs[:10], decider)
    first = np.exp(state.log_e)
    state, _ = shown(costs[10:20][:, [0, 2, 3, 4]], decider, state, [0, 2, 3, 4])
    second = e_table(costs[:20], form)
    state, verdict = shown(costs[20:][:, [0, 3, 4]], decider, state, [0, 3, 4])
    third = e_table(costs, form)
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


@each_form
def test_strongest_first_and_against_who_stays_and_speaks_most_against_it(form):
    costs = np.random.default_rng(3).normal(size=(60, 6)) + 0.8 * np.arange(6)
    _, verdict = shown(costs, AnytimeRace(form=form))
    table = e_table(costs, form)
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
    assert e_values(e_table(costs, "median"))[0] > 20.0
    _, verdict = shown(costs, AnytimeRace())
    assert (verdict.dropped, verdict.best) == ((), 0)


# -- when it gives up


@each_form
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("m", [2, 3])
def test_undecided_is_exact(form, seed, m):
    """Not a block too late, and not one too early: against all of the best bets there are."""
    costs = np.random.default_rng(seed).normal(size=(30, m))
    decider, budget = AnytimeRace(form=form), 30 * m + m - 1

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


@each_form
def test_undecided_holds_whatever_comes(form):
    """All that three blocks may bring: either fails, or a difference of any size."""
    sizes = np.abs(np.random.default_rng(8).normal(size=26))
    costs = versus(sizes * np.tile([1.0, -1.0], 13))
    decider = AnytimeRace(form=form)
    state, verdict = shown(costs, decider, n_blocks=29)
    assert verdict.undecided
    rows = np.array([[np.inf, 0.0], [0.0, np.inf], [-9.0, 0.0], [0.0, 0.0], [0.1, 0.0], [9.0, 0.0]])
    for rest in itertools.product(rows, repeat=3):
        _, last = shown(rest, decider, copy.deepcopy(state))
        assert not last.dropped
        assert last.undecided


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


@each_form
def test_costs_whose_difference_overflows_are_no_failures(form):
    signs = np.random.default_rng(2).choice([-1.0, 1.0], size=20)
    near, far = (np.column_stack([size * signs, -size * signs]) for size in (0.5, 1.7e308))
    assert np.array_equal(e_table(near, form), e_table(far, form))
    smallest = np.where(signs > 0, [[5e-324], [0.0]], [[0.0], [5e-324]]).T
    assert np.array_equal(e_table(near, form), e_table(smallest, form))


@each_form
@pytest.mark.parametrize("failing", [False, True])
def test_e_values_stay_finite_over_thousands_of_blocks(form, failing):
    worse = np.inf if failing else 1.0
    costs = np.tile([0.0, worse], (5000, 1))
    state, verdict = shown(costs, AnytimeRace(form=form), n_blocks=6000)
    [drop] = verdict.dropped
    assert drop.candidate == 1
    assert 1e300 < drop.probability < math.inf
    assert not np.isnan(state.log_e).any()
    assert state.log_e[0, 1] < 0.0
