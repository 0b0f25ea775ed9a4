"""Every error racer raises: what is wrong, where, and what to do about it."""

from __future__ import annotations

from typing import Any

__all__ = [
    "BudgetError",
    "CandidateError",
    "ObjectiveError",
    "RaceInterrupted",
    "RaceStateError",
    "RacerError",
    "RacerWarning",
    "ScoresError",
    "SettingError",
]


class RacerError(Exception):
    """Base of all errors raised by racer."""


class SettingError(RacerError, ValueError):
    """A setting has a value that cannot work."""


class CandidateError(RacerError, ValueError):
    """The candidates or the instances cannot be raced."""


class BudgetError(RacerError, ValueError):
    """The budget cannot pay for what was asked."""


class ObjectiveError(RacerError, TypeError):
    """`evaluate` cannot be called, or cannot be sent to worker processes."""


class ScoresError(RacerError, ValueError):
    """A table of scores cannot be analysed."""


class RaceStateError(RacerError, RuntimeError):
    """A race was told something that it had not asked for."""


class RaceInterrupted(KeyboardInterrupt):
    """Ctrl-C stopped a race; `result` holds what is known, with `ended` "interrupted"."""

    def __init__(self, result: Any) -> None:
        super().__init__(
            f"the race was interrupted after {result.evaluations} evaluations (seed "
            f"{result.seed}); this error's .result holds what is known so far"
        )
        self.result = result


class RacerWarning(UserWarning):
    """A race went on, but something in it deserves a look."""
