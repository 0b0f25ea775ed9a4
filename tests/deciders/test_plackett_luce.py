"""The Plackett-Luce race against `racer.stats.plackett_luce`, the same model."""

import numpy as np
import pytest

from racer.deciders import Blocks, PlackettLuceRace, Setting
from racer.deciders.parts.model_based import chances
from racer.deciders.parts.ranking import Order, RunningRanks
from racer.deciders.plackett_luce import _RunningChoices, choices
from racer.stats import plackett_luce
from racer.stats._likelihoods import ChoiceModel, Choices, gather, rank_costs
from racer.stats._rankings import RankingModel
from racer.stats._sampling.model import climb, climb_from_near, find_mode

INF = np.inf


def tables(m=5, n=14):
    rng = np.random.default_rng(20)
    plain = rng.standard_exponential((n, m)) * np.linspace(1.0, 3.0, m)
    failed = np.where(rng.random((n, m)) < 0.25, INF, plain)
    failed[:, 0] = plain[:, 0]
    return {"plain": plain, "tied": plain.round(0), "failed": failed, "both": failed.round(0)}


TABLES = tables()


@pytest.mark.parametrize("costs", TABLES.values(), ids=TABLES)
def test_choices_are_those_of_the_statistics(costs):
    """Rows in another order; some of them may occur several times."""
    chosen, rows = choices(costs)
    expected = gather([rank_costs(row, 0.0, None) for row in costs], costs.shape[1])
    assert chosen.tolist() == expected.chosen.tolist()
    found, times = np.unique(rows.round(12), axis=0, return_counts=True)
    np.testing.assert_allclose(found, expected.at_risk.round(12))
    assert times.tolist() == expected.times.tolist()


def test_who_is_left_over_was_not_chosen():
    chosen, rows = choices(np.array([[1.0, 2.0, INF], [1.0, INF, INF], [3.0, 2.0, 1.0]]))
    assert chosen.tolist() == [2, 2, 1]
    assert sorted(rows.sum(axis=1).tolist()) == [2, 2, 3, 3, 3]


def model(costs, prior=1.0):
    chosen, rows = choices(costs)
    return ChoiceModel(Choices(chosen, rows, np.ones(len(rows))), np.full(costs.shape[1], prior))


def test_curvature_of_the_posterior():
    there = model(TABLES["both"])
    point, step = np.random.default_rng(1).normal(size=4), 1e-5 * np.eye(4)
    curve = there.gradient(point + step) - there.gradient(point - step)
    np.testing.assert_allclose(there.precision(point), -curve / 2e-5, atol=1e-5)


@pytest.mark.parametrize("scale", [0.0, 3.0, 30.0])
def test_the_mode_does_not_depend_on_where_it_was_sought(scale):
    there = model(TABLES["both"])
    expected = find_mode(there)
    there.start = scale * np.random.default_rng(2).normal(size=4)
    found = climb(there)
    np.testing.assert_allclose(found.mode, expected.mode, atol=1e-4)
    np.testing.assert_allclose(found.factor, expected.factor, atol=1e-4)
    assert np.abs(there.gradient(found.mode[None])).max() < 1e-9


@pytest.mark.parametrize("prior", [1.0, 0.5, 4.0])
@pytest.mark.parametrize("costs", TABLES.values(), ids=TABLES)
def test_chances_are_those_of_the_statistics(costs, prior):
    there = model(costs, prior)
    found = chances(there, climb(there), there.log_weights, 20_000, seed=1)
    expected = plackett_luce(costs, prior=prior, draws=20_000, seed=2).probability_largest()
    np.testing.assert_allclose(found.best, expected, atol=0.015)


def test_a_race_decides_by_these_chances(table):
    costs = np.random.default_rng(2).normal(size=(30, 5))
    costs[:, 4] += 0.9
    verdict = table.decide(PlackettLuceRace(draws=20_000), costs)
    (drop,) = verdict.dropped
    assert (drop.candidate, drop.reason, drop.measure) == (4, "unlikely", "posterior")
    expected = plackett_luce(costs, draws=100_000).probability_largest()[4]
    assert drop.probability == pytest.approx(expected, abs=0.003)
    assert drop.probability < 0.05 / 5
    assert verdict.evidence["gate"] == "sign-flip"
    assert 10_000 < verdict.evidence["effective_draws"] < 20_000


def test_candidates_stand_by_their_weights_not_their_mean_ranks(table):
    """Seven times first and three times last, or always second: fewer wins, a better mean rank."""
    first, last = [1.0, 2.0, 3.0, 4.0], [4.0, 1.0, 2.0, 3.0]
    costs = np.array([first] * 60 + [last] * 40)
    verdict = table.decide(PlackettLuceRace(threshold=1e-6), costs)
    mode = climb(model(costs))
    log_weights = model(costs).log_weights(mode.mode[None])[0]
    np.testing.assert_allclose(-verdict.standing, log_weights - log_weights.mean(), atol=1e-6)
    assert verdict.best == log_weights.argmax()


