"""Where limits and the store meet, and what a signal must not leave in the record."""

import functools
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import flat
import pytest
from objectives import hang, misbehaving  # which workers can import
from stored import executed

import racer
from racer.deciders.named import DECIDERS
from racer.store.load import check_store

POSIX = pytest.mark.skipif(not hasattr(os, "fork"), reason="limits need a fork")
DOCS = Path(__file__).resolve().parents[2] / "docs"
INSTANCES = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]


def hold(instances=INSTANCES, **more):
    """Race some of which two fail, and two of which both are stopped at once."""
    settings = {"budget": 18, "deterministic": True, "seed": 1, "limits": racer.Limits(600), **more}
    return flat.race(["dies", "hoards", "ok"], misbehaving, instances, **settings)


def hang_on(store):
    settings = {"deterministic": True, "first_test": 2, "seed": 1, "limits": racer.Limits(0.5)}
    with pytest.warns(racer.RacerWarning, match="is set aside"):
        return flat.race(
            ["a", "b"], lambda *_: hang(), [1, 2, 3], budget=4, **settings, store=store
        )


def seen(result):
    failures = result.failures[["block", "candidate", "status"]]
    return result.table.to_numpy().tolist().__repr__(), failures.to_numpy().tolist()


def statuses(path):
    return [status for (status,) in executed(path, "SELECT status FROM outcomes ORDER BY 1")]


@POSIX
def test_what_reached_a_limit_is_recorded_as_that_and_resumed(tmp_path):
    """Begun with workers, resumed without them, and the same as one without a break."""
    path = tmp_path / "run.db"
    plain = hold(n_jobs=2)
    assert set(plain.failures["status"]) == {"killed", "memory"}

    class StopError(Exception):
        pass

    def stop(event):
        if isinstance(event, racer.BlockCompleted) and event.block == 2:
            raise StopError

    with pytest.raises(StopError):
        hold(n_jobs=2, store=path, callbacks=[stop])
    assert "killed" in statuses(path)
    result = racer.resume(path, misbehaving)
    assert seen(result) == seen(plain)
    assert len(statuses(path)) == result.evaluations + result.unused.cells
    assert check_store(path).problems == []


@POSIX
def test_another_limit_is_refused_and_the_same_written_otherwise_is_not(tmp_path):
    settings = {"budget": 12, "deterministic": True, "seed": 1, "store": tmp_path / "run.db"}
    recorded = functools.partial(flat.race, ["dies", "ok"], misbehaving, INSTANCES, **settings)
    first = recorded(limits=racer.Limits(60))
    assert seen(recorded(limits=racer.Limits(60.0))) == seen(first)
    for change in ({"timeout": 3}, {"memory": 10**9}, {"timeout": None}, {"retries": 1}):
        with pytest.raises(racer.StoreError, match=next(iter(change))):
            recorded(limits=replace(racer.Limits(60), **change))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_failure_that_a_signal_may_have_made_is_not_recorded(tmp_path, number):
    """As when Ctrl-C reaches the solver that an evaluation has started."""
    path, signalled = tmp_path / "run.db", []

    def evaluate(config, instance, seed):
        if config == 1 and instance == 0.2 and not signalled:
            signalled.append(os.kill(os.getpid(), number))
            raise subprocess.CalledProcessError(-number, "solver")
        return config + instance

    settings = {"budget": 18, "deterministic": True, "seed": 1}
    with pytest.raises(racer.RaceInterrupted):
        flat.race(range(3), evaluate, INSTANCES, store=path, **settings)
    assert set(statuses(path)) == {"ok"}
    resumed = racer.resume(path, evaluate)
    assert seen(resumed) == seen(flat.race(range(3), evaluate, INSTANCES, **settings))
    assert len(resumed.failures) == 0


@POSIX
@pytest.mark.parametrize("why", ["missing", "refused"])
def test_limits_work_without_pidfds(monkeypatch, why):
    if not hasattr(os, "pidfd_open"):
        pytest.skip("there are none here")
    if why == "missing":
        monkeypatch.delattr(os, "pidfd_open")
    else:

        def refused(pid):
            raise OSError(38, "Function not implemented")

        monkeypatch.setattr(os, "pidfd_open", refused)
    held = hold(instances=INSTANCES[2:4], budget=6, first_test=2)  # one of each
    assert sorted(held.failures["status"]) == ["killed", "memory"]
    assert hang_on(None).failures["status"].tolist() == ["timeout"] * 4


PLANNERS = [
    name
    for name, decider in DECIDERS.items()
    if hasattr(sys.modules[getattr(decider, "func", decider).__module__], "required_budget")
]


@pytest.mark.parametrize("decider", PLANNERS)
def test_a_larger_budget_for_a_decider_that_plans_by_it_is_explained(tmp_path, decider):
    path = tmp_path / "run.db"
    kinds = DECIDERS[decider]().objectives
    goal = {"metrics": {"a": "min", "b": "min"}, "objective": racer.Pareto("a", "b")}

    def evaluate(config, instance, seed):
        cost = config + seed % 5
        return cost if "cost" in kinds else {"a": cost, "b": cost + seed % 3}

    settings = {"decider": decider} | ({} if "cost" in kinds else goal)
    flat.race(range(8), evaluate, budget=80, seed=1, store=path, **settings)
    with pytest.raises(racer.StoreError, match=r"plans by it .*give the recorded one") as caught:
        racer.resume(path, evaluate, budget=800)
    assert all(name in str(caught.value) for name in PLANNERS)
    assert racer.resume(path, evaluate).evaluations <= 80


@pytest.mark.parametrize("page", ["store", "money"])
def test_pages_name_all_deciders_that_plan_by_the_budget(page):
    lines = (DOCS / f"{page}.md").read_text(encoding="utf-8").splitlines()
    named = [line for line in lines if "plan" in line and "halving" in line]
    assert any(all(name in line for name in PLANNERS) for line in named)
