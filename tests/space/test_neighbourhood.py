"""Around an elite: how far, how probable, and how it narrows."""

from __future__ import annotations

import numpy as np
import pytest

from racer import Categorical, Integer, Ordinal, Real, SettingError, Space
from racer.space import Neighbourhood


def near(space, elite, hood, n=2000):
    return space.around(elite, hood, n, seed=7)


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


def test_choices_follow_their_probabilities():
    space = Space({"k": Categorical(["a", "b", "c", "d"]), "x": Real(0, 1)})
    elite = {"k": "b", "x": 0.5}

    def shares(hood):
        drawn = [c["k"] for c in near(space, elite, hood)]
        return [drawn.count(k) / len(drawn) for k in "abcd"]

    assert shares(0.4) == pytest.approx([0.1, 0.7, 0.1, 0.1], abs=0.03)
    assert shares(5.0) == pytest.approx([0.25] * 4, abs=0.03)
    assert shares(Neighbourhood(0.1, {"k": (0, 0, 1, 3)})) == pytest.approx(
        [0, 0, 0.25, 0.75], abs=0.03
    )


def test_what_the_parent_lacks_is_uniform():
    space = Space({"k": Categorical(["a", "b"]), "x": Real(0, 1)}, conditions={"x": {"k": "b"}})
    x = [c["x"] for c in near(space, {"k": "a"}, Neighbourhood(0.01, {"k": (0, 1)}))]
    assert np.histogram(x, 4, (0, 1))[0] / len(x) == pytest.approx([0.25] * 4, abs=0.03)


def test_it_narrows_and_moves():
    hood = Neighbourhood().narrowed(new=8, free=3)
    assert hood.spread == pytest.approx(0.25)
    space = Space({"k": Categorical(["a", "b", "c", "d"]), "x": Real(0, 1)})
    moved = hood.moved(space.parameters, {"k": "d", "x": 0.1}, 0.2)
    assert moved.probabilities == {"k": pytest.approx((0.2, 0.2, 0.2, 0.4))}
    again = moved.moved(space.parameters, {"k": "a", "x": 0.1}, 0.5)
    assert again.probabilities["k"] == pytest.approx((0.6, 0.1, 0.1, 0.2))
    assert moved.moved(space.parameters, {"x": 0.1}, 1.0) == moved


def test_in_another_range_the_parent_is_at_its_nearest():
    from racer import Param

    space = Space({"n": Integer(1, 100), "m": Integer(1, Param("n"))})
    for config in near(space, {"n": 100, "m": 100}, 0.2, n=200):
        assert 1 <= config["m"] <= config["n"]


@pytest.mark.parametrize("spread", [0, -1, float("nan"), float("inf"), "wide"])
def test_spreads_are_checked(spread):
    with pytest.raises(SettingError, match="spread="):
        Neighbourhood(spread)


def test_settings_are_checked():
    with pytest.raises(SettingError, match="probabilities of 'k'"):
        Neighbourhood(0.1, {"k": (0, 0)})
    with pytest.raises(SettingError, match="share=2"):
        Neighbourhood().moved({}, {}, 2)
    with pytest.raises(SettingError, match="new=0"):
        Neighbourhood().narrowed(new=0, free=1)
