"""All errors of racer: each message has the cause, the place and the remedy."""

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


def _rebuilt(kind: type[Any], args: tuple[Any, ...], state: dict[str, Any]) -> Any:
    """Return a pickled error: its message is whole, and must not be composed again."""
    error: Any = BaseException.__new__(kind)
    error.args = args
    vars(error).update(state)
    return error


class RacerError(Exception):
    """Base of all errors raised by racer.

    `result` is the result before the error, in calls that document it; else None.

    Examples
    --------
    >>> import racer
    >>> try:
    ...     racer.race([1, 2], lambda config, instance, seed: config, budget=1)
    ... except racer.RacerError as error:
    ...     print(type(error).__name__)
    BudgetError
    """

    result: Any = None

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (type(self), self.args, vars(self))


class SettingError(RacerError, ValueError):
    """A setting has a value that cannot work.

    Examples
    --------
    >>> import racer
    >>> try:
    ...     racer.race([1, 2], lambda config, instance, seed: config, budget=60, seed=-1)
    ... except racer.SettingError as error:
    ...     print(error)
    seed=-1: give a whole number >= 0
    """


class SpaceFileError(SettingError):
    """A parameter file cannot be read; `line` and `column` count from 1, None for the file.

    Examples
    --------
    >>> import racer
    >>> try:
    ...     racer.Space.from_irace("x '' r (1, oops)")
    ... except racer.SpaceFileError as error:
    ...     print(error.line, error.column)
    1 12
    """

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
    """The candidates or the instances cannot be raced.

    Examples
    --------
    >>> import racer
    >>> try:
    ...     racer.race([1, 1], lambda config, instance, seed: config, budget=60)
    ... except racer.CandidateError as error:
    ...     print(error)
    candidates 0 and 1 are the same configuration, 1: give each once
    """


class MissingExtraError(RacerError, ImportError):
    """Something asked for needs a package that is not installed; the message names the extra.

    Examples
    --------
    >>> import racer
    >>> issubclass(racer.MissingExtraError, ImportError)
    True
    """


class BudgetError(RacerError, ValueError):
    """The budget cannot pay for the request.

    Examples
    --------
    >>> import racer
    >>> try:
    ...     racer.race([1, 2], lambda config, instance, seed: config, budget=1)
    ... except racer.BudgetError as error:
    ...     print(str(error).partition(":")[0])
    budget of 1 evaluations
    """


class ObjectiveError(RacerError, TypeError):
    """`evaluate` cannot be called, or cannot be sent to worker processes.

    Examples
    --------
    >>> import racer
    >>> try:
    ...     racer.race([1, 2], None, budget=60)
    ... except racer.ObjectiveError as error:
    ...     print(error)
    evaluate is a NoneType, not a function: give evaluate(config, instance, seed) -> float
    """


class ScoresError(RacerError, ValueError):
    """A table of scores cannot be analysed.

    Examples
    --------
    >>> import racer
    >>> try:
    ...     racer.compare({"a": [1.0]})
    ... except racer.ScoresError as error:
    ...     print(error)
    scores is a dict: give pandas.DataFrame(scores)
    """


class RaceStateError(RacerError, RuntimeError):
    """A race received an outcome that it had not asked for, or an error ended it before.

    Examples
    --------
    >>> import racer
    >>> try:
    ...     racer.Race([1, 2], budget=60, seed=1).tell(None, racer.Outcome("ok", 1.0))
    ... except racer.RaceStateError as error:
    ...     print(error)
    None is not a cell: tell only cells that ask() returned
    """


class StoreError(RacerError, RuntimeError):
    """A store cannot be opened, read or written, or holds another race than asked for.

    Examples
    --------
    >>> import racer
    >>> try:
    ...     racer.load("nowhere.db")
    ... except racer.StoreError as error:
    ...     print(str(error).partition(";")[0])
    store 'nowhere.db': there is no such file
    """


class RaceInterrupted(KeyboardInterrupt):
    """A signal stopped a race or a tuning; `result` is the result so far, with `ended` "interrupted".

    With a store, `code` is the exit code that a script ends with if it does not catch this: 130
    after Ctrl-C, 143 after SIGTERM, 129 after SIGHUP.

    Examples
    --------
    >>> import racer
    >>> def evaluate(config, instance, seed):
    ...     if seed > 2**30:
    ...         raise KeyboardInterrupt  # as Ctrl-C would
    ...     return config
    >>> try:
    ...     racer.race([1, 2], evaluate, budget=60, seed=2)
    ... except racer.RaceInterrupted as stop:
    ...     print(stop.result.ended.value)
    interrupted
    """

    def __init__(
        self, result: Any, *, kept: str = "", code: int = 130, seed: int | None = None
    ) -> None:
        super().__init__(
            f"the run was interrupted after {result.evaluations} evaluations (seed "
            f"{result.seed if seed is None else seed}); "
            + (kept or "this error's .result holds the result so far")
        )
        self.result = result
        self.kept = kept
        self.code = code

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (type(self), self.args, vars(self))

    def _render_traceback_(self) -> list[str]:
        """Return the text that a notebook shows instead of a traceback."""
        return [f"{type(self).__name__}: {self}", "", repr(self.result)]


class RacerWarning(UserWarning):
    """A race went on, but something in it deserves a look.

    Examples
    --------
    >>> import warnings
    >>> import racer
    >>> def evaluate(config, instance, seed):
    ...     return config if instance else None
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     result = racer.race([1, 2], evaluate, [1, 0, *range(2, 8)], budget=16, seed=1)
    >>> print(caught[0].category.__name__)
    RacerWarning
    """


def warn(message: str) -> None:
    """Give a RacerWarning at the line that called racer, however deep in it this is."""
    level, depth, frame = 2, 2, sys._getframe(1)  # noqa: SLF001
    while (caller := frame.f_back) is not None:
        depth += 1
        if frame.f_globals.get("__name__", "").partition(".")[0] == "racer":
            level = depth
        frame = caller
    warnings.warn(message, RacerWarning, stacklevel=level)
