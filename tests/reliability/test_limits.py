"""An evaluation that hangs, dies, or takes too much costs its cell, and leaves nothing running."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import flat
import joblib
import numpy as np
import pytest
from objectives import hang
from playing import eliminated
from processes import alive, noted, python, wait_for

import racer
from racer import Cell, Outcome, SettingError
from racer.evaluate import workers as workers_module
from racer.evaluate.limits import limits as module
from racer.evaluate.limits.processes import parse
from racer.evaluate.workers import workers_for

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits are kept best on Linux")

MB = 2**20


def hostile(folder):  # noqa: C901
    """Return an objective that does what its configuration says, and travels by value."""

    def evaluate(config, instance, seed):  # noqa: C901
        import ctypes
        import mmap
        import os
        import signal
        import subprocess
        import sys
        from pathlib import Path

        def note(pid):
            (Path(folder) / str(pid)).touch()

        def spawn(code, **settings):
            started = subprocess.Popen([sys.executable, "-c", code], **settings)
            note(started.pid)
            return started

        sleep = "import time; time.sleep(600)"  # until it is killed
        fill = "x = [b'x' * 10**7 for _ in range(60)]; " + sleep
        note(os.getpid())
        if config == "hangs":
            hang()
        elif config == "hangs in C":  # and never lets go of the interpreter
            ctypes.PyDLL(None).sleep(600)  # until it is killed
        elif config == "ignores SIGTERM":
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)
            hang()
        elif config == "stops itself":
            os.kill(os.getpid(), signal.SIGSTOP)
        elif config == "waits for a child":
            spawn(sleep).wait()
        elif config == "has a daemon and hangs":
            spawn(sleep, start_new_session=True)
            hang()
        elif config == "has a daemon and dies":
            spawn(sleep, start_new_session=True)
            os._exit(3)
        elif config == "leaves a daemon":
            spawn(sleep, start_new_session=True)
            return 2.0
        elif config == "is killed":
            os.kill(os.getpid(), signal.SIGKILL)
        elif config == "segfault":
            import faulthandler

            faulthandler.disable()
            ctypes.string_at(0)
        elif config == "os._exit":
            os._exit(0)
        elif config == "closes all files":
            os.closerange(0, 1000)
            hang()
        elif config == "holds too much":
            held = [b"x" * 10**7 for _ in range(60)]
            hang(held)
        elif config == "shares too much":
            shared = mmap.mmap(-1, 600 * 10**6)
            for at in range(0, 600 * 10**6, 4096):
                shared[at] = 1
            hang()
        elif config == "a child holds too much":
            spawn(fill).wait()
        elif config == "MemoryError":
            bytearray(2**62)
        elif config == "raises":
            raise ValueError("x" * 10**7)
        elif config == "SystemExit":
            sys.exit(4)
        elif config == "KeyboardInterrupt":
            raise KeyboardInterrupt
        elif config == "kills its parent":
            os.kill(os.getppid(), signal.SIGKILL)
            hang()
        return 1.0

    return evaluate


LATE = ("timeout", "took more than 0.4 s")
HANGING = dict.fromkeys(
    [
        *("hangs", "hangs in C", "ignores SIGTERM", "stops itself", "waits for a child"),
        *("has a daemon and hangs", "closes all files"),
    ],
    LATE,
)
ENDING = {
    "well": ("ok", ""),
    "has a daemon and dies": ("killed", "its process exited with code 3, without an answer"),
    "leaves a daemon": ("ok", ""),
    "is killed": ("killed", "its process was killed by SIGKILL, without an answer"),
    "segfault": ("killed", "its process was killed by SIGSEGV, without an answer"),
    "os._exit": ("killed", "its process exited with code 0, without an answer"),
    "MemoryError": ("memory", "MemoryError"),
    "raises": ("failed", "ValueError: xxx"),
    "SystemExit": ("failed", "SystemExit: 4"),
    "KeyboardInterrupt": ("failed", "KeyboardInterrupt"),
    "well again": ("ok", ""),
}
GREEDY = {
    "holds too much": ("memory", "held "),
    "shares too much": ("memory", "held "),
    "a child holds too much": ("memory", "held "),
    "well": ("ok", ""),
}


def cells_for(configs, *, instance=None, seed=11):
    return tuple(Cell(0, c, config, instance, seed) for c, config in enumerate(configs))


def outcomes_of(evaluate, configs, n_jobs=1, **limits):
    cells = cells_for(configs)
    limits = racer.Limits(**limits)
    workers = workers_for(evaluate, configs, None, n_jobs=n_jobs, limits=limits)
    with workers:
        outcomes = {
            cell.config: outcome for cell, outcome in workers_module.outcomes_of(workers, cells)
        }
    assert set(outcomes) == set(configs)
    return outcomes


def check(outcomes, expected):
    for config, outcome in outcomes.items():
        status, message = expected[config]
        assert (outcome.status, outcome.message[: len(message)]) == (status, message), config
        assert (outcome.value is None) == (status != "ok"), config
        assert len(outcome.message) < 2500, config


@pytest.mark.parametrize(
    ("lot", "timeout", "n_jobs"),
    [
        (HANGING, 0.4, 1),
        pytest.param(HANGING, 0.4, 2, marks=pytest.mark.thorough),
        pytest.param(ENDING, 600, 1, marks=pytest.mark.thorough),
        (ENDING, 600, 2),
    ],
    ids=lambda value: {id(HANGING): "hangs", id(ENDING): "ends"}.get(id(value)),
)
def test_each_misbehaviour_costs_its_own_cell_and_leaves_no_process(tmp_path, lot, timeout, n_jobs):
    outcomes = outcomes_of(hostile(tmp_path), list(lot), n_jobs=n_jobs, timeout=timeout)
    assert noted(tmp_path)
    assert not [pid for pid in noted(tmp_path) if alive(pid)]
    check(outcomes, lot)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_too_much_memory_costs_its_own_cell(tmp_path, n_jobs):
    outcomes = outcomes_of(
        hostile(tmp_path), list(GREEDY), n_jobs=n_jobs, timeout=600, memory=200 * MB
    )
    # one that was killed may still give back its memory
    assert wait_for(lambda: not [pid for pid in noted(tmp_path) if alive(pid)])
    check(outcomes, GREEDY)
    held = [int(o.message.split()[1]) for o in outcomes.values() if o.status == "memory"]
    assert all(200 * MB < bytes_held < 700 * MB for bytes_held in held)


@pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.thorough)])
def test_whoever_kills_the_process_that_watches_it_costs_its_own_cell(tmp_path, n_jobs):
    outcomes = outcomes_of(
        hostile(tmp_path), ["well", "kills its parent", "well again"], n_jobs=n_jobs, timeout=600
    )
    assert [o.status for o in outcomes.values()].count("killed") == 1
    assert outcomes["kills its parent"].status == "killed"
    assert wait_for(lambda: not [pid for pid in noted(tmp_path) if alive(pid)])


@pytest.mark.parametrize("kind", ["sequential", "threading"])
def test_limits_hold_with_any_backend(tmp_path, kind):
    """As with joblib's own, which all other tests have."""
    with joblib.parallel_config(backend=kind):
        outcomes = outcomes_of(hostile(tmp_path), ["hangs"], n_jobs=2, timeout=0.4)
        configs = ["well", "is killed", "leaves a daemon"]
        outcomes |= outcomes_of(hostile(tmp_path), configs, n_jobs=2, timeout=600)
    check(outcomes, HANGING | ENDING)
    assert not [pid for pid in noted(tmp_path) if alive(pid)]


