"""Studies that are quiet."""

import optuna
import pytest
from studies import databases_closed


@pytest.fixture(autouse=True)
def _quiet():
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    yield
    optuna.logging.set_verbosity(before)


@pytest.fixture(autouse=True)
def _closed(monkeypatch):
    with databases_closed(monkeypatch):
        yield
