"""Scenarios: files and settings as arguments of `racer.tune`."""

import importlib
import json
import sys
from pathlib import Path

import jsonschema
import pytest

import racer
from racer.core.arguments import goal_settings
from racer.errors import BudgetError, ObjectiveError, SettingError
from racer.scenario.scenario import Scenario, read_scenario
from racer.scenario.settings import SETTINGS
from racer.scenario.skeleton import SKELETON, as_toml

DOCS = Path(__file__).resolve().parents[2] / "docs"
PARAMETERS = """
alg "--alg " c (as, "a b")
x   "--x="   r (0, 1) | alg == "as"
n   "-n "    i (1, 9)
"""
TOML = """
space = "parameters.txt"
instances = "inst"
command = ["./runner", "{instance}", "{seed}", "{parameters}"]
budget = 300
"""


@pytest.fixture(name="folder")
def _folder(tmp_path):
    (tmp_path / "parameters.txt").write_text(PARAMETERS)
    (tmp_path / "runner").write_text("#!/bin/sh\necho 1\n")
    (tmp_path / "runner").chmod(0o755)
    for name in ("b.tsp", "a 1.tsp", "deep/c.tsp"):
        (tmp_path / "inst" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "inst" / name).touch()
    (tmp_path / "list.txt").write_text("# none\nb.tsp --opt 1 # two\n\nx#y.tsp\n")
    return tmp_path


def scenario(folder, text, name="scenario.toml"):
    (folder / name).write_text(text)
    return read_scenario(str(folder / name))


def test_a_toml_file_is_relative_to_itself(folder):
    found = scenario(folder, TOML + 'decider = "t-race-holm"\nn_jobs = 2\nelites = 2\n').arguments()
    assert found["instances"] == [f"{folder}/inst/{n}" for n in ("a 1.tsp", "b.tsp", "deep/c.tsp")]
    assert found["space"] == racer.Space.from_irace(PARAMETERS)
    assert found["evaluate"].argv({"alg": "as", "x": 0.5, "n": 1}, "i", 3) == [
        *(f"{folder}/runner", "i", "3", "--alg", "as", "--x=0.5", "-n", "1"),
    ]
    assert found["decider"] == racer.deciders.TRace(correction="holm")
    assert (found["budget"], found["n_jobs"], found["search"]) == (
        racer.Budget(evaluations=300),
        2,
        racer.Search(elites=2),
    )
    assert found["store"] == f"{folder}/racer.db"
    assert "initial" not in found


def test_the_same_from_a_scenario_of_irace(folder):
    found = scenario(
        folder,
        'trainInstancesDir = "inst"\ntrainInstancesFile = "list.txt"\ntargetRunner = "runner"\n'
        'maxExperiments = 300\ndigits = 2\nforbiddenFile = "forbidden.txt"\n',
        "scenario.txt",
    )
    (folder / "forbidden.txt").write_text("# no\n(alg == 'as') & (n > 5)\n")
    arguments = found.arguments()
    assert arguments["instances"] == [f"{folder}/inst/b.tsp --opt 1", f"{folder}/inst/x#y.tsp"]
    assert arguments["space"].parameters["x"].digits == 2
    assert len(arguments["space"].forbidden) == 1
    assert arguments["evaluate"].settings["cwd"] == str(folder)
    (folder / "list.txt").unlink()
    with pytest.raises(SettingError, match=r"instances = '.*list.txt' cannot be read: No such"):
        found.arguments()


def test_hidden_files_are_no_instances(folder):
    (folder / "inst" / ".DS_Store").write_text("")
    (folder / "inst" / ".git").mkdir()
    (folder / "inst" / ".git" / "config").write_text("")
    found = scenario(folder, TOML).arguments()["instances"]
    assert found == [f"{folder}/inst/{n}" for n in ("a 1.tsp", "b.tsp", "deep/c.tsp")]


def test_a_line_of_instances_ends_at_a_line_feed_only(folder):
    (folder / "list.txt").write_bytes("a\u2028b.tsp\r\nc\u0085d.tsp # no\n".encode())
    text = TOML.replace('"inst"', '"list.txt"')
    instances = scenario(folder, text).arguments()["instances"]
    assert [line.removeprefix(f"{folder}/") for line in instances] == [
        "a\u2028b.tsp",
        "c\u0085d.tsp",
    ]


