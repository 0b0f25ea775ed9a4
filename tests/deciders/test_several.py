"""Deciders of several metrics: what they promise, failures, margins, exact metrics, ends."""

import numpy as np
import pytest
from playing import tell_block

import racer
from racer import Constrained, Metric, Outcome, Pareto, Within
from racer.deciders import BayesianFront, Blocks, FrontRace, Goal, Setting
from racer.deciders.constrained import ConstrainedRace
from racer.deciders.within import WithinRace
from racer.racing.race import Race
from racer.stats._bets import ExactBets, MeanBets, difference_bounds

NAMES = "abcde"


def raced(costs, metrics=None, objective=None, **given):
    """Race on costs (n, m, d), NaN for a failed cell; return the race after its last block."""
    n, m, d = costs.shape
    names = NAMES[:d]
    race = Race.of(
        range(m),
        range(n),
        budget=n * m,
        seed=1,
        deterministic=True,
        metrics=metrics or dict.fromkeys(names, "min"),
        objective=objective or Pareto(*names),
        **given,
    )
    race.ask()
    while race.ended is None:
        rows = costs[race.n_blocks][list(race.alive)]
        first = race.rules.metric_names[0]
        told = [dict(zip(names, row, strict=True)) for row in rows.tolist()]
        tell_block(
            race,
            [
                Outcome("failed", None, message="no")
                if np.isnan(found[first])
                else Outcome("ok", found[first], metrics=found)
                for found in told
            ],
        )
    return race


def noisy(means, n=80, seed=0, noise=1.0):
    means = np.asarray(means, dtype=float)
    return means + noise * np.random.default_rng(seed).normal(size=(n, *means.shape))


FRONT = [[0, 3], [1, 1], [3, 0], [3, 3], [2, 3]]


@pytest.mark.parametrize("n_equal", [1, 2])
def test_a_race_to_the_front_ends_when_it_is_settled(n_equal):
    """Six on the front and six behind; with equals on it, who is on the front stays open."""
    front = [[k, 5 - k] for k in range(6)][::n_equal] * n_equal
    means = front + [[a + 1.5, b + 1.5] for a, b in front]
    race = raced(noisy(means, n=120))
    assert set(race.alive) <= {*range(6)}
    assert (race.n_blocks < 40, len(race.alive) == 6) == (n_equal == 1,) * 2


@pytest.mark.thorough
def test_one_of_the_front_is_hardly_ever_dropped():
    lost = {"front": 0, "bayesian-front": 0}
    tied = np.zeros((6, 2))  # all are on the front: nobody is better in any metric
    tied[-1, 1] = 3.0
    for seed in range(15):
        costs = noisy(tied, 60, seed)
        for decider in lost:
            lost[decider] += 6 - len(raced(costs, decider=decider).alive)
    assert lost["front"] <= 0.05 * 90
    assert lost["bayesian-front"] <= 0.05 * 90


@pytest.mark.parametrize("decider", ["front", "bayesian-front"])
def test_a_failed_cell_is_the_worst_in_every_metric(decider):
    costs = noisy(FRONT, 60, noise=0.3)
    costs[np.random.default_rng(1).random(60) < 0.7, 1] = np.nan
    race = raced(costs, decider=decider)
    assert 1 not in race.alive or decider == "front"
    assert {0, 2} <= set(race.alive)


def test_all_costs_may_fail_or_tie():
    for decider in ("front", "bayesian-front"):
        assert len(raced(np.zeros((20, 3, 2)), decider=decider).alive) == 3
        costs = noisy(FRONT, 30)
        costs[:, :4] = np.nan
        raced(costs, decider=decider)


def test_a_margin_keeps_nobody_in_for_less():
    means = [[0.0, 0.0], [-0.1, 1.0], [1.0, 1.0]]
    costs = noisy(means, 60, noise=0.1)
    exact = raced(costs, decider="front")
    assert sorted(exact.alive) == [0, 1]
    wide = {"a": Metric("min", margin=0.5), "b": Metric("min", margin=0.5)}
    assert list(raced(costs, metrics=wide, decider="front").alive) == [0]
    equal = raced(noisy(np.zeros((4, 2)), 60, noise=0.1), metrics=wide, decider="front")
    assert len(equal.alive) == 1  # each is nowhere worse than the others; one of them stays


