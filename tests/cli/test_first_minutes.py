"""What a user meets in the first minutes of the commands: help, numbers, stores of a folder."""

import inspect
import re
from functools import partial

import click
import pytest
from typed import typed

import racer
from racer.cli.commands import _COMMANDS
from racer.cli.scenarios import _DEFAULTS, _GROUPS
from racer.comparison.columns import Columns
from racer.deciders.named import default_decider
from racer.scenario.settings import SETTINGS, takes
from racer.tuner import tuner

run = partial(typed, prog_name="racer")


@pytest.mark.parametrize("command", ["", *_COMMANDS])
def test_help_fits_into_80_columns(command):
    shown = run(*command.split(), "--help").stdout
    assert max(map(len, shown.splitlines())) <= 80
    assert not re.search(r"--[\w-]+ _", shown)  # no function's name instead of a type


@pytest.mark.parametrize("command", ["tune", "race"])
def test_help_has_all_settings_in_groups_and_true_defaults(command):
    shown = " ".join(run(command, "--help").stdout.split())
    named = [name for names in _GROUPS.values() for name in names.split()]
    assert sorted([*named, "store"]) == sorted([*SETTINGS, *Columns._fields, "maximize"])
    for name in SETTINGS:
        is_there = f"--{name.replace('_', '-')} " in shown
        assert is_there == takes(command, name), name
    assert all(f"{title}: --" in shown for title in _GROUPS)
    assert "Output: -" in shown
    assert "Blocks before the first test [5]" in shown
    usual = default_decider if command == "race" else tuner.default_decider
    assert f"[{usual(None)}; " in shown
    for_times = tuner.default_decider(racer.Runtime(5))
    assert command == "race" or f"[best-for-budget; with --runtime {for_times}; " in shown
    parameters = inspect.signature(getattr(racer, command)).parameters
    for name, default in (text.split("=") for text in _DEFAULTS):
        usual = parameters[name].default if name in parameters else None
        assert usual is None or str(usual) == default, name


@pytest.mark.parametrize(("text", "number"), [("1e3", 1000), ("60", 60), ("2E1", 20)])
def test_a_budget_may_be_written_with_an_exponent(text, number):
    from racer.cli.output import Whole

    assert Whole(1).convert(text, None, None) == number
    assert racer.Budget.of(float(text)) == racer.Budget(evaluations=number)
    for wrong in ("1.5", "1e-3", "ten", "0", "1e999"):
        with pytest.raises(click.BadParameter, match="is not a whole number"):
            Whole(1).convert(wrong, None, None)
    with pytest.raises(racer.BudgetError, match=r"budget=10\.5"):
        racer.Budget.of(10.5)


def test_ctrl_c_while_a_command_is_imported_has_its_own_exit_code(monkeypatch):
    def import_module(name):
        raise KeyboardInterrupt

    monkeypatch.setattr("racer.cli.commands.importlib.import_module", import_module)
    done = run("tune")
    assert (done.exit_code, done.stderr) == (130, "\nAborted!\n")


def test_the_store_of_a_folder_need_not_be_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run("show")
    assert (done.exit_code, "in this folder there is no *.db" in done.stderr) == (2, True)
    (tmp_path / "notes.db").write_text("no store")
    racer.race([1, 2], lambda c, i, s: c + s % 7, budget=20, seed=1, store="irace.db")
    (tmp_path / "irace.ablation.db").write_bytes((tmp_path / "irace.db").read_bytes())
    for command in (["show"], ["check"], ["report", "-o", "page.html"]):
        done = run(*command, exits=0)
        assert "racer: irace.db, the store of this folder" in done.stderr
    racer.race([1, 2], lambda c, i, s: c + s % 7, budget=20, seed=1, store="other.db")
    done = run("show")
    assert (done.exit_code, "several stores: irace.db, other.db." in done.stderr) == (2, True)
