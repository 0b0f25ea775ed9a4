"""Conditions and bounds that depend on others: existence, unknown values, what is refused."""

from __future__ import annotations

import math
import warnings

import pytest

from racer import CandidateError, Categorical, Integer, Ordinal, Param, Real, SettingError, Space
from racer.space import greatest, least
from racer.space.expressions import Arithmetic, Literal

PARAMETERS = {
    "algo": Categorical(["as", "acs", "eas"]),
    "heat": Ordinal(["low", "medium", "high"]),
    "n": Integer(1, 9),
    "x": Real(0, 1),
}
FALLING = {"falling": Ordinal([3, 2, 1])}


def space_when(condition, **more):
    return Space({**PARAMETERS, "child": Integer(1, 2), **more}, conditions={"child": condition})


BASE = {"algo": "as", "heat": "medium", "n": 4, "x": 0.5}


@pytest.mark.parametrize(
    ("condition", "exists"),
    [
        ({"algo": "as"}, True),
        ({"algo": ["acs", "eas"]}, False),
        pytest.param({"algo": {"as", "eas"}, "n": range(3, 5)}, True, id="sets and ranges"),
        ({"algo": "as", "n": 5}, False),
        (Param("algo") == "as", True),
        (Param("algo") != "as", False),
        (Param("algo").is_in(["as"]), True),
        (Param("heat") < "high", True),
        (Param("heat") <= "low", False),
        (Param("heat") > "low", True),
        (Param("heat") >= "high", False),
        ((Param("n") > 3) & (Param("n") < 5), True),
        ((Param("n") < 3) | ~(Param("x") > 0.7), True),
        (2 * Param("n") + 1 == 9, True),
        (Param("n") / 2 - 1 >= Param("x") ** 2, True),
        (least(Param("n"), 3) == 3, True),
        (greatest(Param("n"), 3) == 4, True),
        (Param("n") % 3 == 1, True),
        (Param("n") // 3 == 1, True),
        (round(Param("x") * 4.4) == 2, True),
        (abs(Param("n") - 9) == 5, True),
        (2 ** Param("n") == 16, True),
        (math.floor(Param("x")) == 0, True),
        (math.ceil(Param("x")) == 1, True),
        (math.trunc(-Param("x")) == 0, True),
        (1 - Param("x") == 1 / (1 + Param("n") / 4), True),
        (Param("n") / (Param("n") - 4) > 1, True),  # infinity
        ((Param("n") - 4) / (Param("n") - 4) == 0, False),  # 0/0 is nothing
        ((Param("n") - 4) / (Param("n") - 4) != 0, False),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:.*is never true:racer.RacerWarning")
def test_a_parameter_exists_when_its_condition_holds(condition, exists):
    space = space_when(condition)
    config = {**BASE, "child": 1} if exists else BASE
    assert space.check(config) == config
    with pytest.raises(CandidateError, match="child"):
        space.check(BASE if exists else {**BASE, "child": 1})


@pytest.mark.parametrize(
    ("condition", "says"),
    [
        ({"algo": "ACS"}, "condition of 'child': .* has the value 'ACS': give one of 'as'"),
        ({"algos": "as"}, "condition of 'child' names 'algos', .*did you mean 'algo'"),
        ({"n": "many"}, "cannot be compared"),
        ({"n": ["many"]}, "compares a number with something else"),
        (Param("algo") < "acs", "only numbers and the levels of an Ordinal have an order"),
        (Param("heat") < "warm", "has the value 'warm': give one of 'low'"),
        (Param("algo") + 1 == 2, "cannot be compared"),
        ({"child": 1}, "are circular: child -> child"),
        (lambda config: True, "is a function, which cannot be stored"),
        ({}, "give {parameter: value or list of values} or an expression"),
    ],
)
def test_conditions_that_make_no_sense_are_refused(condition, says):
    with pytest.raises(SettingError, match=says):
        space_when(condition)


@pytest.mark.parametrize(
    "condition", [Param("falling") < Param("n"), Param("n") >= Param("falling")]
)
def test_levels_that_fall_are_compared_with_a_level_only(condition):
    with pytest.raises(SettingError, match="the levels of 'falling' are not in ascending order"):
        space_when(condition, **FALLING)
    space = space_when(Param("falling") < 2, **FALLING)
    assert "child" in space.check({**BASE, "falling": 3, "child": 1})


def test_and_or_not_and_chains_are_refused_with_a_way_out():
    for write in (
        lambda p: (p > 1) and (p < 3),
        lambda p: 1 < p < 3,
        lambda p: not p == 1,  # noqa: SIM201
    ):
        with pytest.raises(SettingError, match=r"join conditions with & \| ~"):
            write(Param("n"))
    with pytest.raises(SettingError, match="put comparisons in parentheses"):
        (Param("n") > 1) & 3
    with pytest.raises(SettingError, match="give a list of values"):
        Param("n").is_in("abc")
    with pytest.raises(SettingError, match="cannot be used in a condition"):
        _ = Param("n") == [len]


def test_what_does_not_exist_is_unknown():
    def exists(condition):
        space = Space(
            {"a": Categorical(["on", "off"]), "b": Integer(1, 3), "c": 1},
            conditions={"b": {"a": "on"}, "c": condition},
        )
        return "c" in space.sample(1, seed=0, exclude=keys_with(space, "b"))[0]

    def keys_with(space, name):
        return {space.key(c) for c in space.sample(100, seed=0) if name in c}

    b = Param("b")
    assert not exists(b == 1)
    assert not exists(~(b == 1))
    assert not exists(~b.is_in([1, 2]))
    assert not exists((b == 1) | (b != 1))
    assert exists((b == 1) | (Param("a") == "off"))
    assert exists(~((b == 1) & (Param("a") == "on")))
    assert not exists(b.exists())
    assert exists(~b.exists())


def test_a_child_of_an_absent_parent_is_absent():
    space = Space(
        {"a": Integer(1, 3), "b": Integer(1, 3), "c": Integer(1, Param("b"))},
        conditions={"b": Param("a") == 3},
    )
    assert space.check({"a": 1}) == {"a": 1}
    with pytest.raises(CandidateError, match="its bounds need b"):
        space.check({"a": 1, "c": 1})
    assert space.size == 2 + 1 + 2 + 3


def test_bounds_depend_on_other_parameters():
    space = Space({"low": Integer(1, 5), "high": Integer(2 * Param("low"), 6)})
    assert space.size == 5 + 3 + 1
    configs = space.sample(50, seed=0)
    assert len(configs) == 9
    assert all(2 * c["low"] <= c["high"] <= 6 for c in configs)
    with pytest.raises(CandidateError, match="no value for 'high': its range has its low above"):
        space.check({"low": 4, "high": 6})


def test_bounds_that_never_leave_a_value_are_refused():
    with pytest.raises(SettingError, match="high: no value is possible"):
        Space({"low": Integer(4, 5), "high": Integer(2 * Param("low"), 6)})
    with pytest.raises(SettingError, match="y: no value is possible"):
        Space({"x": Real(-2, -1), "y": Real(Param("x"), 1, log=True)})


def test_expressions_can_be_read():
    condition = ((Param("n") + 1 > 3) & ~(Param("algo") == "as")) | Param("x").exists()
    assert str(condition) == "(((n + 1) > 3) and (not (algo == 'as'))) or (x exists)"
    assert str(least(Param("n"), -Param("x"))) == "min(n, -x)"
    assert str(Param("algo").is_in(["as", "acs"])) == "algo in ['as', 'acs']"


@pytest.mark.parametrize(
    ("base", "exponent", "value"),
    [
        (101, 765, math.inf),
        (-101, 765, -math.inf),
        (-101, 764, math.inf),
        (1e300, 2.5, math.inf),
        (10**300, 2, math.inf),
        (0, -1, math.inf),  # as 1 / 0
        (101, -765, 0.0),
        (0, 0, 1.0),
    ],
)
def test_a_power_that_overflows_is_infinite(base, exponent, value):
    assert (Param("a") ** Param("b")).value({"a": base, "b": exponent}) == value


def test_arithmetic_that_fails_is_unknown():
    for operation, numbers in (("%%", (1, 0)), ("^", (-1, 0.5)), ("round", (1e308 * 10,))):
        term = Arithmetic(operation, tuple(map(Literal, numbers)))
        assert not isinstance(term.value({}), int | float)
    assert not isinstance((Param("a") + 1).value({"a": "text"}), int | float)


P = Param


@pytest.mark.parametrize(
    ("condition", "never"),
    [
        *[(P("n") > 9, True), (P("n") >= 9, False), (P("n") < 1, True), (P("n") == 2.5, True)],
        *[(P("n").is_in([10, 11]), True), (~(P("n") <= 9), True), (P("big") > 10**6, True)],
        *[(P("big") == 10**6, False), (P("x") > 1, True), (P("x") > 0.999, False)],
        *[((P("x") > 0.6) & (P("x") < 0.5), True), ((P("x") > 0.5) & (P("x") < 0.6), False)],
        *[(P("x") > P("y"), True), (P("y") > P("x") + 1.5, False), (P("x") + P("n") > 10, True)],
        *[(P("x") + P("n") > 9.9, False), (P("n") % 3 == 3, True), (P("n") % 3 == 2, False)],
        *[(P("x") * P("x") == 0.25, False), ((P("x") - P("n") == -1.5), False)],
        *[((P("a") == "s") & (P("only_t") == 1), True), ((P("a") == "t") & (P("n") > 9), True)],
        *[((P("a") == "t") & (P("only_t") == 1), False), ((P("n") > 9) | (P("n") < 0), True)],
    ],
    ids=str,
)
def test_what_can_never_be_true_is_warned_of(condition, never):
    parameters = {
        "n": Integer(1, 9),
        "big": Integer(1, 10**6),
        "x": Real(0, 1),
        "y": Real(2, 3),
        "a": Categorical(["s", "t"]),
        "only_t": Integer(0, 1),
        "child": Integer(0, 1),
    }
    above = {"only_t": {"a": "t"}}
    for conditions, forbidden in (({**above, "child": condition}, []), (above, [condition])):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            Space(parameters, conditions=conditions, forbidden=forbidden)
        assert [
            ": it never exists" in str(c.message) or "nothing" in str(c.message) for c in caught
        ] == ([True] if never else [])
