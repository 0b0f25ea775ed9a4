"""The order of candidates by blocks of which only some cells are known."""

import zlib

import numpy as np
import pytest

import racer
from racer.evaluate.outcome import Outcome
from racer.tuner import Tuner
from racer.tuner.forecast import Forecast

ALL = np.arange(5)
COSTS = np.array([3.0, 1.0, 2.0, 5.0, 4.0])


def forecast(*rows):
    found = Forecast(5)
    for candidates, costs in rows:
        found.add(np.array(candidates), np.array(costs))
    return found


def test_complete_blocks_order_by_their_mean_above_the_median():
    assert forecast((ALL, COSTS), (ALL, COSTS + 100.0)).order(ALL, []).tolist() == [1, 2, 0, 4, 3]


def test_without_any_block_the_order_is_that_of_numbers():
    assert forecast().order(ALL, []).tolist() == [0, 1, 2, 3, 4]


def test_two_metrics_order_by_the_first():
    rows = np.column_stack([COSTS, -COSTS])
    assert forecast((ALL, rows)).order(ALL, []).tolist() == [1, 2, 0, 4, 3]


def test_only_those_that_are_in_count():
    """Candidate 1 was eliminated after the first block; 3, by far the worst, before the third."""
    found = forecast((ALL, COSTS), ([0, 2, 3, 4], [3.0, 2.0, 9.0, 4.0]))
    assert found.order(np.array([0, 2, 4]), []).tolist() == [2, 0, 4]


def test_a_part_of_a_block_moves_who_is_known_on_it():
    """Candidate 1 is so bad on it that three others pass; the effect of the block is none."""
    part = np.array([0, 1, 2, 4]), np.array([1003.0, 1009.0, 1002.0, 1004.0])
    assert forecast((ALL, COSTS)).order(ALL, [part]).tolist() == [2, 0, 4, 1, 3]


def test_two_cells_of_a_block_say_nothing():
    part = np.array([1, 3]), np.array([9.0, 0.0])
    assert forecast((ALL, COSTS)).order(ALL, [part]).tolist() == [1, 2, 0, 4, 3]


def test_before_the_first_complete_block_parts_order():
    part = np.array([0, 2, 3, 4]), np.array([3.0, np.inf, 1.0, 2.0])
    assert forecast().order(ALL, [part]).tolist() == [3, 4, 1, 0, 2]


@pytest.mark.parametrize("bad", [np.inf, 1e308])
def test_failures_and_outliers_count_three_standard_deviations(bad):
    """One of eight blocks does not put the best one behind, whatever happens on it."""
    rows = [(ALL, COSTS)] * 7 + [(ALL, [3.0, bad, 2.0, 5.0, 4.0])]
    assert forecast(*rows).order(ALL, []).tolist() == [1, 2, 0, 4, 3]


@pytest.mark.parametrize("costs", [np.zeros(5), np.full(5, np.inf)])
def test_ties_and_blocks_of_failures_order_nothing(costs):
    assert forecast((ALL, costs)).order(ALL, [(ALL[:4], costs[:4])]).tolist() == [0, 1, 2, 3, 4]


def in_vain(knows):
    """Return the shares of cells ahead that are never asked for, when half of a block is known."""
    space = racer.Space({"x": racer.Real(0.0, 5.0)})
    tuner = Tuner(space, range(30), budget=600, seed=1)
    ahead, asked = set(), set()
    while cells := tuner.ask():
        half = len(cells) // 2
        asked |= {cell.key for cell in cells}
        for cell in cells[:half]:
            tuner.tell(cell, outcome(cell))
        known, some = {}, [*tuner.ahead(3, {} if knows else None)]
        if knows:
            known = {cell.key: outcome(cell) for cell in some[: len(some) // 2]}
            some = [*tuner.ahead(3, known)]
        keys = [cell.key for cell in some]
        assert len(set(keys)) == len(keys)
        assert {cell.candidate for cell in some} <= set(tuner.alive)
        ahead |= {*keys, *known}
        for cell in cells[half:]:
            tuner.tell(cell, outcome(cell))
    return len(ahead - asked) / len(ahead), tuner.result().best


def outcome(cell):
    noise = zlib.crc32(repr((cell.config, cell.seed)).encode()) / 2**30
    return Outcome("ok", cell.config["x"] + noise)


def test_what_is_known_early_prefetches_less_in_vain_and_changes_no_result():
    (without, best), (share, same) = in_vain(knows=False), in_vain(knows=True)
    assert share < 0.9 * without
    assert same == best
