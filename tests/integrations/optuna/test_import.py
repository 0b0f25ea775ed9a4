"""What importing the plugin needs, and says where that is missing."""

import sys

import pytest
from processes import python

import racer


def run(code):
    return python("-c", code, exits=None)


def test_without_optuna_the_error_names_the_extra():
    done = run("import sys; sys.modules['optuna'] = None; import racer.integrations.optuna")
    assert done.returncode == 1
    assert "ModuleNotFoundError: racer.integrations.optuna needs Optuna" in done.stderr
    assert "pip install 'racer-tuning[optuna]'" in done.stderr


def test_a_space_as_distributions_names_the_extra_as_well(monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    says = r"to_optuna\(\) needs Optuna, which is not installed.*'racer-tuning\[optuna\]'"
    with pytest.raises(racer.MissingExtraError, match=says):
        racer.Space({"x": racer.Real(0, 1)}).to_optuna()


def test_something_else_that_is_missing_keeps_its_own_error():
    done = run("import sys; sys.modules['colorlog'] = None; import racer.integrations.optuna")
    assert done.returncode == 1
    assert "colorlog" in done.stderr
    assert "racer-tuning[optuna]" not in done.stderr
