"""One cell evaluated, here or in a worker, so that no evaluation can end the race."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np
from joblib.externals.loky import reusable_executor

from racer._entry import called_in, users_mode
from racer.evaluate.command.command import Command
from racer.evaluate.limits.limits import Limits, limited
from racer.evaluate.limits.linux import cpu_seconds
from racer.evaluate.limits.processes import not_in_forks, supervised, warden
from racer.evaluate.objective import (
    Objective,
    judge,
    judge_error,
    judge_metrics,
    judge_time,
    takes_bound,
    without_spend,
)
from racer.evaluate.outcome import Cell, Outcome, bounded
from racer.evaluate.process_state import here, settings_put_back, undisturbed

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence

WATCHER_DIED = Outcome("killed", None, message="its watcher died with it")
FINAL = ("ok", "timeout", "memory", "rejected", "capped")  # not retried
_clock = time.perf_counter  # an objective may replace that of `time`


def _attempt(evaluate: Objective, cell: Cell, *, reraise_interrupt: bool = False) -> Outcome:
    """Evaluate a cell once, with the legacy generators seeded with its seed."""
    random.seed(cell.seed)
    np.random.seed(cell.seed)  # noqa: NPY002  (for objectives that use the legacy generator)
    return judged(evaluate, cell, reraise_interrupt=reraise_interrupt)


def judged(evaluate: Objective, cell: Cell, *, reraise_interrupt: bool = False) -> Outcome:
    """Call the objective once; return the outcome, also of errors and invalid values."""
    bound, metrics, spend = cell.bound, None, None
    before = None if bound is None else cpu_seconds()
    start = _clock()
    try:
        answer = _called(evaluate, cell)
        if type(answer) is not float and isinstance(answer, Mapping):
            answer, spend = without_spend(answer, cell.metrics)
        if cell.metrics is not None:
            status, value, message, metrics = judge_metrics(answer, cell.metrics)
        elif bound is None:
            status, value, message = judge(answer)
        else:
            seconds = _clock() - start if before is None else (cpu_seconds() or 0.0) - before
            status, value, message = judge_time(answer, seconds)
    except BaseException as error:
        if reraise_interrupt and isinstance(error, KeyboardInterrupt):
            raise
        status, value, message = judge_error(error)
    seconds = _clock() - start if value is None or bound is None else value
    outcome = Outcome(
        status,
        value,
        seconds=seconds,
        message=message,
        worker=here(),
        metrics=metrics,
        spend=spend,
    )
    return outcome if bound is None or value is None else bounded(outcome, bound) or outcome


def _called(evaluate: Any, cell: Cell) -> Any:
    if isinstance(evaluate, Command):
        return evaluate.run(cell)
    if cell.bound is not None and takes_bound(evaluate):
        called: Any = evaluate
        return undisturbed(partial(called, bound=cell.bound), *cell.arguments)
    return undisturbed(evaluate, *cell.arguments)


def evaluate_cell(
    evaluate: Objective,
    cell: Cell,
    *,
    retries: int = 0,
    reraise_interrupt: bool = False,
    within: Callable[..., Outcome] | None = None,
) -> Outcome:
    """Evaluate a cell, and up to `retries` times again if it fails.

    `random` and `np.random` are seeded anew for each attempt, so earlier runs do not matter.
    `within` makes an attempt in another process, in which `reraise_interrupt` is of no use.
    """
    attempts, seconds, spend = 0, 0.0, None
    while True:
        if within is None:
            outcome = _attempt(evaluate, cell, reraise_interrupt=reraise_interrupt)
            if attempts == 0 and outcome.status == "ok":
                return outcome
        else:
            outcome = within(partial(_attempt, evaluate, cell), bound=cell.bound)
        attempts, seconds = attempts + 1, seconds + outcome.seconds
        if outcome.spend is not None:
            spend = (spend or 0.0) + outcome.spend
        if outcome.status in FINAL or attempts > retries:
            return Outcome(
                outcome.status,
                outcome.value,
                seconds=seconds,
                message=_with_command(evaluate, cell, outcome),
                attempts=attempts,
                worker=here(),
                metrics=outcome.metrics,
                spend=spend,
            )


def _with_command(evaluate: Objective, cell: Cell, outcome: Outcome) -> str:
    """Return the message, with the command line if the program was ended from outside."""
    if isinstance(evaluate, Command) and outcome.status in ("timeout", "memory", "killed"):
        return evaluate.with_command_line(outcome.message, cell)
    return outcome.message


def watched(
    evaluate: Objective, cells: Sequence[Cell], limits: Limits
) -> Generator[Outcome, None, None]:
    """Yield the outcomes of cells, each in its own process; fewer if one kills their watcher."""

    def work(lost: Callable[[], bool], pipe: int) -> Iterator[Outcome]:
        # a fork has no threads, so the pool is useless: an evaluation that uses joblib needs another
        _pool, reusable_executor._executor = reusable_executor._executor, None  # noqa: SLF001
        within = partial(
            limited, limits=limits, lost=lost, pipe=pipe, tells=isinstance(evaluate, Command)
        )
        for cell in cells:
            yield evaluate_cell(evaluate, cell, retries=limits.retries, within=within)

    return supervised(work)


@not_in_forks
def _leave_to_the_driver(number: int, frame: object) -> None:
    """Do nothing; unlike SIG_IGN, this is not inherited by programs that an evaluation starts."""


_DRIVERS_TO_ANSWER = {  # sent to all processes of a terminal, or of a job
    getattr(signal, name): handler
    for name, handler in (
        ("SIGINT", signal.SIG_IGN),
        ("SIGHUP", signal.SIG_IGN),
        ("SIGTERM", _leave_to_the_driver),
    )
    if hasattr(signal, name)
}


@dataclass(frozen=True)
class Task:
    """All that a worker needs to evaluate cells."""

    evaluate: Objective
    retries: int
    limits: Limits | None
    driver: str
    is_own_pool: bool = False  # the pool of the worker belongs to the driver
    nested: tuple[Any, int | None] | None = None  # joblib backend and n_jobs within evaluations
    error_mode: dict[str, Any] = field(default_factory=users_mode)  # NumPy's

    def __call__(self, cell: Cell) -> Outcome:
        """Evaluate a cell in a worker, which leaves Ctrl-C to the driver."""
        with ExitStack() as stack:
            stack.enter_context(called_in(self.error_mode))
            if self.nested is not None:
                backend, n_jobs = self.nested
                stack.enter_context(joblib.parallel_config(backend=backend, n_jobs=n_jobs))
            return self._evaluate(cell, stack)

    def _evaluate(self, cell: Cell, stack: ExitStack) -> Outcome:
        in_driver = here() == self.driver
        in_main_thread = threading.current_thread() is threading.main_thread()
        if in_main_thread and not in_driver:
            for number, handler in _DRIVERS_TO_ANSWER.items():
                before = signal.signal(number, handler)
                if not self.is_own_pool:
                    stack.callback(signal.signal, number, before)
        if self.limits is None:
            if in_main_thread and not in_driver:
                stack.enter_context(settings_put_back())
            interruptible = in_main_thread and in_driver
            return evaluate_cell(
                self.evaluate, cell, retries=self.retries, reraise_interrupt=interruptible
            )
        if self.is_own_pool and in_main_thread:
            within = partial(
                limited,
                limits=self.limits,
                warned=warden(os.getpid()),
                tells=isinstance(self.evaluate, Command),
            )
            return evaluate_cell(self.evaluate, cell, retries=self.retries, within=within)
        with closing(watched(self.evaluate, [cell], self.limits)) as outcomes:
            return next(outcomes, WATCHER_DIED)
