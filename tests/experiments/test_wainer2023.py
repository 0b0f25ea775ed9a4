"""The script that reruns the tables of Wainer (2023)."""

from typed import typed

from experiments.report import read
from experiments.wainer2023 import tables


def test_the_command_prints_and_writes_published_and_ours(tmp_path):
    path = tmp_path / "summary.csv"
    arguments = ["--draws", "2000", "--csv", str(path)]
    result = typed(*arguments, command=tables.main, exits=0)
    rows = read(path)
    assert len(rows) == 10 * 6 + 10 * 4
    assert max(abs(float(row["difference"])) for row in rows) < 0.06
    assert "| lgbm, xgb | 9/8/3     | 8/6/6  |" in result.output
