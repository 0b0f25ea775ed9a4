"""The scripts that rerun the tables of Benavoli et al. (ICML 2015)."""

import re
from pathlib import Path

import numpy as np
import pytest
from typed import typed

from experiments.benavoli2015 import published, table1, table2, table3
from experiments.benavoli2015.racing import (
    DECIDERS,
    SETTINGS,
    Size,
    races,
    sequential_halving,
)
from experiments.report import read as rows
from experiments.report import write
from racer.deciders import SequentialHalving
from racer.simulate import NormalWorld
from racer.simulate.play import run_race
from racer.stats import bayesian_sign_test

COMMANDS = {"table1": table1.main, "table2": table2.main, "table3": table3.main}
ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "experiments" / "benavoli2015"
TABLE_2 = """\
30,1 0.63 0.70 0.67 0.80 0.58 0.77
50,1 0.72 0.92 0.80 1.22 0.69 1.15
100,1 0.75 1.84 0.84 2.31 0.70 2.05
100,0.5 0.67 1.15 0.74 1.19 0.62 1.26
100,0.1 0.36 0.28 0.36 0.30 0.35 0.30
200,0.1 0.50 0.46 0.51 0.63 0.50 0.58"""  # as printed: ITER and MAE of each decider
TABLE_3 = {"30,1": 0.9, "50,1": 1.7, "100,1": 4.5, "100,0.5": 3.1, "100,0.1": 2.4, "200,0.1": 2.7}
SMALL = ["--repetitions", "2", "--settings", "100,0.1", "--jobs", "1"]


def run(name, *arguments):
    """Run a command that must end well; return what it printed on stdout."""
    return typed(*arguments, command=COMMANDS[name], exits=0).stdout


