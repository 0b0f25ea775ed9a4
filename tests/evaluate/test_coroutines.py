"""Coroutine functions as workers: slots, tries, withdrawal, and what is refused."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import flat
import pytest
from instant import instant_loop
from objectives import Counting

import racer
from racer import Cell, ObjectiveError, SettingError
from racer.evaluate.executor import SPARE
from racer.evaluate.objective import is_coroutine_function
from racer.evaluate.workers import number_of, outcomes_of, workers_for


@pytest.fixture(autouse=True)
def loop(monkeypatch):
    """The event loop of the test, whose timers are due at once."""
    with instant_loop(monkeypatch) as loop:
        yield loop


class BusyError(Exception):
    """A refusal, with a pause if one is given."""

    def __init__(self, retry_after=None):
        super().__init__("too many requests")
        self.response = SimpleNamespace(status_code=429)
        self.retry_after = retry_after


def cells(n):
    return [Cell(block, 0, block, None, 1000 + block) for block in range(n)]


def all_of(evaluate, n, n_jobs, **limits):
    """Return the outcomes of n cells by block."""
    limits = racer.Limits(**limits)
    with workers_for(evaluate, [], None, n_jobs=n_jobs, limits=limits) as workers:
        return {cell.block: outcome for cell, outcome in outcomes_of(workers, cells(n))}


class Asked:
    """A coroutine function that counts its calls, and notes when they begin."""

    def __init__(self, loop, answer, seconds=1.0):
        self.loop, self.answer, self.seconds = loop, answer, seconds
        self.calls = Counter()
        self.begun = []

    async def __call__(self, config, instance, seed):
        self.calls[config] += 1
        call = self.calls[config]
        self.begun.append(self.loop.time())
        await asyncio.sleep(self.seconds)
        return self.answer(config, call)


async def evaluate(config, instance, seed):
    await asyncio.sleep(1.0)
    return config + seed


class Callable:
    async def __call__(self, config, instance, seed):
        return await evaluate(config, instance, seed)

    async def method(self, config, instance, seed):
        return await evaluate(config, instance, seed)


async def with_more(config, instance, seed, *, more):
    return await evaluate(config, instance, seed) + more


@pytest.mark.parametrize(
    "function",
    [
        evaluate,
        Callable(),
        Callable().method,
        functools.partial(with_more, more=0),
        functools.partial(functools.partial(with_more, more=1), more=0),
        functools.partial(Callable()),
        racer.Throttled(evaluate, calls_per_minute=1e6),
    ],
)
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_any_kind_of_coroutine_function_is_awaited(function, n_jobs):
    assert is_coroutine_function(function)
    assert number_of(workers_for(function, [], None, n_jobs=n_jobs)) == n_jobs
    for block, outcome in all_of(function, 5, n_jobs=n_jobs).items():
        assert (outcome.status, outcome.value) == ("ok", block + 1000 + block)
        assert (outcome.attempts, outcome.seconds) == (1, pytest.approx(1.0))


@pytest.mark.parametrize("n_jobs", [1, 5])
def test_so_many_calls_run_at_a_time(n_jobs):
    running, most, met = 0, 0, threading.Barrier(n_jobs)

    async def meets_the_others(config, instance, seed):
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.to_thread(met.wait, 60)  # until so many run, however slowly they are sent
        running -= 1
        return 0.0

    outcomes = all_of(meets_the_others, 30, n_jobs=n_jobs)
    assert [outcome.status for outcome in outcomes.values()] == ["ok"] * 30
    assert most == n_jobs


# Another try


def failing(times, error):
    def answer(config, call):
        if call <= times:
            raise error()
        return float(config)

    return answer


@pytest.mark.parametrize(("times", "error"), [(19, BusyError), (3, TimeoutError)])
def test_a_call_that_is_refused_or_times_out_is_tried_again_and_costs_nothing(loop, times, error):
    asked = Asked(loop, failing(times, error))
    outcomes = all_of(asked, 8, n_jobs=4)
    assert {block: (o.status, o.value, o.attempts) for block, o in outcomes.items()} == {
        block: ("ok", block, 1) for block in range(8)
    }
    assert set(asked.calls.values()) == {times + 1}
    assert all(outcome.seconds == pytest.approx(times + 1) for outcome in outcomes.values())


@pytest.mark.parametrize(
    ("error", "tries", "message"),
    [(BusyError, 20, "BusyError: too many requests (in "), (TimeoutError, 4, "TimeoutError: ")],
)
def test_in_the_end_the_cell_fails_and_retries_do_not_begin_anew(loop, error, tries, message):
    def answer(config, call):
        if config == 1:
            raise error
        return 0.0

    asked = Asked(loop, answer)
    outcomes = all_of(asked, 4, n_jobs=2, retries=5)
    assert [outcomes[block].status for block in range(4)] == ["ok", "failed", "ok", "ok"]
    assert outcomes[1].message.startswith(message)
    assert asked.calls == {0: 1, 1: tries, 2: 1, 3: 1}


def test_a_call_beyond_timeout_is_cancelled_and_tried_again(loop):
    async def hangs(config, instance, seed):
        calls[config] += 1
        try:
            await asyncio.sleep(1e6 if config == 0 or calls[config] == 1 else 0.5)
        except asyncio.CancelledError:
            cancelled[config] += 1
            raise
        return 0.0

    calls, cancelled = Counter(), Counter()
    outcomes = all_of(hangs, 3, n_jobs=2, timeout=2.0)
    assert (outcomes[0].status, outcomes[0].message) == ("timeout", "took more than 2 s")
    assert outcomes[0].seconds == pytest.approx(8.0)
    assert [outcomes[block].status for block in (1, 2)] == ["ok", "ok"]
    assert outcomes[1].seconds == pytest.approx(2.5)
    assert (calls, cancelled) == ({0: 4, 1: 2, 2: 2}, {0: 4, 1: 1, 2: 1})


def test_retries_are_of_other_failures(loop):
    def answer(config, call):
        if call <= 2:
            raise BusyError if call == 1 else ZeroDivisionError
        return float("nan") if call == 3 else 7.0

    outcomes = all_of(Asked(loop, answer), 3, n_jobs=2, retries=2)
    assert {(o.status, o.value, o.attempts) for o in outcomes.values()} == {("ok", 7.0, 3)}
    outcomes = all_of(Asked(loop, answer), 3, n_jobs=2, retries=1)
    assert {(o.status, o.attempts) for o in outcomes.values()} == {("invalid", 2)}


def test_a_call_that_backs_off_leaves_its_slot(loop):
    async def first_fails(config, instance, seed):
        if config == 0:
            raise TimeoutError
        return 0.0

    loop._selector.select = loop._select  # the clock stands still
    checks = iter(range(50))
    with workers_for(first_fails, [], None, n_jobs=1) as workers:
        for cell in cells(2):
            workers.submit(cell)
        cell, outcome = workers.next(lambda: next(checks, None) is None)
        assert (cell.block, outcome.status) == (1, "ok")


class Gate:
    """A coroutine function whose calls raise at first, then wait for the test."""

    def __init__(self, error=None):
        self.error, self.calls = error, Counter()
        self.begun, self.ended = threading.Semaphore(0), Counter()
        self.opened = asyncio.Event()

    async def __call__(self, config, instance, seed):
        self.calls[config] += 1
        self.begun.release()
        if self.error is not None:
            raise self.error
        try:
            await self.opened.wait()
        finally:
            self.ended[config] += 1
        return 1.0

    def wait_for_calls(self, n):
        assert all(self.begun.acquire(timeout=60) for _ in range(n))

    async def open(self):
        self.opened.set()


def test_as_many_cells_wait_as_there_are_slots_and_those_that_back_off_are_forgotten(loop):
    loop._selector.select = loop._select  # the clock stands still
    gate = Gate(TimeoutError())
    with workers_for(gate, [], None, n_jobs=3) as workers:
        assert workers.capacity == 3 + SPARE
        for cell in cells(8):
            workers.submit(cell)
            assert workers.capacity == 3 + SPARE + 3
        gate.wait_for_calls(8)
        on_loop(loop)
        assert workers.finish() == []
        assert workers.capacity == 3 + SPARE
    assert sum(gate.calls.values()) == 8


def on_loop(loop):
    """Wait until the loop has done all that it could do by now."""
    for _ in range(5):
        asyncio.run_coroutine_threadsafe(asyncio.sleep(0), loop).result(10)


def test_cells_that_wait_are_withdrawn_and_those_that_run_are_not():
    gate = Gate()
    with workers_for(gate, [], None, n_jobs=2, limits=racer.Limits(retries=3)) as workers:
        submitted = cells(4)
        for cell in submitted:
            workers.submit(cell)
        gate.wait_for_calls(2)
        assert [workers.withdraw(cell) for cell in submitted] == [False, False, True, True]
        assert not workers.withdraw(submitted[3])  # it is gone
        assert list(workers.rest()) == []  # as at the end of a race
        assert gate.ended == {}
    assert gate.ended == {0: 1, 1: 1}  # cancelled, and waited for
    assert gate.calls == {0: 1, 1: 1}


def test_after_a_stop_the_rest_are_all_calls_that_run(loop, monkeypatch):
    loop._selector.select = loop._select  # the clock stands still
    gate = Gate()
    with workers_for(gate, [], None, n_jobs=2) as workers:
        submitted = cells(4)
        for cell in submitted:
            workers.submit(cell)
        gate.wait_for_calls(2)
        assert workers.finish() == submitted[:2]
        wait = workers.next

        def opening(stopping):
            asyncio.run_coroutine_threadsafe(gate.open(), loop).result(10)
            return wait(stopping)

        monkeypatch.setattr(workers, "next", opening)  # no call ends before it is waited for
        assert {cell.block: outcome.value for cell, outcome in workers.rest()} == {0: 1.0, 1: 1.0}
    assert gate.calls == {0: 1, 1: 1}


def test_the_rest_are_outcomes_that_nobody_has_fetched(loop):
    async def at_once(config, instance, seed):
        return config + seed

    with workers_for(at_once, [], None, n_jobs=2) as workers:
        for cell in cells(2):
            workers.submit(cell)
        on_loop(loop)
        assert {cell.block: outcome.value for cell, outcome in workers.rest()} == {0: 1000, 1: 1002}


# The pace


def test_calls_per_minute_holds_for_all_calls(loop):
    asked = Asked(loop, failing(1, BusyError), seconds=0.01)
    all_of(racer.Throttled(asked, calls_per_minute=60), 20, n_jobs=8)
    gaps = [b - a for a, b in zip(asked.begun, asked.begun[1:], strict=False)]
    assert len(gaps) == 39
    assert min(gaps) >= 1.0 - 0.011


def test_all_calls_pause_where_the_server_names_a_time(loop):
    def answer(config, call):
        if config == 3 and call == 1:
            refused.append(loop.time())
            raise BusyError(retry_after=100.0)
        return 0.0

    refused = []
    asked = Asked(loop, answer)
    all_of(asked, 30, n_jobs=4)
    (at,) = refused
    assert not [begun for begun in asked.begun if at < begun < at + 100.0]
    assert [begun for begun in asked.begun if begun >= at + 100.0]


def test_a_server_that_refuses_everything_for_long_ends_the_run(loop):
    def answer(config, call):
        raise BusyError(retry_after=250.0)

    with pytest.raises(
        ObjectiveError, match=r"refused every call for \d+ s, .*BusyError: too many"
    ):
        all_of(Asked(loop, answer), 3, n_jobs=2)


def test_while_a_call_is_running_the_server_does_not_refuse_everything(loop):
    async def long(config, instance, seed):
        if config == 0:
            await asyncio.sleep(4000.0)
        elif loop.time() < 2000.0:
            raise BusyError(retry_after=250.0)
        return 0.0

    assert [o.status for o in all_of(long, 2, n_jobs=2).values()] == ["ok", "ok"]


# Evaluations that misbehave


@pytest.mark.parametrize("error", [SystemExit, asyncio.CancelledError, GeneratorExit])
@pytest.mark.parametrize("timeout", [None, 5.0])
def test_whatever_a_coroutine_raises_costs_its_cell_alone(error, timeout):
    async def misbehaving(config, instance, seed):
        if config == 1:
            raise error("mine")
        if config == 2:
            asyncio.current_task().cancel()
            try:
                await asyncio.sleep(1.0)
            except asyncio.CancelledError:
                raise ArithmeticError("mine") from None
        if config == 3:
            asyncio.current_task().cancel()
            await asyncio.sleep(1.0)
        return 0.0

    outcomes = all_of(misbehaving, 5, n_jobs=2, timeout=timeout)
    assert [outcomes[b].status for b in range(5)] == ["ok", *["failed"] * 3, "ok"]
    assert outcomes[1].message.startswith(f"{error.__name__}: mine (in misbehaving, ")
    assert outcomes[2].message.startswith("ArithmeticError: mine (in misbehaving, ")


@pytest.mark.parametrize("timeout", [None, 5.0])
def test_an_interrupt_that_a_coroutine_raises_is_raised_where_outcomes_are_awaited(timeout):
    async def interrupted(config, instance, seed):
        raise KeyboardInterrupt("mine")

    with pytest.raises(KeyboardInterrupt, match="mine"):
        all_of(interrupted, 3, n_jobs=2, timeout=timeout)


def test_the_loop_outlives_a_task_that_an_evaluation_has_made():
    async def exits():
        raise SystemExit

    async def exiting(config, instance, seed):
        if config == 0:
            with contextlib.suppress(SystemExit):
                await asyncio.create_task(exits())
        return 0.0

    assert [outcome.status for outcome in all_of(exiting, 4, n_jobs=2).values()] == ["ok"] * 4


def test_all_races_share_one_loop():
    async def noting(config, instance, seed):
        loops.append(asyncio.get_running_loop())
        return 0.0

    loops = []
    for n_jobs in (1, 2):
        all_of(noting, 2, n_jobs=n_jobs)
    assert len(loops) == 4
    assert len(set(loops)) == 1


# What is refused before anything runs


@pytest.mark.parametrize(
    ("how", "error", "message"),
    [
        ({"limits": racer.Limits(memory=2**30)}, SettingError, "memory is of a process"),
        ({"n_jobs": ThreadPoolExecutor(1)}, SettingError, "an executor and a coroutine function"),
        ({"n_jobs": -1}, SettingError, "n_jobs=-1 counts cores"),
        (
            {"runtime": racer.Runtime(1.0)},
            ObjectiveError,
            "evaluate is a coroutine function, and goal=Runtime",
        ),
    ],
)
def test_what_does_not_fit_a_coroutine_function_is_refused(how, error, message):
    async def never(config, instance, seed):
        raise AssertionError

    with pytest.raises(error, match=f"^{message}"):
        flat.race([1, 2], never, budget=20, **how)


def test_a_time_limit_needs_no_fork(monkeypatch):
    monkeypatch.delattr("os.fork")
    assert racer.race([1, 2], evaluate, budget=20, limits=racer.Limits(5.0)).evaluations > 0
    with pytest.raises(SettingError, match=r"need os\.fork"):
        racer.race([1, 2], lambda config, instance, seed: 0.0, budget=20, limits=racer.Limits(5.0))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("metrics", [None, {"cost": "min", "time": "min"}])
def test_a_plain_function_that_returns_a_coroutine_is_refused_at_the_first_cell(metrics):
    plain = Counting(evaluate)
    message = r"^evaluate returned (a coroutine, not a number): write async def, or await it"
    with pytest.raises(ObjectiveError, match=message):
        flat.race([1, 2], plain, budget=20, metrics=metrics, objective=metrics and "cost")
    assert len(plain.calls) == 1
