"""Snapshots of stores: what is restored is what a replay finds, and damage to one never matters."""

from __future__ import annotations

import hashlib
import itertools
import json
import random
import signal
import sqlite3
import warnings
from contextlib import closing

import numpy as np
import pytest
from typed import typed

import racer
from racer.store import load, replay, snapshot
from racer.store.load import check_store
from racer.store.snapshot import _LENGTH, _MAGIC


@pytest.fixture(autouse=True)
def _every_store_has_one(monkeypatch):
    monkeypatch.setattr(snapshot, "LEAST", 1)


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
    return racer.race(POOL, noisy, seed=1, store=store, **more)


def tune(store):
    return racer.tune(SPACE, noisy, [0, 1], budget=160, seed=1, store=store, test_instances=[5])


def few(store):
    return racer.tune(SPACE, noisy, [0, 1], budget=60, seed=3, store=store, first_test=3)


def times(store):
    def took(config, instance, seed):
        return config * (1 + seed % 3)

    cap = racer.Runtime(9.0)
    return racer.race([1.0, 2.0, 5.0], took, range(5), budget=60, seed=1, runtime=cap, store=store)


def two_metrics(store):
    metrics = {"score": "max", "dollars": "min"}
    more = {"objective": racer.Pareto("score", "dollars"), "seed": 1, "store": store}
    return racer.race(range(4), accurate, budget=60, metrics=metrics, **more)


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


def beside(path):
    return path.with_name(f"{path.name}.snapshot")


def without(path):
    """Load a store as if it had no snapshot."""
    kept = beside(path).read_bytes()
    beside(path).unlink()
    try:
        return racer.load(path)
    finally:
        beside(path).write_bytes(kept)


@pytest.fixture
def no_replay(monkeypatch):
    """Let nothing be replayed."""

    def refuse(*_):
        raise AssertionError("it is replayed")

    with monkeypatch.context() as patch:
        patch.setattr("racer.store.load.replayed", refuse)
        patch.setattr("racer.store.replay.replay", refuse)
        yield


@pytest.fixture(name="path", scope="module")
def _path(tmp_path_factory):
    path = tmp_path_factory.mktemp("snapshot") / "run.db"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(snapshot, "LEAST", 1)
        race(path)
    return path


@pytest.fixture
def copied(path, tmp_path):
    copy = tmp_path / "run.db"
    copy.write_bytes(path.read_bytes())
    beside(copy).write_bytes(beside(path).read_bytes())
    return copy


@pytest.mark.parametrize("contest", CONTESTS, ids=lambda contest: contest.__name__)
def test_what_is_restored_is_what_a_replay_finds(tmp_path, contest, monkeypatch, in_series):
    path = tmp_path / "run.db"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", racer.RacerWarning)
        contest(path)
    assert check_store(path).problems == []  # which compares them
    replayed = all_of(without(path))
    monkeypatch.setattr(load, "replayed", None)
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


def test_a_link_in_its_place_leads_nowhere(tmp_path):
    """As an archive of a stranger may have one: nobody named that file."""
    mine = tmp_path / "mine.txt"
    mine.write_text("mine")
    beside(tmp_path / "run.db").symlink_to(mine)
    result = race(tmp_path / "run.db")
    assert mine.read_text() == "mine"
    assert not beside(tmp_path / "run.db").is_symlink()
    assert all_of(racer.load(tmp_path / "run.db")) == all_of(without(tmp_path / "run.db"))
    assert result.best is not None


def test_one_that_is_much_larger_than_its_store_is_not_read(copied, monkeypatch):
    sizes = []
    plain = snapshot.read_bytes
    monkeypatch.setattr(
        snapshot, "read_bytes", lambda path, most: sizes.append(most) or plain(path, most)
    )
    before = all_of(racer.load(copied))
    with beside(copied).open("r+b") as file:
        file.truncate(10**12)
    assert all_of(racer.load(copied)) == before
    assert max(sizes) == 8 * copied.stat().st_size


def test_a_larger_budget_goes_on_and_the_snapshot_is_renewed(copied, stores):
    before = beside(copied).read_bytes()
    more = racer.resume(copied, noisy, budget=300)
    assert stores.content(more) == stores.content(race(None, budget=300))
    assert beside(copied).read_bytes() != before
    assert all_of(racer.load(copied)) == all_of(without(copied))
    after = all_of(racer.load(copied))
    beside(copied).write_bytes(before)  # of an earlier content
    assert all_of(racer.load(copied)) == after
    assert check_store(copied).problems == []


