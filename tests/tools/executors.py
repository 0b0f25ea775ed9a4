"""What every executor has to do: the result of one process, limits, and a stop without a wait."""

from __future__ import annotations

import os
import signal
import threading

import flat
import pytest
from objectives import hang
from processes import noted, wait_for

import racer

POOL = [{"x": x} for x in range(6)]
SPACE = racer.Space({"x": racer.Real(-5, 5)})
SETTINGS = {"budget": 150, "seed": 3, "decider": "f-race"}


def objective(others=None):
    """Return an objective that travels by value.

    With a folder it waits until another process has left its mark there, too.
    """

    def evaluate(config, instance, seed):
        if others is not None:
            (others / str(os.getpid())).touch()
            assert wait_for(lambda: len(noted(others)) > 1)
        return abs(config["x"] - 1) * instance + seed % 7

    return evaluate


def said(result):
    """Return what a race or a tuning decided, and on which values."""
    return result.best_index, result.survivors, result.evaluations, result.table.to_json()


def check_result(executor, path):
    """Check that a race, a tuning and a resume give the result of one process."""
    race = flat.race(POOL, objective(), [1.0, 2.0], **SETTINGS)
    found = flat.race(POOL, objective(), [1.0, 2.0], n_jobs=executor, **SETTINGS)
    assert said(found) == said(race)
    short = SETTINGS | {"budget": 60}
    flat.race(POOL, objective(), [1.0, 2.0], n_jobs=executor, store=path, **short)
    resumed = racer.resume(
        path, objective(), budget=150, n_jobs=racer.Workers(executor=executor, ahead=0)
    )
    assert said(resumed) == said(race)
    one, other = (
        flat.tune(SPACE, objective(), [1.0, 2.0], n_jobs=given, **SETTINGS)
        for given in (1, executor)
    )
    assert said(one) == said(other)


def check_limits(executor):
    """Check that limits hold in its workers."""
    once = {"deterministic": True, "first_test": 1, "budget": 2, "n_jobs": executor}
    with pytest.warns(racer.RacerWarning, match="is set aside"):
        result = flat.race(range(2), lambda c, i, s: hang(), [0], **once, limits=racer.Limits(0.5))
    assert result.failures["status"].tolist() == ["timeout"] * 2
    result = flat.race(range(2), lambda c, i, s: c, [0], **once, limits=racer.Limits(600))
    assert result.failures.empty


def check_interrupt(executor, folder, running):
    """Check that Ctrl-C, when so many evaluations run, waits for none; return folders of marks.

    One is of those that were begun, the other of those that have ended, as they all may afterwards.
    """
    begun, ended, release = (folder / name for name in ("begun", "ended", "release"))
    begun.mkdir()
    ended.mkdir()

    def evaluate(config, instance, seed):
        cell = f"{config}-{seed}"
        (begun / cell).touch()
        wait_for(release.exists)
        (ended / cell).touch()
        return config

    def interrupt():
        wait_for(lambda: len(list(begun.iterdir())) >= running)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        with pytest.raises(racer.RaceInterrupted):
            flat.race(range(4), evaluate, n_jobs=executor, **SETTINGS)
        assert list(ended.iterdir()) == []
    finally:
        release.touch()
        thread.join()
    return begun, ended
