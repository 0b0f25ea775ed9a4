"""Cells evaluated by a coroutine function, many at a time, in an event loop of racer's own."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Self

from racer._entry import as_user
from racer.errors import ObjectiveError
from racer.evaluate.attempt import FINAL, judged
from racer.evaluate.executor import SPARE, never
from racer.evaluate.limits.limits import took_more_than
from racer.evaluate.objective import Misbehaved, describe
from racer.evaluate.pace import Pace, Throttled, pause_of, trouble_of
from racer.evaluate.process_state import end_fork_of, here

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from racer.evaluate.limits.limits import Limits
    from racer.evaluate.objective import Objective
    from racer.evaluate.outcome import Cell, CellKey, Outcome

# Tries of a call. A refusal costs nothing; a call that takes too long may do so each time.
_TRIES = {"refused": 20, "timeout": 4}


@dataclass(eq=False)
class _Call:
    """A submitted cell; idle while it waits for its slot, its turn or its next try."""

    cell: Cell
    is_idle: bool = True
    is_withdrawn: bool = False
    is_cancelled: bool = False
    task: asyncio.Task[None] | None = None

    def cancel(self) -> None:
        self.is_cancelled = True
        if self.task is not None:
            self.task.cancel()


class Coroutines:
    """Workers that keep `n_jobs` calls of a coroutine function running.

    A call that the server refuses, or that takes too long, leaves its slot and is tried again.
    """

    def __init__(self, evaluate: Any, *, n_jobs: int, limits: Limits) -> None:
        self.takes_more: bool = n_jobs > 1
        self._evaluate, self._n_jobs = evaluate, n_jobs
        self._retries, self._timeout = limits.retries, limits.timeout
        self._loop = event_loop()
        self._slots, self._turn = asyncio.Semaphore(n_jobs), asyncio.Lock()
        limit = evaluate.calls_per_minute if isinstance(evaluate, Throttled) else None
        self._pace = Pace(limit, self._loop.time())
        self._lock = threading.Lock()  # between a withdrawal and the beginning of a call
        self._calls: dict[CellKey, _Call] = {}  # whose outcomes have not been fetched
        self._n_running = 0
        self._is_finishing = False
        self._done: SimpleQueue[tuple[_Call, Outcome | BaseException]] = SimpleQueue()

    @property
    def capacity(self) -> int:
        """Number of cells to keep in flight.

        Once the first has been submitted, as many wait as there are slots: no slot stays idle
        during a decision, or while cells wait for their next try.
        """
        if self._n_jobs == 1:
            return 1
        return self._n_jobs + SPARE + (self._n_jobs if self._calls else 0)

    def submit(self, cell: Cell) -> None:
        """Begin a call as soon as there is a free slot."""
        call = self._calls[cell.key] = _Call(cell)
        self._loop.call_soon_threadsafe(self._start, call)

    def next(self, stopping: Callable[[], bool] = never) -> tuple[Cell, Outcome] | None:
        """Wait for an outcome; None if `stopping()` has become true meanwhile."""
        while True:
            try:
                # a while only, after which a stop is looked for
                return self._fetched(*self._done.get(timeout=0.2))
            except Empty:
                if stopping():
                    return None

    def _fetched(self, call: _Call, outcome: Outcome | BaseException) -> tuple[Cell, Outcome]:
        del self._calls[call.cell.key]
        if isinstance(outcome, BaseException):
            raise outcome
        return call.cell, outcome

    def withdraw(self, cell: Cell) -> bool:
        """Forget a cell unless a call of it is running; return whether it was forgotten."""
        call = self._calls.get(cell.key)
        with self._lock:
            if call is None or not call.is_idle:
                return False
            call.is_withdrawn = True
        del self._calls[cell.key]
        self._loop.call_soon_threadsafe(call.cancel)
        return True

    def finish(self) -> list[Cell]:
        """Forget the cells of which no call is running; return the others."""
        self._is_finishing = True
        for call in list(self._calls.values()):
            self.withdraw(call.cell)
        return [call.cell for call in self._calls.values()]

    def rest(self) -> Iterator[tuple[Cell, Outcome]]:
        """Forget the cells of which no call is running; yield outcomes that are there.

        After `finish`, which a stop calls, wait for all calls: their outcomes may be paid for.
        """
        waits = self._is_finishing
        while self.finish() and (waits or not self._done.empty()):
            if (ended := self.next(lambda: True)) is not None:
                yield ended

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Cancel the calls that are running."""
        self.finish()
        calls, self._calls = list(self._calls.values()), {}
        if calls:
            ended = asyncio.run_coroutine_threadsafe(_end(calls), self._loop)
            with suppress(TimeoutError):  # a call that heeds no cancellation, or blocks the loop
                ended.result(2.0)

    # -- in the event loop

    def _start(self, call: _Call) -> None:
        call.task = self._loop.create_task(self._run(call))

    async def _run(self, call: _Call) -> None:
        try:
            outcome = await self._evaluated(call)
        except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001  (for the thread that waits)
            self._done.put((call, error))
        else:
            if outcome is not None:
                self._done.put((call, outcome))

    async def _evaluated(self, call: _Call) -> Outcome | None:
        """Return the outcome of a cell after as many tries as it takes; None if withdrawn."""
        seconds, attempts, spend, tries = 0.0, 1, None, Counter[str]()
        while True:
            async with self._slots:
                if not await self._begins(call):
                    return None
                begun = self._loop.time()
                answer, error = await self._called(call)
                took = self._loop.time() - begun
            seconds += took
            if (trouble := trouble_of(error)) is None:
                self._pace.accept(took)
            else:
                tries[trouble] += 1
                pause = self._refused(begun, error) if trouble == "refused" else 0.0
                if tries[trouble] < _TRIES[trouble]:
                    # asleep outside its slot: other calls may run, and this one may be withdrawn
                    call.is_idle = True
                    await asyncio.sleep(self._pace.backoff(tries[trouble], pause))
                    continue
            outcome = judged(_given(answer, error), call.cell)
            if outcome.spend is not None:
                spend = (spend or 0.0) + outcome.spend
            if trouble or outcome.status in FINAL or attempts > self._retries:
                return replace(outcome, seconds=seconds, attempts=attempts, spend=spend)
            attempts += 1

    async def _begins(self, call: _Call) -> bool:
        """Wait for the turn of a call; return False if it has been withdrawn."""
        # one call at a time looks at the pace, or several would take the same gap
        async with self._turn:
            while (wait := self._pace.wait(self._loop.time())) > 0.0:  # noqa: ASYNC110
                await asyncio.sleep(wait)  # which a refusal may prolong meanwhile
            with self._lock:
                if not call.is_withdrawn:
                    call.is_idle = False
                    self._pace.begin(self._loop.time())
                return not call.is_withdrawn

    async def _called(self, call: _Call) -> tuple[Any, BaseException | None]:
        """Call the objective once; return its answer or its exception."""
        cell, process = call.cell, here()
        self._n_running += 1
        try:
            async with asyncio.timeout(self._timeout) as limit:
                with as_user():
                    return await self._evaluate(*cell.arguments), None
        except BaseException as error:
            if call.is_cancelled or isinstance(error, KeyboardInterrupt):
                raise
            if limit.expired() and isinstance(error, TimeoutError) and self._timeout is not None:
                return None, _TimeoutExceeded("timeout", took_more_than(self._timeout))
            return None, error
        finally:
            end_fork_of(process)
            self._n_running -= 1

    def _refused(self, begun: float, error: BaseException | None) -> float:
        """Slow all calls down; return the seconds to wait that the server names.

        ObjectiveError if it has refused every call for long.
        """
        now, pause = self._loop.time(), pause_of(error)
        self._pace.refuse(begun, now, pause)
        refused = now - self._pace.refused_since
        # a server that refuses every call for a quarter of an hour ends the run
        if refused > 900.0 and not self._n_running and error is not None:
            raise ObjectiveError(
                f"the server has refused every call for {refused:.0f} s, at last with "
                f"{describe(error)}: begin again when it accepts calls; what a store holds by "
                "then is not evaluated again"
            )
        return pause


class _TimeoutExceeded(Misbehaved):
    """A call that took longer than its `timeout`, named as a time-out."""


def _given(answer: Any, error: BaseException | None) -> Objective:
    """Return a function that returns an answer, or raises the exception instead."""

    def give(*arguments: Any) -> Any:  # noqa: ARG001
        if error is not None:
            raise error
        return answer

    return give


async def _end(calls: list[_Call]) -> None:
    for call in calls:
        call.cancel()
    await asyncio.wait([call.task for call in calls if call.task is not None])


_threads: list[tuple[threading.Thread, asyncio.AbstractEventLoop]] = []  # at most one
_opening = threading.Lock()


def event_loop() -> asyncio.AbstractEventLoop:
    """Return the event loop of all races: connections that one has opened serve the next."""
    with _opening:
        if not _threads or not _threads[0][0].is_alive():  # in a fork it is not
            loop = asyncio.new_event_loop()
            thread = threading.Thread(target=_serve, args=(loop,), daemon=True, name="racer")
            thread.start()
            _threads[:] = [(thread, loop)]
        return _threads[0][1]


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    while True:
        with suppress(KeyboardInterrupt, SystemExit):  # of a task that an evaluation has made
            loop.run_forever()
            return
