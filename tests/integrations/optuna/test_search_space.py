"""Optuna's distributions as fractions of their ranges, and conditions learnt from trials."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

from racer.integrations.optuna.search_space import Axes, Axis, Presence, joined

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # Optuna: choices that a storage may not hold
    DISTRIBUTIONS = [
        FloatDistribution(-1.0, 1.0),
        FloatDistribution(1e-7, 1.0, log=True),
        FloatDistribution(-10.2, 10.2, step=0.1),
        FloatDistribution(2.0, 2.0),
        FloatDistribution(-1e300, 1e300),
        IntDistribution(-10, 10),
        IntDistribution(-10, 11, step=3),
        IntDistribution(1, 100, log=True),
        IntDistribution(7, 7),
        IntDistribution(0, 2**62),
        IntDistribution(0, 2**53, step=4),
        IntDistribution(1, 2**62, log=True),
        CategoricalDistribution([None, True, "True", 2.5]),
        CategoricalDistribution([1]),
        CategoricalDistribution([[1, 2], {"a": 1}, math.nan]),
    ]


@pytest.mark.parametrize("distribution", DISTRIBUTIONS, ids=str)
@given(st.floats(0.0, 1.0))
def test_whatever_is_decoded_is_in_the_distribution_and_is_encoded_to_itself(distribution, u):
    axis = Axis(distribution)
    value = axis.decode(u)
    assert distribution._contains(distribution.to_internal_repr(value))
    assert type(value) is (
        type(distribution.choices[distribution.to_internal_repr(value)])
        if isinstance(distribution, CategoricalDistribution)
        else int
        if isinstance(distribution, IntDistribution)
        else float
    )
    place = axis.encode(value)
    assert 0.0 <= place <= 1.0
    again = axis.decode(place)
    if isinstance(value, int) and abs(value) > 2**50:
        assert again == pytest.approx(value, rel=1e-9, abs=1e-9 * 2**62)  # of the range
    else:
        assert distribution.to_internal_repr(again) == distribution.to_internal_repr(value)


@pytest.mark.parametrize(
    ("distribution", "value"),
    [
        (FloatDistribution(0.0, 1.0), 1.5),
        (FloatDistribution(0.0, 1.0, step=0.5), 0.3),
        (IntDistribution(0, 10, step=5), 3),
        (CategoricalDistribution(["a", "b"]), "c"),
    ],
)
def test_what_is_not_in_the_distribution_has_no_place(distribution, value):
    assert math.isnan(Axis(distribution).encode(value))


def test_few_values_can_be_told_one_by_one():
    few = [Axis(d).n_few for d in (IntDistribution(1, 5), CategoricalDistribution("ab"))]
    assert few == [5, 2]
    assert Axis(IntDistribution(1, 1000)).n_few == Axis(FloatDistribution(0, 1)).n_few == 0


def test_configurations_as_vectors():
    axes = Axes({"x": FloatDistribution(0.0, 4.0), "c": CategoricalDistribution(["a", "b"])})
    np.testing.assert_array_equal(axes.encode({"x": 1.0, "more": 3}), [0.25, math.nan])
    assert axes.decode(np.array([0.25, 0.75])) == {"x": 1.0, "c": "b"}
    assert axes.choices.tolist() == [0, 2]


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        (FloatDistribution(0, 2), FloatDistribution(1, 5), FloatDistribution(0, 5)),
        (FloatDistribution(1, 2, log=True), FloatDistribution(3, 5), FloatDistribution(3, 5)),
        (
            FloatDistribution(0, 1, step=0.5),
            FloatDistribution(2, 3, step=0.5),
            FloatDistribution(0, 3, step=0.5),
        ),
        (
            FloatDistribution(0, 1, step=0.5),
            FloatDistribution(0.25, 1.25, step=0.5),
            FloatDistribution(0, 1.25),
        ),
        (
            IntDistribution(0, 9, step=3),
            IntDistribution(6, 12, step=3),
            IntDistribution(0, 12, step=3),
        ),
        (IntDistribution(0, 9, step=3), IntDistribution(1, 10, step=3), IntDistribution(0, 10)),
        (
            IntDistribution(5, 9, log=True),
            IntDistribution(1, 6, log=True),
            IntDistribution(1, 9, log=True),
        ),
        (IntDistribution(5, 9), FloatDistribution(1, 6), FloatDistribution(1, 6)),
        (
            CategoricalDistribution("ab"),
            CategoricalDistribution("abc"),
            CategoricalDistribution("abc"),
        ),
    ],
)
def test_ranges_that_change_are_joined(one, other, both):
    assert joined(one, other) == both
    assert joined(one, one) == one


# -- which parameters exist

NAN = np.nan


def test_where_nothing_is_optional_all_exists():
    presence = Presence(np.random.default_rng(1).random((20, 3)), [0, 2, 5])
    assert presence(np.full((4, 3), 0.5), np.full(3, 0.5)).all()


def test_one_parameter_is_there_where_another_has_a_value():
    vectors = np.array([[0.25, 0.1, NAN], [0.75, NAN, 0.3], [0.25, 0.9, NAN], [0.75, NAN, 0.2]])
    presence = Presence(vectors, [2, 0, 0])
    found = presence(np.array([[0.2, 0.5, 0.5], [0.8, 0.5, 0.5]]), vectors[0])
    np.testing.assert_array_equal(found, [[True, True, False], [True, False, True]])


def test_conditions_below_conditions():
    # b where a is second; c where b is first
    vectors = np.array(
        [
            [0.25, NAN, NAN],
            [0.75, 0.25, 0.4],
            [0.75, 0.75, NAN],
            [0.25, NAN, NAN],
            [0.75, 0.25, 0.6],
        ]
    )
    presence = Presence(vectors, [2, 2, 0])
    asked = np.array([[0.25, 0.25, 0.5], [0.75, 0.25, 0.5], [0.75, 0.75, 0.5]])
    found = presence(asked, vectors[0])
    np.testing.assert_array_equal(
        found, [[True, False, False], [True, True, True], [True, True, False]]
    )


def test_as_many_as_a_number_says():
    places = (np.arange(5) + 0.5) / 5
    vectors = np.array(
        [[n, *(0.5 if j <= i else NAN for j in range(5))] for i, n in enumerate(places)]
    )
    presence = Presence(vectors, [5, 0, 0, 0, 0, 0])
    asked = np.full((5, 6), 0.5)
    asked[:, 0] = places
    np.testing.assert_array_equal(presence(asked, vectors[0]), ~np.isnan(vectors))


@pytest.mark.parametrize("has", [True, False])
def test_what_cannot_be_explained_and_what_was_not_seen_is_as_in_the_example(has):
    example = np.array([0.9, 0.5 if has else NAN])
    by_number = Presence(np.array([[0.1, NAN], [0.6, 0.3], [0.7, NAN]]), [0, 0])
    assert by_number(np.array([[0.65, 0.5]]), example)[0, 1] == has
    by_choice = Presence(np.array([[0.1, NAN], [0.5, 0.3]]), [3, 0])
    assert by_choice(np.array([[0.9, 0.5]]), example)[0, 1] == has
    assert by_choice(np.array([[0.5, 0.5]]), example)[0, 1]
