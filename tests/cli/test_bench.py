"""`racer bench`, as typed."""

import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import nullcontext
from functools import partial

import pytest
from processes import alive, wait_for
from typed import typed

import racer.run.bench
from racer.evaluate.command import process
from racer.evaluate.command.timing import Timed, timed
from racer.run.signals import GracefulStop

run = partial(typed, "bench")


@pytest.fixture
def made_up(monkeypatch):
    """Let programs take as long as their names say."""

    def runner(name, program, instances, *, cpu):
        seconds = float(program)
        return lambda instance, seed, keep: Timed(seconds, seconds, "", None)

    monkeypatch.setattr(racer.run.bench, "_runner", runner)


def test_the_help_shows_a_whole_command():
    assert (
        "bench './sort_a {instance}' './sort_b {instance}' --instances data/\n" in run("-h").stdout
    )


@pytest.mark.usefixtures("made_up")
def test_the_fastest_and_the_exit_code():
    assert run("3", "2", "2.5", "--seed", "7", exits=0).output.startswith("2 is the fastest.")
    assert run("2", "3", "--rounds", "4").exit_code == 3  # too few


@pytest.mark.usefixtures("made_up")
@pytest.mark.parametrize("margin", ["1%", "0.01"])
def test_margins_names_and_json(margin):
    done = run("2", "2.01", "--margin", margin, "--name", "old", "--name", "new", "--json", exits=0)
    found = json.loads(done.output)
    assert (found["margin"], found["fastest"]) == (0.01, "old")
    same = run("2", "2.0", "--margin", margin, exits=0)
    assert same.stdout.startswith("2 is the fastest, or within 1 % of it.")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["true", "true", "--margin", "much"], "'--margin': could not"),
        (["true", "true", "--name", "one"], "2 commands, 1 --name"),
        (["true", "true", "--name", "one", "--name", "one"], "2 commands, 2 --name"),
        (["true", "cat {instance}", "--instances", "nofile"], "nofile"),
        (["true", "true x", "--margin", "-5%"], "--margin -0.05"),
    ],
)
def test_what_cannot_work(args, message):
    done = run(*args, exits=2)
    assert message in done.output


def test_real_commands_on_instances(tmp_path):
    for name in "ab":
        (tmp_path / name).write_text(name)
    code = "import sys; print(open(sys.argv[1]).read())"
    done = run(
        *("cat {instance}", f"{sys.executable} -c '{code}' {{instance}}", "cat {instance}x"),
        *("--instances", str(tmp_path), "--rounds", "2", "--warmup", "0", "--same-output"),
        exits=1,
    )
    assert "cat {instance}x exited with code 1: cat: " in " ".join(done.output.split())
    assert "gave another output than cat {instance} " in " ".join(done.output.split())


@pytest.mark.skipif(sys.platform == "win32", reason="programs run on Linux and macOS only")
@pytest.mark.parametrize("name", ["SIGTERM", pytest.param("SIGHUP", marks=pytest.mark.thorough)])
def test_a_signal_kills_the_program_and_prints_what_is_known(tmp_path, name):
    script, pids = tmp_path / "run", tmp_path / "pids"
    script.write_text(f"#!/bin/sh\necho $$ >> {pids}\nexec sleep 600\n")  # until it is killed
    script.chmod(0o755)
    code = f"import signal; signal.signal(signal.{name}, signal.SIG_DFL)\nfrom racer.cli import main\nmain()"
    benched = subprocess.Popen(
        [sys.executable, "-c", code, "bench", str(script), f"{script} more"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert wait_for(lambda: pids.exists() and pids.read_text().endswith("\n"), 60)
        benched.send_signal(getattr(signal, name))
        out, _ = benched.communicate(timeout=60)
    finally:
        benched.kill()
    assert benched.returncode == 128 + getattr(signal, name)
    assert "Interrupted after 0 of " in out
    assert not any(map(alive, map(int, pids.read_text().split())))


@pytest.mark.skipif(sys.platform == "win32", reason="programs run on Linux and macOS only")
@pytest.mark.parametrize(
    "run_once", [partial(timed, cwd=None, keep=False), process.run], ids=["timed", "run"]
)
@pytest.mark.parametrize("handler", ["of Python", "of a race"])
def test_an_interrupt_while_a_program_is_started_ends_it(monkeypatch, run_once, handler):
    started = []

    def interrupted(start):
        def start_and_interrupt(*args, **kwargs):
            started.append(start(*args, **kwargs))
            signal.raise_signal(signal.SIGINT)  # answered before the process is known to Popen
            return started[-1]

        return start_and_interrupt

    def interrupt(_):
        raise KeyboardInterrupt

    stop = GracefulStop(interrupt) if handler == "of a race" else nullcontext()
    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(subprocess, "_fork_exec", interrupted(subprocess._fork_exec))
    monkeypatch.setattr(os, "posix_spawn", interrupted(os.posix_spawn))  # Python 3.13 prefers it
    with pytest.raises(KeyboardInterrupt), stop:
        run_once(["sleep", "600"], "/bin/sleep")  # until it is killed
    assert started
    assert not any(map(alive, started))
    assert signal.getsignal(signal.SIGINT) is before


@pytest.fixture(name="handlers")
def _handlers():
    """Let SIGUSR1 and SIGUSR2 be noted, and raise; restore their handlers."""
    came = []

    def handler(number, frame):
        came.append(number)
        raise KeyboardInterrupt

    numbers = (signal.SIGUSR1, signal.SIGUSR2)
    before = [signal.signal(number, handler) for number in numbers]
    yield came
    for number, old in zip(numbers, before, strict=True):
        signal.signal(number, old)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_deferred_signals_are_all_answered_once(handlers):
    before = [signal.getsignal(number) for number in (signal.SIGUSR1, signal.SIGUSR2)]

    def start():
        with process.DeferredSignals():
            for number in (signal.SIGUSR1, signal.SIGUSR2):
                signal.raise_signal(number)
            assert not handlers

    with pytest.raises(KeyboardInterrupt):
        start()
    assert handlers == [signal.SIGUSR1, signal.SIGUSR2]
    assert [signal.getsignal(n) for n in (signal.SIGUSR1, signal.SIGUSR2)] == before


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_handlers_are_restored_where_one_raises_meanwhile(handlers, monkeypatch):
    """A signal that comes as its handler is restored is answered by the one deferred."""
    install, before = signal.signal, signal.getsignal(signal.SIGUSR1)
    deferred, raised = process.DeferredSignals(), []

    def interrupted(number, handler):
        if handler is before and not raised:
            raised.append(number)
            raise KeyboardInterrupt
        return install(number, handler)

    with pytest.raises(KeyboardInterrupt), deferred:
        monkeypatch.setattr(signal, "signal", interrupted)
    assert raised
    assert signal.getsignal(signal.SIGUSR1) is signal.getsignal(signal.SIGUSR2) is before


def test_in_another_thread_no_signal_is_deferred():
    found = []

    def start():
        with process.DeferredSignals():
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    assert found == [signal.getsignal(signal.SIGINT)]


def test_programs_fail_also_where_ended_children_are_ignored():
    code = "import signal; signal.signal(signal.SIGCHLD, signal.SIG_IGN)\nfrom racer.cli import main\nmain()"
    words = [sys.executable, "-c", code, "bench", "false", "true", "--rounds", "2"]
    ran = subprocess.run(words, check=False, capture_output=True, text=True)
    assert "false exited with code 1" in " ".join(ran.stdout.split())
    assert "Error" not in ran.stderr
