"""Programs that print nothing, two numbers, nan, 200 MB, no text; that fail, die, cannot be run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import warnings

import flat
import pytest
from processes import alive, noted, wait_for

import racer
from racer.evaluate.workers import outcomes_of, workers_for

resource = pytest.importorskip("resource")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

# what it does -> script, status, reason
ROWS = {
    "well": ("echo 1.5", "ok", ""),
    "blanks": ("printf '\\n  -15e-1 \\r\\n\\n'", "ok", ""),
    "nothing": (":", "invalid", "the program exited with code 0, and printed nothing"),
    "blank": ("echo", "invalid", "but not one finite number is on standard output"),
    "two numbers": ("echo 1 2", "invalid", "not one finite number"),
    "two lines": ("echo 1; echo 2", "invalid", "not one finite number"),
    "words": ("echo cost 1", "invalid", "not one finite number"),
    "nan": ("echo nan", "invalid", "not one finite number"),
    "inf": ("echo -inf", "invalid", "not one finite number"),
    "too large": ("echo 1e999", "invalid", "not one finite number"),
    "underscore": ("echo 1_000", "invalid", "not one finite number"),
    "comma": ("echo 1,5", "invalid", "not one finite number"),
    "other digits": ("echo \u0661", "invalid", "not one finite number"),
    "no UTF-8": ("printf '\\377\\3761\\000'", "invalid", r"stdout: \xff\xfe1\x00"),
    "to stderr": ("echo 1 >&2", "invalid", "stderr: 1"),
    "fails": ("echo 1; echo why >&2; exit 3", "failed", "the program exited with code 3"),
    "is killed": ("echo 1; kill -9 $$", "killed", "the program was killed by SIGKILL"),
    "segfault": ("kill -SEGV $$", "killed", "the program was killed by SIGSEGV"),
    "reads": ("cat; echo 1", "ok", ""),
    "closes its outputs": ("echo 1; exec >&- 2>&-; sleep 0.1", "ok", ""),  # to end after them
}


@pytest.fixture
def script(tmp_path):
    """Write a shell script, and return its path."""

    def write(name, text, *, first="#!/bin/sh\n", mode=0o755):
        path = tmp_path / name
        path.write_text(first + text + "\n", encoding="utf-8")
        path.chmod(mode)
        return str(path)

    return write


def outcomes(evaluate, count=1, n_jobs=1, **limits):
    pool = [{"x": x} for x in range(count)]
    cells = [racer.Cell(0, c, config, None, 1) for c, config in enumerate(pool)]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the command has no place", racer.RacerWarning)
        limits = racer.Limits(**limits)
        workers = workers_for(evaluate, pool, None, n_jobs=n_jobs, limits=limits)
    with workers:
        return [
            outcome
            for _, outcome in sorted(outcomes_of(workers, cells), key=lambda pair: pair[0].key)
        ]


@pytest.mark.parametrize("name", ROWS)
def test_each_misbehaviour_has_its_status_and_reason(script, name):
    text, status, reason = ROWS[name]
    command = racer.Command([script("run me", text), "{x}", "{seed}"])
    (outcome,) = outcomes(command)
    assert outcome.status == status
    assert reason in outcome.message
    if status == "ok":
        assert outcome.value in (1.0, 1.5, -1.5)
        assert outcome.message == ""
    else:
        assert "run me' 0 1\nstdout: " in outcome.message  # the command, to be pasted in a shell


@pytest.mark.parametrize("limits", [{}, {"timeout": 600}])
def test_a_daemon_that_it_leaves_is_killed(script, tmp_path, limits):
    # until it is killed
    command = racer.Command(script("run", f"sleep 600 & touch {tmp_path}/$!; echo 1"))
    (outcome,) = outcomes(command, **limits)
    assert (outcome.status, outcome.value) == ("ok", 1.0)
    (daemon,) = noted(tmp_path)
    assert wait_for(lambda: not alive(daemon))


@pytest.mark.parametrize(("stream", "settings"), [("stdout", {}), ("stderr", {"timeout": 60})])
def test_much_output(script, stream, settings):
    to = ">&2" if stream == "stderr" else ""
    text = f"(echo first; head -c 200000000 /dev/zero; echo last) {to}; echo 2"
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    (outcome,) = outcomes(racer.Command(script("run", text)), **settings)
    more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert more < 50_000  # kB
    if stream == "stderr":
        assert (outcome.status, outcome.value) == ("ok", 2.0)
    else:
        assert outcome.status == "invalid"
        assert "\nstdout: first\n\\x00" in outcome.message
        assert ".. 199995917 bytes left out .." in outcome.message
        assert "\\x00last\n2\n" in outcome.message


@pytest.mark.parametrize("status", ["invalid", "failed"])
def test_the_first_and_last_2_kb_of_both_outputs_are_told(script, status):
    text = """
    i=1000; while [ $i -lt 3000 ]; do echo "out$i"; echo "err$i" >&2; i=$((i + 1)); done
    """
    text += "exit 1" if status == "failed" else ""
    (outcome,) = outcomes(racer.Command(script("run", text)), timeout=600)
    assert outcome.status == status
    for name in ("out", "err"):
        told = [number for number in range(1000, 3000) if f"{name}{number}\n" in outcome.message]
        assert told == [*range(1000, 1256), *range(2744, 3000)]
    assert outcome.message.count(f".. {8 * 2000 - 4096} bytes left out ..") == 2


def test_the_longest_message_comes_through_a_process_of_its_own(script):
    """What is escaped grows: it must fit all the same."""
    text = "head -c 5000 /dev/zero; head -c 5000 /dev/zero >&2; exit 1"
    argv = [script("run", text), "🏁" * 5000]
    (free,) = outcomes(racer.Command(argv))
    (limited,) = outcomes(racer.Command(argv), timeout=600)
    assert free.status == limited.status == "failed"
    assert free.message == limited.message
    assert len(free.message) > 8 * 4096


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("echo log; echo 1; echo 2", 2.0),
        ("echo 3", 3.0),
        ("echo log; printf ' 4 \\n\\n \\n'", 4.0),
        ("head -c 10000 /dev/zero; printf '\\n5'", 5.0),
        ("echo 1; echo done", None),
        ("printf '1%05000d' 7", None),  # its beginning has been forgotten
        ("echo 1; echo nan", None),
        ("echo", None),
        (":", None),
    ],
)
def test_the_last_line(script, text, value):
    (outcome,) = outcomes(racer.Command(script("run", text), reads="last-line"))
    assert (outcome.status, outcome.value) == ("ok" if value else "invalid", value)


def test_output_without_a_time_is_ignored_if_that_is_asked_for(script):
    run = script("run", "echo SATISFIABLE; exit 10")
    settings = {"budget": 10, "seed": 1, "runtime": racer.Runtime(5.0)}
    command = racer.Command([run, "{x}"], success_codes=[10], reads="nothing")
    result = flat.race([{"x": 1}, {"x": 2}], command, **settings)
    assert result.scores["status"].tolist() == ["ok"] * 10
    assert (result.scores["value"] < 1.0).all()
    words = racer.Command([run, "{x}"], success_codes=[10])
    with pytest.raises(racer.ObjectiveError, match="add reads='nothing'\n"):
        flat.race([{"x": 1}, {"x": 2}], words, **settings)
    del settings["runtime"]
    with pytest.raises(racer.ObjectiveError, match=r"add reads='nothing', goal=racer\.Runt"):
        flat.race([{"x": 1}, {"x": 2}], command, **settings)


@pytest.mark.parametrize("settings", [{}, {"n_jobs": 2}], ids=str)
def test_a_program_that_can_no_longer_be_run(script, tmp_path, settings):
    command = racer.Command([script("run", "echo 1"), "{x}"])
    (tmp_path / "run").chmod(0o644)
    (outcome,) = outcomes(command, **settings)
    assert outcome.status == "failed"
    assert "cannot be started ([Errno 13] Permission denied" in outcome.message
    (tmp_path / "run").unlink()
    (outcome,) = outcomes(command, **settings)
    assert outcome.status == "failed"
    assert "cannot be started ([Errno 2] No such file" in outcome.message
    assert f"command: {tmp_path}/run 0" in outcome.message


def test_retries_try_again(script):
    text = 'echo x >> "$0.$1"; [ $(wc -l < "$0.$1") = 3 ] && echo 7'
    command = racer.Command([script("run", text), "{x}"])
    found = outcomes(command, count=2, retries=2)
    assert [(o.status, o.value, o.attempts) for o in found] == [("ok", 7.0, 3)] * 2
    found = outcomes(racer.Command([script("dies", "kill -9 $$"), "{x}"]), retries=1)
    assert [(o.status, o.attempts) for o in found] == [("killed", 2)]


# each until it is killed
STUBBORN = ("wait", "trap '' TERM INT HUP; wait; sleep 600", "kill -STOP $$", "setsid sleep 600")


def test_a_timeout_kills_it_and_all_that_it_started(script, tmp_path):
    marks = tmp_path / "marks"
    marks.mkdir()
    note = 'touch "$1/$$"; sleep 600 & touch "$1/$!"; case $2 in '  # until it is killed
    cases = " ".join(f"{x}) {text};;" for x, text in enumerate(STUBBORN))
    command = racer.Command([script("run", f"{note}{cases} esac"), str(marks), "{x}"])
    found = outcomes(command, count=len(STUBBORN), timeout=1, n_jobs=2)
    assert [o.status for o in found] == ["timeout"] * len(STUBBORN)
    assert noted(marks)
    assert not any(map(alive, noted(marks)))


DRIVER = """
import json, signal, sys
import racer

