"""A worker process that dies costs one cell; the others survive."""

import sys

import flat
import pytest
from processes import python


def deadly():
    """Return an objective that does what its configuration says, and travels by value."""

    def evaluate(config, instance, seed):
        import os
        import signal

        if config == "exits":
            os._exit(3)
        if config == "is killed":
            os.kill(os.getpid(), signal.SIGKILL)
        return float(config)

    return evaluate


def test_each_death_costs_its_own_cell():
    pool = [1, "exits", 2, "is killed"]
    result = flat.race(pool, deadly(), [0], deterministic=True, first_test=1, budget=4, n_jobs=2)
    assert result.best == 1
    assert result.evaluations == 4
    assert result.failures[["block", "candidate", "status"]].to_numpy().tolist() == [
        [0, 1, "killed"],
        [0, 3, "killed"],
    ]
    assert all(result.failures["message"].str.startswith("TerminatedWorkerError: A worker process"))
    assert result.table[[0, 2]].to_numpy().tolist() == [[1, 2]]
    assert result.table[[1, 3]].isna().all(axis=None)


@pytest.mark.thorough
def test_a_death_that_does_not_repeat_costs_nothing(tmp_path):
    def evaluate(config, instance, seed):
        import os

        mark = tmp_path / f"{config}"
        if config == 2 and not mark.exists():
            mark.touch()
            os._exit(1)
        return config

    result = flat.race(
        [1, 2, 3], evaluate, [0], deterministic=True, first_test=1, budget=3, n_jobs=2
    )
    assert result.failures.empty
    assert result.table.to_numpy().tolist() == [[1, 2, 3]]


@pytest.mark.thorough
def test_a_candidate_that_cannot_be_unpickled_costs_its_own_cell():
    class Trap:
        def __init__(self, value):
            self.value = value

        def __getstate__(self):
            return {"value": self.value}

        def __setstate__(self, state):
            if state["value"] == 2:
                raise RuntimeError("it was a trap")
            self.__dict__.update(state)

    result = flat.race(
        [Trap(1), Trap(2), Trap(3)],
        lambda config, instance, seed: config.value,
        [0],
        deterministic=True,
        first_test=1,
        budget=3,
        n_jobs=2,
    )
    assert result.failures[["candidate", "status"]].to_numpy().tolist() == [[1, "killed"]]
    assert result.table[[0, 2]].to_numpy().tolist() == [[1, 3]]


SLOW_TO_END = """
import gc, os, signal, threading, time
from joblib.externals.loky.backend import queues, resource_tracker
import racer

feed, unregister = queues.Queue._feed, resource_tracker.unregister

def feed_slowly(*args):
    feed(*args)
    time.sleep(0.3)  # slowness itself is what is tested, inside of joblib

def unregister_slowly(name, kind):
    if threading.current_thread().name == "QueueFeederThread":
        time.sleep(1.5)  # as above
    unregister(name, kind)

queues.Queue._feed = staticmethod(feed_slowly)
resource_tracker.unregister = unregister_slowly

def cost(config, instance, seed):
    if config == 1:
        os.kill(int(os.environ["DRIVER"]), signal.SIGINT)
    time.sleep(600)  # until it is killed

os.environ["DRIVER"] = str(os.getpid())
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    racer.race([1, 2], cost, budget=100, n_jobs=2)
except racer.RaceInterrupted:
    print("interrupted", flush=True)
gc.collect()
time.sleep(0.6)  # for the tracker of resources, who says what has leaked
"""


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="the semaphores of POSIX")
def test_a_pool_that_is_slow_to_end_is_not_reported_as_leaking():
    done = python("-c", SLOW_TO_END, start_new_session=True, exits=None)
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted\n", "")
