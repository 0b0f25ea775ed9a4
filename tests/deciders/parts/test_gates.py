"""The gate that deciders ask first: its level where candidates differ from instance to instance."""

import numpy as np
import pytest

from racer.deciders import (
    BayesianFriedman,
    Blocks,
    FRace,
    Setting,
    SignedRankRace,
)
from racer.deciders.parts.gates import Omnibus
from racer.deciders.parts.ranking import RunningRanks

GATED = [BayesianFriedman, FRace, SignedRankRace]


def ranks_of(costs):
    ranks = RunningRanks(costs.shape[1])
    ranks.update(Blocks(np.arange(costs.shape[1]), costs))
    return ranks


def interacting(rng, n, m):
    """Return costs of candidates that are equal on the whole, each good at blocks of its own."""
    return 2.0 * np.outer(rng.normal(size=n), rng.normal(size=m)) + rng.normal(size=(n, m))


@pytest.mark.thorough
@pytest.mark.parametrize(("n", "at_most"), [(5, 0.0625), (6, 0.05), (12, 0.05)])
def test_it_keeps_its_level_where_equal_candidates_interact_with_instances(n, at_most):
    races, m = 300, 20
    opened = {"sign-flip": 0, "friedman": 0}
    for seed in range(races):
        ranks = ranks_of(interacting(np.random.default_rng(seed), n, m))
        for gate in opened:
            opened[gate] += Omnibus(gate, 0.05, seed).ask(ranks)[0]
    assert opened["sign-flip"] <= races * at_most + 2.0 * np.sqrt(races * at_most)
    assert opened["friedman"] > 0.1 * races


def test_it_finds_a_clear_difference_in_fewer_blocks_than_candidates():
    rng = np.random.default_rng(1)
    costs = interacting(rng, 12, 20) + 1.5 * rng.normal(size=20)
    assert Omnibus("sign-flip", 0.05, 0).ask(ranks_of(costs))[0]


@pytest.mark.parametrize(
    ("n", "level", "gate"),
    [
        (5, 0.05, "iman-davenport"),
        (6, 0.05, "sign-flip"),
        (7, 0.01, "iman-davenport"),
        (8, 0.01, "sign-flip"),
        (20, 1e-6, "iman-davenport"),
        (30, 1e-6, "sign-flip"),
    ],
)
def test_too_few_blocks_for_flips_need_f_as_well(n, level, gate):
    rng = np.random.default_rng(0)
    clear = ranks_of(0.01 * rng.normal(size=(n, 6)) + np.arange(6.0))
    opened, evidence = Omnibus("sign-flip", level, 0).ask(clear)
    assert (opened, evidence["gate"]) == (True, gate)


@pytest.mark.parametrize("kind", GATED)
def test_every_decider_with_a_gate_asks_it_first(table, kind):
    costs = np.random.default_rng(1).normal(size=(30, 6))
    verdict = table.decide(kind(), costs)
    assert verdict.evidence["gate"] == "sign-flip"
    assert verdict.evidence["p_value"] > 0.05
    assert [drop for drop in verdict.dropped if drop.reason != "indistinguishable"] == []
    assert table.decide(kind(gate=False), costs).evidence["gate"] == "none"
    assert kind(gate=True) == kind()


@pytest.mark.parametrize("kind", GATED)
def test_the_gate_is_asked_from_the_second_block_on(table, kind):
    costs = np.tile(np.arange(6.0), (2, 1))
    assert table.decide(kind(), costs[:1]).evidence == {}
    assert table.decide(kind(), costs).evidence["gate"] == "iman-davenport"


def test_two_candidates_take_the_sign_test():
    opened, evidence = Omnibus("sign-flip", 0.05, 0).ask(ranks_of(np.array([[0.0, 1.0]] * 6)))
    assert (opened, evidence) == (True, {"gate": "sign", "p_value": pytest.approx(2 * 0.5**6)})


def test_the_flips_of_a_block_are_the_same_at_every_test():
    costs = np.random.default_rng(3).normal(size=(30, 5))
    at_once, step_by_step = Omnibus("sign-flip", 0.05, 4), Omnibus("sign-flip", 0.05, 4)
    for n in range(5, 31):
        last = step_by_step.ask(ranks_of(costs[:n]))
    assert at_once.ask(ranks_of(costs)) == last


