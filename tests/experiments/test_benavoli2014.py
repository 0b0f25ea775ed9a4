"""The script that reruns Tables 1 to 3 of Benavoli et al. (ICML 2014)."""

import numpy as np
import pytest
from typed import typed

from experiments.benavoli2014 import losses, published, tables
from experiments.report import read


@pytest.fixture(scope="module")
def curves():
    return losses.play(2, 40, 300, seed=3, jobs=1)


def test_area_of_a_constant_is_the_width_times_it(curves):
    assert losses.area(curves, lambda curve, truth: 1.0) == pytest.approx(0.14)
    assert losses.area(curves, lambda curve, truth: float(truth)) == pytest.approx(0.07)


def test_idp_and_dp_agree_where_idp_decides(curves):
    found = losses.tables(curves)
    assert found[2]["idp"] == found[2]["dp_s0"]
    for line in ("dp_s0", "wilcoxon"):
        sums = [
            found[3][f"{line}_H0_percent"][k] + found[3][f"{line}_H1_percent"][k] for k in losses.L1
        ]
        assert np.allclose(sums, 100)


def test_the_command_prints_and_writes_published_and_ours(tmp_path):
    path = tmp_path / "losses.csv"
    arguments = [
        "--repetitions",
        "20",
        "--steps",
        "1",
        "--draws",
        "200",
        "--jobs",
        "1",
        "--csv",
        str(path),
    ]
    result = typed(*arguments, command=tables.main, exits=0)
    rows = read(path)
    assert len(rows) == sum(len(published.table(number)) for number in (1, 2, 3)) * 5
    first = rows[0]
    assert (first["test"], first["l1"], first["published"]) == ("dp_s0", "1", "0.025")
    assert f"0.025 / {float(first['ours']):.3f}" in result.output
