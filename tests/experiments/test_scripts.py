"""The scripts: a few lines each, and the command lines that the documentation shows."""

import re
import runpy
import shlex
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted((ROOT / "scripts").glob("*.py"))
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "experiments").glob("*/README.md")),
]
SHOWN = [
    (page, line)
    for page in PAGES
    for line in re.findall(r"python (scripts/\w+\.py[^`\n#]*)", page.read_text(encoding="utf-8"))
]

# the studies of the extras "optuna" and "sklearn"; without them they are skipped
pytest.importorskip("optuna")
pytest.importorskip("sklearn")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_every_script_answers_help(script, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [str(script), "--help"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(script), run_name="__main__")
    assert ended.value.code == 0
    help_text = capsys.readouterr().out
    assert f"Usage: {script.name} [OPTIONS]" in help_text
    for option in re.findall(r"--\w+", script.read_text(encoding="utf-8")):
        assert option in help_text


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_is_a_few_lines(script):
    text = script.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 15
    assert f"\nRun:  python scripts/{script.name}" in text


def test_no_script_and_no_study_changes_where_modules_are_looked_for():
    files = [*SCRIPTS, *(ROOT / "experiments").rglob("*.py")]
    assert [path for path in files if "sys.path" in path.read_text(encoding="utf-8")] == []


@pytest.mark.parametrize(("page", "line"), SHOWN, ids=[f"{p.parent.name}-{x}" for p, x in SHOWN])
def test_a_command_line_that_is_shown_is_accepted(page, line, monkeypatch):
    monkeypatch.chdir(ROOT)
    script, *arguments = shlex.split(line)
    main = runpy.run_path(script)["main"]
    main.make_context(script, arguments)  # which refuses unknown options and wrong values


def test_every_script_is_shown_somewhere():
    shown = {shlex.split(line)[0] for _, line in SHOWN}
    assert shown == {f"scripts/{script.name}" for script in SCRIPTS}
