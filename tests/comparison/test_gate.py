"""The gate of methods that compare each pair on its own."""

from functools import partial
from typing import Literal

import numpy as np
import pandas as pd
import pytest

import racer
from racer.comparison.columns import Columns
from racer.comparison.example import example_scores
from racer.comparison.methods.base import ALIKE, Settings
from racer.comparison.methods.gate import _flips, omnibus_test, pairs_differ
from racer.comparison.methods.signed_rank import signed_rank
from racer.comparison.methods.strengths import by_bradley_terry, by_plackett_luce
from racer.comparison.scores import Scores, read_scores
from racer.stats import sign_flip_test
from racer.stats.sign_flips import all_flips, signs

compare = partial(racer.compare, goal="min")  # of costs

METHODS: tuple[Literal["signed-rank", "bradley-terry", "plackett-luce"], ...] = (
    *("signed-rank", "bradley-terry", "plackett-luce"),
)
UNGATED = dict(zip(METHODS, (signed_rank, by_bradley_terry, by_plackett_luce), strict=True))
SETTINGS = Settings(0.05, None, None, None, None, 0)
PAIRS = np.triu_indices(6, 1)


def read(costs: np.ndarray) -> Scores:
    """Return a table of costs as scores."""
    return read_scores(pd.DataFrame(costs), Columns(None, None, None, None), maximize=False)


def equals(seed: int, n: int = 10, m: int = 6) -> np.ndarray:
    """Return scores of equal algorithms."""
    return np.random.default_rng(seed).normal(size=(n, m))


@pytest.mark.parametrize("method", METHODS)
def test_none_of_equals_is_called_better(method):
    found = compare(equals(5), method)
    assert found.omnibus is not None
    assert not found.omnibus.rejected
    assert not (found.pairs["decision"] == "better").any()
    assert found.notes[-1] == ALIKE
    alone = UNGATED[method](read(equals(5)), SETTINGS).pairs
    assert (alone["decision"] == "better").any()
    assert "is not rejected: sign-flip test" in " ".join(str(found).split())


def test_beside_a_closed_gate_no_prior_is_said_to_decide():
    costs = equals(5, 12, 4)
    alone = signed_rank(read(costs), SETTINGS)
    assert (alone.pairs["decision"] == "indeterminate").any()
    found = compare(costs, "signed-rank")
    assert set(found.pairs["decision"]) == {"undecided"}
    assert found.notes == (ALIKE,)
    gated = alone.pairs["decision"] == "indeterminate"
    assert ((found.pairs["depends_on"] == "gate") == gated).all()
    assert '"all alike" is not rejected' in found.prose()
    assert "the prior" not in found.prose()


def test_the_gate_is_not_asked_about_equivalence():
    found = compare(equals(5, 12, 4), "signed-rank", rope=3.0)
    assert found.omnibus is not None
    assert not found.omnibus.rejected
    assert "equivalent" in set(found.pairs["decision"])


def test_what_no_prior_decides_stays_indeterminate_past_the_gates():
    costs = np.arange(4.0)[:, None] + np.array([0.0, 0.0, 30.0])
    costs[:, 1] += np.where(np.arange(4) % 2, 1e-3, -1e-3)
    found = compare(costs, "signed-rank", rope=1.0)
    assert found.omnibus is not None
    assert found.omnibus.rejected
    assert "indeterminate" in set(found.pairs["decision"])
    assert found.notes == ("1 pair would be decided by the prior.",)
    for row in found.to_dict()["pairs"]:
        assert (row["depends_on"] == "prior") == (row["decision"] == "indeterminate")


@pytest.mark.parametrize("method", METHODS)
def test_an_open_gate_leaves_the_statements_as_they_were(method):
    costs = equals(5) + np.arange(6.0)
    found = compare(costs, method)
    assert found.omnibus is not None
    assert found.omnibus.rejected
    assert ALIKE not in found.notes
    assert (found.pairs["decision"] == "better").sum() > 7


@pytest.mark.parametrize("method", METHODS)
def test_one_that_is_better_opens_the_gate_for_no_pair_of_equals(method):
    costs = equals(0, n=20, m=8)
    costs[:, 0] -= 2.0
    found = compare(costs, method)
    alone = UNGATED[method](read(costs), SETTINGS).pairs
    first = found.algorithms[0]
    better = found.pairs[found.pairs["decision"] == "better"]
    assert better["better"].tolist() == [first] * 7
    assert (alone.loc[alone["better"] != first, "decision"] == "better").any()
    n_left = (found.pairs["probability"] > 0.95).sum() - 7
    assert any(f'"both alike" for {n_left} pair' in note for note in found.explained)


def test_prose_says_in_the_same_sentence_why_a_probable_pair_is_undecided():
    found = racer.compare(example_scores(), "bradley-terry", goal="max")
    assert 'lda (>0.999 for lgbm, but "both alike" is not rejected, r = 0.45)' in found.prose()
    assert "svm (0.895 for lgbm, r = 0.15)" in found.prose()
    few = racer.compare(example_scores()[:6], "bradley-terry", goal="max")
    assert not few.omnibus.rejected
    assert ', but "all alike" is not rejected, r = ' in few.prose()


