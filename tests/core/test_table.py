"""The table: values as given on one side, costs to be minimised on the other."""

import math
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from racer import Outcome, Runtime
from racer.core.table import Failure, Row, Table, with_success

NAN, INF = float("nan"), float("inf")
FAILED = Outcome("failed", None, seconds=1.0)


def ok(*values):
    return [Outcome("ok", float(value)) for value in values]


def table_of(cells, **settings):
    """Return a table of values by (candidate, block); None: failed."""
    table = Table(**settings)
    for (candidate, block), value in cells.items():
        table.add(block, [candidate], [FAILED] if value is None else ok(value))
    return table


CELLS = {(0, 0): 1.0, (0, 1): 3.0, (0, 4): None, (2, 1): 5.0, (2, 4): 6.0}


def test_larger_is_better_is_turned_round_at_the_door_only():
    table = Table(maximize=True)
    assert table.add(0, [0, 1, 2], ok(3, 1, 2)).costs(maximize=True).tolist() == [-3, -1, -2]
    assert table.values(3).tolist() == [[3, 1, 2]]
    assert table.costs([2, 0]).tolist() == [[-2, -3]]
    assert table.mean(0) == 3.0


@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize("status", ["failed", "invalid", "timeout", "memory", "killed"])
def test_a_failed_cell_costs_infinity_and_is_listed(status, maximize):
    table = Table(maximize=maximize)
    failed = Outcome(status, None, seconds=0.5, message="why")
    costs = table.add(0, [0, 2], [*ok(3), failed]).costs(maximize=maximize)
    assert costs.tolist() == [-3 if maximize else 3, INF]
    assert table.failures == [Failure(0, 2, status, "why")]
    assert np.array_equal(table.values(3), [[3, NAN, NAN]], equal_nan=True)
    assert table.set_aside == []
    assert table.costs([2, 0]).tolist() == [[INF, -3 if maximize else 3]]


def test_a_block_is_usable_as_soon_as_one_candidate_succeeds_later():
    table = table_of({(0, 0): None})
    assert table.set_aside == [0]
    table.add(0, [1], ok(2))
    assert (table.set_aside, table.n_usable, len(table)) == ([], 1, 1)


def test_costs_of_an_empty_table_and_of_one_set_aside():
    table = Table()
    assert table.costs([0, 1]).shape == (0, 2)
    table.add(5, [0, 1], [FAILED] * 2)
    assert table.costs([0, 1]).shape == (0, 2)
    assert table.values(2).shape == (1, 2)


def test_means_are_over_the_successful_cells_and_keep_up():
    table = Table()
    assert table.mean(0) is None
    table.add(0, [0, 1, 2], [*ok(1, 10), FAILED])
    assert [table.mean(c) for c in range(3)] == [1, 10, None]
    table.add(1, [0, 2], ok(2, 4))
    table.add(2, [0], [FAILED])
    assert [table.mean(c) for c in range(3)] == [1.5, 10, 4]


@given(st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=30), st.data())
def test_a_mean_does_not_depend_on_when_it_is_asked(values, data):
    table = Table()
    for block, value in enumerate(values):
        table.add(block, [0], ok(value))
        if data.draw(st.booleans()):
            table.mean(0)
    assert table.mean(0) == math.fsum(values) / len(values)


def test_means_of_the_largest_floats_are_finite():
    table = table_of({(0, block): 1.7e308 for block in range(3)})
    assert table.mean(0) == pytest.approx(1.7e308)
    largest = sys.float_info.max
    for n in range(1, 40):
        assert table_of({(0, block): largest for block in range(n)}).mean(0) == largest


def test_outcomes_by_candidate_and_common_blocks():
    table = table_of(CELLS)
    assert table.of(1) == {}
    assert table.of(0)[1].value == 3.0
    assert table.common([0, 2]) == [1, 4]
    assert table.common([2]) == [1, 4]
    assert table.common([1, 2]) == []


def test_cells_come_in_the_order_of_blocks_then_candidates():
    table = table_of({(2, 1): 5.0, (0, 1): 3.0, (1, 0): 1.0})
    assert [(block, candidate, o.value) for block, candidate, o in table.cells()] == [
        (0, 1, 1.0),
        (1, 0, 3.0),
        (1, 2, 5.0),
    ]


