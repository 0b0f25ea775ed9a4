"""The script that reruns the tables of Wainer (2023)."""

import csv
import importlib.util
from pathlib import Path

from click.testing import CliRunner

ROOT = Path(__file__).parents[2]


def test_script(tmp_path):
    spec = importlib.util.spec_from_file_location("bt_script", ROOT / "scripts/bradley_terry.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    path = tmp_path / "summary.csv"
    arguments = ["--draws", "2000", "--csv", str(path)]
    result = CliRunner().invoke(module.main, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 10 * 6 + 10 * 4
    assert max(abs(float(row["difference"])) for row in rows) < 0.06
    assert "| lgbm, xgb | 9/8/3     | 8/6/6  |" in result.output
