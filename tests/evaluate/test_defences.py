"""What an objective may try: the race finds it out, and goes on or says why not."""

from __future__ import annotations

import itertools
import json
import os
import signal
import sys
import textwrap
import threading
import time
import warnings
from dataclasses import replace
from types import SimpleNamespace

import flat
import pytest
from objectives import hang
from processes import alive, noted, python, wait_for

import racer
from racer import Cell, ObjectiveError
from racer.errors import RaceStateError
from racer.evaluate.limits.limits import _Watched
from racer.evaluate.workers import InProcess, outcomes_of, workers_for
from racer.run.drive import Feed, drive

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="/proc")


# Before anything runs


async def async_generator(config, instance, seed):
    yield 0.0


def generator(config, instance, seed):
    yield 0.0


class Called:
    """Not called: a class."""

    def __init__(self, config, instance, seed):
        raise AssertionError


@pytest.mark.parametrize(
    ("evaluate", "what"),
    [
        (async_generator, "an async generator"),
        (generator, "a generator"),
        (Called, "the class Called"),
    ],
)
def test_what_never_returns_a_number_is_refused_before_anything_runs(evaluate, what):
    with pytest.raises(ObjectiveError, match=rf"^evaluate is {what}"):
        racer.race([1, 2], evaluate, budget=20)


# The same error everywhere


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("stored", [False, True])
def test_a_first_block_that_fails_by_one_error_at_one_line_stops_the_race(tmp_path, n_jobs, stored):
    calls = tmp_path / "calls"
    calls.mkdir()
    mended = tmp_path / "mended"

    def evaluate(config, instance, seed):
        if mended.exists():
            return config
        (calls / f"{config}-{seed}").touch()
        raise ValueError(f"cold at {config} (in the, north:7)")

    settings = {"budget": 100, "seed": 1, "n_jobs": n_jobs}
    if stored:
        settings["store"] = tmp_path / "run.db"
    where = rf"\(in evaluate, {__file__}:{evaluate.__code__.co_firstlineno + 4}\)"
    with pytest.raises(ObjectiveError, match=rf"in all 4 .*ValueError: cold at \d .*{where}"):
        racer.race(range(4), evaluate, **settings)
    assert len(list(calls.iterdir())) == 4
    if stored:  # once it is mended, the same call goes on
        mended.touch()
        result = racer.race(range(4), evaluate, **settings)
        assert result.failures.empty
        assert result.best == 0


def test_failures_that_differ_do_not_stop_a_race():
    def by_type(config, instance, seed):
        raise (ValueError if config else KeyError)(config)

    def by_line(config, instance, seed):
        if config:
            raise ValueError
        raise ValueError

    def but_one(config, instance, seed):
        if config == 2:
            return 1.0
        raise ValueError

    def later(config, instance, seed):
        if instance == "late":
            raise ValueError
        return config + seed / 7

    for evaluate in (by_type, by_line, but_one):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = racer.race(range(3), evaluate, budget=30, seed=1)
        assert (result.best is None) == (evaluate is not but_one)
        assert result.evaluations > 3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = racer.race(range(3), later, ["early", "late"], budget=30, seed=1)
    assert set(result.failures["block"]) == {1, 3, 5, 7}
    assert result.best == 0


def test_a_program_that_always_fails_is_no_error_of_one_line():
    program = "import sys; raise SystemExit(int(sys.argv[1]))"
    command = racer.Command([sys.executable, "-c", program, "{x}"])
    with pytest.warns(racer.RacerWarning, match="set aside"):
        result = flat.race([{"x": 1}, {"x": 2}], command, budget=4, first_test=2)
    assert result.ended == "all-failed"


# Outcomes


def test_an_outcome_is_checked_before_it_is_recorded(tmp_path):
    class Wrong(InProcess):
        def next(self, stopping):
            cell, outcome = super().next()
            return cell, replace(outcome, seconds=-1.0)

    recorded = []

    class Store:
        path = str(tmp_path / "run.db")

        def append(self, cell, outcome):
            recorded.append(outcome)

    race = racer.Race([1, 2], budget=20)
    with pytest.raises(RaceStateError, match="seconds=-1"):
        drive(Feed(race, Wrong(lambda config, instance, seed: config)), Store())
    assert recorded == []


