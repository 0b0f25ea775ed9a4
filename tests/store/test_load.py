"""A result from its store alone."""

import itertools
import os

import pytest

import racer
from racer.errors import StoreError


def evaluate(config, instance, seed):
    if config["x"] == 2 and instance == 1:
        raise ValueError("cold")
    return config["x"] + seed % 3


def test_what_the_file_cannot_hold(tmp_path):
    path = tmp_path / "run.db"
    space = racer.Space({"x": racer.Real(0, 1)}, repair=lambda config: config)
    racer.tune(space, lambda c, i, s: c["x"] + s % 7, budget=60, seed=1, store=path)
    with pytest.raises(
        StoreError, match=r"its space has a repair hook.*racer.resume\(.*space=\.\."
    ):
        racer.load(path)
    racer.race([object(), object()], lambda c, i, s: s % 7, budget=20, seed=1, store=tmp_path / "o")
    assert racer.load(tmp_path / "o").configs == (0, 1)
    with pytest.raises(StoreError, match="no such file"):
        racer.load(tmp_path / "none.db")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="limits need processes that are forked")
def test_processes_of_single_evaluations_are_no_workers(tmp_path):
    """Under a limit each evaluation has its own, of which a report would name a thousand."""
    path, pool = tmp_path / "run.db", [{"x": 1}, {"x": 3}]
    limited = racer.race(
        pool, evaluate, [1, 2], budget=12, seed=1, limits=racer.Limits(20), store=path
    )
    assert racer.load(path).provenance["workers"] is None
    assert limited.provenance["workers"] is None
    racer.race(pool, evaluate, [1, 2], budget=12, seed=1, store=tmp_path / "free.db")
    assert racer.load(tmp_path / "free.db").provenance["workers"] == 1


def test_the_workers_of_several_sessions_are_not_added_up(tmp_path, monkeypatch):
    path = tmp_path / "run.db"
    for names, budget in (("ab", 40), ("cd", 80)):
        turns = itertools.cycle(names)
        monkeypatch.setattr("racer.evaluate.attempt.here", lambda turns=turns: next(turns))
        racer.race(
            range(4), lambda c, i, s: s % 7, budget=budget, seed=1, store=path, decider="f-race"
        )
    assert racer.load(path).provenance["workers"] == 2
