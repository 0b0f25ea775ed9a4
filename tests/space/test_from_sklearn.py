"""scikit-learn's distributions as a space."""

import numpy as np
import pytest
from scipy import stats

from racer import Categorical, Integer, Ordinal, Real, SettingError, Space


def parameter(given):
    return Space.from_sklearn({"x": given}).parameters["x"]


@pytest.mark.parametrize(
    ("given", "made"),
    [
        (stats.uniform(2.0, 3.0), Real(2.0, 5.0)),
        (stats.loguniform(1e-3, 10.0), Real(1e-3, 10.0, log=True)),
        (stats.randint(1, 5), Integer(1, 4)),
        (["a", None, True], Categorical(["a", None, True])),
        ([1, 10, 100], Ordinal([1, 10, 100])),
        (np.array([3.0, 2.0, 1.0]), Ordinal([1.0, 2.0, 3.0])),
        ([5, 1, 3], Categorical([5, 1, 3])),
        ([(10,), (20, 5)], Categorical([(10,), (20, 5)])),
    ],
)
def test_lists_and_distributions(given, made):
    assert parameter(given) == made


@pytest.mark.parametrize(
    "given",
    [
        stats.expon(scale=3.0),
        stats.loguniform(1.0, 10.0, loc=-0.999),  # not a range of logarithms
    ],
)
def test_other_distributions_by_their_quantiles(given):
    space = Space.from_sklearn({"x": given})
    drawn = [config["x"] for config in space.sample(500, seed=1)]
    assert stats.kstest(drawn, given.cdf).pvalue > 1e-3
    config = space.sample(1, seed=2)[0]
    assert space.decode(space.encode(config)) == config
    assert given.dist.name in str(space.to_json())


def test_counts_are_whole_numbers():
    drawn = [
        config["x"] for config in Space.from_sklearn({"x": stats.poisson(3)}).sample(9, seed=1)
    ]
    assert all(type(value) is int for value in drawn)


def test_objects_are_named():
    thing = object()
    assert list(parameter([thing, "a", [1, 2]]).choices) == [repr(thing), "a", "[1, 2]"]


@pytest.mark.parametrize(
    ("given", "choices"),
    [
        ([1, 1.0], [1, "1.0"]),
        ([0.5, 1, 1.0, 1], [0.5, 1, "1.0"]),
        ([1.0, np.int64(1), 2], [1.0, "1", 2]),
        ([(1, 2), (1.0, 2), (1, 2)], [(1, 2), "(1.0, 2)"]),
    ],
)
def test_equal_numbers_of_two_types_are_two_values(given, choices):
    assert list(parameter(given).choices) == choices


def test_equal_numbers_of_two_types_are_two_values_in_several_dicts_too():
    space = Space.from_sklearn([{"k": ["a"], "x": [1]}, {"k": ["b", "c"], "x": [1.0, 1, 1.0]}])
    assert list(space.parameters["x"].choices) == [1, "1.0"]


def test_several_dicts_are_conditions():
    space = Space.from_sklearn(
        [
            {"kernel": ["rbf", "poly"], "C": [1, 10, 100], "gamma": stats.loguniform(1e-3, 1.0)},
            {"kernel": ["linear"], "C": [5, 10, 15]},
        ]
    )
    drawn = space.sample(200, seed=1)
    for config in drawn:
        is_linear = config["kernel"] == "linear"
        assert ("gamma" in config) is not is_linear
        assert config["C"] in ([5, 10, 15] if is_linear else [1, 10, 100])
    assert {config["kernel"] for config in drawn} == {"rbf", "poly", "linear"}


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "give a dict"),
        (3, "give a dict"),
        ({"x": 3}, "x: 3: give a list of values"),
        ({"x": np.random.RandomState(0)}, "x: .*give a list"),
        ([{"x": [1]}, {"x": [1, 2]}], "no parameter separates"),
        (
            [{"k": ["a"], "x": stats.uniform(0, 1)}, {"k": ["b"], "x": stats.uniform(0, 2)}],
            "x: its distributions differ",
        ),
    ],
)
def test_what_is_no_space_is_refused(given, says):
    with pytest.raises(SettingError, match=says):
        Space.from_sklearn(given)
