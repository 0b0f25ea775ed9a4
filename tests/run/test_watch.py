"""A store that another process writes is watched."""

import io
import re
import shlex
from pathlib import Path

import flat
import pytest
from rich.console import Console
from typed import typed

import racer
from racer import _files
from racer.cli import stores
from racer.run.progress_state import ProgressState, Subject
from racer.run.watch import state_in, watch


def stops(at):
    def evaluate(config, instance, seed):
        if instance == at:
            raise KeyboardInterrupt
        if config == 2:
            raise ValueError
        return config + (seed % 5)

    return evaluate


@pytest.fixture(name="path")
def _path(tmp_path):
    path = str(tmp_path / "run.db")
    with pytest.raises(racer.RaceInterrupted):
        racer.race(range(4), stops(3), range(30), budget=100, seed=1, store=path)
    return path


@pytest.mark.parametrize("is_terminal", [True, False])
def test_it_is_shown_until_it_has_ended(path, is_terminal):
    waited = []

    def go_on(seconds):
        waited.append(seconds)
        with pytest.warns(racer.RacerWarning, match="goes on with"):
            racer.resume(path, lambda c, i, s: c + (s % 5))

    console = Console(file=io.StringIO(), force_terminal=is_terminal, width=80)
    watch(path, interval=2.0, console=console, wait=go_on)
    shown = console.file.getvalue()
    assert waited == [2.0]
    assert racer.load(path).ended.message in " ".join(shown.split())
    assert "12 of 100" in shown
    assert "3 failed" in shown


def test_what_it_says_is_what_is_recorded(path):
    state = state_in(path, ProgressState(0.0))
    assert (state.candidates, state.left, state.work.evaluations) == (4, 4, 12)
    assert (state.work.failures, state.blocks, state.ended) == (3, 3, "")
    console = Console(file=io.StringIO(), width=80)
    watch(path, once=True, console=console)
    shown = console.file.getvalue()
    assert "candidates left        4 of 4" in shown
    assert "block 2" in shown
    assert re.search(r"of them +3 failed", shown)
    assert "workers" not in shown  # a limited evaluation has a process of its own
    assert re.search(r"Last written \d:\d\d:\d\d ago; if nothing runs it: racer check ", shown)


def test_its_advice_can_be_pasted_into_a_shell(path):
    apart = Path(path).rename(Path(path).with_name("it's one.db"))
    console = Console(file=io.StringIO(), width=1000)
    watch(str(apart), once=True, console=console)
    *_, command = console.file.getvalue().splitlines()
    assert shlex.split(command.partition("it: ")[2]) == ["racer", "check", str(apart)]


def test_prefetched_cells_are_not_counted_at_the_end():
    result = racer.race(range(3), lambda c, i, s: c + s % 2, budget=15, seed=1)
    state = ProgressState(0.0)
    state.work.evaluations = 17  # in the store: two were prefetched
    state.end(result)
    assert state.work.evaluations == result.evaluations == 15


def test_a_long_label_does_not_touch_its_value():
    state = ProgressState(0.0)
    state.of, state.mean = Subject(mean_label="PAR10"), 0.1
    assert "PAR10 on common blocks 0.1 " in state.text(0.0)


def test_a_tuning_is_watched_too(tmp_path):
    path = str(tmp_path / "run.db")
    space = racer.Space({"x": racer.Real(0, 1)})
    result = racer.tune(space, lambda c, i, s: c["x"] + s, [1, 2], budget=60, seed=1, store=path)
    state = state_in(path, ProgressState(0.0))
    assert state.of.kind == "tuning"
    assert (state.candidates, state.work.evaluations) == (len(result.configs), 60)
    assert state.ended == result.ended.message
    assert (state.best, state.left) == (result.best_index, len(result.survivors))
    assert (state.mean, state.blocks) == (result.mean(result.best_index), len(result.known))
    assert "race" not in state.line(0.0)


