"""Resumed with other settings: the field and both values are named; a larger budget is allowed."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from pathlib import Path

import flat
import numpy as np
import pytest
from stored import changed

import racer
from racer.core.rules import Rules
from racer.deciders import Decider, FRace, SequentialHalving, Verdict
from racer.store.load import check_store
from racer.store.schema import VerdictRow, checksum
from racer.store.writer import Store

CHANGES = [
    ("seed", 8, "seed is 8, but the race in .* has 5"),
    ("decider", "t-race", r"decider is TRace\(.*has FRace\(posthoc='conover', alpha=0.05"),
    ("decider", FRace(alpha=0.01), "alpha=0.01.*alpha=0.05"),
    ("budget", 59, r"budget is 59 evaluations, .* has 60 evaluations: .* a larger one"),
    ("budget", racer.Budget(seconds=5.0), "budget is .*5 s, but the race in .* has .* evaluations"),
    ("maximize", True, "another goal: 'min'; now 'max'"),
    ("deterministic", True, "deterministic is True.*has None"),
    ("first_test", 6, "first_test is 6.*has 5"),
    ("each_test", 2, "each_test is 2.*has 'growing'"),
    ("min_survivors", 2, "min_survivors is 2.*has 1"),
    ("limits", racer.Limits(retries=1), "retries is 1.*has 0"),
    ("instances", None, "number of instances is None.*has 2"),
    (
        "instances",
        ["a", ["b", 1]],
        re.escape("instance 1 is ['b', 1]") + ".*" + re.escape("('b', 1)"),
    ),
    ("candidates", [{"x": x} for x in range(5)], "number of candidates is 5.*has 4"),
    ("candidates", [{"x": float(x)} for x in range(4)], re.escape("candidate 0 is {'x': 0.0}")),
    ("candidates", [{"x": x} for x in (0, 2, 1, 3)], re.escape("candidate 1 is {'x': 2}")),
    ("generalize", True, "begun without generalize, which is True here: leave it out, or give"),
    ("instance_order", "shuffled", "without order, which is 'shuffled' here"),
    ("groups", ["g", "h"], "begun without groups, which is .* here: leave it out, or give"),
    ("budget", racer.Budget(evaluations=60, prices=[1.0, 2.0, 1.0, 1.0]), "without prices"),
    ("runtime", racer.Runtime(3.0), "another goal: 'min'; now Runtime"),
]


@pytest.mark.parametrize(("name", "value", "message"), CHANGES, ids=lambda v: str(v)[:20])
def test_each_setting_is_named_with_both_values(recorded, stores, name, value, message):
    before = Path(recorded.path).read_bytes()
    given = {"candidates": stores.POOL, **stores.SETTINGS, name: value}
    with pytest.raises(racer.StoreError, match=message):
        flat.race(evaluate=stores.evaluate, **given, store=recorded.path)
    assert Path(recorded.path).read_bytes() == before


def test_orders_in_force_by_default_are_no_difference(recorded, stores):
    given = {"candidates": stores.POOL, **stores.SETTINGS, "store": recorded.path}
    again = flat.race(evaluate=stores.evaluate, **given, instance_order="given")
    assert again.best_index == recorded.result.best_index


def test_all_settings_of_a_race_are_recorded(recorded):
    optional = {"metrics", "objective", "prices", "generalize"}  # recorded where they are given
    known = {field.name for kind in (Rules, racer.Limits) for field in fields(kind)}
    assert check_store(recorded.path).settings.keys() == (
        known - optional | {"evaluate", "evaluate_source", "racer"}
    )


def test_what_changes_nothing_may_change(recorded, stores):
    pool = [dict(reversed(config.items())) for config in stores.POOL]
    for settings in ({"n_jobs": 2}, {"progress": True}, {"decider": FRace()}, {"seed": None}):
        given = {**stores.SETTINGS, **settings}
        result = racer.race(pool, stores.evaluate, **given, store=recorded.path)
        assert stores.content(result) == recorded.content


@pytest.mark.filterwarnings("ignore:block .* is set aside")
def test_a_larger_budget_that_changes_a_recorded_verdict_stops_at_that_block(tmp_path, stores):
    path = tmp_path / "run.db"
    settings = {**stores.SETTINGS, "decider": SequentialHalving()}
    racer.race(stores.POOL, stores.evaluate, **settings, store=path)
    before = path.read_bytes()
    with pytest.raises(
        racer.StoreError, match=r"verdict at block \d+ comes out otherwise: recorded"
    ):
        racer.resume(path, stores.evaluate, budget=600)
    assert path.read_bytes() == before
    assert racer.resume(path, stores.evaluate).evaluations <= 60


def test_another_version_of_racer_is_named(recorded, stores):
    with Store(recorded.path) as store:
        setup = store.reader.setup
        store.extend(setup._replace(settings={**setup.settings, "racer": "0.0.1"}))
    with pytest.warns(racer.RacerWarning, match=f"begun by racer 0.0.1 .* {racer.__version__}"):
        result = racer.resume(recorded.path, stores.evaluate)
    assert stores.content(result) == recorded.content


def rewrite(path, row):
    """Change a verdict, and its checksum with it."""
    changed(path, ("REPLACE INTO verdicts VALUES (?, ?, ?, ?, ?)", *row, checksum(row)))


def test_a_verdict_that_comes_out_otherwise_names_the_block_and_the_versions(recorded, stores):
    (dropped,) = (row[2] for row in stores.rows(recorded.path, "verdicts") if row[0] == 7)
    rewrite(recorded.path, VerdictRow(7, 3, dropped))
    with pytest.raises(racer.StoreError, match=r"block 7 .*best=3.*now.*Begun by racer"):
        racer.resume(recorded.path, stores.evaluate)


def test_probabilities_may_differ_in_their_last_digits(recorded, stores):
    changed = 0
    for block, best, dropped, *_ in stores.rows(recorded.path, "verdicts"):
        if dropped != "[]":
            text = re.sub(r'("probability": 0\.\d{9})\d*', r"\1", dropped)
            assert text != dropped
            rewrite(recorded.path, VerdictRow(block, best, text))
            changed += 1
    assert changed
    assert stores.content(racer.resume(recorded.path, stores.evaluate)) == recorded.content


def test_an_objective_of_another_name_is_a_warning_that_names_both(recorded):
    def another(config, instance, seed):
        raise AssertionError

    with pytest.warns(racer.RacerWarning, match=r"conftest.evaluate and goes on with .*another"):
        racer.resume(recorded.path, another)


@dataclass(frozen=True)
class Instance:
    """An instance of a user's own."""

    shift: float
    data: tuple[int, ...] = ()


