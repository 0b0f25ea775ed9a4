"""Runs of races in a store: stopped at any moment and resumed, extended, refused, checked."""

from __future__ import annotations

import os
import signal
import warnings
from dataclasses import fields
from pathlib import Path

import flat
import pandas as pd
import pytest
from objectives import Counting, evaluate  # which workers can import
from tunings import content
from typed import typed

import racer
from racer import Categorical, Integer, Ordinal, Param, Real, Space, StoreError
from racer.core.rules import Rules
from racer.store.load import check_store

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs POSIX signals"),
    pytest.mark.filterwarnings("ignore:block .* is set aside:racer.RacerWarning"),
    pytest.mark.filterwarnings("ignore:the race in .* was begun with evaluate:racer.RacerWarning"),
]

SPACE = {"k": Categorical(["a", "b"]), "x": Real(0, 1), "n": Integer(0, 9)}
CONDITIONS = {"x": {"k": "a"}}
SETTINGS = {
    "instances": ["i", ("j", 1)],
    "budget": 70,
    "seed": 5,
    "decider": "f-race",
    "initial": [{"k": "b", "n": 3}],
    "test_instances": ["t"],
}


def space(**settings):
    return Space(SPACE, conditions=CONDITIONS, **settings)


def tune(store=None, given=None, function=evaluate, **settings):
    return flat.tune(given or space(), function, **{**SETTINGS, **settings}, store=store)


def found(result):
    """Return what was found, however many calls it took."""
    kept = content(result)
    return kept["configs"], kept["best"]


@pytest.fixture(name="plain", scope="module")
def _plain():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", racer.RacerWarning)
        return content(tune())


@pytest.fixture(scope="module")
def ended(tmp_path_factory):
    """A run that has ended: its store, its result, its content."""
    path = tmp_path_factory.mktemp("ended") / "run.db"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", racer.RacerWarning)
        return path, (result := tune(path)), content(result)


def stopping(at):
    """Return an objective that sends its own process Ctrl-C in one of its calls."""
    return Counting(evaluate, at, lambda: os.kill(os.getpid(), signal.SIGINT))


def test_a_store_changes_nothing(recorded, plain):
    assert recorded.content == plain


@pytest.mark.parametrize("at", [1, 37, 70, 71])
def test_ctrl_c_says_how_to_resume_and_the_resumed_run_is_the_same(
    tmp_path, plain, at, stores, capfd
):
    path, function = tmp_path / "run.db", stopping(at)
    with pytest.raises(racer.RaceInterrupted, match=r"go on with racer.resume\(") as caught:
        tune(path, function=function)
    # a cell that failed as the signal came is evaluated again
    assert at - 1 <= len(stores.rows(path)) <= len(function.calls) == at
    assert caught.value.result.evaluations == min(len(stores.rows(path)), 70)
    assert f"racer.resume({str(path)!r}, evaluate)" in capfd.readouterr().err
    before = set(stores.rows(path))
    again = stopping(0)
    resumed = racer.resume(path, again)
    assert content(resumed) == plain
    assert before <= set(stores.rows(path))
    assert len(stores.rows(path)) == len(before) + len(again.calls)


def test_with_a_larger_budget_it_goes_on_from_its_end(recorded):
    larger = racer.resume(recorded.path, evaluate, budget=90)
    assert larger.evaluations == 90
    both = tune(budget=[70, 90])
    assert found(larger) == found(both)
    pd.testing.assert_series_equal(larger.scores["value"], both.scores["value"])
    # and once more, this time by the call that began it
    largest = tune(recorded.path, budget=110)
    assert found(largest) == found(tune(budget=[70, 90, 110]))
    # the budget is now that; what has been recorded is there without any new evaluation
    for budget in (None, 110, [70, 90, 110]):
        assert content(racer.resume(recorded.path, evaluate, budget=budget)) == content(largest)
    assert content(tune(recorded.path, budget=110)) == content(largest)
    assert check_store(recorded.path).problems == []


