"""Parameters: what they refuse, by name, and which values they take."""

import math
import sys

import numpy as np
import pytest

from racer import CandidateError, Categorical, Integer, Ordinal, Param, Real, SettingError, Space
from racer.space.expressions import Literal, greatest, least

NAN = math.nan


@pytest.mark.parametrize(
    ("parameter", "says"),
    [
        (Real(2, 1), "rate: Real with low=2.0 above high=1.0"),
        (
            Real(-1e308, 1e308),
            "from -1e.308 to 1e.308 is wider than the largest float: use a narrow",
        ),
        (Real(0, 1, log=True), "rate: Real with low=0.0 has no logarithm"),
        (Real(0, 1, digits=301), "rate: digits=301"),
        (Real(0.11, 0.19, digits=1), "rate: Real from 0.11 to 0.19 has no value"),
        (Real(0, 1, step=0.1, digits=2), "rate: step=0.1 cannot be combined"),
        (Real(1, 2, step=0.1, log=True), "rate: step=0.1 cannot be combined"),
        (Integer(1, 2.5), "rate: Integer with high=2.5: give a whole number"),
        (
            Integer(0, 10**18),
            "rate: Integer from 0 to 10{18} has too many values for floats: use",
        ),
        (Real(0, 1, step=1e-18), "rate: Real from 0.0 to 1.0 has too many values for floats"),
        (Integer(1, 9, log=True, step=2), "rate: step=2 does not go with log"),
        (Categorical({"a", "b"}), "rate: choices="),
        (Categorical([len]), "rate: choices have <built-in"),
        (Ordinal(["low", "low"]), "rate: levels have 'low' twice"),
        (["a", "b"], r"rate: .* did you mean Categorical\(\['a', 'b'\]\)"),
        (Real, "rate: Real is a class"),
        (object(), "rate: .* is not a parameter"),
        (Real(0, Param("speed")), "rate: high=speed names 'speed', which is not a parameter"),
        (Real(0, Param("kind")), "rate: high=kind is not a number"),
        (Real(0, Param("rate")), "are circular: rate -> rate"),
    ],
)
def test_what_cannot_be_is_refused_with_the_name(parameter, says):
    with pytest.raises(SettingError, match=says):
        Space({"rate": parameter, "kind": Categorical(["a"])})


def test_a_plain_value_is_a_fixed_parameter():
    space = Space({"version": 3, "solver": "fast", "trace": False, "note": None, "x": Real(1, 1)})
    assert space.sample(5, seed=0) == [
        {"version": 3, "solver": "fast", "trace": False, "note": None, "x": 1.0}
    ]
    assert space.size == 1
    assert space.free == ()


@pytest.mark.parametrize(
    ("parameter", "given", "kept"),
    [
        (Real(0, 1), 1, 1.0),
        (Real(0, 1), np.float32(0.5), 0.5),
        (Real(0, 1, digits=1), 0.1 + 0.2, 0.3),
        (Real(0.1, 0.3, step=0.2), 0.1 + 0.2, 0.3),
        (Real(1 / 3, 2 / 3), 1 / 3, 1 / 3),
        (Integer(1, 5), np.int64(3), 3),
        (Integer(1, 9, step=2), 7, 7),
        (Integer(10**20, 10**20 + 5), 10**20 + 3, 10**20 + 3),
        (Categorical([1, True, "1"]), True, True),
        (Categorical([1, True, "1"]), 1.0, 1),
        (Categorical([(8, 8), (16,)]), [8, 8], (8, 8)),
        (Ordinal(["low", None]), None, None),
    ],
)
def test_values_are_kept_as_plain_python(parameter, given, kept):
    space = Space({"p": parameter})
    value = space.check({"p": given})["p"]
    assert value == pytest.approx(kept, rel=1e-9) if isinstance(kept, float) else value == kept
    assert type(value) is type(kept)
    assert space.key({"p": given}) == space.key({"p": kept})
    assert space.decode(space.encode({"p": given})) == {"p": value}


@pytest.mark.parametrize(
    ("parameter", "given", "says"),
    [
        (Real(0, 1), 1.5, "p=1.5: give a number from 0.0 to 1.0|p=1.5: give a number from 0 to 1"),
        (Real(0, 1), NAN, "p=nan: it is neither"),
        (Real(0, 1), "0.5", "p='0.5': give a number"),
        (Real(0, 1), True, "p=True: give a number"),
        (Real(0, 1, digits=2), 0.123, "p=0.123: .* in steps of 0.01; the nearest is 0.12"),
        (Real(1, 2**60, log=True, digits=1), 1.23, "p=1.23: .* at most 1 decimals"),
        (Integer(1, 5), 6, "p=6: give a whole number from 1 to 5"),
        (Integer(1, 5), 2.5, "p=2.5: give a whole number"),
        (Integer(1, 9, step=4), 3, "p=3: give a number from 1 to 9 in steps of 4"),
        (Real(2, 2), 3, "p=3: give 2"),
        (Categorical(["a", 1]), "b", "p='b': give one of 'a', 1"),
        (Categorical([1, 2]), True, "p=True: give one of 1, 2"),
        (Categorical([1, 2]), object(), "p=<object .*: it is neither text"),
    ],
)
def test_values_outside_are_refused_with_the_name(parameter, given, says):
    with pytest.raises(CandidateError, match=says):
        Space({"p": parameter}).check({"p": given})