def test_costs_on_common_blocks():
    np.testing.assert_array_equal(table_of(CELLS).costs([2, 0]), [[5, 3], [6, INF]])
    np.testing.assert_array_equal(
        table_of(CELLS, maximize=True).costs([2, 0]), [[-5, -3], [-6, INF]]
    )


def test_costs_on_all_blocks():
    np.testing.assert_array_equal(table_of(CELLS).all_costs([0, 2]), [[1, NAN], [3, 5], [INF, 6]])


def test_blocks_without_any_success_are_left_out():
    table = table_of({(0, 0): None, (1, 0): None, (0, 1): 1.0, (1, 1): None})
    np.testing.assert_array_equal(table.costs([0, 1]), [[1, INF]])
    np.testing.assert_array_equal(table.all_costs([0, 1]), [[1, INF]])


def test_blocks_on_which_only_others_succeeded_can_be_left_out():
    table = table_of({(0, 0): None, (1, 0): None, (2, 0): 1.0, (0, 1): 1.0, (1, 1): 2.0})
    np.testing.assert_array_equal(table.costs([0, 1]), [[INF, INF], [1, 2]])
    np.testing.assert_array_equal(with_success(table.costs([0, 1])), [[1, 2]])


def test_a_row_gives_back_the_outcomes_that_it_was_made_of():
    told = [
        Outcome("ok", 1.0, seconds=0.5, worker="b:2"),
        Outcome("ok", 2.0, attempts=3),
        Outcome("ok", 3.0, metrics={"a": 3.0}),
        Outcome("ok", 4.0, spend=0.25),
        FAILED,
    ]
    row = Row.of(7, range(5), told)
    assert row.outcomes() == told
    assert [row.outcome(place) for place in range(5)] == told
    assert set(row.others) == {1, 2, 3, 4}  # the first costs no object


@pytest.mark.parametrize("runtime", [None, Runtime(9.0)], ids=["plain", "run times"])
@pytest.mark.parametrize("later", [0, 3], ids=["all at once", "some later"])
def test_many_rows_are_looked_up_as_few_are(monkeypatch, runtime, later):
    """Columns made at once, of which outcomes are made when they are looked at."""
    rng, rows = np.random.default_rng(1), []
    for block in [*range(20), 3, 3]:
        numbers = rng.permutation(5)[: rng.integers(1, 6)]
        told = [
            Outcome("failed", None, seconds=1.0, message="cold")
            if rng.random() < 0.2
            else Outcome("capped", 2.0, seconds=2.0, worker="a:1")
            if runtime and rng.random() < 0.3
            else Outcome("ok", rng.normal(), seconds=0.5, worker="b:2", attempts=1 + block % 2)
            for _ in numbers
        ]
        rows.append((block, numbers, told))
    tables = []
    for many in (10**9, 1):
        monkeypatch.setattr("racer.core.table._MANY", many)
        table = Table(runtime=runtime)
        for block, numbers, told in rows[: len(rows) - later]:
            table.add(block, numbers, told)
        table.set_repeated(4)
        column = table.of(0)
        assert column
        for block, numbers, told in rows[len(rows) - later :]:
            table.add(block, numbers, told)
        assert table.of(0) is column  # new rows are added to it, not all sorted again
        tables.append(table)
    few, many = tables
    for c in range(6):
        blocks = sorted(few.of(c))
        assert many.mean(c) == few.mean(c)
        assert many.of(c).values_on([*blocks, 99]) == few.of(c).values_on(blocks)
        failed = [(o.status, o.value) for o in few.of(c).unsuccessful()]
        assert [(o.status, o.value) for o in many.of(c).unsuccessful()] == failed
        assert len(failed) == sum(o.status != "ok" for o in few.of(c).values())
        assert many.of(c).get(blocks[0] if blocks else 7) == few.of(c).get(
            blocks[0] if blocks else 7
        )
        assert many.of(c).values_on(blocks) == few.of(c).values_on(blocks)
        assert dict(many.of(c)) == dict(few.of(c))
    assert many.common([0, 1]) == few.common([0, 1])
    assert np.array_equal(many.all_costs([0, 1, 2]), few.all_costs([0, 1, 2]), equal_nan=True)
    assert [*many.cells()] == [*few.cells()]