signal.signal(signal.SIGINT, signal.default_int_handler)
run, marks, settings = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
settings["limits"] = racer.Limits(timeout=settings.pop("timeout", None))
try:
    racer.race([{"x": x} for x in range(4)], racer.Command([run, marks, "{x}"]), budget=100, **settings)
except racer.RaceInterrupted as stop:
    print("interrupted")
"""


@pytest.fixture
def drive(script, tmp_path):
    """Start a race of programs that wait; return its process and those."""
    marks, running = tmp_path / "marks", []
    marks.mkdir()
    run = script("run", 'touch "$1/$$"; exec sleep 600')  # until it is killed

    def start(**settings):
        process = subprocess.Popen(
            [sys.executable, "-c", DRIVER, run, str(marks), json.dumps(settings)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        running.append(process)
        assert wait_for(lambda: len(noted(marks)) >= settings.get("n_jobs", 1), 60)
        return process, marks

    yield start
    for process in running:
        process.kill()
        process.communicate()
    for pid in filter(alive, noted(marks)):
        os.kill(pid, signal.SIGKILL)


@pytest.mark.thorough
@pytest.mark.parametrize("settings", [{}, {"n_jobs": 2}, {"n_jobs": 2, "timeout": 600}], ids=str)
def test_when_the_driver_dies_no_program_is_left(drive, settings):
    process, marks = drive(**settings)
    number = signal.SIGKILL if len(settings) % 2 else signal.SIGTERM
    os.kill(process.pid, number)
    process.wait(120)
    assert wait_for(lambda: not any(map(alive, noted(marks))))


def interrupted(process):
    """Interrupt a process, once more if Python passes over that while it forks; return its output."""
    os.kill(process.pid, signal.SIGINT)  # as where the program is in another group
    try:
        return process.communicate(timeout=60)
    except subprocess.TimeoutExpired as error:
        lost = (error.stderr or b"").decode()
    assert "Exception ignored in" in lost
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    return out, err.removeprefix(lost)


@pytest.mark.parametrize(
    "settings",
    [{}, pytest.param({"n_jobs": 2, "timeout": 600}, marks=pytest.mark.thorough)],
    ids=str,
)
def test_ctrl_c_leaves_no_program(drive, settings):
    process, marks = drive(**settings)
    out, err = interrupted(process)
    assert (out, err) == ("interrupted\n", "")
    assert wait_for(lambda: not any(map(alive, noted(marks))))


def test_another_command_line_is_refused_with_both(script, tmp_path):
    run, path = script("run", "echo $$"), tmp_path / "run.db"
    racer.race([{"x": 1}, {"x": 2}], racer.Command([run, "{x}"]), budget=20, seed=1, store=path)
    before = path.read_bytes()
    for argv, switches in (([run, "-v", "{x}"], {}), ([run, "{parameters}"], {"x": "-x"})):
        with pytest.raises(
            racer.StoreError, match=r"the program is .*run.* has .*\['run', '\{x\}'\]"
        ):
            racer.resume(path, racer.Command(argv, switches=switches), budget=40)
    with pytest.raises(racer.StoreError, match=r"reads='last-line'.*reads='stdout'"):
        racer.resume(path, racer.Command([run, "{x}"], reads="last-line"), budget=40)
    assert path.read_bytes() == before
    (tmp_path / "moved").mkdir()
    (tmp_path / "run").rename(tmp_path / "moved" / "run")
    racer.resume(path, racer.Command([str(tmp_path / "moved" / "run"), "{x}"]), budget=40)


def test_a_tuner_may_have_conditional_parameters_that_no_first_candidate_has(script):
    space = racer.Space(
        {"x": racer.Real(0, 1), "alg": racer.Categorical(["a", "b"]), "y": racer.Integer(1, 9)},
        conditions={"y": {"alg": "b"}},
    )
    initial = [{"x": 0.25, "alg": "a"}]
    argv = [script("run", "echo $1"), "{x}", "--y={y}", "{parameters}", "{instance}"]
    settings = {"budget": 40, "first_test": 2, "seed": 1, "deterministic": False}
    result = flat.tune(space, racer.Command(argv), [1, 2], initial=initial, **settings)
    assert result.best["x"] < 0.25
    with pytest.raises(racer.ObjectiveError, match=r"has \{z\}, which no candidate has"):
        racer.tune(space, racer.Command([*argv, "--z={z}"]), [1, 2], budget=300)
    with pytest.raises(racer.ObjectiveError, match="there are no instances"):
        racer.tune(space, racer.Command(argv), budget=300)
