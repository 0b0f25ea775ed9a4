"""Cells evaluated by actors: one long-lived object on each worker of a cluster.

A worker has a batch of calls for each of its threads and one prefetched; other calls wait in the
driver, where they can be withdrawn. Batches have one call unless calls are short. Calls that were
in flight on a dead worker are repeated one by one, each on a worker that has nothing else to do,
while all others continue. All state is confined to the event loop of the engine.
"""

from __future__ import annotations

import asyncio
import itertools
import math
from collections import deque
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from racer.errors import SettingError
from racer.evaluate.executor import Submitter, WorkerLostError
from racer.evaluate.objective import describe
from racer.evaluate.outcome import Outcome
from racer.evaluate.transport import dumps

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from racer.evaluate.engines import Engine

_WATCH = 0.5  # seconds between two looks at which workers there are
_ALLOWED = 3  # workers that may be lost with a call, as in Dask


@dataclass(eq=False)
class _Queued:
    future: Future[Any]
    pickled: bytes
    losses: int = 0  # workers that were lost with it


@dataclass(eq=False)
class _Worker:
    threads: int
    hiring: asyncio.Task[None] | None = None
    actor: Any = None  # once hired
    batches: dict[asyncio.Task[None], list[_Queued]] = field(default_factory=dict)  # in flight
    has_retry: bool = False  # and gets nothing else

    def load(self) -> float:
        """Return the number of batches per thread."""
        return len(self.batches) / self.threads


