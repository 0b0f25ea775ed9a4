"""Workers of joblib: loky, unless `joblib.parallel_config` names another backend."""

from __future__ import annotations

import os
import threading
import time
import uuid
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from joblib.externals.loky import reusable_executor
from joblib.externals.loky.process_executor import BrokenProcessPool, ShutdownExecutorError
from joblib.parallel import LokyBackend, SequentialBackend, ThreadingBackend, get_active_backend

from racer.errors import SettingError
from racer.evaluate.attempt import Task
from racer.evaluate.executor import Futures, Submitter
from racer.evaluate.limits.processes import start_worker
from racer.evaluate.objective import check_picklable
from racer.evaluate.process_state import here

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from racer.evaluate.limits.limits import Limits
    from racer.evaluate.objective import Objective


def joblib_workers(
    evaluate: Objective,
    contents: Mapping[str, Any],
    n_jobs: int,
    retries: int,
    limits: Limits | None,
    *,
    apart: bool = False,
) -> Futures | None:
    """Return workers of joblib's active backend; None if it would run in this process alone.

    `apart`: a single worker is a process, too, if the backend has processes.
    """
    backend, _ = get_active_backend()
    if not getattr(backend, "supports_sharedmem", False):  # processes
        for name, item in {"evaluate": evaluate, **contents}.items():
            check_picklable(item, name)
    has_futures = isinstance(backend, LokyBackend | ThreadingBackend | SequentialBackend)
    n_workers = backend.effective_n_jobs(n_jobs)
    is_loky = isinstance(backend, LokyBackend)
    if has_futures and n_workers == 1 and not (apart and is_loky):
        return None
    if not has_futures:
        raise SettingError(
            f"joblib's {type(backend).__name__} has no futures that racer can wait for: use loky, "
            "its default, threading, or give an executor or a Dask client as n_jobs="
        )
    nested = backend.get_nested_backend()
    return Futures(
        _Loky(backend, n_workers) if is_loky else _Threads(n_workers),
        Task(evaluate, retries, limits, here(), is_loky, nested),
        {},
        n_workers=n_workers,
    )


class _Loky(Submitter):
    """joblib's pool of processes; it outlives the race and is shared with other users of joblib."""

    replaces_pool = True
    grace: float | None = 0.5  # killing a pool takes longer

    def __init__(self, backend: Any, n_workers: int) -> None:
        self._n_workers = n_workers
        self._backend: Any = LokyBackend(
            nesting_level=backend.nesting_level,
            inner_max_num_threads=backend.inner_max_num_threads,
            **backend.backend_kwargs,
        )
        self._executor: Any = None

    def room(self, n_workers: int) -> int:
        """Return the number of calls to keep in flight."""
        return super().room(n_workers) if n_workers > 1 else 1

    def _open(self) -> None:
        self._backend.configure(
            n_jobs=max(self._n_workers, 2),  # joblib has no pool of one
            parallel=SimpleNamespace(_id=uuid.uuid4().hex),
            max_nbytes=None,  # or large arrays would arrive read-only
            # else even an idle worker would survive this process if that is killed
            initializer=start_worker,
            initargs=(os.getpid(),),
        )
        self._executor = self._backend._workers  # noqa: SLF001

    def submit(self, call: Callable[[], Any]) -> Future[Any]:
        """Submit a call, to a new pool if this one is gone or another user replaced it."""
        if self._executor is None or reusable_executor._executor is not self._executor:  # noqa: SLF001
            self._open()
        while True:
            try:
                future: Future[Any] = self._backend.submit(call)
            except (BrokenProcessPool, ShutdownExecutorError):
                self._open()
            else:
                return future

    def is_retryable(self, error: BaseException) -> bool:
        """Return True if another user of the shared pool has shut it down."""
        return isinstance(error, ShutdownExecutorError)

    def withdraw(self, future: Future[Any]) -> bool:  # noqa: ARG002
        """Return False: a call reaches a worker at once."""
        return False

    def close(self, futures: Collection[Future[Any]]) -> None:
        """Kill the workers if any of these calls has not ended."""
        if self._executor is None:
            return
        queue, self._executor = self._executor._call_queue, None  # noqa: SLF001
        if all(future.done() for future in futures):
            self._backend.terminate()
            return
        # killing a pool while a call waits for its place in the queue crashes the pool's thread
        until = time.monotonic() + 1.0
        while not all(f.running() or f.done() for f in futures) and time.monotonic() < until:
            time.sleep(0.001)
        self._backend.abort_everything(ensure_ready=False)
        # joblib does not join the thread that feeds the queue, and semaphores would leak
        feeder = getattr(queue, "_thread", None)
        if feeder is not None and queue._closed:  # noqa: SLF001
            # it should end within a millisecond
            feeder.join(10)


_Queue = SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None]


class _Threads(Submitter):
    """Daemon threads: unlike ThreadPoolExecutor's, they do not keep a program alive."""

    grace: float | None = None  # a thread cannot be killed

    def __init__(self, n_workers: int) -> None:
        self._n_workers = n_workers
        self._threads: list[threading.Thread] = []
        self._calls: _Queue = SimpleQueue()

    def submit(self, call: Callable[[], Any]) -> Future[Any]:
        """Queue a call; the first one starts the threads."""
        while len(self._threads) < self._n_workers:
            self._threads.append(threading.Thread(target=_work, args=(self._calls,), daemon=True))
            self._threads[-1].start()
        future: Future[Any] = Future()
        self._calls.put((future, call))
        return future

    def withdraw(self, future: Future[Any]) -> bool:
        """Cancel a call that has not begun."""
        return future.cancel()

    def close(self, futures: Collection[Future[Any]]) -> None:
        """Cancel pending calls; running ones go on until they return, or the program ends."""
        for future in futures:
            future.cancel()
        for _ in self._threads:
            self._calls.put(None)
        self._threads, self._calls = [], SimpleQueue()


def _work(calls: _Queue) -> None:
    while (task := calls.get()) is not None:
        future, call = task
        if future.set_running_or_notify_cancel():
            try:
                future.set_result(call())
            except BaseException as error:  # noqa: BLE001  (for the thread that waits)
                future.set_exception(error)
        del task, future, call
