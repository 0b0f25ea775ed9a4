"""Command lines as lists of arguments, and what is refused before anything runs."""

import pickle
import subprocess
import sys
from decimal import Decimal
from enum import StrEnum
from pathlib import Path

import numpy as np
import pytest

import racer
from racer import Command, ObjectiveError, SettingError

PROGRAM = sys.executable


def filled(argv, config, *, instance="i", seed=3, **settings):
    """Return the arguments after the program."""
    return Command([PROGRAM, *argv], **settings).argv(config, instance, seed)[1:]


def test_values_take_their_places():
    argv = ["{a}", "--b={b}", "x{a}y{b}z", "{instance}:{seed}", "plain"]
    assert filled(argv, {"a": 1, "b": "two"}) == ["1", "--b=two", "x1ytwoz", "i:3", "plain"]
    assert filled(["{{a}}", "{{{a}}}", "}}{{"], {"a": 1}) == ["{a}", "{1}", "}{"]  # braces


def test_a_line_of_text_is_split_once():
    command = Command(f"{PROGRAM} -c 'print({{x}})' \"{{x}} {{seed}}\" {{parameters}}")
    assert command.argv({"x": "a b", "y": "c 'd"}, None, 7) == [
        *(PROGRAM, "-c", "print(a b)", "a b 7", "--y=c 'd")
    ]


class Colour(StrEnum):
    RED = "red"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("", ""),
        (0.1, "0.1"),
        (1e-30, "1e-30"),
        (True, "True"),
        (np.float64(0.1), "0.1"),
        (np.float32(0.1), "0.1"),
        (np.int64(3), "3"),
        (np.str_("s"), "s"),
        (np.bool_(True), "True"),
        (Decimal("1.10"), "1.10"),
        (Colour.RED, "red"),
        (Path("a/b c"), "a/b c"),
        (b"\xff", "\udcff"),
    ],
    ids=repr,
)
def test_how_values_are_written(value, text):
    assert filled(["{x}"], {"x": value}) == [text]


def test_a_number_that_is_written_is_the_number():
    for value in np.random.default_rng(0).normal(size=100):
        assert float(filled(["{x}"], {"x": value})[0]) == value


def test_parameters_become_options_by_their_switches():
    config = {"a": 1, "b": "x y", "c": "on", "d": 4, "e": 5}
    switches = {"b": "-b ", "c": "", "d": "--dd=", "unused": "-u "}
    argv = ["{instance}", "{parameters}", "{e}"]
    assert filled(argv, config, switches=switches) == [
        *("i", "--a=1", "-b", "x y", "on", "--dd=4", "5")
    ]
    assert filled(["{parameters}"], {}) == []


def test_what_a_configuration_does_not_have_is_left_out():
    argv = ["--a={a}", "--b={b}", "{parameters}"]
    assert filled(argv, {"b": 2}) == ["--b=2"]
    assert filled(argv, {"a": 1, "c": 3}) == ["--a=1", "--c=3"]
    for argv in (["--b", "{b}"], ["--b", "{b}", "{a}"]):
        with pytest.raises(ObjectiveError, match=r"no 'b' .*'--b=\{b\}'"):
            filled(argv, {"a": 1})
    with pytest.raises(ObjectiveError, match="no 'solver'"):  # nor a program
        Command(["bin/{solver}", "x"]).argv({}, None, 1)


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["", "x"], "program of the command is empty"),
        (b"ls", "give a program"),
        ("'", "cannot be split: No closing quotation"),
        ([PROGRAM, "x}"], r"has '\}' at 1"),
        ([PROGRAM, "{a{b}}"], r"has '\{' at 0"),
        ([PROGRAM, "x{parameters}"], "stands for whole arguments"),
        ([PROGRAM, "{parameters}", "{parameters}"], "more than once"),
    ],
    ids=repr,
)
def test_lines_that_cannot_be_read(argv, message):
    with pytest.raises(SettingError, match=message):
        Command(argv)


