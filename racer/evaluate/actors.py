"""Cells evaluated by Dask actors: one long-lived object on each worker of a cluster.

Calls of an actor go past the tasks of Dask's scheduler, which cost it and the driver several
milliseconds each. Each worker has one batch of calls for each of its threads, and one prefetched;
all other calls wait in the driver, and can be withdrawn. Batches have one call unless calls are
short. All state is confined to the event loop of the client, which runs in a thread of its own.

An actor is lost with its worker. Calls that were in flight there are repeated one by one, each on
a worker that has nothing else to do, while all others go on.
"""

from __future__ import annotations

import asyncio
import importlib
import math
import sys
import time
from collections import deque
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import cloudpickle

from racer.errors import SettingError
from racer.evaluate.executor import Submitter, WorkerLostError
from racer.evaluate.objective import describe
from racer.evaluate.outcome import Outcome
from racer.evaluate.transport import Call

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

_SHORT = 0.02  # seconds of a call below which it shares a batch
_BATCH = 0.05  # seconds that a batch should take
_LARGEST = 100  # calls in a batch
_WEIGHT = 0.2  # of the last batch in the mean seconds of a call
_WATCH = 0.5  # seconds between two looks at which workers there are
_ONLY = {"pure", "retries"}  # options of Dask's executor that do not choose among workers


def client_of(executor: object) -> Any:
    """Return the Dask client that is given, or behind an executor; None if there is none.

    An executor for some workers or resources keeps to its tasks.
    """
    if (distributed := sys.modules.get("distributed")) is None:
        return None
    if isinstance(executor, distributed.Client):
        return executor
    cfexecutor = importlib.import_module("distributed.cfexecutor")
    if isinstance(executor, cfexecutor.ClientExecutor) and executor._kwargs.keys() <= _ONLY:  # noqa: SLF001
        return None if executor._shutdown else executor._client  # noqa: SLF001
    return None


class Evaluator:
    """The actor: makes calls in the threads of its worker."""

    def __init__(self) -> None:
        self._is_stopped = False

    async def run(self, calls: Sequence[bytes]) -> tuple[list[tuple[Any, str]], float]:
        """Return (answer, "") or (None, error) of each call, and the seconds of all."""
        distributed = importlib.import_module("distributed")
        threads = distributed.get_worker().executors["default"]
        return await asyncio.get_running_loop().run_in_executor(threads, self._run, calls)

    def _run(self, calls: Sequence[bytes]) -> tuple[list[tuple[Any, str]], float]:
        start, answers = time.perf_counter(), []
        for call in calls:
            if self._is_stopped:
                break
            try:
                answers.append((Call(call)(), ""))
            except Exception as error:  # noqa: BLE001  (for the driver, which may lack its class)
                answers.append((None, describe(error)))
        return answers, time.perf_counter() - start

    async def stop(self) -> None:
        """Make no more calls."""
        self._is_stopped = True


@dataclass(eq=False)
class _Queued:
    future: Future[Any]
    pickled: bytes
    losses: int = 0  # workers that were lost with it


@dataclass(eq=False)
class _Worker:
    threads: int
    hiring: asyncio.Task[None] | None = None
    created: Any = None  # Dask's future of the actor
    actor: Any = None
    batches: set[asyncio.Task[None]] = field(default_factory=set)  # in flight
    has_retry: bool = False  # and gets nothing else

    def load(self) -> float:
        """Return the number of batches per thread."""
        return len(self.batches) / self.threads


