"""`racer race`, as typed."""

import json
import sys
from functools import partial

import numpy as np
import pandas as pd
import pytest
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
    done = run(scores, "--maximize", "--decider", "anytime")
    assert done.exit_code == 0, done.output
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
            items,
            decider="anytime",
            maximize=True,
            deterministic=True,
            budget=300,
            seed=3,
        ).evaluations

    args = (scores, "--maximize", "--decider", "anytime", "--budget", 300, "--seed", 3, "--json")
    in_order = json.loads(run(*args, "--in-order").stdout)
    assert in_order["evaluations"] == best(list(table.index))
    shuffled = json.loads(run(*args).stdout)
    assert shuffled["evaluations"] != in_order["evaluations"]


SCORES = [(3, 4), (3, 5), (2, 4), (1, 4), (3, 3), (3, 2), (3, 4)]


def test_other_scores_are_not_those_of_the_store(tmp_path):
    path, store = tmp_path / "scores.csv", tmp_path / "race.db"
    table = pd.DataFrame(SCORES, columns=["A", "B"], index=[*"abcdefg"])
    table.to_csv(path)
    first, again = (run(path, "-o", store, "--json") for _ in range(2))
    assert json.loads(first.stdout)["best"] == json.loads(again.stdout)["best"] == "A"
    assert not again.stderr
    table.mul([10, 1]).to_csv(path)
    other = run(path, "-o", store, "--json")
    assert (other.exit_code, other.stdout) == (1, "")
    assert other.stderr == (
        f"Error: the scores differ from those that the race in '{store}' has: give those, or "
        "another store\n"
    )
    table.iloc[:-1].to_csv(path)
    fewer = run(path, "-o", store, "--budget", 14)
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
        first = run(path, "-o", store, "--json")
    again = run(path, "-o", store, "--json")
    assert again.exit_code == 0, again.output
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
SQUARE = "import sys; x, y = map(float, sys.argv[1:]); print((x - 2) ** 2 + y)"


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
    program = ("--", *PYTHON, SQUARE, "{x}", "{instance}")
    done = run(path, "--budget", 15, "--instances", instances, "--json", *program)
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert float(found["best"]["x"]) == 2.0
    assert found["evaluations"] == 15


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--instances", "x"], "--instances is for a program"),
        (["--score", "x", "--", "true"], "--score is for recorded scores"),
        (["--", "true"], "give --budget (evaluations) or --deadline"),
        (["--decider", "front"], "is not one of"),
        (["--jobs", "3"], "--jobs is for a program"),
        (["--deadline", "5"], "--deadline is for a program"),
        (["--deterministic"], "--deterministic is for a program"),
        (["--configurations", "table.txt"], "--configurations is for a program"),
        (["--jobs", "0", "--budget", "9", "--", "true"], "n_jobs=0"),
        (["--deadline", "0", "--", "true"], "deadline=0.0"),
    ],
)
def test_what_does_not_go_together_is_refused(scores, args, message):
    done = run(scores, *args)
    assert done.exit_code == 2
    assert message in done.stderr


def test_no_option_is_advised_that_it_does_not_have(scores):
    done = run(scores, "--budget", 5, "--decider", "f-race")
    assert done.exit_code == 2
    advice = "before the first test are 20; raise the budget, or give fewer candidates"
    assert done.stderr.rstrip().endswith(advice)


