"""One cell: what `evaluate` may return, raise and look like."""

from __future__ import annotations

import colorsys
import functools
import random
import re
import warnings
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import racer
from racer import Cell, Integer, ObjectiveError, RacerError
from racer.evaluate import attempt, check_objective
from racer.evaluate.attempt import evaluate_cell
from racer.evaluate.workers import outcomes_of, workers_for

CELL = Cell(block=3, candidate=1, config={"x": 2}, instance="a", seed=12345)


class Number:
    """Anything with __float__ is a number."""

    def __init__(self, value):
        self.value = value

    def __repr__(self):
        return f"Number({self.value!r})"

    def __float__(self):
        if isinstance(self.value, BaseException):
            raise self.value
        return self.value


class MuteError(Exception):
    def __str__(self):
        raise RuntimeError("no message for you")


class LeavingError(Exception):
    def __str__(self):
        raise SystemExit(3)


def returning(answer):
    return lambda config, instance, seed: answer


def raising(error):
    def evaluate(config, instance, seed):
        raise error

    return evaluate


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        (1.5, 1.5),
        (-0.0, 0.0),
        (3, 3.0),
        (-(10**20), -1e20),
        (5e-324, 5e-324),
        (np.float32(0.5), 0.5),
        (np.uint64(2**63), 2.0**63),
        (np.array(2.5), 2.5),
        (Fraction(1, 4), 0.25),
        (Decimal("0.125"), 0.125),
        (Number(4.0), 4.0),
    ],
    ids=repr,
)
def test_finite_numbers_are_taken(answer, value):
    outcome = evaluate_cell(returning(answer), CELL)
    assert (outcome.status, outcome.value, outcome.message) == ("ok", value, "")
    assert type(outcome.value) is float


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        pytest.param(True, "returned a bool, not a number", id="bool"),
        pytest.param(np.False_, "returned a bool_?, not a number", id="numpy bool"),
        pytest.param(np.array(True), "not a number", id="bool array without axes"),
        pytest.param("1.5", "returned a str, not a number", id="str"),
        pytest.param(b"1.5", "returned a bytes, not a number", id="bytes"),
        pytest.param(None, "returned a NoneType, not a number", id="None"),
        pytest.param(1 + 0j, "returned a complex, not a number", id="complex"),
        pytest.param(float("nan"), "returned nan, not a finite number", id="nan"),
        pytest.param(Decimal("1e999"), "returned inf, not a finite number", id="huge decimal"),
        pytest.param(10**400, "returned an int, not a number.*OverflowError", id="huge int"),
        pytest.param(np.array([1.0]), "returned an ndarray, not a number", id="array of one"),
        pytest.param(pd.Series([1.0]), "returned a Series, not a number", id="series of one"),
        pytest.param([1.0], "returned a list, not a number", id="list"),
        pytest.param(
            {"cost": 1.0, "size": 2.0},
            r"returned several metrics, 'cost', 'size': give goal=\{'cost': 'min'\}",
            id="dict",
        ),
        pytest.param(Number("2"), "returned a Number, not a number", id="__float__ lies"),
        pytest.param(
            Number(ZeroDivisionError("oh")),
            r"returned a Number, not a number \(ZeroDivisionError: oh\)",
            id="__float__ raises",
        ),
    ],
)
def test_all_else_is_invalid_with_the_reason(answer, why):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numpy only warns when it turns 1j into 0.0
        outcome = evaluate_cell(returning(answer), CELL)
    assert (outcome.status, outcome.value) == ("invalid", None)
    assert re.search(why, outcome.message), outcome.message


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ValueError("too cold"), "ValueError: too cold"),
        (SystemExit(1), "SystemExit: 1"),
        (GeneratorExit(), "GeneratorExit: "),
        (KeyboardInterrupt(), "KeyboardInterrupt: "),
        (MuteError(), "MuteError"),
        (LeavingError(), "LeavingError"),
        (ExceptionGroup("two", [ValueError("a")]), "ExceptionGroup: two (1 sub-exception)"),
        (UserWarning("careful"), "UserWarning: careful"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_what_raises_has_failed(error, message):
    outcome = evaluate_cell(raising(error), CELL)
    assert (outcome.status, outcome.value) == ("failed", None)
    said, place = outcome.message.rsplit(" (in ", 1)
    assert said == message
    assert re.fullmatch(r"evaluate, .*test_objective\.py:\d+\)", place)


@pytest.mark.parametrize(
    ("evaluate", "place"),
    [
        (lambda *_: float(np.linalg.inv(np.zeros((2, 2)))[0, 0]), r"<lambda>, .*test_objective"),
        (lambda *_: np.random.default_rng(0).normal(0, -1), r"<lambda>, .*test_objective"),
        (lambda *_: Integer(5, 1).checked("x"), r"<lambda>, .*test_objective"),
        (colorsys.rgb_to_hsv, r"rgb_to_hsv, .*colorsys"),  # all is of libraries: the last line
    ],
    ids=["numpy", "compiled", "racer", "library"],
)
def test_the_line_named_is_the_users_and_not_that_of_a_library(evaluate, place):
    assert re.search(rf" \(in {place}\.py:\d+\)$", evaluate_cell(evaluate, CELL).message)


def test_what_finds_no_memory_has_said_so():
    outcome = evaluate_cell(raising(MemoryError("big")), CELL, retries=3)
    assert outcome.status == "memory"
    assert outcome.message.startswith("MemoryError: big (in evaluate, ")


def test_a_huge_message_is_cut():
    outcome = evaluate_cell(raising(ValueError("x" * 10_000_000)), CELL)
    assert outcome.status == "failed"
    assert outcome.message.startswith("ValueError: xxx")
    assert "x .. (in evaluate, " in outcome.message
    assert len(outcome.message) <= 2500


@pytest.mark.parametrize("retries", [0, 3])
def test_ctrl_c_comes_through_on_request_only(retries):
    more = {"retries": retries, "reraise_interrupt": True}
    with pytest.raises(KeyboardInterrupt):
        evaluate_cell(raising(KeyboardInterrupt()), CELL, **more)
    assert evaluate_cell(raising(ValueError()), CELL, **more).status == "failed"


@pytest.mark.parametrize(
    ("answers", "retries", "calls", "status"),
    [
        (["raise", 1.0], 0, 1, "failed"),
        (["raise", 1.0], 1, 2, "ok"),
        (["raise", None, 1.0], 5, 3, "ok"),
        ([1.0, "raise"], 5, 1, "ok"),
        (["raise", None, float("nan")], 2, 3, "invalid"),
        ([None, None, "raise"], 2, 3, "failed"),
    ],
)
def test_what_fails_is_tried_again_and_the_last_attempt_counts(answers, retries, calls, status):
    left = list(answers)

    def evaluate(config, instance, seed):
        answer = left.pop(0)
        if answer == "raise":
            raise ValueError
        return answer

    assert evaluate_cell(evaluate, CELL, retries=retries).status == status
    assert len(answers) - len(left) == calls


def test_the_seconds_of_all_attempts_are_added_up(monkeypatch):
    monkeypatch.setattr(attempt, "_clock", iter([0.0, 1.0, 10.0, 12.0, 20.0, 24.0]).__next__)
    assert evaluate_cell(raising(ValueError()), CELL, retries=2).seconds == 7.0


def test_the_legacy_generators_are_seeded_for_each_attempt():
    drawn = []

    def evaluate(config, instance, seed):
        drawn.append((random.random(), np.random.random()))  # noqa: NPY002
        raise ValueError

    before = random.getstate(), np.random.get_state()  # noqa: NPY002
    try:
        evaluate_cell(evaluate, CELL, retries=1)
        random.seed(99)
        np.random.seed(99)  # noqa: NPY002
        evaluate_cell(evaluate, CELL)
        evaluate_cell(evaluate, replace(CELL, seed=54321))
    finally:
        random.setstate(before[0])
        np.random.set_state(before[1])  # noqa: NPY002
    own = random.Random(CELL.seed).random(), np.random.RandomState(CELL.seed).random()
    assert drawn[:3] == [own] * 3
    assert drawn[3][0] != own[0]
    assert drawn[3][1] != own[1]


def without(config, seed):
    return 0.0


def four(config, instance, seed, bound):
    return 0.0


def named(*, config, instance, seed):
    return 0.0


@pytest.mark.parametrize(
    "evaluate", [without, four, named, lambda: 0.0, functools.partial(without, 1)]
)
def test_a_signature_that_does_not_fit_is_named(evaluate):
    with pytest.raises(
        ObjectiveError, match=r"^evaluate\(.*\) cannot be called as evaluate\(config, instance, see"
    ):
        check_objective(evaluate)


def of_two(config, instance, **bound):
    return config * instance + bound.get("bound", 0.0)


async def later(config, instance):
    return config * instance


@pytest.mark.parametrize(
    ("evaluate", "more"),
    [
        (of_two, {}),
        (lambda config, instance: config * instance, {"n_jobs": 2}),
        (of_two, {"limits": racer.Limits(60)}),
        (of_two, {"bound": 8.0}),
        (functools.partial(of_two, bound=0.0), {}),
        (later, {"n_jobs": 2}),
        (racer.Throttled(later, calls_per_minute=60_000), {}),
    ],
)
def test_a_function_of_a_configuration_and_an_instance_is_called_without_a_seed(evaluate, more):
    bound = more.pop("bound", None)
    workers = workers_for(evaluate, [2.0], [3.0], timed=bound is not None, **more)
    with workers:
        ((_, outcome),) = outcomes_of(workers, [Cell(0, 0, 2.0, 3.0, 1, bound=bound)])
    assert (outcome.status, outcome.value) == (("ok", 6.0) if bound is None else ("capped", 8.0))


@pytest.mark.parametrize("evaluate", [None, "evaluate", 3, [four]])
def test_what_cannot_be_called_is_named_with_what_to_give(evaluate):
    kind = type(evaluate).__name__
    with pytest.raises(
        ObjectiveError, match=f"is an? {kind}, not a function: give evaluate"
    ) as why:
        check_objective(evaluate)
    assert isinstance(why.value, TypeError)
    assert isinstance(why.value, RacerError)


class Callable3:
    def __call__(self, config, instance, seed):
        return 0.0

    def method(self, config, instance, seed, bound=None):
        return 0.0


@pytest.mark.parametrize(
    "evaluate",
    [
        lambda *anything: 0.0,
        lambda config, instance=None, seed=0, *, bound=None: 0.0,
        functools.partial(four, bound=1),
        Callable3(),
        Callable3().method,
        lambda config, instance, seed, /: 0.0,
        max,
    ],
)
def test_whatever_can_be_called_with_three_arguments_passes(evaluate):
    check_objective(evaluate)
