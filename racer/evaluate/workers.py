"""Where cells are evaluated: submitted one by one, outcomes in any order."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections import deque
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any, Protocol, Self

from racer._checks import check_jobs, whole, with_article
from racer.errors import SettingError
from racer.evaluate.attempt import WATCHER_DIED, Task, evaluate_cell, here, watched
from racer.evaluate.command.command import Command
from racer.evaluate.executor import SPARE, Futures, OnlyNeeded, Submitter, UserExecutor, never
from racer.evaluate.limits.limits import limits_for
from racer.evaluate.loky import joblib_workers
from racer.evaluate.objective import check_objective, is_coroutine_function, seeded

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence

    from racer.evaluate.coroutines import Coroutines
    from racer.evaluate.engines import Cluster
    from racer.evaluate.limits.limits import Limits
    from racer.evaluate.objective import Objective
    from racer.evaluate.outcome import Cell, Outcome


class Workers(Protocol):
    """Turn cells into outcomes, in any order; on exit end running evaluations."""

    @property
    def capacity(self) -> int:
        """Number of cells to keep in flight."""

    @property
    def takes_more(self) -> bool:
        """Whether a cell submitted while others run begins as soon as a worker is free."""

    def submit(self, cell: Cell) -> None:
        """Queue a cell."""

    def next(self, stopping: Callable[[], bool] = never) -> tuple[Cell, Outcome] | None:
        """Wait for an outcome; None if `stopping()` has become true meanwhile."""

    def withdraw(self, cell: Cell) -> bool:
        """Forget a cell if it has not begun; return whether it was forgotten."""

    def finish(self) -> list[Cell]:
        """Forget the cells that have not begun; return those whose outcomes are still to come."""

    def rest(self) -> Iterator[tuple[Cell, Outcome]]:
        """Forget the cells that have not begun; yield outcomes of those that end soon."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *error: object) -> None: ...


def number_of(workers: Workers) -> int | None:
    """Return the number of workers; None if that is not known."""
    if isinstance(workers, Futures):
        return workers.n_workers
    capacity = workers.capacity
    return None if capacity == sys.maxsize else max(capacity - SPARE, 1)


def outcomes_of(
    workers: Workers, cells: Iterable[Cell]
) -> Generator[tuple[Cell, Outcome], None, None]:
    """Submit cells as workers take them; yield outcomes in the order of arrival."""
    left, running = deque(cells), 0
    while left or running:
        while left and running < workers.capacity:
            workers.submit(left.popleft())
            running += 1
        if (ended := workers.next()) is not None:
            running -= 1
            yield ended


class _Serial(OnlyNeeded, ABC):
    """Workers that evaluate one cell after the other, in the order of submission."""

    _cells: deque[Cell]  # that wait

    def submit(self, cell: Cell) -> None:
        """Queue a cell."""
        self._cells.append(cell)

    def finish(self) -> list[Cell]:
        """Forget the cells; one that may have begun is given up."""
        self._end()
        self._cells.clear()
        return []

    @abstractmethod
    def _end(self) -> None:
        """End an evaluation that may have begun."""

    def __exit__(self, *error: object) -> None:
        self.finish()


class InProcess(_Serial):
    """Evaluate in this process; Ctrl-C comes through."""

    capacity = 1

    def __init__(self, evaluate: Objective, *, retries: int = 0) -> None:
        self._cells = deque()
        self._evaluate = evaluate
        self._retries = retries

    def next(self, stopping: Callable[[], bool] = never) -> tuple[Cell, Outcome]:  # noqa: ARG002
        """Evaluate the first of the cells."""
        cell = self._cells.popleft()
        return cell, evaluate_cell(
            self._evaluate, cell, retries=self._retries, reraise_interrupt=True
        )

    def _end(self) -> None:
        """Do nothing: evaluations end within `next`."""


