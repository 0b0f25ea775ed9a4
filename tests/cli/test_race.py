"""`racer race`, as typed."""

import json
import sys
from functools import partial

import numpy as np
import pandas as pd
import pytest
from playing import tell_block
from typed import typed

import racer

run = partial(typed, "race")


@pytest.fixture(name="scores")
def _scores(tmp_path):
    """Items that four prompts answer right or wrong, sorted by the answers of one."""
    right = np.random.default_rng(1).random((200, 4)) < [0.4, 0.5, 0.6, 0.9]
    names = ["terse", "polite", "steps", "examples"]
    table = pd.DataFrame(right.astype(float), columns=names, index=[f"q{i}" for i in range(200)])
    path = tmp_path / "scores.csv"
    table.sort_values("terse").rename_axis("item").to_csv(path)
    return path


@pytest.fixture(name="configs")
def _configs(tmp_path):
    path = tmp_path / "configs.csv"
    path.write_text("x\n1\n2\n")
    return path


def test_it_says_which_is_best_and_how_few_scores_were_needed(scores):
    done = run(scores, "--maximize", "--decider", "anytime", exits=0)
    result = json.loads(run(scores, "--maximize", "--decider", "anytime", "--json").stdout)
    assert result["best"] == "examples"
    used = result["evaluations"]
    assert used < 400
    assert f"{used} of 800 scores were looked at: {1 - used / 800:.0%} saved." in done.stdout
    assert "#3  examples" in done.stdout


def test_it_is_the_race_on_shuffled_items(scores):
    table = pd.read_csv(scores, index_col="item")

    def best(items):
        return racer.race(
            list(table),
            lambda name, item, seed: table.loc[item, name],
            racer.Instances(items, deterministic=True),
            decider="anytime",
            goal="max",
            budget=300,
            seed=3,
        ).evaluations

    args = (scores, "--maximize", "--decider", "anytime", "--budget", 300, "--seed", 3, "--json")
    in_order = json.loads(run(*args, "--order", "given").stdout)
    assert in_order["evaluations"] == best(list(table.index))
    shuffled = json.loads(run(*args).stdout)
    assert shuffled["evaluations"] != in_order["evaluations"]


SCORES = [(3, 4), (3, 5), (2, 4), (1, 4), (3, 3), (3, 2), (3, 4)]


def test_other_scores_are_not_those_of_the_store(tmp_path):
    path, store = tmp_path / "scores.csv", tmp_path / "race.db"
    table = pd.DataFrame(SCORES, columns=["A", "B"], index=[*"abcdefg"])
    table.to_csv(path)
    first, again = (run(path, "--minimize", "-o", store, "--json") for _ in range(2))
    assert json.loads(first.stdout)["best"] == json.loads(again.stdout)["best"] == "A"
    assert not again.stderr
    table.mul([10, 1]).to_csv(path)
    other = run(path, "--minimize", "-o", store, "--json")
    assert (other.exit_code, other.stdout) == (1, "")
    assert other.stderr == (
        f"Error: the scores differ from those that the race in '{store}' has: give those, or "
        "another store\n"
    )
    table.iloc[:-1].to_csv(path)
    fewer = run(path, "--minimize", "-o", store, "--budget", 14)
    assert "number of instances is 6, but the race in" in fewer.stderr
    for command in ("check", "resume"):  # what works is the command again
        done = typed(command, store)
        assert f"racer race SCORES --store {store}" in done.output
        assert "racer.resume" not in done.output


def test_a_store_without_a_digest_of_its_scores_goes_on(tmp_path, monkeypatch):
    path, store = tmp_path / "scores.csv", tmp_path / "race.db"
    pd.DataFrame(SCORES, columns=["A", "B"], index=[*"abcdefg"]).to_csv(path)
    with monkeypatch.context() as patched:  # as versions wrote it that recorded a function's name
        name = "racer.cli.race._recorded.<locals>.evaluate"
        patched.setattr("racer.store.contest.qualified_name", lambda item: name)
        first = run(path, "--minimize", "-o", store, "--json")
    again = run(path, "--minimize", "-o", store, "--json", exits=0)
    assert json.loads(first.stdout)["best"] == json.loads(again.stdout)["best"] == "A"
    assert f"was begun with evaluate={name} and goes on with recorded scores" in again.stderr


