"""Faults at file operations, and again during recovery: an identical race, or a refusal."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import warnings
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

import racer
from racer.store.load import check_store

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="replaces Linux's system calls")
TAKES_ROOM = pytest.importorskip("faults").TAKES_ROOM  # fcntl

POOL = [0, 1]
IN_SCRIPTS = (
    "{'budget': 6, 'seed': 1, 'decider': racer.deciders.FRace(posthoc='sign', first_test=2)}"
)
SETTINGS = eval(IN_SCRIPTS, {"racer": racer})
KINDS = ["EIO", "EIO, and from then on", "ENOSPC, and from then on"]
FEWER = 5  # operations than in the race before: how many there are varies a little
CHANGES_NOTHING = {  # on the disk
    *("access", "close", "fcntl", "fstat", "lstat", "mmap", "pread", "pread64", "read", "stat"),
    *("openDirectory", "fcntl.flock", "os.close", "os.fstat", "os.lstat", "os.stat"),
}


def evaluate(config, instance, seed):
    return config + seed % 7


@pytest.fixture(autouse=True)
def _a_commit_for_each_outcome(monkeypatch):
    monkeypatch.setattr("racer.store.writer._TOGETHER", 0.0)


@pytest.fixture
def faults(folder):
    from faults import Faults

    try:
        found = Faults(folder)
    except AttributeError:
        pytest.skip("this SQLite does not show what it calls")
    with found.installed():
        yield found


@pytest.fixture
def plain(stores):
    return stores.told(racer.race(POOL, evaluate, **SETTINGS))


def operations(faults, path, known=()):
    """Return the operations of a race without faults, and which are first or last at their place.

    All that SQLite does for one statement, frame after frame of its log, say, has one place; so has
    what the race does block after block. Of places that are `known`, only the last is returned.
    """
    with faults.at(0):
        racer.race(POOL, evaluate, **SETTINGS, store=path)
    first, last = {}, {}
    for number, place in enumerate(faults.places, start=1):
        if place not in known:
            first.setdefault(place, number)
        last[place] = number
    return faults.done, {*first.values(), *last.values()}


def numbers(done, ends, how):
    """Return every other one of `ends` at which a fault is not the same as at the next operation.

    Those between have a fault of another kind.
    """
    takes_room = [name in TAKES_ROOM for name in done]
    differ = [
        number
        for number, (this, following) in enumerate(
            zip(takes_room, [*takes_room[1:], False], strict=True), start=1
        )
        if number in ends and (this or following or not how.startswith("ENOSPC"))
    ]
    return differ[KINDS.index(how) % 2 :: 2]


def attempt(faults, path, number, how, told, plain):
    """Race with a fault: the same result, or a clear refusal; say whether it came to the fault."""
    with faults.at(number, how), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            result = racer.race(POOL, evaluate, **SETTINGS, store=path)
        except racer.StoreError as error:
            assert faults.failed
            assert str(path) in str(error)  # noqa: PT017
        else:
            assert told(result) == plain
    assert not said
    if how == "EIO, and from then on":
        let_go(path)
    return len(faults.done) >= number


def let_go(path):
    """Let go of the lock, as the end of this process would; the number stays its holder's."""
    for number in os.listdir("/proc/self/fd"):  # noqa: PTH208 (hundreds: Path takes long)
        with suppress(OSError):
            if os.readlink(f"/proc/self/fd/{number}") == f"{path}.lock":  # noqa: PTH115
                with Path(os.devnull).open() as nothing:
                    os.dup2(nothing.fileno(), int(number))


def known(path, stores):
    """Return the outcomes that are recorded; none if no race has begun."""
    if not path.exists() or not path.stat().st_size:
        return set()
    copy = path.parent / "copy.db"
    for end in ("", "-journal"):  # reading would recover it
        if Path(f"{path}{end}").exists():
            shutil.copyfile(f"{path}{end}", f"{copy}{end}")
    with_table = [row[0] for row in stores.rows(copy, "sqlite_master") if row[1] == "outcomes"]
    found = set(stores.rows(copy)) if with_table else set()
    for file in path.parent.glob("copy.db*"):
        file.unlink()
    return found


def resume_and_compare(path, before, stores, plain, *, look=True):
    """Go on without faults: nothing recorded is lost, and the result is the same."""
    result = racer.race(POOL, evaluate, **SETTINGS, store=path)
    assert stores.told(result) == plain
    after = known(path, stores)
    assert before <= after
    assert len(after) == 6
    assert not look or check_store(path).problems == []


@pytest.mark.thorough
@pytest.mark.parametrize("how", KINDS)
def test_a_fault_at_each_place_and_again_during_recovery(folder, faults, stores, plain, how):
    done, ends = operations(faults, folder / "plain.db")
    assert len(done) > 200
    second, came, tried = 0, 0, numbers(done, ends, how)
    assert len(tried) > 12
    for number in tried:
        path = folder / f"{number}.db"
        came += attempt(faults, path, number, how, stores.told, plain)
        first = known(path, stores)
        second = second % 89 + 7  # through all that recovery does, in another order
        attempt(faults, path, second, how, stores.told, plain)
        before = known(path, stores)
        assert first <= before
        resume_and_compare(path, before, stores, plain)
        for file in folder.glob(f"{number}.db*"):
            file.unlink()
    assert came >= len(tried) - FEWER


