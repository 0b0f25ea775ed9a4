"""What is shown while a race runs."""

from __future__ import annotations

import errno
import io
import os
import re
import subprocess
import sys
import time
import types
import warnings
from contextlib import suppress
from itertools import pairwise

import flat
import pytest
from objectives import Counting
from playing import Scripted, eliminated
from rich.console import Console

import racer
from racer import Tuner
from racer.evaluate.workers import workers_for
from racer.run.deadline import Deadline
from racer.run.drive import Feed, drive
from racer.run.progress import Progress
from racer.run.progress_state import ProgressState, Subject


def race(**settings):
    return racer.race(
        [1, 2, 3], lambda config, instance, seed: config, budget=60, seed=1, **settings
    )


def test_drops_go_to_standard_error_and_nothing_to_standard_output(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # as in notebooks: it makes no terminal of a file
    result = race(progress=True)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert [gone.candidate for gone in eliminated(result)] == [2, 1]
    stamps, lines = zip(*((line[:20], line[20:]) for line in shown.err.splitlines()), strict=True)
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d ", stamp) for stamp in stamps)
    timeless = [re.sub(r"at most \d:[\d:]+", "at most 0:00:00", line) for line in lines]
    assert timeless == [
        "race of 3 candidates: at most 60 evaluations, seed 1, 1 worker",
        "run 5: dropped #2, inferior to #0",
        "run 5: dropped #1, inferior to #0",
        "15 of 60 evaluations: 1 of 3 candidates left, run 5; best mean 1: 1 (#0); at most 0:00:00 left",
        result.ended.message,
    ]
    assert "\x1b" not in shown.err


OWN_REASON = Scripted({5: [2]}, 0, reason="too slow [by far]", probability=12.5, measure="seconds")


@pytest.mark.parametrize(
    ("decider", "dropped"),
    [
        ("f-race-sign", r"inferior to #0 \(p-value 0\.031\)"),
        ("anytime", r"inferior to #0 \(e-value \d\d\.\d\)"),
        (OWN_REASON, r"too slow \[by far\], against #0 \(seconds 12\)"),
    ],
)
def test_the_reason_is_shown_with_the_measure_of_the_decider(capsys, decider, dropped):
    race(progress=True, decider=decider)
    assert re.search(rf"run \d+: dropped #2, {dropped}\n", capsys.readouterr().err)


def test_what_is_shown_is_one_line_each_in_the_narrowest_terminal(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "20")
    race(progress=True)
    assert len(capsys.readouterr().err.splitlines()) == 5


def test_indistinguishable_ones_are_called_so(capsys):
    flat.race([1, 2], lambda config, instance, seed: 0.0, budget=100, each_test=1, progress=True)
    shown = capsys.readouterr().err
    assert re.search(r"run 29: dropped #1, indistinguishable from #0\n", shown)


@pytest.fixture(name="clock")
def _clock(monkeypatch):
    """A clock that goes on by `step` seconds each time that it is read."""

    class Clock:
        now, step = 0.0, 0.0

        def monotonic(self):
            self.now += self.step
            return self.now

        strftime = staticmethod(time.strftime)

    clock = Clock()
    monkeypatch.setattr("racer.run.progress.time", clock)
    return clock


def test_a_long_block_is_not_silent(capsys, clock):
    """A candidate takes a minute: 40 candidates would be silent for 40 minutes."""
    clock.step = 20.0
    racer.race(range(40), lambda c, i, s: c, budget=200, progress=True, seed=1)
    lines = [line[20:] for line in capsys.readouterr().err.splitlines()]
    first = [line for line in lines if " run 1, " in line]
    assert len(first) > 30
    said = "1 of 200 evaluations: 40 of 40 candidates left, run 1, 1 of 40 evaluated;"
    assert first[0].startswith(said)
    assert re.search(r"; at most \d+:\d\d:\d\d left$", first[0])


def test_many_that_leave_at_once_have_one_line(capsys):
    racer.race(range(40), lambda c, i, s: c, budget=2000, progress=True, seed=1, decider="f-race")
    shown = capsys.readouterr().err
    assert re.search(r"run \d+: dropped (\d+) candidates: \1 inferior\n", shown)


def test_a_terminal_shows_from_the_beginning_where_the_race_stands():
    console = Console(file=io.StringIO(), force_terminal=True, width=80)
    race = racer.Race(range(3), range(9), budget=60, seed=1)
    with Progress(console) as progress:
        progress.begin(race, 4, lambda: 6)
        progress.asked(race.ask())
        progress.told(racer.Outcome("ok", 1.0, seconds=0.5))
        progress.told(racer.Outcome("failed", None, seconds=0.5, message="so"))
        text = progress._text()
        progress.live.refresh()
    lines = text.splitlines()
    assert max(map(len, lines)) < 80
    for said in (
        "candidates left        3 of 3",
        "evaluations  2 of 60",
        "run 1        2 of 3 evaluations",
        "workers busy           4 of 4",
        "failed       1",
        "time left              at most 0:00:0",
    ):
        assert said in text
    assert "candidates left" in console.file.getvalue()
    assert "race of 3 candidates" in console.file.getvalue()


def test_a_resumed_race_begins_with_what_is_known(path, capsys):

    def evaluate(config, instance, seed):
        return config

    racer.race([1, 2, 3], evaluate, budget=60, seed=1, store=path)
    racer.resume(path, evaluate, budget=90, progress=True)
    assert "seed 1, 1 worker, 15 evaluations known\n" in capsys.readouterr().err


def test_a_resumed_tuning_shows_the_blocks_and_the_pace_of_one_never_stopped(
    tmp_path, monkeypatch, in_series
):
    space, seen, told = racer.Space({"x": racer.Real(0, 1)}), [], Progress.told
    evaluate = Counting(lambda config, i, seed: config["x"] + seed % 7, 150 + 100)

    def look(self, outcome):
        told(self, outcome)
        late = self.state._begun + 3600.0  # the first evaluation came after an hour
        place = re.search(r"race \d+, run \d+", self.state.line(late))
        seen.append((place[0], self.state.to_go(late)))

    monkeypatch.setattr(Progress, "told", look)
    given = {"budget": 150, "seed": 1, "progress": True}
    racer.tune(space, evaluate, [1, 2], **given)
    with pytest.raises(racer.RaceInterrupted):
        racer.tune(space, evaluate, [1, 2], **given, store=tmp_path / "run.db")
    known = racer.load(tmp_path / "run.db").evaluations
    whole, resumed_at = seen[:150], len(seen)
    racer.resume(tmp_path / "run.db", evaluate, progress=True)
    resumed = seen[resumed_at:]
    assert [place for place, _ in resumed] == [place for place, _ in whole[known:]]
    assert whole[known][0].startswith("race 3, ")
    assert 0.0 < resumed[0][1] < 60.0


def test_an_ablation_counts_evaluations_not_runs():
    state = ProgressState(0.0)
    state.of = Subject(kind="ablation")
    state.work.asked, state.work.told = 10, 4
    assert state.line(0.0) == "0 evaluations: 4 of 10 evaluated"
    assert "run" not in state.text(0.0)


def test_a_narrow_terminal_shows_evaluations_failures_and_time_too():
    console = Console(file=io.StringIO(), force_terminal=True, width=40)
    race = racer.Race(range(3), range(9), budget=60, seed=1)
    with Progress(console) as progress:
        progress.begin(race, 1, lambda: 1)
        progress.asked(race.ask())
        progress.told(racer.Outcome("failed", None, seconds=0.5, message="so"))
        progress.announce("racer: running evaluations will be finished and recorded")
        lines = progress._render().plain.splitlines()
    assert max(map(len, lines)) <= 40
    text = " ".join(" ".join(lines).split())
    assert "evaluations 1 of 60 " in text
    assert "failed 1 workers busy 1 of 1" in text
    assert "time left at most" in text
    assert text.endswith("will be finished and recorded")


def test_a_run_that_is_over_has_its_title_first(tmp_path, capsys, monkeypatch):
    def again(path):
        racer.race([1, 2, 3], lambda c, i, s: c, budget=60, seed=1, store=path, progress=True)
        return [line[20:] for line in capsys.readouterr().err.splitlines()]

    end = "Decided: no other candidate is left."
    path = tmp_path / "replayed.db"
    assert again(path)[-1] == end
    title, *others = again(path)
    assert title.startswith("race of 3 candidates: ")
    assert others == [end, f"outcomes go to {path}; racer show {path} says where it stands"]
    monkeypatch.setattr("racer.store.result.LEAST", 1)
    assert again(tmp_path / "kept.db")[-1] == end
    assert again(tmp_path / "kept.db") == [end]  # its result is in it


def test_a_notebook_has_one_display_that_is_updated(monkeypatch, clock):
    shown = []
    shell = type("ZMQInteractiveShell", (), {})

    class Handle:
        def update(self, data, raw):
            shown.append((clock.now, data["text/plain"]))

    notebook = types.ModuleType("IPython")
    notebook.get_ipython = shell
    display = types.ModuleType("IPython.display")
    display.display = lambda data, raw, display_id: Handle()
    monkeypatch.setitem(sys.modules, "IPython", notebook)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    clock.step = 0.01
    racer.race(range(20), lambda c, i, s: c, budget=200, progress=True, seed=1)
    assert len(shown) > 2
    assert "evaluations  0 of 200" in shown[0][1]
    assert "candidates left        1 of 20" in shown[-1][1]
    times = [at for at, _ in shown[:-1]]  # the last is at the end
    assert min(b - a for a, b in pairwise(times)) >= 0.25


def test_the_terminal_is_left_in_order_after_an_error():
    def fail(event):
        raise ZeroDivisionError

    console = Console(file=io.StringIO(), force_terminal=True)
    with pytest.raises(ZeroDivisionError), Progress(console) as progress:
        race(callbacks=[progress, fail])
    written = console.file.getvalue()
    assert written.count("\x1b[?25l") == written.count("\x1b[?25h") == 1  # the cursor


class Broken(io.StringIO):
    """A standard error of which `lasts` writes succeed."""

    def __init__(self, error, *, is_terminal, lasts=0):
        super().__init__()
        self.error, self.is_terminal, self.lasts = error, is_terminal, lasts

    def isatty(self):
        return self.is_terminal

    def write(self, text):
        self.lasts -= 1
        if self.lasts < 0:
            raise self.error
        return super().write(text)


@pytest.mark.parametrize("is_terminal", [True, False])
@pytest.mark.parametrize("lasts", [0, 2])
@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "full"), BrokenPipeError(errno.EPIPE, "gone")], ids=repr
)
def test_a_display_that_cannot_be_written_changes_no_run(monkeypatch, error, lasts, is_terminal):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stderr", Broken(error, is_terminal=is_terminal, lasts=lasts))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        shown = race(progress=True)
    assert shown.scores["value"].tolist() == race(progress=False).scores["value"].tolist()
    is_quiet = is_terminal and isinstance(error, BrokenPipeError)  # Rich would end the program
    texts = [str(warning.message) for warning in caught]
    assert sum(text.startswith("progress is not shown any more") for text in texts) == (
        not is_quiet
    )


