"""Benavoli, Corani, Mangili, Zaffalon: A Bayesian nonparametric procedure (ICML 2015), Table 1.

The 30 x 4 ranks behind the table are not printed with the paper. The p-values of its rows imply
the counts of blocks won, and a table with these counts is built here: the marginal columns
depend on nothing else; the joint column varies a little among such tables (0.0587 to 0.0599 and
0.516 to 0.541), and must lie within that.

The mean ranks that the paper states (1.3, 2.5, 2.9, 3.3) cannot be met together with the counts.
A mean rank is 1 plus the blocks lost to each other candidate over 30. X4 loses 20 to X2 and 15 to
X3, so it is at most 1 + (30 + 20 + 15) / 30 = 3.17; and X3, which loses 20 to X2 and 15 to X4,
would at 2.9 lose only 22 to X1, whose row would then not print 0.0000. Here X1 wins 27 of 30
blocks against each, which gives it 1.3 as printed, and the others 2.57, 3.07 and 3.07.
"""

import csv
from pathlib import Path

import numpy as np
import pytest

from experiments.benavoli2015 import table1
from racer.stats import (
    bayesian_friedman_test,
    bayesian_sign_test,
    friedman_test,
    joint_comparisons,
    sign_test,
)

TABLE_1 = Path(table1.__file__).parent / "data" / "table1.csv"
STATEMENTS = ["X1<X3", "X1<X4", "X1<X2", "X2<X3", "X2<X4", "X3<X4"]


def pair(statement):
    """Columns of "X2<X3": 1 and 2."""
    better, worse = statement.split("<")
    return int(better[1:]) - 1, int(worse[1:]) - 1


@pytest.fixture(scope="module")
def table_1():
    with TABLE_1.open(newline="") as file:
        rows = {row["statement"]: row for row in csv.DictReader(file)}
    assert list(rows) == STATEMENTS
    return rows


@pytest.fixture(scope="module")
def ranks():
    """30 blocks in which X2 beats X3 and X4 in 20, X3 beats X4 in 15, X1 beats each in 27."""
    return table1.ranks()


@pytest.fixture(scope="module")
def joint(ranks):
    """With draws enough for a standard error of 0.00024 at 0.06."""
    return joint_comparisons(ranks, draws=1_000_000)


@pytest.mark.parametrize("statement", STATEMENTS)
def test_the_table_built_has_the_published_counts(table_1, ranks, statement):
    better, worse = pair(statement)
    wins = int((ranks[:, better] < ranks[:, worse]).sum())
    row = table_1[statement]
    expected = (row["wins"], row["losses"]) if row["wins"] else ("27", "3")
    assert (str(wins), str(30 - wins)) == expected


def test_mean_ranks_are_as_near_as_the_counts_allow(ranks):
    """Example 1 prints 1.3, 2.5, 2.9, 3.3: the first is met, the rest cannot be."""
    assert friedman_test(ranks).mean_ranks.round(2).tolist() == [1.30, 2.57, 3.07, 3.07]


@pytest.mark.parametrize("statement", STATEMENTS)
def test_sign_test_column(table_1, ranks, statement):
    """Table 1, first column: one-sided p-values, 0.0494 and 0.5722 among them."""
    better, worse = pair(statement)
    result = sign_test(ranks[:, better], ranks[:, worse], alternative="better")
    assert f"{result.p_value:.4f}" == table_1[statement]["p_sign_test"]


@pytest.mark.parametrize("statement", STATEMENTS)
def test_marginal_column(table_1, ranks, joint, statement):
    """Table 1, second column: 0.0307 and 0.5000 among them, by both functions that give it."""
    better, worse = pair(statement)
    published = table_1[statement]["one_minus_posterior"]
    single = bayesian_sign_test(ranks[:, better], ranks[:, worse])
    assert f"{1 - single.probability:.4f}" == published
    (found,) = (s for s in joint.statements if (s.better, s.worse) == (better, worse))
    assert f"{1 - found.probability:.4f}" == published


@pytest.mark.parametrize(("wins", "p_value", "marginal"), [(20, 0.0494, 0.0307), (15, 0.5722, 0.5)])
def test_columns_from_the_counts_alone(wins, p_value, marginal):
    """Table 1, rows 4 to 6: only the counts matter, not the size of the differences."""
    x, y = [0.0] * wins + [2.0] * (30 - wins), [1.0] * 30
    assert round(sign_test(x, y, alternative="better").p_value, 4) == p_value
    assert round(1 - bayesian_sign_test(x, y).probability, 4) == marginal


def test_statements_stand_in_the_published_order(joint):
    """Table 1, rows: by marginal probability, X1 < X2 last among those of X1."""
    assert [(s.better, s.worse) for s in joint.statements] == [pair(s) for s in STATEMENTS]


def test_joint_column(table_1, joint):
    """Table 1, third column, in the range that tables with the published counts can give."""
    first, second, third, fourth, fifth, sixth = (1 - s.joint for s in joint.statements)
    for value, statement in zip((first, second, third), STATEMENTS[:3], strict=True):
        assert f"{value:.4f}" == table_1[statement]["one_minus_joint_posterior"]
    published = float(table_1["X2<X3"]["one_minus_joint_posterior"])
    assert fourth == pytest.approx(published, abs=4 * np.sqrt(0.0307 * 0.9693 / 1_000_000) + 5e-5)
    assert 0.0587 <= fifth <= 0.0599
    assert 0.516 <= sixth <= 0.541


def test_four_statements_hold(joint):
    """Example 1: "up to four statements the probability of error remains below" 0.05.

    The fourth and the fifth tie, by the counts and so by the mean ranks: we accept neither.
    """
    assert sum(s.joint > 0.95 for s in joint.statements) == 4
    assert len(joint.accepted) == 3
    assert (joint.n_blocks, joint.n_dropped) == (30, 0)


def test_all_equal_is_rejected_first(ranks):
    """Example 1: the Friedman test rejects (p about 1e-9 for the paper's own ranks)."""
    assert friedman_test(ranks).p_value < 1e-6
    result = bayesian_friedman_test(ranks)
    assert result.rejected
    assert result.gate == "bayesian"