def test_failing_always_is_worse_than_being_last_once(table):
    costs = np.array([[1.0, 2.0, INF], [2.0, 1.0, INF], [2.0, 3.0, 1.0]] * 8)
    standing = table.decide(PlackettLuceRace(), costs).standing
    assert standing.argmax() == 2


def test_a_race_that_goes_on_is_a_race_that_begins_anew(table):
    """Also after a drop: the rankings of those who stay are made again."""
    costs = np.random.default_rng(6).normal(size=(40, 7)) + 0.15 * np.arange(7)
    decider = PlackettLuceRace(gate=False)
    state = decider.start(Setting(7, np.random.default_rng(0)))
    for n in range(20):
        state, _ = decider.decide(state, Blocks(np.arange(7), costs[n : n + 1]))
    kept = np.array([0, 1, 3, 4])
    for n in range(20, 40):
        state, verdict = decider.decide(state, Blocks(kept, costs[n : n + 1, kept]))
    anew = table.decide(decider, costs[:, kept])
    assert [d.candidate for d in verdict.dropped] == [int(kept[d.candidate]) for d in anew.dropped]
    np.testing.assert_allclose(verdict.standing, anew.standing, atol=1e-8)
    np.testing.assert_allclose(
        [d.probability for d in verdict.dropped], [d.probability for d in anew.dropped], rtol=1e-6
    )


def test_copies_have_the_same_chance(table):
    """Draws are dealt out by position; shares of those alike are averaged."""
    costs = np.random.default_rng(7).normal(size=(12, 3))
    costs = np.column_stack([costs[:, 0], costs, costs[:, 0]])
    ranks = RunningRanks(5)
    ranks.update(Blocks(np.arange(5), costs))
    order = Order.sorted_from(ranks)
    there = model(costs[:, order.places])
    found = chances(there, climb(there), there.log_weights, 300, seed=1)
    shares = order.averaged(found.best)
    assert shares[0] == shares[1] == shares[4]
    assert shares.sum() == pytest.approx(1.0)
    assert len(set(found.best.tolist())) == 5


def many(n=25, m=40):
    """Return costs of many candidates; some blocks have ties or failures."""
    rng = np.random.default_rng(9)
    costs = rng.normal(size=(n, m)) + np.linspace(0.0, 1.5, m)
    costs[3] = costs[3].round(0)
    costs[7, 5:20] = INF
    return costs


def running(costs):
    """Return the model that a race of these costs holds."""
    known = _RunningChoices(costs.shape[1])
    for row in costs:
        known.add(row[None])
    return known.model(np.arange(costs.shape[1])[::-1], 1.0)


@pytest.mark.parametrize("spread", [0.0, 1.0, 90.0])
def test_whole_rankings_of_many_are_the_same_model(spread):
    """Nested sums against the sum over all sets at risk; the widest weights differ by e^300."""
    costs = many()
    found, expected = running(costs), model(costs[:, ::-1])
    assert isinstance(found, RankingModel)
    assert not isinstance(expected, RankingModel)
    points = spread * np.random.default_rng(3).normal(size=(5, 39))
    one = points[0]
    np.testing.assert_allclose(found.log_density(points), expected.log_density(points), rtol=1e-11)
    np.testing.assert_allclose(found.gradient(points), expected.gradient(points), atol=1e-9)
    np.testing.assert_allclose(found.precision(one), expected.precision(one), atol=1e-9)


def test_from_near_the_mode_and_from_far_the_same_mode_is_found():
    costs = many()
    expected = climb(model(costs[:, ::-1]))
    found = running(costs)
    near = climb_from_near(found)
    np.testing.assert_allclose(near.mode, expected.mode, atol=1e-9)
    np.testing.assert_allclose(near.factor, expected.factor, atol=1e-9)
    found.start = 5.0 * np.random.default_rng(4).normal(size=39)
    np.testing.assert_allclose(climb_from_near(found).mode, expected.mode, atol=1e-9)


def test_near_the_mode_two_curvatures_are_enough():
    costs = many(60)
    there = running(costs[:-1])
    start, there = climb(there).mode, running(costs)
    there.start, asked, precision = start, [], there.precision
    there.precision = lambda point: asked.append(point) or precision(point)
    climb_from_near(there)
    assert len(asked) == 2


def test_many_candidates_are_decided_on_block_by_block_as_all_at_once(table):
    costs, decider = many(), PlackettLuceRace(gate=False)
    at_once, stepwise = table.decide(decider, costs), table.decide(decider, costs, step=1)
    assert len(at_once.dropped) > 5
    assert [d.candidate for d in stepwise.dropped] == [d.candidate for d in at_once.dropped]
    np.testing.assert_allclose(stepwise.standing, at_once.standing, atol=1e-8)
    np.testing.assert_allclose(
        [d.probability for d in stepwise.dropped],
        [d.probability for d in at_once.dropped],
        rtol=1e-5,
    )
