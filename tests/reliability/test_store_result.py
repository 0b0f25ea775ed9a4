"""The result in a store: what is restored is what a replay finds, and damage to it never matters."""

from __future__ import annotations

import json
import random
import signal
import sqlite3
import warnings
from contextlib import closing

import flat
import numpy as np
import pytest
from objectives import Counting
from stored import changed, executed

import racer
from racer.store import load
from racer.store import result as module
from racer.store.load import check_store
from racer.store.reader import NO_DIGEST, digest_of
from racer.store.writer import Store


@pytest.fixture(autouse=True)
def _every_store_has_one(monkeypatch):
    monkeypatch.setattr(module, "LEAST", 1)


def noisy(config, instance, seed):
    x = config["x"] if isinstance(config, dict) else config
    rng = np.random.default_rng([seed, int(100 * abs(x))])
    if rng.random() < 0.05:
        raise ValueError("no luck \udcff")
    return (x - 2) ** 2 + 3 * rng.random() + (instance or 0)


def accurate(config, instance, seed):
    rng = np.random.default_rng([seed, config])
    return {"score": config + rng.random(), "dollars": 3.0 - config, "spend": 0.5}


SPACE = racer.Space({"x": racer.Real(0, 5), "k": racer.Categorical(["a", "b"])})
POOL = [{"x": x} for x in (0.0, 1.8, 2.0, 2.1)]


def race(store, **more):
    more = {"budget": 120, "instances": [1, 2, 3], **more}
    return flat.race(POOL, noisy, seed=1, store=store, **more)


def tune(store):
    return racer.tune(
        SPACE, noisy, racer.Instances([0, 1], held_out=[5]), budget=160, seed=1, store=store
    )


def few(store):
    return racer.tune(
        SPACE,
        noisy,
        [0, 1],
        budget=60,
        seed=3,
        store=store,
        decider=racer.deciders.BestForBudget(first_test=3),
    )


def times(store):
    def took(config, instance, seed):
        return config * (1 + seed % 3)

    cap = racer.Runtime(9.0)
    return racer.race([1.0, 2.0, 5.0], took, range(5), budget=60, seed=1, goal=cap, store=store)


def two_metrics(store):
    metrics = {"score": "max", "dollars": "min"}
    more = {"objective": racer.Pareto("score", "dollars"), "seed": 1, "store": store}
    return flat.race(range(4), accurate, budget=60, metrics=metrics, **more)


def repeated(store):
    """Withhold blocks that only repeat others."""
    return racer.race(POOL, lambda c, i, s: c["x"] + i, [1, 2], budget=90, seed=1, store=store)


def undecided(store):
    return racer.race(range(3), lambda c, i, s: s % 97, budget=33, seed=1, store=store)


def ahead(store):
    """Evaluate cells that are not needed."""

    def evaluate(config, instance, seed):
        return config["x"] + seed % 5 * instance

    return racer.race(POOL, evaluate, [1, 2], budget=90, seed=1, store=store, n_jobs=2)


CONTESTS = [race, tune, few, times, two_metrics, repeated, undecided, ahead]


def all_of(result):
    """Return all that a result says."""
    cells, took = result.unused
    frames = {name: frame.to_csv() for name, frame in result.frames.items()}
    plain = json.dumps(result.to_dict(), default=str)
    return str(result), frames, plain, cells, f"{took:.9g}", result.stream


def text_in(path):
    return executed(path, "SELECT result FROM recorded")[0][0]


def forge(path, text):
    """Replace the result in a store, with the digest of what it then is."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE recorded SET result = ?, digest = ?", (text, NO_DIGEST))
        digest = digest_of(connection.serialize(), NO_DIGEST)
        with connection.blobopen("recorded", "digest", 1) as blob:
            blob.write(digest)


def without(path):
    """Load a store as if it had no result."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(load, "result_in", lambda *_: None)
        return racer.load(path)


@pytest.fixture
def no_replay(monkeypatch):
    """Let nothing be replayed."""

    def refuse(*_):
        raise AssertionError("it is replayed")

    with monkeypatch.context() as patch:
        patch.setattr("racer.store.load.replay", refuse)
        patch.setattr("racer.store.replay.replay", refuse)
        yield


@pytest.fixture(name="path", scope="module")
def _path(tmp_path_factory):
    path = tmp_path_factory.mktemp("result") / "run.db"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "LEAST", 1)
        race(path)
    return path


@pytest.fixture
def copied(path, tmp_path):
    copy = tmp_path / "run.db"
    copy.write_bytes(path.read_bytes())
    return copy


@pytest.mark.parametrize("contest", CONTESTS, ids=lambda contest: contest.__name__)
def test_what_is_restored_is_what_a_replay_finds(tmp_path, contest, monkeypatch, in_series, stores):
    """But for run times and several metrics, whose outcomes are not told as they are recorded."""
    path = tmp_path / "run.db"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", racer.RacerWarning)
        contest(path)
    assert check_store(path).problems == []  # which compares them
    replayed = all_of(without(path))
    if contest in (times, two_metrics):
        assert text_in(path) is None
    else:
        monkeypatch.setattr(load, "replay", None)
    assert all_of(racer.load(path)) == replayed