@pytest.mark.thorough
def test_limits_hold_in_a_race_inside_a_worker(tmp_path):
    evaluate = hostile(tmp_path)

    def inner(pool, timeout):
        once = {"deterministic": True, "first_test": 1, "budget": 2, "n_jobs": 2}
        result = flat.race(pool, evaluate, [0], limits=racer.Limits(timeout), **once)
        return result.scores["status"].tolist()

    calls = [(["well", "well again"], 600), (["hangs", "stops itself"], 1)]
    found = joblib.Parallel(n_jobs=2)(joblib.delayed(inner)(*call) for call in calls)
    assert found == [["ok"] * 2, ["timeout"] * 2]


# What a limit must not change


def test_the_result_is_the_same_with_limits_and_without():
    def evaluate(config, instance, seed):
        if config == 3 and seed % 3 == 0:
            raise ValueError("sometimes")
        return config / 3 + random.random() + np.random.random()  # noqa: NPY002

    def race(**settings):
        result = flat.race(range(4), evaluate, [1, 2], budget=20, seed=4, **settings)
        return (
            repr(result.known.values(len(result.configs)).tolist()),
            eliminated(result),
            result.known.failures,
        )

    free = race()
    assert free[2]
    assert race(limits=racer.Limits(60, 10**9)) == free
    assert race(limits=racer.Limits(60), n_jobs=2) == free


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_values_and_messages_arrive_as_they_were(n_jobs):
    values = {"tiny": 5e-324, "third": 1 / 3, "huge": -1.7e308, "int": 2**53 + 1}

    def evaluate(config, instance, seed):
        if config == "unspeakable":
            raise ValueError("\ud800\n\x00 é " + "é" * 3000)
        return values[config]

    outcomes = outcomes_of(evaluate, [*values, "unspeakable"], n_jobs=n_jobs, timeout=60)
    assert {c: outcomes[c].value for c in values} == {c: float(v) for c, v in values.items()}
    assert outcomes["unspeakable"].message.startswith("ValueError: \\ud800\n\x00 é ééé")