def test_a_terminal_of_unknown_width_is_not_narrow(monkeypatch):
    terminal = Broken(None, is_terminal=True, lasts=10**6)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "0")
    monkeypatch.setattr("sys.stderr", terminal)
    race(progress=True)
    assert "candidates left        1 of 3" in terminal.getvalue()


def test_a_race_refused_up_front_or_without_progress_shows_nothing(capsys):
    with pytest.raises(racer.BudgetError):
        racer.race([1, 2], lambda config, instance, seed: 0.0, budget=1, progress=True)
    race()
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
@pytest.mark.parametrize("what", [pytest.param("race", marks=pytest.mark.thorough), "tune"])
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
    before, _, after = written.decode().partition("racer: the run was interrupted")
    assert "go on with racer.resume(" in " ".join(after.split())
    assert "\x1b" not in after.replace("\x1b[?25h", "")  # nothing is moved or wiped off
    assert "running evaluations will be finished" in before


def test_the_races_of_a_study_are_shown_by_the_numbers_of_its_trials(capsys):
    optuna = pytest.importorskip("optuna")
    from racer.integrations.optuna import race_study

    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1))
    capsys.readouterr()
    race_study(
        study,
        lambda config, instance, seed: config["x"] + instance,
        range(6),
        suggest={"x": optuna.distributions.FloatDistribution(0, 1)},
        budget=80,
        trials=4,
        seed=1,
        progress=True,
    )
    lines = [line[20:] for line in capsys.readouterr().err.splitlines() if line[:2] == "20"]
    assert lines[0].startswith("races of study ")
    dropped = {int(number) for line in lines for number in re.findall(r"dropped #(\d+)", line)}
    assert max(dropped) > 4
    assert dropped <= {t.number for t in study.trials if t.state is optuna.trial.TrialState.PRUNED}
    assert any(line.startswith("race 1: best is trial #") for line in lines)