def test_an_objective_cannot_turn_back_the_clock(monkeypatch, tmp_path):
    def evaluate(config, instance, seed):
        monkeypatch.setattr(time, "perf_counter", lambda: -1e9)
        return config

    monkeypatch.setattr("racer.evaluate.attempt._clock", itertools.count().__next__)
    result = racer.race([1, 2, 3], evaluate, budget=60, seed=1, store=tmp_path / "run.db")
    assert result.seconds == result.evaluations
    again = racer.resume(tmp_path / "run.db", evaluate)
    assert again.best == result.best == 1


# Timeouts of programs


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_program_that_takes_too_long_is_named_with_its_output_so_far(n_jobs):
    program = "echo so far; echo hm >&2; exec sleep 600"  # until it is killed
    command = racer.Command(["sh", "-c", program, "{x}"])
    with workers_for(
        command, [{"x": "a 1"}], None, limits=racer.Limits(3), n_jobs=n_jobs
    ) as workers:
        ((_, outcome),) = outcomes_of(workers, [Cell(0, 0, {"x": "a 1"}, None, 1)])
    assert outcome.status == "timeout"
    lines = outcome.message.splitlines()
    assert lines[0] == "took more than 3 s"
    assert lines[1].startswith("command: ")
    assert lines[1].endswith(" 'a 1'")
    assert lines[2:] == ["stdout: so far", "", "stderr: hm"]


@LINUX
def test_a_program_that_takes_too_much_memory_is_named():
    code = (
        "import time; x = [b'x' * 10**7 for _ in range(60)]; time.sleep(600)"  # until it is killed
    )
    command = racer.Command([sys.executable, "-c", code])
    with workers_for(command, [{}], None, limits=racer.Limits(memory=10**8)) as workers:
        ((_, outcome),) = outcomes_of(workers, [Cell(0, 0, {}, None, 1)])
    assert outcome.status == "memory"
    assert "\ncommand: " in outcome.message


# Files and processes of the race


@LINUX
def test_what_writes_into_all_descriptors_costs_its_own_cell(tmp_path):
    code = """
    import os, racer

    def evaluate(config, instance, seed):
        if config == 3:
            for descriptor in range(3, 100):
                try:
                    os.write(descriptor, b"rubbish" * 1000)
                    os.lseek(descriptor, 0, 0)
                    os.write(descriptor, b"rubbish" * 1000)
                except OSError:
                    pass
        return config

    if __name__ == "__main__":
        for n_jobs in (1, 2):
            settings = dict(budget=20, seed=1, n_jobs=n_jobs, limits=racer.Limits(20))
            result = racer.race(range(4), evaluate, **settings, store=f"run{n_jobs}.db")
            print(result.best, sorted(set(result.failures["candidate"])))
            os.rename(f"run{n_jobs}.db", f"kept{n_jobs}.db")
            again = racer.resume(f"kept{n_jobs}.db", evaluate)
            print(again.best, again.evaluations == result.evaluations)
    """
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(code), encoding="utf-8")
    done = python(script, cwd=tmp_path)
    assert done.stdout.splitlines() == ["0 [3]", "0 True"] * 2


@LINUX
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_watcher_that_is_stopped_goes_on(tmp_path, n_jobs):
    def evaluate(config, instance, seed):
        (tmp_path / str(os.getpid())).touch()
        if config == 1:
            os.kill(os.getppid(), signal.SIGSTOP)
            hang()
        return config

    with workers_for(evaluate, [1], None, limits=racer.Limits(1), n_jobs=n_jobs) as workers:
        ((_, outcome),) = outcomes_of(workers, [Cell(0, 0, 1, None, 1)])
    assert outcome.status == "timeout"
    assert wait_for(lambda: not any(map(alive, noted(tmp_path))))


@LINUX
def test_no_filter_of_warnings_is_left_behind():
    def evaluate(config, instance, seed):
        return config

    racer.race([1, 2], evaluate, budget=20)  # SciPy adds a filter when a race first imports it
    before = list(warnings.filters)
    racer.race([1, 2], evaluate, budget=20, limits=racer.Limits(60))
    command = racer.Command([sys.executable, "-c", "print(1)"])
    assert command({}, None, 1) == 1.0
    assert warnings.filters == before


