"""Whatever ends the driver, nothing that it started goes on: all would wait for ten minutes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest
from processes import TOOLS, alive, descendants, noted, python, wait_for

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux tells of a parent's end"
)

SCRIPT = """
import json, os, pathlib, signal, subprocess, sys, threading, time
import racer

signal.signal(signal.SIGHUP, signal.SIG_DFL)  # ignored where tests run under nohup
marks = pathlib.Path(sys.argv[1])
n_jobs, settings, when, in_thread, slowly = map(json.loads, sys.argv[2:])

if slowly:  # as on a busy machine
    from joblib.externals.loky.backend import utils

    def kill(pid):
        kill_at_once(pid)
        time.sleep(0.5)  # slowness itself is what is tested

    kill_at_once, utils._kill, utils.psutil = utils._kill, kill, None

def note(pid):
    (marks / str(pid)).touch()

def evaluate(config, instance, seed):
    note(os.getpid())
    note(os.getppid())
    if instance == "slow" and when == "during an evaluation":
        if settings:
            started = subprocess.Popen(["sleep", "600"])  # until it is killed
            note(started.pid)
        (marks.parent / f"{config} waits").touch()
        time.sleep(600)  # until it is killed
    return config

def watch(event):
    if when == "between blocks" and getattr(event, "block", 0) == 1:
        (marks / "now").touch()
        time.sleep(600)  # until it is killed

def race():
    racer.race(
        range(6), evaluate, ["quick", "quick", "slow"], budget=100, seed=1,
        decider=racer.deciders.FRace(first_test=4), n_jobs=n_jobs, callbacks=[watch], limits=racer.Limits(**settings),
    )

try:
    if in_thread:
        thread = threading.Thread(target=race)
        thread.start()
        thread.join()
    else:
        race()
except racer.RaceInterrupted as stop:
    print(json.dumps([stop.result.ended, stop.result.evaluations]))
"""


@pytest.fixture
def drive(tmp_path):
    """Start a race in a session of its own; return the process and what it started."""
    marks = tmp_path / "marks"
    marks.mkdir()
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    running, tree = [], set()

    def started():
        return (set(noted(marks)) | tree) - {process.pid for process in running} - {os.getpid()}

    def start(n_jobs, settings, when, *, in_thread=False, slowly=False):
        arguments = [json.dumps(value) for value in (n_jobs, settings, when, in_thread, slowly)]
        process = subprocess.Popen(
            [sys.executable, script, marks, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        running.append(process)
        if when == "between blocks":
            assert wait_for((marks / "now").exists, 60)
        else:
            assert wait_for(lambda: len(list(tmp_path.glob("* waits"))) >= n_jobs, 60)
        tree.update(descendants(process.pid))  # workers that have done nothing yet, too
        assert started()
        return process, started

    yield start
    for process in running:
        process.kill()
        process.communicate()
    for pid in filter(alive, started()):
        os.kill(pid, signal.SIGKILL)


FREE, LIMITED = {}, {"timeout": 600}  # without limits and workers nothing is started


@pytest.mark.parametrize(
    ("number", "settings", "n_jobs", "when", "what"),
    [
        (signal.SIGKILL, FREE, 2, "during an evaluation", "its group"),
        (signal.SIGKILL, LIMITED, 1, "during an evaluation", "the driver"),
        (signal.SIGTERM, LIMITED, 1, "during an evaluation", "the driver"),
        *(
            pytest.param(*case, marks=pytest.mark.thorough)
            for case in [
                (signal.SIGKILL, FREE, 2, "between blocks", "the driver"),
                (signal.SIGKILL, LIMITED, 2, "during an evaluation", "its group"),
                (signal.SIGKILL, LIMITED, 2, "between blocks", "the driver"),
                (signal.SIGKILL, LIMITED, 1, "during an evaluation", "a thread"),
                (signal.SIGKILL, FREE, 2, "between blocks", "a thread"),
                (signal.SIGHUP, LIMITED, 2, "during an evaluation", "the driver"),
            ]
        ),
    ],
)
def test_after_a_signal_that_is_not_handled_nothing_is_left(
    drive, number, settings, n_jobs, when, what
):
    process, started = drive(n_jobs, settings, when, in_thread=what == "a thread")
    (os.killpg if what == "its group" else os.kill)(process.pid, number)
    process.wait(120)
    assert wait_for(lambda: not any(map(alive, started())))


IN_THREADS = """
import pathlib, sys, threading
import joblib, racer
from processes import wait_for
from racer.evaluate import executor

def objective(until):
    def evaluate(config, instance, seed):
        if until is not None and (config, instance) == (3, 5):
            assert wait_for(until.exists)  # in one worker: the other is for the race that ends
        return config + seed % 7
    return evaluate

def note(error, **settings):
    broken.append(str(error))
    return describe(error, **settings)

def race(until):
    items = racer.Instances(range(10), deterministic=True)
    how = {"budget": 40, "decider": racer.deciders.BayesianFriedman(first_test=10), "n_jobs": 2}
    result = racer.race(range(4), objective(until), items, **how)
    failures.extend(result.known.failures)

broken, failures, describe = [], [], executor.describe
executor.describe = note
first_has_ended = pathlib.Path(sys.argv[1])
first, second = (threading.Thread(target=race, args=[until]) for until in (None, first_has_ended))
first.start()
second.start()
first.join()
first_has_ended.touch()
second.join()
joblib.Parallel(n_jobs=2)(joblib.delayed(abs)(i) for i in range(4))
print(len(broken), len(failures))
"""


@pytest.mark.thorough
def test_a_thread_that_ends_takes_no_worker_with_it(tmp_path):
    """They are shared: by races in other threads, and by whoever else uses joblib."""
    done = python("-c", IN_THREADS, tmp_path / "first has ended", env=TOOLS)
    assert (done.stdout, done.stderr) == ("0 0\n", "")


@pytest.mark.parametrize(
    ("settings", "n_jobs", "slowly"),
    [
        (LIMITED, 1, False),
        (FREE, 2, False),
        pytest.param(LIMITED, 2, True, marks=pytest.mark.thorough),
    ],
)
def test_ctrl_c_ends_evaluations_at_once_with_what_is_known(drive, settings, n_jobs, slowly):
    """Slowly: a worker whose evaluation has been killed begins another before it is killed."""
    process, started = drive(n_jobs, settings, "during an evaluation", slowly=slowly)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=200)  # of the ten minutes that an evaluation takes
    assert json.loads(out) == ["interrupted", 12]
    assert "Traceback" not in err
    assert wait_for(lambda: not any(map(alive, started())))