def test_in_this_process_nothing_needs_to_be_picklable():
    lock = threading.Lock()

    def evaluate(config, instance, seed):
        with lock:
            return config

    assert outcomes_of(evaluate, [1, 2], timeout=60)[2].value == 2.0


def test_what_is_printed_is_printed_once(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        """
import os, racer
print("before")
def evaluate(config, instance, seed):
    print("during", config)
    if config == 2:
        print("the end", flush=True)
        os._exit(1)
    return config
racer.race([1, 2, 3], evaluate, racer.Instances([0], deterministic=True), budget=3, limits=racer.Limits(60))
print("after")
""",
        encoding="utf-8",
    )
    run = python(script)
    first, *during, last, end = run.stdout.split("\n")
    assert (first, last, end) == ("before", "after", "")
    assert sorted(during) == ["during 1", "during 2", "during 3", "the end"]


def test_standard_input_is_empty(monkeypatch):
    def evaluate(config, instance, seed):
        return len(os.read(0, 10))

    assert outcomes_of(evaluate, [1], timeout=60)[1].value == 0.0


def test_signals_are_not_answered_by_the_caller_s_handlers():
    def evaluate(config, instance, seed):
        os.kill(os.getpid(), getattr(signal, config))
        hang()

    before = signal.signal(signal.SIGTERM, lambda number, frame: os._exit(99))
    try:
        outcomes = outcomes_of(evaluate, ["SIGTERM", "SIGINT"], timeout=60)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert outcomes["SIGTERM"].message == "its process was killed by SIGTERM, without an answer"
    assert outcomes["SIGINT"].status == "failed"
    assert "KeyboardInterrupt" in outcomes["SIGINT"].message


@pytest.mark.thorough
def test_children_that_the_caller_does_not_wait_for_are_waited_for():
    code = """
import signal
signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the workers inherit it
import racer
def evaluate(config, instance, seed):
    return config
for n_jobs in (1, 2):
    result = racer.race(range(3), evaluate, budget=6, seed=1, limits=racer.Limits(60), n_jobs=n_jobs, decider=racer.deciders.FRace(first_test=2))
    print(result.evaluations, len(result.failures))
"""
    ran = python("-c", code)
    assert ran.stdout == "6 0\n" * 2


def test_as_long_as_processes_of_an_evaluation_end_they_are_waited_for(monkeypatch):
    """However long that takes altogether: else dead ones would stay until their watcher ends."""
    left, now = set(range(2, 40)), iter(np.arange(0.0, 1e3, 0.3))

    def wait(process, how):
        is_dead = process == max(left)  # one a round, as sets of small numbers are in order
        left.difference_update({process} if is_dead else ())
        return (process if is_dead else 0), 0

    monkeypatch.setattr(module, "own_children", lambda: set(left))
    monkeypatch.setattr(module.time, "monotonic", lambda: next(now))
    monkeypatch.setattr(module.os, "kill", lambda *_: None)
    monkeypatch.setattr(module.os, "killpg", lambda *_: None)
    monkeypatch.setattr(module.os, "waitpid", wait)
    module._clear(SimpleNamespace(pid=1, status=0, ended=lambda within: True), set())
    assert left == set()


