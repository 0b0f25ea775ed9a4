"""`racer.tune`, as users call it."""

from __future__ import annotations

import contextlib
import inspect
import io
import json
import os
import re

import pytest
from objectives import bowl
from playing import play
from processes import python

import racer
from racer import CandidateError, Ended, Real, Space

SPACE = Space({"x": Real(-5, 5), "y": Real(-5, 5)})
SETTINGS = {"budget": 150, "seed": 1}


def tune(**settings):
    return racer.tune(SPACE, bowl, [0.0, 10.0, 20.0], **{**SETTINGS, **settings})


def test_its_defaults_are_those_of_a_race():
    defaults = inspect.signature(racer.race).parameters
    for name, parameter in inspect.signature(racer.tune).parameters.items():
        if name in defaults and name not in ("instances", "decider", "instance_order"):
            assert parameter.default == defaults[name].default


def test_what_cannot_work_is_refused_before_anything_is_evaluated_or_written(path):
    wrong = {"initial": [{"x": 7, "y": 0}]}
    with pytest.raises(CandidateError, match=r"initial\[0\]: x=7"):
        racer.tune(SPACE, lambda *_: pytest.fail("evaluated"), **SETTINGS, **wrong, store=path)
    if path.exists():  # without a race in it, so that it can be used
        racer.tune(SPACE, bowl, [1.0], **SETTINGS, store=path)


def test_progress_in_a_log_is_a_line_for_each_race(capsys):
    result = tune(progress=True)
    shown = capsys.readouterr()
    assert shown.out == ""
    lines = [line[20:] for line in shown.err.splitlines()]
    assert re.match(r"tuning: at most 150 evaluations, seed ", lines[0])
    for race in result.completed_races:
        assert re.search(
            rf"{race.evaluations} of 150 evaluations: {race.kind} {race.race + 1} left {race.alive} of "
            rf"{race.candidates} candidates after {race.blocks} runs",
            "\n".join(lines),
        )
    assert len(lines) == len(result.completed_races) + 2
    tune()
    assert capsys.readouterr() == ("", "")


@pytest.mark.filterwarnings("ignore:block .* is set aside:racer.RacerWarning")
def test_progress_shows_runs_in_which_nothing_is_known(capsys, in_series):
    def fail(config, instance, seed):
        raise (ValueError if config["x"] < 0.5 else TypeError)(config)

    racer.tune(SPACE, fail, budget=racer.Budget(evaluations=200, seconds=9), seed=1, progress=True)
    shown = capsys.readouterr().err
    assert "; best" not in shown
    assert Ended.ALL_FAILED.message in shown


def test_neither_a_tuning_nor_a_race_depends_on_the_hash_seed():
    code = """
import json, racer
def race(config, instance, seed):
    if seed % 19 == len(config["name"]):
        raise ValueError("sometimes")
    return config["x"] + seed % 1000 / 500
pool = [{"x": x / 2, "name": "n" * x, "tags": {"b", "a", "c"}} for x in range(6)]
raced = racer.race(pool, race, ["p", "q"], budget=90, seed=7)
space = racer.Space(
    {"k": racer.Categorical(["a", "b", "c"]), "x": racer.Real(0, 1), "n": racer.Integer(0, 9)},
    conditions={"x": {"k": ["a", "b"]}}, forbidden=[{"k": "c", "n": 3}],
)
result = racer.tune(
    space, lambda config, instance, seed: config["n"] + config.get("x", 2) + seed % 1000 / 500,
    budget=100, seed=1,
)
print(json.dumps([result.configs, result.best_index, result.elites]))
print(json.dumps([raced.best_index, raced.survivors, raced.table.to_json(), raced.eliminations.to_json()]))
"""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(code, {})  # with the seed of this process
    other = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    done = python("-c", code, env={**os.environ, "PYTHONHASHSEED": other})
    assert done.stdout == out.getvalue()
    assert json.loads(done.stdout.splitlines()[1])[0] == 0


def noisy(config, instance, seed):
    return (config["x"] - 1) ** 2 + seed % 7 * 0.1


LINE = racer.Space({"x": racer.Real(-5, 5)})


def test_a_result_stays_what_it_was_when_it_was_taken():
    tuner = racer.Tuner(LINE, budget=100, seed=1)
    for cell in tuner.ask()[:3]:
        tuner.tell(cell, racer.Outcome("ok", 1.0))
    taken = tuner.result()
    play(tuner, lambda cell: noisy(cell.config, None, cell.seed))
    assert taken.evaluations == len(taken.scores) == 3


def test_a_callback_that_raises_does_not_end_the_run():
    calls = []

    def watch(event):
        calls.append(event)
        if len(calls) == 3:
            raise RuntimeError("enough")

    tuner = racer.Tuner(LINE, budget=100, seed=1, callbacks=[watch])
    raised = 0
    while cells := tuner.ask():
        for cell in cells:
            try:
                tuner.tell(cell, racer.Outcome("ok", noisy(cell.config, None, cell.seed)))
            except RuntimeError:
                raised += 1
    assert raised == 1
    assert tuner.result().evaluations == 100


def test_parameters_may_have_the_names_of_columns():
    space = racer.Space(
        {
            "parent": racer.Categorical(["a", "b"]),
            "mean": racer.Real(0, 1),
            "candidate": racer.Integer(1, 9),
        }
    )
    result = racer.tune(space, lambda c, i, s: c["mean"] + s % 5, budget=100, seed=1)
    frame = result.configurations
    assert set(frame["parent (parameter)"]) <= {"a", "b"}
    assert frame.loc[result.best_index, "mean (parameter)"] == result.best["mean"]
    assert frame.loc[result.best_index, "candidate (parameter)"] == result.best["candidate"]


def test_what_evaluate_does_to_its_configuration_stays_with_it():
    def greedy(config, instance, seed):
        config["x"] += 100.0
        return noisy({"x": config["x"] - 100.0}, instance, seed)

    kept = racer.tune(LINE, noisy, budget=100, seed=1)
    changed = racer.tune(LINE, greedy, budget=100, seed=1)
    assert changed.best == pytest.approx(kept.best)
    assert changed.best in LINE


def test_a_budget_of_seconds_is_not_overspent_by_the_first_block():
    tuner = racer.Tuner(
        LINE, budget=racer.Budget(seconds=5.0), initial=[{"x": float(x)} for x in range(5)], seed=1
    )
    with pytest.warns(racer.RacerWarning, match="before the first test"):
        play(tuner, lambda cell: racer.Outcome("ok", 1.0, seconds=1.0))
    # as told
    assert tuner.result().seconds <= 5.0
    assert tuner.ended is racer.Ended.BUDGET  # too early to say that all are equal


def test_many_choices_and_a_huge_budget_are_no_trouble():
    space = racer.Space({f"c{i}": racer.Categorical(range(1000)) for i in range(3)})
    racer.tune(space, lambda c, i, s: c["c0"] + s % 9, budget=300, seed=1)
    assert racer.Tuner(LINE, budget=10**12).ask()