def test_a_running_tuning_is_watched_without_its_races(tmp_path):
    path, own, calls, seen = str(tmp_path / "run.db"), ProgressState(0.0), [], []

    def evaluate(config, instance, seed):
        calls.append(seed)
        if len(calls) == 144:  # the last block has ended with a best
            seen.append((own.candidates, own.best, own.mean))
            raise KeyboardInterrupt
        return config["x"] + seed % 7 / 20

    space = racer.Space({"x": racer.Real(0, 1)}, repair=dict)
    settings = {"budget": 600, "seed": 2, "store": path, "callbacks": [own.update]}
    with pytest.raises(racer.RaceInterrupted):
        racer.tune(space, evaluate, range(9), **settings)
    state = state_in(path, ProgressState(0.0))
    assert (state.left, state.work.evaluations) == (None, 143)
    ((candidates, best, mean),) = seen
    assert (state.candidates, state.best, state.mean) == (candidates, best, pytest.approx(mean))
    assert re.match(r"\d+ blocks done: \d+ candidates, best #", state.line(0.0))
    assert "candidates left        - of" in state.text(0.0)


def test_an_ablation_is_watched_too(tmp_path):
    path = str(tmp_path / "run.db")
    space = racer.Space({"x": racer.Real(0, 9), "y": racer.Real(0, 9)}, default={"x": 8, "y": 8})
    cost = lambda c, i, s: c["x"] + c["y"] + s % 5  # noqa: E731
    result = racer.tune(space, cost, [1, 2], budget=90, seed=1)
    found = racer.ablation(result, cost, store=path)
    state = state_in(path, ProgressState(0.0))
    assert (state.best, state.candidates) == (found.best_index, len(found.configs))
    assert state.ended == found.ended.message


WHERE = {0: (0.0, 4.0), 1: (1.0, 1.0), 2: (4.0, 0.0), 3: (2.0, 2.0), 4: (2.0, 5.0)}


def both(config, instance, seed, stop=None):
    if instance == stop:
        raise KeyboardInterrupt
    if (config, instance) == (1, 2):
        raise ValueError
    error, score = WHERE[config]
    return {"error": error + seed % 7 / 10.0, "score": -score + seed % 5 / 10.0}


def to_front(evaluate, **more):
    return flat.race(
        *(range(5), evaluate, range(30)),
        budget=150, seed=1, progress=True, decider="front", goal={"error": "min", "score": "max"}, **more,
    )  # fmt: skip


def test_a_race_to_a_front_shows_the_front_of_its_means(tmp_path, capsys):
    path = str(tmp_path / "front.db")
    with pytest.raises(racer.RaceInterrupted):
        to_front(lambda *cell: both(*cell, stop=5), store=path)
    state = state_in(path, ProgressState(0.0))
    assert state.front == (0, 1, 2)
    console = Console(file=io.StringIO(), width=80)
    watch(path, once=True, console=console)
    assert "front of means         #0, #1 and 1 more" in console.file.getvalue()
    capsys.readouterr()
    to_front(both)
    shown = capsys.readouterr().err
    assert "4 candidates left, front of means #0, #1 and 1 more; " in shown


def test_the_page_is_rewritten_every_ten_seconds_and_is_always_whole(path, tmp_path, monkeypatch):
    now, page, seen = [0.0], tmp_path / "page.html", []

    def sleep(seconds):
        now[0] += seconds

    wait = stores.page_writer(path, page, lambda: now[0], sleep)
    for _ in range(4):
        wait(4.0)
        seen.append(page.exists())
        page.unlink(missing_ok=True)
    assert seen == [False, False, True, False]
    page.write_text("before")
    monkeypatch.setattr(_files.os, "fsync", lambda file: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        wait(10.0)
    assert [file.read_text() for file in tmp_path.glob("*.html")] == ["before"]


def test_the_page_is_there_at_once_and_at_the_end(path, tmp_path):
    page = tmp_path / "page.html"
    typed("watch", path, "--once", "--page", page, exits=0)
    assert "12 evaluations" in page.read_text()
    with pytest.warns(racer.RacerWarning, match="goes on with"):
        result = racer.resume(path, lambda c, i, s: c + (s % 5))
    typed("watch", path, "--page", page, exits=0)
    assert f"{result.evaluations} evaluations" in page.read_text()
    assert result.evaluations > 12
