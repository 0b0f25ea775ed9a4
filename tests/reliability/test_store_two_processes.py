"""One writer: whoever comes second is refused at once, with the reason; readers are not."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import time

import pytest
from processes import TOOLS

import racer
from racer.evaluate import attempt

STARTER = """
import pathlib, sys
import racer
from processes import wait_for

store, marks, number = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]

def evaluate(config, instance, seed):
    assert wait_for(lambda: len(list(marks.glob("refused*"))) == 3)
    return config

try:
    result = racer.race([1, 2, 3], evaluate, budget=60, seed=1, store=store)
except racer.StoreError as error:
    (marks / f"refused{number}").write_text(str(error))
    sys.exit(7)
print(result.best)
"""


@pytest.mark.thorough
def test_of_four_starters_one_wins(tmp_path):
    script, marks, path = tmp_path / "starter.py", tmp_path / "marks", tmp_path / "run.db"
    script.write_text(STARTER, encoding="utf-8")
    marks.mkdir()
    starters = [
        subprocess.Popen(
            [sys.executable, script, path, marks, str(n)],
            stdout=subprocess.PIPE,
            text=True,
            env=TOOLS,
        )
        for n in range(4)
    ]
    said = [starter.communicate(timeout=120)[0].strip() for starter in starters]
    assert sorted(starter.returncode for starter in starters) == [0] + [7] * 3
    assert sorted(said) == [""] * 3 + ["1"]
    for refusal in marks.iterdir():
        message = refusal.read_text()
        assert f"store {str(path)!r} is in use: another process" in message


@pytest.mark.parametrize("name", ["run.db", "link.db"])
def test_a_second_race_in_the_same_process_is_refused_without_a_wait(
    tmp_path, stores, monkeypatch, name
):
    path = tmp_path / "run.db"
    (tmp_path / "link.db").symlink_to(path)
    waits, refusals = [], []

    def evaluate(config, instance, seed):
        with monkeypatch.context() as patched:
            patched.setattr(time, "sleep", waits.append)  # as filelock does between two tries
            with pytest.raises(racer.StoreError, match="in use") as caught:
                racer.resume(tmp_path / name, stores.evaluate)
        refusals.append(str(caught.value))
        return config

    racer.race([1, 2], evaluate, budget=10, seed=1, store=path)
    assert len(refusals) == 10
    assert waits == []


@pytest.mark.skipif(sys.platform != "linux", reason="only there /proc takes no file")
def test_a_folder_that_takes_no_file_is_named_and_not_called_in_use(stores):
    with pytest.raises(
        racer.StoreError, match=r"no file can be made in '/proc' \(No such"
    ) as caught:
        racer.race(stores.POOL, stores.evaluate, **stores.SETTINGS, store="/proc/race.db")
    assert "in use" not in str(caught.value)


def test_readers_neither_block_nor_are_blocked(tmp_path, stores, monkeypatch):
    monkeypatch.setattr(attempt, "_clock", itertools.count().__next__)  # a commit for each
    from racer.store.load import check_store

    path = tmp_path / "run.db"
    reports = []

    def evaluate(config, instance, seed):
        if path.exists():
            reports.append(check_store(path))
        return config

    plain = racer.race([1, 2], evaluate, budget=20, seed=1)
    reports.clear()
    result = racer.race([1, 2], evaluate, budget=20, seed=1, store=path)
    assert stores.content(result) == stores.content(plain)
    assert [report.statuses.total() for report in reports] == list(range(result.evaluations))
    assert not [report.problems for report in reports if report.problems]


def test_the_lock_goes_with_its_holder_although_a_fork_outlives_it(tmp_path, stores):
    path = tmp_path / "run.db"
    script = f"""
import os, signal, sys, racer
def evaluate(config, instance, seed):
    read, write = os.pipe()
    if os.fork() == 0:
        os.write(write, b".")  # it runs, and has let go of what a fork has to let go of
        signal.pause()
    os.read(read, 1)
    print("forked", flush=True)
    os._exit(5)
sys.stdout.flush()
racer.race([1, 2], evaluate, budget=10, seed=1, store={str(path)!r})
"""
    done = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, start_new_session=True
    )
    try:
        assert done.stdout.readline() == b"forked\n"
        assert done.wait(60) == 5
        assert (tmp_path / "run.db.lock").exists()
        with pytest.warns(racer.RacerWarning, match="begun with evaluate="):
            assert racer.resume(path, stores.Numbers()).evaluations == 10
    finally:
        os.killpg(done.pid, signal.SIGKILL)
        done.stdout.close()
