"""How the tests are run: the longest begin first, Ctrl-C is never ignored, little is collected."""

from __future__ import annotations

import ctypes
import functools
import gc
import inspect
import mmap
import os
import signal
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click.testing
import pytest
from hypothesis import HealthCheck, settings
from playing import racing_tools
from tunings import tuning_tools

# no test counts on the clock, on a machine that is too busy to generate examples either
settings.register_profile(
    "busy", max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("busy")

# before 8.2, click's runner mixed both streams, or gave no output with both
if "mix_stderr" in inspect.signature(click.testing.CliRunner).parameters:
    runner: Any = click.testing.CliRunner
    runner.__init__ = functools.partialmethod(runner.__init__, mix_stderr=False)
    click.testing.Result.output = property(lambda done: done.stdout + done.stderr)

HERE = Path(__file__).parent
LONG = (  # files with a test of more than five seconds, or with many that wait
    "cli/test_tune.py",
    "cli/test_show.py",
    "reliability/test_command_hostile_values.py",
    "run/test_dask.py",
    "published/test_benavoli2014.py",
    "experiments/test_benavoli2015.py",
    "deciders/parts/test_single_trial.py",
    "reliability/test_store_faults.py",
    "reliability/test_store_tune.py",
    "reliability/test_limits.py",
    "reliability/test_dying_workers.py",
    "reliability/test_orphans.py",
    "reliability/test_command_misbehaves.py",
    "reliability/test_store_signals.py",
    "integrations/optuna/test_storages.py",
    "integrations/optuna/test_study_race.py",
    "experiments/test_optuna_study.py",
    "experiments/test_optunahub.py",
    "experiments/test_tuner.py",
)
MEMORY = Path("/dev/shm")
ROOM = 2**31  # bytes that all tests together may need there: 2 GB
MANY = 1_000  # tests, with which a process has grown
GROWN = 2**26  # bytes that a process has grown by since its memory moved: 64 MB
PLACE = {HERE / name: place for place, name in enumerate(LONG)}

if missing := [str(path) for path in PLACE if not path.exists()]:
    raise FileNotFoundError(missing)


@pytest.fixture(name="path")
def _path(tmp_path):
    """Return the name of a store, which a test makes."""
    return tmp_path / "run.db"


@pytest.fixture(scope="session", autouse=True)
def _state_folder(tmp_path_factory):
    """Keep the user's own state folder as it is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(scope="session")
def racing():
    """Return helpers for playing races without running anything."""
    return racing_tools()


@pytest.fixture(scope="session")
def tuning():
    """Return helpers for playing tunings without running anything."""
    return tuning_tools()


@pytest.fixture
def folder():
    """Return a folder in memory, where that is possible: nothing there waits for a disk."""
    with tempfile.TemporaryDirectory(dir=MEMORY if os.access(MEMORY, os.W_OK) else None) as name:
        yield Path(name)


@pytest.fixture
def two_blas_threads():
    """Give BLAS two threads, which it does not have in a worker."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(2, user_api="blas"):
        yield


@pytest.fixture
def in_series(monkeypatch):
    """Let tunings with small budgets be races in series, too, if the budget is enough for that."""
    monkeypatch.setattr("racer.tuner.tuning.SMALL", 0)


def pytest_xdist_auto_num_workers(config):
    """Return one worker more than there are cores: many tests wait; so BLAS has one thread each."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    given = os.environ.get("PYTEST_XDIST_AUTO_NUM_WORKERS")
    return int(given) if given else (os.cpu_count() or 1) + 1


def pytest_configure(config):
    """Undo what a shell does to jobs in the background, and share the compiling of the tests.

    Some tests send themselves SIGINT. Workers begin to collect at different files: what one has
    compiled, the others need not.
    """
    gc.disable()  # until the tests are collected: half the time of that
    sys.dont_write_bytecode = False  # else each worker, and each program, compiles all for itself
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if "TMPDIR" not in os.environ and _has_room_for_programs(MEMORY):
        os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)  # each outcome waits for its disk
    if config.args == config.getini("testpaths") and (worker := getattr(config, "workerinput", 0)):
        files = sorted(map(str, HERE.rglob("test_*.py")))
        first = len(files) * int(worker["workerid"].removeprefix("gw")) // worker["workercount"]
        config.args = files[first:] + files[:first]
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _has_room_for_programs(memory):
    """Say whether all tests fit there, and programs may run; in a container, neither is sure."""
    if sys.platform != "linux" or not os.access(memory, os.W_OK):
        return False
    found = os.statvfs(memory)
    return found.f_bavail * found.f_frsize >= ROOM and not found.f_flag & os.ST_NOEXEC


def pytest_collection_modifyitems(items):
    """Put thorough tests first, then the other long ones: no worker ends on one of them."""
    items.sort(
        key=lambda item: (
            item.get_closest_marker("thorough") is None,
            PLACE.get(item.path, len(PLACE)),
            item.path,  # whichever was collected first
        )
    )


def pytest_collection_finish(session):
    """Look for garbage seldom, and never among the tests themselves, nor in forks of this process.

    A fork that looks at all objects writes into them, and so copies the memory of this process.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)
    gc.enable()
    if sys.platform == "linux" and len(session.items) >= MANY:
        session.config.pluginmanager.register(_HugePages())


class _HugePages:
    """Keep the memory of this process in pages of 2 MB, also what tests let it grow by."""

    def __init__(self):
        self.held = 0

    def pytest_runtest_logstart(self):
        if _held() - self.held > GROWN:
            _use_huge_pages()
            self.held = _held()


def _held():
    """Return the resident memory of this process, in bytes."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * mmap.PAGESIZE


def _use_huge_pages():
    """Move the memory of this process into pages of 2 MB: a fork copies a table of all pages.

    An older kernel than Linux 6.1 refuses, and nothing changes.
    """
    madvise = ctypes.CDLL(None).madvise
    madvise.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    size, collapse = 2**21, 25
    for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines():
        where, access, _, _, inode, *_ = line.split()
        if access.startswith("rw") and inode == "0":  # not of a file
            start, end = (int(address, 16) for address in where.split("-"))
            for page in range(-(-start // size) * size, end - size + 1, size):
                madvise(page, size, collapse)


REFUSED = ("need os.fork, which this system", "runs programs on Linux and macOS only")


@contextmanager
def _skipped_where_refused():
    """On Windows, skip what asks for limits or programs; `test_windows.py` checks the refusals."""
    try:
        yield
    except BaseException as error:
        causes = [error]
        while causes[-1] is not None:
            causes.append(causes[-1].__cause__ or causes[-1].__context__)
        if sys.platform == "win32" and any(words in str(c) for c in causes for words in REFUSED):
            pytest.skip("limits and programs are refused on Windows")
        raise


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup():
    """Skip a test with a fixture that is refused."""
    with _skipped_where_refused():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call():
    """Skip a test that is refused."""
    with _skipped_where_refused():
        return (yield)