def repeated(seed, *, ahead=0.0, m=8, n_instances=6, seeds=8, cancel=False):
    """Return costs and instances; `cancel`: expected ranks are equal over these instances."""
    rng = np.random.default_rng(seed)
    mixed = rng.normal(size=(n_instances, m))
    if cancel:
        mixed[n_instances // 2 :] = -mixed[: n_instances // 2]
    instances = np.tile(np.arange(n_instances), seeds)
    costs = mixed[instances] + rng.normal(size=(len(instances), m))
    costs[:, 0] -= ahead
    return costs, instances


def asked(costs, instances, *, gate="sign-flip", generalize=True):
    ranks = RunningRanks(costs.shape[1])
    half = len(costs) // 2
    for rows in (slice(half), slice(half, None)):
        of = None if instances is None else instances[rows]
        ranks.update(Blocks(np.arange(costs.shape[1]), costs[rows], instances=of))
    return Omnibus(gate, 0.05, 0, generalize=generalize).ask(ranks)


@pytest.mark.thorough
@pytest.mark.parametrize("m", [2, 8])
def test_equal_candidates_are_not_told_apart_by_many_seeds_of_few_instances(m):
    races, opened, blind = 150, {"sign-flip": 0, "friedman": 0}, 0
    for seed in range(races):
        costs, instances = repeated(seed, m=m)
        blind += asked(costs, None)[0]
        for gate in opened:
            is_open, found = asked(costs, instances, gate=gate)
            opened[gate] += is_open
            assert (found["gate"], found["instances"]) == (gate, 6)
    assert opened["sign-flip"] <= 0.1 * races < 0.2 * races < blind
    assert opened["friedman"] <= 0.1 * races


@pytest.mark.thorough
@pytest.mark.parametrize("m", [2, 8])
def test_what_differs_on_given_instances_is_found_behind_interactions(m):
    races, opened, blind = 100, {0.0: 0, 0.6: 0}, 0
    for seed in range(races):
        for ahead in opened:
            costs, instances = repeated(seed, ahead=ahead, cancel=True, m=m)
            is_open, found = asked(costs, instances, generalize=False)
            opened[ahead] += is_open
            assert found["gate"] == "rotation"
        blind += asked(costs, None)[0]
    assert opened[0.0] <= 0.1 * races < 0.3 * races < opened[0.6]
    assert opened[0.6] > 1.2 * blind


@pytest.mark.parametrize("generalize", [True, False])
def test_instances_used_once_change_nothing(generalize):
    costs, _ = repeated(1, ahead=0.4)
    for k in (3, 5, 12, 40):
        once = asked(costs[:k], np.arange(k), generalize=generalize)
        assert once == asked(costs[:k], None)


def test_given_instances_are_compared_once_each_has_been_used_twice():
    costs, instances = repeated(2, seeds=2)
    before = asked(costs[:-1], instances[:-1], generalize=False)
    assert before == asked(costs[:-1], None)
    assert asked(costs, instances, generalize=False)[1]["gate"] == "rotation"
    few = instances < 4  # four contrasts are too few for the level
    assert asked(costs[few], instances[few], generalize=False) == asked(costs[few], None)
    alone = asked(costs, np.zeros(12, dtype=int), generalize=False)
    assert alone == asked(costs, None)  # of one instance, blocks differ by chance alone
    assert asked(costs, np.zeros(12, dtype=int))[1] == {"gate": "none", "instances": 1}


@pytest.mark.parametrize("decider", GATED)
def test_deciders_ask_about_the_instances_that_are_meant(decider):
    gates = {}
    for generalize in (True, False):
        setting = Setting(8, np.random.default_rng(0), generalize=generalize)
        costs, instances = repeated(3)
        state = decider().start(setting)
        shown = Blocks(np.arange(8), costs, instances=instances)
        gates[generalize] = decider().decide(state, shown)[1].evidence["gate"]
    assert gates == {True: "sign-flip", False: "rotation"}
