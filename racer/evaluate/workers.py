"""Evaluating cells, here or in joblib workers, so that nothing they do can end the race."""

from __future__ import annotations

import os
import platform
import random
import signal
import threading
import time
import warnings
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Protocol

import joblib
import numpy as np
import numpy.random  # loaded when first used, and that would be in each child
from joblib.externals.loky import reusable_executor
from joblib.externals.loky.process_executor import BrokenProcessPool
from joblib.parallel import LokyBackend, get_active_backend

from racer._checks import check_jobs, whole
from racer.evaluate.command.command import check_command
from racer.evaluate.limits.forks import not_in_forks
from racer.evaluate.limits.limits import Limits, limited, limits_for
from racer.evaluate.limits.linux import die_with_process
from racer.evaluate.limits.processes import supervised, warden
from racer.evaluate.objective import (
    Objective,
    check_objective,
    check_picklable,
    describe,
    judge,
    judge_error,
)
from racer.evaluate.outcome import Cell, Outcome

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

__all__ = ["InProcess", "OneByOne", "Processes", "Workers", "evaluate_cell", "workers_for"]


_ENOUGH = 10  # seconds, for what takes a millisecond
_FINAL = ("ok", "timeout", "memory")  # the others may be worth another try


def _attempt(evaluate: Objective, cell: Cell, *, reraise_interrupt: bool = False) -> Outcome:
    """Evaluate a cell once, the legacy generators seeded with its seed."""
    random.seed(cell.seed)
    np.random.seed(cell.seed)  # noqa: NPY002  (for objectives that use the legacy generator)
    start = time.perf_counter()
    try:
        status, value, message = judge(evaluate(cell.config, cell.instance, cell.seed))
    except BaseException as error:
        if reraise_interrupt and isinstance(error, KeyboardInterrupt):
            raise
        status, value, message = judge_error(error)
    return Outcome(status, value, time.perf_counter() - start, message)


def evaluate_cell(
    evaluate: Objective,
    cell: Cell,
    *,
    retries: int = 0,
    reraise_interrupt: bool = False,
    within: Callable[[Callable[[], Outcome]], Outcome] | None = None,
) -> Outcome:
    """Evaluate one cell, again up to `retries` times while it fails.

    The legacy generators `random` and `np.random` are seeded with the cell's seed before each
    attempt, so that the outcome does not depend on what ran before. An attempt that reached a
    limit is not repeated.

    Parameters
    ----------
    evaluate : callable
        evaluate(config, instance, seed) -> float.
    cell : Cell
    retries : int
    reraise_interrupt : bool
        Let KeyboardInterrupt through: in the user's own process it is Ctrl-C.
    within : callable, optional
        Makes the attempt that it is given, `limited` say.

    Returns
    -------
    Outcome
        Of the last attempt; never raises for what `evaluate` does.
    """
    attempt = partial(_attempt, evaluate, cell, reraise_interrupt=reraise_interrupt)
    attempts, seconds = 0, 0.0
    while True:
        outcome = within(attempt) if within else attempt()
        attempts, seconds = attempts + 1, seconds + outcome.seconds
        if outcome.status in _FINAL or attempts > retries:
            return Outcome(
                outcome.status,
                outcome.value,
                seconds,
                outcome.message,
                attempts,
                _name(os.getpid()),
            )


@cache
def _name(pid: int) -> str:
    return f"{platform.node()}:{pid}"


@contextmanager
def generators_put_back() -> Iterator[None]:
    """Put the legacy random generators, which are seeded for each cell, back on exit."""
    before = random.getstate(), np.random.get_state()  # noqa: NPY002
    try:
        yield
    finally:
        random.setstate(before[0])
        np.random.set_state(before[1])  # noqa: NPY002


Place = tuple[int, int]  # block and candidate
Stopping = Callable[[], bool]
Outcomes = Generator[tuple[Cell, Outcome], None, None]
"""To be closed when no more are wanted: then what is being evaluated ends."""


def never() -> bool:
    """Do not stop."""
    return False


class Workers(Protocol):
    """Whatever turns cells into outcomes, in any order."""

    def outcomes(self, cells: Sequence[Cell], *, stopping: Stopping = never) -> Outcomes:
        """Evaluate the cells of one block; begin none once `stopping()` is true."""
        ...