def test_the_group_of_an_evaluation_is_told_before_it_can_start_anything(monkeypatch):
    """By its own process: the watcher may be killed, or stopped, before it says anything."""
    told = []
    monkeypatch.setattr(module, "_notify", lambda _, group: told.append((os.getpid(), group)))

    def attempt():
        return Outcome("ok", float(told[-1] == (os.getpid(), os.getpid())))

    assert module.limited(attempt, module.Limits(timeout=60.0), warned=0).value == 1.0
    assert told == [(os.getpid(), 0)]  # it is over


@pytest.mark.thorough
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_evaluation_may_use_joblib_itself(n_jobs):
    def evaluate(config, instance, seed):
        return sum(joblib.Parallel(n_jobs=2)(joblib.delayed(abs)(i) for i in range(config)))

    assert joblib.Parallel(n_jobs=2)([joblib.delayed(abs)(-1)] * 2) == [1, 1]
    assert outcomes_of(evaluate, [4], n_jobs=n_jobs, timeout=600)[4].value == 6.0
    assert joblib.Parallel(n_jobs=2)([joblib.delayed(abs)(-1)] * 2) == [1, 1]


# What counts as memory


def test_memory_that_was_there_before_is_not_counted():
    ballast = np.ones(20 * MB)  # 160 MB

    def evaluate(config, instance, seed):
        time.sleep(0.2)  # longer than from one look of its watcher to the next, whom it cannot see
        return ballast[config] + len(b"x" * 10 * MB)

    assert outcomes_of(evaluate, [1], memory=100 * MB)[1].status == "ok"


def test_memory_shared_with_forked_children_is_counted_once():
    def evaluate(config, instance, seed):
        data = b"x" * 100 * MB
        children = []
        for _ in range(4):
            if (child := os.fork()) == 0:
                time.sleep(0.3)  # as above
                os._exit(len(data) % 2)
            children.append(child)
        return sum(os.waitpid(child, 0)[1] for child in children)

    outcome = outcomes_of(evaluate, [1], memory=250 * MB)[1]
    assert (outcome.status, outcome.value) == ("ok", 0.0)


def test_memory_reserved_but_not_used_is_not_counted():
    def evaluate(config, instance, seed):
        reserved = np.empty(10**9)
        time.sleep(0.2)  # as above
        return len(reserved)

    assert outcomes_of(evaluate, [1], memory=100 * MB)[1].status == "ok"


@pytest.mark.parametrize(("size", "status"), [(100 * MB, "memory"), (10 * MB, "killed")])
def test_what_the_system_kills_for_its_memory_first_is_told_as_memory(monkeypatch, size, status):
    monkeypatch.setattr(module, "TICK", 5)  # the watcher looks once, before it holds anything

    def evaluate(config, instance, seed):
        held = b"x" * size
        os.kill(os.getpid(), signal.SIGKILL)
        return len(held)

    outcome = outcomes_of(evaluate, [1], memory=50 * MB)[1]
    assert outcome.status == status
    assert outcome.message.startswith("its process was killed by SIGKILL")


# Retries


@pytest.mark.parametrize(
    ("how", "limit", "attempts", "status"),
    [
        ("dies", {"timeout": 600}, 3, "killed"),
        ("raises", {"timeout": 600}, 3, "failed"),
        ("hangs", {"timeout": 1}, 1, "timeout"),
        ("holds too much", {"memory": 50 * MB}, 1, "memory"),
    ],
)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_reached_a_limit_is_not_tried_again(tmp_path, n_jobs, how, limit, attempts, status):
    def evaluate(config, instance, seed):
        (tmp_path / f"{len(list(tmp_path.iterdir()))}").touch()
        if config == "dies":
            os._exit(1)
        if config == "holds too much":
            hang(b"x" * 100 * MB)
        if config == "hangs":
            hang()
        raise ValueError

    outcomes = outcomes_of(evaluate, [how], n_jobs=n_jobs, retries=2, **limit)
    assert outcomes[how].status == status
    assert len(list(tmp_path.iterdir())) == attempts


def test_memory_that_was_freed_before_counts_when_it_is_held_again():
    """The C library keeps freed pieces that are not on top, and a fork inherits them."""

    def evaluate(config, instance, seed):
        hang([b"x" * 100_000 for _ in range(1000)])

    pieces = [bytes(100_000) for _ in range(1500)]
    last = pieces.pop()
    pieces.clear()
    outcomes = outcomes_of(evaluate, ["holds"], memory=50 * MB)
    assert outcomes["holds"].status == "memory"
    assert last


