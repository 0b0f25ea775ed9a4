"""`racer show` and `racer resume`, as typed."""

import io
import json
import shlex
import shutil
import sys
from pathlib import Path

import click
import flat
import pytest
from typed import program
from typed import typed as said

import racer
from racer.cli.output import confirm, give, in_terminal
from racer.space.irace.table import read_configurations
from racer.store.load import load_record

RUNNER = """#!/bin/sh
echo run >> {log}
echo $((($1 - 3) * ($1 - 3) + $2 + $3 % 97))
"""
SPACE = racer.Space(
    {"x": racer.Integer(0, 9), "k": racer.Categorical(["a", "b c"]), "q": racer.Real(0, 1)},
    conditions={"q": {"k": "a"}},
)


@pytest.fixture(name="tuned", scope="module")
def _tuned(tmp_path_factory):
    """A tuning of a program, which writes a log."""
    folder = tmp_path_factory.mktemp("tuned")
    runner = program(folder / "runner", RUNNER.format(log=folder / "log"))
    command = racer.Command([runner, "{x}", "{instance}", "{seed}", "{parameters}"])
    store = folder / "run.db"
    settings = {"budget": 30, "first_test": 2, "seed": 1, "test_instances": [5, 6]}
    flat.tune(SPACE, command, [0, 1], **settings, store=store)
    return store


@pytest.fixture(name="log")
def _log(tuned):
    log = tuned.parent / "log"
    log.unlink(missing_ok=True)
    return log


@pytest.fixture(name="runner")
def _runner(tuned):
    return tuned.parent / "runner"


@pytest.fixture(name="store")
def _store(tuned, tmp_path):
    return Path(shutil.copy(tuned, tmp_path))


def test_it_shows_without_running(store, log, runner):
    gone = runner.rename(runner.with_name("gone"))
    done = said("show", store, exits=0)
    gone.rename(runner)
    result = racer.load(store)
    assert f"Best so far: #{result.best_index}, " in done.stdout
    line = next(text for text in done.stdout.splitlines() if text.startswith(str(runner)))
    words = shlex.split(line)[:5]
    assert words[:4] == [str(runner), f"{result.best['x']}", "{instance}", "{seed}"]
    assert words[4] == f"--k={result.best['k']}"
    for title in ("held-out mean", "30 evaluations", "--seed 1."):
        assert title in " ".join(done.stdout.split())
    assert not log.exists()


def test_a_table_of_configurations_that_are_no_dicts_is_refused(tmp_path):
    store = tmp_path / "race.db"
    racer.race(range(3), lambda c, *_: float(c), budget=30, seed=1, store=store)
    assert " Repeat with seed=1." in " ".join(said("show", store, exits=0).stdout.split())
    found = said("show", store, "--configurations", tmp_path / "table.txt", exits=2)
    assert "needs configurations that are dicts" in found.stderr


def test_names_of_a_table_of_configurations_need_not_be_text(tmp_path):
    store, table = tmp_path / "race.db", tmp_path / "table.txt"
    configs = [{1: 2, (2, "x"): 5}, {1: 3, (2, "x"): 5}]
    racer.race(configs, lambda c, i, s: c[1] + s % 3, budget=60, seed=1, store=store)
    said("show", store, "--configurations", table, exits=0)
    assert table.read_text() == "1 \"(2, 'x')\"\n2 5\n"


def test_it_gives_json_csv_and_a_table_of_configurations(store, tmp_path):
    form = ("--json", "--csv", tmp_path / "csv", "--configurations", tmp_path / "elites.txt")
    done = said("show", store, *form)
    result = racer.load(store)
    answer = json.loads(done.stdout)
    assert answer["best"] == result.best
    assert {s["candidate"] for s in answer["survivors"]} == set(result.leaders)
    assert answer["survivors"][0]["held_out_blocks"] == 2
    assert (tmp_path / "csv" / "scores.csv").read_text().count("\n") == len(result.scores) + 1
    assert {p.stem for p in (tmp_path / "csv").iterdir()} >= {"races", "tests", "configurations"}
    found = read_configurations(tmp_path / "elites.txt", SPACE)
    assert found == [result.config(candidate) for candidate in result.leaders]
    again = said("show", store, "--configurations", tmp_path / "elites.txt", exits=1)
    assert "is there already" in again.stderr
    for option in ("--configurations", "--csv"):
        dash = said("show", store, option, "-", exits=2)
        assert f"'{option}': '-' is no name: give one" in dash.stderr