@contextmanager
def killed(path):
    """Yield a maker of copies of a race that was killed after five outcomes."""
    objective = (  # executed from a text of its own, so that it has no source to compare
        "def evaluate(config, instance, seed):\n"
        "    seen.append(seed)\n"
        "    return config + seed % 7 if len(seen) < 6 else os._exit(9)\n"
    )
    script = (
        f"import os, racer\nfrom racer.store import writer\nwriter._TOGETHER = 0.0\nexec({objective!r})\n"
        f"seen = []\nracer.race({POOL}, evaluate, **{IN_SCRIPTS}, store={str(path)!r})\n"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 9

    def copy(name):
        for end in ("", ".lock"):
            shutil.copyfile(f"{path}{end}", path.parent / f"{name}{end}")
        return path.parent / name

    yield copy


@pytest.mark.thorough
@pytest.mark.parametrize("how", KINDS)
def test_a_fault_at_each_place_of_recovery_and_again(folder, faults, stores, plain, how):
    """Places that a new race has, too, had theirs in the test before: once more for the last."""
    operations(faults, folder / "new.db")
    of_a_new_race = {*faults.places}
    with killed(folder / "killed.db") as copy:
        recorded = known(folder / "killed.db", stores)
        assert len(recorded) == 5
        done, ends = operations(faults, copy("plain.db"), of_a_new_race)
        assert len(done) > 100
        came, tried = 0, numbers(done, ends, how)
        assert len(tried) > 12
        for number in tried:
            path = copy(f"{number}.db")
            came += attempt(faults, path, number, how, stores.told, plain)
            attempt(faults, path, number + 1, how, stores.told, plain)
            before = known(path, stores)
            assert recorded <= before
            resume_and_compare(path, before, stores, plain, look=number % 8 < 2)
            for file in folder.glob(f"{number}.db*"):
                file.unlink()
    assert came >= len(tried) - FEWER


CRASHES = """
import os, pathlib, sys
import racer
from faults import Faults
from racer.store import writer

writer._TOGETHER = 0.0
folder, pool, settings, numbers = pathlib.Path(sys.argv[1]), *map(eval, sys.argv[2:])

def evaluate(config, instance, seed):
    return config + seed % 7

racer.race(pool, evaluate, **settings)  # all is loaded once
died = 0
with Faults(folder).installed() as faults:
    for number in numbers:
        for at in (number, number % 97 + 3):  # and again during recovery
            child = os.fork()
            if child == 0:
                with faults.at(at, "crash"):
                    racer.race(pool, evaluate, **settings, store=folder / f"{number}.db")
                os._exit(0)
            _, status = os.waitpid(child, 0)
            code = os.waitstatus_to_exitcode(status)
            assert code in (0, 9), code
            died += at == number and code == 9
print(died)
"""


@pytest.mark.thorough
def test_the_driver_dies_at_each_place_and_again(folder, faults, stores, plain):
    from faults import __file__ as tool

    done, ends = operations(faults, folder / "plain.db")
    # who dies after an operation that changed nothing leaves what it would have left before
    changes = [n for n in ends if n < len(done) and done[n - 1] not in CHANGES_NOTHING]
    numbers = [1, *(n + 1 for n in sorted(changes))]
    assert len(numbers) > 30
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(tool).parent), *sys.path])}
    arguments = [sys.executable, "-c", CRASHES, folder, repr(POOL), IN_SCRIPTS, repr(numbers)]
    ran = subprocess.run(
        arguments, stdout=subprocess.PIPE, check=True, env=environment, timeout=300
    )
    assert int(ran.stdout) >= len(numbers) - FEWER
    for number in numbers:
        path = folder / f"{number}.db"
        resume_and_compare(path, known(path, stores), stores, plain)


@pytest.mark.thorough
def test_a_read_error_is_not_called_damage_nor_an_empty_place(folder, faults):
    whole, number, came = folder / "whole.db", 0, True
    racer.race(POOL, evaluate, **SETTINGS, store=whole)
    content = whole.read_bytes()
    path = folder / "run.db"
    refused = 0
    while came:
        number += 1
        for look in (lambda: racer.resume(path, evaluate), lambda: check_store(path)):
            for file in folder.glob("run.db*"):
                file.unlink()
            path.write_bytes(content)
            said = ""
            with faults.at(number):
                try:
                    report = look()
                    said = "".join(getattr(report, "problems", []))
                except racer.StoreError as error:
                    said = str(error)
                came = len(faults.done) >= number
            refused += bool(said)
            assert "changed by hand" not in said
            assert "this is not a store" not in said
            if "put a copy in its place" in said:
                assert "or the disk failed to read it" in said
            assert "begins one" not in said or faults.done[number - 1] == "os.lstat"
    assert refused > 40
