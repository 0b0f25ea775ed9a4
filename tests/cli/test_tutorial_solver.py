"""The tutorial that tunes minisat: its files and commands, as printed, with fewer and smaller runs."""

import re
import runpy
import shutil
from pathlib import Path

import pytest
from typed import typed

PAGE = Path(__file__).resolve().parents[2] / "docs" / "tutorial_solver.md"
FILE = re.compile(r"^<!-- file: (\S+) -->\n```\w+\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("minisat") is None, reason="minisat is missing")
def test_the_solver_is_tuned_from_the_files_of_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = dict(FILE.findall(PAGE.read_text(encoding="utf-8")))
    assert set(files) == {"formulas.py", "parameters.txt", "default.txt", "scenario.toml"}
    smaller = {"200": "60", "201": "61", "900": "270", "range(100, 120)": "range(100, 104)"}
    for number, fewer in smaller.items():
        assert number in files["formulas.py"]
        files["formulas.py"] = files["formulas.py"].replace(number, fewer)
    for name, text in files.items():
        Path(name).write_text(text, encoding="utf-8")
    runpy.run_path("formulas.py")
    checked = typed("check-scenario", exits=0)
    assert "8 parameters, 20 instances" in checked.output
    assert "The scenario can be used." in checked.output
    tuned = typed("tune", "--budget", 30, "--test-elites", 1, "--n-jobs", 1, exits=0)
    assert "outcomes go to" in tuned.stderr.splitlines()[1]  # after the title
    assert typed("show").stdout == tuned.stdout
    assert "As a command line\n" in tuned.stdout
    assert "minisat -verb=0 -var-decay=" in tuned.stdout
