"""A field added later to a public value breaks nobody's decider, executor or callback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OUTSIDERS = {
    "a decider": ["tests/deciders/test_outside_decider.py"],
    "deciders and callbacks of the pages": [
        "tests/test_docs.py",
        "-k=tutorial_decider or deciders.md: or race.md:",
    ],
    "an executor": ["tests/run/test_executor.py"],
    "a callback": ["tests/core/test_events.py", "-k=told"],
}


@pytest.mark.parametrize("name", OUTSIDERS)
def test_outsiders_do_not_notice_a_new_field(name):
    paths = os.pathsep.join([str(ROOT), str(ROOT / "tests" / "tools")])
    found = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "grown", "-p", "no:cacheprovider"]
        + OUTSIDERS[name],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stdout + found.stderr
