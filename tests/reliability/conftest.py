"""Recorded races: what they say, and how to cut them off."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from types import SimpleNamespace

import numpy as np
import pytest
from playing import content, told
from stored import counted_anew, executed

POOL = [{"x": x} for x in range(4)]
SETTINGS = {"instances": ["a", ("b", 1)], "budget": 60, "seed": 5, "decider": "f-race"}


def evaluate(config, instance, seed):
    """Return noise around x, or raise: a function of its arguments alone."""
    rng = np.random.default_rng([seed, config["x"], len(instance)])
    if rng.random() < 0.1:
        raise ValueError(f"no luck \udcff at {config['x']}")
    return config["x"] + rng.normal()


class Numbers:
    """An objective that returns its configuration."""

    def __call__(self, config, instance, seed):
        return config


def rows(path, table="outcomes"):
    """Return what stands in a table."""
    return executed(path, f"SELECT * FROM {table}")


def cut_off(path, copy, known, order=None):
    """Copy a store as it was after so many outcomes; `order` is that of candidates in a block."""
    shutil.copyfile(path, copy)
    cells = [row[:2] for row in rows(path)]
    if order is not None:
        cells.sort(key=lambda cell: (cell[0], order.index(cell[1])))
    with closing(sqlite3.connect(copy)) as connection:
        connection.executemany(
            "DELETE FROM outcomes WHERE block = ? AND candidate = ?", cells[known:]
        )
        last = cells[known - 1][0] if known else 0
        connection.execute("DELETE FROM verdicts WHERE block >= ?", (last,))
        connection.execute("DELETE FROM ending")
        counted_anew(connection)
    return cells[:known]


@pytest.fixture(name="stores", scope="session")
def _stores():
    return SimpleNamespace(
        POOL=POOL,
        SETTINGS=SETTINGS,
        evaluate=evaluate,
        Numbers=Numbers,
        content=content,
        told=told,
        rows=rows,
        cut_off=cut_off,
    )


@pytest.fixture(scope="session")
def ended(stores, tmp_path_factory):
    """A race that has ended: its store, its result, its content."""
    import racer

    path = tmp_path_factory.mktemp("ended") / "run.db"
    result = racer.race(stores.POOL, stores.evaluate, **stores.SETTINGS, store=path)
    return path, result, stores.content(result)


@pytest.fixture(name="recorded")
def _recorded(ended, tmp_path):
    """A race that has ended, in a store of the test's own, and its result."""
    path, result, content = ended
    for file in path.parent.glob("run.db*"):
        shutil.copyfile(file, tmp_path / file.name)
    return SimpleNamespace(path=str(tmp_path / "run.db"), result=result, content=content)