def test_lines_are_broken_between_words_where_a_terminal_ends():
    console = Console(file=io.StringIO(), force_terminal=True, width=40)
    race(callbacks=[Progress(console)])
    lines = [re.sub(r"\x1b\[.*?[a-zA-Z]", "", one) for one in console.file.getvalue().split("\n")]
    assert max(len(line.rstrip()) for line in lines) <= 40
    assert "run 5: dropped #2, inferior to #0" in lines
    assert "  run 5; best mean 1: #0" in lines


def test_a_tunings_blocks_are_those_of_the_present_race():
    space = racer.Space({"x": racer.Integer(0, 3)})
    progress, seen = Progress(Console(file=io.StringIO())), []

    def look(event):
        progress(event)
        if isinstance(event, racer.BlockCompleted):
            seen.append((progress.state.race, progress.state.blocks))

    result = racer.tune(space, lambda c, i, s: c["x"], budget=60, seed=1, callbacks=[look])
    expected = [(race.race, n + 1) for race in result.completed_races for n in range(race.blocks)]
    assert seen == expected


def test_held_out_instances_have_a_counter_of_their_own():
    space, seen = racer.Space({"x": racer.Real(0, 1)}), []

    def evaluate(config, instance, seed):
        return config["x"] + seed % 7

    class Display(Progress):
        def told(self, outcome):
            super().told(outcome)
            seen.append(self.state.line(0.0))

    tuner = Tuner.of(space, range(5), budget=60, seed=1, test_instances=[7, 8, 9])
    workers = workers_for(evaluate, (), ())
    drive(Feed(tuner, workers), display=Display(Console(file=io.StringIO())))
    held_out = [line for line in seen if "held-out" in line]
    assert "held-out 1 of 3" in held_out[0]
    assert "held-out 3 of 3" in held_out[-1]
    assert all("60 of 60 evaluations" in line for line in held_out)
    assert max(int(line.split(" of 60 ")[0].split()[-1]) for line in seen) == 60


def test_the_time_to_the_deadline_is_shown(monkeypatch):
    monkeypatch.setattr("racer.run.deadline._clock", lambda: 100.0)
    state = ProgressState(0.0)
    state.of = Subject(deadline=Deadline(75))
    assert state.to_go(50.0) == 75.0
    state.of = Subject(deadline=Deadline(75), budget=racer.Budget(evaluations=10))
    state.work.evaluations = 9
    assert state.to_go(9.0) == 1.0
    assert "at most 0:00:01" in state.text(9.0)
    for seconds, said in ((67.5, "75 s of wall time"), (5.0, "5 s")):  # what comes first counts
        race = racer.Race([1, 2], budget=racer.Budget(seconds=seconds), seed=1)
        state.begin(race, 1, int, Deadline(75))
        assert f": at most {said}, seed" in state.of.title
        assert f" (0 of {said.split()[0]} s): " in state.line(0.0)