def test_files_of_a_folder_stay_one_argument_for_a_runner_of_irace(folder):
    arguments = scenario(folder, TOML + 'protocol = "irace"\n').arguments()
    assert arguments["instances"][0] == f"'{folder}/inst/a 1.tsp'"
    argv = arguments["evaluate"].argv({"n": 2}, arguments["instances"][0], 1)
    assert argv[1] == f"{folder}/inst/a 1.tsp"


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("spcae = 'x'", SettingError, "'spcae' is no setting; did you mean 'space'"),
        ("budget = 'x'", SettingError, "budget = 'x': give a whole number"),
        ("decider = 'f-rase'", SettingError, "did you mean 'f-race'"),
        ("command = 'x'", SettingError, "give a list of text, the program first"),
        ("deterministic = 1", SettingError, "give true or false"),
        ("budget = ", SettingError, "is not TOML"),
        ("", SettingError, "no parameters are named"),
        ("space = 'none.txt'", SettingError, "none.txt': there is no such file"),
        ("space = 'parameters.txt'", SettingError, "no objective: set command"),
        ("space = 'parameters.txt'\ncommand = ['./no']", SettingError, "there is no such file"),
        ("space = 'parameters.txt'\nevaluate = 'no_such:f'", ObjectiveError, "cannot be imported"),
        ("space = 'parameters.txt'\nevaluate = 'f'", SettingError, "give module:function"),
        (TOML.replace("budget = 300", ""), BudgetError, "no budget is named"),
        (TOML + "evaluate = 'a:b'", SettingError, "evaluate and command are both there"),
        (TOML + "cwd = 'none'", SettingError, "there is no such folder"),
        (
            TOML.replace('"inst"', "['a']") + "instances_folder = 'inst'",
            SettingError,
            "instances_folder is for a file of instances, and instances is a list",
        ),
        (
            "space = 'parameters.txt'\nevaluate = 'math:hypot'\nreads = 'json'",
            SettingError,
            "reads is for a command, and evaluate is a function",
        ),
        (
            "space = 'a.json'\ndigits = 2",
            SettingError,
            "digits is for parameter files of irace: leave it out",
        ),
    ],
)
def test_what_cannot_be_used(folder, text, error, said):
    with pytest.raises(error) as caught:
        scenario(folder, text).arguments()
    assert said in str(caught.value)


def test_a_script_from_windows_and_one_that_is_not_executable(folder):
    (folder / "runner").write_bytes(b"#!/bin/sh\r\necho 1\r\n")
    with pytest.raises(SettingError, match="carriage return"):
        scenario(folder, TOML).arguments()
    (folder / "runner").chmod(0o644)
    with pytest.raises(SettingError, match="it is not executable"):
        scenario(folder, TOML).arguments()


