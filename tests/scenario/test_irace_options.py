"""Each option of irace is mapped, ignored with a note, or refused with the way out."""

import pytest

from racer.errors import SettingError
from racer.scenario.irace_options import OPTIONS, from_irace

PLACES = ["{candidate}", "{instance_id}", "{seed}", "{instance}"]


def settings(**options):
    return from_irace({name: (value, 1) for name, value in options.items()}, "scenario.txt")


def test_defaults_are_those_of_irace():
    found, notes = settings(maxExperiments=1000)
    assert found == {
        "space": "./parameters.txt",
        "cwd": "./",
        "instances": "./Instances",
        "command": ["./target-runner", *PLACES, "{parameters}"],
        "protocol": "irace",
        "budget": 1000,
    }
    assert notes == []


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (
            {"trainInstancesDir": "d", "trainInstancesFile": "f"},
            {"instances": "f", "instances_folder": "d"},
        ),
        ({"trainInstancesFile": "f"}, {"instances": "f", "instances_folder": "./Instances"}),
        ({"testInstancesFile": "f"}, {"held_out": "f", "instances": "./Instances"}),
        ({"testInstancesDir": "d"}, {"held_out": "d"}),
        ({"testType": "t-test-holm"}, {"decider": "t-race-holm"}),
        ({"testType": "F-test"}, {"decider": "f-race"}),
        ({"deterministic": "0"}, {"deterministic": False}),
        ({"sampleInstances": 0}, {"order": "given"}),
        ({"parallel": 0}, {"n_jobs": 1}),
        ({"parallel": "8"}, {"n_jobs": 8}),
        ({"maxTime": 3600}, {"seconds": 3600.0}),
        ({"minNbSurvival": 3}, {"elites": 3}),
        ({"logFile": "./out/irace.Rdata"}, {"store": "./out/irace.db"}),
        ({"logFile": "s1.db"}, {"store": "s1.db"}),
        ({"logFile": "s1.db.Rdata"}, {"store": "s1.db"}),
        ({"aclib": 1, "targetRunner": "w"}, {"command": ["./w"], "protocol": "aclib"}),
        ({"boundMax": 10}, {"command": ["./target-runner", *PLACES, "10", "{parameters}"]}),
        (
            {"capping": 1, "boundMax": "10", "boundPar": 10, "testType": "F-test"},
            {
                "command": ["./target-runner", *PLACES, "{bound}", "{parameters}"],
                "runtime": {"limit": 10.0, "par": 10.0},
                "decider": "f-race-last-sign",
            },
        ),
        ({"capping": True, "boundMax": 10}, {"runtime": {"limit": 10.0, "par": 1.0}}),
        (
            {"targetRunnerLauncher": "python3", "targetRunner": "a.py"},
            {"command": ["python3", "./a.py", *PLACES, "{parameters}"]},
        ),
        (
            {"targetCmdline": "-s {seed} -i {instance} {targetRunnerArgs} {x}"},
            {"command": [*("./target-runner", "-s", "{seed}", "-i", "{instance}", "{parameters}", "{{x}}")]},
        ),
        (
            {
                "targetRunnerLauncher": "./my sh",
                "targetRunner": "a b/run",
                "targetCmdline": "'-c d' -f={targetRunner} {seed}",
            },
            {"command": ["./my sh", "-c d", "-f=a b/run", "{seed}"]},
        ),
    ],
)  # fmt: skip
def test_what_is_mapped(options, expected):
    found, _ = settings(**options)
    assert {name: found[name] for name in expected} == expected


def test_arguments_with_a_quote_that_does_not_end():
    with pytest.raises(SettingError, match=r"scenario.txt: the arguments .* No closing quotation"):
        settings(targetCmdline="-c 'd {seed}")


def test_capping_needs_a_limit():
    with pytest.raises(SettingError, match="capping = 1 needs boundMax"):
        settings(capping=1)


def test_what_is_ignored_says_so_unless_it_changes_nothing():
    _, notes = settings(nbIterations=5, mu=5, elitist=1, postselection=0.1)
    assert len(notes) == 2
    assert notes[0].startswith("scenario.txt, line 1: nbIterations = 5 is ignored: racer plans")


@pytest.mark.parametrize("name", [name for name, option in OPTIONS.items() if option.refused])
def test_what_is_refused_names_the_way_out(name):
    value = 0 if name == "elitist" else "x"
    with pytest.raises(SettingError) as caught:
        settings(**{name: value})
    assert OPTIONS[name].refused in str(caught.value)


def test_no_folder_is_no_default_folder():
    found, _ = settings(trainInstancesDir="")
    assert "instances" not in found
    found, _ = settings(trainInstancesDir="", trainInstancesFile="f")
    assert (found["instances"], "instances_folder" in found) == ("f", False)


def test_variables_of_the_users_own_begin_with_a_dot():
    assert settings(**{".anything": 3}) == settings()


def test_what_is_misspelt_or_no_number():
    with pytest.raises(SettingError, match=r"line 1: 'maxExperiment' is no option.*maxExperiments"):
        settings(maxExperiment=3)
    with pytest.raises(SettingError, match=r"maxExperiments = 'many': give a whole number"):
        settings(maxExperiments="many")
    with pytest.raises(SettingError, match=r"testType = 'z': give one of f-test"):
        settings(testType="z")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("boundMax", [5, 6], r"line 1: boundMax = c\(5, 6\): give one value"),
        ("execDir", ["a", True], r"line 1: execDir = c\('a', TRUE\): give one value"),
        ("testType", ["f-test", float("nan")], r"c\('f-test', NA\): give one value"),
        ("logFile", 100000, "line 1: logFile = 100000: give text, in quotes"),
        ("boundMax", "much", "boundMax = 'much': give a number"),
        ("testType", True, "testType = TRUE: give one of"),
        ("elitist", False, "line 1: elitist = FALSE cannot be used"),
    ],
)
def test_values_of_a_kind_that_the_option_does_not_take(name, value, message):
    with pytest.raises(SettingError, match=message):
        settings(**{name: value})


def test_each_option_does_one_thing():
    for name, option in OPTIONS.items():
        assert sum(map(bool, (option.becomes, option.ignored, option.refused))) == 1, name
