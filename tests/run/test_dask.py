"""Dask evaluates, with the same result, whatever becomes of its workers."""

from __future__ import annotations

import gc
import logging
import os
import signal
import sys
from collections import Counter

import dask
import flat
import pytest
from distributed import Client, LocalCluster
from executors import (
    POOL,
    SETTINGS,
    SPACE,
    check_interrupt,
    check_limits,
    check_result,
    objective,
    said,
)
from processes import wait_for

import racer
from racer.evaluate.workers import workers_for
from racer.run.drive import Feed, drive

CONFIG = {
    "distributed.deploy.lost-worker-timeout": "1 hour",  # or a nanny may be closed for good
    "distributed.admin.tick.limit": "1 hour",  # a busy machine is not worth a warning
}


@pytest.fixture(name="cluster", scope="module")
def _cluster(tmp_path_factory):
    with (
        dask.config.set(CONFIG),
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=":0",
            local_directory=str(tmp_path_factory.mktemp("dask")),
            silence_logs=logging.CRITICAL,
        ) as cluster,
    ):
        yield cluster


@pytest.fixture(name="client", scope="module")
def _client(cluster):
    with Client(cluster) as client:
        yield client


@pytest.fixture(name="executor")
def _executor(client):
    return client.get_executor(pure=False)


def test_a_race_a_tuning_and_a_resume_give_the_result_of_one_process(executor, tmp_path):
    check_result(executor, tmp_path / "run.db")


def test_limits_hold_on_its_workers(executor):
    check_limits(executor)


@pytest.mark.thorough
def test_ctrl_c_does_not_wait(executor, tmp_path):
    check_interrupt(executor, tmp_path, 1)


def test_cells_are_calls_of_actors_or_tasks_of_the_workers_that_are_chosen(client, cluster):
    race = racer.race(POOL, objective(), [1.0], **SETTINGS)
    one = next(iter(cluster.scheduler.workers))

    def tasks(**options):
        """Return how many actors and evaluations Dask's scheduler sees in a race."""
        before = seen()
        executor = client.get_executor(**options) if options else client
        result = racer.race(POOL, objective(), [1.0], n_jobs=executor, **SETTINGS)
        assert said(result) == said(race)
        return seen() - before

    def seen():
        prefixes = cluster.scheduler.task_prefixes
        names = {"DaskEvaluator", "evaluate"} & prefixes.keys()
        return Counter({name: prefixes[name].state_counts["waiting"] for name in names})

    assert set(tasks()) == {"DaskEvaluator"}
    chosen = tasks(workers=[one])
    assert set(chosen) == {"evaluate"}
    assert chosen["evaluate"] > race.evaluations


def test_a_client_that_would_wait_for_itself_is_refused(client, monkeypatch):
    """One that belongs to a running loop; to connect another fails now and then in Dask."""
    monkeypatch.setattr(Client, "asynchronous", True)
    with pytest.raises(racer.SettingError, match="asynchronous"):
        racer.race(POOL, objective(), n_jobs=client, **SETTINGS)
    monkeypatch.undo()


def test_finished_tasks_are_released(cluster, executor, monkeypatch):
    # Dask may log that a future was cancelled by us, and a record that is kept holds the future
    monkeypatch.setattr(logging.getLogger("tornado.application"), "disabled", True)
    before = set(cluster.scheduler.tasks)

    def left():
        return set(cluster.scheduler.tasks) - before

    def wait_for_at_most(number):
        # Dask's futures are in cycles
        assert wait_for(lambda: len(left()) <= number or gc.collect() < 0)

    result = flat.race(
        POOL,
        objective(),
        [1.0],
        n_jobs=racer.Workers(2, executor=executor),
        first_test=4,
        callbacks=[lambda _: wait_for_at_most(5)],  # four in flight, and the one that is told
        **SETTINGS | {"budget": 24},
    )
    assert result.evaluations == 24
    wait_for_at_most(0)


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_both_workers_killed_change_nothing(cluster, client, monkeypatch, tmp_path):
    settings = SETTINGS | {"budget": 90}
    evaluate = objective(tmp_path)  # so that both have some when one is killed
    workers = workers_for(objective(), (), [1.0, 2.0])
    alone = drive(Feed(racer.Tuner(SPACE, [1.0, 2.0], **settings), workers))
    tuner = racer.Tuner(SPACE, [1.0, 2.0], **settings)
    client.wait_for_workers(2)
    first, second = (worker.pid for worker in cluster.workers.values())
    told, tell = [], tuner.tell

    def counted(cell, outcome):
        told.append(cell.key)
        tell(cell, outcome)
        if len(told) == 20:
            os.kill(first, signal.SIGKILL)
        elif len(told) == 50:
            client.wait_for_workers(2)  # one goes on while the other begins
        elif len(told) == 60:
            os.kill(second, signal.SIGKILL)

    monkeypatch.setattr(tuner, "tell", counted)
    workers = workers_for(evaluate, (), [1.0, 2.0], n_jobs=client.get_executor(pure=False))
    result = drive(Feed(tuner, workers))
    assert said(result) == said(alone)
    assert result.failures.empty
    assert set(Counter(told).values()) == {1}
    assert len(told) == result.evaluations
