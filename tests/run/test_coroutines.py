"""Races and tunings by coroutines: the same results, whatever a server does; stops and stores."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import zlib
from collections import Counter

import flat
import pytest
from instant import instant_loop

import racer
from racer.evaluate.executor import SPARE
from racer.store.load import check_store

pytestmark = pytest.mark.filterwarnings("ignore::racer.errors.RacerWarning")
SAME = ["block", "candidate", "value", "status"]


@pytest.fixture(autouse=True)
def loop(monkeypatch):
    """The event loop of the test, whose timers are due at once."""
    with instant_loop(monkeypatch) as loop:
        yield loop


def plain(config, instance, seed):
    """Fail for some, and be noisy for all."""
    noise = zlib.crc32(repr((config, instance, seed)).encode())
    if noise % 13 == 0:
        raise ArithmeticError(f"{config}")
    return 0.3 * config + noise / 2**31


class BusyError(Exception):
    status = 429


class Server:
    """A coroutine function that answers late, is busy or hangs at times, by cell and try."""

    def __init__(self):
        self._tries = Counter()

    @property
    def calls(self):
        return self._tries.total()

    async def __call__(self, config, instance, seed):
        cell = repr((config, instance, seed))
        self._tries[cell] += 1  # the fate of a cell does not depend on who is called first
        luck = zlib.crc32(f"{self._tries[cell]} {cell}".encode())
        await asyncio.sleep(luck % 100)
        if luck % 7 == 0:
            raise BusyError
        if luck % 17 == 0:
            await asyncio.sleep(1e6)
        return plain(config, instance, seed)


def told(result):
    """Return what is the same for any number of calls at a time."""
    return (
        result.scores[SAME].to_csv(),
        result.eliminations.to_csv(),
        result.probability_best,
        (result.best, result.survivors, result.ended, result.evaluations),
    )


@pytest.mark.parametrize("n_jobs", [1, 2, 9, 40])
def test_a_race_by_coroutines_is_that_of_a_plain_function(n_jobs):
    rules = {"budget": 150, "seed": 3, "decider": "f-race"}
    server = Server()
    result = flat.race(range(9), server, n_jobs=n_jobs, limits=racer.Limits(200.0), **rules)
    assert told(result) == told(flat.race(range(9), plain, **rules))
    assert len(result.failures) > 3
    assert server.calls > result.evaluations
    assert result.provenance["workers"] == n_jobs


def test_a_limit_of_calls_changes_neither_the_result_nor_the_name():
    limited = racer.Throttled(plain_async, calls_per_minute=600)
    rules = {"budget": 60, "seed": 1, "n_jobs": 3}
    result, expected = (flat.race(range(4), e, **rules) for e in (limited, plain_async))
    assert told(result) == told(expected)
    assert result.provenance["evaluate"] == expected.provenance["evaluate"]
    assert result.provenance["evaluate"].endswith("test_coroutines.plain_async")


async def plain_async(config, instance, seed):
    return plain(config, instance, seed)


class Stopping:
    """A coroutine function that sends its own process a signal while other calls run.

    With `announced`, of the first one, a second follows, and no call ends from the first one on.
    """

    def __init__(self, at, announced=None):
        self.at, self.announced = at, announced
        self.calls, self.finished, self.cancelled = 0, 0, 0

    async def __call__(self, config, instance, seed):
        self.calls += 1
        try:
            await self._stop(self.calls)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        self.finished += 1
        return plain(config, instance, seed)

    async def _stop(self, call):
        await asyncio.sleep(1.0)
        if call == self.at:
            os.kill(os.getpid(), signal.SIGINT)
        if call >= self.at and self.announced is not None:
            if call == self.at:
                await asyncio.to_thread(self.announced.wait, 60)
                await self._interrupt()
            await asyncio.Event().wait()  # for ever

    async def _interrupt(self):
        """Send the second signal, and again if it came where Python ignores what is raised."""
        over = threading.Event()
        try:
            while True:
                os.kill(os.getpid(), signal.SIGINT)
                await asyncio.to_thread(over.wait, 10)
        finally:
            over.set()


RULES = {"budget": 80, "seed": 3, "decider": "f-race"}


@pytest.mark.parametrize("n_jobs", [1, 4])
def test_the_first_signal_lets_calls_finish_and_a_resume_repeats_none(tmp_path, n_jobs):
    store, stopping = tmp_path / "run.db", Stopping(31)
    with pytest.raises(racer.RaceInterrupted) as caught:
        flat.race(range(9), stopping, n_jobs=n_jobs, store=store, **RULES)
    assert caught.value.result.ended == racer.Ended.INTERRUPTED
    loaded = racer.load(store)
    recorded = loaded.evaluations + loaded.unused.cells
    assert recorded == stopping.finished
    assert stopping.finished >= 31 - 3  # those that wait for a slot are withdrawn
    assert stopping.cancelled == 0
    again = Server()
    result = racer.resume(store, again, n_jobs=n_jobs)
    assert told(result) == told(flat.race(range(9), plain, **RULES))
    check_store(store)


def test_without_a_store_a_signal_cancels_the_calls_that_run():
    stopping = Stopping(31)
    with pytest.raises(racer.RaceInterrupted) as caught:
        flat.race(range(9), stopping, n_jobs=4, **RULES)
    assert stopping.finished + stopping.cancelled == stopping.calls
    assert caught.value.result.evaluations <= stopping.finished


# the signal may come between the opening of a file and the block that closes it
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_the_second_signal_cancels_the_calls_that_run(tmp_path, monkeypatch):
    announced = threading.Event()
    monkeypatch.setattr("racer.run.drive.notify", lambda line: announced.set())
    store, stopping = tmp_path / "run.db", Stopping(31, announced)
    with pytest.raises(racer.RaceInterrupted):
        flat.race(range(9), stopping, n_jobs=4, store=store, **RULES)
    assert stopping.cancelled == stopping.calls - stopping.finished > 0
    assert told(racer.resume(store, plain)) == told(flat.race(range(9), plain, **RULES))


def test_a_cell_that_backs_off_does_not_delay_a_stop(tmp_path, loop):
    """Its next try would come in minutes: the clock of the loop stands still."""

    async def refused(config, instance, seed):
        calls.append(config)
        if len(calls) == 20:
            loop._selector.select = loop._select
            os.kill(os.getpid(), signal.SIGINT)
        if len(calls) >= 20:
            raise TimeoutError
        return plain(config, instance, seed)

    calls = []
    with pytest.raises(racer.RaceInterrupted) as caught:
        flat.race(range(9), refused, n_jobs=4, store=tmp_path / "run.db", **RULES)
    assert caught.value.result.evaluations >= 16


@pytest.mark.parametrize(
    ("evaluate", "how", "ahead"),
    [
        (plain_async, {"n_jobs": 3}, 4 * (3 + SPARE)),
        (plain_async, {"n_jobs": racer.Workers(3, ahead=0)}, 0),
        (plain, {}, "auto"),
    ],
)
def test_cells_of_coroutines_are_prefetched_on_more_blocks(monkeypatch, evaluate, how, ahead):
    given = []
    monkeypatch.setattr("racer.run.job.drive", lambda feed, *_, **more: given.append(feed))
    flat.race(range(9), evaluate, **how, **RULES)
    assert [feed.ahead for feed in given] == [ahead]


def test_money_spent_in_calls_that_fail_counts_and_nothing_goes_ahead():
    tried = set()

    async def evaluate(config, instance, seed):
        first = (config, instance, seed) not in tried
        tried.add((config, instance, seed))
        return {"cost": float("nan") if first else plain(config, 1, 1) + config, "spend": 0.25}

    budget = racer.Budget(spend=20.0)
    result = racer.race(
        [1, 2, 3], evaluate, budget=budget, n_jobs=8, limits=racer.Limits(retries=1), seed=1
    )
    assert set(result.scores["spend"]) == {0.5}
    assert result.spent == 0.5 * result.evaluations == 0.25 * 2 * len(tried) <= 20.0
