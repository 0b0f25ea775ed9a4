"""Objectives that change between two calls with one store."""

import functools
import linecache
import sys
import types
import warnings

import pytest

import racer
from racer.evaluate.objective import WithFidelity
from racer.evaluate.pace import Throttled
from racer.store.jsonable import qualified_name
from racer.store.source import source_digest


@pytest.fixture
def written(tmp_path, monkeypatch):
    """A function that writes `evaluate` into a module, and returns it."""

    def write(text):
        path = tmp_path / "objective.py"
        path.write_text(text)
        linecache.clearcache()
        module = types.ModuleType("objective")
        module.__file__ = str(path)
        monkeypatch.setitem(sys.modules, "objective", module)
        exec(compile(text, str(path), "exec"), module.__dict__)
        return module.evaluate

    return write


def race(evaluate, path, budget=40):
    return racer.race([1, 2, 3], evaluate, [1, 2], budget=budget, seed=1, store=path)


FIRST = "def evaluate(config, instance, seed):\n    return config * instance + seed % 3\n"


def test_another_source_is_a_warning_also_if_all_is_recorded(written, tmp_path):
    path = tmp_path / "run.db"
    before = race(written(FIRST), path)
    changed = written(FIRST.replace("config *", "9 - config *"))
    with pytest.warns(racer.RacerWarning, match="source of evaluate is not as it was"):
        assert race(changed, path).evaluations == before.evaluations
    with pytest.warns(racer.RacerWarning, match="source of evaluate is not as it was"):
        racer.resume(path, changed, budget=60)


def test_comments_and_layout_are_no_other_source(written, tmp_path):
    race(written(FIRST), tmp_path / "run.db")
    with warnings.catch_warnings():
        warnings.simplefilter("error", racer.RacerWarning)
        race(written(FIRST.replace("return", "# a word\n    return ")), tmp_path / "run.db")


def test_what_has_no_source_of_its_own_has_no_digest(written):
    evaluate = written(FIRST)
    digest = source_digest(evaluate)
    assert digest == source_digest(functools.partial(evaluate, seed=1))
    within = WithFidelity(evaluate, 27)
    assert (source_digest(within), qualified_name(within)) == (digest, "objective.evaluate")
    waiting = written("async " + FIRST)
    throttled = Throttled(waiting, calls_per_minute=60.0)
    assert source_digest(throttled) == source_digest(waiting) != digest
    assert source_digest(lambda config, instance, seed: config) is None
    assert source_digest(len) is None
    assert source_digest(racer.Command(["true", "{instance}"])) is None
    assert source_digest(racer.Command(["python", "-c", "x" * 999, "{instance}"])) is None


def test_a_program_that_was_edited_is_another_source(tmp_path):
    (tmp_path / "solver.py").write_text("print(1)")
    words = ["python3", "-W", "ignore", "solver.py", "{instance}", "log.txt"]
    solver = racer.Command(words, cwd=tmp_path)
    first = source_digest(solver)
    assert source_digest(racer.Command(**solver.settings)) == first
    (tmp_path / "solver.py").write_text("print(2)")
    assert None is not first != source_digest(solver)
