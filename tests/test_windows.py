"""Windows: what works there needs nothing that only Unix has; what cannot is refused."""

import json
import os
from pathlib import Path

import pytest
from processes import python
from windows.everyday import everyday

TESTS = Path(__file__).resolve().parent
VIEW = TESTS / "tools" / "windows"  # its sitecustomize hides what only Unix has


def seen_without_unix(*folders):
    """What a process, and its workers, see for which only Windows' names exist."""
    path = [*([] if os.name == "nt" else [str(VIEW)]), str(TESTS.parent)]
    ran = python(
        *("-X", "warn_default_encoding", VIEW / "everyday.py", *folders),
        env=os.environ | {"PYTHONPATH": os.pathsep.join(path)},
    )
    return json.loads(ran.stdout)


@pytest.fixture(scope="module")
def refusals():
    return seen_without_unix()["refusals"]


@pytest.mark.thorough
def test_race_tune_compare_and_stores_need_nothing_of_unix(tmp_path):
    there, here = tmp_path / "there", tmp_path / "here"
    there.mkdir()
    here.mkdir()
    assert seen_without_unix(there)["found"] == [everyday(here)]


@pytest.mark.parametrize("what", ["timeout", "memory", "runtime"])
def test_limits_are_refused_in_a_sentence(refusals, what):
    assert what in refusals[what]
    assert "need os.fork, which this system does not have" in refusals[what]


@pytest.mark.parametrize("what", ["Command", "bench"])
def test_programs_are_refused_in_a_sentence(refusals, what):
    assert "Command runs programs on Linux and macOS only" in refusals[what]