def test_resume_asks_before_it_runs_anything(store, log, runner, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "of another"))
    asked = said("resume", store, "--budget", 36, input="n\n", exits=1)
    assert f"  {runner}\nwith 4 arguments:\n  '{{x}}'\n" in asked.stderr
    assert str(Path.cwd()) in asked.stderr
    assert not log.exists()
    done = said("resume", store, "--budget", 36, "--yes", "-q", "--json", exits=0)
    assert json.loads(done.stdout)["evaluations"] == 36
    assert log.read_text().count("\n") >= 6


def test_resume_asks_unless_this_user_began_the_store(runner, tmp_path, monkeypatch):
    """Whatever lies beside it: an archive from a stranger may have a scenario in it, too."""
    shutil.copy(runner, tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "parameters.txt").write_text('x "" i (0, 3)\n')
    (tmp_path / "instances").write_text("0\n1\n")
    text = (
        'space = "parameters.txt"\ninstances = "instances"\nbudget = 20\nstore = "tuned.db"\n'
        "first_test = 2\n"
        'command = ["./runner", "{x}", "{instance}", "{seed}"]\n'
    )
    (tmp_path / "scenario.toml").write_text(text)
    assert said("tune", "-q").exit_code == 0
    monkeypatch.chdir("/")
    for budget in (22, 24):  # with each budget it has another checksum
        done = said("resume", tmp_path / "tuned.db", "--budget", budget, "-q", "--json", exits=0)
        assert json.loads(done.stdout)["evaluations"] == budget
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "of another"))
    for _ in range(2):
        asked = said("resume", "tuned.db", "--budget", 26, input="n\n", exits=1)
        assert "Run it?" in asked.stderr
        assert "evaluations" not in asked.stdout
    assert said("resume", "tuned.db", "--budget", 26, "-q", input="y\n").exit_code == 0
    assert "Run it?" in said("resume", "tuned.db", "--budget", 28, input="n\n").stderr


@pytest.mark.parametrize("closed", [io.StringIO, None])
def test_a_question_that_nobody_can_answer_is_refused(store, monkeypatch, tmp_path, closed):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "of another"))
    monkeypatch.setattr("sys.stdin", closed and closed())
    with pytest.raises(click.ClickException, match="give --yes"):
        confirm("Run it?")
    done = said("resume", store, "--budget", 32)  # at the end of its input
    assert (done.exit_code, "give --yes" in done.stderr) == (1, True)


def test_resume_and_ablation_use_the_recorded_jobs(runner, tmp_path, monkeypatch):
    """A scenario with n_jobs = -1 goes on with all cores, unless --n-jobs says otherwise."""
    path, jobs = tmp_path / "run.db", []

    def ask(*_, n_jobs, **__):
        jobs.append(n_jobs)
        raise racer.SettingError("asked")

    def interrupt(event):
        if isinstance(event, racer.BlockCompleted):
            raise KeyboardInterrupt

    command = racer.Command([runner, "{x}", "{instance}", "{seed}", "{parameters}"])
    settings = {"budget": 50, "first_test": 2, "seed": 1, "n_jobs": -1, "store": path}
    with pytest.raises(racer.RaceInterrupted) as stop:
        flat.tune(SPACE, command, [0, 1], **settings, callbacks=[interrupt])
    # an objective that is a program has no function to pass
    assert str(stop.value).endswith(f"go on with racer resume {path}")
    assert racer.resume(path, command, budget=51, n_jobs=2).evaluations == 51
    assert load_record(path).settings["jobs"] == -1
    monkeypatch.setattr("racer.run.resume.resume", ask)
    monkeypatch.setattr("racer.run.ablation.ablation", ask)
    for name in ("resume", "ablation"):
        assert "asked" in said(name, path).stderr
        assert "asked" in said(name, path, "--n-jobs", 1).stderr
        assert "-1: one for each core" in " ".join(said(name, "--help").stdout.split())
    assert jobs == [-1, 1, -1, 1]


def test_a_link_is_no_mark_of_this_user(runner, tmp_path, path, monkeypatch):
    """Where others may write to the folder of marks, they may link a name to a file of this user."""
    with monkeypatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path))
        command = racer.Command([str(runner), "{x}", "{instance}", "{seed}"])
        racer.race([{"x": 1}, {"x": 2}], command, [0], budget=10, seed=1, store=path)
        (mark,) = (tmp_path / "racer" / "begun").iterdir()
        assert load_record(path).is_ours
        mark.unlink()
        mark.symlink_to(path)
        assert not load_record(path).is_ours


