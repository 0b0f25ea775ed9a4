"""A race cut off after any outcome, and resumed, gives the result of one never interrupted."""

from __future__ import annotations

import itertools
import math
import random
import tempfile
import warnings
from pathlib import Path

import flat
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from objectives import Counting
from playing import ONE_NUMBER

import racer
from racer.evaluate import attempt


def quiet(function, *args, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", racer.RacerWarning)  # blocks set aside
        return function(*args, **settings)


@st.composite
def races(draw):
    """Settings of a small race, and its objective."""
    m = draw(st.integers(2, 4))
    first_test = draw(st.integers(1, 5))
    each_test = draw(st.integers(1, 3))
    deterministic = draw(st.booleans())
    spread = draw(st.sampled_from([0.0, 0.3, 3.0]))
    failing = draw(st.sampled_from([0.0, 0.1, 0.6, 1.0]))
    seconds = draw(st.sampled_from([None, 1e9]))

    def evaluate(config, instance, seed):
        rng = np.random.default_rng([seed, config])
        if rng.random() < failing:
            if config:
                raise ValueError(f"\0 no luck \udcff {config}")
            return f"no luck \udcff {config}"  # not the same as the others: all is recorded
        return -0.0 if config == 1 and spread == 0.0 else config + spread * rng.normal()

    return evaluate, {
        "candidates": list(range(m)),
        "instances": draw(st.sampled_from([[0.5], ["a", "b", ("c",)]]))
        if deterministic
        else draw(st.sampled_from([None, [1, 2]])),
        "deterministic": deterministic,
        "decider": draw(st.sampled_from(ONE_NUMBER)),
        "budget": racer.Budget(evaluations=m * draw(st.integers(5, 9)), seconds=seconds),
        "maximize": draw(st.booleans()),
        "first_test": first_test,
        "each_test": each_test,
        "seed": draw(st.integers(0, 2**70)),
    }


@settings(max_examples=4, deadline=None, derandomize=True)
@given(case=races(), shuffled=st.randoms(use_true_random=False))
def test_resumed_after_every_outcome_the_result_is_the_same(case, shuffled, stores):
    evaluate, given_settings = case
    order = list(range(len(given_settings["candidates"])))
    shuffled.shuffle(order)
    plain = quiet(flat.race, evaluate=evaluate, **given_settings)
    with tempfile.TemporaryDirectory(
        dir="/dev/shm" if Path("/dev/shm").is_dir() else None
    ) as folder:
        path, copy = f"{folder}/run.db", f"{folder}/copy.db"
        whole = quiet(flat.race, evaluate=evaluate, **given_settings, store=path)
        assert stores.content(whole) == stores.content(plain)
        total = len(stores.rows(path))
        assert total == whole.evaluations
        for known in range(total + 1):
            kept = stores.cut_off(path, copy, known, order)
            counting = Counting(evaluate)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", racer.RacerWarning)  # the objective has a new name
                resumed = racer.resume(copy, counting)
            assert stores.content(resumed) == stores.content(plain)
            seeds = resumed.blocks["seed"].tolist()
            assert not {(c, seeds[b]) for b, c in kept} & {
                (c, seed) for c, _, seed in counting.calls
            }
            assert len(counting.calls) == total - known
            assert resumed.seconds == pytest.approx(
                math.fsum(row[7] for row in stores.rows(copy)), rel=1e-12, abs=1e-12
            )
            # what stands there afterwards is what would have been written without interruption
            for table in ("verdicts", "ending"):
                assert stores.rows(copy, table) == stores.rows(path, table)


def test_resumed_twice_the_result_is_the_same_to_the_last_second(recorded, stores):
    first = racer.resume(recorded.path, stores.evaluate)
    second = flat.race(
        stores.POOL, stores.evaluate, **{**stores.SETTINGS, "seed": None}, store=recorded.path
    )
    assert stores.content(first) == stores.content(second) == recorded.content
    assert first.seconds == second.seconds == recorded.result.seconds
    assert first.table.equals(recorded.result.table)
    assert first.eliminations.equals(recorded.result.eliminations)
    assert first.failures.equals(recorded.result.failures)
    assert first.blocks.equals(recorded.result.blocks)
    assert len(first.failures)


@pytest.mark.filterwarnings("ignore:the .* ended after .* before the first test:racer.RacerWarning")
def test_a_budget_of_seconds_decides_by_what_was_recorded(tmp_path, stores, monkeypatch):
    def evaluate(config, instance, seed):
        return config + seed % 5

    monkeypatch.setattr(attempt, "_clock", itertools.count().__next__)  # each takes a second
    path, copy = tmp_path / "run.db", tmp_path / "copy.db"
    budget = racer.Budget(seconds=50.0)
    whole = flat.race([1, 2], evaluate, budget=budget, seed=3, store=path, first_test=999)
    assert whole.ended == "budget"
    assert racer.resume(path, evaluate).seconds == whole.seconds
    rows = stores.rows(path)
    stores.cut_off(path, copy, len(rows) - 2)
    resumed = racer.resume(copy, evaluate)
    assert stores.rows(copy)[: len(rows) - 2] == rows[:-2]  # what was recorded is not run again
    assert resumed.ended == "budget"
    assert resumed.evaluations == len(rows) == 50


def test_what_has_taken_20_ms_is_on_disk_before_the_race_is_told(tmp_path, stores, monkeypatch):
    monkeypatch.setattr(attempt, "_clock", itertools.count().__next__)
    path = tmp_path / "run.db"
    seen = []

    def evaluate(config, instance, seed):
        seen.append(len(stores.rows(path)) if path.exists() else 0)
        return config

    racer.race([1, 2], evaluate, budget=10, seed=1, store=path)
    assert seen == list(range(10))


def test_an_error_in_a_callback_loses_nothing(tmp_path, stores):
    def fail(event):
        if isinstance(event, racer.BlockCompleted) and event.block == 6:
            raise ZeroDivisionError

    path = tmp_path / "run.db"
    plain = flat.race(stores.POOL, stores.evaluate, **stores.SETTINGS)
    with pytest.raises(ZeroDivisionError):
        flat.race(stores.POOL, stores.evaluate, **stores.SETTINGS, store=path, callbacks=[fail])
    # block 6 has been recorded, so the callback is not told of it again
    resumed = racer.resume(path, stores.evaluate, callbacks=[fail])
    assert stores.content(resumed) == stores.content(plain)


def test_callbacks_are_told_of_new_blocks_and_of_the_end(recorded, stores, tmp_path):
    copy = tmp_path / "copy.db"
    kept = stores.cut_off(recorded.path, copy, 22)
    events = []
    racer.resume(copy, stores.evaluate, callbacks=[events.append])
    blocks = [e.block for e in events if isinstance(e, racer.BlockCompleted)]
    assert blocks == list(range(kept[-1][0], len(recorded.result.table)))
    assert isinstance(events[-1], racer.RaceEnded)
    racer.resume(copy, stores.evaluate, callbacks=[events.append])
    assert events[-1] == events[-2]


def test_warnings_of_recorded_blocks_are_not_repeated(tmp_path):
    def evaluate(config, instance, seed):
        raise [ValueError, KeyError][config - 1]

    path = tmp_path / "run.db"
    quiet(racer.race, [1, 2], evaluate, budget=20, seed=1, store=path)
    with pytest.warns(racer.RacerWarning, match="once evaluate is mended, begin a new") as caught:
        result = racer.resume(path, evaluate)
    assert len(caught) == 1
    assert result.ended == "all-failed"


@pytest.mark.parametrize("seed", range(3))
def test_larger_budgets_one_after_another_are_one_large_budget(tmp_path, stores, seed):
    rng = random.Random(seed)
    chosen = {**stores.SETTINGS, "seed": seed, "each_test": 3, "decider": "bayesian-friedman"}
    plain = quiet(flat.race, stores.POOL, stores.evaluate, **{**chosen, "budget": 200})
    path = tmp_path / "run.db"
    quiet(flat.race, stores.POOL, stores.evaluate, **{**chosen, "budget": 24}, store=path)
    for budget in sorted(rng.sample(range(25, 200), 4)):
        quiet(racer.resume, path, stores.evaluate, budget=budget)
    resumed = quiet(racer.resume, path, stores.evaluate, budget=racer.Budget(evaluations=200))
    assert stores.content(resumed) == stores.content(plain)
    assert len(stores.rows(path, "ending")) == 1
