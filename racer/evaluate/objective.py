"""Calling `evaluate` for one cell, so that nothing it does can end the race."""

from __future__ import annotations

import inspect
import math
import random
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from racer.errors import ObjectiveError
from racer.evaluate.cell import Cell, Outcome

if TYPE_CHECKING:
    from racer.evaluate.cell import Status

__all__ = ["Objective", "check_objective", "evaluate_cell"]

Objective = Callable[[Any, Any, int], Any]

_LONGEST_MESSAGE = 2000


def check_objective(evaluate: object) -> None:
    """Raise ObjectiveError unless `evaluate` can be called as evaluate(config, instance, seed)."""
    if not callable(evaluate):
        raise ObjectiveError(
            f"evaluate is a {type(evaluate).__name__}, not a function: "
            "give evaluate(config, instance, seed) -> float"
        )
    try:
        signature = inspect.signature(evaluate)
    except (TypeError, ValueError):  # some builtins have none
        return
    try:
        signature.bind(None, None, 0)
    except TypeError as error:
        raise ObjectiveError(
            f"evaluate{signature} cannot be called as evaluate(config, instance, seed): {error}"
        ) from None


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST_MESSAGE else text[:_LONGEST_MESSAGE] + " .."


def describe(error: BaseException) -> str:
    """Return type and message of an error, cut to a length that can be kept."""
    try:
        return _shorten(f"{type(error).__name__}: {error}")
    except Exception:  # noqa: BLE001  (its __str__ raises)
        return type(error).__name__


def _judge(answer: Any) -> tuple[Status, float | None, str]:
    """Accept finite numbers only."""
    if type(answer) is float and math.isfinite(answer):
        return "ok", answer, ""
    if isinstance(answer, bool | np.bool_ | str | bytes) or getattr(answer, "ndim", 0) != 0:
        return "invalid", None, f"returned a {type(answer).__name__}, not a number"
    try:
        value = float(answer)
    except Exception as error:  # noqa: BLE001  (a __float__ of the user's may raise anything)
        kind = type(answer).__name__
        return "invalid", None, f"returned a {kind}, not a number ({describe(error)})"
    if not math.isfinite(value):
        return "invalid", None, f"returned {value}, not a finite number"
    return "ok", value, ""


def evaluate_cell(
    evaluate: Objective, cell: Cell, *, retries: int = 0, reraise_interrupt: bool = False
) -> Outcome:
    """Evaluate one cell, again up to `retries` times while it fails.

    The legacy generators `random` and `np.random` are seeded with the cell's seed before each
    attempt, so that the outcome does not depend on what ran before.

    Parameters
    ----------
    evaluate : callable
        evaluate(config, instance, seed) -> float.
    cell : Cell
    retries : int
    reraise_interrupt : bool
        Let KeyboardInterrupt through: in the user's own process it is Ctrl-C.

    Returns
    -------
    Outcome
        Of the last attempt; never raises for what `evaluate` does.
    """
    seconds = 0.0
    for attempt in range(retries + 1):
        random.seed(cell.seed)
        np.random.seed(cell.seed)  # noqa: NPY002  (for objectives that use the legacy generator)
        start = time.perf_counter()
        try:
            status, value, message = _judge(evaluate(cell.config, cell.instance, cell.seed))
        except BaseException as error:
            if reraise_interrupt and isinstance(error, KeyboardInterrupt):
                raise
            status, value, message = "failed", None, describe(error)
        seconds += time.perf_counter() - start
        if status == "ok" or attempt == retries:
            break
    return Outcome(status, value, seconds, message)