def test_it_leaves_out_instances_with_gaps_and_says_so(scores):
    lines = scores.read_text().splitlines()
    lines[1] = lines[1].partition(",")[0] + ",,1,1,1"
    scores.write_text("\n".join(lines))
    done = run(scores, "--maximize")
    assert "1 of 200 instances have no score of some candidate: left out" in done.stderr
    assert "of 796 scores" in done.stdout


PYTHON = (sys.executable, "-I", "-S", "-c")  # no site: it starts faster
SQUARE = ("awk", "BEGIN {{ print (ARGV[1] - 2) ^ 2 + ARGV[2] }}")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("configs.csv", "x\n1\n2\n7\n"),
        ("configs.json", '[{"x": 1}, {"x": 2}, {"x": 7}]'),
    ],
)
def test_it_races_configurations_of_a_program(tmp_path, name, text):
    path, instances = tmp_path / name, tmp_path / "instances.txt"
    path.write_text(text)
    instances.write_text("0.5\n0.25\n0.75\n0.125\n0.375\n")
    program = ("--", *SQUARE, "{x}", "{instance}")
    done = run(path, "--budget", 15, "--instances", instances, "--json", *program, exits=0)
    found = json.loads(done.stdout)
    assert float(found["best"]["x"]) == 2.0
    assert found["evaluations"] == 15


ANSWER = """
import sys, time
x, limit = float(sys.argv[1]), 0.5
time.sleep(60 if x == 4 else 0)  # hangs: the timeout ends it
print(x)
sys.exit(10 if x < 3 else 20 if x == 3 else 1)
"""


def test_a_program_of_a_race_has_the_options_of_a_tuning(tmp_path):
    """A solver that says by its exit code what it found, and that may hang or fail."""
    path, instances = tmp_path / "configs.csv", tmp_path / "instances"
    path.write_text("x\n1\n2\n3\n5\n6\n")
    instances.write_text("a\nb\nc\n")
    options = ("--success-codes", "10,20", "--timeout", 600, "--retries", 1, "--first-test", 3)
    args = (path, "--budget", 60, "--deterministic", "--instances", instances, "--json")
    program = ("--", *PYTHON, ANSWER, "{x}", "{instance}")
    done = run(*args, *options, "--reads", "last-line", *program, exits=0)
    found = json.loads(done.stdout)
    assert (found["best"], found["evaluations"]) == ({"x": "1"}, 15)
    failed = {at["candidate"]: at["failed"] for at in found["survivors"]}
    assert all(failed.get(candidate, 3) == 3 for candidate in (3, 4))
    assert not any(failed.get(candidate, 0) for candidate in (0, 1, 2))
    path.write_text("x\n4\n4.0\n")  # these hang, and no other has so short a limit
    done = run(*args, "--timeout", 0.2, "--retries", 0, *program, exits=3)
    assert "took more than 0.2 s" in done.output


def test_an_exit_code_of_nearly_all_runs_is_named_with_the_option(tmp_path):
    """Who follows the advice gets the right answer."""
    path, instances = tmp_path / "configs.csv", tmp_path / "instances"
    path.write_text("x\n" + "\n".join(map(str, range(10))))
    instances.write_text("a\nb\nc\nd\ne\n")
    ends = "echo $0; [ $0 = 9 ] && exit 4; exit $((CODE))"
    args = (path, "--budget", 50, "--instances", instances, "--deterministic")
    program = ("--", "sh", "-c", ends.replace("CODE", "2"), "{x}", "{instance}")
    done = run(*args, *program, exits=3)
    advice = "if exit code 2 is a success, add --success-codes 0,2"
    assert f"racer: 9 of 10 runs ended with exit code 2: {advice}" in done.stderr
    assert f"45 of 50 runs ended with exit code 2: {advice}" in " ".join(done.stdout.split())
    right = run(*args, "--success-codes", "0,2", *program)
    assert right.stdout.startswith("#0 is the best of 10 ")
    assert "if exit code" not in right.output
    other = run(*args, *program[:-3], ends.replace("CODE", "3 + $0 % 2"), *program[-2:])
    assert "if exit code" not in other.output  # none has nine tenths


