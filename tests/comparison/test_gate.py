"""The gate of methods that compare each pair on its own."""

from typing import Literal

import numpy as np
import pandas as pd
import pytest

import racer
from racer.comparison.columns import Columns
from racer.comparison.methods.base import ALIKE, Settings
from racer.comparison.methods.gate import omnibus_test
from racer.comparison.methods.signed_rank import signed_rank
from racer.comparison.methods.strengths import by_bradley_terry, by_plackett_luce
from racer.comparison.scores import Scores, read_scores
from racer.stats import sign_flip_test

METHODS: tuple[Literal["signed-rank", "bradley-terry", "plackett-luce"], ...] = (
    *("signed-rank", "bradley-terry", "plackett-luce"),
)
UNGATED = dict(zip(METHODS, (signed_rank, by_bradley_terry, by_plackett_luce), strict=True))
SETTINGS = Settings(0.05, None, None, None, None, 0)


def read(costs: np.ndarray) -> Scores:
    """Return a table of costs as scores."""
    return read_scores(pd.DataFrame(costs), Columns(None, None, None, None), maximize=False)


def equals(seed: int, n: int = 10, m: int = 6) -> np.ndarray:
    """Return scores of equal algorithms."""
    return np.random.default_rng(seed).normal(size=(n, m))


@pytest.mark.parametrize("method", METHODS)
def test_none_of_equals_is_called_better(method):
    found = racer.compare(equals(5), method)
    assert found.omnibus is not None
    assert not found.omnibus.rejected
    assert not (found.pairs["decision"] == "better").any()
    assert found.notes[-1] == ALIKE
    alone = UNGATED[method](read(equals(5)), SETTINGS).pairs
    assert (alone["decision"] == "better").any()
    assert "is not rejected: sign-flip test" in " ".join(str(found).split())


@pytest.mark.parametrize("method", METHODS)
def test_an_open_gate_leaves_the_statements_as_they_were(method):
    costs = equals(5) + np.arange(6.0)
    found = racer.compare(costs, method)
    assert found.omnibus is not None
    assert found.omnibus.rejected
    assert ALIKE not in found.notes
    assert (found.pairs["decision"] == "better").sum() > 7


def test_the_statement_on_two_algorithms_has_no_gate():
    costs = equals(1, m=2) + np.array([0.0, 1.5])
    found = racer.compare(costs, "signed-rank")
    assert found.omnibus is None
    alone = signed_rank(read(costs), SETTINGS).pairs["decision"]
    assert found.pairs["decision"].tolist() == alone.tolist() == ["better"]


def test_complete_tables_are_tested_as_by_the_sign_flip_test():
    costs = equals(3, n=8, m=4) + np.array([0.0, 0.5, 1.0, 1.0])
    alone = sign_flip_test(costs)  # all 128 flips, as here
    test = omnibus_test(read(costs), SETTINGS)
    assert (test.statistic, test.probability) == (alone.statistic, alone.p_value)


def test_few_data_sets_need_the_f_statistic_as_well():
    found = racer.compare(equals(1, n=4, m=4) / 10 + np.arange(4.0), "bradley-terry")
    assert found.omnibus is not None
    assert found.omnibus.rejected
    assert found.omnibus.test == "Iman-Davenport F"
    assert "iman1980" in found.references


def test_missing_scores_keep_the_level_and_the_power():
    rejected = {0.0: 0, 1.5: 0}
    for shift in rejected:
        for seed in range(100):
            rng = np.random.default_rng([seed, 7])
            costs = rng.normal(size=(12, 5)) + shift * np.eye(5)[4]
            costs[rng.random(costs.shape) < 0.3] = np.nan
            rejected[shift] += omnibus_test(read(costs), SETTINGS).rejected
    assert rejected[0.0] <= 8
    assert rejected[1.5] >= 50
