"""Ray evaluates, with the same result, whatever becomes of its actors."""

from __future__ import annotations

import os
import signal
import threading

import cloudpickle
import objectives
import processes
import pytest
from objectives import hang
from processes import noted, wait_for

import racer

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
ray = pytest.importorskip("ray")
for module in (objectives, processes):  # Ray's workers do not have the path of the tests
    cloudpickle.register_pickle_by_value(module)

pytestmark = pytest.mark.filterwarnings(  # of processes that Ray leaves to themselves
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
SETTINGS = {"budget": 150, "seed": 3, "decider": "f-race"}
SPACE = racer.Space({"x": racer.Real(-5, 5)})
POOL = [{"x": x} for x in range(6)]
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


def objective(others=None):
    """Return an objective that travels by value: a worker cannot import this file.

    With a folder it waits until another process has left its mark there, too.
    """

    def evaluate(config, instance, seed):
        if others is not None:
            (others / str(os.getpid())).touch()
            assert wait_for(lambda: len(noted(others)) > 1)
        return abs(config["x"] - 1) * instance + seed % 7

    return evaluate


def said(result):
    return result.best_index, result.survivors, result.evaluations, result.table.to_json()


def wait_until_no_cpu_is_taken():
    assert wait_for(lambda: ray.available_resources().get("CPU") == N_CPUS)


def test_a_race_a_tuning_and_a_resume_give_the_result_of_one_process(tmp_path):
    path = str(tmp_path / "run.db")
    race = racer.race(POOL, objective(), [1.0, 2.0], **SETTINGS)
    short = SETTINGS | {"budget": 60}
    racer.race(POOL, objective(), [1.0, 2.0], executor=ray, store=path, **short)
    assert said(racer.resume(path, objective(), budget=150, executor=ray, ahead=0)) == said(race)
    one, other = (
        racer.tune(SPACE, objective(), [1.0, 2.0], executor=given, **SETTINGS)
        for given in (None, ray)
    )
    assert said(one) == said(other)
    wait_until_no_cpu_is_taken()


def test_limits_hold_in_its_actors():
    once = {"deterministic": True, "first_test": 1, "budget": 2, "executor": ray}
    with pytest.warns(racer.RacerWarning, match="is set aside"):
        result = racer.race(range(2), lambda c, i, s: hang(), [0], **once, timeout=0.5)
    assert result.failures["status"].tolist() == ["timeout"] * 2
    result = racer.race(range(2), lambda c, i, s: c, [0], **once, timeout=600)
    assert result.failures.empty
    wait_until_no_cpu_is_taken()


@pytest.mark.thorough
def test_ctrl_c_does_not_wait_and_what_runs_goes_on(tmp_path):
    begun, ended, release = (tmp_path / name for name in ("begun", "ended", "release"))
    begun.mkdir()
    ended.mkdir()

    def evaluate(config, instance, seed):
        cell = f"{config}-{seed}"
        (begun / cell).touch()
        wait_for(release.exists)
        (ended / cell).touch()
        return config

    def interrupt():
        wait_for(lambda: len(list(begun.iterdir())) == N_CPUS)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        with pytest.raises(racer.RaceInterrupted):
            racer.race(range(4), evaluate, executor=ray, **SETTINGS)
        assert list(ended.iterdir()) == []
    finally:
        release.touch()
        thread.join()
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

    given = {"executor": ray, "callbacks": [kill], **SETTINGS}
    result = racer.tune(SPACE, objective(tmp_path), [1.0, 2.0], **given)
    assert killed
    assert said(result) == said(racer.tune(SPACE, objective(), [1.0, 2.0], **SETTINGS))
    assert result.failures.empty
    wait_until_no_cpu_is_taken()
