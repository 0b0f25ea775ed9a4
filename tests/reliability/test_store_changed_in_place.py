"""A store that is changed in place while it is written: said, and nothing is lost."""

from __future__ import annotations

import functools
import itertools
import os
import re
import sys
import warnings

import flat
import pytest
from objectives import Counting

import racer
from racer.store.load import check_store

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="open files stay where they are")

SPACE = racer.Space({"x": racer.Real(0, 5, digits=3), "k": racer.Categorical(["a", "b"])})


def cost(config, instance, seed):
    x = config if isinstance(config, int) else config["x"]
    return (x - 2) ** 2 + seed % 7


def race(evaluate, store):
    return flat.race(range(4), evaluate, budget=40, seed=1, first_test=5, store=store)


def tune(evaluate, store):
    instances = list(range(6))
    return flat.tune(SPACE, evaluate, instances, budget=60, seed=1, first_test=3, store=store)


CONTESTS = {"race": (race, 20), "tune": (tune, 60)}


@functools.cache
def undisturbed(kind):
    return CONTESTS[kind][0](cost, None)


def cut(share):
    return lambda path, _: os.truncate(path, int(share * path.stat().st_size))


def zeroed(path, _):
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.write(bytes(size))


def flipped(share):
    """Change a byte of a page: SQLite fills pages from their ends."""

    def flip(path, _):
        size = path.stat().st_size
        place = min(int(share * size) // 4096 * 4096 + 4096 - 20, size - 20)
        with path.open("r+b") as file:
            file.seek(place)
            byte = file.read(1)
            file.seek(place)
            file.write(bytes([byte[0] ^ 0x41]))

    return flip


def overwritten(path, other):
    with path.open("r+b") as file:
        file.write(other.read_bytes())
        file.truncate()


HOW = {
    "half is cut": cut(0.5),
    "all is cut": cut(0.0),
    "zeros": zeroed,
    "a byte early on": flipped(0.3),
    "a byte at the end": flipped(1.0),
    "another's content": overwritten,
}
WHEN = {"start": 0.1, "middle": 0.5, "end": 0.95}
WAYS = [  # a Latin square: each pair of two of them occurs
    pytest.param(
        *way,
        list(WHEN)[sum(places) % 3],
        id="-".join(way),
        marks=pytest.mark.thorough if way[0] == "tune" and places[1] else (),
    )
    for places, way in zip(
        itertools.product(range(2), range(6)), itertools.product(CONTESTS, HOW), strict=True
    )
]


@pytest.fixture(name="other", scope="module")
def _other(tmp_path_factory):
    path = tmp_path_factory.mktemp("other") / "other.db"
    racer.race(["a", "b"], lambda config, *_: len(config), budget=10, seed=1, store=path)
    return path


@pytest.mark.parametrize(("kind", "how", "when"), WAYS)
def test_it_is_said_and_nothing_is_lost(tmp_path, stores, other, kind, how, when):
    """Each of 12 ways; what was recorded goes on from the copy to the same result."""
    contest, calls = CONTESTS[kind]
    path = tmp_path / "run.db"
    n, known = 0, {}

    def evaluate(config, instance, seed):
        nonlocal n
        n += 1
        if n == max(int(WHEN[when] * calls), 2):
            known.update(at=n)
            HOW[how](path, other)
        return cost(config, instance, seed)

    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            result = contest(evaluate, path)
    except racer.StoreError as error:
        assert "something else" in str(error)  # noqa: PT017
        saved = re.search(r"recorded is '([^']*)'", str(error))[1]
        assert len(stores.rows(saved)) >= known["at"] - 1
        calls = n
        again = contest(evaluate, saved)
        assert n - calls + len(stores.rows(saved)) >= again.evaluations
        result, path = again, saved
    else:
        assert any("was written by something else" in str(warning.message) for warning in said)
        assert check_store(path).problems == []
    assert stores.content(result) == stores.content(undisturbed(kind))
    assert stores.content(racer.load(path)) == stores.content(result)


@pytest.mark.parametrize("what", ["linked", "rights"])
def test_what_changes_nothing_of_its_content_stops_nothing(tmp_path, stores, what):
    """As programs that make backups do."""
    path = tmp_path / "run.db"
    change = {"linked": lambda: os.link(path, tmp_path / "backup.db")}
    evaluate = Counting(cost, 10, change.get(what, lambda: path.chmod(0o600)))
    assert stores.content(race(evaluate, path)) == stores.content(race(cost, None))
    assert not list(tmp_path.glob("*.saved"))


def test_the_copy_is_made_of_what_is_in_memory_and_keeps_every_column(tmp_path, stores):
    """Of outcomes that were recorded before, too, and of those that failed."""
    path = tmp_path / "run.db"

    changes = []

    def failing(config, instance, seed):
        if changes:
            changes.pop()(path, None)
        if (seed + config) % 5 == 0:
            raise ValueError("no\0luck\0\x1b[31m é " + "x" * 3000)
        return cost(config, instance, seed)

    first = flat.race(range(4), failing, budget=24, seed=1, first_test=6, store=path)
    before = [row[:12] for row in stores.rows(path)]
    assert len(before) == first.evaluations
    assert any(row[3] == "failed" for row in before)

    changes.append(zeroed)
    with pytest.raises(racer.StoreError, match="was changed by something else"):
        flat.race(range(4), failing, budget=60, seed=1, first_test=6, store=path)
    after = [row[:12] for row in stores.rows(tmp_path / "run.db.saved")]
    assert [row for row in after if row in before] == sorted(before)
    plain = flat.race(range(4), failing, budget=60, seed=1, first_test=6)
    again = flat.race(
        range(4), failing, budget=60, seed=1, first_test=6, store=tmp_path / "run.db.saved"
    )
    assert stores.content(again) == stores.content(plain)
