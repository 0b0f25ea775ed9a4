"""Pacing of calls to a server: a rate limit, back-off, and the errors that ask for it."""

from __future__ import annotations

import math
import random
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Literal

from racer._checks import is_real, is_whole
from racer.errors import ObjectiveError, SettingError
from racer.evaluate.objective import (
    Around,
    WithFidelity,
    check_objective,
    is_coroutine_function,
    seeded,
)

if TYPE_CHECKING:
    from racer.evaluate.objective import Objective

__all__ = ["Throttled"]

_JITTER = random.Random()  # noqa: S311  (changes no result)
_UNITS = 0.01, 1.0  # least and largest unit of back-off, which is the mean length of a call
_SHORTEST_GAP = 1e-4
# Factors of the gap between calls. Where no pause is named, they balance when
# log(1.01) / log(1.01 * 1.1) = 9.5 % of the calls are refused
_SLOWER, _FASTER, _AFTER_PAUSE = 1.1, 1.01, 2.0

Trouble = Literal["refused", "timeout"]


@dataclass(frozen=True)
class Throttled:
    """A coroutine function as objective, called at a limited rate.

    Parameters
    ----------
    evaluate : coroutine function
        ``async def evaluate(config, instance, seed)``, as in `racer.race`.
    calls_per_minute : float
        Calls begin at even intervals. Calls that are repeated after a refusal count as well.

    Examples
    --------
    >>> import racer
    >>> async def evaluate(config, instance, seed):
    ...     return abs(config - 3) + seed % 2
    >>> throttled = racer.Throttled(evaluate, calls_per_minute=60_000)
    >>> racer.race(range(6), throttled, budget=60, seed=1, n_jobs=4).best
    3
    """

    evaluate: Objective
    _: KW_ONLY
    calls_per_minute: float

    def __post_init__(self) -> None:
        check_objective(self.evaluate)
        if not is_coroutine_function(self.evaluate):
            raise ObjectiveError(
                "racer.Throttled spaces the calls of coroutines: write evaluate as async def, or "
                "give it without a limit"
            )
        rate = self.calls_per_minute
        if not is_real(rate) or not 0.0 < rate < math.inf:
            raise SettingError(f"calls_per_minute={rate!r}: give a number > 0")

    async def __call__(self, config: Any, instance: Any, seed: int) -> Any:
        """Evaluate; it is the workers of a race that wait between calls."""
        return await seeded(self.evaluate)(config, instance, seed)


class Pace:
    """When the next call may begin, for all calls together; times are in seconds of one clock.

    A refusal widens the gap between calls by a tenth, an accepted call narrows it by a hundredth,
    down to the rate limit's gap. Where the server names a time to wait, all calls pause, and the
    gap is doubled: once for all calls that had begun by then.
    """

    def __init__(self, calls_per_minute: float | None, now: float) -> None:
        self._least = self._gap = 60.0 / calls_per_minute if calls_per_minute else 0.0
        self._next = now
        self._paused_at = -math.inf
        self._unit = _UNITS[1]
        self.refused_since: float = math.inf  # by every call; inf if the last one was accepted

    def wait(self, now: float) -> float:
        """Return the seconds until the next call may begin; none are left if it is not positive."""
        return self._next - now

    def begin(self, now: float) -> None:
        """Register the beginning of a call."""
        # timers are coarse: 0.01 s of a late beginning are made up for
        self._next = max(self._next, now - 0.01) + self._gap

    def refuse(self, begun: float, now: float, pause: float) -> None:
        """Register the refusal of a call, and the pause that the server names, or 0."""
        slower = _SLOWER
        if pause:
            slower = _AFTER_PAUSE if begun >= self._paused_at else 1.0
            self._paused_at = now
        wider = min(max(self._gap, _SHORTEST_GAP) * slower, 10.0)
        self._gap = max(wider, self._least)
        self._next = max(self._next, now + pause)
        self.refused_since = min(self.refused_since, now)

    def accept(self, seconds: float) -> None:
        """Register a call that was not refused, and how long it took."""
        self._unit += 0.1 * (min(max(seconds, _UNITS[0]), _UNITS[1]) - self._unit)
        self.refused_since = math.inf
        narrower = self._gap / _FASTER
        self._gap = max(narrower if narrower > _SHORTEST_GAP else 0.0, self._least)

    def backoff(self, tries: int, pause: float) -> float:
        """Return the seconds before the next try of a call: exponential with jitter, or the pause.

        The first is as long as one or two calls that are accepted, and at most two seconds.
        """
        longest = min(self._unit * 2.0**tries, 60.0)
        return max(_JITTER.uniform(0.5, 1.0) * longest, pause)


def trouble_of(error: BaseException | None) -> Trouble | None:
    """Return whether an error means a busy server, or a timeout; None for others."""
    status = None if error is None else _status(error)
    if status in (429, 503, 529):
        return "refused"
    named = any("Timeout" in kind.__name__ for kind in type(error).__mro__)
    return "timeout" if status in (408, 504) or named else None


def _status(error: BaseException) -> int | None:
    """Return the HTTP status that an error carries, as clients of most kinds name it."""
    with suppress(Exception):  # a property may raise anything
        response = getattr(error, "response", None)
        for holder in (error, response):
            for name in ("status", "status_code", "code"):
                value: Any = getattr(holder, name, None)
                if is_whole(value):
                    return int(value)
    return None


def pause_of(error: BaseException | None) -> float:
    """Return the seconds that a server asks to wait; 0 if it names none."""
    seconds: Any = getattr(error, "retry_after", None)
    with suppress(Exception):  # a header may be anything
        if not is_real(seconds):
            seconds = _header_of(error)
        if seconds >= 0.0:
            # whatever a server asks for
            return float(min(seconds, 300.0))
    return 0.0


def _header_of(error: Any) -> float:
    """Return the Retry-After header: seconds, or the time from Date to a date."""
    holder = error if hasattr(error, "headers") else error.response
    headers = {str(name).lower(): value for name, value in holder.headers.items()}
    asked = headers["retry-after"]
    try:
        return float(asked)
    except ValueError:
        from email.utils import parsedate_to_datetime  # noqa: PLC0415  (rarely needed)

        until, now = (parsedate_to_datetime(text) for text in (asked, headers["date"]))
        return (until - now).total_seconds()


def own_objective(evaluate: Any) -> Any:
    """Return the user's own objective, out of what racer has put around it."""
    while isinstance(evaluate, Throttled | WithFidelity | Around):
        if isinstance(evaluate, Throttled):
            evaluate = evaluate.evaluate
        else:
            evaluate = evaluate.args[0] if isinstance(evaluate, Around) else evaluate.func
    return evaluate
