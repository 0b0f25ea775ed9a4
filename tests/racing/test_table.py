"""The table: values as given on one side, costs to be minimised on the other."""

from __future__ import annotations

import numpy as np
import pytest

from racer import Outcome
from racer.racing.table import Failure, Table

NAN, INF = float("nan"), float("inf")


def ok(*values):
    return [Outcome("ok", float(value)) for value in values]


def who(*candidates):
    return np.array(candidates, dtype=np.intp)


def test_a_block_comes_back_as_costs():
    table = Table(3)
    assert table.add(0, 5, who(0, 1, 2), ok(3, 1, 2)).tolist() == [3, 1, 2]
    assert table.scores().tolist() == [[3, 1, 2]]


def test_larger_is_better_is_turned_round_at_the_door_only():
    table = Table(3, maximize=True)
    assert table.add(0, 5, who(0, 1, 2), ok(3, 1, 2)).tolist() == [-3, -1, -2]
    assert table.scores().tolist() == [[3, 1, 2]]
    assert table.costs(who(2, 0)).tolist() == [[-2, -3]]
    assert table.mean(0) == 3.0


@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize("status", ["failed", "invalid", "timeout", "memory", "killed"])
def test_a_failed_cell_costs_infinity_and_is_listed(status, maximize):
    table = Table(3, maximize=maximize)
    failed = Outcome(status, None, 0.5, "why")
    costs = table.add(0, 5, who(0, 2), [*ok(3), failed])
    assert costs.tolist() == [-3 if maximize else 3, INF]
    assert table.failures == [Failure(0, 2, status, "why")]
    assert np.array_equal(table.scores(), [[3, NAN, NAN]], equal_nan=True)
    assert table.set_aside == []


def test_a_block_in_which_all_failed_is_set_aside():
    table = Table(2)
    failed = Outcome("failed", None)
    assert table.add(0, 5, who(0, 1), [failed, failed]) is None
    assert table.add(1, 6, who(0, 1), ok(1, 2)) is not None
    assert table.set_aside == [0]
    assert len(table.failures) == 2
    assert table.scores().shape == (2, 2)
    assert table.costs(who(0, 1)).tolist() == [[1, 2]]


def test_costs_of_an_empty_table_and_of_one_set_aside():
    table = Table(2)
    assert table.costs(who(0, 1)).shape == (0, 2)
    table.add(None, 5, who(0, 1), [Outcome("failed", None)] * 2)
    assert table.costs(who(0, 1)).shape == (0, 2)
    assert table.scores().shape == (1, 2)


def test_means_are_over_the_successful_cells_and_keep_up():
    table = Table(3)
    assert table.mean(0) is None
    table.add(0, 5, who(0, 1, 2), [*ok(1, 10), Outcome("failed", None)])
    assert [table.mean(c) for c in range(3)] == [1, 10, None]
    table.add(1, 6, who(0, 2), ok(2, 4))
    table.add(
        2,
        7,
        who(
            0,
        ),
        [Outcome("failed", None)],
    )
    assert [table.mean(c) for c in range(3)] == [1.5, 10, 4]


def test_means_near_the_largest_float_do_not_warn():
    table = Table(1)
    for _ in range(3):
        table.add(0, 5, who(0), ok(1.7e308))
    assert table.mean(0) == INF
