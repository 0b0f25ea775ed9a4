"""`racer demo` and its fellows, as typed."""

import re
from functools import partial
from pathlib import Path

import click
import pytest
from processes import python
from typed import typed

from racer.cli import main

ROOT = Path(__file__).resolve().parents[2]


run = partial(typed, env={"COLUMNS": "120"})


def test_demo_ends_with_winner_survivors_and_savings():
    result = run(
        "demo", "--candidates", "4", "--budget", "60", "--n-jobs", "1", "--seed", "3", exits=0
    )
    assert "Racing 4 configurations" in result.output
    assert re.search(r"^#\d is the best of 4|^Best so far: #\d", result.output, re.MULTILINE)
    assert re.search(r"^ strategy +\w+$", result.output, re.MULTILINE)
    assert "P(best)" in result.output
    assert "instead of 240 (every candidate on every instance)" in result.output
    assert "racer init" in result.stdout.splitlines()[-1]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--budget", "10"), "40 candidates x 5 blocks before the first test are 200"),
        (("--n-jobs", "0"), "--n-jobs 0: give"),
        (("--candidates", "2000"), "2000 is not in the range"),
    ],
)
def test_what_cannot_work_is_said_before_anything_runs(args, message):
    result = run("demo", *args, exits=2)
    assert message in result.output
    assert "dropped" not in result.output


def test_as_a_module_that_imports_only_what_is_asked_for():
    done = python("-X", "importtime", "-m", "racer", "--version")
    assert done.stdout.startswith("racer, version ")
    assert "racer.cli.commands" in done.stderr
    assert "numpy" not in done.stderr


@pytest.mark.parametrize("command", main.list_commands(click.Context(main)))
def test_every_command_has_help_and_stands_in_the_readme(command):
    assert main.get_command(click.Context(main), command).name == command
    assert run(command, "--help").exit_code == 0
    assert f"racer {command}" in (ROOT / "README.md").read_text(encoding="utf-8")