def test_switches_without_parameters_would_do_nothing():
    with pytest.raises(SettingError, match="which the command does not have"):
        Command([PROGRAM, "{x}"], switches={"x": "-x "})


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("no-such-program-anywhere", "no such program on PATH"),
        ("./missing", "there is no such file"),
        ("./folder", "it is a directory"),
        ("./plain", r"it is not executable \(chmod \+x"),
        ("plain", r"it is not executable \(chmod \+x"),
        ("run", r"not on PATH \(a file of that name is here: write './run'\)"),
    ],
)
def test_a_program_that_cannot_be_run_is_refused_at_once(tmp_path, monkeypatch, name, why):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    for file in ("plain", "run"):
        (tmp_path / file).write_text("#!/bin/sh\necho 1\n", encoding="utf-8")
    (tmp_path / "run").chmod(0o755)
    with pytest.raises(SettingError, match=why):
        Command([name, "{x}"])
    with pytest.raises(ObjectiveError, match=f"candidate 0.*{why}"):
        racer.race([{"x": name}, {"x": "./run"}], Command(["{x}"]), [1], budget=10)


def never(*argv):
    return Command([PROGRAM, "-c", "raise SystemExit('it ran')", *argv])


@pytest.mark.parametrize(
    ("argv", "candidates", "instances", "message"),
    [
        (["{y}"], [{"x": 1}, {"x": 2}], [1], r"has \{y\}, which no candidate has"),
        (["{x:.2f}"], [{"x": 1.0}], [1], r"values are written in full, so write \{x\}"),
        (["--y={speed}"], [{"sped": 1}, {"sped": 2}], [1], "did you mean 'sped'"),
        (["{x}"], [{"x": 1}, {"y": 2}], [1], "candidate 1: there is no 'x'"),
        (["{x}"], [{"x": 1}, {"x": [2]}], [1], r"candidate 1: parameter 'x' is \[2\], a list"),
        (["{x}"], [{"x": 1}, {"x": "a\0"}], [1], "candidate 1: .* NUL"),
        (["{x}"], [{"x": 1}, {"x": "\ud800"}], [1], "candidate 1: .* not text"),
        (["{x}"], [1, 2], [1], "candidate 0: 1 is an int: a command takes mappings"),
        (["{x}"], [{"x": 1, "seed": 2}], [1], "called 'seed', which means something else"),
        (["{x}"], [{"x": 1, 3: 2}], [1], "3 is not the name"),
        (["{instance}"], [{"x": 1}, {"x": 2}], None, "there are no instances"),
        (["{instance}"], [{"x": 1}, {"x": 2}], [1, {}], "instance 1 is {}, a dict"),
    ],
)
def test_what_cannot_be_put_on_the_line_is_refused_before_the_race(
    argv, candidates, instances, message
):
    with pytest.raises(ObjectiveError, match=message):
        racer.race(candidates, never(*argv), instances, budget=100)


def test_bound_is_a_parameter_of_all_candidates_or_of_none():
    command = never("{bound}", "{parameters}")
    command.check([{"x": 1}, {"x": 2}], [1], None)
    command.check([{"bound": 1}, {"bound": 2}], [1])
    for configs, more in (([{"bound": 1}, {}], ()), ([{}, {}], ("bound",))):
        with pytest.raises(ObjectiveError, match=r"candidate [01] has no parameter 'bound'"):
            command.check(configs, [1], more)


def test_exit_codes_must_be_readable():
    code = """
import signal, racer

signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for call in (
    lambda: racer.race([{"x": 1}, {"x": 2}], racer.Command("false {x}"), budget=20),
    lambda: racer.bench(["false", "true"], rounds=2),
):
    try:
        call()
    except racer.SettingError as error:
        print(error)
"""
    ran = subprocess.run([PROGRAM, "-c", code], check=True, capture_output=True, text=True)
    assert ran.stdout.count("SIGCHLD is ignored in this process") == 2, ran.stdout


def test_parameters_without_a_place_are_told_once_before_the_race(tmp_path):
    mark = tmp_path / "ran"
    argv = [PROGRAM, "-c", f"open({str(mark)!r}, 'w'); print(1)", "{x}"]
    pool = [{"x": 1, "beta": 2, "alpha": 3}, {"x": 2}]
    message = r"no place for 'alpha', 'beta': .* add \{parameters\} or \{alpha\}"
    with pytest.raises(racer.RacerWarning, match=message):  # an error here
        racer.race(pool, Command(argv), racer.Instances([1], deterministic=True), budget=2)
    assert not mark.exists()
    with pytest.warns(racer.RacerWarning, match=message) as told:
        racer.race(pool, Command(argv), racer.Instances([1], deterministic=True), budget=2)
    assert sum("no place" in str(warning.message) for warning in told) == 1