def test_an_exact_metric_raises_no_objection_where_it_is_equal():
    costs = noisy([[0, 1], [2, 1], [2, 0.5]], 60)
    costs[:, :, 1] = [1.0, 1.0, 0.5]
    how = {"a": "min", "b": Metric("min", exact=True)}
    for decider in ("front", "bayesian-front"):
        race = raced(costs, metrics=how, decider=decider)
        assert 2 in race.alive
        assert 0 in race.alive
    assert 1 not in raced(costs, metrics=how, decider="front").alive


@pytest.mark.parametrize("bounds", [None, (0.0, 1.0)])
def test_the_cheapest_within_a_tolerance(bounds):
    rng = np.random.default_rng(3)
    chance = np.array([0.5, 0.2, 0.19, 0.18])
    price = np.array([1.0, 2.0, 3.0, 4.0])
    costs = np.stack([np.tile(price, (900, 1)), rng.random((900, 4)) < chance], axis=2).astype(
        float
    )
    how = {"a": Metric("min", exact=True), "b": Metric("min", bounds=bounds)}
    race = raced(costs, how, Within("a", b=0.1))
    assert race.result().best == 1
    assert race.ended in (racer.Ended.SETTLED, racer.Ended.DECIDED)
    assert race.result().evaluations < (0.8 if bounds is None else 0.6) * costs[..., 0].size
    race = raced(costs, how, Constrained("a", b=("<=", 0.35)))
    assert race.result().best == 1


@pytest.mark.thorough
def test_the_one_that_is_sought_is_hardly_ever_given_up():
    lost = 0
    for seed in range(20):
        costs = noisy([[0, 1], [1, 0.1], [2, 0], [3, 0]], 80, seed, noise=0.5)
        race = raced(costs, None, Within("a", b=0.3))
        lost += 1 not in race.alive
    assert lost <= 1


def test_what_they_need_is_asked_for_at_the_start():
    setting = Setting(3, np.random.default_rng(0))
    for name in ("front", "bayesian-front", "within", "constrained", "goal-for-budget"):
        with pytest.raises(racer.SettingError, match=r"goal=racer"):
            racer.deciders.as_decider(name).start(setting)


def test_one_candidate_is_settled():
    goal = Goal(kind="front", exact=(False,) * 2, margins=(0.0,) * 2, bounds=(None,) * 2)
    for decider in (FrontRace(), BayesianFront()):
        state = decider.start(Setting(1, np.random.default_rng(0), objective=goal, budget=100))
        costs = np.zeros((5, 1, 2))
        _, verdict = decider.decide(state, Blocks(np.arange(1), costs[:, :, 0], metrics=costs))
        assert (verdict.best, verdict.settled, verdict.dropped) == (0, True, ())


def test_what_is_known_exactly_is_not_moved_by_failures():
    costs = noisy([[0.5, 1.0], [0.4, 1.01], [0.2, 9.0]], 60, noise=0.1)
    costs[:, :, 1] = [1.0, 1.01, 9.0]
    costs[::8, 0] = np.nan
    how = {"a": "min", "b": Metric("min", exact=True)}
    result = raced(costs, how, Pareto("a", "b")).result()
    assert result.front.loc[0, ["metric:b", "low:b", "high:b"]].tolist() == [1.0, 1.0, 1.0]
    swapped = costs[:, :, ::-1]
    cheap = {"a": Metric("min", exact=True), "b": "min"}
    for objective in (Constrained("a", b=("<=", 2.0)), Within("a", b=3.0)):
        assert raced(swapped, cheap, objective).result().leader == 0


def test_an_exact_metric_decides_at_once_whether_it_is_acceptable():
    costs = noisy([[3.0, 1.0], [2.0, 2.0], [1.0, 3.0]], 60, noise=0.1)
    costs[:, :, 1] = [1.0, 2.0, 3.0]
    how = {"a": "min", "b": Metric("min", exact=True)}
    race = raced(costs, how, Constrained("a", b=("<=", 2.0)))
    assert race.result().best == 1
    assert race.n_blocks < 15
    race = raced(costs, how, Within("a", b=1.0))
    assert race.result().best == 1
    assert race.n_blocks < 15


@pytest.mark.parametrize(("limit", "best"), [(1.0, 0), (0.0, 2)])
def test_a_limit_on_a_bound(limit, best):
    rng = np.random.default_rng(1)
    wrong = (rng.random((60, 3)) < [0.5, 0.3, 0.0]).astype(float)
    costs = np.stack([np.tile([1.0, 2.0, 3.0], (60, 1)), wrong], axis=2)
    how = {"a": Metric("min", exact=True), "b": Metric("min", bounds=(0, 1))}
    race = raced(costs, how, Constrained("a", b=("<=", limit)))
    assert race.result().best == best
    with pytest.raises(racer.SettingError, match="outside the bounds of 'b'"):
        raced(costs, how, Constrained("a", b=("<=", 2.0)))