def test_a_function_is_imported_from_the_present_folder(folder, monkeypatch):
    (folder / "my_objective.py").write_text("def evaluate(config, instance, seed):\n    return 1\n")
    monkeypatch.chdir(folder)
    text = "space = 'parameters.txt'\nevaluate = 'my_objective:evaluate'\ninstances = [1, 2]\n"
    found = scenario(folder, text + "seconds = 3\n").arguments()
    assert found["evaluate"](None, 1, 1) == 1
    assert found["instances"] == [1, 2]
    assert found["budget"] == racer.Budget(seconds=3)
    del sys.modules["my_objective"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("def f(c, i, s) return 1\n", r"SyntaxError: .* \(my_mistake.py, line 1\)"),
        ("\nf = g\n", r"NameError: name 'g' is not defined \(in <module>, .*my_mistake.py:2\)"),
        ("import sys\nsys.exit(3)\n", r"SystemExit: 3 \(in <module>, .*my_mistake.py:2\)"),
        ("import no_such\n", r"No module named 'no_such' \(in <module>, .*my_mistake.py:1\)"),
        ("g = print\n", r"AttributeError: module 'my_mistake' has no attribute 'f'$"),
    ],
)
def test_a_mistake_in_the_module_of_a_function_is_named_with_its_line(
    tmp_path, monkeypatch, text, why
):
    (tmp_path / "my_mistake.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # the next module may be as old
    importlib.invalidate_caches()
    with pytest.raises(ObjectiveError, match=f"evaluate = 'my_mistake:f' cannot .*: .*{why}"):
        Scenario({"evaluate": "my_mistake:f"}).evaluate(racer.Space({"x": racer.Real(0, 1)}))
    sys.modules.pop("my_mistake", None)


def test_an_interrupt_while_a_module_is_imported_passes(tmp_path, monkeypatch):
    (tmp_path / "my_interrupt.py").write_text("raise KeyboardInterrupt\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        Scenario({"evaluate": "my_interrupt:f"}).evaluate(racer.Space({"x": racer.Real(0, 1)}))


def test_a_module_may_change_the_path_while_it_is_imported(folder, monkeypatch):
    (folder / "my_paths.py").write_text("import sys\nsys.path.insert(0, 'mine')\nf = print\n")
    monkeypatch.chdir(folder)
    before = [*sys.path]
    monkeypatch.setattr(sys, "path", [*before])
    Scenario({"evaluate": "my_paths:f"}).evaluate(racer.Space({"x": racer.Real(0, 1)}))
    assert sys.path == ["mine", *before]
    del sys.modules["my_paths"]


def test_tests_may_come_at_growing_distances(folder):
    text = f"{TOML}each_test = 'growing'\nfirst_test = 8\n"
    given = scenario(folder, text).arguments()
    rules = racer.Tuner(given["space"], budget=90, decider=given["decider"]).rules
    assert (rules.first_test, rules.each_test) == (8, "growing")
    text += "decider = 'f-race'\n"
    expected = racer.deciders.FRace(first_test=8, each_test="growing")
    assert scenario(folder, text).arguments()["decider"] == expected
    with pytest.raises(racer.SettingError, match='give a whole number, or "growing"'):
        scenario(folder, f"{TOML}each_test = 'grow'\n")


def test_what_replaces_what():
    base = Scenario({"budget": 3, "command": ["a"], "protocol": "irace", "seed": 1}, ("note",))
    other = base.updated({"seconds": 2.0, "evaluate": "m:f"}, ("more",))
    assert other == Scenario({"seed": 1, "seconds": 2.0, "evaluate": "m:f"}, ("note", "more"))


def test_a_limit_of_money_stays_when_another_limit_is_given():
    base = Scenario({"budget": 500, "spend": 4.0})
    assert base.updated({"seconds": 9.0}).settings == {"seconds": 9.0, "spend": 4.0}
    assert base.updated({"spend": 1.0}).settings == {"budget": 500, "spend": 1.0}


def test_a_function_does_not_run_in_the_folder_of_the_program_it_replaces():
    base = Scenario({"command": ["a"], "cwd": "/tmp"})
    assert base.updated({"evaluate": "m:f"}).settings == {"evaluate": "m:f"}
    assert base.updated({"command": ["b"]}).settings == {"command": ["b"], "cwd": "/tmp"}


def test_run_times_are_a_limit_or_a_table(tmp_path):
    (tmp_path / "p.txt").write_text('x "-x " r (0, 1)\n')
    begin = 'space = "p.txt"\nbudget = 9\ncommand = ["true", "{bound}", "{parameters}"]\n'
    for text, expected in (
        ("runtime = 2", racer.Runtime(2.0)),
        (
            "[runtime]\nlimit = 2\nslack = 3\nutility = 'log'",
            racer.Runtime(2.0, 3.0, utility="log"),
        ),
    ):
        (tmp_path / "scenario.toml").write_text(begin + text)
        found = read_scenario(str(tmp_path / "scenario.toml")).arguments()
        assert found["goal"] == expected
        assert as_toml({"runtime": {"limit": 2.0}}, [], "x").endswith("runtime = {limit = 2.0}\n")
    (tmp_path / "scenario.toml").write_text(begin + "[runtime]\nslack = 3")
    with pytest.raises(racer.SettingError, match="give seconds, or a table with limit"):
        read_scenario(str(tmp_path / "scenario.toml"))


@pytest.mark.parametrize(
    ("text", "goal"),
    [
        ("", "min"),
        ("goal = 'max'", "max"),
        ("goal = {a = 'max', b = 'min'}", {"a": "max", "b": "min"}),
        (
            "goal = {a = 'max', b = 'min'}\nwithin = {a = 0.1}",
            racer.Within({"a": "max", "b": "min"}, a=0.1),
        ),
        (
            "constrained = {a = ['>=', 2]}\n[goal]\na = {direction = 'max', bounds = [0, 3]}\nb = 'min'",
            racer.Constrained(
                {"a": {"direction": "max", "bounds": [0, 3]}, "b": "min"}, a=(">=", 2.0)
            ),
        ),
        (
            "goal = {a = 'max', b = 'min', c = 'min'}\npareto = ['b', 'c']",
            racer.Pareto({"a": "max", "b": "min", "c": "min"}, "b", "c"),
        ),
    ],
)
def test_a_goal_is_as_in_python(folder, text, goal):
    found = scenario(folder, f"{TOML}{text}\n").arguments()["goal"]
    assert repr(found) == repr(goal)
    assert goal_settings(found).keys() == {"maximize", "metrics", "objective", "runtime"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("runtime = 2\ngoal = 'min'", "runtime beside goal: give one of them"),
        (
            "goal = {a = 'min', b = 'max'}\nwithin = {a = 1}\npareto = ['a', 'b']",
            "pareto beside within",
        ),
    ],
)
def test_parts_of_a_goal_that_do_not_fit_are_refused(folder, text, message):
    with pytest.raises(SettingError, match=message):
        scenario(folder, f"{TOML}{text}\n").arguments()


def test_the_schema_in_the_docs_has_all_settings_and_fits():
    schema = json.loads((DOCS / "scenario.schema.json").read_text(encoding="utf-8"))
    assert schema["properties"].keys() == SETTINGS.keys()
    for name, setting in SETTINGS.items():
        known = schema["properties"][name]
        assert known["description"] == setting.says
        assert known.get("enum", []) == list(setting.choices)
        if setting.least is not None:
            assert known.get("minimum", known.get("exclusiveMinimum")) == setting.least
    jsonschema.validate({"budget": 3, "command": ["a"], "instances": [1]}, schema)
    for right in (
        {"pareto": ["a", "b"]},
        {"goal": "max"},
        {"runtime": {"limit": 3}},
        {"n_jobs": -1},
    ):
        jsonschema.validate(right, schema)
    empty = [{"goal": ""}, {"goal": {}}, {"within": {}}, {"runtime": {}}]
    unknown = [{"budgte": 3}, {"decider": "no"}, {"runtime": {"limit": 3, "per": 10}}]
    for wrong in (*empty, *unknown, {"budget": "3"}, {"n_jobs": 0}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, schema)


def test_what_is_written_is_read_again(folder):
    settings = {"space": 'pa"r\\ä\n', "command": ["a", "{x}"], "budget": 3, "deterministic": True}
    (folder / "s.toml").write_text(as_toml(settings, ["a note"], "s.txt"), encoding="utf-8")
    found = read_scenario(str(folder / "s.toml")).settings
    assert {**found, "space": settings["space"]} == {**settings, "store": f"{folder}/racer.db"}
    assert found["space"].endswith(settings["space"])
    assert "# a note" in (folder / "s.toml").read_text(encoding="utf-8")


def test_the_skeleton_names_only_settings():
    text = SKELETON["scenario.toml"]
    lines = [line.removeprefix("# ").split(" = ")[0] for line in text.splitlines() if " = " in line]
    assert {*lines} <= {*SETTINGS}


def test_exit_codes_of_success(tmp_path):
    (tmp_path / "p.txt").write_text('x "" i (0, 3)\n')
    text = 'space = "p.txt"\ncommand = ["true", "{x}"]\nbudget = 60\nsuccess_codes = '
    (tmp_path / "s.toml").write_text(f"{text}[10, 20]")
    evaluate = read_scenario(str(tmp_path / "s.toml")).arguments()["evaluate"]
    assert evaluate.settings["success_codes"] == [10, 20]
    (tmp_path / "s.toml").write_text(f"{text}[300]")
    with pytest.raises(racer.SettingError, match="a list of exit codes"):
        read_scenario(str(tmp_path / "s.toml"))


def test_the_default_of_a_scenario_is_a_table_of_one(folder):
    space = '--x "" r (0, 1)\n'.replace("--x", "x")
    (folder / "parameters.txt").write_text(space, encoding="utf-8")
    (folder / "default.txt").write_text("x\n0.25\n", encoding="utf-8")
    text = "space = 'parameters.txt'\ndefault = 'default.txt'\n"
    (folder / "s.toml").write_text(text, encoding="utf-8")
    assert read_scenario(str(folder / "s.toml")).space().default == {"x": 0.25}
    (folder / "default.txt").write_text("x\n0.25\n0.5\n", encoding="utf-8")
    with pytest.raises(racer.SettingError, match="2 configurations are in it; give the one in use"):
        read_scenario(str(folder / "s.toml")).space()
