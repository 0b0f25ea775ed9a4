"""Where cells are evaluated: submitted one by one, outcomes in any order."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections import deque
from concurrent.futures import Executor
from dataclasses import dataclass
from numbers import Number
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self

from racer._checks import check_jobs, is_whole, suggesting, with_article
from racer.errors import SettingError
from racer.evaluate.attempt import WATCHER_DIED, Task, evaluate_cell, watched
from racer.evaluate.batches import Batched, Batches
from racer.evaluate.command.command import Command
from racer.evaluate.executor import SPARE, Futures, OnlyNeeded, Submitter, UserExecutor, never
from racer.evaluate.limits.limits import Limits
from racer.evaluate.loky import joblib_workers
from racer.evaluate.objective import check_objective, is_coroutine_function, seeded
from racer.evaluate.process_state import here

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence

    from racer.evaluate.coroutines import Coroutines
    from racer.evaluate.engines import Cluster
    from racer.evaluate.objective import Objective
    from racer.evaluate.outcome import Cell, Outcome

__all__ = ["Workers"]

Ahead = int | Literal["auto"]


@suggesting
@dataclass(frozen=True)
class Workers:
    """Choose where evaluations run, and how far free workers go ahead.

    Parameters
    ----------
    n : int
        1 evaluates in this process; more, or -1 (all cores), in joblib workers: loky, unless
        `joblib.parallel_config` names another backend. Of a coroutine function, this number of
        calls run at a time, in an event loop. Of an executor: how many workers it has.
    executor : concurrent.futures.Executor, Dask client or the module ray, optional
        Evaluates instead, and stays open. Cells go to an executor one by one; on Dask each worker
        has an actor, with a cell prefetched, and on Ray each CPU.
    ahead : "auto" or int
        How many blocks free workers go ahead of the awaited block ("auto": 8, or as
        many as there are workers; of coroutines four times as many). Their outcomes are kept
        until needed, so the result is the same; unneeded ones cost workers' time, not
        budget: see `RaceResult.unused`. With a budget of money nothing goes ahead; 0 for other
        evaluations that cost money.

    Raises
    ------
    SettingError
        A number out of range.

    Examples
    --------
    >>> import racer
    >>> racer.race(
    ...     [1, 2, 3], lambda config, instance, seed: config + seed % 7, budget=60, seed=1,
    ...     n_jobs=racer.Workers(1, ahead=0),
    ... ).best
    1
    """

    n: int = 1
    executor: Cluster | None = None
    ahead: Ahead = "auto"

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", check_jobs(self.n))
        if self.executor is not None:
            _submitter(self.executor)  # refuses what is none
            if self.n < 0:
                raise SettingError(
                    f"Workers({self.n}, executor=..): give how many it has, or leave n out"
                )
        is_auto = isinstance(self.ahead, str) and self.ahead == "auto"
        if not is_auto and not (is_whole(self.ahead) and int(self.ahead) >= 0):
            raise SettingError(
                f'ahead={self.ahead!r}: give "auto", or a number of blocks, 0 for none'
            )

    @classmethod
    def of(cls, n_jobs: int | Cluster | Workers) -> Workers:
        """Return the workers of a number of them, or of an executor."""
        if isinstance(n_jobs, Workers):
            return n_jobs
        is_number = isinstance(n_jobs, Number | str | None)
        return cls(n_jobs) if is_number else cls(executor=n_jobs)  # type: ignore[arg-type]


class Pool(Protocol):
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
        """Forget the cells that have not begun; return cells with outcomes still to come."""

    def rest(self) -> Iterator[tuple[Cell, Outcome]]:
        """Forget the cells that have not begun; yield outcomes that come soon."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *error: object) -> None: ...


def number_of(workers: Pool) -> int | None:
    """Return the number of workers; None if that is not known."""
    if isinstance(workers, Futures):
        return workers.n_workers
    capacity = workers.capacity
    return None if capacity == sys.maxsize else max(capacity - SPARE, 1)


def outcomes_of(
    workers: Pool, cells: Iterable[Cell]
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
        """Forget the cells; give up a cell that may have begun."""
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

    def __init__(self, evaluate: Objective, limits: Limits) -> None:
        self._cells = deque()
        self._evaluate = evaluate
        self._limits = limits
        self._n_watched = 0  # cells that the watcher has
        self._outcomes: Generator[Outcome, None, None] | None = None

    def next(self, stopping: Callable[[], bool] = never) -> tuple[Cell, Outcome]:  # noqa: ARG002
        """Wait for the outcome of the first cell, which cannot harm this process."""
        if self._outcomes is None:
            self._n_watched = len(self._cells)
            self._outcomes = watched(self._evaluate, tuple(self._cells), self._limits)
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
    n_jobs: int | Cluster | Workers = 1,
    limits: Limits | None = None,
    parameters: Collection[str] | None = (),
    timed: bool = False,
    isolated: bool = False,
) -> Pool:
    """Return workers for these evaluations, or raise ObjectiveError or SettingError.

    `timed`: the cost is run time, and an evaluation is stopped at the bound of its cell.
    `isolated`: limits are held in a fresh process, as libraries may have threads in this one.
    """
    check_objective(evaluate, timed=timed)
    if isinstance(evaluate, Command):
        evaluate.check(configs, instances, parameters)
    is_async, evaluate = is_coroutine_function(evaluate), seeded(evaluate)
    where, limits = Workers.of(n_jobs), Limits.of(limits)
    if isinstance(evaluate, Batched):
        return Batches(evaluate)
    if is_async:
        return _coroutines(evaluate, where, limits)
    retries, forked = limits.retries, limits.forked(timed=timed)
    contents = {
        **{f"candidate {index}": config for index, config in enumerate(configs)},
        **{f"instance {index}": instance for index, instance in enumerate(instances or ())},
    }
    if where.executor is not None:
        task = Task(evaluate, retries, forked, here())
        n_workers = where.n if where.n > 1 else None
        return Futures(_submitter(where.executor), task, contents, n_workers=n_workers)
    apart = isolated and forked is not None
    pooled = None
    if where.n != 1 or apart:
        pooled = joblib_workers(evaluate, contents, where.n, retries, forked, apart=apart)
    if pooled is not None:
        return pooled
    if forked is not None:
        return OneByOne(evaluate, forked)
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
        f"n_jobs is {with_article(executor)}: give a number, a concurrent.futures.Executor, a Dask "
        "client or the module ray"
    )


def _coroutines(evaluate: Objective, where: Workers, limits: Limits) -> Coroutines:
    """Return workers for a coroutine function; SettingError if others are needed."""
    if limits.memory is not None:
        raise SettingError(
            "memory is of a process, and all calls of a coroutine function share this one: leave "
            "it out, or give a plain function"
        )
    if where.executor is not None:
        raise SettingError(
            "an executor and a coroutine function, which runs in an event loop of this process: "
            "give n_jobs the number of calls at a time"
        )
    if where.n < 0:
        raise SettingError(
            f"n_jobs={where.n} counts cores: give the number of calls of a coroutine function may run at "
            "a time"
        )
    from racer.evaluate.coroutines import Coroutines  # noqa: PLC0415  (asyncio, for them only)

    return Coroutines(evaluate, n_jobs=where.n, limits=limits)
