"""Every error racer raises: what is wrong, where, and what to do about it."""

from __future__ import annotations

import sys
import warnings
from typing import Any

__all__ = [
    "BudgetError",
    "CandidateError",
    "MissingExtraError",
    "ObjectiveError",
    "RaceInterrupted",
    "RaceStateError",
    "RacerError",
    "RacerWarning",
    "ScoresError",
    "SettingError",
    "SpaceFileError",
    "StoreError",
]


class RacerError(Exception):
    """Base of all errors raised by racer."""


class SettingError(RacerError, ValueError):
    """A setting has a value that cannot work."""


class SpaceFileError(SettingError):
    """A parameter file cannot be read; `line` and `column` count from 1, None for the file."""

    def __init__(
        self,
        message: str,
        source: str = "parameters",
        line: int | None = None,
        column: int | None = None,
        text: str = "",
    ) -> None:
        where = source if line is None else f"{source}, line {line}, column {column}"
        shown = f"\n    {text}\n    {' ' * ((column or 1) - 1)}^" if text else ""
        super().__init__(f"{where}: {message}{shown}")
        self.line = line
        self.column = column


class CandidateError(RacerError, ValueError):
    """The candidates or the instances cannot be raced."""


class MissingExtraError(RacerError, ImportError):
    """Something asked for needs a package that is not installed; the message names the extra."""


class BudgetError(RacerError, ValueError):
    """The budget cannot pay for what was asked."""


class ObjectiveError(RacerError, TypeError):
    """`evaluate` cannot be called, or cannot be sent to worker processes."""


class ScoresError(RacerError, ValueError):
    """A table of scores cannot be analysed."""


class RaceStateError(RacerError, RuntimeError):
    """A race was told something that it had not asked for."""


class StoreError(RacerError, RuntimeError):
    """A store cannot be opened, read or written, or holds another race than the one asked for."""


class RaceInterrupted(KeyboardInterrupt):
    """A signal stopped a race; `result` holds what is known, with `ended` "interrupted".

    With a store, `code` is the exit code that a script ends with if it does not catch this: 130
    after Ctrl-C, 143 after SIGTERM, 129 after SIGHUP.
    """

    def __init__(self, result: Any, *, kept: str = "", code: int = 130) -> None:
        super().__init__(
            f"the race was interrupted after {result.evaluations} evaluations (seed "
            f"{result.seed}); " + (kept or "this error's .result holds what is known so far")
        )
        self.result = result
        self.kept = kept
        self.code = code

    def _render_traceback_(self) -> list[str]:
        """Return what a notebook shows instead of a traceback."""
        return [f"{type(self).__name__}: {self}", "", repr(self.result)]


class RacerWarning(UserWarning):
    """A race went on, but something in it deserves a look."""


def warn(message: str) -> None:
    """Give a RacerWarning at the line that called racer, however deep in it this is."""
    level, depth, frame = 2, 2, sys._getframe(1)  # noqa: SLF001
    while (caller := frame.f_back) is not None:
        depth += 1
        if frame.f_globals.get("__name__", "").partition(".")[0] == "racer":
            level = depth
        frame = caller
    warnings.warn(message, RacerWarning, stacklevel=level)