def test_a_parameter_of_the_space_without_a_place_is_told():
    space = racer.Space({"x": racer.Real(0, 1), "y": racer.Real(0, 1)})
    with pytest.raises(racer.RacerWarning, match=r"no place for 'y': .* or \{y\}"):
        racer.tune(space, never("{x}"), [1, 2], budget=300)
    never("{parameters}").check([{"x": 1}], None, space.parameters)
    never("{x}", "--y={y}").check([{"x": 1}], None, space.parameters)


def test_several_instances_without_a_place_are_warned_of():
    pool, message = [{"x": 1}], r"no place for the instance: .* which of the 2 .* add \{instance\}"
    with pytest.raises(racer.RacerWarning, match=message):
        never("{x}", "{seed}").check(pool, ["a", "b"])
    runner = Command([PROGRAM, "{candidate}", "{seed}", "{parameters}"], protocol="irace")
    with pytest.raises(racer.RacerWarning, match=message):
        runner.check(pool, ["a", "b"])
    with pytest.raises(racer.RacerWarning, match=message):
        never("{x}").check(pool, range(2))
    for counted in (range(2), [None, None]):  # of seeds
        never("{x}", "{seed}").check(pool, counted)
    never("{x}").check(pool, ["a"])  # no two to tell apart
    never("{x}").check(pool, None)
    never("{x}", "--on={instance}").check(pool, ["a", "b"])
    Command([PROGRAM], protocol="irace").check(pool, ["a", "b"])
    Command([PROGRAM, "{instance_id}", "{parameters}"], protocol="aclib").check(pool, ["a", "b"])


def test_a_switch_of_no_parameter_is_refused():
    command = Command([PROGRAM, "{parameters}"], switches={"speed": "-s "})
    with pytest.raises(ObjectiveError, match="switches name 'speed', which no candidate has"):
        command.check([{"x": 1}], None)


def test_instances_that_the_line_does_not_name_may_be_anything():
    command = Command([PROGRAM, "{x}"])
    command.check([{"x": 1}], [object()])
    command.check([{"x": 1}], None)


def test_the_switches_of_an_irace_file_fit(tmp_path):
    file = tmp_path / "parameters.txt"
    file.write_text('alg "--" c (as,mmas)\nants "--ants " i (5,100)\n', encoding="utf-8")
    space = racer.Space.read_irace(file)
    command = Command([PROGRAM, "{instance}", "{parameters}"], switches=space.switches)
    assert command.argv({"alg": "as", "ants": 7}, "tsp", 1)[1:] == ["tsp", "--as", "--ants", "7"]


def test_a_copy_does_the_same():
    command = Command([PROGRAM, "-c", "print({x})", "{parameters}"], switches={"y": "-y "})
    copy = pickle.loads(pickle.dumps(command))
    assert repr(copy) == repr(command)
    assert copy({"x": 2.5, "y": 1}, None, 0) == 2.5


def test_a_relative_program_stays_the_one_it_was(tmp_path, monkeypatch):
    (tmp_path / "run").write_text("#!/bin/sh\necho 4\n", encoding="utf-8")
    (tmp_path / "run").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    command = Command("./run")
    monkeypatch.chdir("/")
    assert command({}, None, 0) == 4


def test_identity_leaves_out_the_folder_of_the_program():
    names = {Command([path, "{x}"]).identity for path in ("sh", "/bin/sh")}
    assert names == {"racer.Command(['sh', '{x}'], reads='stdout')"}


def test_exit_codes_of_success():
    """SAT solvers end with 10 or 20, and with 0 where they have found nothing out."""
    evaluate = racer.Command(["sh", "-c", "echo 3; exit $0", "{x}"], success_codes=(20, 10, 10))
    assert [evaluate({"x": x}, None, 1) for x in (10, 20)] == [3.0, 3.0]
    result = racer.race([{"x": 10}, {"x": 0}], evaluate, budget=12, seed=1)
    assert result.best == {"x": 10}
    assert set(result.failures["status"]) == {"failed"}
    assert evaluate.settings["success_codes"] == [10, 20]
    assert racer.Command(**evaluate.settings).identity == evaluate.identity
    assert "success_codes" not in racer.Command("true").settings
