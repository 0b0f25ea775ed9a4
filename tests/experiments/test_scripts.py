"""The scripts: a few lines each, and the command lines that the documentation shows."""

import os
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from experiments.commands import bench, study

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted((ROOT / "scripts").glob("*.py"))
GROUPS = {"bench.py": bench, "study.py": study}
COMMANDS = [
    *[(script.name,) for script in SCRIPTS if script.name not in GROUPS],
    *[(script, name) for script, group in GROUPS.items() for name in group.commands],
]
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "experiments").glob("*/README.md")),
]
SHOWN = [
    *[
        (page, line)
        for page in PAGES
        for line in re.findall(r"python scripts/([^`\n#]*)", page.read_text(encoding="utf-8"))
    ],
]
NAMING = [
    *PAGES,
    *(ROOT / name for name in ("CHANGELOG.md", "CONTRIBUTING.md", ".ci/run", "pyproject.toml")),
    *(ROOT / ".github").rglob("*.yml"),
    *[p for room in ("racer", "tests", "experiments", "docs") for p in (ROOT / room).rglob("*.py")],
]

# the studies of the extras "optuna" and "sklearn"; without them they are skipped
pytest.importorskip("optuna")
pytest.importorskip("sklearn")


def invoke(*words, option=()):
    script, *rest = words
    main = runpy.run_path(str(ROOT / "scripts" / script))["main"]
    return CliRunner().invoke(main, [*rest, *option], prog_name=script)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_answers_help(command):
    answer = invoke(*command, option=["--help"])
    assert answer.exit_code == 0
    assert f"Usage: {' '.join(command)} [OPTIONS]" in answer.output
    script = ROOT / "scripts" / command[0]
    for option in re.findall(r"--\w+", script.read_text(encoding="utf-8")):
        assert option in answer.output


def test_a_script_needs_racer_installed_but_not_the_clone(tmp_path):
    """As after `pip install ".[sklearn]"`: workers, too, find experiments beside the script."""
    installed = tmp_path / "installed"
    installed.mkdir()
    (installed / "racer").symlink_to(ROOT / "racer")
    found = [str(installed), *(path for path in sys.path if path.endswith("site-packages"))]
    # without the module `site`, no .pth file of an editable install is read
    python = [sys.executable, "-S"]
    how = {
        "env": {**os.environ, "PYTHONPATH": os.pathsep.join(found)},
        "cwd": tmp_path,
        "capture_output": True,
        "text": True,
    }
    alone = subprocess.run([*python, "-c", "import experiments"], check=False, **how)
    assert "No module named 'experiments'" in alone.stderr
    few = "--deciders f-race --worlds normal --candidates 2 --repetitions 8 --jobs 2 --blocks 10"
    command = [*python, str(ROOT / "scripts" / "error_rates.py"), *shlex.split(few)]
    done = subprocess.run(command, check=False, **how)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("page", "line"), SHOWN, ids=[f"{p.parent.name}-{x}" for p, x in SHOWN])
def test_a_command_line_that_is_shown_is_accepted(page, line, monkeypatch):
    monkeypatch.chdir(ROOT)
    script, *arguments = shlex.split(line)
    command = runpy.run_path(f"scripts/{script}")["main"]
    context = None
    if script in GROUPS:
        context = click.Context(command, info_name=script)
        _, command, arguments = command.resolve_command(context, arguments)
    # refuses unknown options and wrong values
    command.make_context(script, arguments, parent=context)


def test_every_command_is_shown_somewhere():
    words = [shlex.split(line) for _, line in SHOWN]
    assert {tuple(line[: 1 + (line[0] in GROUPS)]) for line in words} == set(COMMANDS)


def test_every_script_that_is_named_exists():
    known = {*COMMANDS, *((script, "") for script in GROUPS)}
    unknown = [
        (path.relative_to(ROOT), script, name)
        for path in NAMING
        for script, name in re.findall(
            r"\bscripts/(\w+\.py)(?: ([a-z-]+))?", path.read_text(encoding="utf-8")
        )
        if ((script, name) if script in GROUPS else (script,)) not in known
    ]
    assert unknown == []
