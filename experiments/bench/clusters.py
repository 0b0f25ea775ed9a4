"""Time how busy the workers of each engine are, beside those of a plain `pool.map`.

A race in which all candidates stay sleeps so many milliseconds in each evaluation. Busy is the
share of the workers' time that it sleeps, from the call of `racer.race` to its return. Each race
comes after a `multiprocessing.Pool.map` of as many sleeps by as many workers, and "of pool.map's"
is the median ratio of the two. "Dask-tasks" submits each cell as a task, as any executor does.
The driver's CPU time an
evaluation includes the scheduler of a local Dask cluster. Engines that are not installed, or do not start, are left out. All results are asserted to be equal.
"""

from __future__ import annotations

import importlib
import multiprocessing
import statistics
import time
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import click

import racer
from experiments.bench.tools import Withheld, evaluate, timed
from experiments.options import number_option, words_option
from experiments.report import print_row
from racer.deciders import FRace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future

__all__ = ["ENGINES", "Sleeper", "main", "share"]

CANDIDATES = 10


class Sleeper:
    """An objective that sleeps for so many seconds."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def __call__(self, config: int, instance: None, seed: int) -> float:  # noqa: ARG002
        """Sleep, and return the cost."""
        time.sleep(self.seconds)
        return evaluate(config, 1, seed)


class Tasks(Executor):
    """An executor that hides the one that it has."""

    def __init__(self, inner: Executor) -> None:
        self._inner = inner

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Submit a call."""
        return self._inner.submit(fn, *args, **kwargs)


@contextmanager
def _loky(n_workers: int) -> Iterator[Any]:  # noqa: ARG001
    yield None


@contextmanager
def _dask(n_workers: int) -> Iterator[Any]:
    distributed: Any = importlib.import_module("distributed")
    with (
        distributed.LocalCluster(
            n_workers=n_workers, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@contextmanager
def _dask_tasks(n_workers: int) -> Iterator[Any]:
    with _dask(n_workers) as client:
        yield Tasks(client.get_executor(pure=False))


@contextmanager
def _ray(n_workers: int) -> Iterator[Any]:
    ray: Any = importlib.import_module("ray")
    ray.init(num_cpus=n_workers, include_dashboard=False, log_to_driver=False)
    try:
        yield ray
    finally:
        ray.shutdown()


@contextmanager
def _mpi4py(n_workers: int) -> Iterator[Any]:
    futures: Any = importlib.import_module("mpi4py.futures")
    with futures.MPIPoolExecutor(n_workers) as executor:
        executor.bootup()
        yield executor


@contextmanager
def _ipyparallel(n_workers: int) -> Iterator[Any]:
    ipyparallel: Any = importlib.import_module("ipyparallel")
    with ipyparallel.Cluster(n=n_workers, log_level=50) as client:
        yield client.executor()


ENGINES: dict[str, Callable[[int], Any]] = {
    "loky": _loky,
    "Dask": _dask,
    "Dask-tasks": _dask_tasks,
    "Ray": _ray,
    "mpi4py": _mpi4py,
    "ipyparallel": _ipyparallel,
}


def share(
    seconds: float, evaluations: int, n_workers: int, executor: Any
) -> tuple[float, float, Any]:
    """Return the busy share of the workers, the driver's CPU ms an evaluation, and the costs."""

    def race(budget: int, sleeper: Sleeper) -> Any:
        return racer.race(
            range(CANDIDATES),
            sleeper,
            budget=budget,
            decider=Withheld(FRace(gate=False)),
            seed=1,
            n_jobs=n_workers,
            executor=executor,
        )

    race(10 * CANDIDATES, Sleeper(0.01))  # starts the workers
    before = time.process_time()
    wall, result = timed(lambda: race(evaluations, Sleeper(seconds)))
    used = time.process_time() - before
    return evaluations * seconds / (n_workers * wall), used / evaluations * 1e3, result.table


def _pool_share(seconds: float, evaluations: int, n_workers: int, pool: Any) -> float:
    pool.map(time.sleep, [0.0] * n_workers, chunksize=1)
    wall, _ = timed(lambda: pool.map(time.sleep, [seconds] * evaluations, chunksize=1))
    return evaluations * seconds / (n_workers * wall)


@click.command()
@number_option("--milliseconds", 100)
@number_option("--evaluations", 400)
@number_option("--repeats", 3)
@words_option("--engine", ENGINES)
@click.option("--workers", type=int, multiple=True, default=(4, 8), show_default=True)
def main(
    milliseconds: int, evaluations: int, repeats: int, engine: Any, workers: tuple[int, ...]
) -> None:
    """Print a Markdown table: the busy share of each engine's workers, beside `pool.map`'s."""
    seconds = milliseconds / 1e3
    head = ("busy", "pool.map busy", "of pool.map's", "driver CPU, ms")
    print_row("engine", "workers", *head, head=True)
    for n_workers in workers:
        expected = share(0.0, evaluations, 1, None)[-1]
        for name in engine:
            with ExitStack() as stack:
                pool = stack.enter_context(multiprocessing.get_context("spawn").Pool(n_workers))
                try:
                    executor = stack.enter_context(ENGINES[name](n_workers))
                except Exception as error:  # noqa: BLE001  (of any kind: not here)
                    click.echo(f"{name} is left out: {error!r}", err=True)
                    continue
                rows = []
                for _ in range(repeats):
                    plain = _pool_share(seconds, evaluations, n_workers, pool)
                    busy, used, table = share(seconds, evaluations, n_workers, executor)
                    if not table.equals(expected):
                        raise AssertionError(f"{name} changed the race")
                    rows.append((busy, plain, busy / plain, used))
            medians = (statistics.median(column) for column in zip(*rows, strict=True))
            print_row(name, str(n_workers), *(f"{value:.2f}" for value in medians))