class InProcess:
    """Evaluate in this process, one cell after the other."""

    def __init__(self, evaluate: Objective, *, retries: int = 0) -> None:
        self._evaluate = evaluate
        self._retries = retries

    def outcomes(self, cells: Sequence[Cell], *, stopping: Stopping = never) -> Outcomes:
        """Evaluate the cells in order; Ctrl-C comes through."""
        for cell in cells:
            if stopping():
                return
            yield (
                cell,
                evaluate_cell(self._evaluate, cell, retries=self._retries, reraise_interrupt=True),
            )


class OneByOne:
    """Evaluate one cell after the other, each in a process of its own, within limits."""

    def __init__(self, evaluate: Objective, limits: Limits, *, retries: int = 0) -> None:
        self._evaluate = evaluate
        self._limits = limits
        self._retries = retries

    def outcomes(self, cells: Sequence[Cell], *, stopping: Stopping = never) -> Outcomes:
        """Evaluate the cells in order; whatever they do, they cannot do it to this process."""
        left = list(cells)

        def work(lost: Callable[[], bool], pipe: int) -> Iterator[Outcome]:
            # the threads of a pool did not come along: who uses joblib here must start another
            _pool, reusable_executor._executor = reusable_executor._executor, None  # noqa: SLF001
            within = partial(limited, limits=self._limits, lost=lost, pipe=pipe)
            for cell in left:
                yield evaluate_cell(self._evaluate, cell, retries=self._retries, within=within)

        while left:
            with closing(supervised(work)) as outcomes:
                for outcome in outcomes:
                    yield left.pop(0), outcome
                    if stopping():  # the next may have begun, and is given up
                        return
            if stopping():  # the signal may have ended the watcher, not the cell
                return
            if left:  # what the cell did to its watcher, it cannot do to the next
                yield left.pop(0), Outcome("killed", None, message="its watcher died with it")


@not_in_forks
def _leave_to_the_driver(number: int, frame: object) -> None:
    """Do nothing; unlike SIG_IGN, what an evaluation starts does not inherit it."""


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
class _Task:
    """What a worker must know to evaluate a cell.

    Attributes
    ----------
    driver : int
        The process that runs the race.
    ours : bool
        Workers are children of the driver that do nothing else meanwhile.
    """

    evaluate: Objective
    retries: int
    limits: Limits | None
    driver: int
    ours: bool

    def __call__(self, cell: Cell) -> tuple[Place, Outcome]:
        """Evaluate a cell in a worker; Ctrl-C is the driver's to answer."""
        here = os.getpid() == self.driver  # a backend without processes
        in_main_thread = threading.current_thread() is threading.main_thread()
        if in_main_thread and not here:
            for number, handler in _DRIVERS_TO_ANSWER.items():
                signal.signal(number, handler)
        ours = self.ours and in_main_thread and not here  # joblib may fall back to no processes
        if self.limits is None:
            outcome = evaluate_cell(
                self.evaluate,
                cell,
                retries=self.retries,
                reraise_interrupt=in_main_thread and here,
            )
        elif ours:
            within = partial(limited, limits=self.limits, warned=warden(os.getpid()))
            outcome = evaluate_cell(self.evaluate, cell, retries=self.retries, within=within)
        else:
            alone = OneByOne(self.evaluate, self.limits, retries=self.retries)
            ((_, outcome),) = alone.outcomes([cell])
        return (cell.block, cell.candidate), outcome


