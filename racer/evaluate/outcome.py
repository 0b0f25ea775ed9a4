"""A cell (one candidate on one block) and its outcome."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from racer._checks import is_real
from racer.errors import RaceStateError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Cell", "Outcome", "Status", "all_failed", "bounded", "check_outcome"]

CellKey = tuple[bool, int, int] | tuple[bool, int, int, float]  # see `Cell.key`
Status = Literal["ok", "failed", "invalid", "timeout", "memory", "killed", "rejected", "capped"]


@dataclass(frozen=True, slots=True)
class Cell:
    """One evaluation to be made: all that `evaluate` needs to know.

    Attributes
    ----------
    block, candidate : int
        Held-out instances have blocks of their own, also from 0.
    config, instance : object
    seed : int
    held_out : bool
        The instance is held out: the outcome decides nothing.
    instance_index : int or None
        Which of the instances, or of the held-out ones, it is; None without instances.
    bound : float or None
        Where the cost is run time: the seconds after which the evaluation is stopped.
    metrics : tuple of str, optional
        The metrics that `evaluate` returns by name; the first of them is `Outcome.value`. None: it
        returns one number.
    fidelity : float, optional
        The value of the tuning's `racer.Fidelity` for a cheap evaluation. None: a full one.

    Examples
    --------
    >>> import racer
    >>> race = racer.Race([{"x": 1}, {"x": 2}], ["easy", "hard"], budget=60, seed=1)
    >>> cell = race.ask()[1]
    >>> cell.block, cell.candidate, cell.config, cell.instance
    (0, 1, {'x': 2}, 'easy')
    """

    block: int
    candidate: int
    config: Any
    instance: Any
    seed: int
    _: KW_ONLY
    held_out: bool = False
    instance_index: int | None = None
    bound: float | None = None
    metrics: tuple[str, ...] | None = None
    fidelity: float | None = None

    @property
    def key(self) -> CellKey:
        """Its identity in a race or a tuning: (held_out, block, candidate), and a fidelity if cheap."""
        full = self.held_out, self.block, self.candidate
        return full if self.fidelity is None else (*full, self.fidelity)

    @property
    def arguments(self) -> tuple[Any, ...]:
        """The positional arguments of `evaluate`."""
        full = self.config, self.instance, self.seed
        return full if self.fidelity is None else (*full, self.fidelity)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one evaluation.

    Attributes
    ----------
    status : {"ok", "failed", "invalid", "timeout", "memory", "killed", "rejected", "capped"}
        "failed": `evaluate` raised. "invalid": it returned something that is not a finite
        number. "timeout", "memory": it took more than it was allowed, or there was no more
        memory. "killed": its process died. "rejected": the program wants no more of this
        configuration, which is eliminated at once. "capped": the cost is run time, and it was
        stopped at the bound.
    value : float or None
        Value of `evaluate`, in the user's direction: of several metrics the objective's
        first, of a capped run the bound. None unless the status is "ok" or "capped".
    seconds : float
        Wall time of the evaluation, retries included; where the cost is run time, that.
    message : str
        Why, unless the status is "ok".
    attempts : int
        Attempts made: more than 1 after retries.
    worker : str
        The process that evaluated it, as host:pid; "" if that is not known.
    metrics : mapping of str to float, optional
        All metrics by name, in the user's direction, where the race has several.
    spend : float, optional
        Cost of the evaluation in money, retries included; None if it is not known.

    Examples
    --------
    >>> import racer
    >>> race = racer.Race([1, 2], budget=60, seed=1)
    >>> first, second = race.ask()
    >>> race.tell(first, racer.Outcome("ok", 0.25))
    >>> race.tell(second, racer.Outcome("failed", None, message="no licence"))
    """

    status: Status
    value: float | None = None
    _: KW_ONLY
    seconds: float = 0.0
    message: str = ""
    attempts: int = 1
    worker: str = ""
    metrics: Mapping[str, float] | None = None
    spend: float | None = None


_STATUSES = get_args(Status)
_WITH_VALUE = ("ok", "capped")
_FLAGS = (bool, np.bool_)  # numbers to Python
MOST_SPEND = 1e300  # of an evaluation: sums of so much are finite


def all_failed(outcomes: Sequence[Outcome]) -> str:
    """Return a sentence: all of them failed, and the reason of the first."""
    first = next(iter(outcomes[0].message.splitlines()), "")
    # within a sentence
    return f"all {len(outcomes)} evaluations failed, the first with {first[:500]!r}"


def check_outcome(outcome: Outcome, names: Sequence[str] | None = None) -> None:
    """Raise RaceStateError unless this is an Outcome that a table can hold.

    `names` are the required metrics, for the message.
    """
    if isinstance(outcome, Outcome):
        value: Any = outcome.value
        message: Any = outcome.message
        attempts: Any = outcome.attempts
        status, seconds = outcome.status, outcome.seconds
        try:
            sound = math.isfinite(value) if status in _WITH_VALUE else value is None
            if (
                sound
                and not isinstance(value, _FLAGS)
                and status in _STATUSES
                and 0.0 <= seconds < math.inf
                and (
                    outcome.metrics is None or (value is not None and _are_metrics(outcome.metrics))
                )
                and (outcome.spend is None or 0.0 <= outcome.spend <= MOST_SPEND)
                and isinstance(attempts, int)
                and attempts >= 1
                and isinstance(message, str)
                and (names is None or value is None or _are_of(outcome.metrics, names, value))
            ):
                return
        except (TypeError, OverflowError):
            pass
    wanted = "value" if names is None else f"value, {metrics_wanted(names)}"
    raise RaceStateError(
        f"{outcome!r} was told: give racer.Outcome('ok', {wanted}) with a finite number"
        f"{'' if names is None else f' each, that of {names[0]!r} as the value'}, or "
        "racer.Outcome('failed', None, message=..)"
    )


def metrics_wanted(names: Sequence[str]) -> str:
    """Return the argument of an outcome that holds these metrics, in words."""
    return f"metrics={{{', '.join(f'{name!r}: ..' for name in names)}}}"


def _are_metrics(metrics: Any) -> bool:
    """Return True if this maps names to numbers."""
    return isinstance(metrics, Mapping) and all(
        isinstance(name, str) and is_real(value) and math.isfinite(value)
        for name, value in metrics.items()
    )


def _are_of(metrics: Mapping[str, float] | None, names: Sequence[str], value: float) -> bool:
    """Return True if all these metrics are there, and the value is the first of them."""
    known = metrics or {}
    return all(name in known for name in names) and known[names[0]] == value


def bounded(outcome: Outcome, bound: float | None) -> Outcome | None:
    """Return an outcome as it is under a bound (seconds); None if it was capped at less than that.

    So an outcome under a larger bound is valid under every smaller one. A run as long as the
    bound has reached it.
    """
    status, value = outcome.status, outcome.value
    if bound is None or status == "rejected":
        return outcome
    if status == "capped" and value is not None and value < bound:
        return None
    took = outcome.seconds if value is None else value
    if took < bound:
        return outcome
    seconds = bound if took == outcome.seconds else outcome.seconds * (bound / took)
    return replace(outcome, status="capped", value=bound, seconds=seconds, message="")