CHANGES = [  # those of a race are in test_store_changed_settings.py
    ("initial", [], r"initial is \[\].*has \[\{'k': 'b', 'n': 3\}\]"),
    ("search", racer.Search(elites=2), "elites is 2.*has None"),
    ("instance_order", "given", "order is 'given'.*has 'shuffled'"),
    ("test_instances", ["u"], r"held_out is \['u'\].*has \['t'\]"),
    (
        "given",
        Space({**SPACE, "n": Integer(0, 8)}, conditions=CONDITIONS),
        "space is .*'high': 8.*, but .* has .*'high': 9",
    ),
    (
        "given",
        Space(dict(reversed(SPACE.items())), conditions=CONDITIONS),
        "space is .*'name': 'n'.*, but .* has .*'name': 'k'",
    ),
    (
        "given",
        Space(SPACE, conditions={"x": Param("k") != "b"}),
        "space is .*'b'.*has ",
    ),
    (
        "given",
        space(forbidden=[{"n": 9}]),
        r"space is .*'forbidden': \[\['=='.*has .*'forbidden': \[\]",
    ),
    (
        "search",
        racer.Search(test_elites=1),
        "begun without test_elites, which is 1 here: leave it out, or",
    ),
    (
        "given",
        Space({**SPACE, "k": Ordinal(["a", "b"])}, conditions=CONDITIONS),
        "space is .*'ordinal'.* has .*'categorical'",
    ),
    (
        "given",
        space(repair=lambda config: config),
        "space is .*'repair': True.*has .*'repair': False",
    ),
]


@pytest.mark.parametrize(("name", "value", "message"), CHANGES, ids=lambda v: str(v)[:20])
def test_each_setting_is_named_with_both_values(recorded, name, value, message):
    before = Path(recorded.path).read_bytes()
    with pytest.raises(StoreError, match=message):
        tune(recorded.path, **{name: value})
    assert Path(recorded.path).read_bytes() == before


def test_all_settings_of_a_run_are_recorded(recorded):
    optional = {"metrics", "objective", "prices", "generalize", "min_survivors"}
    known = {field.name for kind in (Rules, racer.Limits) for field in fields(kind)}
    sampled = {"space", "initial", "elites", "instance_order", "test_instances", "sampling"}
    assert check_store(recorded.path).settings.keys() == (
        known - optional | sampled | {"evaluate", "evaluate_source", "racer"}
    )


def test_a_race_and_a_run_are_not_confused(recorded, tmp_path):
    with pytest.raises(StoreError, match=r"holds a tuning: go on with racer\.resume\(.*, or"):
        racer.race([1, 2], lambda c, i, s: c, budget=20, store=recorded.path)
    with pytest.raises(racer.RacerError, match="tuning, which has no candidates"):
        racer.resume(recorded.path, evaluate, candidates=[1, 2])
    path = tmp_path / "race.db"
    racer.race([1, 2], lambda c, i, s: c, budget=20, seed=1, store=path)
    with pytest.raises(StoreError, match=r"holds a race: go on with racer\.resume\(.*, or"):
        tune(path)
    with pytest.raises(racer.RacerError, match="holds a race, which has no space"):
        racer.resume(path, evaluate, space=space())


def test_a_repair_hook_has_to_be_given_again(tmp_path):
    def repair(config):
        return {**config, "n": config["n"] // 2 * 2}

    path = tmp_path / "run.db"
    first = tune(path, space(repair=repair), initial=[])
    assert all(config["n"] % 2 == 0 for config in first.configs)
    with pytest.raises(StoreError, match=r"repair hook.*racer.resume\(.., space=..\)"):
        racer.resume(path, evaluate)
    again = racer.resume(path, evaluate, space=space(repair=repair))
    assert content(again) == content(first)
    done = typed("check", path, exits=0)
    assert "its space has a repair hook: verdicts were not replayed" in done.output
    assert "evaluate, space=..)" in done.output


def test_another_sample_than_recorded_stops(recorded, monkeypatch):
    from racer.tuner import drafts

    monkeypatch.setattr(drafts, "_CROSSED", 0.0)
    with pytest.raises(StoreError, match=r"replayed, .* otherwise: .*now racer"):
        tune(recorded.path)
