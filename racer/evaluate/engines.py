"""Clusters that place actors, objects that live on a worker: Dask."""

from __future__ import annotations

import asyncio
import sys
import time
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from racer.errors import SettingError
from racer.evaluate.objective import describe
from racer.evaluate.transport import Call

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

_ONLY = {"pure", "retries"}  # options of Dask's executor that do not choose among workers


class HasExecutor(Protocol):
    """A client of Dask."""

    def get_executor(self, **kwargs: Any) -> Executor:
        """Return an executor."""


Cluster: TypeAlias = Executor | HasExecutor
Answers: TypeAlias = tuple[list[tuple[Any, str]], float]


class Actor(Protocol):
    """A handle of an `Evaluator` on a worker."""

    def run(self, calls: Sequence[bytes]) -> Awaitable[Answers]:
        """Make pickled calls; any error means that the actor is lost."""

    def stop(self) -> object:
        """Make no more calls."""


class Engine(Protocol):
    """A cluster, used from an event loop in a thread of its own."""

    def check(self) -> None:
        """Raise SettingError if the cluster is closed."""

    def call_soon(self, function: Callable[..., Any], *args: Any) -> None:
        """Call a function in the event loop, from any thread."""

    async def workers(self) -> Mapping[Any, int]:
        """Return the threads of each worker."""

    async def hire(self, worker: Any) -> Actor:
        """Place an actor on a worker."""


def engine_of(executor: object) -> Engine | None:
    """Return the cluster behind a Dask client or its executor; None if it has none.

    An executor of Dask for some workers or resources keeps to its tasks.
    """
    if (distributed := sys.modules.get("distributed")) is None:
        return None
    if isinstance(executor, distributed.Client):
        return _Dask(executor)
    cfexecutor = sys.modules.get("distributed.cfexecutor")
    if cfexecutor is None or not isinstance(executor, cfexecutor.ClientExecutor):
        return None
    is_for_all = executor._kwargs.keys() <= _ONLY  # noqa: SLF001
    return _Dask(executor._client) if is_for_all and not executor._shutdown else None  # noqa: SLF001


class Evaluator:
    """The object that lives on a worker, and makes calls there."""

    def __init__(self) -> None:
        self.is_stopped = False

    def make(self, calls: Sequence[bytes]) -> Answers:
        """Return (answer, "") or (None, error) of each call, and the seconds of all."""
        start, answers = time.perf_counter(), list[tuple[Any, str]]()
        for call in calls:
            if self.is_stopped:
                break
            try:
                answers.append((Call(call)(), ""))
            except Exception as error:  # noqa: BLE001  (for the driver, which may lack its class)
                answers.append((None, describe(error)))
        return answers, time.perf_counter() - start


class DaskEvaluator(Evaluator):
    """The one of Dask, whose event loop it must not block."""

    async def run(self, calls: Sequence[bytes]) -> Answers:
        """Make calls in a thread for tasks: a Dask worker has a single one for its actors."""
        from distributed import get_worker  # noqa: PLC0415  (an extra)

        threads = get_worker().executors["default"]
        return await asyncio.get_running_loop().run_in_executor(threads, self.make, calls)

    async def stop(self) -> None:
        """Make no more calls."""
        self.is_stopped = True


class _Dask:
    """A client of Dask, which stays open."""

    def __init__(self, client: Any) -> None:
        if client.asynchronous:
            raise SettingError("executor is an asynchronous Dask client: give one that is not")
        self._client = client

    def check(self) -> None:
        if (status := self._client.status) not in ("running", "connecting"):
            raise SettingError(f"executor is a Dask client that is {status}: give one that is open")

    def call_soon(self, function: Callable[..., Any], *args: Any) -> None:
        self._client.loop.add_callback(function, *args)

    async def workers(self) -> Mapping[Any, int]:
        cores: dict[str, int] = await self._client.scheduler.ncores(workers=None)
        return cores

    async def hire(self, worker: Any) -> Actor:
        placed = self._client.submit(
            DaskEvaluator, actor=True, workers=[worker], allow_other_workers=False, pure=False
        )
        with self._client.as_current():
            actor: Actor = await placed
        return actor
