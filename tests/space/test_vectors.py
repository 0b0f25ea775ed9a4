"""Around an elite: how far, and how probable."""

import numpy as np
import pytest

from racer import Categorical, Integer, Ordinal, Param, Real, Space
from racer.space.vectors import choice_counts, vectors_around


def near(space, elite, spread, n=2000):
    """Return n configurations around an elite, duplicates among them."""
    parents = np.tile(space.encode(elite), (n, 1))
    choices = choice_counts(space.parameters)
    drawn = vectors_around(parents, np.full(n, spread), choices, np.random.default_rng(7))
    return [space.decode(vector) for vector in drawn]


def test_numbers_are_normal_around_the_parent():
    space = Space({"x": Real(0, 10), "y": Real(1e-4, 1, log=True)})
    drawn = near(space, {"x": 4, "y": 1e-2}, 0.05)
    x = np.array([c["x"] for c in drawn])
    y = np.log10([c["y"] for c in drawn])
    assert x.mean() == pytest.approx(4, abs=0.05)
    assert x.std() == pytest.approx(0.5, rel=0.05)
    assert y.mean() == pytest.approx(-2, abs=0.02)
    assert y.std() == pytest.approx(0.05 * 4, rel=0.05)


def test_the_normal_is_truncated_at_the_bounds():
    space = Space({"x": Real(0, 1)})
    x = np.array([c["x"] for c in near(space, {"x": 0}, 0.2)])
    assert x.min() >= 0
    assert np.mean(x) == pytest.approx(0.2 * np.sqrt(2 / np.pi), rel=0.05)
    wide = np.array([c["x"] for c in near(space, {"x": 0}, 1e300)])
    assert np.mean(wide) == pytest.approx(0.5, abs=0.02)


def test_levels_and_whole_numbers_stay_close():
    space = Space({"o": Ordinal(list("abcdefghij")), "n": Integer(1, 1000), "x": Real(0, 1)})
    drawn = near(space, {"o": "e", "n": 500, "x": 0.5}, 0.03)
    assert {c["o"] for c in drawn} <= set("def")
    assert max(abs(c["n"] - 500) for c in drawn) < 5 * 30


def test_the_choice_of_the_parent_is_the_likelier_the_nearer():
    space = Space({"k": Categorical(["a", "b", "c", "d"]), "x": Real(0, 1)})

    def shares(spread):
        drawn = [c["k"] for c in near(space, {"k": "b", "x": 0.5}, spread)]
        return [drawn.count(k) / len(drawn) for k in "abcd"]

    assert shares(0.4) == pytest.approx([0.1, 0.7, 0.1, 0.1], abs=0.03)
    assert shares(5.0) == pytest.approx([0.25] * 4, abs=0.03)


def test_what_the_parent_lacks_is_uniform():
    space = Space({"k": Categorical(["a", "b"]), "x": Real(0, 1)}, conditions={"x": {"k": "b"}})
    x = [c["x"] for c in near(space, {"k": "a"}, 1.0, n=4000) if "x" in c]
    assert len(x) > 1800
    assert np.histogram(x, 4, (0, 1))[0] / len(x) == pytest.approx([0.25] * 4, abs=0.03)


def test_bounds_that_depend_on_another_parameter_are_kept():
    space = Space({"n": Integer(1, 100), "m": Integer(1, Param("n"))})
    for config in near(space, {"n": 100, "m": 100}, 0.2, n=200):
        assert 1 <= config["m"] <= config["n"]
