"""The correlated t-race: what the posterior of the means says of all candidates at once."""

import numpy as np
import pytest

from racer.deciders import CorrelatedTRace
from racer.stats import correlated_t_test

RNG = np.random.default_rng(5)
COSTS = RNG.normal(size=(8, 1)) + RNG.normal([0.0, 0.2, 1.0, 1.4, 0.1], 0.4, size=(8, 5))


def dropped(table, decider, costs=COSTS):
    """Return who is dropped, with the probability."""
    return {d.candidate: d.probability for d in table.decide(decider, costs).dropped}


def test_the_probability_of_a_drop_is_that_of_the_test(table):
    result = correlated_t_test(COSTS, correlation=0.2, rope=0.0)
    leader = int(COSTS.mean(axis=0).argmin())
    found = dropped(table, CorrelatedTRace(0.2))
    assert {*found} == {2, 3}
    for candidate, probability in found.items():
        assert probability == pytest.approx(result.better[leader, candidate])


def test_correlated_blocks_prove_less(table):
    drops = [{*dropped(table, CorrelatedTRace(rho))} for rho in (0.0, 0.5, 0.95)]
    assert drops[0] >= drops[1] > drops[2] == set()


def test_statements_must_hold_together(table):
    """Many candidates that are each worse with some probability above the confidence."""
    costs = np.hstack([np.zeros((8, 1)), np.random.default_rng(1).normal(0.75, 1.0, (8, 30))])
    costs -= np.append(0.0, costs[:, 1:].mean(axis=0) - 0.75)  # each mean is 0.75
    result = correlated_t_test(costs, correlation=0.0)
    alone = np.flatnonzero(result.better[0] > 0.9)
    found = dropped(table, CorrelatedTRace(confidence=0.9), costs)
    assert 0 < len(found) < len(alone)
    assert {*found} < {*alone.tolist()}


def test_with_a_rope_what_is_about_as_good_as_the_leader_goes_as_well(table):
    verdict = table.decide(CorrelatedTRace(rope=0.5), COSTS)
    reasons = {drop.candidate: drop.reason for drop in verdict.dropped}
    assert reasons == {0: "indistinguishable", 1: "indistinguishable", 2: "inferior", 3: "inferior"}


def test_copies_go_only_within_a_rope(table):
    copies = np.hstack([COSTS[:, :1], COSTS[:, :1]])
    assert dropped(table, CorrelatedTRace(), copies) == {}
    assert dropped(table, CorrelatedTRace(rope=1e-9), copies) == {1: 1.0}


@pytest.mark.parametrize(("blocks", "found"), [(4, {}), (5, {1: 1.0})])
def test_a_difference_without_spread_counts_when_a_sign_test_would_believe_it(table, blocks, found):
    costs = np.hstack([COSTS[:blocks, :1], COSTS[:blocks, :1] + 0.25])
    assert dropped(table, CorrelatedTRace(), np.round(costs * 8) / 8) == found
