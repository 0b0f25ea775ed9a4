"""The public names, and what importing them costs."""

from __future__ import annotations

import ast
import importlib
import sys
from pathlib import Path

import pytest
from processes import python

import racer
import racer.errors

HEAVY = ("numpy", "scipy", "pandas", "optuna", "joblib", "rich", "sklearn", "matplotlib")


def loaded_after(code: str) -> set[str]:
    """Run code in a fresh interpreter and say which top-level modules it has loaded."""
    report = "\nimport sys; print('loaded:', *{name.partition('.')[0] for name in sys.modules})"
    run = python("-c", code + report)
    return set(run.stdout.rpartition("loaded:")[2].split())


def names_for_type_checkers() -> set[str]:
    """Return what `racer/__init__.py` imports under TYPE_CHECKING."""
    tree = ast.parse(Path(racer.__file__).read_text(encoding="utf-8"))
    blocks = [
        node
        for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    ]
    imports = [node for block in blocks for node in block.body if isinstance(node, ast.ImportFrom)]
    return {alias.asname for node in imports for alias in node.names}


def test_all_is_sorted_without_duplicates():
    assert racer.__all__ == sorted(set(racer.__all__))


def test_all_lists_what_can_be_loaded_and_what_type_checkers_see():
    assert set(racer.__all__) == {*racer._HOME, *racer._ROOMS} == names_for_type_checkers()


def test_all_holds_every_error():
    assert set(racer.errors.__all__) <= set(racer.__all__)


@pytest.mark.parametrize("name", racer.__all__)
def test_every_public_name_can_be_imported_and_is_documented(name):
    value = getattr(racer, name)
    assert value.__doc__
    if name in racer._HOME:
        assert value.__name__ == name
        assert name in importlib.import_module(racer._HOME[name]).__all__


@pytest.mark.parametrize("room", [*racer._ROOMS, "integrations.optuna", "integrations.sklearn"])
def test_every_name_of_a_public_room_can_be_imported(room):
    module = pytest.importorskip(f"racer.{room}")
    assert len(module.__all__) == len(set(module.__all__))
    assert all(hasattr(module, name) for name in module.__all__)


def test_dir_shows_the_public_names():
    assert {*racer.__all__, "__version__"} <= set(dir(racer))


def test_the_version_is_that_of_the_package():
    from importlib.metadata import version

    assert racer.__version__ == version("racer-tuning")


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'racer' has no attribute 'rase'"):
        _ = racer.rase


def test_every_error_is_a_racer_error_and_of_a_familiar_kind():
    familiar = {
        "BudgetError": ValueError,
        "CandidateError": ValueError,
        "MissingExtraError": ImportError,
        "ObjectiveError": TypeError,
        "RaceStateError": RuntimeError,
        "ScoresError": ValueError,
        "SettingError": ValueError,
        "StoreError": RuntimeError,
    }
    for name, kind in familiar.items():
        error = getattr(racer, name)
        assert issubclass(error, racer.RacerError)
        assert issubclass(error, kind)
    assert issubclass(racer.RaceInterrupted, KeyboardInterrupt)
    assert issubclass(racer.RacerWarning, UserWarning)


def test_importing_racer_loads_nothing_heavy():
    assert loaded_after("import racer").isdisjoint(HEAVY)


RACES = """
import racer
for name in racer.deciders.DECIDERS:
    if "cost" not in racer.deciders.as_decider(name).objectives:
        continue
    result = racer.race(
        [1, 2, 3], lambda config, instance, seed: (config + seed / 2**31) / 4, decider=name, budget=60
    )
    assert result.best == 1 and result.probability_best and repr(result)
"""
TUNES = """
import sys, racer
space = racer.Space({"x": racer.Real(0, 1)})
result = racer.tune(space, lambda c, i, seed: c["x"] + seed % 7, budget=300, seed=1)
assert result.elites and result.best and result.probability_best and repr(result)
assert "scipy.linalg" in sys.modules
assert not {"scipy.stats", "scipy.optimize"} & {*sys.modules}  # 65 MB
"""


@pytest.mark.parametrize(("code", "needed"), [(RACES, "numpy"), (TUNES, "scipy")])
def test_racing_and_tuning_load_neither_pandas_nor_optuna(code, needed):
    loaded = loaded_after(code)
    assert needed in loaded
    assert loaded.isdisjoint({"pandas", "optuna", "sklearn", "matplotlib"})


def test_warnings_point_at_the_line_that_called_racer():
    def answers_once(config, instance, seed):
        return config if instance else None

    with pytest.warns(racer.RacerWarning, match="block 1 is set aside") as caught:
        racer.race([1, 2], answers_once, [1, 0, *range(2, 8)], budget=16, seed=1)
    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_so_do_those_of_a_tuning_and_of_a_command(n_jobs):
    space = racer.Space({"x": racer.Real(0, 1)})
    command = racer.Command([sys.executable, "-c", "print(1)"])

    def fails_on_one(config, instance, seed):
        return config["x"] + seed % 7 if instance else None

    with pytest.warns(racer.RacerWarning, match="has no place for 'x'") as caught:
        racer.race([{"x": 1}, {"x": 2}], command, budget=10, seed=1, n_jobs=n_jobs)
    with pytest.warns(racer.RacerWarning, match="is set aside") as more:
        racer.tune(space, fails_on_one, [0, 1, 2, 3, 4], budget=100, seed=1, n_jobs=n_jobs)
    assert {warning.filename for warning in (*caught, *more)} == {__file__}
