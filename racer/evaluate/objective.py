"""Checks of `evaluate`, and the status of its return value or exception."""

from __future__ import annotations

import functools
import inspect
import math
import re
import reprlib
import sysconfig
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import cloudpickle
import numpy as np

from racer._checks import with_article
from racer.errors import ObjectiveError
from racer.evaluate.outcome import MOST_SPEND

if TYPE_CHECKING:
    from racer.evaluate.fidelity import Fidelity
    from racer.evaluate.outcome import Outcome, Status


class Misbehaved(Exception):  # noqa: N818  (it is what an evaluation did)
    """An objective's own verdict on a failed evaluation: status and complete message."""

    def __init__(self, status: Status, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


Objective = Callable[[Any, Any, int], Any] | Callable[[Any, Any], Any]

_LONGEST_MESSAGE = 2000
_SEEDS = {"seed", "random_seed", "random_state", "rng"}  # no names of an instance
# some of these have a __float__ all the same
_NOT_NUMBERS = (bool, np.bool_, complex, np.complexfloating, str, bytes, bytearray, memoryview)


_GENERATORS: dict[Callable[[Any], bool], str] = {
    inspect.isasyncgenfunction: "an async generator",
    inspect.isgeneratorfunction: "a generator",
}


@dataclass(frozen=True)
class Unseeded:
    """An objective of a configuration and an instance, called with a seed as well."""

    evaluate: Callable[..., Any]

    def __call__(self, config: Any, instance: Any, seed: int, **more: Any) -> Any:  # noqa: ARG002
        """Call it without the seed."""
        return self.evaluate(config, instance, **more)


@dataclass(frozen=True)
class WithFidelity:
    """An objective with a fidelity as its fourth argument, by default the value `full`."""

    func: Callable[..., Any]
    full: float

    def __call__(self, config: Any, instance: Any, seed: int, fidelity: float | None = None) -> Any:
        """Call it at a fidelity."""
        return self.func(config, instance, seed, self.full if fidelity is None else fidelity)


class Around(functools.partial[Any]):
    """An objective of racer's around the user's own, its first argument."""


def seeded(evaluate: Any) -> Any:
    """Return an objective that can be called with a seed; wrap it to drop the seed if need be."""
    try:
        signature = inspect.signature(evaluate)
        signature.bind(None, None)
    except (TypeError, ValueError):  # also of some builtins, which have no signature
        return evaluate
    try:
        signature.bind(None, None, 0)
    except TypeError:
        second = [*signature.parameters][1]
        if second not in _SEEDS:
            return Unseeded(evaluate)
    return evaluate


def takes_bound(evaluate: Callable[..., Any]) -> bool:
    """Return True if a function has a parameter `bound`, or takes any keyword."""
    try:
        function = evaluate.evaluate if isinstance(evaluate, Unseeded) else evaluate
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # some builtins have none
        return False
    any_keyword = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    bound = parameters.get("bound")
    return any_keyword or (bound is not None and bound.kind is not bound.POSITIONAL_ONLY)


def is_coroutine_function(evaluate: object) -> bool:
    """Return True for an async function, an object whose __call__ is one, and a partial of either."""
    while isinstance(evaluate, functools.partial | WithFidelity):
        evaluate = evaluate.func
    called = getattr(type(evaluate), "__call__", None)  # noqa: B004  (of the class, not callable())
    return inspect.iscoroutinefunction(evaluate) or inspect.iscoroutinefunction(called)


def generator_kind(function: object) -> str | None:
    """Return the kind of generator that a function is, or that its class calls; None for others."""
    while isinstance(function, functools.partial):
        function = function.func
    called: Any = getattr(type(function), "__call__", None)  # noqa: B004  (of the class)
    for is_one, kind in _GENERATORS.items():
        if is_one(function) or is_one(called):
            return kind
    return None


def check_objective(
    evaluate: object, *, timed: bool = False, fidelity: Fidelity | None = None
) -> None:
    """Raise ObjectiveError unless evaluate(config, instance, seed) can be called.

    `timed`: with the keyword `bound`; with a fidelity, as a fourth argument.
    """
    if not callable(evaluate):
        raise ObjectiveError(
            f"evaluate is {with_article(evaluate)}, not a function: "
            "give evaluate(config, instance, seed) -> float"
        )
    if inspect.isclass(evaluate):
        raise ObjectiveError(
            f"evaluate is the class {evaluate.__qualname__}: give an instance of it that can be "
            "called, or a function"
        )
    if (kind := generator_kind(evaluate)) is not None:
        raise ObjectiveError(
            f"evaluate is {kind}, which returns no number when it is called: give a function "
            "that does, plain or async"
        )
    if timed and is_coroutine_function(evaluate):
        raise ObjectiveError(
            "evaluate is a coroutine function, and goal=Runtime(..) needs a process for each "
            "evaluation: give a plain function, or another goal"
        )
    more = {"bound": 1.0} if timed and takes_bound(evaluate) else {}
    last = f", {fidelity.name}" if fidelity is not None else ", bound=.." if more else ""
    call = f"evaluate(config, instance, seed{last})"
    given, n = (seeded(evaluate), 3) if fidelity is None else (evaluate, 4)
    if why := misfit(given, call, n, **more):
        raise ObjectiveError(why)


def misfit(function: Callable[..., Any], call: str, n: int, **more: float) -> str:
    """Return why a function cannot be called with `n` arguments, as in `call`; "" if it can."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some builtins have none
        return ""
    try:
        signature.bind(*[None] * n, **more)
    except TypeError as error:
        takes, why = len(signature.parameters), str(error)
        if takes < n and not more:
            why = f"it takes too few arguments, {takes}"
        return f"{call.partition('(')[0]}{signature} cannot be called as {call}: {why}"
    return ""


@functools.cache
def _in_library(path: str) -> bool:
    """Return True if code belongs to Python, an installed package or racer."""
    homes = (sysconfig.get_path("stdlib"), __file__.rpartition("evaluate")[0], "<frozen ")
    installed = "site-packages" in path or "dist-packages" in path
    return path.startswith(homes) or installed or path.endswith((".pyx", ".pxd", ".pxi"))


def describe(error: BaseException, *, where: bool = False) -> str:
    """Return type and message of an error, cut; with `where`, the last line outside libraries."""
    place = ""
    if where and (called := [*traceback.walk_tb(error.__traceback__)]):
        own = [step for step in called if not _in_library(step[0].f_code.co_filename)]
        frame, line = (own or called)[-1]
        place = f" (in {frame.f_code.co_name}, {frame.f_code.co_filename}:{line})"
    try:
        text = f"{type(error).__name__}: {error}"
        if len(text) > _LONGEST_MESSAGE:
            text = text[:_LONGEST_MESSAGE] + " .."
    except BaseException:  # noqa: BLE001  (its __str__ may raise anything, SystemExit too)
        text = type(error).__name__
    return (
        (text + place).encode("utf-8", "backslashreplace").decode("utf-8")
    )  # half a surrogate pair


_RAISED = re.compile(r"(\w+)(?::.*)? \(in (.*, .*:\d+)\)", re.DOTALL)


def raised_by(message: str) -> tuple[str, str] | None:
    """Return type and place of the error in the message of a failure; None for other failures."""
    found = _RAISED.fullmatch(message)
    return (found[1], found[2].rpartition(" (in ")[2]) if found else None


def judge_error(error: BaseException) -> tuple[Status, None, str]:
    """Return status, value and message for an exception of `evaluate`."""
    if isinstance(error, Misbehaved):
        return error.status, None, error.message
    status: Status = "memory" if isinstance(error, MemoryError) else "failed"
    return status, None, describe(error, where=True)


class Measured(NamedTuple):
    """Return value of racer's own objectives that need a message beside the number."""

    status: Status
    value: float | None
    message: str


def judge(answer: Any) -> tuple[Status, float | None, str]:
    """Return status, value and message for a return value of `evaluate`: finite numbers are ok."""
    if type(answer) is float and math.isfinite(answer):
        return "ok", answer, ""
    if isinstance(answer, Measured):
        return answer
    if isinstance(answer, Mapping):
        first, *_ = names = [repr(name) for name in answer] or [""]
        what = f"{MAPPING}, {', '.join(names)}: give goal={{{first}: 'min'}}, or 'max', or several"
        return "invalid", None, what if answer else "returned a mapping without a number"
    if isinstance(answer, np.ndarray) and answer.ndim == 0:
        answer = answer[()]
    if isinstance(answer, _NOT_NUMBERS) or getattr(answer, "ndim", 0) != 0:
        return "invalid", None, f"returned {with_article(answer)}, not a number{_shown(answer)}"
    try:
        value = float(answer)
    except Exception as error:  # noqa: BLE001  (a __float__ of the user's may raise anything)
        hint = _shown(answer) or f" ({describe(error)})"
        if answer is None:
            hint = ": is a return missing?"
        if inspect.iscoroutine(answer):
            answer.close()  # or it would warn of not being awaited
            hint = ": write async def, or await it"
        return "invalid", None, f"returned {with_article(answer)}, not a number{hint}"
    message = "" if math.isfinite(value) else f"returned {value}, not a finite number"
    return ("invalid", None, message) if message else ("ok", value, "")


def _shown(answer: Any) -> str:
    """Return the text of a value of a plain type, or the shape of an array."""
    if isinstance(answer, np.ndarray) and answer.ndim:
        return f": its shape is {answer.shape}"
    is_plain = type(answer) in {str, bytes, list, tuple, bool, complex}
    return f": {reprlib.repr(answer)}" if is_plain else ""


SPEND = "spend"
"""The reserved key of a mapping that `evaluate` returns: the price of the evaluation."""


def without_spend(answer: Mapping[Any, Any], metrics: object) -> tuple[Any, float | None]:
    """Return the value of `evaluate` and its spend, None if unknown; Misbehaved if not an amount.

    Without `metrics`, one number in the mapping is returned as that number.
    """
    spend = None
    if answer.get(SPEND) is not None:
        _, spend, message = judge(answer[SPEND])
        if spend is None or not 0.0 <= spend <= MOST_SPEND:
            than = "less than 0" if spend is None or spend < 0.0 else f"more than {MOST_SPEND:g}"
            why = message or f"returned {spend}, {than}"
            raise Misbehaved("invalid", f"{NO_MONEY}: {why}")
    rest = {name: value for name, value in answer.items() if name != SPEND}
    return (rest.popitem()[1] if metrics is None and len(rest) == 1 else rest), spend


MAPPING = "returned several metrics"
NO_MAPPING = "returned no mapping of metrics"
COROUTINE = "returned a coroutine"
NO_MONEY = f"gave a wrong {SPEND!r}"
USELESS = (MAPPING, NO_MAPPING, COROUTINE, NO_MONEY)
"""First words of messages about a wrong `evaluate` or `goal=`, for which a retry is useless."""


def check_useful(outcome: Outcome) -> None:
    """Raise ObjectiveError if an outcome shows that evaluate never returns a usable value."""
    if outcome.message.startswith(USELESS):
        raise ObjectiveError(
            f"evaluate {outcome.message}; nothing is recorded, and nothing else was evaluated"
        )


def is_no_number(outcome: Outcome) -> bool:
    """Return True if evaluate returned something of a wrong type, or not the metrics asked for."""
    message = outcome.message
    return outcome.status == "invalid" and (
        "not a number" in message or message.startswith(("returned no", "returned a mapping"))
    )


Judged = tuple["Status", float | None, str, dict[str, float] | None]


def judge_metrics(answer: Any, names: tuple[str, ...]) -> Judged:
    """Return status, value, message and metrics where `evaluate` returns metrics by name.

    The value is the first of `names`; further keys of the mapping are ignored.
    """
    if not isinstance(answer, Mapping):
        if inspect.iscoroutine(answer):
            return *judge(answer), None
        listed = ", ".join(f"{name!r}: .." for name in names)
        what = f"{NO_MAPPING} but {with_article(answer)}: return {{{listed}}}"
        return "invalid", None, what, None
    found = {}
    for name in names:
        if name not in answer:
            there = ", ".join(map(repr, answer)) or "nothing"
            return "invalid", None, f"returned no {name!r}, only {there}", None
        _, value, message = judge(answer[name])
        if value is None:
            return "invalid", None, f"metric {name!r}: {message}", None
        found[name] = value
    return "ok", found[names[0]], "", found


def judge_time(answer: Any, seconds: float) -> tuple[Status, float | None, str]:
    """Return status, value and message where the cost is run time, as returned or (None) measured."""
    if answer is None:
        return "ok", seconds, ""
    status, value, message = judge(answer)
    if value is not None and value < 0.0:
        return "invalid", None, f"returned {value}, which is no time"
    return status, value, message


class _Discard:
    """A file that discards its input."""

    def write(self, data: Any) -> int:
        return memoryview(data).nbytes


def check_picklable(item: Any, name: str) -> None:
    """Raise ObjectiveError unless `item` can be sent to a worker process."""
    try:
        cloudpickle.Pickler(_Discard(), protocol=5).dump(item)
    except Exception as error:  # noqa: BLE001  (a __reduce__ may raise anything)
        raise ObjectiveError(
            f"{name} cannot be sent to worker processes ({type(error).__name__}: {error}): make "
            "it picklable (open files, locks and connections inside evaluate), or use n_jobs=1"
        ) from None
