"""The package for OptunaHub: complete, and it runs."""

from __future__ import annotations

import importlib.util
import re
import runpy
import sys
import types
from importlib.metadata import version
from pathlib import Path

import optuna
import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "experiments" / "optunahub" / "package" / "pruners" / "racing"


def test_it_has_what_the_registry_asks_for():
    assert {"README.md", "LICENSE", "__init__.py", "example.py", "requirements.txt"} <= {
        path.name for path in PACKAGE.iterdir()
    }
    assert (PACKAGE / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
    head = re.match(r"---\n(.*?)\n---\n", (PACKAGE / "README.md").read_text(), re.DOTALL)
    fields = dict(line.split(": ", 1) for line in head[1].splitlines())
    assert set(fields) == {"author", "title", "description", "tags", "optuna_versions", "license"}
    assert "pruner" in fields["tags"].strip("[]").split(", ")
    assert fields["license"] == "MIT License"
    assert {"4.8.0", "4.9.0", "5.0.0"} == set(fields["optuna_versions"].strip("[]").split(", "))


def test_what_it_requires_is_this_racer():
    """A project of that name, 0.0.1, is on PyPI."""
    (line,) = (PACKAGE / "requirements.txt").read_text().splitlines()
    required = Requirement(line)
    assert (required.name, required.extras) == ("racer-tuning", {"optuna"})
    assert required.specifier.contains(version("racer-tuning"))
    assert not required.specifier.contains("0.0.1")


@pytest.fixture
def optunahub(monkeypatch):
    """Stand in for optunahub: load the package from where it stands, not from the network."""

    def load_module(package):
        assert package == "pruners/racing"
        spec = importlib.util.spec_from_file_location("racing_package", PACKAGE / "__init__.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    stand_in = types.ModuleType("optunahub")
    stand_in.load_module = load_module
    monkeypatch.setitem(sys.modules, "optunahub", stand_in)
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    yield
    optuna.logging.set_verbosity(before)


def test_the_example_runs(optunahub, capsys):
    runpy.run_path(str(PACKAGE / "example.py"), run_name="__main__")
    assert "COMPLETE" in capsys.readouterr().out


def test_the_example_of_the_readme_runs(optunahub, capsys):
    (code,) = re.findall(r"```python\n(.*?)```", (PACKAGE / "README.md").read_text(), re.DOTALL)
    exec(compile(code, "README.md", "exec"), {})
    assert "PRUNED" in capsys.readouterr().out
