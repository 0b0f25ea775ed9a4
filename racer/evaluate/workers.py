"""Evaluating cells, here or in joblib workers, so that nothing they do can end the race."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import joblib
import numpy as np
from joblib.externals.loky.process_executor import BrokenProcessPool
from joblib.parallel import get_active_backend

from racer._checks import is_whole, whole
from racer.errors import SettingError
from racer.evaluate.cell import Cell, Outcome
from racer.evaluate.objective import Objective, check_objective, check_picklable, describe, judge

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

__all__ = ["InProcess", "Processes", "Workers", "evaluate_cell", "workers_for"]


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
            status, value, message = judge(evaluate(cell.config, cell.instance, cell.seed))
        except BaseException as error:
            if reraise_interrupt and isinstance(error, KeyboardInterrupt):
                raise
            status, value, message = "failed", None, describe(error, where=True)
        seconds += time.perf_counter() - start
        if status == "ok" or attempt == retries:
            break
    return Outcome(status, value, seconds, message)


@contextmanager
def generators_put_back() -> Iterator[None]:
    """Put the legacy random generators, which are seeded for each cell, back on exit."""
    before = random.getstate(), np.random.get_state()  # noqa: NPY002
    try:
        yield
    finally:
        random.setstate(before[0])
        np.random.set_state(before[1])  # noqa: NPY002


class Workers(Protocol):
    """Whatever turns cells into outcomes, in any order."""

    def outcomes(self, cells: Sequence[Cell]) -> Iterator[tuple[Cell, Outcome]]:
        """Evaluate the cells of one block."""
        ...


class InProcess:
    """Evaluate in this process, one cell after the other."""

    def __init__(self, evaluate: Objective, *, retries: int = 0) -> None:
        self._evaluate = evaluate
        self._retries = retries

    def outcomes(self, cells: Sequence[Cell]) -> Iterator[tuple[Cell, Outcome]]:
        """Evaluate the cells in order; Ctrl-C comes through."""
        for cell in cells:
            yield (
                cell,
                evaluate_cell(self._evaluate, cell, retries=self._retries, reraise_interrupt=True),
            )


def _evaluate_apart(
    evaluate: Objective, cell: Cell, retries: int, driver: int
) -> tuple[int, Outcome]:
    """Evaluate a cell in a worker; Ctrl-C is the driver's to answer."""
    here = os.getpid() == driver  # a backend without processes
    in_main_thread = threading.current_thread() is threading.main_thread()
    if in_main_thread and not here:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    interruptible = in_main_thread and here
    return cell.candidate, evaluate_cell(
        evaluate, cell, retries=retries, reraise_interrupt=interruptible
    )


class Processes:
    """Evaluate in joblib workers: loky, unless `joblib.parallel_config` names another backend.

    joblib gets the cells of one block in a call. If a worker process dies, the cells still
    missing are run again together, and then each alone: whichever breaks the pool alone did it.
    """

    def __init__(self, evaluate: Objective, *, n_jobs: int, retries: int = 0) -> None:
        self._evaluate = evaluate
        self._n_jobs = n_jobs
        self._retries = retries

    def outcomes(self, cells: Sequence[Cell]) -> Iterator[tuple[Cell, Outcome]]:
        """Evaluate the cells at once; outcomes come in the order in which they are ready."""
        missing = {cell.candidate: cell for cell in cells}
        for _ in range(2):
            yield from self._together(missing)
            if not missing:
                return
        for cell in list(missing.values()):
            alone = {cell.candidate: cell}
            why = yield from self._together(alone)
            if alone:
                yield cell, Outcome("killed", None, message=why)

    def _together(self, missing: dict[int, Cell]) -> Generator[tuple[Cell, Outcome], None, str]:
        """Yield outcomes and take their cells out of `missing`, until done or a worker dies.

        Returns why it ended early.
        """
        call = joblib.delayed(_evaluate_apart)
        parallel = joblib.Parallel(
            n_jobs=self._n_jobs,
            batch_size=1,
            max_nbytes=None,  # or large arrays would arrive read-only
            return_as="generator_unordered",
        )
        tasks = [
            call(self._evaluate, cell, self._retries, os.getpid()) for cell in missing.values()
        ]
        try:
            for candidate, outcome in parallel(tasks):
                yield missing.pop(candidate), outcome
        except BrokenProcessPool as error:
            return describe(error).partition(". ")[0]
        return ""


def workers_for(
    evaluate: Objective,
    configs: Sequence[Any],
    instances: Sequence[Any] | None,
    *,
    n_jobs: int = 1,
    retries: int = 0,
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

    Raises
    ------
    ObjectiveError
        `evaluate` cannot be called so, or something cannot be pickled.
    SettingError
        `n_jobs` or `retries` out of range.
    """
    check_objective(evaluate)
    if not is_whole(n_jobs) or n_jobs == 0:
        raise SettingError(f"n_jobs={n_jobs!r}: give a whole number other than 0 (-1: all cores)")
    whole(retries, "retries", least=0)
    if n_jobs == 1:
        return InProcess(evaluate, retries=retries)
    backend, _ = get_active_backend()
    if not getattr(backend, "supports_sharedmem", False):  # processes
        check_picklable(evaluate, "evaluate")
        for index, config in enumerate(configs):
            check_picklable(config, f"candidate {index}")
        for index, instance in enumerate(instances or ()):
            check_picklable(instance, f"instance {index}")
    return Processes(evaluate, n_jobs=n_jobs, retries=retries)