def test_check_names_the_command_that_goes_on(store):
    done = said("check", store, exits=0)
    assert f"go on with     racer resume {store}\n" in done.stdout
    others = [line for line in done.stdout.splitlines() if "/" not in line]
    assert max(map(len, others)) <= 80


@pytest.mark.filterwarnings("ignore:the .* ended after")
def test_a_run_with_a_budget_of_seconds_is_given_more_of_them(runner, path):
    command = racer.Command([runner, "{x}", "{instance}", "{seed}", "{parameters}"])
    given = {"budget": racer.Budget(seconds=1e-6), "first_test": 2, "seed": 1, "store": path}
    assert flat.tune(SPACE, command, [0, 1], **given).ended == "budget"
    done = said("check", path)
    assert "with more seconds (--seconds), as the" in done.stdout
    done = said("resume", path, "-q", "--wall", 60)
    assert "used up its budget of 1e-06 s, to which a deadline adds nothing: give more" in (
        done.stderr
    )
    done = said("resume", path, "-q", "--budget", 40)
    assert (done.exit_code, "give more seconds (" in done.stderr) == (1, True)
    said("resume", path, "-q", "--seconds", 1e-5)
    assert load_record(path).result.rules.budgets[-1] == racer.Budget(seconds=1e-5)


def test_a_function_is_not_in_the_store(tmp_path, path):
    racer.race([1, 2], lambda config, instance, seed: config, budget=20, seed=1, store=path)
    done = said("resume", path, "--yes", exits=1)
    assert "or racer.resume(" in done.stderr
    assert said("show", tmp_path / "none.db").exit_code == 1


def test_a_message_is_broken_between_words_in_a_terminal(monkeypatch):
    words = "store 'run.db': " + "there is no such file; " * 9
    assert in_terminal(words) == words
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "50")
    assert max(map(len, in_terminal(words).splitlines())) <= 50
    assert in_terminal(words).split() == words.split()


def test_a_report_takes_the_store_of_an_ablation_only(store, tmp_path):
    race, page = tmp_path / "race.db", tmp_path / "page.html"
    racer.race([1, 2], lambda c, i, s: c + s % 7, budget=20, seed=1, store=race)

    beside = shutil.copy(race, tmp_path / "run.ablation.db")
    done = said("report", store, "-o", page)
    assert (done.exit_code, page.exists()) == (1, False)
    assert f"{beside}: ablation= is a RaceResult: give" in done.stderr
    with pytest.raises(racer.SettingError, match="ablation= is a RaceResult: give the result of"):
        racer.load(store).report(page, ablation=racer.load(race))
    assert not page.exists()


@pytest.mark.parametrize("other", ["seed", "space"])
def test_a_report_takes_no_ablation_of_another_tuning(tmp_path, other):
    def tuned(name, high, seed):
        space = racer.Space({"x": racer.Integer(0, high)}, default={"x": 9})
        given = {"budget": 40, "deterministic": True, "seed": seed}
        path = tmp_path / f"{name}.db"
        return flat.tune(space, evaluate, range(3), **given, store=path)

    def evaluate(config, instance, seed):
        return config["x"] + instance

    tuned("run", 9, 1)
    second = tuned("other", *{"seed": (9, 2), "space": (10, 1)}[other])
    store, path, page = (tmp_path / name for name in ("run.db", "run.ablation.db", "page.html"))
    racer.ablation(second, evaluate, budget=10, store=path)
    done = said("report", store, "-o", page)
    assert (done.exit_code, page.exists()) == (1, False)
    assert f"{path}: ablation= is that of another tuning, by its {other}: give" in done.stderr
    with pytest.raises(racer.SettingError, match=f"of another tuning, by its {other}"):
        racer.load(store).report(page, ablation=racer.load(path))


def test_an_end_of_an_ablation_that_is_no_candidate_is_a_wrong_setting(store):
    done = said("ablation", store, "--source", 999, "--yes", "-q")
    assert (done.exit_code, "--source 999: candidate 999: give" in done.stderr) == (2, True)


@pytest.mark.parametrize(("is_terminal", "most"), [(True, 40), (False, 80)])
def test_an_answer_is_as_narrow_as_its_terminal(tuned, monkeypatch, is_terminal, most):
    class Output(io.StringIO):
        def isatty(self):
            return is_terminal

    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr("sys.stdout", Output())
    give(load_record(tuned).result, {}, as_json=False)
    widest = max(map(len, sys.stdout.getvalue().splitlines()))
    assert most - 10 < widest <= most