class Actors(Submitter):
    """Submits calls to the actors of a cluster, which stays open."""

    grace: float | None = 0.0

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._queue: deque[_Queued] = deque()
        self._retries: deque[_Queued] = deque()
        self._workers: dict[Any, _Worker] = {}
        self._watching: asyncio.Task[None] | None = None
        self._is_closed = False
        self._has_hired = False
        self._seconds = math.inf  # mean of a call

    def submit(self, call: Callable[[], Any]) -> Future[Any]:
        """Queue a call; the first one begins to place actors."""
        self._engine.check()
        queued = _Queued(Future(), dumps(call))
        self._engine.call_soon(self._add, queued)
        return queued.future

    def room(self, n_workers: int) -> int:
        """Return the number of calls in two batches for each worker."""
        return 2 * n_workers * self._batch_size()

    def _batch_size(self) -> int:
        # a long call has a batch of its own
        if self._seconds >= 0.02:
            return 1
        # short ones: as many as take some 0.05 s, at most 100
        return min(math.ceil(0.05 / max(self._seconds, 1e-9)), 100)

    def _add(self, queued: _Queued) -> None:
        self._queue.append(queued)
        if self._watching is None or self._watching.done():
            self._watching = asyncio.create_task(self._watch())
        self._feed()

    async def _watch(self) -> None:
        """Place an actor on each new worker, and give up workers that are gone."""
        while True:
            try:
                self._engine.check()
                found = await self._engine.workers()
            except SettingError as error:
                for worker in list(self._workers.values()):
                    self._dismiss(worker, error)
                self._fail(error)
                return
            except Exception:  # noqa: BLE001  (the connection, which the engine may repair)
                found = dict.fromkeys(self._workers, 1)
            for name in self._workers.keys() - found.keys():
                self._dismiss(self._workers[name], ConnectionError("it left the cluster"))
            for name in found.keys() - self._workers.keys():
                worker = self._workers[name] = _Worker(max(found[name], 1))
                worker.hiring = asyncio.create_task(self._hire(name, worker))
            await asyncio.sleep(_WATCH)

    async def _hire(self, name: Any, worker: _Worker) -> None:
        try:
            worker.actor = await self._engine.hire(name)
        except Exception as error:  # noqa: BLE001  (no racer there, say; `_watch` tries again)
            self._workers.pop(name, None)
            if not self._has_hired:  # later the cells in the queue would count as killed
                self._fail(error)
        else:
            self._has_hired = True
        self._feed()

    def _dismiss(self, worker: _Worker, error: Exception) -> None:
        """Give up a worker, whose calls become retries."""
        self._workers = {name: w for name, w in self._workers.items() if w is not worker}
        lost, worker.batches = worker.batches, {}
        for task in (worker.hiring, *lost):
            if task is not None and task is not asyncio.current_task():
                task.cancel()
        for queued in itertools.chain(*lost.values()):
            queued.losses += 1
            if self._is_closed or (worker.has_retry and queued.losses > _ALLOWED):
                reason = describe(error).partition("\n")[0]
                queued.future.set_exception(
                    WorkerLostError(f"{queued.losses} workers died with it: {reason}")
                )
            else:
                self._retries.append(queued)

    def _feed(self) -> None:
        """Send calls to the workers that have the fewest; retries to workers that have none."""
        workers = [w for w in self._workers.values() if w.actor is not None and not w.has_retry]
        workers.sort(key=_Worker.load)
        n_retries = len(self._retries)
        for worker in workers[:n_retries]:  # these finish what they have
            if not worker.batches:
                worker.has_retry = True
                self._send(worker, [self._retries.popleft()])
        workers, threads = workers[n_retries:], sum(w.threads for w in self._workers.values())
        while self._queue and workers:
            worker = min(workers, key=_Worker.load)
            # one batch waits beside those that run: no worker is idle, and little is lost with it
            if len(worker.batches) > worker.threads:
                return
            size = min(self._batch_size(), math.ceil(len(self._queue) / threads))
            batch = [self._queue.popleft() for _ in range(size)]
            if batch := [
                queued for queued in batch if queued.future.set_running_or_notify_cancel()
            ]:
                self._send(worker, batch)

    def _send(self, worker: _Worker, batch: list[_Queued]) -> None:
        if worker.actor is not None:
            worker.batches[asyncio.create_task(self._call(worker, worker.actor, batch))] = batch

    async def _call(self, worker: _Worker, actor: Any, batch: list[_Queued]) -> None:
        """Make an actor's calls."""
        try:
            answers, seconds = await actor.run([queued.pickled for queued in batch])
        except Exception as error:  # noqa: BLE001  (of the way, not of a call)
            self._dismiss(worker, error)
        else:
            for queued, (answer, message) in zip(batch, answers, strict=True):
                _end(queued.future, answer, message)
            if isinstance(answers[0][0], Outcome):
                last, mean = seconds / len(batch), self._seconds
                # a moving mean of the seconds of a call
                self._seconds = last if mean == math.inf else mean + 0.2 * (last - mean)
            worker.has_retry = False
            worker.batches = {t: b for t, b in worker.batches.items() if b is not batch}
        self._feed()

    def _fail(self, error: Exception) -> None:
        """End all calls that wait."""
        for queued in (*self._queue, *self._retries):
            if queued.future.running() or queued.future.set_running_or_notify_cancel():
                queued.future.set_exception(error)
        self._queue.clear()
        self._retries.clear()

    def withdraw(self, future: Future[Any]) -> bool:
        """Cancel a call that has not been sent."""
        return future.cancel()

    def close(self, futures: Collection[Future[Any]]) -> None:
        """Cancel calls that have not begun; a running evaluation goes on until it returns."""
        for future in futures:
            future.cancel()
        self._engine.close(self._close)

    def _close(self) -> None:
        """Stop the actors, and release them."""
        self._is_closed = True
        if self._watching is not None:
            self._watching.cancel()
        self._fail(SettingError("the run has ended"))
        actors = [worker.actor for worker in self._workers.values() if worker.actor is not None]
        for worker in list(self._workers.values()):
            self._dismiss(worker, ConnectionError("the run has ended"))
        for actor in actors:
            with suppress(RuntimeError):  # its worker is gone
                actor.stop()


def _end(future: Future[Any], answer: Any, message: str) -> None:
    """Give a future the answer of its call, or the error that it raised on its worker."""
    if not message:
        future.set_result(answer)
        return
    error = RuntimeError("a call failed on its worker")
    error.__cause__ = RuntimeError(message)
    future.set_exception(error)