@dataclass(frozen=True)
class Mine(Decider):
    """A decider of a user's own."""

    level: float

    def start(self, setting):
        return None

    def decide(self, state, blocks):
        return None, Verdict((), int(blocks.candidates[0]), blocks.costs[-1], {})


def own_objective(config, instance, seed):
    return float(np.sum(config)) + instance.shift


def test_what_json_cannot_hold_must_be_given_again_and_is_compared(tmp_path, stores):
    pool = [np.arange(3.0) + shift for shift in range(3)]
    instances = [Instance(0.5), Instance(1.5, (1,))]
    path = tmp_path / "run.db"
    result = racer.race(
        pool, own_objective, instances, budget=18, seed=1, store=path, decider=Mine(0.5)
    )
    same = {
        "candidates": [config.copy() for config in pool],
        "instances": [Instance(0.5), Instance(1.5, (1,))],
        "decider": Mine(0.5),
    }
    again = racer.resume(path, own_objective, **same)
    assert stores.content(again) == stores.content(result)
    for name, other in [
        ("candidates", [*pool[:2], pool[2] + 1e-9]),
        ("candidates", [*pool[:2], pool[2].astype(np.float32)]),
        ("instances", [Instance(0.5), Instance(1.5, (2,))]),
        ("decider", Mine(0.6)),
        ("decider", "f-race"),
    ]:
        with pytest.raises(racer.StoreError, match=f"{name.rstrip('s')}.* is .*, but the race in"):
            racer.resume(path, own_objective, **{**same, name: other})
        rest = {key: value for key, value in same.items() if key != name}
        with pytest.raises(racer.StoreError, match=f"only describes its {name}.*{name}=\\.\\."):
            racer.resume(path, own_objective, **rest)
    report = check_store(path)
    assert report.problems == []
    assert report.notes == ["its decider is not one of racer's own: verdicts were not replayed"]
    assert report.resume.endswith("evaluate, candidates=.., instances=.., decider=..)")


def test_instances_and_held_out_ones_are_given_in_one_argument(tmp_path):
    path, arrays = tmp_path / "run.db", [np.array(item) for item in range(8)]
    items = racer.Instances(arrays[:6], held_out=arrays[6:])
    space = racer.Space({"x": racer.Real(0, 9)})
    racer.tune(space, lambda c, i, seed: c["x"] + i, items, budget=40, seed=1, store=path)
    once = "instances=racer.Instances(.., held_out=..))"
    assert check_store(path).resume == f"racer.resume({str(path)!r}, evaluate, {once}"
    for given in ({}, {"instances": arrays[:6]}):
        with pytest.raises(racer.StoreError) as caught:
            racer.resume(path, own_objective, **given)
        assert str(caught.value).endswith(f"racer.resume(.., {once}")


def test_paths_are_kept_as_values(tmp_path, stores):
    folder = tmp_path / "instances"
    pool, instances = (
        [{"x": x, "file": Path("solver") / str(x)} for x in range(3)],
        [folder / "a", folder / "b"],
    )

    def evaluate(config, instance, seed):
        assert isinstance(instance, Path)
        assert isinstance(config["file"], Path)
        return config["x"] + seed % 5

    settings = {"budget": 40, "seed": 1}
    plain = racer.race(pool, evaluate, instances, **settings)
    path = tmp_path / "run.db"
    racer.race(pool, evaluate, instances, **{**settings, "budget": 20}, store=path)
    resumed = racer.resume(path, evaluate, budget=40)  # nothing has to be given again
    assert stores.content(resumed) == stores.content(plain)
    with pytest.raises(racer.StoreError, match=r"instance 1 is PosixPath\('.*c'\).*has PosixPath"):
        racer.race(pool, evaluate, [folder / "a", folder / "c"], **settings, store=path)
