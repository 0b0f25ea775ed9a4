"""Ctrl-C: a partial result at once, and no worker process left over."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from processes import wait_for

pytestmark = pytest.mark.skipif(
    sys.platform == "win32" or not Path("/proc/self/stat").exists(),
    reason="looks for left-over processes in /proc",
)

SCRIPT = """
import json, pathlib, sys, time
import racer

marks = pathlib.Path(sys.argv[1])

def evaluate(config, instance, seed):
    if instance == "slow":
        (marks / str(config)).touch()
        time.sleep(600)  # until it is killed
    return config

try:
    racer.race(
        [1, 2, 3, 4], evaluate, ["quick", "quick", "slow"], budget=100, first_test=4,
        n_jobs=int(sys.argv[2]), seed=1, decider="f-race",
    )
except racer.RaceInterrupted as stop:
    result = stop.result
    print(json.dumps({
        "ended": result.ended, "blocks": len(result.table), "best": result.best,
        "scores": result.table.to_numpy().tolist(), "evaluations": result.evaluations,
    }))
"""


def running_in_group(group):
    """Return the processes of a group that have not ended, by /proc/*/stat."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, its_group = path.read_text().rpartition(")")[2].split()[:3]
        except OSError:  # ended meanwhile
            continue
        if int(its_group) == group and state not in "ZX":
            found.append(path.parent.name)
    return found


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_gives_a_partial_result_and_leaves_no_process(tmp_path, n_jobs):
    script, marks = tmp_path / "script.py", tmp_path / "marks"
    script.write_text(SCRIPT, encoding="utf-8")
    marks.mkdir()
    process = subprocess.Popen(
        [sys.executable, str(script), str(marks), str(n_jobs)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert wait_for(lambda: len(list(marks.iterdir())) == n_jobs, 120)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=120)
        assert wait_for(lambda: not running_in_group(process.pid), 120)
    finally:
        for left in running_in_group(process.pid):
            os.kill(int(left), signal.SIGKILL)
        process.wait()
    assert process.returncode == 0
    answer = json.loads(out)
    assert answer["ended"] == "interrupted"
    assert answer["scores"] == [[1, 2, 3, 4]] * 2
    assert answer["evaluations"] == 8
    assert answer["best"] in (None, 1)
    assert "Traceback" not in err