FRACTIONS = np.array([0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7])  # of the wealth, bet alike


def wealth(values, null, least):
    """Return the log of the wealth of bets on "the mean of values is larger than null"."""
    gains = 1.0 + FRACTIONS[:, None] * (np.asarray(values) - null) / (null - least)
    return np.log(gains.prod(axis=1).mean())


def decided(decider, kind, limits, costs, bounds, n_blocks=None):
    """Return the state of the decider after these blocks, and its verdict."""
    _, m, d = costs.shape
    goal = Goal(kind=kind, exact=(False,) * d, margins=(0.0,) * d, limits=limits, bounds=bounds)
    setting = Setting(m, np.random.default_rng(0), objective=goal, n_blocks=n_blocks)
    state = decider.start(setting)
    return decider.decide(state, Blocks(np.arange(m), costs[:, :, 0], metrics=costs))


def test_bets_are_on_what_the_bounds_leave():
    """A cost of 2 to 6 and a limit of 3 leave -1 to 3 beyond it, and differences of -4 to 4."""
    costs = np.random.default_rng(1).uniform(2.0, 6.0, size=(12, 2, 2))
    seen, bounds = costs[:, :, 1], (None, (2.0, 6.0))
    assert difference_bounds((2.0, 6.0)) == (-4.0, 4.0)
    state, _ = decided(ConstrainedRace(), "constrained", (3.0,), costs, bounds)
    over = [wealth(seen[:, i] - 3.0, 0.0, -1.0) for i in range(2)]
    under = [wealth(3.0 - seen[:, i], 0.0, -3.0) for i in range(2)]
    assert state.over[0].log_e() == pytest.approx(over)
    assert state.under[0].log_e() == pytest.approx(under)
    state, _ = decided(WithinRace(), "within", (0.5,), costs, bounds)
    for null, place in [(0.5, 0), (-0.5, 1), (0.0, 2)]:
        found = state.pairs[0].log_e(place)
        assert found[0, 1] == pytest.approx(wealth(seen[:, 0] - seen[:, 1], null, -4.0))
        assert found[1, 0] == pytest.approx(wealth(seen[:, 1] - seen[:, 0], null, -4.0))


def test_without_bounds_a_null_is_a_shift_of_the_values():
    values = np.random.default_rng(1).normal(size=(12, 3))
    there = MeanBets((3,), (0.5,), bounds=None, n_blocks=None)
    at_zero = MeanBets((3,), (0.0,), bounds=None, n_blocks=None)
    for row in values:
        there.add(row)
        at_zero.add(row - 0.5)
    assert there.log_e() == pytest.approx(at_zero.log_e())


def test_with_margins_those_who_leave_are_no_reason_for_others_to_leave():
    """The second one leaves, and it alone is nowhere worse than the first by the margin."""
    costs = noisy([[0.0, 0.0], [0.4, 0.0], [0.8, -2.0]], 100, noise=0.02)
    goal = Goal(kind="front", exact=(False,) * 2, margins=(0.5,) * 2, bounds=(None,) * 2)
    state = FrontRace().start(Setting(3, np.random.default_rng(0), objective=goal))
    blocks = Blocks(np.arange(3), costs[:, :, 0], metrics=costs)
    state, verdict = FrontRace().decide(state, blocks)
    assert (np.logaddexp.reduce(state.log_e, axis=1) > np.log(20)).tolist() == [True, True, False]
    assert [drop.candidate for drop in verdict.dropped] == [1]


@pytest.mark.parametrize(
    ("kind", "limit"),
    [("within", 0.0), ("within", 0.1), ("constrained", 1.0), ("constrained", -1.0)],
)
def test_the_units_of_bounded_metrics_make_no_difference(kind, limit):
    """Also with a limit on a bound, and with next to no room between a mean and its bound."""
    rng, bounds = np.random.default_rng(1), np.array([-1.0, 1.0])
    costs = 2.0 * (rng.random((40, 3, 2)) < [[0.0, 0.5], [1.0, 0.4], [0.5, 1.0]]) - 1.0
    decider = {"within": WithinRace(), "constrained": ConstrainedRace()}[kind]
    found = []
    for unit in (1.0, 2.0**-40):
        both = (tuple(unit * bounds),) * 2
        state, _ = decided(decider, kind, (unit * limit,), unit * costs, both, n_blocks=40)
        found.append(state.sought.against)
    assert np.isfinite(found[0][~np.eye(3, dtype=bool)]).all()
    assert found[1].tolist() == found[0].tolist()