def test_a_file_or_a_parameter_that_is_not_there_is_wrong_usage(tmp_path):
    path = tmp_path / "configs.json"
    assert run(path, "--budget", 10, "--", "true", "{x}").exit_code == 2
    path.write_text('[{"x": 1}, {"x": 2}]')
    done = run(path, "--budget", 10, "--", "true", "{y}")
    assert (done.exit_code, "has {y}, which no candidate has" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.json", "{", "FILE cannot be read"),
        ("a.json", '{"x": 1}', "FILE is not a list of objects"),
        ("a.json", "[1, 2]", "FILE is not a list of objects"),
        (
            "a.json",
            '[{"x": 1, "x": 2}, {"x": 3}]',
            "FILE cannot be read: the key 'x' is there twice",
        ),
        ("a.json", '[{"x": [1]}, {"x": 2}]', "candidate 0: parameter 'x' is [1], a list"),
        ("a.csv", "x,y,x\n1,2,3\n4,5,6\n", "FILE: the column 'x' is there twice"),
    ],
)
def test_a_file_with_wrong_candidates_is_an_error_not_wrong_usage(tmp_path, name, text, message):
    path = tmp_path / name
    path.write_text(text)
    done = run(path, "--budget", 10, "--", "true", "{x}")
    assert done.exit_code == 1, done.stderr
    assert message.replace("FILE", str(path)) in done.stderr


@pytest.mark.parametrize("index", [[0, 1, 2], ["a", "b", "c"]])
def test_the_index_of_a_table_is_no_parameter(tmp_path, index):
    path = tmp_path / "configs.csv"
    pd.DataFrame({"x": [1, 2, 7], "y": [0, 0, 0]}, index=index).to_csv(path)
    program = ("--", *PYTHON, SQUARE, "{x}", "{y}")
    done = run(path, "--budget", 15, "--json", *program)
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["best"] == {"x": "2", "y": "0"}
    assert done.stderr.splitlines()[0] == (
        f"racer: {path}: the first column has no name and is no parameter: left out"
    )


def test_a_column_of_values_needs_a_name(tmp_path):
    path = tmp_path / "configs.csv"
    args = (path, "--budget", 10, "--", *PYTHON, "print(1)", "{parameters}")
    path.write_text("x,\n1,2\n4,5\n")
    done = run(*args)
    assert done.exit_code == 1
    assert done.stderr == f"Error: {path}: a column with values has no name: give it one\n"
    path.write_text("x,\n1,\n4,\n")  # a comma at the end of each line
    assert "no name" not in run(*args).stderr


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
    done = run(configs, "--budget", 20, option, tmp_path / given, *program)
    assert done.exit_code == 1
    assert f"{there} is there already: give another name" in done.stderr
    assert not log.exists()


def test_an_output_file_that_cannot_be_written_does_not_hide_the_answer(tmp_path, configs):
    target = tmp_path / ("x" * 300)
    done = run(configs, "--budget", 20, "--configurations", target, "--", "echo", "{x}")
    assert done.exit_code == 1
    assert f"{target} cannot be written" in done.stderr
    assert "The best is #0" in done.stdout


def test_there_must_be_an_instance_with_all_scores(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("item,a,b\nx,1,\ny,,2\n")
    done = run(path)
    assert done.exit_code == 1
    assert "no instance has a score of each of a, b" in done.stderr


def test_an_interrupt_prints_what_is_known_or_names_the_store(tmp_path, configs, monkeypatch):
    race = racer.Race([{"x": 1}, {"x": 2}], budget=20)
    race.tell_block([0.5, 0.25])
    args = (configs, "--budget", 20, "--json", "--", "echo", "{x}")
    for kept in ("", "go on with racer resume"):

        def interrupted(*_, kept=kept, **__):
            raise racer.RaceInterrupted(race.result(), kept=kept)

        monkeypatch.setattr("racer.run.calls.race", interrupted)
        done = run(*args)
        assert done.exit_code == 130
        if kept:
            assert not done.stdout
        else:
            assert json.loads(done.stdout)["evaluations"] == 2
            assert "recorded only with --store" in done.stderr


def test_a_program_that_ignores_its_seed_runs_once_an_instance(tmp_path):
    path, instances = tmp_path / "configs.csv", tmp_path / "instances.txt"
    path.write_text("x\n1\n2\n7\n")
    instances.write_text("0.5\n0.25\n0.75\n")
    given = (path, "--budget", 60, "--instances", instances, "--deterministic", "--json")
    done = run(*given, "--", *PYTHON, SQUARE, "{x}", "{instance}")
    assert json.loads(done.stdout)["evaluations"] == 9
    assert not done.stderr
