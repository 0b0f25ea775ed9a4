"""The script that reruns the tables of Wainer (2023)."""

import pytest
from typed import typed

from experiments.report import read
from experiments.wainer2023 import ll, tables
from racer.stats import bradley_terry, win_table


def test_the_command_prints_and_writes_published_and_ours(tmp_path):
    path = tmp_path / "summary.csv"
    arguments = ["--draws", "1000", "--cases", "ss", "--csv", str(path)]
    typed(*arguments, command=tables.main, exits=0)
    rows = read(path)
    of_pairs, of_samples = rows[:100], rows[100:]
    assert max(abs(float(row["difference"])) for row in of_pairs) < 0.06
    assert len(of_samples) == 100
    waic = [row for row in of_samples if row["column"] == "waic" and "davidson" not in row["pair"]]
    assert max(abs(float(row["difference"])) for row in waic) < 3.0


def test_the_whole_data_have_the_counts_of_sections_7(tmp_path):
    """On all 132 data sets, with paired local ropes: the paper has 41, 0, 8 and 21, 1, 7."""
    train, _ = next(ll.parts("ll", 1))
    result = bradley_terry(win_table(train, maximize=True, local_rope="paired"))
    found = ll.counts(train, result)
    for test, printed in (("demsar", (41, 0, 8)), ("wilcoxon", (21, 1, 7))):
        assert list(found[test].values()) == pytest.approx(printed, abs=1)