@pytest.mark.parametrize(
    "parameter",
    [
        Real(2.2e-309, 1.0, step=0.1),
        Real(5e-324, 1.7e308, log=True),
        Real(5e-324, 1e-323),
        Real(1.0, 1.0 + 4e-16),
        Real(1e9, 1e9 + 1e-3, digits=9),
        Real(1e-300, 1.0, log=True, digits=300),
        Integer(1, 10**12, log=True),
        Integer(10**300, 10**300 + 2**50 - 1),
    ],
    ids=repr,
)
def test_numbers_at_the_edges_survive(parameter):
    space = Space({"p": parameter})
    for method in ("uniform", "lhs"):
        for config in space.sample(20, seed=0, method=method):
            assert parameter.low <= config["p"] <= parameter.high
            assert space.decode(space.encode(config)) == config
    for u in (0.0, 1.0):
        assert space.decode(space.encode(space.decode([u]))) == space.decode([u])


def test_digits_never_leave_the_bounds_and_all_values_come():
    space = Space({"x": Real(0.14, 0.46, digits=1)})
    assert sorted(c["x"] for c in space.sample(9, seed=0)) == [0.2, 0.3, 0.4]
    space = Space({"x": Real(0.004, 0.05, log=True, digits=2)})
    assert sorted(c["x"] for c in space.sample(9, seed=0)) == [0.01, 0.02, 0.03, 0.04, 0.05]


def test_a_logarithmic_integer_has_cells_of_half_a_unit():
    space = Space({"n": Integer(1, 3, log=True)})
    u = (np.arange(100_000) + 0.5) / 100_000
    counts = np.bincount([space.decode([x])["n"] for x in u[::50]])[1:] / 2000
    edges = np.log([0.5, 1.5, 2.5, 3.5])
    assert counts == pytest.approx(np.diff(edges) / (edges[-1] - edges[0]), abs=2e-3)


def test_choices_and_whole_numbers_have_equal_cells():
    space = Space({"n": Integer(1, 4), "k": Categorical(["a", "b", "c"])})
    assert space.encode({"n": 2, "k": "c"}) == pytest.approx([3 / 8, 5 / 6])
    assert space.decode([0.999, 0.0]) == {"n": 4, "k": "a"}
    assert space.decode([1.0, 1.0]) == {"n": 4, "k": "c"}


def test_records_are_equal_when_their_settings_are():
    assert Real(0, Param("n")) == Real(0, Param("n"))
    assert Real(0, Param("n")) != Real(0, Param("m"))
    assert Real(0, 1) == Real(0.0, 1.0)
    assert hash(Real(0, 1)) == hash(Real(0.0, 1.0))
    assert Integer(0, 1) != Real(0, 1)
    assert Categorical([1]) != Categorical([True])


@pytest.mark.parametrize(
    ("low", "high", "step", "n"),
    [
        (0.0, math.pi, math.pi / 8, 9),
        (-1.0, 1.333333333333333, 1 / 3, 8),
        (1 / 3, 1.0333333333333332, 0.7, 2),
        (0.0, 1.0, 0.1, 11),
        (0.0, 1.0, 0.33333334, 3),  # 3 steps would be above 1 by more than rounding
        (1e-9, 1.0, 0.1, 10),
    ],
)
def test_the_end_of_steps_is_a_value_if_rounding_alone_parts_them(low, high, step, n):
    values = [*Real(low, high, step=step).domain({}).values()]
    assert len(values) == n
    assert values[0] == low
    assert values[-1] <= high
    assert (values[-1] == high) is (high - values[-1] < step / 2.0)


def test_a_rounded_end_moves_no_other_value():
    space = Space(
        {"x": Real(0.0, 0.1 * 3, step=0.1), "y": Categorical([1, 2])},
        conditions={"y": Param("x") == 0.1},
    )
    assert [*space.domain("x", {}).values()] == [0.0, 0.1, 0.2, 0.1 * 3]
    assert space.check({"x": 0.1, "y": 1}) == {"x": 0.1, "y": 1}
    assert space.check({"x": 0.3})["x"] == 0.1 * 3


