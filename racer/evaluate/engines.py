"""Clusters that place actors, objects that live on a worker: Dask and Ray."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from concurrent.futures import Executor
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from racer.errors import SettingError
from racer.evaluate.objective import describe
from racer.evaluate.transport import Call

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Future

_ONLY = {"pure", "retries"}  # options of Dask's executor that do not choose among workers


class HasExecutor(Protocol):
    """A client of Dask."""

    def get_executor(self, **kwargs: Any) -> Executor:
        """Return an executor."""


class HasNodes(Protocol):
    """The module `ray`."""

    def is_initialized(self) -> bool:
        """Return True while it is connected."""

    def nodes(self) -> Any:
        """Return the nodes of its cluster."""


Cluster: TypeAlias = Executor | HasExecutor | HasNodes
Engine: TypeAlias = "_Dask | _Ray"
Answers: TypeAlias = tuple[list[tuple[Any, str]], float]


def engine_of(executor: object) -> Engine | None:
    """Return the cluster of Ray's module, of a Dask client or of its executor; None if it has none.

    An executor of Dask for some workers or resources keeps to its tasks.
    """
    if executor is not None and executor is sys.modules.get("ray"):
        return _Ray(executor)
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
    """Evaluator on a Dask worker; it must not block the worker's event loop."""

    async def run(self, calls: Sequence[bytes]) -> Answers:
        """Make calls in a thread for tasks: a Dask worker has a single one for its actors."""
        from distributed import get_worker  # noqa: PLC0415  (an extra)

        threads = get_worker().executors["default"]
        return await asyncio.get_running_loop().run_in_executor(threads, self.make, calls)

    async def stop(self) -> None:
        """Make no more calls."""
        self.is_stopped = True


class _Dask:
    """A client of Dask, which stays open, used from its event loop.

    An actor that it hires has `run(calls)`, of which any error means that the actor is lost, and
    `stop()`, after which it makes no more calls.
    """

    def __init__(self, client: Any) -> None:
        if client.asynchronous:
            raise SettingError("executor is an asynchronous Dask client: give one that is not")
        self._client = client

    def check(self) -> None:
        """Raise SettingError if the cluster is closed."""
        if (status := self._client.status) not in ("running", "connecting"):
            raise SettingError(f"executor is a Dask client that is {status}: give one that is open")

    def call_soon(self, function: Callable[..., Any], *args: Any) -> None:
        """Call a function in the event loop, from any thread."""
        self._client.loop.add_callback(function, *args)

    def close(self, last: Callable[[], Any]) -> None:
        """Call a function in the event loop, if it is there: nothing else is called after it."""
        with suppress(SettingError):
            self.check()
            self.call_soon(last)

    async def workers(self) -> Mapping[Any, int]:
        """Return the threads of each worker."""
        cores: dict[str, int] = await self._client.scheduler.ncores(workers=None)
        return cores

    async def hire(self, worker: Any) -> Any:
        """Place an actor on a worker."""
        placed = self._client.submit(
            DaskEvaluator, actor=True, workers=[worker], allow_other_workers=False, pure=False
        )
        with self._client.as_current():
            return await placed


class RayEvaluator(Evaluator):
    """Evaluator on Ray, which makes the calls of `make` one by one, and `stop` beside them."""

    def stop(self) -> None:
        """Make no more calls: Ray cannot cancel calls that have reached an actor."""
        self.is_stopped = True


class _Ray:
    """Ray's module, whose connection stays open, in an event loop of a thread of racer's.

    It connects by itself when it is asked for something: only ask while it is connected.
    """

    def __init__(self, ray: Any) -> None:
        self._ray = ray
        self._thread: threading.Thread | None = None
        self.check()
        if ray.util.client.ray.is_connected():
            raise SettingError(
                "executor is ray, connected by Ray Client (ray://): run the script on a machine of "
                'the cluster, with ray.init("auto"), by `ray job submit` for example'
            )

    def check(self) -> None:
        if not self._ray.is_initialized():
            when = "first" if self._thread is None else "once, and ray.shutdown() after the run"
            raise SettingError(f"executor is ray, which is not connected: call ray.init() {when}")

    def call_soon(self, function: Callable[..., Any], *args: Any) -> None:
        if self._thread is None:
            self._loop, self._over = asyncio.new_event_loop(), asyncio.Event()
            self._thread = threading.Thread(target=self._serve, name="racer-ray", daemon=True)
            self._thread.start()
        self._loop.call_soon_threadsafe(function, *args)

    def close(self, last: Callable[[], Any]) -> None:
        """Wait until all is over, as the user may disconnect next."""
        if self._thread is not None and self._thread.is_alive():
            self.call_soon(last)
            self.call_soon(self._over.set)
            # a question to Ray may be under way
            self._thread.join(10.0)

    def _serve(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._over.wait())

    async def workers(self) -> Mapping[Any, int]:
        """Return a worker with one thread for each CPU, since threads share generators."""
        nodes = await asyncio.to_thread(self._nodes)
        cpus = {node["NodeID"]: node["Resources"].get("CPU", 0) for node in nodes if node["Alive"]}
        return {(node, place): 1 for node, n in cpus.items() for place in range(int(n))}

    def _nodes(self) -> Any:
        self.check()
        return self._ray.nodes()

    async def hire(self, worker: Any) -> Any:
        """Place an actor on a node, once a CPU is free there."""
        self.check()
        affinity = self._ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy
        place = self._ray.remote(
            num_cpus=1,
            max_restarts=0,
            concurrency_groups={"stop": 1},
            scheduling_strategy=affinity(worker[0], soft=False),
        )
        actor = _RayActor(self._ray, place(RayEvaluator).remote())
        try:
            await actor.run([])
        except BaseException:  # also cancelled: it must not wait for its CPU any more
            actor.kill()
            raise
        return actor


class _RayActor:
    def __init__(self, ray: Any, handle: Any) -> None:
        self._ray = ray
        self._handle = handle

    async def run(self, calls: Sequence[bytes]) -> Answers:
        if not self._ray.is_initialized():
            raise ConnectionError("ray is not connected")
        loop = asyncio.get_running_loop()
        answers: asyncio.Future[Answers] = loop.create_future()

        def answer(done: Future[Answers]) -> None:  # in a thread of Ray, also for nobody
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(_settle, answers, done)

        self._handle.make.remote(list(calls)).future().add_done_callback(answer)
        return await answers

    def stop(self) -> None:
        if self._ray.is_initialized():
            self._handle.stop.options(concurrency_group="stop").remote()
            self._handle.__ray_terminate__.remote()  # after the calls that have come to it

    def kill(self) -> None:
        if self._ray.is_initialized():
            self._ray.kill(self._handle)


def _settle(answers: asyncio.Future[Answers], done: Future[Answers]) -> None:
    if answers.done():  # nobody waits any more
        return
    if (error := done.exception()) is not None:
        answers.set_exception(error)
    else:
        answers.set_result(done.result())
