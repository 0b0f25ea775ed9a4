"""Ray evaluates, with the same result, whatever becomes of its actors."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

import racer

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
ray = pytest.importorskip("ray")

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


def objective(seconds=0.0, folder=None):
    """Return an objective that travels by value: a worker cannot import this file."""

    def evaluate(config, instance, seed):
        import os
        import time

        if folder is not None:
            (folder / str(os.getpid())).touch()
        time.sleep(seconds)
        return abs(config["x"] - 1) * instance + seed % 7

    return evaluate


def said(result):
    return result.best_index, result.survivors, result.evaluations, result.table.to_json()


def wait_until_no_cpu_is_taken():
    until = time.monotonic() + 60
    while ray.available_resources().get("CPU") != N_CPUS and time.monotonic() < until:
        time.sleep(0.05)
    assert ray.available_resources().get("CPU") == N_CPUS


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
    def slow(config, instance, seed):
        import time

        time.sleep(60 if config == 1 else 0)
        return config

    settings = {"deterministic": True, "first_test": 1, "budget": 3, "timeout": 0.5}
    result = racer.race(range(3), slow, [0], executor=ray, **settings)
    assert result.failures[["candidate", "status"]].to_numpy().tolist() == [[1, "timeout"]]
    wait_until_no_cpu_is_taken()


def test_an_evaluation_that_kills_its_actor_costs_its_own_cell():
    def deadly(config, instance, seed):
        import os

        if config == 2:
            os._exit(1)
        return config

    settings = {"deterministic": True, "first_test": 1, "budget": 4}
    result = racer.race(range(4), deadly, [0], executor=ray, **settings)
    assert result.failures[["candidate", "status"]].to_numpy().tolist() == [[2, "killed"]]
    assert result.failures["message"].item().startswith("WorkerLostError: 4 workers died with it: ")
    assert result.table[[0, 1, 3]].to_numpy().tolist() == [[0, 1, 3]]
    wait_until_no_cpu_is_taken()


def test_it_waits_while_others_have_all_cpus(tmp_path):
    begun = tmp_path / "begun"

    @ray.remote(num_cpus=N_CPUS)
    def work():
        begun.touch()
        time.sleep(3)

    working = work.remote()
    while not begun.exists():
        time.sleep(0.01)
    result = racer.race(POOL, objective(), [1.0], executor=ray, **SETTINGS)
    assert said(result) == said(racer.race(POOL, objective(), [1.0], **SETTINGS))
    ray.get(working)
    wait_until_no_cpu_is_taken()


@pytest.mark.thorough
def test_ctrl_c_does_not_wait_and_what_runs_goes_on(tmp_path):
    begun, ended, release = (tmp_path / name for name in ("begun", "ended", "release"))
    begun.mkdir()
    ended.mkdir()

    def evaluate(config, instance, seed):
        import time

        cell = f"{config}-{seed}"
        (begun / cell).touch()
        until = time.monotonic() + 60
        while not release.exists() and time.monotonic() < until:
            time.sleep(0.01)
        (ended / cell).touch()
        return config

    def interrupt():
        while len(list(begun.iterdir())) < N_CPUS:
            time.sleep(0.01)
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
def test_actors_killed_every_second_change_nothing(tmp_path):
    over, killed = threading.Event(), set()

    def kill():
        while not over.wait(1.0):
            alive = sorted({int(path.name) for path in tmp_path.iterdir()} - killed)
            if len(alive) == N_CPUS:  # one goes on while the other begins
                os.kill(alive[len(killed) % N_CPUS], signal.SIGKILL)
                killed.add(alive[len(killed) % N_CPUS])

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        evaluate = objective(0.03, tmp_path)  # with two workers, more than a second
        result = racer.tune(SPACE, evaluate, [1.0, 2.0], executor=ray, **SETTINGS)
    finally:
        over.set()
        killer.join()
    assert killed
    assert said(result) == said(racer.tune(SPACE, objective(), [1.0, 2.0], **SETTINGS))
    assert result.failures.empty
    wait_until_no_cpu_is_taken()


@pytest.mark.thorough
def test_a_connection_that_is_closed_during_a_race_ends_it():
    def close(event):
        ray.shutdown()

    with pytest.raises(racer.SettingError, match="executor is ray, which is not connected"):
        racer.race(POOL, objective(0.01), [1.0], executor=ray, callbacks=[close], **SETTINGS)
    assert not ray.is_initialized()
    with pytest.raises(racer.SettingError, match=r"call ray\.init\(\) first"):
        racer.race(POOL, objective(), executor=ray, **SETTINGS)
    connect()
    result = racer.race(POOL, objective(), [1.0], executor=ray, **SETTINGS)
    assert said(result) == said(racer.race(POOL, objective(), [1.0], **SETTINGS))