@pytest.mark.thorough
def test_equals_beside_one_that_is_better_are_told_apart_as_seldom_as_the_level_says():
    i, j = np.triu_indices(6, 1)
    among_equals, of_the_better = 0, 0
    for seed in range(80):
        costs = equals(seed + 1000, n=12)
        costs[:, 0] -= 2.0
        differ = pairs_differ(read(costs), i, j, signs(np.arange(12), 500, seed), 0.05)
        among_equals += differ[i > 0].any()
        of_the_better += differ[i == 0].sum()
    assert among_equals <= 6  # 5 were found
    assert of_the_better >= 300  # of 400; 320 were found


def test_of_one_pair_it_is_the_test_by_sign_flips():
    costs = equals(2, n=9, m=2) + np.array([0.0, 0.8])
    flips = all_flips(9)
    pair = np.array([0]), np.array([1])
    p_value = sign_flip_test(costs).p_value
    for level in (0.99 * p_value, 1.01 * p_value):
        differ = pairs_differ(read(costs), *pair, flips, level)
        assert differ.tolist() == [level > p_value]


def test_the_order_of_the_pairs_decides_nothing():
    scores = read(equals(3, n=15, m=9) + np.linspace(0.0, 2.0, 9))
    i, j = np.triu_indices(9, 1)
    flips = signs(np.arange(15), 500, 0)
    order = np.random.default_rng(0).permutation(len(i))
    whole = pairs_differ(scores, i, j, flips, 0.05)
    assert 0 < whole.sum() < len(i)
    np.testing.assert_array_equal(
        pairs_differ(scores, j[order], i[order], flips, 0.05), whole[order]
    )


def test_the_statement_on_two_algorithms_has_no_gate():
    costs = equals(1, m=2) + np.array([0.0, 1.5])
    found = compare(costs, "signed-rank")
    assert found.omnibus is None
    alone = signed_rank(read(costs), SETTINGS).pairs["decision"]
    assert found.pairs["decision"].tolist() == alone.tolist() == ["better"]


def test_complete_tables_are_tested_as_by_the_sign_flip_test():
    costs = equals(3, n=8, m=4) + np.array([0.0, 0.5, 1.0, 1.0])
    alone = sign_flip_test(costs)  # all 128 flips, as here
    test = omnibus_test(read(costs), SETTINGS)
    assert (test.statistic, test.probability) == (alone.statistic, alone.p_value)


def test_few_data_sets_need_the_f_statistic_as_well():
    found = compare(equals(1, n=4, m=4) / 10 + np.arange(4.0), "bradley-terry")
    assert found.omnibus is not None
    assert found.omnibus.rejected
    assert found.omnibus.test == "Iman-Davenport F"
    assert "iman1980" in found.references


@pytest.mark.thorough
def test_missing_scores_keep_the_level_and_the_power():
    rejected = {0.0: 0, 1.5: 0}
    for shift, repetitions in ((0.0, 60), (1.5, 30)):
        for seed in range(repetitions):
            rng = np.random.default_rng([seed, 7])
            costs = rng.normal(size=(12, 5)) + shift * np.eye(5)[4]
            costs[rng.random(costs.shape) < 0.3] = np.nan
            rejected[shift] += omnibus_test(read(costs), SETTINGS).rejected
    assert rejected[0.0] <= 4  # 2 were found
    assert rejected[1.5] >= 13  # of 30; 15 were found


@pytest.mark.parametrize("n", [13, 40])
def test_the_order_of_rows_and_columns_decides_nothing(n):
    names = [*"abcdef"]
    for seed in range(3):
        rng = np.random.default_rng(seed)
        costs = rng.normal(size=(n, 6)) + rng.normal(size=6) * 2.5 / np.sqrt(n)
        table = pd.DataFrame(costs, columns=names)
        found = set()
        for _ in range(3):
            shown = table.iloc[rng.permutation(n), rng.permutation(6)]
            scores = read_scores(shown, Columns(None, None, None, None), maximize=False)
            i, j = (np.array([scores.algorithms.index(names[k]) for k in at]) for at in PAIRS)
            differ = pairs_differ(scores, i, j, _flips(scores, SETTINGS), 0.05)
            found.add((round(omnibus_test(scores, SETTINGS).probability, 12), *differ.tolist()))
        assert len(found) == 1


def test_there_are_as_many_flips_as_a_level_needs():
    assert _flips(read(equals(0, n=14)), SETTINGS).shape == (2**13, 14)
    assert _flips(read(equals(0, n=15)), SETTINGS).shape == (10_000, 15)
    strict = SETTINGS._replace(alpha=1e-4)
    assert _flips(read(equals(0, n=40)), strict).shape == (50_000, 40)


@pytest.mark.parametrize("method", ["bradley-terry", "plackett-luce"])
@pytest.mark.parametrize(("n_wins", "decision"), [(8, "undecided"), (9, "better")])
def test_of_two_algorithms_strengths_hold_the_level_that_is_printed(method, n_wins, decision):
    """Eight wins of ten or more, either way, are as frequent as .11 among equals."""
    costs = np.where(np.arange(10)[:, None] < n_wins, [0.0, 1.0], [1.0, 0.0])
    found = compare(costs, method)
    assert found.pairs["probability"].item() > 0.95
    assert found.pairs["decision"].item() == decision
