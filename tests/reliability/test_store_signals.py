"""Ctrl-C, SIGTERM, SIGHUP: the first lets what runs finish and tells how to resume; second: now."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading

import flat
import pytest
from objectives import Counting
from processes import TOOLS, wait_for

import racer
from racer.evaluate.executor import SPARE

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="needs POSIX signals")

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}


@pytest.fixture(autouse=True)
def _usual_handlers():
    """What runs the tests may ignore some of the signals, as nohup does."""
    usual = {signal.SIGHUP: signal.SIG_DFL, signal.SIGINT: signal.default_int_handler}
    before = {number: signal.signal(number, handler) for number, handler in usual.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def clear_up(process):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


WAITS = """
import pathlib, signal, sys
import racer
from processes import wait_for
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
marks, jobs = pathlib.Path(sys.argv[1]), int(sys.argv[2])

def evaluate(config, instance, seed):
    (marks / f"{config} {instance}").touch()
    assert not instance or wait_for((marks / "go on").exists)
    return config

# what has gone ahead is not waited for: here all that is evaluated is asked for
racer.race(range(6), evaluate, range(10), budget=60, seed=4,
    n_jobs=racer.Workers(jobs, ahead=0), store=marks / "run.db")
"""


@pytest.fixture
def waiting(tmp_path):
    """Start a race whose evaluations wait; return its process, its store, and what was begun."""
    running = []

    def begun():
        return {path.name for path in tmp_path.iterdir() if path.name[0].isdigit()}

    def start(jobs):
        process = subprocess.Popen(
            [sys.executable, "-c", WAITS, tmp_path, str(jobs)],
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env=TOOLS,
        )
        running.append(process)
        known = len(range(6))  # all on the first instance
        assert wait_for(lambda: len(begun()) >= known + jobs, 60)
        return process, tmp_path / "run.db", begun

    yield start
    for process in running:
        clear_up(process)


def until_told(process):
    """Wait until a race has said that it heard of a signal."""
    while "again to stop now" not in (line := process.stderr.readline()):
        assert line, "it has ended"


@pytest.mark.parametrize(
    ("number", "jobs", "whom"),
    [
        (signal.SIGINT, 2, "its group"),
        pytest.param(signal.SIGTERM, 2, "the driver", marks=pytest.mark.thorough),
        pytest.param(signal.SIGHUP, 1, "its group", marks=pytest.mark.thorough),
    ],
)
def test_what_is_being_evaluated_is_recorded(waiting, stores, number, jobs, whom):
    """With how to resume: no other evaluation begins, and the resumed race is the same."""
    process, path, begun = waiting(jobs)
    (os.kill if whom == "the driver" else os.killpg)(process.pid, number)
    until_told(process)
    (path.parent / "go on").touch()
    _, err = process.communicate(timeout=60)
    assert process.returncode == CODES[number], err
    assert f"go on with racer.resume({str(path)!r}, evaluate)" in err
    assert "Traceback" not in err
    assert len(stores.rows(path)) == len(begun()) <= 6 + jobs + SPARE
    with pytest.warns(racer.RacerWarning, match="begun with evaluate="):
        resumed = racer.resume(path, stores.Numbers())
    plain = racer.race(range(6), stores.Numbers(), range(10), budget=60, seed=4)
    assert stores.content(resumed) == stores.content(plain)


@pytest.mark.parametrize(
    ("number", "jobs"),
    [
        (signal.SIGTERM, 1),
        pytest.param(signal.SIGINT, 2, marks=pytest.mark.thorough),
        pytest.param(signal.SIGHUP, 1, marks=pytest.mark.thorough),
    ],
)
def test_the_second_stops_at_once(waiting, number, jobs):
    process, _, _ = waiting(jobs)
    os.kill(process.pid, number)
    until_told(process)
    assert process.poll() is None
    os.kill(process.pid, number)
    process.communicate(timeout=60)  # what is being evaluated would wait for ever
    assert process.returncode == CODES[number]


def raising_at(number, at):
    """Return an objective that sends its own process a signal in one of its calls."""
    return Counting(lambda c, *_: c, at, lambda: os.kill(os.getpid(), number))


@pytest.mark.parametrize("number", CODES)
@pytest.mark.parametrize("at", [1, 5, 12])
def test_the_evaluation_that_runs_is_recorded_and_no_other_begun(tmp_path, stores, number, at):
    evaluate = raising_at(number, at)
    path = tmp_path / "run.db"
    before = {n: signal.getsignal(n) for n in CODES}
    with pytest.raises(racer.RaceInterrupted, match=r"go on with racer.resume") as caught:
        flat.race([1, 2, 3], evaluate, budget=60, seed=1, store=path, first_test=15)
    assert {n: signal.getsignal(n) for n in CODES} == before
    assert caught.value.code == CODES[number]
    assert caught.value.result.evaluations == len(evaluate.calls) == at == len(stores.rows(path))
    plain = flat.race([1, 2, 3], lambda c, i, s: c, budget=60, seed=1, first_test=15)
    evaluate = raising_at(number, 0)
    resumed = racer.resume(path, evaluate)
    assert stores.content(resumed) == stores.content(plain)
    assert len(evaluate.calls) == plain.evaluations - at


@pytest.mark.parametrize("is_ignored", [False, True])  # as by nohup
def test_handlers_of_the_user_stay(tmp_path, is_ignored):
    seen = []
    mine = signal.SIG_IGN if is_ignored else lambda *_: seen.append("mine")
    before = signal.signal(signal.SIGHUP, mine)
    try:
        evaluate = raising_at(signal.SIGHUP, 3)
        result = racer.race([1, 2, 3], evaluate, budget=60, seed=1, store=tmp_path / "run.db")
    finally:
        signal.signal(signal.SIGHUP, before)
    assert seen == ([] if is_ignored else ["mine"])
    assert result.best == 1


def test_a_race_in_a_thread_sets_no_handlers(tmp_path):
    found, before = [], signal.getsignal(signal.SIGTERM)

    def evaluate(config, instance, seed):
        found.append(signal.getsignal(signal.SIGTERM))
        return config

    thread = threading.Thread(
        target=lambda: racer.race([1, 2], evaluate, budget=10, store=tmp_path / "run.db")
    )
    thread.start()
    thread.join()
    assert set(found) == {before}


FORKS = """
import multiprocessing, signal, sys
import racer

def wait(pipe):
    pipe.send("it runs")
    signal.pause()

def evaluate(config, instance, seed):
    fork = multiprocessing.get_context("fork")
    receiver, sender = fork.Pipe(duplex=False)
    child = fork.Process(target=wait, args=[sender])
    child.start()
    receiver.recv()
    child.terminate()
    child.join(30)
    return config if child.exitcode == -15 else None

if __name__ == "__main__":
    store, jobs = sys.argv[1] or None, int(sys.argv[2])
    result = racer.race([1, 2], evaluate, budget=4, decider=racer.deciders.FRace(first_test=2), n_jobs=jobs, store=store)
    print(len(result.failures))
"""


@pytest.mark.parametrize(
    ("name", "jobs"), [("run.db", "1"), pytest.param("", "2", marks=pytest.mark.thorough)]
)
def test_what_an_evaluation_forks_answers_signals_as_usual(tmp_path, name, jobs):
    script = tmp_path / "script.py"
    script.write_text(FORKS, encoding="utf-8")
    store = str(tmp_path / name) if name else ""
    ran = subprocess.run(
        [sys.executable, script, store, jobs],
        capture_output=True,
        check=False,
        text=True,
        timeout=100,
    )
    assert (ran.stdout, ran.stderr, ran.returncode) == ("0\n", "", 0)
