"""Conditions learnt from trials."""

from __future__ import annotations

import numpy as np
import pytest

from racer.integrations.optuna.presence import Presence

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