def failing():
    """Return a function that workers get by value."""

    def evaluate(config, instance, seed):
        if seed % 7 == config["x"] // 1:
            raise ValueError("no luck")
        return (config["x"] - 2.0) ** 2 + seed % 13 + (instance or 0)

    return evaluate


with_failures = failing()


def same_again(config, instance, seed):
    return config["x"] + instance


@pytest.mark.parametrize(
    ("evaluate", "settings"),
    [
        (noisy, {}),
        (noisy, {"decider": "bayesian-friedman", "each_test": 1}),
        (with_failures, {"decider": "t-race", "n_jobs": 2}),  # which evaluates ahead
        (
            with_failures,
            {"instances": None, "decider": racer.deciders.SignedRankRace(), "each_test": 3},
        ),
        (same_again, {"budget": 40}),  # whose last blocks are withheld
    ],
)
def test_a_race_that_goes_on_is_told_its_snapshot_and_decides_as_a_replay(
    tmp_path, evaluate, settings, stores, monkeypatch
):
    store, other, told = tmp_path / "run.db", tmp_path / "other.db", []
    tell = replay._tell_kept
    monkeypatch.setattr(replay, "_tell_kept", lambda *given: told.append(given) or tell(*given))
    more = {"instances": [1, 2, 3], "budget": 100, "store": store, **settings}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", racer.RacerWarning)
        racer.race(POOL, evaluate, seed=1, **more)
        other.write_bytes(store.read_bytes())
        results = [racer.resume(path, evaluate, budget=300) for path in (store, other)]
    assert len(told) == 1
    assert stores.content(results[0]) == stores.content(results[1])
    assert stores.rows(store, "verdicts") == stores.rows(other, "verdicts")
    assert check_store(store).problems == []


def test_an_interrupted_race_has_one_and_goes_on(tmp_path, stores):
    path, calls = tmp_path / "run.db", itertools.count()

    def evaluate(config, instance, seed):
        if next(calls) == 30:
            signal.raise_signal(signal.SIGINT)
        return noisy(config, instance, seed)

    with pytest.raises(racer.RaceInterrupted):
        racer.race(POOL, evaluate, [1, 2, 3], budget=120, seed=1, store=path)
    assert all_of(racer.load(path)) == all_of(without(path))
    assert racer.load(path).ended == "interrupted"
    assert stores.content(racer.resume(path, evaluate)) == stores.content(race(None))


def changed(data, rng):
    """Return data with a few bytes flipped, cut, doubled, zeroed, or those of something else."""
    data = bytearray(data)
    place, end = sorted(rng.randrange(len(data)) for _ in range(2))
    how = rng.randrange(5)
    if how == 0:
        data[place] ^= 1 << rng.randrange(8)
    elif how == 1:
        del data[place:]
    elif how == 2:
        data[place:end] = bytes(end - place)
    elif how == 3:
        data += data[place:end] or b"x"
    else:
        data = bytearray(rng.randbytes(rng.randrange(200)))
    return bytes(data)


@pytest.mark.thorough
def test_damage_to_a_snapshot_never_matters(copied):
    """It is replayed, without a word."""
    whole, rng = beside(copied).read_bytes(), random.Random(1)
    expected, n = all_of(racer.load(copied)), 0
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("error")
        patch.setattr(load, "restored", None)
        for _ in range(40):
            beside(copied).write_bytes(changed(whole, rng))
            n += all_of(racer.load(copied)) == expected if not n else bool(racer.load(copied))
        assert n == 40
        beside(copied).unlink()
        beside(copied).mkdir()
        assert check_store(copied).problems == []
        assert all_of(racer.load(copied)) == expected
        assert all_of(racer.resume(copied, noisy)) == expected


@pytest.mark.thorough
def test_damage_to_store_log_and_snapshot_gives_no_wrong_result(copied, path, stores):
    """Any of them, and any two: refused, or right."""
    expected, rng, refused = stores.content(racer.load(path)), random.Random(2), 0
    parts = {"": path.read_bytes(), ".snapshot": beside(path).read_bytes(), "-wal": b"x" * 9000}
    for _ in range(60):
        damaged = rng.sample(sorted(parts), rng.choice([1, 2, 3]))
        for end, content in parts.items():
            file = copied.with_name(f"run.db{end}")
            if end == "-wal" and end not in damaged:
                file.unlink(missing_ok=True)
            else:
                file.write_bytes(changed(content, rng) if end in damaged else content)
        for read in (racer.load, lambda store: racer.resume(store, noisy)):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", racer.RacerWarning)
                    assert stores.content(read(copied)) == expected
            except racer.StoreError:
                refused += 1
        copied.with_name("run.db-shm").unlink(missing_ok=True)
    assert 20 < refused < 120