def test_a_race_that_fails_as_a_whole_prints_no_empty_tables(tmp_path):
    path = tmp_path / "configs.csv"
    path.write_text("x\n1\n2\n3\n")
    done = run(path, "--budget", 30, "--", "sh", "-c", "exit $0", "{x}", exits=3)
    assert "Nothing succeeded in 15 evaluations: 5 ended with exit code " in done.stdout
    assert "Failures" in done.stdout
    for absent in ("P(best)", "Configurations", "Eliminations", "survivors", "Survivors"):
        assert absent not in done.stdout


def test_a_scenario_is_raced_or_tuned(tmp_path):
    (tmp_path / "configs.csv").write_text("x,y\n1,0\n2,0\n7,1\n")
    (tmp_path / "p.txt").write_text('x "" r (0, 9)\ny "" r (0, 1)\n')
    scenario = tmp_path / "scenario.toml"
    text = (
        f'space = "p.txt"\nbudget = 15\nseed = 3\nelites = 2\ncommand = {[*SQUARE]}\n'
        'store = ""\nfirst_test = 4\n'
    ).replace("']", "', '{x}', '{y}']")
    scenario.write_text(text)
    unnamed = run(scenario)
    assert (unnamed.exit_code, "give --candidates" in unnamed.stderr) == (2, True)
    given = run(scenario, "--candidates", tmp_path / "configs.csv", "--json")
    scenario.write_text('candidates = "configs.csv"\n' + text)
    found = json.loads(run(scenario, "--json").stdout)
    assert found == json.loads(given.stdout) | {"seconds": found["seconds"]}
    assert (found["best"], found["seed"]) == ({"x": "2", "y": "0"}, 3)
    assert json.loads(run(scenario, "--seed", 5, "--json").stdout)["seed"] == 5
    assert json.loads(typed("tune", scenario, "--json", "-q").stdout)["evaluations"] == 15


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--instances", "x"], "--instances is for a program"),
        (["--score", "x", "--", "true"], "--score is for recorded scores"),
        (["--", "true"], "no budget is named"),
        (["--decider", "front"], "--decider front is for several metrics"),
        (["--n-jobs", "3"], "--n-jobs is for a program"),
        (["--configurations", "table.txt"], "--configurations is for a program"),
        (["--candidates", "x", "--", "true"], "--candidates is for a scenario.toml"),
        (["--n-jobs", "0", "--budget", "9", "--", "true"], "n_jobs = 0: give"),
        (["--wall", "0", "--", "true"], "wall = 0.0: give"),
    ],
)
def test_what_does_not_go_together_is_refused(scores, args, message):
    done = run(scores, *args, exits=2)
    assert message in done.stderr


def test_no_option_is_advised_that_it_does_not_have(scores):
    done = run(scores, "--maximize", "--budget", 5, "--decider", "f-race", exits=2)
    advice = "before the first test are 20; raise the budget, or give fewer candidates"
    assert done.stderr.rstrip().endswith(advice)


