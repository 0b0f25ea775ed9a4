"""Demsar, Statistical Comparisons of Classifiers over Multiple Data Sets (JMLR 7, 2006).

Section 3.2.2 with Table 6: the AUC of four variants of C4.5 on 14 data sets, larger is better.
The table prints three decimals but ranks what was not rounded: on "voting" C4.5+cf and
C4.5+m+cf both show 0.975 and have ranks 2 and 3. Only with that tie broken do the printed mean
ranks come out. The statistic printed there, 9.28, is the one without a correction for ties.
"""

import csv
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import racer
from racer.stats import (
    friedman_test,
    mean_rank_posthoc,
    nemenyi_critical_difference,
    signed_rank_test,
)
from racer.stats.friedman import iman_davenport

TABLE_6 = Path(__file__).parents[1] / "data" / "demsar2006_table6_auc.csv"
C45, M, CF, M_CF = range(4)


@pytest.fixture(scope="module")
def printed():
    with TABLE_6.open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0][1:] == ["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"]
    table = {name: [float(cell) for cell in cells] for name, *cells in rows[1:]}
    assert len(table) == 14
    return table


@pytest.fixture(scope="module")
def auc(printed):
    """Table 6, with the ranks that it prints for "voting"."""
    table = {name: list(row) for name, row in printed.items()}
    assert table["voting"][CF] == table["voting"][M_CF]
    table["voting"][CF] += 0.0001
    return np.array(list(table.values()))


def test_mean_ranks_of_table_6(auc):
    """Last line of Table 6: 3.143, 2.000, 2.893, 1.964."""
    result = friedman_test(auc, maximize=True)
    assert result.mean_ranks.round(3).tolist() == [3.143, 2.000, 2.893, 1.964]
    assert (result.n_blocks, result.n_dropped) == (14, 0)


def test_mean_ranks_of_the_rounded_figures(printed):
    """The three printed decimals alone tie "voting" and so move two of the mean ranks."""
    result = friedman_test(list(printed.values()), maximize=True)
    assert result.mean_ranks.round(3).tolist() == [3.143, 2.000, 2.929, 1.929]


def test_friedman_statistic(auc):
    """Section 3.2.2: 9.28 without the correction for ties, by which the result is larger.

    Ties: iris, lung cancer and primary tumor one pair each, mushroom all four.
    """
    n, m = auc.shape
    ties = 3 * (2**3 - 2) + (4**3 - 4)
    correction = 1 - ties / (n * m * (m**2 - 1))
    result = friedman_test(auc, maximize=True)
    assert round(result.statistic * correction, 2) == 9.28
    assert result.statistic == pytest.approx(
        12 * n / (m * (m + 1)) * ((result.mean_ranks - 2.5) ** 2).sum() / correction, rel=1e-12
    )


def test_f_statistic():
    """Section 3.2.2: F_F = 13 * 9.28 / (14 * 3 - 9.28) = 3.69; F(3, 39) is 2.85 at 0.05."""
    f, p_value = iman_davenport(9.28, 14, 4)
    assert round(f, 2) == 3.69
    assert p_value < 0.05
    assert iman_davenport(14 * 3 * 2.85 / (13 + 2.85), 14, 4)[1] == pytest.approx(0.05, abs=5e-4)


def test_f_statistic_follows_from_the_statistic(auc):
    """The F of the table is the published function of its own statistic, and rejects as there."""
    result = friedman_test(auc, maximize=True)
    assert result.f_statistic == pytest.approx(
        13 * result.statistic / (14 * 3 - result.statistic), rel=1e-12
    )
    assert result.f_p_value < 0.05


@pytest.mark.parametrize(("alpha", "critical"), [(0.05, 1.25), (0.10, 1.12)])
def test_nemenyi_critical_difference(alpha, critical):
    """Section 3.2.2: CD 1.25 at 0.05 and 1.12 at 0.10."""
    assert round(nemenyi_critical_difference(4, 14, alpha=alpha), 2) == critical