def forged(data, change):
    """Return a snapshot with another header, and the checksum of that."""
    begin = len(_MAGIC) + 32
    (length,) = _LENGTH.unpack_from(data, begin)
    at = begin + _LENGTH.size
    header = json.loads(data[at : at + length])
    change(header)
    text = json.dumps(header).encode()
    rest = _LENGTH.pack(len(text)) + text + data[at + length :]
    return _MAGIC + hashlib.sha256(rest).digest() + rest


def test_check_compares_the_snapshot_with_the_outcomes(copied):
    def of_another(header):
        header["leader"] = (header["leader"] or 0) + 1

    beside(copied).write_bytes(forged(beside(copied).read_bytes(), of_another))
    (problem,) = check_store(copied).problems
    assert "its snapshot says otherwise than its outcomes" in problem


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
def test_nothing_in_a_snapshot_ends_in_a_traceback(copied):
    """With the right checksum: refused, or shown."""
    whole = beside(copied).read_bytes()
    rng, n = random.Random(3), 0

    def strange(header):
        node, key = header, rng.choice(sorted(header))
        while isinstance(node[key], dict | list) and node[key] and rng.random() < 0.6:
            node = node[key]
            key = rng.choice(sorted(node)) if isinstance(node, dict) else rng.randrange(len(node))
        node[key] = rng.choice(STRANGE)

    for _ in range(30):
        beside(copied).write_bytes(forged(whole, strange))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = racer.load(copied)
            n += bool(result.verdict)
    assert n == 30


def change_a_value(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(
            "UPDATE outcomes SET value = value + 1 WHERE block = 1 AND candidate = 1"
        )
        connection.commit()


def test_one_of_another_version_is_not_used(copied, monkeypatch):
    whole = beside(copied).read_bytes()
    beside(copied).write_bytes(forged(whole, lambda header: header.update(racer="0.0.1")))
    seen = []
    monkeypatch.setattr(load, "restored", lambda *_: seen.append(_))
    assert racer.load(copied).evaluations > 100
    assert not seen


def test_a_quick_check_replays_nothing(copied, no_replay):
    def quick():
        return typed("check", "--quick", copied)

    done = quick()
    assert done.exit_code == 0
    assert "still in" in done.output
    beside(copied).unlink()
    done = quick()
    assert done.exit_code == 0
    assert "not replayed" in done.output
    change_a_value(copied)
    done = quick()
    assert done.exit_code == 1
    assert "does not match its checksum" in done.output


def test_a_store_that_was_changed_is_read_as_without_a_snapshot(copied):
    change_a_value(copied)
    for read in (racer.load, lambda store: racer.resume(store, noisy)):
        with pytest.raises(racer.StoreError, match="does not match its checksum"):
            read(copied)


def test_a_small_store_has_none(tmp_path, monkeypatch):
    monkeypatch.setattr(snapshot, "LEAST", 121)
    race(tmp_path / "run.db")
    assert not beside(tmp_path / "run.db").exists()


def test_a_store_that_is_changed_while_it_goes_on_has_no_snapshot_of_that(copied, stores):
    """The copy that is saved opens, and goes on to the same result."""
    calls = itertools.count()

    def evaluate(config, instance, seed):
        if next(calls) == 20:
            copied.write_bytes(bytes(copied.stat().st_size))
        return noisy(config, instance, seed)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", racer.RacerWarning)
        with pytest.raises(racer.StoreError, match="something else"):
            racer.resume(copied, evaluate, budget=300)
        saved = copied.with_name("run.db.saved")
        assert not beside(saved).exists()
        result = racer.resume(saved, evaluate)
    assert stores.content(result) == stores.content(race(None, budget=300))
    assert all_of(racer.load(saved)) == all_of(without(saved))


def test_a_snapshot_that_cannot_be_written_is_none(tmp_path, monkeypatch, stores):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(snapshot, "written", full)
    path = tmp_path / "run.db"
    result = race(path)
    assert {file.name for file in tmp_path.iterdir()} == {"run.db", "run.db.lock"}
    assert stores.content(racer.load(path)) == stores.content(result)
