"""What holds in every space that can be built."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st
from random_spaces import built, spaces

from racer import Categorical, Integer, Real, Space
from racer.core.pool import as_pool
from racer.space.vectors import choice_counts, vectors_around

pytestmark = pytest.mark.filterwarnings("ignore:.*is never true:racer.RacerWarning")

LAWS = settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


def assert_in(space, config):
    """Check by hand: order, existence, bounds, nothing forbidden."""
    assert list(config) == [name for name in space.parameters if name in config]
    for name, parameter in space.parameters.items():
        exists = name not in space.conditions or space.conditions[name].holds(config) is True
        exists = exists and parameter.names() <= set(config)
        assert (name in config) is exists
        if exists:
            assert type(config[name]) in {int, float, str, bool, type(None)}
            value = parameter.domain(config).clean(config[name])
            assert value == config[name]
            assert type(value) is type(config[name])
    assert all(clause.holds(config) is not True for clause in space.forbidden)


@LAWS
@given(spaces(), st.sampled_from(["uniform", "lhs"]), st.integers(0, 2**32))
def test_samples_are_in_the_space_and_distinct(arguments, method, seed):
    space = built(arguments)
    configs = space.sample(8, seed=seed, method=method)
    assert 1 <= len(configs) <= min(8, space.size)
    assert len({space.key(config) for config in configs}) == len(configs)
    as_pool(configs)
    for config in configs:
        assert_in(space, config)
        assert space.check(config) == config


@LAWS
@given(spaces(), st.integers(0, 2**32))
def test_encoding_decodes_to_the_same_key(arguments, seed):
    space = built(arguments)
    for config in space.sample(6, seed=seed):
        vector = space.encode(config)
        assert [name for name, u in zip(space.parameters, vector, strict=True) if u == u] == list(
            config
        )
        assert np.nanmin(vector, initial=0.5) >= 0.0
        assert np.nanmax(vector, initial=0.5) <= 1.0
        assert space.decode(vector) == config
        assert space.key(space.decode(vector)) == space.key(config)


@LAWS
@given(spaces(), st.integers(0, 2**32), st.sampled_from([1e-9, 0.05, 0.5, 1e9]))
def test_neighbours_are_in_the_space_and_not_the_elite(arguments, seed, spread):
    space = built(arguments)
    (elite,) = space.sample(1, seed=seed)
    net = space.net({space.key(elite)})
    parents = np.tile(space.encode(elite), (20, 1))
    choices, rng = choice_counts(space.parameters), np.random.default_rng(seed)
    taken = [net.offer(u) for u in vectors_around(parents, np.full(20, spread), choices, rng)]
    keys = {space.key(config) for config in net.found}
    assert len(keys) == len(net.found) == sum(taken)
    assert space.key(elite) not in keys
    for config in net.found:
        assert_in(space, config)


@LAWS
@given(spaces(), st.integers(0, 2**32))
def test_a_space_written_as_json_is_read_back(arguments, seed):
    space = built(arguments)
    data = json.loads(json.dumps(space.to_json(), allow_nan=False, sort_keys=True))
    again = Space.from_json(data)
    assert again == space
    assert again.to_json() == space.to_json()
    assert again.sample(4, seed=seed) == space.sample(4, seed=seed)


@settings(LAWS, max_examples=10)
@given(spaces())
def test_a_countable_space_is_drawn_to_its_end(arguments):
    space = built(arguments)
    if space.size > 200:
        reject()
    configs = space.sample(250, seed=1)
    assert len(configs) == space.size
    keys = {space.key(config) for config in configs}
    assert space.sample(1, seed=2, exclude=keys) == []


@LAWS
@given(st.floats(), st.floats(), st.booleans(), st.sampled_from([None, 0, 3, 17]))
def test_bounds_work_or_are_refused_with_the_name(low, high, log, digits):
    space = built({"parameters": {"rate": Real(low, high, log=log, digits=digits)}}, "rate: ")
    assert low <= high
    assert not log or low > 0
    for config in space.sample(5, seed=0, method="lhs"):
        assert low <= config["rate"] <= high
        assert space.decode(space.encode(config)) == config
    for bound in (low, high):
        if digits is None:
            assert abs(space.check({"rate": bound})["rate"] - bound) <= 1e-9 * max(
                high - low, abs(bound) if log else 0.0
            )


@LAWS
@given(st.integers(), st.integers(0, 10**14), st.integers(1, 7), st.booleans())
def test_whole_numbers_of_any_size_survive(low, width, step, log):
    step = 1 if log else step
    parameters = {"n": Integer(low, low + width, log=log, step=step)}
    space = built({"parameters": parameters}, "n: " if log else "never")
    for config in space.sample(5, seed=0):
        assert low <= config["n"] <= low + width
        assert space.decode(space.encode(config)) == config
    if log or step == 1:
        for bound in (low, low + width):
            assert space.decode(space.encode({"n": bound})) == {"n": bound}


@pytest.mark.parametrize("method", ["uniform", "lhs"])
def test_the_same_seed_gives_the_same_configurations(method):
    space = Space({"x": Real(0, 1), "kind": Categorical(["a", "b"])})
    assert space.sample(9, seed=4, method=method) == space.sample(9, seed=4, method=method)
    assert space.sample(9, seed=4, method=method) != space.sample(9, seed=5, method=method)
