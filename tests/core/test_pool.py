"""The pool: which configurations count as the same, and what is refused at the door."""

from decimal import Decimal
from enum import StrEnum
from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from racer import CandidateError
from racer.core.pool import as_pool, as_sequence, canonical_key

LAWS = settings(max_examples=25, deadline=None, derandomize=True)

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
configs = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=8,
)


class Colour(StrEnum):
    RED = "red"


class Unhashable:
    __hash__ = None  # type: ignore[assignment]


def rebuilt(config):
    """Return an equal configuration in new containers, with the keys of mappings turned round."""
    if isinstance(config, dict):
        return {name: rebuilt(config[name]) for name in reversed(config)}
    if isinstance(config, list):
        return [rebuilt(value) for value in config]
    return float(str(config)) if isinstance(config, float) else config


@LAWS
@given(configs)
def test_equal_configurations_have_equal_hashable_keys(config):
    key = canonical_key(config)
    assert key == canonical_key(rebuilt(config))
    assert hash(key) == hash(canonical_key(rebuilt(config)))


@LAWS
@given(configs)
def test_a_configuration_is_refused_next_to_its_copy(config):
    with pytest.raises(CandidateError, match="candidates 0 and 1 are the same configuration"):
        as_pool([config, rebuilt(config)])


@LAWS
@given(st.lists(st.integers() | st.text(), unique=True, min_size=1, max_size=8))
def test_different_plain_values_are_all_let_in(values):
    assert as_pool(values) == tuple(values)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param({"a": 1, "b": 2}, {"b": 2, "a": 1}, id="order of keys"),
        pytest.param({"a": 1}, MappingProxyType({"a": 1}), id="kind of mapping"),
        pytest.param(1, 1.0, id="int and float"),
        pytest.param({"x": 1}, {"x": np.float64(1)}, id="numpy number"),
        pytest.param(2, Decimal("2.0"), id="decimal"),
        pytest.param(0.0, -0.0, id="negative zero"),
        pytest.param(float("nan"), np.float64("nan"), id="NaN"),
        pytest.param(True, np.True_, id="booleans"),
        pytest.param("red", Colour.RED, id="string enum"),
        pytest.param([1, 2], (1, 2), id="list and tuple"),
        pytest.param({"w": np.eye(2)}, {"w": np.eye(2)}, id="arrays inside"),
        pytest.param({1, 2}, frozenset({2, 1}), id="sets"),
    ],
)
def test_the_same_configuration(one, other):
    assert canonical_key(one) == canonical_key(other)
    assert hash(canonical_key(one)) == hash(canonical_key(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(True, 1, id="True and 1"),
        pytest.param("1", 1, id="string and number"),
        pytest.param("nan", float("nan"), id="the word nan"),
        pytest.param({"a": 1}, {"a": 1, "b": None}, id="a key more"),
        pytest.param([1, 2], [2, 1], id="order of a list"),
        pytest.param([1, 2], {1, 2}, id="list and set"),
        pytest.param({}, [], id="empty mapping and list"),
        pytest.param(np.zeros((2, 2)), np.zeros(4), id="shape"),
        pytest.param(1.0, np.nextafter(1.0, 2.0), id="neighbouring floats"),
    ],
)
def test_not_the_same_configuration(one, other):
    assert canonical_key(one) != canonical_key(other)
    assert as_pool([one, other])[0] is one


def test_unhashable_objects_are_told_apart_by_identity():
    one, other = Unhashable(), Unhashable()
    assert as_pool([one, other]) == (one, other)
    with pytest.raises(CandidateError, match="candidates 0 and 2"):
        as_pool([one, other, one])


def test_the_first_pair_of_duplicates_is_named_with_the_configuration():
    with pytest.raises(CandidateError, match=r"candidates 1 and 3 .*\{'b': 2\}.*give each once"):
        as_pool([{"a": 1}, {"b": 2}, {"c": 3}, {"b": 2}, {"a": 1}])


@pytest.mark.parametrize(
    ("items", "advice"),
    [
        pytest.param(iter([1, 2]), r"list_iterator: give list\(candidates\)", id="iterator"),
        pytest.param("abc", "str: give a list", id="str"),
        pytest.param(
            pd.DataFrame({"x": [1, 2]}), r"give candidates.to_dict\('records'\)", id="frame"
        ),
        pytest.param(pd.Series([1, 2]), r"Series: give list\(candidates\)", id="series"),
        pytest.param(None, "NoneType: give", id="None"),
        pytest.param(np.array(3), "ndarray: give", id="array without axes"),
        pytest.param([], "empty: give at least one", id="empty list"),
    ],
)
def test_what_is_not_a_list_is_refused_with_advice(items, advice):
    with pytest.raises(CandidateError, match=f"^candidates is .*{advice}"):
        as_pool(items)


def test_the_advice_for_a_frame_works():
    frame = pd.DataFrame({"x": [1, 2], "y": ["a", "b"]})
    assert as_pool(frame.to_dict("records")) == ({"x": 1, "y": "a"}, {"x": 2, "y": "b"})


def test_sequences_keep_their_order_and_items():
    assert as_sequence(range(3), "instances") == (0, 1, 2)
    assert [row.tolist() for row in as_sequence(np.eye(2), "instances")] == [[1, 0], [0, 1]]
    assert as_sequence(("a", "a"), "instances") == ("a", "a")