class DaskActors(Submitter):
    """Submits calls to an actor on each worker of a Dask client, which stays open."""

    grace = 0.0

    def __init__(self, client: Any) -> None:
        self._client = client
        dask = importlib.import_module("dask")
        self._allowed = int(dask.config.get("distributed.scheduler.allowed-failures"))
        self._queue: deque[_Queued] = deque()
        self._retries: deque[_Queued] = deque()
        self._workers: dict[str, _Worker] = {}  # by address
        self._watching: asyncio.Task[None] | None = None
        self._is_closed = False
        self._seconds = math.inf  # mean of a call

    def submit(self, call: Callable[[], Any]) -> Future[Any]:
        """Queue a call; the first one begins to place actors."""
        if self._client.status != "running":
            raise SettingError(
                f"executor is a Dask client that is {self._client.status}: give one that is open"
            )
        queued = _Queued(Future(), cloudpickle.dumps(call))
        self._client.loop.add_callback(self._add, queued)
        return queued.future

    def room(self, n_workers: int) -> int:
        """Return the number of calls in two batches for each worker."""
        return 2 * n_workers * self._batch_size()

    def _batch_size(self) -> int:
        if self._seconds >= _SHORT:
            return 1
        return min(math.ceil(_BATCH / max(self._seconds, 1e-9)), _LARGEST)

    def _add(self, queued: _Queued) -> None:
        self._queue.append(queued)
        if self._watching is None:
            self._is_closed = False
            self._watching = asyncio.create_task(self._watch())
        self._feed()

    async def _watch(self) -> None:
        """Place an actor on each new worker, and give up workers that are gone."""
        while self._client.status in ("running", "connecting"):
            try:
                threads = await self._client.scheduler.ncores(workers=None)
            except OSError:  # until the client has another connection, or is closed
                threads = None
            for address in () if threads is None else self._workers.keys() - threads.keys():
                self._dismiss(address)
            for address, number in (threads or {}).items():
                if address not in self._workers:
                    worker = self._workers[address] = _Worker(max(number, 1))
                    worker.hiring = asyncio.create_task(self._hire(address, worker))
            await asyncio.sleep(_WATCH)
        self._fail(SettingError(f"the Dask client is {self._client.status}"))

    async def _hire(self, address: str, worker: _Worker) -> None:
        try:
            worker.created = self._client.submit(
                Evaluator, actor=True, workers=[address], allow_other_workers=False, pure=False
            )
            with self._client.as_current():
                worker.actor = await worker.created
        except Exception:  # noqa: BLE001  (the worker is gone, or `_watch` tries again)
            self._workers.pop(address, None)
        self._feed()

    def _dismiss(self, address: str) -> None:
        """Give up a worker; what it has in flight is lost."""
        worker = self._workers.pop(address)
        for task in (worker.hiring, *worker.batches):
            if task is not None:
                task.cancel()

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
            if len(worker.batches) > worker.threads:
                return
            size = min(self._batch_size(), math.ceil(len(self._queue) / threads))
            batch = [self._queue.popleft() for _ in range(size)]
            if batch := [
                queued for queued in batch if queued.future.set_running_or_notify_cancel()
            ]:
                self._send(worker, batch)

    def _send(self, worker: _Worker, batch: list[_Queued]) -> None:
        worker.batches.add(asyncio.create_task(self._call(worker, batch)))

    async def _call(self, worker: _Worker, batch: list[_Queued]) -> None:
        """Make an actor's calls; if it is lost, queue them as retries."""
        try:
            answers, seconds = await worker.actor.run([queued.pickled for queued in batch])
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001  (of the way, not of a call)
            self._lose(worker, batch, error)
        else:
            for queued, (answer, message) in zip(batch, answers, strict=True):
                _end(queued.future, answer, message)
            if isinstance(answers[0][0], Outcome):
                last, mean = seconds / len(batch), self._seconds
                self._seconds = last if mean == math.inf else mean + _WEIGHT * (last - mean)
            worker.has_retry = False
        worker.batches.discard(asyncio.current_task())
        if not self._is_closed:
            self._feed()

    def _lose(self, worker: _Worker, batch: list[_Queued], error: BaseException) -> None:
        """Queue the calls of a lost actor; one that was alone has an end to its retries."""
        for address, other in list(self._workers.items()):
            if other is worker:
                del self._workers[address]
        for queued in batch:
            queued.losses += 1
            if self._is_closed or (worker.has_retry and queued.losses > self._allowed):
                queued.future.set_exception(
                    WorkerLostError(f"{queued.losses} workers died with it: {describe(error)}")
                )
            else:
                self._retries.append(queued)

    def _fail(self, error: Exception) -> None:
        """End all calls that wait."""
        self._watching = None
        for queued in (*self._queue, *self._retries):
            if queued.future.running() or queued.future.set_running_or_notify_cancel():
                queued.future.set_exception(error)
        self._queue.clear()
        self._retries.clear()

    def withdraw(self, future: Future[Any]) -> bool:
        """Cancel a call that has not been sent."""
        return future.cancel()

    def close(self, futures: Collection[Future[Any]]) -> None:
        """Cancel what has not begun; an evaluation that runs goes on until it returns."""
        for future in futures:
            future.cancel()
        if self._client.status == "running":
            self._client.loop.add_callback(self._close)

    async def _close(self) -> None:
        """Stop the actors, and release them."""
        self._is_closed = True
        if self._watching is not None:
            self._watching.cancel()
        self._fail(SettingError("the run has ended"))
        actors = [worker.actor for worker in self._workers.values() if worker.actor is not None]
        for address in list(self._workers):
            self._dismiss(address)
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