def test_a_file_or_a_parameter_that_is_not_there_is_wrong_usage(tmp_path):
    path = tmp_path / "configs.json"
    assert run(path, "--budget", 10, "--", "true", "{x}").exit_code == 2
    path.write_text('[{"x": 1}, {"x": 2}]')
    done = run(path, "--budget", 10, "--", "true", "{y}")
    assert (done.exit_code, "has {y}, which no candidate has" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "FILE cannot be read"),
        ('{"x": 1}', "FILE is not a list of objects"),
        ("[1, 2]", "FILE is not a list of objects"),
        ('[{"x": 1, "x": 2}, {"x": 3}]', "FILE cannot be read: the key 'x' is there twice"),
        ('[{"x": [1]}, {"x": 2}]', "candidate 0: parameter 'x' is [1], a list"),
        ("x,y,x\n1,2,3\n4,5,6\n", "FILE: the column 'x' is there twice"),
        ("x,\n1,2\n4,5\n", "FILE: a column with values has no name: give it one"),
    ],
)
def test_a_file_with_wrong_candidates_is_an_error_not_wrong_usage(tmp_path, text, message):
    path = tmp_path / ("configs.json" if text[0] in "[{" else "configs.csv")
    path.write_text(text)
    done = run(path, "--budget", 10, "--", "true", "{x}", exits=1)
    assert message.replace("FILE", str(path)) in done.stderr


@pytest.mark.parametrize("index", [[0, 1, 2], ["a", "b", "c"]])
def test_the_index_of_a_table_is_no_parameter(tmp_path, index):
    path = tmp_path / "configs.csv"
    pd.DataFrame({"x": [1, 2, 7], "y": [0, 0, 0]}, index=index).to_csv(path)
    program = ("--", *SQUARE, "{x}", "{y}")
    done = run(path, "--budget", 15, "--json", *program, exits=0)
    assert json.loads(done.stdout)["best"] == {"x": "2", "y": "0"}
    assert done.stderr.splitlines()[0] == (
        f"racer: {path}: the first column has no name and is no parameter: left out"
    )


def test_a_comma_at_the_end_of_each_line_makes_no_column(tmp_path):
    path = tmp_path / "configs.csv"
    path.write_text("x,\n1,\n4,\n")
    program = ("--", *PYTHON, "print(1)", "{parameters}")
    assert "no name" not in run(path, "--budget", 10, *program).stderr


@pytest.mark.parametrize(
    ("option", "given", "there"),
    [("--configurations", "out.txt", "out.txt"), ("--csv", "tabs", "tabs/scores.csv")],
)
def test_an_output_file_that_is_there_is_refused_before_the_race(
    tmp_path, configs, option, given, there
):
    log = tmp_path / "log"
    (tmp_path / there).parent.mkdir(exist_ok=True)
    (tmp_path / there).touch()
    program = ("--", "sh", "-c", f'echo "$0" | tee -a {log}', "{x}")
    done = run(configs, "--budget", 20, option, tmp_path / given, *program, exits=1)
    assert f"{there} is there already: give another name" in done.stderr
    assert not log.exists()


def test_an_output_file_that_cannot_be_written_does_not_hide_the_answer(tmp_path, configs):
    target = tmp_path / ("x" * 300)
    done = run(configs, "--budget", 20, "--configurations", target, "--", "echo", "{x}", exits=1)
    assert f"{target} cannot be written" in done.stderr
    assert done.stdout.startswith("#0 is the best of 2 ")


def test_there_must_be_an_instance_with_all_scores(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("item,a,b\nx,1,\ny,,2\n")
    done = run(path, "--minimize", exits=1)
    assert "no instance has a score of each of a, b" in done.stderr


def test_an_interrupt_prints_what_is_known_or_names_the_store(tmp_path, configs, monkeypatch):
    race = racer.Race([{"x": 1}, {"x": 2}], budget=20)
    tell_block(race, [0.5, 0.25])
    args = (configs, "--budget", 20, "--json", "--", "echo", "{x}")
    for kept in ("", "go on with racer resume"):

        def interrupted(*_, kept=kept, **__):
            raise racer.RaceInterrupted(race.result(), kept=kept)

        monkeypatch.setattr("racer.run.calls.race", interrupted)
        done = run(*args, exits=130)
        if kept:
            assert not done.stdout
        else:
            assert json.loads(done.stdout)["evaluations"] == 2
            assert "recorded only with --store" in done.stderr
