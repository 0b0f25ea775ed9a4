"""Ray evaluates, with the same result, whatever becomes of its actors."""

from __future__ import annotations

import os
import signal

import cloudpickle
import executors
import objectives
import processes
import pytest
from executors import (
    SETTINGS,
    SPACE,
    check_interrupt,
    check_limits,
    check_result,
    objective,
    said,
)
from processes import noted, wait_for

import racer

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
ray = pytest.importorskip("ray")
for module in (executors, objectives, processes):  # Ray's workers do not have the path of the tests
    cloudpickle.register_pickle_by_value(module)

pytestmark = pytest.mark.filterwarnings(  # of processes that Ray leaves to themselves
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
N_CPUS = 2


@pytest.fixture(name="connected", scope="module", autouse=True)
def _connected():
    connect()
    yield
    ray.shutdown()


def connect():
    ray.init(
        num_cpus=N_CPUS,
        include_dashboard=False,
        log_to_driver=False,
        logging_level="ERROR",
        object_store_memory=200 * 2**20,
    )


def wait_until_no_cpu_is_taken():
    assert wait_for(lambda: ray.available_resources().get("CPU") == N_CPUS)


def test_a_race_a_tuning_and_a_resume_give_the_result_of_one_process(tmp_path):
    check_result(ray, tmp_path / "run.db")
    wait_until_no_cpu_is_taken()


def test_limits_hold_in_its_actors():
    check_limits(ray)
    wait_until_no_cpu_is_taken()


@pytest.mark.thorough
def test_ctrl_c_does_not_wait_and_what_runs_goes_on(tmp_path):
    begun, ended = check_interrupt(ray, tmp_path, N_CPUS)
    wait_until_no_cpu_is_taken()
    assert len(list(begun.iterdir())) == len(list(ended.iterdir()))


@pytest.mark.thorough
def test_actors_that_are_killed_change_nothing(tmp_path):
    killed = set()

    def kill(event):
        alive = sorted(set(noted(tmp_path)) - killed)
        if len(alive) == N_CPUS:  # one goes on while the other begins
            os.kill(alive[len(killed) % N_CPUS], signal.SIGKILL)
            killed.add(alive[len(killed) % N_CPUS])

    given = {"n_jobs": ray, "callbacks": [kill], **SETTINGS}
    result = racer.tune(SPACE, objective(tmp_path), [1.0, 2.0], **given)
    assert killed
    assert said(result) == said(racer.tune(SPACE, objective(), [1.0, 2.0], **SETTINGS))
    assert result.failures.empty
    wait_until_no_cpu_is_taken()
