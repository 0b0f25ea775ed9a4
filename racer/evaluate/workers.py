"""Where cells are evaluated: submitted one by one, outcomes in any order."""

from __future__ import annotations

import sys
from collections import deque
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any, Protocol, Self

from racer._checks import check_jobs, whole
from racer.errors import SettingError
from racer.evaluate.attempt import WATCHER_DIED, evaluate_cell, watched
from racer.evaluate.command.command import check_command
from racer.evaluate.executor import SPARE, never, on_executor
from racer.evaluate.limits.limits import limits_for
from racer.evaluate.loky import in_joblib
from racer.evaluate.objective import check_objective

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence

    from racer.evaluate.limits.limits import Limits
    from racer.evaluate.objective import Objective
    from racer.evaluate.outcome import Cell, Outcome


class Workers(Protocol):
    """Whatever turns cells into outcomes, in any order.

    A context manager: when it is left, what is being evaluated ends.
    """

    @property
    def capacity(self) -> int:
        """How many cells are worth submitting before outcomes come."""
        ...

    @property
    def takes_more(self) -> bool:
        """Whether a cell submitted while others run begins as soon as a worker is free."""
        ...

    def submit(self, cell: Cell) -> None:
        """Take a cell to be evaluated."""
        ...

    def next(self, stopping: Callable[[], bool] = never) -> tuple[Cell, Outcome] | None:
        """Return one of the cells submitted, once it is evaluated, and its outcome.

        None if `stopping()` has become true meanwhile.
        """
        ...

    def withdraw(self, cell: Cell) -> bool:
        """Forget a cell if it has not begun, and say so."""
        ...

    def finish(self) -> list[Cell]:
        """Forget the cells that have not begun; return those whose outcomes are still to come."""
        ...

    def rest(self) -> Iterator[tuple[Cell, Outcome]]:
        """Forget the cells that have not begun; yield outcomes of those that end soon."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *error: object) -> None: ...


def number_of(workers: Workers) -> int | None:
    """Return how many workers there are; None if that is not known."""
    capacity = workers.capacity
    return None if capacity == sys.maxsize else max(capacity - SPARE, 1)


def outcomes_of(
    workers: Workers, cells: Iterable[Cell]
) -> Generator[tuple[Cell, Outcome], None, None]:
    """Feed workers, and yield outcomes as they come."""
    left, running = deque(cells), 0
    while left or running:
        while left and running < workers.capacity:
            workers.submit(left.popleft())
            running += 1
        if (ended := workers.next()) is not None:
            running -= 1
            yield ended


class _InOrder:
    """Cells that wait, one behind the other."""

    takes_more = False

    def __init__(self) -> None:
        self._cells: deque[Cell] = deque()

    def submit(self, cell: Cell) -> None:
        """Take a cell."""
        self._cells.append(cell)

    def withdraw(self, cell: Cell) -> bool:  # noqa: ARG002
        """Refuse: nothing is submitted that is not needed."""
        return False

    def finish(self) -> list[Cell]:
        """Forget the cells."""
        self._cells.clear()
        return []

    def rest(self) -> Iterator[tuple[Cell, Outcome]]:
        """Yield nothing: there is nothing left."""
        return iter(())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.finish()


class InProcess(_InOrder):
    """Evaluate in this process, one cell after the other; Ctrl-C comes through."""

    capacity = 1

    def __init__(self, evaluate: Objective, *, retries: int = 0) -> None:
        super().__init__()
        self._evaluate = evaluate
        self._retries = retries

    def next(self, stopping: Callable[[], bool] = never) -> tuple[Cell, Outcome]:  # noqa: ARG002
        """Evaluate the first of the cells."""
        cell = self._cells.popleft()
        return cell, evaluate_cell(
            self._evaluate, cell, retries=self._retries, reraise_interrupt=True
        )


class OneByOne(_InOrder):
    """Evaluate one cell after the other within limits, in a forked process that watches them."""

    capacity = sys.maxsize

    def __init__(self, evaluate: Objective, limits: Limits, *, retries: int = 0) -> None:
        super().__init__()
        self._evaluate = evaluate
        self._limits = limits
        self._retries = retries
        self._known = 0  # how many of them the watcher knows
        self._outcomes: Generator[Outcome, None, None] | None = None

    def next(self, stopping: Callable[[], bool] = never) -> tuple[Cell, Outcome]:  # noqa: ARG002
        """Wait for the first of the cells; whatever it does, it cannot do it to this process."""
        if self._outcomes is None:
            self._known = len(self._cells)
            self._outcomes = watched(
                self._evaluate, tuple(self._cells), self._limits, self._retries
            )
        outcome = next(self._outcomes, None)
        self._known -= 1
        if outcome is None or not self._known:
            self._end()
        # what a cell did to its watcher, it cannot do to the next
        return self._cells.popleft(), outcome or WATCHER_DIED

    def _end(self) -> None:
        if self._outcomes is not None:
            self._outcomes.close()
            self._outcomes = None

    def finish(self) -> list[Cell]:
        """Forget the cells; the next may have begun, and is given up."""
        self._end()
        return super().finish()


def workers_for(
    evaluate: Objective,
    configs: Sequence[Any],
    instances: Sequence[Any] | None,
    *,
    n_jobs: int = 1,
    executor: Executor | None = None,
    retries: int = 0,
    timeout: float | None = None,
    memory: int | None = None,
    parameters: Collection[str] | None = (),
    timed: bool = False,
) -> Workers:
    """Return workers for these evaluations, or raise ObjectiveError or SettingError.

    Those that are `timed` are stopped at the bound of their cell.
    """
    check_objective(evaluate, timed=timed)
    check_command(evaluate, configs, instances, parameters)
    check_jobs(n_jobs)
    whole(retries, "retries", least=0)
    limits = limits_for(timeout, memory, timed=timed)
    sent = {
        **{f"candidate {index}": config for index, config in enumerate(configs)},
        **{f"instance {index}": instance for index, instance in enumerate(instances or ())},
    }
    if executor is not None:
        if not isinstance(executor, Executor):
            raise SettingError(
                f"executor is a {type(executor).__name__}: give a concurrent.futures.Executor"
            )
        if n_jobs < 0:
            raise SettingError(
                f"n_jobs={n_jobs} and executor: say how many workers the executor has, or leave "
                "n_jobs out"
            )
        return on_executor(executor, evaluate, sent, n_jobs, retries, limits)
    pooled = None if n_jobs == 1 else in_joblib(evaluate, sent, n_jobs, retries, limits)
    if pooled is not None:
        return pooled
    if limits:
        return OneByOne(evaluate, limits, retries=retries)
    return InProcess(evaluate, retries=retries)
