"""What is known of whom on which block."""

from __future__ import annotations

import numpy as np
import pytest

from racer import Outcome
from racer.tuner.knowledge import Knowledge

FAILED = Outcome("failed", None, 1.0)


def knowledge(cells, **settings):
    known = Knowledge(**settings)
    for (candidate, block), value in cells.items():
        known.add(candidate, block, FAILED if value is None else Outcome("ok", value))
    return known


CELLS = {(0, 0): 1.0, (0, 1): 3.0, (0, 4): None, (2, 1): 5.0, (2, 4): 6.0, (2, -1): 100.0}


def test_what_is_known():
    known = knowledge(CELLS)
    assert known.of(1) == {}
    assert known.of(0)[1].value == 3.0
    assert known.blocks() == [-1, 0, 1, 4]
    assert known.common([0, 2]) == [1, 4]
    assert known.common([2]) == [1, 4]
    assert known.common([1, 2]) == []
    by_block = known.by_block()
    assert [candidate for candidate, _ in by_block[1]] == [0, 2]
    assert set(by_block) == {-1, 0, 1, 4}


def test_means_are_over_successes_without_held_out_blocks():
    known = knowledge(CELLS)
    assert known.mean(0) == 2.0
    assert known.mean(2) == 5.5
    assert known.mean(1) is None
    assert knowledge({(0, 0): None}).mean(0) is None


def test_means_of_the_largest_floats_are_finite():
    assert knowledge({(0, b): 1.7e308 for b in range(3)}).mean(0) == pytest.approx(1.7e308)


def test_costs_on_common_blocks():
    np.testing.assert_array_equal(knowledge(CELLS).costs([2, 0]), [[5, 3], [6, np.inf]])
    np.testing.assert_array_equal(
        knowledge(CELLS, maximize=True).costs([2, 0]), [[-5, -3], [-6, np.inf]]
    )


def test_costs_on_all_blocks():
    nan, inf = np.nan, np.inf
    np.testing.assert_array_equal(knowledge(CELLS).all_costs([0, 2]), [[1, nan], [3, 5], [inf, 6]])


def test_blocks_without_any_success_are_left_out():
    known = knowledge({(0, 0): None, (1, 0): None, (0, 1): 1.0, (1, 1): None})
    np.testing.assert_array_equal(known.costs([0, 1]), [[1, np.inf]])
    np.testing.assert_array_equal(known.all_costs([0, 1]), [[1, np.inf]])
    assert known.has_any_success
    assert not known.is_all_equal
    assert (known.is_usable(0), known.is_usable(1), known.is_usable(9)) == (False, True, False)


def test_whether_anything_speaks_for_anyone():
    failed = knowledge({(0, 0): None, (1, 0): None, (0, -1): 3.0})
    assert not failed.has_any_success
    equal = knowledge({(0, 0): 1.0, (1, 0): 1.0, (0, 1): 2.0, (0, -1): 3.0, (1, -1): 4.0})
    assert equal.is_all_equal
    assert not knowledge({(0, 0): 1.0, (1, 0): 2.0}).is_all_equal
    assert not knowledge({(0, 0): 1.0, (1, 0): None}).is_all_equal