def test_computed_bounds_are_what_they_are_on_paper():
    space = Space(
        {
            "x": Real(0.0, 1.0, digits=2),
            "y": Real(0.0, 1.0 - Param("x"), digits=2),
            "z": Real(0.0, 1.0 - Param("x")),
            "k": Integer(0, Param("x") * 100),
        }
    )
    for i in range(101):
        rest = round(1 - i / 100, 2)
        config = {"x": i / 100, "y": rest, "z": rest, "k": i}
        assert space.check(config) == config


def test_computed_sums_are_compared_as_on_paper():
    tenths = {name: Real(0.0, 1.0, digits=1) for name in "xyz"}
    space = Space(tenths, forbidden=[Param("x") + Param("y") + Param("z") != 1.0])
    parts = [(a, b, 10 - a - b) for a in range(11) for b in range(11 - a)]
    assert all({n: p / 10 for n, p in zip("xyz", of, strict=True)} in space for of in parts)


def test_a_remainder_of_sums_is_what_it_is_on_paper():
    space = Space(
        {
            "x": Real(0.0, 1.0, digits=2),
            "y": Real(0.0, 1.0 - Param("x"), digits=2),
            "z": Real(0.0, 1.0 - Param("x") - Param("y"), digits=2),
            "rest": Categorical([True]),
        },
        conditions={"rest": Param("x") + 1000 - Param("x") - 1000 == 0},
    )
    for i, j in [(90, 10), (93, 7), (33, 66), (20, 10)]:
        config = {"x": i / 100, "y": j / 100, "z": (100 - i - j) / 100, "rest": True}
        assert space.check(config) == config


@pytest.mark.parametrize(
    "clause",
    [
        Param("x") / 3 == 1 / 3,
        Literal(1 / 3) >= Param("x") / 3,
        (Param("x") / 3).is_in([0.1, 1 / 3]),
        Param("x") * math.pi >= math.pi,
        Param("x") / 3 * 3 == Param("x"),
        greatest(Param("third"), 0.0) == Param("third"),
        -abs(-Param("third")) == -Param("third"),
        least(Param("third"), Param("x") + 0.0) == 1 / 3,
        math.floor((1 - 0.07 * Param("x")) * 100) == 93,
        Param("n") * 1.0 + 1 > Param("n"),
        Param("most") * 1.0 == Param("most"),
        least(Param("most"), sys.float_info.max) == Param("most"),
    ],
)
def test_computed_values_are_compared_to_15_digits_and_others_as_they_are(clause):
    values = {"x": 1, "third": 1 / 3, "n": 2**50 - 1, "most": sys.float_info.max}
    assert clause.holds(values) is True


@pytest.mark.parametrize("k", range(-10, 11))
def test_remainders_of_tenths_are_as_on_paper(k):
    tenths = {"x": k / 10}
    assert (Param("x") // 0.1).value(tenths) == k
    assert (Param("x") % 0.1).value(tenths) == 0
    assert ((Param("x") + 0.05) % 0.1).value(tenths) == 0.05
    assert ((Param("x") + 0.05) % -0.1).value(tenths) == -0.05


def test_computed_bounds_never_round_what_is_not_computed():
    third, most, n = Param("x"), Param("most"), Param("n")
    space = Space(
        {
            "x": Real(0.0, 1.0, step=1 / 3),
            "y": Real(least(third, 1.0 - 0.5 * third), 1.0),
            "most": Real(1.0, sys.float_info.max),
            "below": Real(0.0, most * 1.0),
            "n": Integer(1, 2**50),
            "m": Integer(n / 1, n * 1.0),
        }
    )
    assert space.domain("y", {"x": 1 / 3}).low == 1 / 3
    assert space.domain("below", {"most": sys.float_info.max}).high == sys.float_info.max
    for k in range(2**50 - 20, 2**50):
        assert [*space.domain("m", {"n": k}).values()] == [k]


def test_an_end_is_a_value_as_it_is_shown():
    with pytest.raises(CandidateError, match=r"from 0 to 0\.93$"):
        Space({"y": Real(0.0, 1 - 0.07)}).check({"y": 0.931})
    assert Space({"y": Real(0.0, 1 - 0.07)}).check({"y": 0.93})["y"] == 1 - 0.07


@pytest.mark.parametrize(
    ("parameter", "outside"),
    [
        (Real(1e-8, 1e6, log=True), (5e-9, 1e-9, 0.0, -5e-7)),
        (Real(0.0, 1e10), (-0.005, 1e10 + 0.001)),
        (Real(-1e10, 1e-3), (0.0011,)),
        (Real(0.0, 1e10, digits=6), (1e10 + 1e-5,)),
    ],
)
def test_the_size_of_one_end_does_not_move_the_other(parameter, outside):
    for value in outside:
        with pytest.raises(CandidateError, match=r"give a number from"):
            Space({"x": parameter}).check({"x": value})
