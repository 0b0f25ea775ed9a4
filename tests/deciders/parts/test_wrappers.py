"""A protected candidate is not eliminated before its time, whoever decides."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from playing import ONE_NUMBER, looks, short

from racer.deciders import BestForBudget, Setting
from racer.deciders.named import as_decider
from racer.deciders.parts.wrappers import planned_survivors, protected
from racer.seeding import rng_for

LAWS = settings(max_examples=15, deadline=None, derandomize=True)


def costs(seed, blocks, m):
    return np.random.default_rng(seed).normal(size=(blocks, m)) + np.arange(m)


@LAWS
@given(st.sampled_from(ONE_NUMBER), st.integers(0, 1000), st.data())
def test_a_protected_candidate_never_goes_before_its_time(name, seed, data):
    m = data.draw(st.integers(2, 7))
    until = tuple(data.draw(st.lists(st.integers(0, 25), min_size=m, max_size=m)))
    decider = protected(as_decider(name), until)
    for seen, (_, verdict) in enumerate(looks(decider, costs(seed, 25, m), budget=3 * m), 1):
        assert all(until[drop.candidate] <= seen for drop in verdict.dropped)
        assert np.isfinite(verdict.standing).all()


@pytest.mark.parametrize("name", ONE_NUMBER, ids=short)
def test_where_nobody_is_protected_the_verdict_is_that_of_the_decider(name):
    rows = costs(3, 20, 5)
    plain = list(looks(as_decider(name), rows, budget=15))
    guarded = looks(protected(as_decider(name), (0,) * 5), rows, budget=15)
    assert any(verdict.dropped for _, verdict in plain)
    for (_, one), (_, other) in zip(plain, guarded, strict=True):
        assert (one.dropped, one.best) == (other.dropped, other.best)
        np.testing.assert_array_equal(one.standing, other.standing)


def test_the_worst_goes_when_its_time_has_come():
    decider = protected(as_decider("f-race"), (0, 0, 0, 12))
    seen = enumerate(looks(decider, costs(0, 20, 4) * [1, 1, 1, 9], budget=12), 1)
    went = {drop.candidate: n for n, (_, verdict) in seen for drop in verdict.dropped}
    assert went[3] >= 12


@pytest.mark.parametrize("name", ONE_NUMBER, ids=short)
def test_attributes_are_those_of_the_decider(name):
    inner = as_decider(name)
    guarded = protected(inner, (0, 0))
    assert (guarded.tests, guarded.takes_capped) == (inner.tests, inner.takes_capped)
    assert guarded.ends_itself == inner.ends_itself


def test_who_is_protected_survives_the_plan():
    setting = Setting(6, rng_for(0), budget=60)
    plan, ranked = BestForBudget(), (3, 1, 0, 2, 5, 4)
    state = plan.start(setting)
    assert planned_survivors(plan, state, ranked, 60, 12) == (3, 1)
    guarded = protected(plan, (0, 0, 0, 0, 13, 12))
    assert planned_survivors(guarded, guarded.start(setting), ranked, 60, 12) == (3, 1, 4)
    assert planned_survivors(as_decider("f-race"), None, ranked, 60, 12) == ranked