@pytest.mark.parametrize(
    ("m", "at_5_percent", "at_10_percent"),
    [
        (2, 1.960, 1.645),
        (3, 2.343, 2.052),
        (4, 2.569, 2.291),
        (10, 3.164, 2.920),
    ],
)
def test_nemenyi_critical_values(m, at_5_percent, at_10_percent):
    """Table 5a: q at 0.05 and at 0.10, which the paper truncates or rounds to three decimals."""
    se = np.sqrt(m * (m + 1) / (6 * 7))
    for alpha, q in ((0.05, at_5_percent), (0.10, at_10_percent)):
        assert nemenyi_critical_difference(m, 7, alpha=alpha) / se == pytest.approx(q, abs=1e-3)


def test_what_nemenyi_finds(auc):
    """Section 3.2.2: nothing at 0.05; at 0.10 C4.5 is worse than C4.5+m and C4.5+m+cf."""
    ranks = friedman_test(auc, maximize=True).mean_ranks
    gaps = ranks[:, None] - ranks[None, :]
    assert not (gaps > nemenyi_critical_difference(4, 14, alpha=0.05)).any()
    found = np.argwhere(gaps > nemenyi_critical_difference(4, 14, alpha=0.10)).tolist()
    assert found == [[C45, M], [C45, M_CF]]


@pytest.mark.parametrize(
    ("other", "z", "p_value"), [(M_CF, 2.416, 0.016), (M, 2.342, 0.019), (CF, 0.512, 0.607)]
)
def test_z_against_c45(auc, other, z, p_value):
    """Section 3.2.2, the table of z = (R_0 - R_i) / SE with SE printed and used as 0.488.

    The two-sided p-values printed are good to 0.002 only: that of 0.512 is 0.609, not 0.607.
    """
    result = mean_rank_posthoc(auc, maximize=True)
    se = np.sqrt(4 * 5 / (6 * 14))
    assert round(se, 3) == 0.488
    assert result.statistics[C45, other] * se / 0.488 == pytest.approx(z, abs=1e-3)
    assert result.p_values[C45, other] == pytest.approx(p_value, abs=2e-3)


def test_wilcoxon_of_c45_and_its_m_variant(printed):
    """Section 3.1.3, Table 2: R+ = 93 and R- = 12, ranks of zeros split; T = 12 is below 21.

    Zeros rank 1.5 each (lung cancer, mushroom): 3 in all, half to either side.
    """
    table = np.array(list(printed.values()))
    result = signed_rank_test(table[:, M], table[:, C45], zeros="rank", maximize=True)
    assert (result.rank_sum_better + 1.5, result.rank_sum_worse + 1.5) == (93.0, 12.0)
    assert result.p_value < 0.05


def test_compare_finds_what_the_paper_finds(auc):
    """Section 3.2.2: Friedman rejects at 0.05; Nemenyi finds nothing there, at 0.10 two pairs."""
    frame = pd.DataFrame(auc, columns=["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"])
    for alpha, expected in (
        (0.05, set()),
        (0.10, {("C4.5+m", "C4.5"), ("C4.5+m+cf", "C4.5")}),
    ):
        found = racer.compare(frame, "friedman", posthoc="nemenyi", alpha=alpha, goal="max")
        assert found.omnibus.rejected
        better = found.pairs[found.pairs["decision"] == "better"]
        assert set(zip(better["better"], better["worse"], strict=True)) == expected
        ranks = dict(found.ranking[["algorithm", "mean_rank"]].to_numpy().tolist())
        assert {k: round(v, 3) for k, v in ranks.items()} == {
            "C4.5": 3.143,
            "C4.5+m": 2.0,
            "C4.5+cf": 2.893,
            "C4.5+m+cf": 1.964,
        }
        texts = [text.get_text() for text in found.plot().texts]
        assert f"CD = {1.25 if alpha == 0.05 else 1.12}" in texts
