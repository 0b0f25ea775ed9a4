"""An evaluate is sent to each worker once."""

import pickle
from functools import partial

import cloudpickle
import pytest

import racer
from racer import Cell
from racer.evaluate import transport
from racer.evaluate.attempt import Task
from racer.evaluate.process_state import here
from racer.evaluate.transport import LoadTask, MissingTask, Transport
from racer.evaluate.workers import outcomes_of, workers_for

CELL = Cell(0, 0, 2, None, 1)


class Counted:
    """An objective of some size, which counts how often it is unpickled."""

    times = 0

    def __init__(self, size):
        self.data = bytes(size)

    def __call__(self, config, instance, seed):
        return float(config)

    def __setstate__(self, state):
        type(self).times += 1
        self.__dict__ |= state


@pytest.fixture(autouse=True)
def _other_worker(monkeypatch):
    monkeypatch.setattr(transport, "_tasks", {})
    monkeypatch.setattr(Counted, "times", 0)


def shipped(size):
    return Transport(Task(Counted(size), 0, None, "elsewhere"))


def arrive(call):
    """Call as in a worker; return the size of what was sent, and the answer."""
    sent = cloudpickle.dumps(call)
    return len(sent), pickle.loads(sent)()


def test_here_it_is_the_object_itself():
    assert shipped(100)(CELL).value == 2.0
    assert Counted.times == 0


def test_a_small_one_goes_along_and_is_unpickled_once():
    one = shipped(100)
    assert [arrive(partial(one, CELL))[1].value for _ in range(5)] == [2.0] * 5
    assert Counted.times == 1


def test_a_large_one_goes_only_to_a_worker_that_lacks_it():
    one = shipped(1_000_000)
    size, answer = arrive(partial(one, CELL))
    assert (size < 2_000, answer) == (True, MissingTask(here()))
    size, answer = arrive(LoadTask(one))
    assert (size > 1_000_000, answer) == (True, here())
    assert [arrive(partial(one, CELL))[1].value for _ in range(5)] == [2.0] * 5
    assert Counted.times == 1


def test_a_worker_keeps_those_of_the_last_runs():
    runs = [shipped(1_000_000) for _ in range(3)]
    for one in runs:
        arrive(LoadTask(one))
    assert len(transport._tasks) == 2
    assert arrive(partial(runs[0], CELL))[1] == MissingTask(here())
    assert arrive(partial(runs[2], CELL))[1].value == 2.0


def test_workers_get_what_they_lack():
    data = bytes(1_000_000)

    def evaluate(config, instance, seed):
        return float(config + len(data))

    cells = [Cell(0, c, c, None, 1) for c in range(12)]
    with workers_for(evaluate, range(12), None, n_jobs=2) as workers:
        values = {cell.config: outcome.value for cell, outcome in outcomes_of(workers, cells)}
    assert values == {c: c + 1_000_000.0 for c in range(12)}


def test_a_very_large_one_is_warned_about():
    data = bytes(11_000_000)

    def evaluate(config, instance, seed):
        return float(config + len(data))

    with pytest.warns(racer.RacerWarning, match="evaluate is 11 MB, which each worker is sent"):
        racer.race(range(3), evaluate, budget=15, seed=1, n_jobs=2)
