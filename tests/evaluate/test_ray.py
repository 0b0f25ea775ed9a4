"""Ray's actors, in a module that stands for Ray: refusals, places, losses, the end of a run."""

from __future__ import annotations

import gc
import itertools
import sys
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from types import ModuleType, SimpleNamespace

import pytest
from actor_races import RACE, SETTINGS, alone, evaluate, said

import racer
from racer import Outcome
from racer.evaluate import actors
from racer.evaluate.actors import Actors
from racer.evaluate.engines import engine_of


class Method:
    """A method of an actor: `remote` makes the call, `future` tells of its end."""

    def __init__(self, call):
        self.call = call

    def options(self, **groups):
        return self

    def remote(self, *args):
        return SimpleNamespace(future=partial(lambda future: future, self.call(*args)))


class Handle:
    """An actor with a thread of its own; one that has no CPU waits."""

    def __init__(self, ray, node, evaluator):
        self.ray, self.node, self.evaluator = ray, node, evaluator
        self.is_over, self.waiting, self.n_made = False, [], 0
        self.thread = ThreadPoolExecutor(1)
        self.make, self.stop = Method(self._make), Method(evaluator.stop)
        self.__ray_terminate__ = Method(self._end)

    def _make(self, calls):
        future = Future()
        if self.node in self.ray.taken:
            self.waiting.append(future)
        else:
            self.thread.submit(self._answer, future, calls)
        return future

    def _answer(self, future, calls):
        answers = self.evaluator.make(calls)
        self.n_made += len(answers[0])
        if calls and self.ray.dies(next(self.ray.numbers)):  # with its answers
            self.is_over = True
        if self.is_over:
            future.set_exception(RuntimeError("the actor died"))
        else:
            future.set_result(answers)

    def _end(self):
        self.thread.submit(setattr, self, "is_over", True)
        self.thread.shutdown(wait=False)


class Ray(ModuleType):
    """Nodes of some CPUs; like Ray, it connects when it is asked for anything."""

    def __init__(self, cpus, dies=lambda number: False):
        super().__init__("ray")
        self.cpus, self.dies = cpus, dies
        self.is_open, self.is_client, self.n_connections = True, False, 0
        self.taken = set()  # nodes whose CPUs others have
        self.numbers = itertools.count(1)
        self.handles, self.options = [], []
        strategies = SimpleNamespace(NodeAffinitySchedulingStrategy=lambda node, soft: (node, soft))
        client = SimpleNamespace(ray=SimpleNamespace(is_connected=lambda: self.is_client))
        self.util = SimpleNamespace(scheduling_strategies=strategies, client=client)

    def _connect(self):
        self.n_connections += not self.is_open
        self.is_open = True

    def is_initialized(self):
        return self.is_open

    def nodes(self):
        self._connect()
        dead = {"NodeID": "dead", "Alive": False, "Resources": {"CPU": 9.0}}
        return [
            dead,
            *(
                {"NodeID": name, "Alive": True, "Resources": {"CPU": n} if n else {}}
                for name, n in self.cpus.items()
            ),
        ]

    def remote(self, *, scheduling_strategy, **options):
        self._connect()
        self.options.append(options)
        node, soft = scheduling_strategy
        assert not soft

        def place(kind):
            def remote():
                self.handles.append(Handle(self, node, kind()))
                return self.handles[-1]

            return SimpleNamespace(remote=remote)

        return place

    def kill(self, handle):
        self._connect()
        handle.is_over = True
        for future in handle.waiting:  # also to one for whom nobody waits any more
            future.set_exception(RuntimeError("killed"))


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch):
    monkeypatch.setattr(actors, "_WATCH", 0.001)


@pytest.fixture(name="connected")
def _connected(monkeypatch):
    def connected(*args, **kwargs):
        ray = Ray(*args, **kwargs)
        monkeypatch.setitem(sys.modules, "ray", ray)
        return ray

    return connected


def raced(ray, **settings):
    pool, instances = RACE
    return racer.race(pool, evaluate, instances, n_jobs=ray, **SETTINGS | settings)


def serving():
    return [thread for thread in threading.enumerate() if thread.name == "racer-ray"]


def test_ray_that_is_not_connected_is_refused_before_anything_runs(connected, tmp_path):
    ray = connected({"a": 2.0})
    ray.is_open = False
    with pytest.raises(racer.SettingError, match=r"not connected: call ray\.init\(\) first$"):
        raced(ray, store=tmp_path / "run.db")
    ray.is_open = ray.is_client = True
    with pytest.raises(racer.SettingError, match=r"Ray Client \(ray://\): run the script on a"):
        raced(ray)
    assert ray.n_connections == 0
    assert ray.handles == []


def test_another_module_is_no_executor(connected):
    connected({"a": 2.0})
    with pytest.raises(racer.SettingError, match=r"n_jobs is a module: .* the module ray"):
        raced(sys)


def test_each_cpu_of_each_node_has_an_actor_until_the_run_ends(connected):
    ray = connected({"a": 2.0, "b": 1.5, "without": 0})
    for _ in range(2):  # on one connection
        before = len(ray.handles)
        assert said(raced(ray)) == alone()
        new = ray.handles[before:]
        for handle in new:
            handle.thread.shutdown(wait=True)
        assert all(handle.is_over for handle in new)
        assert sorted(handle.node for handle in new) == ["a", "a", "b"]
        assert serving() == []
    assert {(o["num_cpus"], o["max_restarts"]) for o in ray.options} == {(1, 0)}
    assert ray.is_open


def test_a_lost_actor_is_replaced_and_changes_nothing(connected):
    ray = connected({"a": 2.0}, dies=lambda number: number % 9 == 5)
    result = raced(ray)
    assert said(result) == alone()
    assert result.failures.empty
    assert len(ray.handles) > 2


def test_an_actor_that_waits_for_a_cpu_is_killed_at_the_end(connected):
    ray = connected({"free": 1.0, "busy": 1.0})
    ray.taken.add("busy")
    result = raced(ray)
    assert said(result) == alone()
    (pending,) = (handle for handle in ray.handles if handle.node == "busy")
    assert pending.is_over
    assert not pending.evaluator.is_stopped  # killed, not asked to end


def test_at_the_end_what_runs_goes_on_and_what_was_prefetched_is_left(connected):
    begun, release = threading.Event(), threading.Event()

    def goes_on(number):
        begun.set()
        return not release.wait(30)

    ray = connected({"a": 1.0}, dies=goes_on)
    submitter = Actors(engine_of(ray))
    futures = [submitter.submit(partial(Outcome, "ok", 1.0)) for _ in range(5)]
    assert begun.wait(30)
    submitter.close(futures)
    assert serving() == []
    (handle,) = ray.handles
    assert not handle.is_over
    release.set()
    handle.thread.shutdown(wait=True)
    assert handle.is_over
    assert handle.n_made == 1


def test_a_connection_that_is_closed_during_a_run_ends_it_and_is_not_opened_again(connected):
    def dies(number):  # from the third answer on, when half of the first block is known at most
        ray.is_open &= number < 3
        return not ray.is_open

    ray = connected({"a": 2.0}, dies)
    with pytest.raises(racer.SettingError, match=r"not connected: call ray\.init\(\) once, and"):
        raced(ray)
    gc.collect()
    assert ray.n_connections == 0
    assert serving() == []
