"""Any executor evaluates; what it loses, delays, repeats or reorders changes nothing."""

from __future__ import annotations

import gc
import os
import pickle
import random
import threading
import weakref
from concurrent.futures import (
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from functools import partial
from importlib import import_module
from multiprocessing import get_context

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from playing import content
from processes import TOOLS, python

import racer
from racer import Cell, ObjectiveError, Outcome, RacerError, SettingError
from racer.evaluate import transport
from racer.evaluate.workers import outcomes_of, workers_for
from racer.run.drive import Feed, drive
from racer.tuner import Tuner

SETTINGS = {"budget": 120, "seed": 9, "decider": "f-race"}


def objective():
    """Return an objective that travels by value: the standard library could not pickle it."""

    def evaluate(config, instance, seed):
        import random

        x = config if isinstance(config, int) else config["x"] + config["y"]
        rng = random.Random(seed * 10 + x)
        if x and rng.random() < 0.05:
            raise ValueError("sometimes")
        return x / 3 + instance + rng.gauss(0, 1)

    return evaluate


evaluate = objective()


def contest_of(name):
    if name == "race":
        return racer.Race(range(6), [0.0, 5.0, 1.0], **SETTINGS)
    space = racer.Space({"x": racer.Real(0.0, 5.0), "y": racer.Categorical([0, 1])})
    return Tuner.of(space, [0.0, 5.0, 1.0], test_instances=[2.0], **SETTINGS)


def race_with(executor, function=evaluate, **settings):
    race = contest_of("race")
    workers = workers_for(function, race.configs, race.instances, n_jobs=executor, **settings)
    return drive(Feed(race, workers))


@pytest.fixture(scope="module")
def in_process():
    return {
        name: content(drive(Feed(contest_of(name), workers_for(evaluate, [], []))))
        for name in ("race", "tuning")
    }


@pytest.fixture(scope="module")
def alone(in_process):
    assert in_process["race"]["failures"]
    assert in_process["race"]["dropped"]
    return in_process["race"]


class AnyHow(Executor):
    """Evaluates in a thread, in any order, twice; delays and loses some calls, each cell once."""

    def __init__(self, seed, lost):
        self._lock = threading.Condition()
        self._waiting = []
        self._random = random.Random(seed)
        self._lost = lost
        self.losses = {}  # of cells, with their reason
        threading.Thread(target=self._work, daemon=True).start()

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        with self._lock:
            self._waiting.append((future, fn))
            self._lock.notify()
        return future

    def _work(self):
        while True:
            with self._lock:
                while not self._waiting:
                    self._lock.wait()
                self._lock.wait(self._random.choice([0, 0, 0.001]))  # what comes may overtake
                place = self._random.randrange(len(self._waiting))
                future, fn = self._waiting.pop(place)
            error = self._error(fn)
            if error == "cancelled":
                future.cancel()
                future.set_running_or_notify_cancel()
            elif error is not None:
                future.set_exception(error)
            elif future.set_running_or_notify_cancel():
                fn()
                future.set_result(fn())

    def _error(self, fn):
        (cell,) = getattr(fn.call, "args", [None])
        if cell is None or cell.key in self.losses:
            return None
        is_lost = self._random.random() < self._lost
        errors = "cancelled", RuntimeError("KilledWorker"), BrokenExecutor("gone")
        self.losses[cell.key] = error = self._random.choice(errors) if is_lost else None
        return error


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_threads_give_the_same_race(alone, n_jobs):
    with ThreadPoolExecutor(3) as executor:
        assert content(race_with(racer.Workers(n_jobs, executor))) == alone
        assert executor.submit(int).result() == 0  # still open


@pytest.fixture(scope="module")
def processes():
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        yield executor


@pytest.mark.parametrize("settings", [{}, {"limits": racer.Limits(60)}], ids=str)
def test_processes_give_the_same_race(alone, processes, settings):
    assert content(race_with(processes, **settings)) == alone
    assert processes.submit(int).result() == 0  # still open


@settings(max_examples=6, deadline=None, derandomize=True)
@given(
    name=st.sampled_from(["race", "tuning"]),
    n_jobs=st.integers(1, 16),
    ahead=st.sampled_from([0, 1, 8, "auto"]),
    lost=st.sampled_from([0.0, 0.03, 0.3]),
    seed=st.integers(0, 2**32),
)
def test_whatever_an_executor_delays_reorders_repeats_or_loses(
    in_process, name, n_jobs, ahead, lost, seed
):
    contest, executor = contest_of(name), AnyHow(seed, lost)
    workers = workers_for(evaluate, [], [], n_jobs=racer.Workers(n_jobs, executor=executor))
    assert content(drive(Feed(contest, workers, ahead))) == in_process[name]
    assert lost < 0.3 or any(executor.losses.values())


def test_what_is_lost_twice_was_killed():
    def deadly(config, instance, seed):
        return float(config)

    def dies(call, fn):
        if isinstance(fn.call, partial) and fn.call.args[0].config == 2:
            raise RuntimeError("the worker of this one died. Sorry")
        return fn()

    cells = [Cell(0, c, c, None, 1) for c in range(4)]
    with workers_for(deadly, range(4), None, n_jobs=one_that(dies)) as workers:
        outcomes = {cell.config: outcome for cell, outcome in outcomes_of(workers, cells)}
    assert [outcomes[c].value for c in (0, 1, 3)] == [0.0, 1.0, 3.0]
    assert outcomes[2] == Outcome(
        "killed", None, message="RuntimeError: the worker of this one died"
    )


def test_an_executor_that_is_broken_is_an_error_not_a_loser(processes):
    def fatal(config, instance, seed):
        if config == 3:
            os._exit(1)
        return config + seed % 7

    with (
        ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor,
        pytest.raises(SettingError, match=r"^executor takes no more .*limits="),
    ):
        race_with(executor, fatal)
    result = race_with(processes, fatal, limits=racer.Limits(60))
    assert set(result.failures["candidate"]) == {3}


def test_an_executor_that_was_left_and_all_cores_are_refused():
    words = r"Workers\(-1, executor=..\): give how many it has"
    with ThreadPoolExecutor(1) as executor, pytest.raises(SettingError, match=words):
        racer.Workers(-1, executor)
    with pytest.raises(SettingError, match="give one that has not been shut down"):
        race_with(executor)


def test_futures_are_released_when_their_result_is_in():
    futures = []

    class Watched(ThreadPoolExecutor):
        def submit(self, fn, /, *args, **kwargs):
            future = super().submit(fn, *args, **kwargs)
            futures.append(weakref.ref(future))
            return future

    cells = [Cell(0, c, c, None, 1) for c in range(8)]
    with (
        Watched(1) as executor,
        workers_for(lambda c, i, s: c, range(8), None, n_jobs=executor) as workers,
    ):
        outcomes = outcomes_of(workers, cells)
        next(outcomes)
        for known in range(2, 9):
            next(outcomes)
            executor.submit(int).result()  # the thread has let go of the one before
            gc.collect()
            assert sum(ref() is not None for ref in futures) <= 10 - known
        assert next(outcomes, None) is None


@pytest.mark.parametrize(("n_jobs", "expected"), [(1, 20), (2, 4)])
def test_as_many_cells_are_in_flight_as_n_jobs_says(monkeypatch, n_jobs, expected):
    in_flight, most, gate = [], [], threading.Event()

    class Counted(ThreadPoolExecutor):
        def submit(self, fn, /, *args, **kwargs):
            future = super().submit(fn, *args, **kwargs)
            in_flight.append(future)
            most.append(sum(not f.done() for f in in_flight))
            return future

    def waits(config, instance, seed):
        assert gate.wait(60)
        return config

    with (
        Counted(20) as executor,
        workers_for(
            waits, range(20), None, n_jobs=racer.Workers(n_jobs, executor=executor)
        ) as workers,
    ):
        wait = workers.next
        # nothing ends before all is submitted that will be
        monkeypatch.setattr(workers, "next", lambda *args: (gate.set(), wait(*args))[1])
        cells = [Cell(0, c, c, None, 1) for c in range(20)]
        assert len(list(outcomes_of(workers, cells))) == 20
    assert max(most) == expected


def test_a_stop_hands_out_no_more_and_finishes_what_runs():
    begun, both, gate = [], threading.Barrier(3), threading.Event()

    def waits(config, instance, seed):
        begun.append(config)
        both.wait(60)
        gate.wait()
        return config

    cells = [Cell(0, c, c, None, 1) for c in range(8)]
    with ThreadPoolExecutor(2) as executor:
        workers = workers_for(waits, range(8), None, n_jobs=executor)
        with workers:
            for cell in cells:
                workers.submit(cell)
            both.wait(60)
            assert workers.finish() == cells[:2]
            gate.set()
            assert {workers.next()[0].config for _ in range(2)} == {0, 1}
    assert sorted(begun) == [0, 1]


def test_an_objective_that_cannot_be_loaded_in_a_worker_is_found_before_the_race(processes):
    class Broken:
        def __call__(self, config, instance, seed):
            raise AssertionError

        def __reduce__(self):
            return import_module, ("no_such_module",)

    with pytest.raises(ObjectiveError, match=r"^evaluate cannot be loaded in a worker"):
        race_with(processes, Broken())


def test_an_instance_that_cannot_be_sent_is_named(processes):
    race = racer.Race.of(range(3), [0, threading.Lock()], budget=60, deterministic=False)
    workers = workers_for(evaluate, race.configs, race.instances, n_jobs=processes)
    with pytest.raises(RacerError, match=r"^instance 1 cannot be sent"):
        drive(Feed(race, workers))
    with ThreadPoolExecutor(1) as executor:
        workers = workers_for(lambda c, i, s: c, race.configs, race.instances, n_jobs=executor)
        assert drive(Feed(race, workers)).best == 0


def one_that(does, made=Future):
    """Return an executor in this thread that does something else with some calls."""

    class Inline(Executor):
        calls = 0

        def submit(self, fn, /, *args, **kwargs):
            self.calls += 1
            future = made()
            try:
                future.set_result(does(self.calls, fn))
            except BaseException as error:  # noqa: BLE001  (as a simple adapter does)
                future.set_exception(error)
            return future

    return Inline()


@pytest.mark.parametrize("error", [CancelledError(), BrokenExecutor("gone"), RuntimeError("gone")])
def test_the_first_call_of_all_may_be_lost(alone, error):
    def loses(call, fn):
        if call == 1:
            raise error
        return fn()

    assert content(race_with(one_that(loses))) == alone


class Uncancellable(Future):
    """A future like Parsl's."""

    def cancel(self):
        raise NotImplementedError("Cancel not implemented")


def test_a_race_is_decided_although_its_futures_cannot_be_cancelled(alone):
    result = race_with(one_that(lambda _, fn: fn(), made=Uncancellable))
    assert content(result) == alone
    assert result.unused.cells > 0  # in flight at the end


def test_a_future_with_another_result_is_an_error_before_the_race():
    words = r"^executor: the result of a future is .*: let submit\(fn, \*args\) set fn\(\*args\)"
    with pytest.raises(SettingError, match=words):
        race_with(one_that(lambda call, fn: None))


def test_workers_that_are_new_for_each_call_get_a_large_evaluate(monkeypatch):
    """As jobs of a cluster are: what one of them was sent, no other has."""
    data, sizes = bytes(100_000), []

    def large(config, instance, seed):
        return float(config + len(data))

    def in_a_new_one(call, fn):
        sent = pickle.dumps(fn)
        sizes.append(len(sent))
        monkeypatch.setattr(transport, "_tasks", {})
        return pickle.loads(sent)()

    workers = workers_for(large, range(5), None, n_jobs=one_that(in_a_new_one))
    with workers:
        found = list(outcomes_of(workers, [Cell(0, c, c, None, 1) for c in range(5)]))
    assert sorted(outcome.value for _, outcome in found) == [100_000.0 + c for c in range(5)]
    assert len(sizes) < 20


def test_ctrl_c_in_an_executor_in_this_thread_is_ctrl_c():
    def stops(config, instance, seed):
        if config == 1:
            raise KeyboardInterrupt
        return float(config)

    with pytest.raises(racer.RaceInterrupted):
        racer.race(range(3), stops, budget=15, n_jobs=one_that(lambda _, fn: fn()), seed=1)


@pytest.mark.parametrize(
    "kinds", [["executor", "threading"], pytest.param(["loky"], marks=pytest.mark.thorough)]
)
def test_a_stop_does_not_wait_for_cells_ahead(tmp_path, kinds):
    """Workers are on cells of candidates that are eliminated, and would be for minutes."""
    done = python("-c", STOPPED, str(tmp_path), *kinds, env=TOOLS, exits=None)
    assert done.stdout.splitlines() == [f"{kind} interrupted" for kind in kinds], done.stderr


STOPPED = """
import os, signal, sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
import joblib, racer
from flat import scheduled
from objectives import hang
from playing import Scripted
from processes import wait_for
from racer.evaluate.executor import Futures

def evaluate(config, instance, seed):
    if config > 5 and instance == 6:
        mark.touch()
        hang()
    if (config, instance) == (0, 5):  # the last that is needed before 6 and 7 are eliminated
        assert wait_for(mark.exists)
    return float(config + seed % 3)

def stop(event):
    dropped.extend(getattr(event, "eliminated", ()))

def wait_after_ctrl_c(self, stopping, wait=Futures.next):
    if dropped:
        dropped.clear()
        os.kill(os.getpid(), signal.SIGINT)
    return wait(self, stopping)

Futures.next, dropped = wait_after_ctrl_c, []
decider = scheduled(Scripted({6: [6, 7]}, 0), {"first_test": 6})
signal.signal(signal.SIGINT, signal.default_int_handler)
for kind in sys.argv[2:]:
    mark = Path(sys.argv[1], kind)
    executor = ThreadPoolExecutor(2) if kind == "executor" else None
    with joblib.parallel_config("loky" if kind == "executor" else kind):
        try:
            racer.race(range(8), evaluate, racer.Instances(range(400), deterministic=True),
                budget=2_000, n_jobs=racer.Workers(2, executor), seed=1, decider=decider, callbacks=[stop],
                store=f"{sys.argv[1]}/{kind}.db")
        except racer.RaceInterrupted:
            print(kind, "interrupted", flush=True)
os._exit(0)  # threads hang on
"""
