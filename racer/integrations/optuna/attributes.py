"""User attributes in which racer records races: any writer to the storage may have changed them."""

from __future__ import annotations

import math
import reprlib
from typing import TYPE_CHECKING, Any, get_args

from racer._checks import is_real, is_whole
from racer.core.objective import Aim
from racer.errors import RacerError, StoreError
from racer.evaluate.outcome import Status

if TYPE_CHECKING:
    from collections.abc import Callable

    from optuna.study import Study
    from optuna.trial import FrozenTrial

# of a study
SETTINGS = "racer:race_study"
DRIVER = "racer:driver"
ASKED = "racer:asked"  # before the last ask: how many trials were in races, and which were bare
ENDED = "racer:sampler_ended"  # the sampler that has ended the study, and within what budget
# of a trial
RACE = "racer:race"
MEAN_STEP = "racer:mean_step"  # the step at which the mean is reported
FAILED = "racer:failed:"
VALUES = "racer:values:"


def _is_count(value: Any) -> bool:
    return is_whole(value) and 0 <= value < 2**63


def _are(value: Any, *checks: Callable[[Any], bool]) -> bool:
    """Return True for a list with a value for each of these checks."""
    is_list = isinstance(value, list) and len(value) == len(checks)
    return is_list and all(check(one) for check, one in zip(checks, value, strict=True))


def _are_counts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_count, value))


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _are_settings(value: Any) -> bool:
    if not isinstance(value, dict) or not _is_count(value.get("seed")):
        return False
    if "metrics" in value:
        try:
            Aim.of(dict(value["metrics"]), value.get("objective"))
        except (RacerError, TypeError, ValueError, AttributeError, KeyError):
            return False
    return _are(value.get("instances"), _is_count, _is_count)


def _are_metrics(value: Any) -> bool:
    return isinstance(value, dict) and all(is_real(v) and math.isfinite(v) for v in value.values())


_CHECKS: dict[str, Callable[[Any], bool]] = {
    SETTINGS: _are_settings,
    DRIVER: _is_text,
    ASKED: lambda value: value is None or _are(value, _is_count, _are_counts),
    ENDED: lambda value: _are(value, _is_text, _is_count),
    RACE: _is_count,
    MEAN_STEP: _is_count,
    FAILED: lambda value: _are(value, {*get_args(Status)[1:-1]}.__contains__, _is_text),
    VALUES: _are_metrics,
}


def recorded(holder: Study | FrozenTrial, name: str, default: Any = None) -> Any:
    """Return racer's record in a study or a trial; StoreError for values that it never writes."""
    attributes = holder.user_attrs
    if name not in attributes:
        return default
    return checked(holder, name, attributes[name])


def recorded_by_block(trial: FrozenTrial, prefix: str) -> dict[int, Any]:
    """Return the attributes of a trial that have a block after this prefix."""
    found = {}
    for name, value in trial.user_attrs.items():
        block = name.removeprefix(prefix)
        if block != name:
            is_block = block.isascii() and block.isdecimal() and len(block) < 10
            found[int(block) if is_block else -1] = checked(trial, name, value, is_sound=is_block)
    return found


def checked(holder: Study | FrozenTrial, name: str, value: Any, *, is_sound: bool = True) -> Any:
    """Return the value of an attribute; StoreError unless racer may have written it."""
    check = next(check for begin, check in _CHECKS.items() if name.startswith(begin))
    try:
        is_sound = is_sound and check(value)
    except TypeError:  # an unhashable status
        is_sound = False
    if is_sound:
        return value
    number = getattr(holder, "number", None)
    where = "the study" if number is None else f"trial {number}"
    raise StoreError(
        f"{where} has the user attribute {name!r} = {reprlib.repr(value)}, which racer never "
        "writes: take back what has changed it, or give a new study"
    )
