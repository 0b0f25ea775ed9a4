"""Runners of other tools: how they are called, and what they print."""

import sys

import pytest

from racer import Cell, Command, ObjectiveError, SettingError
from racer.evaluate.attempt import evaluate_cell
from racer.evaluate.command.protocols import PROTOCOLS, as_fixed, split_line

CONFIG = {"algorithm": "as", "rho": 0.00001, "ants": 10, "seed": 2.0}


def argv(cell, **settings):
    return Command([sys.executable, "runner"], **settings).argv_of(cell)[2:]


def test_irace_calls_by_number_and_splits_lines_without_a_shell():
    switches = {"algorithm": "--", "ants": "--ants  ", "rho": "--rho=", "seed": "-s "}
    cell = Cell(7, 4, CONFIG, 'dir/a.tsp --opt 3 "x y"', 99, instance_index=2)
    assert argv(cell, protocol="irace", switches=switches) == [
        *("5", "3", "99", "dir/a.tsp", "--opt", "3", "x y"),
        *("--as", "--rho=0.00001", "--ants", "10", "-s", "2"),
    ]
    held_out = Cell(0, 4, {"algorithm": "as"}, "b", 99, held_out=True, instance_index=0)
    assert argv(held_out, protocol="irace")[:4] == ["5", "1t", "99", "b"]


def test_the_others_have_their_own_arguments():
    cell = Cell(0, 0, {"p": 0.5, "k": "a b"}, "i 1", 3)
    assert argv(cell, protocol="smac") == ["--instance=i 1", "--seed=3", "--p=0.5", "--k=a b"]
    assert argv(cell, protocol="paramils") == [
        *("i 1", "0", "2147483647", "2147483647", "3", "-p", "0.5", "-k", "a b"),
    ]
    assert argv(cell, protocol="aclib") == [
        *("--instance", "i 1", "--cutoff", "2147483647", "--seed", "3"),
        *("--config", "-p", "0.5", "-k", "a b"),
    ]


def test_places_of_a_command_line_replace_those_of_the_protocol():
    command = Command("echo {instance} -i {candidate} {parameters} {bound}", protocol="irace")
    assert command.argv({"x": 1}, "a b", 7)[1:] == ["a", "b", "-i", "1", "--x", "1", "2147483647"]
    with pytest.raises(SettingError, match=r"\{id\}, which protocol='irace' does not know"):
        Command("echo {id}", protocol="irace")


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1e-5, "0.00001"),
        (0.1 + 0.2, "0.3"),
        (1e15, "1000000000000000"),
        (123456.7890123456, "123456.789012346"),
        (7, "7"),
        (0.0, "0"),
    ],
)
def test_numbers_have_no_exponent_and_15_digits(number, text):
    assert as_fixed(number) == text


@pytest.mark.parametrize("mark", ["$HOME", "a*", "`id`", "a;b", "a|b", "a > b", "~", "b?", "a\nb"])
def test_what_only_a_shell_would_do_is_refused(mark):
    with pytest.raises(ObjectiveError, match="is for a shell"):
        split_line(f"x {mark}", "the instance")
    command = Command([sys.executable], protocol="irace")
    with pytest.raises(ObjectiveError, match="instance 1: the instance"):
        command.check([], ["fine.txt", f"x {mark}"], ())
    assert split_line("x '$HOME *'", "the instance") == ["x", "$HOME *"]
    with pytest.raises(ObjectiveError, match="No closing quotation"):
        split_line("'a", "the instance")


def outcome(protocol, printed, code=0, **settings):
    text = printed.replace("{", "{{").replace("}", "}}")
    script = f"""printf '%s\\n' "$0"; exit {code}"""
    command = Command(["sh", "-c", script, text], protocol=protocol, **settings)
    return evaluate_cell(command, Cell(0, 0, {}, "i", 1), retries=1)


RAN = "Result of this algorithm run: "
CASES = [
    ("irace", "1.5", "ok", 1.5),
    ("irace", "1e3 0.25", "ok", 1000.0),
    ("irace", "Inf", "rejected", None),
    ("irace", "inf 0", "rejected", None),
    ("irace", "-Inf", "invalid", None),
    ("irace", "1 2 3", "invalid", None),
    ("irace", "cost 1", "invalid", None),
    ("irace", "nan", "invalid", None),
    ("aclib", f'x\n{RAN}{{"status": "SUCCESS", "cost": 0.5, "runtime": 2}}', "ok", 0.5),
    ("aclib", f'{RAN}{{"status": "TIMEOUT", "cost": 0.5}}', "timeout", None),
    ("aclib", f'{RAN}{{"status": "SUCCESS"}}', "invalid", None),
    ("aclib", f"{RAN}[1]", "invalid", None),
    ("paramils", "c\nResult for ParamILS: SAT, 1.5, 7, 3, 1234\n", "ok", 3.0),
    ("paramils", "Result for SMAC: CRASHED, 1.5, 7, 3, 1234, more", "failed", None),
    ("paramils", "Result for ParamILS: SAT, 1.5", "invalid", None),
    ("paramils", "Result for ParamILS: WHAT, 1.5, 7, 3, 1", "invalid", None),
    ("smac", "cost=0.25; runtime=1; status=SUCCESS; additional_info=a", "ok", 0.25),
    ("smac", "cost=0.25; status=StatusType.MEMORYOUT", "memory", None),
    ("smac", "0.25", "invalid", None),
]


@pytest.mark.parametrize(("protocol", "printed", "status", "value"), CASES)
def test_what_they_print(protocol, printed, status, value):
    found = outcome(protocol, printed)
    assert (found.status, found.value) == (status, value)
    assert found.attempts == (2 if status in {"invalid", "failed"} else 1)
    if status != "ok":
        assert "\ncommand: " in found.message
        assert printed.split("\n")[0] in found.message


def test_the_cost_may_be_the_run_time():
    line = "Result for ParamILS: UNSAT, 1.5, 7, 3, 1234"
    assert outcome("paramils", line, cost="runtime").value == 1.5
    with pytest.raises(SettingError, match="for runners of aclib"):
        Command("echo", protocol="irace", cost="runtime")
    with pytest.raises(SettingError, match="leave reads out"):
        Command("echo", protocol="irace", reads="last-line")
    with pytest.raises(SettingError, match="protocol='rcae': choose 'irace', 'aclib'"):
        Command("echo", protocol="rcae")


def test_an_exit_code_is_a_failure_whatever_was_printed():
    assert outcome("irace", "1", code=3).status == "failed"


@pytest.mark.parametrize("protocol", [None, *PROTOCOLS])
def test_settings_make_the_same_command_from_anywhere(protocol, tmp_path, monkeypatch):
    command = Command("python3 x", protocol=protocol, cwd=tmp_path)
    monkeypatch.chdir(tmp_path)
    twin = Command(**command.settings)
    assert twin.identity == command.identity
    assert twin.settings == command.settings
    assert command.settings["cwd"] == str(tmp_path)


def test_it_runs_in_its_folder(tmp_path):
    (tmp_path / "cost").write_text("4.5")
    script = "print(open('cost').read())"
    assert Command([sys.executable, "-c", script], cwd=tmp_path)({}, None, 1) == 4.5
    with pytest.raises(SettingError, match="there is no such folder"):
        Command("echo", cwd=tmp_path / "none")
