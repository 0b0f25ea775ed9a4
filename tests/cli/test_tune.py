"""`racer tune`, `check-scenario`, `init`, `import-irace`, as typed."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
from typed import program
from typed import typed as said

import racer
from racer.cli import main
from racer.scenario.irace_options import OPTIONS

PARAMETERS = 'x "-x " i (0, 9)\nk "-k " c (a, b)\n'
RUNNER = """#!/bin/sh
while [ $# -gt 1 ]; do [ "$1" = -x ] && x=$2; shift; done
[ "$x" = 9 ] && echo Inf || echo "$((($x - 3) * ($x - 3)))"
"""


@pytest.fixture(name="folder")
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "parameters.txt").write_text(PARAMETERS)
    program(tmp_path / "target-runner", RUNNER)
    (tmp_path / "Instances").mkdir()
    for name in "ab":
        (tmp_path / "Instances" / name).touch()
    return tmp_path


def test_a_scenario_of_irace_as_it_is(folder):
    (folder / "scenario.txt").write_text(
        "maxExperiments = 30\nfirstTest = 2\nnbIterations = 3\nseed = 1\ndeterministic = 0\n"
    )
    done = said("tune", "scenario.txt", "--json", "-q", exits=0)
    assert "racer: scenario.txt, line 3: nbIterations = 3 is ignored" in done.stderr
    answer = json.loads(done.stdout)
    assert (answer["best"]["x"], answer["evaluations"]) == (3, 30)
    words = answer["survivors"][0]["command"].split()
    assert words[:5] == [
        *(f"{folder}/target-runner", "{candidate}", "{instance_id}", "{seed}", "{instance}"),
    ]
    again = said("tune", "--max-experiments", 34, "--parallel", 2, "--json", "-q")
    assert json.loads(again.stdout)["evaluations"] == 34, again.output
    (folder / "parameters.txt").write_text(PARAMETERS.replace("(0, 9)", "(0, 8)"))
    changed = said("tune", "--max-experiments", 34, "-q", exits=1)
    assert "'high': 8" in changed.stderr
    assert "'high': 9" in changed.stderr


def test_initial_configurations_of_earlier_stores_and_tables(folder):
    (folder / "scenario.txt").write_text("maxExperiments = 24\nfirstTest = 2\nseed = 1\n")
    assert said("tune", "-q").exit_code == 0
    (folder / "table.txt").write_text("x k\n0 b\n")
    words = ("--initial", "racer.db", "--initial", "table.txt", "--store", "new.db")
    said("tune", "-q", "--seed", 2, *words, exits=0)
    result, old = racer.load("new.db"), racer.load("racer.db")
    assert result.configs[:2] == ({"x": 0, "k": "b"}, old.best)
    given = 1 + len(old.survivors)
    assert [o.initial for o in result.origins[: given + 1]] == [True] * given + [False]
    (folder / "scenario.toml").write_text(
        "space = 'parameters.txt'\ninitial = ['racer.db', 'table.txt']\nfirst_test = 2\n"
    )
    (folder / "scenario.txt").unlink()
    words = ("--target-runner", "target-runner", "--instances", "Instances", "--budget", 24)
    assert said("tune", "-q", "--seed", 2, "--store", "new.db", *words).exit_code == 0


def test_without_a_scenario_a_program_after_two_dashes(folder):
    words = ("--space", "parameters.txt", "--instances", "Instances", "--budget", 24, "--seed", 1)
    words = (*words, "--first-test", 2, "-q", "--store", "")
    done = said(
        "tune", *words, "--", "sh", "-c", 'echo "$(($1 + 1))"', "-x", "{x}", "--k={k}", exits=0
    )
    assert re.match(r"(Best so far: )?#\d+", done.stdout)
    assert re.search(r"^ x +0$", done.stdout, re.MULTILINE)
    assert not (folder / "racer.db").exists()


def test_check_scenario_runs_a_few_and_names_what_fails(folder):
    (folder / "scenario.txt").write_text('maxExperiments = 90\nconfigurationsFile = "c.txt"\n')
    (folder / "c.txt").write_text("x k\n1 a\n9 b\n")
    done = said("check-scenario", exits=0)
    for line in (
        "2 parameters, 2 instances",
        "the least budget is 10 evaluations",
        "initial configuration 1: ",
        "  cost 4, in ",
        "  REJECTED, in ",
        "random configuration 4: ",
        "The scenario can be used.",
    ):
        assert line in done.stdout
    (folder / "target-runner").write_text("#!/bin/sh\necho words\nexit 3\n")
    done = said("check-scenario", "--seed", 1, exits=1)
    assert "FAILED, in " in done.stdout
    assert "exited with code 3" in done.stdout
    assert "stdout: words" in done.stdout
    assert "4 of the evaluations failed." in done.stderr


def test_check_scenario_shows_the_metrics_of_a_program(folder):
    (folder / "scenario.toml").write_text(
        'space = "parameters.txt"\nbudget = 90\nreads = "json"\ngoal = {error = "min"}\n'
        """command = ["sh", "-c", "echo '{{\\"error\\": 2}}'", "{parameters}"]\n"""
    )
    done = said("check-scenario", exits=0)
    assert "  {'error': 2.0}, in " in done.stdout


def test_the_command_that_shows_a_result_again_can_be_pasted_into_a_shell(folder):
    words = ("--space", "parameters.txt", "--budget", 20, "--seed", 1, "-q")
    done = said("tune", *words, "--store", "it's one.db", "--", "printf", "%s%s", "{x}", "{seed}")
    assert done.exit_code in {0, 3}, done.output
    *_, last = done.stderr.splitlines()
    command = last.partition("; ")[2].removesuffix(" shows it again")
    assert shlex.split(command) == ["racer", "show", str(folder / "it's one.db")]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device")
def test_a_standard_error_that_cannot_be_written_changes_neither_answer_nor_exit_code(folder):
    """The command has no place for k: that would be a warning."""
    words = ("--space", "parameters.txt", "--budget", 20, "--seed", 1, "--store", "")
    words = ("tune", *words, "--", "printf", "%s%s", "{x}", "{seed}")
    command = [sys.executable, "-m", "racer", *map(str, words)]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=full, text=True, check=False)
    expected = said(*words)
    assert "has no place for 'k'" in expected.stderr
    assert done.returncode == expected.exit_code
    time = r", [\d.]+ s(?=\. Repeat)"  # of evaluation, which a busy machine needs more of
    shown, whole = (re.sub(time, "", " ".join(o.split())) for o in (done.stdout, expected.stdout))
    assert shown == whole


def test_an_object_with_a_key_twice_is_refused(folder):
    done = said("tune", "--goal", '{"error": "min", "error": "max"}', "--budget", 20, exits=2)
    assert "the key 'error' is there twice" in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--goal", "err", 'goal = \'err\': give "min", "max", or a table'),
        ("--goal", "err=min,e", "'e' has no direction; give error=min,accuracy=max"),
        ("--within", "err", "'err': give error=0.01, or error<=0.2"),
        ("--within", "err=0.1", "within needs the direction of each metric"),
        ("--goal", "err=min,err=max", "'err' is there twice; give error=min"),
        ("--success-codes", "a", "'a': give exit codes, 10,20"),
        ("--success-codes", "0,,1", "'0,,1': give exit codes"),
        ("--n-jobs", "0", "n_jobs = 0: give a whole number from 1 to 10000, or -1"),
        ("--instances-folder", "none", "none': there is no such folder"),
        ("--held-out-folder", "none", "none': there is no such folder"),
    ],
)
@pytest.mark.parametrize("command", ["tune", "check-scenario"])
def test_options_that_cannot_be_used_are_refused_before_anything(
    folder, command, option, value, message
):
    (folder / "list.txt").write_text("a\n")
    words = ("--space", "parameters.txt", "--instances", "list.txt", "--held-out", "list.txt")
    words = (*words, "--store", "new.db", "--budget", 60, option, value)
    done = said(command, *words, "--", "printf", "%s", "{x}", exits=2)
    assert message in " ".join(done.stderr.split())
    assert not list(folder.glob("new.db*"))


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--jobs", "No such option: --jobs; give --n-jobs"),
        ("--metrics", "No such option: --metrics; give --goal, of several metrics"),
        ("--objective", "No such option: --objective; give --pareto, within or constrained"),
        ("--instance-order", "No such option: --instance-order; give --order"),
        ("--test-instances", "No such option: --test-instances; give --held-out"),
        ("--random-state", "No such option: --random-state; give --seed"),
        ("--budgte", "did you mean 'budget'?"),
    ],
)
def test_an_old_option_or_one_of_others_is_answered_with_ours(option, message):
    assert message in " ".join(said("tune", option, "1", exits=2).stderr.split())


WRONG = [
    *(("--budget", 0), ("--n-jobs", 0), ("--elites", 0), ("--seed", -1), ("--seconds", "nan")),
    *(
        ("--success-codes", 300),
        ("--budget", 3),
        ("--decider", "constrained"),
        ("--max-experiments", -1),
    ),
    *(("--protocol", "smac", "--reads", "json"), ("--command", "./nothing {x}")),
]


@pytest.mark.parametrize("is_in_file", [False, True])
@pytest.mark.parametrize("option", WRONG, ids=lambda option: option[0])
def test_a_wrong_value_is_wrong_usage(folder, option, is_in_file):
    words = ("--space", "parameters.txt", "--budget", 60, "--command", "printf 1")
    if is_in_file:
        text = "space = 'parameters.txt'\nbudget = 60\ncommand = ['printf', '1']\n"
        (folder / "scenario.toml").write_text(text)
        words = ()
    said("tune", *words, *option, exits=2)
    assert not list(folder.glob("*.db"))


@pytest.mark.parametrize("command", ["import-irace", "check-scenario"])
def test_a_file_that_is_not_there_is_wrong_usage(folder, command):
    done = said(command, "none.txt")
    assert (done.exit_code, "'none.txt'" in done.stderr) == (2, True)


def test_names_of_folders_and_commands_do_not_change_that(tmp_path, monkeypatch):
    (tmp_path / "jobs").mkdir()
    monkeypatch.chdir(tmp_path / "jobs")
    Path("scenario.txt").write_text("maxExperiments = 'many'\n")
    for words in (["tune", "--n-jobs", 1], ["tune", "-q"], ["import-irace"]):
        assert said(*words, Path("scenario.txt").absolute()).exit_code == 2


def test_a_file_of_parameters_that_cannot_be_read_is_an_error(folder):
    (folder / "parameters.txt").write_text('x "" r (1, oops)\n')
    done = said("tune", "--space", "parameters.txt", "--budget", 60, "--", "echo", "{x}")
    assert (done.exit_code, "line 1, column" in done.stderr) == (1, True)


def test_test_elites_without_test_instances_are_refused_but_in_files_of_irace(folder):
    words = ("--space", "parameters.txt", "--budget", 20, "--test-elites", 3, "--", "echo", "{x}")
    done = said("check-scenario", *words, exits=2)
    assert (
        "--test-elites 3 without held-out instances: give --held-out, or leave it out"
        in done.stderr
    )
    text = "space = 'parameters.txt'\nbudget = 20\ncommand = ['echo', '{x}']\ntest_elites = 3\n"
    (folder / "scenario.toml").write_text(text)
    done = said("check-scenario", exits=2)
    assert "--test-elites 3 without held-out instances: give --held-out" in done.stderr
    (folder / "scenario.txt").write_text("maxExperiments = 20\ntestNbElites = 3\nfirstTest = 2\n")
    done = said("check-scenario", "scenario.txt", exits=0)
    assert "testNbElites is ignored: there are no test instances" in done.output


def test_errors_of_a_store_are_in_the_words_of_a_scenario(folder):
    """Values are reworded, not whatever looks like one of them: as the name of the store does."""
    program(folder / "solver", "#!/bin/sh\necho 1\n")
    store = "Runtime(limit=5.0, old).db"
    words = ("--space", "parameters.txt", "--instances", "Instances", "--first-test", 2)
    words = (*words, "--command", "./solver {parameters}", "--store", store)
    low = said("tune", *words, "--seed", 1, "--runtime", 5, "--budget", 3, exits=2)
    assert "recorded in" not in low.stderr
    done = said("tune", *words, "--seed", 1, "--runtime", 5, "--budget", 20, "-q")
    assert done.exit_code in {0, 3}
    for given, is_other in (
        (("--seed", 1, "--runtime", 6), "runtime is Runtime(limit=6.0"),
        (("--seed", 1, "--runtime", "{limit = 5, par = 9}"), "par=9"),
        (("--seed", 1), "the race in '{}' was begun with another goal: Runtime(limit=5.0"),
        (("--seed", 2, "--runtime", 5), "seed is 2, but the race in '{}' has 1"),
    ):
        other = said("tune", *words, *given, "--budget", 30, exits=1)
        assert is_other.format(store) in other.stderr.replace(f"{folder}/", "")
        end = ': give that, or another store: --store new.db, or store = "new.db" in the scenario'
        assert other.stderr.rstrip().endswith(end)


@pytest.mark.parametrize(
    ("text", "options", "advice"),
    [
        ("echo 1; exit 3", "", "if exit code 3 is a success, add --success-codes 0,3"),
        ("echo 1", "--success-codes 3", "if exit code 0 is a success, add --success-codes 0"),
        ("echo SATISFIABLE; exit 10", "", "add --reads nothing --runtime 60"),
        ("exit 10", "", "add --success-codes 10,20 --reads nothing --runtime 60"),
        ("echo v 0; exit 20", "--runtime 5", "add --reads nothing"),
        ("echo log; echo 2; exit 20", "", "add --success-codes 10,20 --reads last-line"),
        ("echo time: 3; echo cost: 2; echo end: 9; echo bye", "", "add --reads cost:"),
        ("echo best found = 2; echo bye", "", "add --reads 'best found ='"),
        ("""echo '{"error": 2}'""", "", "add --reads json"),
        ("""echo '{"error": 2, "k": 1}'""", "", "add --reads json --goal error=min"),
        ("""echo '{"error": 2, "k": 1}'""", "--reads json", "give --goal error=min"),
        ("echo 1; echo 2", "--reads nothing", "add --reads last-line"),
    ],
)
def test_the_first_error_of_a_program_names_the_options_with_which_it_works(
    folder, text, options, advice
):
    program(folder / "solver", f"#!/bin/sh\n{text}\n")
    words = ("--space", "parameters.txt", "--budget", 20, "--seed", 1, "--store", "")
    given, end = shlex.split(options), ("--", "./solver", "{parameters}", "{seed}", "{instance}")
    words = (*words, "--instances", "Instances", *given)
    done = said("tune", *words, *end, exits=1)
    first = done.stderr.partition("\ncommand: ")[0]
    assert advice in first
    added = shlex.split(re.search(r"(?:add|give) (--.*?)(?:$|, )", first)[1])
    assert "evaluations" in said("tune", *words, *added, *end).stdout
    assert advice in said("check-scenario", *words, *end, exits=1).stdout


def test_a_solver_of_sat_and_a_crash_need_no_option(folder):
    words = ("--space", "parameters.txt", "--budget", 20, "--store", "", "-q", "--", "./solver")
    program(folder / "solver", "#!/bin/sh\necho $2; exit $((10 + 10 * ($2 % 2)))\n")
    assert "20 evaluations" in said("tune", *words, "-x", "{x}", "{k}").stdout
    program(folder / "solver", "#!/bin/sh\necho no such option >&2; exit 2\n")
    done = said("tune", *words, "{x}", "{k}", exits=1)
    assert "add --" not in done.stderr


def test_options_of_irace_are_merged_with_its_scenario(folder):
    (folder / "list.txt").write_text("a\nmissing --x 3\n")
    (folder / "deep").mkdir()
    (folder / "deep" / "scenario.txt").write_text(
        'parameterFile = "../parameters.txt"\ntrainInstancesFile = "../list.txt"\nmaxTime = 3\n'
        'targetRunnerLauncher = "sh"\n'
    )
    flags = ("--train-instances-dir", "Instances", "--target-runner", "target-runner")
    done = said("check-scenario", "deep/scenario.txt", *flags, "--max-experiments", 90, exits=0)
    assert (
        f"note: instances that are not files: 1, such as '{folder}/Instances/missing'"
        in done.stdout
    )
    line = next(text for text in done.stdout.splitlines() if text.startswith("random"))
    assert f": sh {folder}/target-runner 1 1 " in line
    assert f" {folder}/Instances/a -x " in line


def test_values_of_irace_that_change_nothing_are_none_on_the_command_line(folder):
    (folder / "scenario.txt").write_text("maxExperiments = 20\nfirstTest = 2\nseed = 1\n")
    flags = ("mpi", "max-time", "min-survival", "test-num-elites", "target-runner-timeout")
    zeros = [word for flag in (*flags, "aclib", "iterations") for word in (f"--{flag}", 0)]
    done = said("tune", "-q", "--elitist", 1, *zeros, "--store", "", exits=0)
    assert done.stderr == ""
    refused = said("tune", "-q", "--elitist", 0)
    assert "the options: elitist = 0 cannot be used" in refused.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--default none.txt -- echo {x}", "default = '.*none.txt': there is no such file"),
        ("--initial none.txt -- echo {x}", "initial = '.*none.txt': there is no such file"),
        ("--forbidden none.txt -- echo {x}", "forbidden = '.*none.txt': there is no such file"),
        ("-- echo {x} {y}", r"has \{y\}, which no candidate has"),
    ],
)
def test_what_is_not_there_is_a_wrong_setting(folder, words, message):
    done = said("tune", "--space", "parameters.txt", "--budget", 60, *words.split(), exits=2)
    assert re.search(message, done.stderr)


def test_wrong_usage_and_no_best(folder):
    (folder / "deep").mkdir()
    (folder / "deep" / "empty").touch()
    for words, message in (
        (("--budget", 90), "there is no scenario.toml or scenario.txt here"),
        (("--budgte", 3), "--budgte"),
        (("deep/empty",), "empty: its parameter file"),
        (("--space", "parameters.txt", "--budget", 100), "-- ./program {parameters}"),
    ):
        done = said("tune", *words, exits=2)
        assert message in done.stderr
    (folder / "scenario.txt").write_text("maxExperiments = 20\nfirstTest = 2\n")
    done = said("tune", "--batchmode", "sge", exits=2)
    assert "batchmode = 'sge' cannot be used" in done.stderr
    program(folder / "target-runner", "#!/bin/sh\necho 1\n")
    done = said("tune", "-q", exits=3)
    assert "No candidate can be called the best of " in done.stdout


def test_init_writes_a_scenario_that_can_be_used(tmp_path, monkeypatch):
    said("init", tmp_path / "new", exits=0)
    monkeypatch.chdir(tmp_path / "new")
    said("check-scenario", exits=0)
    assert said("init").exit_code == 1


def test_import_irace(folder):
    (folder / "scenario.txt").write_text("maxExperiments = 90\nnbIterations = 3\n")
    assert said("import-irace", "scenario.txt").exit_code == 0
    text = (folder / "scenario.toml").read_text()
    assert "# scenario.txt, line 2: nbIterations = 3 is ignored" in text
    assert said("import-irace", "scenario.txt").exit_code == 1
    assert said("check-scenario", "scenario.toml").exit_code == 0


def test_each_long_flag_of_irace_is_known():
    command = main.get_command(click.Context(main), "tune")
    flags = {option for parameter in command.params for option in parameter.opts}
    for name, option in OPTIONS.items():
        assert not option.flag or f"--{option.flag}" in flags, name


def test_a_command_that_is_not_there_brings_the_nearest_to_mind():
    done = said("tun", exits=2)
    assert "No such command 'tun'; did you mean 'tune'?" in done.stderr


def test_a_store_has_a_name(folder):
    for words in (("tune", "--store", "-"), ("ablation", "tune.db", "--into", "-")):
        done = said(*words, "--", "./target-runner") if words[0] == "tune" else said(*words)
        assert done.exit_code == 2
        assert "'-' is no name: give one" in done.stderr
    assert not (folder / "-").exists()