def test_one_that_is_given_up_stays_while_it_may_be_the_best_in_another_metric():
    """It leaves when it is known to be worse than one of the others in all of them."""
    costs = noisy([[3, 0, 0.9], [0, 0.4, 0.4], [2, 0.8, 0.8], [3, 0.9, 0]], 40, noise=0.3)
    limits, bounds = (1.5, 1.5), (None,) * 3
    state, verdict = decided(WithinRace(), "within", limits, costs, bounds)
    assert state.sought.given_up.tolist() == [True, False, True, True]
    assert [drop.candidate for drop in verdict.dropped] == [2]
    worse = np.min([bets.log_e(2) for bets in state.pairs], axis=0)
    least = 4 * np.exp(-worse[2].max())  # the alpha with which the evidence is just enough
    for alpha, dropped in ((1.001 * least, [2]), (0.999 * least, [])):
        state, verdict = decided(WithinRace(alpha=alpha), "within", limits, costs, bounds)
        assert state.sought.given_up[2]
        assert [drop.candidate for drop in verdict.dropped] == dropped


@pytest.mark.parametrize("kind", ["within", "constrained"])
def test_a_limit_that_is_given_twice_is_one_limit(kind):
    """Evidence against one limit or another is the mean over limits."""
    costs = noisy([[1, 0], [0, 2.0], [2, 0], [0.5, 0.4]], 40, noise=0.5)
    decider = {"within": WithinRace(), "constrained": ConstrainedRace()}[kind]
    once, verdict = decided(decider, kind, (0.8,), costs, (None,) * 2)
    twice, again = decided(decider, kind, (0.8,) * 2, costs[:, :, [0, 1, 1]], (None,) * 3)
    assert twice.sought.against == pytest.approx(once.sought.against)
    evidence = {drop.candidate: drop.probability for drop in verdict.dropped}
    assert evidence
    assert {drop.candidate: drop.probability for drop in again.dropped} == pytest.approx(evidence)


def test_equals_are_acceptable_at_no_tolerance():
    costs = np.stack([np.tile([1.0, 2.0, 3.0], (20, 1)), np.ones((20, 3))], axis=2)
    how = {"a": Metric("min", exact=True), "b": "min"}
    assert raced(costs, how, Within("a", b=0.0)).result().best == 0


def test_margins_take_the_decider_that_knows_them():
    wide = {"a": Metric("min", margin=0.5), "b": "min"}
    race = raced(noisy(FRONT, 20), metrics=wide)
    assert isinstance(race.rules.decider, FrontRace)
    with pytest.raises(racer.SettingError, match="takes no margins"):
        raced(noisy(FRONT, 20), metrics=wide, decider="bayesian-front")


def test_one_huge_cost_leaves_the_others_their_evidence():
    values = np.random.default_rng(0).normal(size=(12, 3)) - 1.0
    alone, beside = (MeanBets((m,), (0.0,), bounds=None, n_blocks=None) for m in (2, 3))
    for row in values:
        alone.add(row[:2])
        beside.add(np.array([*row[:2], 1e200]))
    found = beside.log_e()
    assert found[2] < -1e100  # so far from the others is no evidence
    assert np.isfinite(found[:2]).all()
    assert found[:2] == pytest.approx(alone.log_e(), abs=2.0)
    huge = MeanBets((2,), (1e200,), bounds=None, n_blocks=None)
    for sign in (1.0, -1.0, 1.0, 1.0):
        huge.add(np.array([sign * 1e300, 3.0]))
    assert np.isfinite(huge.log_e()).all()


@pytest.mark.parametrize("other", [1.0, 1e11, np.inf])
def test_what_is_known_exactly_is_on_a_limit_but_for_rounding_of_its_own(other):
    costs, limit = np.array([0.1 + 0.2, 0.4, 0.3, 0.2, other]), np.array(0.3)
    over, under = ExactBets((0.0,), (False,)), ExactBets((0.0,), (True,))
    over.compare(costs, limit)
    under.compare(limit, costs)
    is_over = [False, True, False, False, True]
    assert np.isposinf(over.log_e()).tolist() == is_over
    assert np.isneginf(under.log_e()).tolist() == is_over
