"""The scripts that rerun the tables of Benavoli et al. (ICML 2015)."""

import re
from pathlib import Path

import numpy as np
import pytest
from typed import typed

from experiments.benavoli2015 import published, table2
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


def run(*arguments):
    """Run the command, which must end well; return what it printed on stdout."""
    return typed(*arguments, command=table2.main, exits=0).stdout


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


def test_table_2_prints_published_and_ours(tmp_path):
    path = tmp_path / "table2.csv"
    text = run(*SMALL, "--csv", str(path))
    (summary, table, ((_, printed, ours, _),)), file = tables(text), rows(path)
    assert [line[1] for line in summary[::2]] == ["0.36", "0.28", table[0][9]]
    assert [line[1] for line in summary[1::2]] == [table[0][3], table[0][6]]
    assert (printed, ours) == ("2.4", f"{float(file[0]['declared']) / 2:.2f}")
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
        "lowest in every row",
        "in MAE",
        "in ITER",
        "truly so",
    ):
        assert claim in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--settings", "31,1"], "'31,1' is not one of '30,1', '50,1'"),
        (["--settings", " "], "give at least one"),
        (["--repetitions", "0"], "0 is not in the range x>=1"),
        (["--csv", "no/such/directory/t.csv"], "there is no directory"),
    ],
)
def test_bad_input_is_refused_before_anything_runs(arguments, message):
    result = typed(*arguments, command=table2.main, exits=2)
    assert message in " ".join(result.output.split())
    assert "Traceback" not in result.output
    assert ", seed " not in result.output


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


def test_sequential_halving_finds_the_best_where_noise_is_small():
    assert {sequential_halving(NormalWorld(20, 1e-9), seed, 150) for seed in range(20)} == {0}
    noisy = [
        np.mean([sequential_halving(NormalWorld(20, 1.0), s, n) for s in range(300)])
        for n in (20, 200, 2000)
    ]
    assert noisy[0] > noisy[1] > noisy[2]


def test_the_shortcut_for_sequential_halving_is_as_good_as_the_decider():
    """With 32 candidates and 320 observations both spend 64 in each of five rounds."""
    world, seeds = NormalWorld(32, 1.0), range(40)
    short = np.array([sequential_halving(world, seed, 320) for seed in seeds])
    played = []
    for seed in seeds:
        drawn = world.draw(seed)
        settings = {"decider": SequentialHalving(first_test=1), "budget": 320}
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