def test_a_pool_that_is_closed_while_it_is_fed_says_nothing(monkeypatch, capfd):
    """A call that waits for its place in the queue of joblib's thread."""
    from joblib.externals.loky.process_executor import _ExecutorManagerThread as Manager

    from racer.evaluate import loky

    add, is_closing = Manager.add_call_item_to_queue, threading.Event()

    def late(self):
        is_closing.wait(60)
        add(self)

    def evaluate(config, instance, seed):
        return hang() if config else config

    with workers_for(evaluate, range(6), None, n_jobs=2) as workers:
        workers.submit(Cell(0, 0, 0, None, 1))
        assert workers.next()[1].status == "ok"
        monkeypatch.setattr(Manager, "add_call_item_to_queue", late)
        for c in range(1, 4):
            workers.submit(Cell(0, c, c, None, 1))
        closing = SimpleNamespace(sleep=lambda seconds: is_closing.set(), monotonic=time.monotonic)
        monkeypatch.setattr(loky, "time", closing)
    assert capfd.readouterr() == ("", "")  # and pytest heard of no error in a thread


def test_a_pool_that_somebody_else_shuts_down_costs_nothing(tmp_path):
    from joblib.externals.loky import reusable_executor

    mark = tmp_path / "shut down"

    def evaluate(config, instance, seed):
        return hang() if config and not mark.exists() else config

    cells = [Cell(0, c, c, None, 1) for c in range(4)]
    with workers_for(evaluate, range(4), None, n_jobs=2) as workers:
        outcomes = outcomes_of(workers, cells)
        found = [next(outcomes)]
        reusable_executor._executor.shutdown(kill_workers=True)
        mark.touch()
        found += outcomes
    assert {cell.config: outcome.value for cell, outcome in found} == {
        c: float(c) for c in range(4)
    }


def test_workers_go_on_beside_joblib_of_the_user_s(tmp_path):
    import joblib

    def watch(event):
        assert joblib.Parallel(n_jobs=2)(joblib.delayed(abs)(-i) for i in range(3)) == [0, 1, 2]

    result = flat.race(
        range(3), lambda c, i, s: c, budget=6, first_test=2, n_jobs=2, callbacks=[watch]
    )
    assert result.best == 0
    assert result.failures.empty
    watch(None)


def test_threads_of_joblib_do_not_keep_the_program():
    code = """
    import joblib, os, signal, threading, time, racer

    begun = threading.Event()

    def evaluate(config, instance, seed):
        if config:
            begun.set()
            time.sleep(600)  # as long as the program lasts, in a thread that nothing can end
        begun.wait()  # either may be the first of the block
        os.kill(os.getpid(), signal.SIGINT)
        return config

    with joblib.parallel_config(backend="threading"):
        try:
            racer.race(range(2), evaluate, budget=60, n_jobs=2)
        except racer.RaceInterrupted as stop:
            print("interrupted", flush=True)
    """
    done = python("-c", textwrap.dedent(code), exits=None)
    assert (done.returncode, done.stdout) == (0, "interrupted\n")


def test_a_function_around_a_program_cannot_make_a_cost_of_its_timeout():
    command = racer.Command(["sleep", "600"])  # until it is killed

    def evaluate(config, instance, seed):
        try:
            return command(config, instance, seed)
        except Exception:  # noqa: BLE001
            return 1e9

    with workers_for(evaluate, [{}], None, limits=racer.Limits(0.2)) as workers:
        ((_, outcome),) = outcomes_of(workers, [Cell(0, 0, {}, None, 1)])
    assert (outcome.status, outcome.message) == ("timeout", "took more than 0.2 s")


@pytest.mark.parametrize(("ago", "status"), [(0.0, "ok"), (100.0, "timeout")])
def test_an_answer_that_is_late_is_a_timeout(ago, status):
    line = json.dumps({"status": "ok", "value": 1e9, "message": "", "attempts": 1, "worker": ""})
    child = SimpleNamespace(line=lambda seconds: line.encode(), status=None, pid=os.getpid())
    start = time.monotonic() - ago  # the clock by which it is measured; nobody waits
    watched = _Watched(child, racer.Limits(50.0), start, (0, 0), set(), 0.0, None)
    assert watched.look().status == status
