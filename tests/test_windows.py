"""Windows: what works there needs nothing that only Unix has; what cannot is refused."""

import ast
import json
import os
from pathlib import Path

import pytest
from processes import python
from windows.everyday import everyday
from windows.unix_only import HIDDEN, MODULES

TESTS = Path(__file__).resolve().parent
VIEW = TESTS / "tools" / "windows"  # its sitecustomize hides what only Unix has
NEED_UNIX = {"racer/evaluate/limits", "racer/evaluate/command"}  # limits, programs


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


def unix_only(tree):
    """Return the uses of what only Unix has that neither `hasattr` nor `except AttributeError` guards."""
    found = []

    def walk(node, guarded):
        if isinstance(node, ast.If):
            guarded = guarded | {
                tuple(map(ast.unparse, call.args))
                for call in ast.walk(node.test)
                if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "hasattr"
            }
        if isinstance(node, ast.Try) and any(
            "AttributeError" in ast.unparse(handler.type or ast.Name(""))
            for handler in node.handlers
        ):
            return
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module, name = node.value.id, node.attr
            if name in HIDDEN.get(module, ()) and (module, repr(name)) not in guarded:
                found.append(f"{module}.{name}")
        if isinstance(node, ast.Import):
            found.extend(a.name for a in node.names if a.name.partition(".")[0] in MODULES)
        if isinstance(node, ast.ImportFrom) and not node.level:
            names = {alias.name for alias in node.names} & HIDDEN.get(node.module, set())
            found.extend(f"{node.module}.{name}" for name in names)
            found.extend({node.module.partition(".")[0]} & MODULES)
        for child in ast.iter_child_nodes(node):
            walk(child, guarded)

    walk(tree, frozenset())
    return found


def test_only_limits_and_programs_name_what_only_unix_has():
    found = {}
    for path in (TESTS.parent / "racer").rglob("*.py"):
        room = path.parent.relative_to(TESTS.parent).as_posix()
        if room not in NEED_UNIX and (names := unix_only(ast.parse(path.read_bytes()))):
            found[str(path)] = names
    assert found == {}


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("import os\nos.fork()", ["os.fork"]),
        ("from signal import SIGKILL, SIGINT", ["signal.SIGKILL"]),
        ("def f():\n    import fcntl", ["fcntl"]),
        (
            "if hasattr(signal, 'SIGHUP'):\n    x = signal.SIGHUP, signal.SIGKILL",
            ["signal.SIGKILL"],
        ),
        ("try:\n    os.getuid()\nexcept (OSError, AttributeError):\n    pass", []),
        ("os.getpid(), signal.SIGTERM, time.monotonic()", []),
    ],
)
def test_what_only_unix_has_is_recognised(code, names):
    assert unix_only(ast.parse(code)) == names