def cells(text):
    """Return the cells of the Markdown table in a text, without its head."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def tables(text):
    """Return the cells of each Markdown table in a text."""
    return [cells(part) for part in re.split(r"\n\n", text) if part.startswith("|")]


def test_figures_of_tables_2_and_3_are_those_printed():
    table = {}
    for line in TABLE_2.splitlines():
        setting, *figures = line.split()
        q, rho = setting.split(",")
        for k, decider in enumerate(DECIDERS):
            iterations, mae = map(float, figures[2 * k : 2 * k + 2])
            table[int(q), float(rho), decider] = {"iter": iterations, "mae": mae}
    assert published.table_2() == table
    assert {f"{q},{rho:g}": n for (q, rho), n in published.table_3().items()} == TABLE_3
    assert list(SETTINGS) == list(TABLE_3)


def test_table_1_is_met(tmp_path):
    """Two columns exactly; the joint one within what the unprinted matrix leaves open."""
    path = tmp_path / "table1.csv"
    text = run("table1", "--csv", str(path))
    assert "matrix is not printed" in text
    assert [line[0] for line in cells(text)] == [
        "X1<X3",
        "X1<X4",
        "X1<X2",
        "X2<X3",
        "X2<X4",
        "X3<X4",
    ]
    for row in rows(path):
        for column in ("p_sign_test", "one_minus_posterior"):
            assert round(float(row[column]), 4) == float(row[f"{column}_published"])
        joint, known = (float(row[f"one_minus_joint_posterior{end}"]) for end in ("", "_published"))
        assert joint == pytest.approx(known, abs=0.015)
    assert "does not hold" not in text


def test_table_2_prints_published_and_ours(tmp_path):
    path = tmp_path / "table2.csv"
    text = run("table2", *SMALL, "--csv", str(path))
    (summary, table), file = tables(text), rows(path)
    assert [line[1] for line in summary[::2]] == ["0.36", "0.28", table[0][9]]
    assert [line[1] for line in summary[1::2]] == [table[0][3], table[0][6]]
    assert [row["decider"] for row in file] == ["bayesian", "f-race-sign", "f-race-mean-rank"]
    assert [line[:2] for line in table] == [["100, 0.1", row["decider"]] for row in file]
    assert [line[2] for line in table] == ["0.36", "0.36", "0.35"]
    assert [line[5] for line in table] == ["0.28", "0.30", "0.30"]
    for line, row in zip(table, file, strict=True):
        for place, name in ((3, "iter"), (6, "mae")):
            shown = [float(number) for number in line[place].split(" ± ")]
            exact = [float(row[name]), float(row[f"{name}_se"])]
            assert shown == pytest.approx(exact, abs=0.00501)
        assert float(row["mae_difference"]) == pytest.approx(
            float(row["mae"]) - float(row["mae_published"])
        )
        assert row["repetitions"] == "2"
    for claim in (
        "ITER within 0.05",
        "MAE within 15 %",
        "lowest in every row",
        "in MAE",
        "in ITER",
        "truly so",
    ):
        assert claim in text


def test_table_3_prints_published_and_ours(tmp_path):
    path = tmp_path / "table3.csv"
    (line,) = cells(run("table3", *SMALL, "--csv", str(path)))
    (row,) = rows(path)
    assert line[:2] == ["100, 0.1", "2.4"]
    assert line[2].startswith(f"{float(row['indistinguishable']):.2f}")
    assert int(row["truly"]) <= int(row["declared"])
    assert line[4] == f"{float(row['at_most']):.2f} ± {float(row['at_most_se']):.2f}"


def test_no_pair_is_indistinguishable_before_384_observations():
    first = table3.first_block_of_a_pair()
    assert first == 384
    for n, enough in ((first, True), (first - 2, False)):
        within = bayesian_sign_test([0.0] * (n // 2) + [1.0] * (n // 2), [0.5] * n, strength=0.0)
        assert (within.indistinguishable > 0.95) == enough


@pytest.mark.parametrize("name", ["table2", "table3"])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--settings", "31,1"], "'31,1' is not one of '30,1', '50,1'"),
        (["--settings", " "], "give at least one"),
        (["--repetitions", "0"], "0 is not in the range x>=1"),
        (["--jobs", "0"], "0 is not in the range x>=1"),
        (["--seed", "-1"], "-1 is not in the range x>=0"),
        (["--csv", "no/such/directory/t.csv"], "there is no directory"),
    ],
)
def test_bad_input_is_refused_before_anything_runs(name, arguments, message):
    result = typed(*arguments, command=COMMANDS[name], exits=2)
    assert message in " ".join(result.output.split())
    assert "Traceback" not in result.output
    assert ", seed " not in result.output


def test_the_recorded_table_is_that_of_the_paper():
    file = rows(FOLDER / "table2_rounds_found.csv")
    bayesian = {(r["q"], r["rho"]): r for r in file if r["decider"] == "bayesian"}
    assert len(bayesian) == 6
    for row in bayesian.values():
        assert abs(float(row["iter_difference"])) <= 0.05
    for row in file:
        assert float(bayesian[row["q"], row["rho"]]["mae"]) <= float(row["mae"])


def test_table_3_is_more_than_there_can_be_at_little_noise():
    file = {(r["q"], r["rho"]): r for r in rows(FOLDER / "table3_rounds_found.csv")}
    row = file["100", "0.1"]
    at_most = float(row["at_most"]) + 3.0 * float(row["at_most_se"])
    assert at_most < float(row["indistinguishable_published"])


def test_a_recorded_row_comes_out_again(tmp_path):
    """Twenty-five of the table's thousand repetitions, which are a sample of them.

    They were recorded with the same seed and no other change, by
    python scripts/table2.py --settings 100,0.1 --repetitions 25 --jobs 1 --csv ..
    """
    path, size = tmp_path / "table2.csv", Size(25, jobs=1, seed=1)
    write(path, table2.records(races(["100,0.1"], ["f-race-mean-rank"], size), size))
    (again,) = rows(path)
    recorded = rows(ROOT / "tests" / "data" / "table2_recorded.csv")
    assert again in recorded
    table = {(r["q"], r["rho"], r["decider"]): r for r in rows(FOLDER / "table2_rounds_found.csv")}
    for row in recorded:
        whole = table[row["q"], row["rho"], row["decider"]]
        assert (whole["repetitions"], whole["seed"]) == ("1000", row["seed"])
        for column in ("iter", "mae", "observations", "halving"):
            # of 25 out of 1 000, from the spread of all
            error = float(whole[f"{column}_se"]) * np.sqrt(1000 / 25 - 1)
            assert abs(float(row[column]) - float(whole[column])) < 3.5 * error


def test_same_seed_same_file_whatever_the_jobs(tmp_path):
    files = []
    for number, (jobs, seed) in enumerate((("1", "7"), ("2", "7"), ("1", "8"))):
        path = tmp_path / f"{number}.csv"
        options = ["--repetitions", "2", "--settings", "30,1", "--jobs", jobs]
        run("table2", *options, "--csv", str(path), "--seed", seed)
        files.append(path.read_text())
    assert files[0] == files[1] != files[2]


def test_one_repetition_has_no_standard_error():
    (line,) = cells(run("table3", "--repetitions", "1", "--settings", "100,0.1", "--jobs", "1"))
    assert "±" not in line[2]


def test_sequential_halving_finds_the_best_where_noise_is_small():
    assert {sequential_halving(NormalWorld(20, 1e-9), seed, 150) for seed in range(20)} == {0}
    noisy = [
        np.mean([sequential_halving(NormalWorld(20, 1.0), s, n) for s in range(300)])
        for n in (20, 200, 2000)
    ]
    assert noisy[0] > noisy[1] > noisy[2]


def test_the_shortcut_for_sequential_halving_is_as_good_as_the_decider():
    """With 32 candidates and 320 observations both spend 64 in each of five rounds."""
    world, seeds = NormalWorld(32, 1.0), range(60)
    short = np.array([sequential_halving(world, seed, 320) for seed in seeds])
    played = []
    for seed in seeds:
        drawn = world.draw(seed)
        settings = {"decider": SequentialHalving(), "budget": 320, "first_test": 1}
        selected = run_race(drawn, seed, 320, settings).best_index
        played.append((drawn.quality < drawn.quality[selected]).sum())
    difference = short - np.array(played)  # in the same worlds, with other noise
    assert abs(difference.mean()) < 3.0 * difference.std() / np.sqrt(len(difference))


def test_the_docs_show_table_2_as_it_is_in_the_file():
    page = (ROOT / "docs" / "evidence.md").read_text(encoding="utf-8")
    shown = cells(page.partition("Table 2 of")[2].partition("\n## ")[0])
    file = [r for r in rows(FOLDER / "table2_rounds_found.csv") if r["decider"] == "bayesian"]

    def line(name, key):
        return [name, *(f"{float(row[key]):.2f}" for row in file)]

    def ours(name, key):
        pairs = ((float(row[key]), float(row[f"{key}_se"])) for row in file)
        return [name, *(f"{mean:.2f} ± {error:.2f}" for mean, error in pairs)]

    assert shown == [
        line("ITER published", "iter_published"),
        ours("ITER here", "iter"),
        line("MAE published", "mae_published"),
        ours("MAE here", "mae"),
        ours("MAE of halving on as many observations", "halving"),
    ]