@pytest.mark.usefixtures("no_replay")
def test_what_has_ended_is_not_replayed(copied, stores):
    events = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("racer.store.replay.replay", None)
        result = racer.resume(copied, noisy, callbacks=[events.append])
    assert [type(event).__name__ for event in events] == ["RaceEnded"]
    assert events[0].ended == result.ended
    assert result.best == POOL[result.best_index]
    assert stores.content(result) == stores.content(racer.load(copied))
    assert race(copied).provenance["evaluate"] == result.provenance["evaluate"]
    with pytest.raises(racer.StoreError, match="first_test is 7"):
        race(copied, first_test=7)


def test_a_larger_budget_goes_on_and_the_result_is_renewed(copied, stores):
    before = text_in(copied)
    more = racer.resume(copied, noisy, budget=300)
    assert stores.content(more) == stores.content(race(None, budget=300))
    assert text_in(copied) != before
    assert all_of(racer.load(copied)) == all_of(without(copied))
    assert check_store(copied).problems == []


def test_an_interrupted_race_has_one_and_goes_on(tmp_path, stores):
    path = tmp_path / "run.db"
    evaluate = Counting(noisy, 31, lambda: signal.raise_signal(signal.SIGINT))
    with pytest.raises(racer.RaceInterrupted):
        racer.race(POOL, evaluate, [1, 2, 3], budget=120, seed=1, store=path)
    assert all_of(racer.load(path)) == all_of(without(path))
    assert racer.load(path).ended == "interrupted"
    assert stores.content(racer.resume(path, evaluate)) == stores.content(race(None))


def test_check_compares_the_result_with_the_outcomes(copied):
    content = json.loads(text_in(copied))
    forge(copied, json.dumps({**content, "leader": (content["leader"] or 0) + 1}))
    (problem,) = check_store(copied).problems
    assert "its result says otherwise than its outcomes" in problem


STRANGE = [
    None,
    -1,
    10**30,
    0.5,
    float("nan"),
    "x",
    [],
    {},
    [[]],
    True,
    "[" * 50,
    [1, 2],
    [[1, 2, 3]],
]


@pytest.mark.thorough
def test_nothing_in_a_result_ends_in_a_traceback(copied):
    """With the right digest: replayed, or shown."""
    whole = text_in(copied)
    rng, n = random.Random(3), 0

    def strange(header):
        node, key = header, rng.choice(sorted(header))
        while isinstance(node[key], dict | list) and node[key] and rng.random() < 0.6:
            node = node[key]
            key = rng.choice(sorted(node)) if isinstance(node, dict) else rng.randrange(len(node))
        node[key] = rng.choice(STRANGE)
        return json.dumps(header)

    for _ in range(30):
        forge(copied, strange(json.loads(whole)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = racer.load(copied)
            n += bool(result.verdict)
    assert n == 30


def test_one_of_another_version_is_not_used(copied, monkeypatch):
    forge(copied, json.dumps({**json.loads(text_in(copied)), "racer": "0.0.1"}))
    replays, replay = [], load.replay
    monkeypatch.setattr(load, "replay", lambda *_: replays.append(_) or replay(*_))
    assert racer.load(copied).evaluations > 100
    assert len(replays) == 1
    assert check_store(copied).problems == []


def test_a_store_that_was_changed_is_read_as_without_a_result(copied):
    changed(copied, ("UPDATE outcomes SET value = value + 1 WHERE block = 1",))
    for read in (racer.load, lambda store: racer.resume(store, noisy)):
        with pytest.raises(racer.StoreError, match="does not match its checksum"):
            read(copied)


def test_a_small_store_has_none(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "LEAST", 121)
    race(tmp_path / "run.db")
    assert text_in(tmp_path / "run.db") is None


def test_a_store_that_is_changed_while_it_goes_on_has_no_result_of_that(copied, stores):
    """The copy that is saved opens, and goes on to the same result."""
    evaluate = Counting(noisy, 21, lambda: copied.write_bytes(bytes(copied.stat().st_size)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", racer.RacerWarning)
        with pytest.raises(racer.StoreError, match="something else"):
            racer.resume(copied, evaluate, budget=300)
        saved = copied.with_name("run.db.saved")
        result = racer.resume(saved, evaluate)
    assert stores.content(result) == stores.content(race(None, budget=300))
    assert all_of(racer.load(saved)) == all_of(without(saved))


def test_a_result_that_cannot_be_written_is_none(tmp_path, monkeypatch, stores):
    execute = Store._write

    def full(store, statements):
        if "result" in statements[0][0] and statements[0][1][2]:
            raise racer.StoreError("database or disk is full")
        execute(store, statements)

    monkeypatch.setattr(Store, "_write", full)
    path = tmp_path / "run.db"
    result = race(path)
    assert {file.name for file in tmp_path.iterdir()} == {"run.db", "run.db.lock"}
    assert stores.content(racer.load(path)) == stores.content(result)
