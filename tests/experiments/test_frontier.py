"""The script that sets error against observations."""

import csv
import importlib.util
import math

import pytest
from click.testing import CliRunner

from experiments.frontier.runs import COMPETITORS, Point, Size, moments, point
from experiments.frontier.tables import main

SIZE = Size(q=8, rho=0.5, repetitions=10, jobs=1, seed=3)
SMALL = ["--candidates", "8", "--repetitions", "3", "--jobs", "1", "--budgets", "60 200"]


def run(*arguments):
    return CliRunner().invoke(main, [*SMALL, *arguments])


def made(decider, mae):
    return Point("normal", decider, 100, 90.0, mae, 0.1, 0.0, 0.0, halving=2.0, halving_se=0.1)


def test_a_table_per_world_a_line_per_decider_and_the_files(tmp_path):
    table, picture = tmp_path / "f.csv", tmp_path / "f.png"
    result = run("--csv", str(table), "--worlds", "normal runtime")
    assert result.exit_code == 0, result.output
    for world in ("normal", "runtime"):
        assert f"\n## {world}\n" in result.stdout
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 2 * len(COMPETITORS)
    assert {row["decider"] for row in rows} == set(COMPETITORS)
    assert all(float(row["observations"]) <= float(row["budget"]) for row in rows)
    result = run("--picture", str(picture), "--worlds", "unequal", "--deciders", "f-race t-race")
    assert result.exit_code == 0, result.output
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_halving_is_measured_against_itself_at_the_same_observations():
    own = point("halving", "normal", 400, SIZE)
    assert (own.mae, own.mae_se) == (own.halving, own.halving_se)
    early = point("t-race", "normal", 4000, SIZE)
    assert early.observations < 0.9 * 4000
    (used, _), mae, _ = moments("halving", "normal", round(early.observations), SIZE)
    assert (early.halving, early.halving_se) == mae
    assert 0.9 * early.observations < used <= early.observations


def test_the_ratio_and_its_error():
    assert made("f-race", 1.5).ratio == 0.75
    assert made("f-race", 1.5).ratio_se == pytest.approx(0.75 * math.hypot(0.1 / 1.5, 0.1 / 2))
    assert math.isnan(made("f-race", 0.0).ratio_se)


def test_goals_are_those_of_deciders_named_beforehand():
    result = run(
        *("--worlds", "normal heavy-tailed unequal runtime", "--repetitions", "4"),
        *("--deciders", "f-race bayesian-best bayesian-best-mean halving-mean-rank"),
    )
    assert result.exit_code == 0, result.output
    lines = [line for line in result.stdout.splitlines() if line.startswith("- ")]
    assert len(lines) == 6
    assert all(" bayesian-best-mean " in line and "goal 1:" in line for line in lines[:2])
    assert all(" bayesian-best " in line and "goal 0.8:" in line for line in lines[2:])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--budgets", "39"], "39 pays less than five blocks of 8"),
        (["--worlds", "flat"], "'flat' is not one of"),
        (["--deciders", "best"], "'best' is not one of"),
        (["--repetitions", "0"], "--repetitions"),
        (["--rho", "0"], "--rho"),
        (["--csv", "/no/such/place/f.csv"], "no directory"),
        (["--picture", "/no/such/place/f.png"], "no directory"),
        (["--picture", "f.foo"], "should end in .png"),
    ],
)
def test_what_cannot_be_run_is_refused_at_once(arguments, message):
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.output


def test_a_picture_without_matplotlib_is_refused_before_anything_runs(monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "matplotlib" else find(name)
    )
    result = run("--picture", "f.png")
    assert result.exit_code == 2
    assert 'pip install "racer-tuning[plot]"' in result.output.replace("\n", " ")
