"""Values as JSON: rebuilt exactly, or described and compared."""

from __future__ import annotations

import functools
import json
import math
import sys
from dataclasses import dataclass
from datetime import date
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import racer
import racer.deciders
from racer.store.jsonable import (
    decode,
    dumps,
    encode,
    is_plain,
    qualified_name,
    same,
    shown_apart,
)

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters())
    | st.sampled_from([np.float64(0.1), np.float32(0.1), np.int8(-3), np.uint64(2**64 - 1)])
    | st.sampled_from([np.bool_(True), np.str_("a"), np.float16(np.inf), "\udcff", "!tuple"])
    | st.sampled_from([Path("a/b"), PurePosixPath("/x \udcff"), PureWindowsPath("c:/d")])
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=3) | st.integers() | st.just("!x"), inner, max_size=3)
        | st.sets(st.integers() | st.text(max_size=2), max_size=3)
        | st.frozensets(st.integers(), max_size=3)
    ),
    max_leaves=8,
)


def shape(value):
    """Return the value with its types, in a form that compares NaN and -0.0 as well."""
    if isinstance(value, dict):
        return ("dict", [(shape(k), shape(v)) for k, v in value.items()])
    if isinstance(value, list | tuple):
        return (type(value), [shape(item) for item in value])
    if isinstance(value, set | frozenset):
        return (type(value), sorted(map(repr, value)))
    return (type(value), repr(value))


@given(values)
def test_plain_values_are_rebuilt_exactly(value):
    encoded = encode(value)
    assert is_plain(encoded)
    assert shape(decode(json.loads(dumps(encoded)))) == shape(value)
    assert same(encoded, json.loads(dumps(encoded)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1.0),
        (1, True),
        (0.0, -0.0),
        ((1,), [1]),
        ("1", 1),
        (np.float64(1.0), 1.0),
        ({1}, frozenset({1})),
        ({"a": 1}, {"a": 1, "b": None}),
        ({1: 2}, {"1": 2}),
        (np.zeros(2), np.zeros(3)),
        (np.zeros(2), np.zeros(2, dtype=np.float32)),
        (np.array(["a", None], dtype=object), np.array(["b", None], dtype=object)),
        (date(2020, 1, 1), date(2020, 1, 2)),
        ("x" * 2000, "x" * 2001),
        (PurePosixPath("a"), "a"),
        (Path("a"), PurePath("a")),
        (Path("a"), Path("b")),
    ],
)
def test_what_differs_in_type_or_value_is_told_apart(one, other):
    assert not same(encode(one), encode(other))


def test_the_order_of_keys_is_kept_and_makes_no_difference():
    one, other = {"b": 1, "a": 2}, {"a": 2, "b": 1}
    assert same(encode(one), encode(other))
    assert list(decode(json.loads(dumps(encode(one))))) == ["b", "a"]


@dataclass
class Thing:
    size: int
    parts: list[int]


class Opaque:
    pass


class Rude:
    def __repr__(self):
        raise ValueError


@pytest.mark.parametrize(
    "value", [Thing(1, [2]), Opaque(), Rude(), date(2020, 1, 1), np.zeros(3), b"x", 1j, len, Opaque]
)
def test_other_objects_are_described_and_not_rebuilt(value):
    encoded = encode([{"deep": value}])
    assert not is_plain(encoded)
    assert same(encoded, encode([{"deep": value}]))
    with pytest.raises(ValueError, match="cannot be rebuilt"):
        decode(encoded)


def test_addresses_are_no_part_of_a_description():
    assert same(encode(Opaque()), encode(Opaque()))
    assert "0x.." in dumps(encode(Opaque()))


def test_a_list_that_contains_itself_is_described():
    endless: list[object] = []
    endless.append(endless)
    assert not is_plain(encode(endless))


@pytest.mark.parametrize(
    "text",
    [
        '{"!racer": "os.system", "fields": {}}',
        '{"!racer": "FRace", "fields": {"alpha": 0.1, "shell": "rm"}}',
        '{"!racer": "FRace"}',
        '{"!numpy": ["void", 1]}',
        '{"!float": "1e400"}',
        '{"!eval": "1"}',
        '{"!set": [[1]]}',
        '{"!dict": [1]}',
        '{"!numpy": ["int8", 1000]}',
        '{"!float": []}',
        '{"!path": ["Path", "a"]}',
        '{"!path": ["PosixPath", 3]}',
        '{"!racer": "FRace", "fields": []}',
    ],
)
def test_nothing_is_built_by_a_name_that_racer_does_not_know(text):
    with pytest.raises(ValueError, match=r"rebuilt|unpack|unhashable"):
        decode(json.loads(text))


def test_what_is_nested_too_deeply_is_refused():
    """From Python 3.12 on, a level takes one frame instead of two."""
    nested: list[object] = []
    for _ in range(2 * sys.getrecursionlimit()):
        nested = [nested]
    with pytest.raises(ValueError, match="rebuilt"):
        decode(nested)


def test_every_decider_of_racer_is_rebuilt():
    for name in racer.deciders.DECIDERS:
        decider = racer.deciders.as_decider(name)
        assert decode(json.loads(dumps(encode(decider)))) == decider, type(decider)
    budget = racer.Budget(seconds=0.1)
    assert decode(encode(budget)) == budget
    assert math.isclose(decode(encode(budget)).seconds, 0.1)


def test_names():
    assert qualified_name(Thing) == f"{__name__}.Thing"
    assert qualified_name(Opaque()) == f"{__name__}.Opaque"
    assert qualified_name(functools.partial(test_names, 1)).startswith("functools.partial(")
    assert qualified_name(len) == "builtins.len"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((Path("data") / ("x" * 300) / "1"), (Path("data") / ("x" * 300) / "2")),
        (("a" * 150, "b" * 400), ("a" * 150, "b" * 401)),
        ([*range(400), {"a": "x"}], [*range(400), {"a": "y"}]),
        (np.zeros(2000), np.ones(2000)),
        (("k", np.arange(900)), ("k", np.arange(901))),
        (b"x" * 2000, b"x" * 1999 + b"y"),
    ],
)
def test_two_values_that_differ_are_not_shown_alike(one, other):
    texts = shown_apart(encode(one), encode(other))
    assert texts[0] != texts[1]
    assert max(map(len, texts)) <= 204


@pytest.mark.parametrize(("rest", "end"), [(148, ""), (149, "..")])
def test_a_quarter_of_what_is_shown_comes_before_the_difference(rest, end):
    one, other = shown_apart(*("x" * 100 + letter + "y" * rest for letter in "ab"))
    assert one == ".." + "x" * 50 + "a" + "y" * 148 + ("'" if not end else "y") + end
    assert other == one.replace("a", "b")


def test_short_values_are_shown_whole():
    assert shown_apart(encode(("a", 1)), encode(["a", 1])) == ["('a', 1)", "['a', 1]"]