class Processes:
    """Evaluate in joblib workers: loky, unless `joblib.parallel_config` names another backend.

    joblib gets the cells of one block in a call. If a worker process dies, the cells still
    missing are run again together, and then each alone: whichever breaks the pool alone did it.
    """

    def __init__(
        self, evaluate: Objective, *, n_jobs: int, retries: int = 0, limits: Limits | None = None
    ) -> None:
        self._evaluate = evaluate
        self._n_jobs = n_jobs
        self._retries = retries
        self._limits = limits

    def outcomes(self, cells: Sequence[Cell], *, stopping: Stopping = never) -> Outcomes:
        """Evaluate the cells at once; outcomes come in the order in which they are ready.

        Once it is stopping, those that joblib has got (at most two per job) are finished.
        """
        missing = {(cell.block, cell.candidate): cell for cell in cells}
        for _ in range(2):
            yield from self._together(missing, stopping)
            if not missing or stopping():
                return
        for cell in list(missing.values()):
            alone = {(cell.block, cell.candidate): cell}
            why = yield from self._together(alone, stopping)
            if stopping():
                return
            if alone:
                yield cell, Outcome("killed", None, message=why)

    def _together(
        self, missing: dict[Place, Cell], stopping: Stopping
    ) -> Generator[tuple[Cell, Outcome], None, str]:
        """Yield outcomes and take their cells out of `missing`, until done or a worker dies.

        Returns why it ended early.
        """
        backend, _ = get_active_backend()
        ours = isinstance(backend, LokyBackend)
        # even a worker that has not begun would go on when this process is killed
        start: dict[str, Any] = {"initializer": die_with_process, "initargs": (os.getpid(),)}
        task = _Task(self._evaluate, self._retries, self._limits, os.getpid(), ours)
        parallel = joblib.Parallel(
            n_jobs=self._n_jobs,
            batch_size=1,
            max_nbytes=None,  # or large arrays would arrive read-only
            return_as="generator_unordered",
            **(start if ours else {}),
        )
        call = joblib.delayed(task)
        tasks = (call(cell) for cell in list(missing.values()) if not stopping())
        results: Any = None
        queue: Any = None
        try:
            results = parallel(tasks)
            queue = getattr(reusable_executor._executor, "_call_queue", None) if ours else None  # noqa: SLF001
            for place, outcome in results:
                yield missing.pop(place), outcome
        except GeneratorExit:
            with warnings.catch_warnings():  # that tasks are cancelled is what was asked for
                warnings.simplefilter("ignore")
                results.close()
            raise
        except BrokenProcessPool as error:
            return describe(error).partition(". ")[0]
        finally:
            _let_it_end(queue)
        return ""


def _let_it_end(queue: Any) -> None:
    """Wait for the thread that fed the queue of a pool, if that pool is shut down.

    joblib does not. What the thread holds last, it also cleans up, and a program that ends in the
    midst of that reports leaked semaphores.
    """
    feeder = getattr(queue, "_thread", None)
    if feeder is not None and getattr(queue, "_closed", False):
        feeder.join(_ENOUGH)


def workers_for(
    evaluate: Objective,
    configs: Sequence[Any],
    instances: Sequence[Any] | None,
    *,
    n_jobs: int = 1,
    retries: int = 0,
    timeout: float | None = None,
    memory: int | None = None,
    parameters: Collection[str] | None = (),
) -> Workers:
    """Return workers for these evaluations, after checking that they can work.

    Parameters
    ----------
    evaluate : callable
        evaluate(config, instance, seed) -> float.
    configs, instances : sequence
        What the workers will be sent.
    n_jobs : int
        1 evaluates in this process; -1 uses all cores, as joblib counts them.
    retries : int
        How often a cell that fails is evaluated again.
    timeout : float, optional
        Seconds that an evaluation may take.
    memory : int, optional
        Bytes that an evaluation may hold.
    parameters : collection of str
        Names that other configurations, which are still to come, may have; None: nobody knows.

    Raises
    ------
    ObjectiveError
        `evaluate` cannot be called so, a `Command` cannot be given these candidates, or something
        cannot be pickled.
    SettingError
        `n_jobs`, `retries` or a limit out of range, or a limit that cannot be kept here.
    """
    check_objective(evaluate)
    check_command(evaluate, configs, instances, parameters)
    check_jobs(n_jobs)
    whole(retries, "retries", least=0)
    limits = limits_for(timeout, memory)
    if n_jobs == 1:
        if limits:
            return OneByOne(evaluate, limits, retries=retries)
        return InProcess(evaluate, retries=retries)
    backend, _ = get_active_backend()
    if not getattr(backend, "supports_sharedmem", False):  # processes
        check_picklable(evaluate, "evaluate")
        for index, config in enumerate(configs):
            check_picklable(config, f"candidate {index}")
        for index, instance in enumerate(instances or ()):
            check_picklable(instance, f"instance {index}")
    return Processes(evaluate, n_jobs=n_jobs, retries=retries, limits=limits)
