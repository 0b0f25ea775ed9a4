"""Actors of a cluster: batches, retries and hires, in a cluster that is made up."""

import asyncio
import itertools
import threading
from functools import partial

import pytest
from actor_races import RACE, SETTINGS, alone, evaluate, said

import racer
from racer import Outcome
from racer.evaluate import actors
from racer.evaluate.actors import Actors
from racer.evaluate.attempt import Task
from racer.evaluate.engines import Evaluator
from racer.evaluate.executor import Futures
from racer.evaluate.process_state import here
from racer.run.drive import Feed, drive


class Engine:
    """Workers in an event loop of this process; `dies(number, calls)` ends the one that is called."""

    def __init__(self, n_workers=2, seconds=0.1, dies=lambda number, calls: False):
        self.seconds, self.dies = seconds, dies
        self.n_workers, self.is_open, self.error = n_workers, True, None
        self.names = itertools.count()
        self.alive = [next(self.names) for _ in range(n_workers)]
        self.batches = []  # the calls, and how many batches the worker has with this one
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()

    def check(self):
        if not self.is_open:
            raise racer.SettingError("closed")

    def call_soon(self, function, *args):
        self.loop.call_soon_threadsafe(function, *args)

    def close(self, last):
        self.call_soon(last)

    async def workers(self):
        return dict.fromkeys(self.alive, 1)

    async def hire(self, worker):
        if self.error is not None:
            raise self.error
        return Actor(self, worker)

    def sizes(self):
        return [len(calls) for calls, _ in self.batches]


class Actor:
    def __init__(self, engine, name):
        self.engine, self.name = engine, name
        self.evaluator, self.load = Evaluator(), 0

    async def run(self, calls):
        engine = self.engine
        self.load += 1
        engine.batches.append((tuple(calls), self.load))
        number = len(engine.batches)
        for _ in range(5):  # the others run, too
            await asyncio.sleep(0)
        if self.name not in engine.alive or engine.dies(number, calls):
            if self.name in engine.alive:
                engine.alive[engine.alive.index(self.name)] = next(engine.names)
            raise OSError("its worker is gone")
        answers, _ = self.evaluator.make(calls)
        self.load -= 1
        return answers, engine.seconds * len(calls)

    def stop(self):
        self.evaluator.is_stopped = True


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch):
    monkeypatch.setattr(actors, "_WATCH", 0.001)


def workers(engine, objective=evaluate):
    task = Task(objective, 0, None, here())
    return Futures(Actors(engine), task, {}, n_workers=engine.n_workers)


def raced(engine, objective=evaluate):
    return drive(Feed(racer.Race(*RACE, **SETTINGS), workers(engine, objective)))


def answered(engine):
    """Return an engine that got workers after forty calls, so that the clock does not matter."""
    submitter = Actors(engine)
    futures = [submitter.submit(partial(Outcome, "ok", 1.0)) for _ in range(40)]
    engine.alive = [0, 1]
    assert {future.result(timeout=30).value for future in futures} == {1.0}
    submitter.close([])
    return engine


def test_short_calls_share_a_batch_and_others_do_not():
    slow, fast = Engine(seconds=0.1), Engine(seconds=0.01)
    assert said(raced(slow)) == said(raced(fast)) == alone()
    assert set(slow.sizes()) == {1}
    assert max(fast.sizes()) <= 5
    slow, fast = answered(Engine(0, seconds=0.1)), answered(Engine(0, seconds=0.01))
    assert set(slow.sizes()) == {1}
    assert max(fast.sizes()) in {2, 3, 4, 5}  # of 50 ms at most
    assert max(load for _, load in slow.batches) == 2  # one of them prefetched


def test_calls_of_a_dead_worker_are_repeated_alone_while_others_continue():
    engine = Engine(3, dies=lambda number, calls: number % 9 == 5)
    result = raced(engine)
    assert said(result) == alone()
    assert result.failures.empty
    seen, repeated = set(), 0
    for calls, load in engine.batches:
        if again := seen.intersection(calls):
            repeated += 1
            assert len(calls) == load == len(again) == 1
        seen.update(calls)
    assert repeated > 0
    assert next(engine.names) > 3  # workers that came later


def test_a_call_that_ends_its_worker_each_time_is_killed():
    def deadly(number, calls):
        return any(b"deadly one" in call for call in calls)

    race = racer.Race.of(
        ["a", "deadly one", "c"], [0], deterministic=True, first_test=1, budget=3, seed=1
    )
    evaluate = workers(engine := Engine(dies=deadly), lambda config, instance, seed: ord(config[0]))
    result = drive(Feed(race, evaluate))
    assert result.failures[["candidate", "status"]].to_numpy().tolist() == [[1, "killed"]]
    message = result.failures["message"].item()
    assert message == "WorkerLostError: 4 workers died with it: OSError: its worker is gone"
    assert next(engine.names) == 6


def test_a_worker_that_vanishes_loses_its_calls():
    class Silent(Actor):
        async def run(self, calls):
            if self.name == 0 and len(self.engine.batches) >= 3:
                self.engine.alive = [1]
                await asyncio.Event().wait()
            return await super().run(calls)

    engine = Engine()

    async def hire(worker):
        return Silent(engine, worker)

    engine.hire = hire
    assert said(raced(engine)) == alone()
    assert engine.alive == [1]


def test_what_prevents_all_actors_ends_the_race():
    engine = Engine()
    engine.error = ModuleNotFoundError("No module named 'racer'")
    with pytest.raises(racer.ObjectiveError, match="No module named 'racer'"):
        raced(engine)


def test_hires_that_fail_later_are_repeated():
    engine = Engine(1, dies=lambda number, calls: number % 9 == 5)
    hire, number = engine.hire, itertools.count()

    async def hire_now_and_then(worker):
        if next(number) % 4:
            raise RuntimeError("Worker holding Actor was lost")
        return await hire(worker)

    engine.hire = hire_now_and_then
    result = raced(engine)
    assert said(result) == alone()
    assert next(number) > 4


def test_a_cluster_that_is_closed_meanwhile_ends_the_calls_that_wait():
    engine = Engine(0)
    submitter = Actors(engine)
    future = submitter.submit(int)
    engine.is_open = False
    assert isinstance(future.exception(timeout=30), racer.SettingError)
    with pytest.raises(racer.SettingError, match="closed"):
        submitter.submit(int)


def test_a_call_that_was_not_sent_can_be_withdrawn():
    engine = Engine(0)
    submitter = Actors(engine)
    futures = [submitter.submit(int) for _ in range(2)]
    assert submitter.withdraw(futures[0])
    engine.alive = [0]
    assert futures[1].result(timeout=30) == 0
    assert sum(engine.sizes()) == 1
    submitter.close([])


def test_a_call_that_raises_on_its_worker_says_what_it_raised():
    submitter = Actors(Engine())
    error = submitter.submit(lambda: 1 / 0).exception(timeout=30)
    assert str(error.__cause__) == "ZeroDivisionError: division by zero"
    submitter.close([])