class OneByOne(_Serial):
    """Evaluate within limits, in a forked process that watches each evaluation."""

    capacity: int = sys.maxsize

    def __init__(self, evaluate: Objective, limits: Limits, *, retries: int = 0) -> None:
        self._cells = deque()
        self._evaluate = evaluate
        self._limits = limits
        self._retries = retries
        self._n_watched = 0  # cells that the watcher has
        self._outcomes: Generator[Outcome, None, None] | None = None

    def next(self, stopping: Callable[[], bool] = never) -> tuple[Cell, Outcome]:  # noqa: ARG002
        """Wait for the outcome of the first cell, which cannot harm this process."""
        if self._outcomes is None:
            self._n_watched = len(self._cells)
            self._outcomes = watched(
                self._evaluate, tuple(self._cells), self._limits, self._retries
            )
        outcome = next(self._outcomes, None)
        self._n_watched -= 1
        if outcome is None or not self._n_watched:
            self._end()
        # after a cell that killed its watcher, the next gets a new one
        return self._cells.popleft(), outcome or WATCHER_DIED

    def _end(self) -> None:
        if self._outcomes is not None:
            self._outcomes.close()
            self._outcomes = None


def workers_for(
    evaluate: Objective,
    configs: Sequence[Any],
    instances: Sequence[Any] | None,
    *,
    n_jobs: int = 1,
    executor: Cluster | None = None,
    retries: int = 0,
    timeout: float | None = None,
    memory: int | None = None,
    parameters: Collection[str] | None = (),
    timed: bool = False,
    isolated: bool = False,
) -> Workers:
    """Return workers for these evaluations, or raise ObjectiveError or SettingError.

    `timed`: the cost is run time, and an evaluation is stopped at the bound of its cell.
    `isolated`: limits are held in a fresh process, as libraries may have threads in this one.
    """
    check_objective(evaluate, timed=timed)
    if isinstance(evaluate, Command):
        evaluate.check(configs, instances, parameters)
    is_async, evaluate = is_coroutine_function(evaluate), seeded(evaluate)
    check_jobs(n_jobs)
    whole(retries, "retries", least=0)
    if is_async:
        return _coroutines(evaluate, n_jobs, executor, retries, timeout, memory)
    limits = limits_for(timeout, memory, timed=timed)
    contents = {
        **{f"candidate {index}": config for index, config in enumerate(configs)},
        **{f"instance {index}": instance for index, instance in enumerate(instances or ())},
    }
    if executor is not None:
        if n_jobs < 0:
            raise SettingError(
                f"n_jobs={n_jobs} and executor: give the number of workers of the executor, or leave "
                "n_jobs out"
            )
        task = Task(evaluate, retries, limits, here())
        n_workers = n_jobs if n_jobs > 1 else None
        return Futures(_submitter(executor), task, contents, n_workers=n_workers)
    apart = isolated and limits is not None
    pooled = None
    if n_jobs != 1 or apart:
        pooled = joblib_workers(evaluate, contents, n_jobs, retries, limits, apart=apart)
    if pooled is not None:
        return pooled
    if limits:
        return OneByOne(evaluate, limits, retries=retries)
    return InProcess(evaluate, retries=retries)


def _submitter(executor: Cluster) -> Submitter:
    """Return a submitter to the actors of a cluster, or to an executor; else SettingError."""
    from racer.evaluate.actors import Actors  # noqa: PLC0415  (with asyncio: only for clusters)
    from racer.evaluate.engines import engine_of  # noqa: PLC0415

    if (engine := engine_of(executor)) is not None:
        return Actors(engine)
    if isinstance(executor, Executor):
        return UserExecutor(executor)
    raise SettingError(
        f"executor is {with_article(executor)}: give a concurrent.futures.Executor, a Dask client or "
        "the module ray"
    )


def _coroutines(
    evaluate: Objective,
    n_jobs: int,
    executor: Cluster | None,
    retries: int,
    timeout: float | None,
    memory: int | None,
) -> Coroutines:
    """Return workers for a coroutine function; SettingError if others are needed."""
    if memory is not None:
        raise SettingError(
            "memory= is of a process, and all calls of a coroutine function share this one: leave "
            "it out, or give a plain function"
        )
    if executor is not None:
        raise SettingError(
            "executor= and a coroutine function, which runs in an event loop of this process: "
            "leave executor out; n_jobs= is the number of calls at a time"
        )
    if n_jobs < 0:
        raise SettingError(
            f"n_jobs={n_jobs} counts cores: give the number of calls of a coroutine function may run at "
            "a time"
        )
    limits_for(timeout, None, forked=False)
    from racer.evaluate.coroutines import Coroutines  # noqa: PLC0415  (asyncio, for them only)

    return Coroutines(evaluate, n_jobs=n_jobs, retries=retries, timeout=timeout)