def test_each_attempt_has_the_whole_limit(tmp_path, monkeypatch):
    """All ten together take longer than the limit; each is below it, on a clock that they advance."""

    def attempts():
        return len(list(tmp_path.iterdir()))

    def evaluate(config, instance, seed):
        (tmp_path / str(attempts())).touch()
        if attempts() < 10:
            raise ValueError
        return 7

    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: 6.0 * attempts()))
    outcome = outcomes_of(evaluate, [1], timeout=10.0, retries=9)[1]
    assert (outcome.status, outcome.value, attempts()) == ("ok", 7.0, 10)


# What the child sends


@pytest.mark.parametrize(
    "line",
    [
        *(b"", b"[", b"null", b"7", b"{}", b"[]", b'["ok"]', b"\xff\xfe", b"[" * 10**5),
        *(b'["ok", NaN, 0.1, ""]', b'["ok", 1e999, 0.1, ""]', b'["ok", true, 0.1, ""]'),
        *(b'["ok", null, 0.1, ""]', b'["ok", "1", 0.1, ""]', b'["fine", 1.0, 0.1, ""]'),
        *(b'["failed", 1.0, 0.1, ""]', b'["ok", 1.0, -1, ""]', b'["ok", 1.0, 0.1, "", 3]'),
        *(b'["ok", 1.0, 0.1, "", "1", ""]', b'["ok", 1.0, 0.1, "", 1, 1]'),
        *(b'["failed", null, 0.1, 7]', b'["ok", 1' + b"0" * 400 + b', 0.1, ""]'),
        b'["ok", ' + b"1" * 5000 + b', 0.1, ""]',
    ],
    ids=lambda line: repr(line[:20]),
)
def test_what_is_no_outcome_is_invalid(line):
    outcome = parse(line, 0.5)
    assert (outcome.status, outcome.value, outcome.seconds) == ("invalid", None, 0.5)
    assert outcome.message.startswith("its process sent b")
    assert len(outcome.message) < 100


RUBBISH = [b'{"]\n', b"x" * 200_000, b"cut", b"\n\n\n"]


def test_rubbish_from_an_evaluation_stays_in_its_cell():
    def evaluate(config, instance, seed):
        if isinstance(config, bytes):
            for descriptor in range(3, 200):
                if Path(f"/proc/self/fd/{descriptor}").is_fifo():
                    os.write(descriptor, config)
            os._exit(0)
        return config

    # in a process whose only pipes are ours
    code = f"""
import json, os
from pathlib import Path
from racer.evaluate.workers import outcomes_of, workers_for
from racer import Cell, Limits
{subprocess_source(evaluate)}
pool = [1]
for start, length in {[(rubbish[:10], len(rubbish)) for rubbish in RUBBISH]}:
    pool += [(start * length)[:length], 3]
cells = [Cell(0, c, config, None, 1) for c, config in enumerate(pool)]
with workers_for(evaluate, pool, None, limits=Limits(600)) as workers:
    told = [outcome for _, outcome in outcomes_of(workers, cells)]
    print(json.dumps([(o.status, o.value, o.message) for o in told]))
"""
    run = subprocess.run(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, check=True, timeout=60
    )
    told = json.loads(run.stdout.splitlines()[-1])
    assert [value for _, value, _ in told[::2]] == [1.0] + [3.0] * len(RUBBISH)
    for status, _, message in told[1::2]:
        assert status in ("invalid", "killed")
        assert message
    assert len(told[1::2]) == len(RUBBISH)


def subprocess_source(function):
    import inspect
    import textwrap

    return textwrap.dedent(inspect.getsource(function))


# Settings


@pytest.mark.parametrize("limit", [{"timeout": np.float32(9)}, {"memory": np.int64(2**30)}])
def test_numbers_of_numpy_are_numbers(limit):
    assert outcomes_of(lambda config, instance, seed: config, [1], **limit)[1].value == 1.0


def test_a_limit_on_memory_is_refused_where_it_cannot_be_known(monkeypatch):
    monkeypatch.setattr("racer.evaluate.limits.limits.knows_memory", lambda: False)
    with pytest.raises(SettingError, match="needs /proc"):
        racer.race([1, 2], lambda c, i, s: c, budget=10, limits=racer.Limits(memory=2**30))
