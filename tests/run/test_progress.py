"""What is shown while a race runs."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from contextlib import suppress

import pytest
from rich.console import Console

import racer
from racer.deciders import Drop, Verdict
from racer.run.progress import Progress


def race(**settings):
    return racer.race(
        [1, 2, 3], lambda config, instance, seed: config, budget=60, seed=1, **settings
    )


def test_drops_go_to_standard_error_and_nothing_to_standard_output(capsys):
    result = race(progress=True)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert [gone.candidate for gone in result.dropped] == [2, 1]
    assert shown.err.splitlines() == [
        "block   4: dropped #2, inferior to #0 (posterior >0.999)",
        "block   4: dropped #1, inferior to #0 (posterior >0.999)",
        "block   4: 1 alive, best #0, mean 1, 15 evaluations",
        result.ended.message,
    ]
    assert "\x1b" not in shown.err


def test_nothing_is_shown_without_progress(capsys):
    race()
    assert capsys.readouterr() == ("", "")


def test_p_values_are_called_so(capsys):
    race(progress=True, decider="f-race-sign")
    shown = capsys.readouterr().err
    assert "block   4: dropped #2, inferior to #0 (p-value 0.031)" in shown


def test_e_values_are_called_so(capsys):
    race(progress=True, decider="anytime")
    assert re.search(r"inferior to #0 \(e-value \d\d\.\d\)\n", capsys.readouterr().err)


class OwnReason:
    """A decider with a reason and a measure of its own."""

    def start(self, n_candidates, rng):
        return None

    def decide(self, state, blocks):
        worst, best = int(blocks.candidates[-1]), int(blocks.candidates[0])
        drop = Drop(worst, "too slow [by far]", best, 12.5, "seconds")
        return None, Verdict((drop,), best, blocks.candidates, {})


def test_a_reason_of_a_deciders_own_is_shown_as_it_is(capsys):
    race(progress=True, decider=OwnReason())
    assert (
        "block   4: dropped #2, too slow [by far], against #0 (seconds 12)"
        in capsys.readouterr().err
    )


def test_what_is_shown_is_one_line_each_in_the_narrowest_terminal(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "20")
    race(progress=True)
    assert len(capsys.readouterr().err.splitlines()) == 4


def test_indistinguishable_ones_are_called_so(capsys):
    racer.race([1, 2], lambda config, instance, seed: 0.0, budget=100, progress=True)
    shown = capsys.readouterr().err
    assert re.search(r"block +28: dropped #1, indistinguishable from #0 \(posterior 0\.95", shown)


def test_a_long_wait_is_not_silent(capsys):
    racer.race(
        [1, 2],
        lambda config, instance, seed: (config + instance) % 2,
        [0, 1],
        budget=60,
        decider="f-race",
        progress=True,
    )
    shown = capsys.readouterr().err.splitlines()
    assert [line[:10] for line in shown[:-1]] == ["block   9:", "block  19:", "block  29:"]


def test_a_terminal_shows_where_the_race_stands():
    console = Console(file=io.StringIO(), force_terminal=True, width=100)
    with Progress(console) as progress:
        race(callbacks=[progress])
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", console.file.getvalue())
    assert "dropped #2, inferior to #0" in shown
    assert "its mean" in shown


def test_the_terminal_is_left_in_order_after_an_error():
    def fail(event):
        raise ZeroDivisionError

    console = Console(file=io.StringIO(), force_terminal=True)
    with pytest.raises(ZeroDivisionError), Progress(console) as progress:
        race(callbacks=[progress, fail])
    written = console.file.getvalue()
    assert written.count("\x1b[?25l") == written.count("\x1b[?25h") == 1  # the cursor


def test_a_race_refused_up_front_shows_nothing(capsys):
    with pytest.raises(racer.BudgetError):
        racer.race([1, 2], lambda config, instance, seed: 0.0, budget=1, progress=True)
    assert capsys.readouterr() == ("", "")


INTERRUPTED = """
import signal, sys, racer

def evaluate(config, instance, seed):
    if instance == 3:
        signal.raise_signal(signal.SIGINT)
    return config + seed % 3

signal.signal(signal.SIGINT, signal.default_int_handler)
if sys.argv[2] == "race":
    racer.race(range(4), evaluate, range(20), budget=200, store=sys.argv[1], progress=True)
else:
    def of(config, instance, seed):
        return evaluate(config["x"], instance, seed)
    racer.tune(racer.Space({"x": racer.Real(0, 9)}), of, range(20), budget=600, store=sys.argv[1], progress=True)
"""


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="no terminals")
@pytest.mark.parametrize("what", ["race", "tune"])
def test_how_to_go_on_stays_on_the_screen(tmp_path, what):
    """What is written while the live part is there would be wiped off with it."""
    terminal, inner = os.openpty()
    command = [sys.executable, "-c", INTERRUPTED, str(tmp_path / "run.db"), what]
    with subprocess.Popen(command, stdin=inner, stdout=inner, stderr=inner) as process:
        os.close(inner)
        written = b""
        with suppress(OSError):  # at its end
            while part := os.read(terminal, 65536):
                written += part
    os.close(terminal)
    assert process.returncode == 130
    before, _, after = written.decode().partition("racer: the race was interrupted")
    assert "go on with racer.resume(" in after
    assert "\x1b" not in after.replace("\x1b[?25h", "")  # nothing is moved or wiped off
    assert "what is being evaluated will be finished" in before


def test_the_answer_to_a_signal_is_shown_below_how_it_stands():
    console = Console(file=io.StringIO(), force_terminal=True, width=60)
    with Progress(console) as progress:
        progress.show("how it stands")
        progress.announce("racer: wait")
        progress.live.refresh()
        shown = console.file.getvalue()
    assert shown.index("how it stands") < shown.index("racer: wait")
