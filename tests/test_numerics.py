"""The numerical tools that rooms share."""

import subprocess
import sys

import numpy as np
import pytest

from racer._numerics import (
    TIE,
    RowBuffer,
    _blas,
    impute_by_block,
    impute_failed,
    impute_no_nearer,
    means_of,
    one_blas_thread,
    with_ties,
)

NOISY, PLAIN = 0.1 + 0.2, 0.3


@pytest.mark.filterwarnings("error")
def test_means_of_the_largest_floats_are_finite():
    most = sys.float_info.max
    rows = np.array([[most, most, 1.0, np.inf, np.nan], [most, -most, 2.0, most, 1.0]])
    np.testing.assert_equal(means_of(rows), [most, 0.0, 1.5, np.inf, np.nan])
    np.testing.assert_equal(means_of(rows[:, :2].reshape(2, 1, 2)), [[most, 0.0]])


def test_a_failure_beside_costs_that_tie_but_for_rounding_costs_the_usual_range():
    costs = np.array([[1.0, 3.0, 2.0], [NOISY, PLAIN, np.inf], [NOISY, PLAIN, PLAIN]])
    assert impute_by_block(costs)[1].tolist() == [NOISY, PLAIN, NOISY + 2.0]


class TestTies:
    def test_rounding_ties_with_the_smallest(self):
        costs = np.array([[NOISY, 5.0, PLAIN], [1.0, 2.0, 3.0], [-PLAIN, np.inf, -NOISY]])
        expected = [[PLAIN, 5.0, PLAIN], [1.0, 2.0, 3.0], [-NOISY, np.inf, -NOISY]]
        assert with_ties(costs).tolist() == expected

    def test_without_rounding_the_very_same_array_comes_back(self):
        costs = np.array([[1.0, 1.0, np.nan], [np.inf, np.inf, -np.inf], [0.0, 5e-324, 1e308]])
        assert with_ties(costs) is costs

    @pytest.mark.parametrize("scale", [1e-300, 1.0, -7.0, 1e308])
    def test_the_tolerance_is_relative(self, scale):
        tie, apart = ([[scale, scale * (1.0 + k * TIE), 0.0]] for k in (0.9, 1.1))
        assert len(np.unique(with_ties(np.array(tie)))) == 2
        assert len(np.unique(with_ties(np.array(apart)))) == 3

    def test_steps_join_and_the_order_of_columns_does_not_matter(self):
        row = 1.0 + 0.6 * TIE * np.array([0, 1, 2, 3, 9, 10])
        for seed in range(5):
            order = np.random.default_rng(seed).permutation(6)
            found = with_ties(row[None, order])
            np.testing.assert_array_equal(found[0], row[[0, 0, 0, 0, 4, 4]][order])
            assert with_ties(found) is found


class TestFailures:
    INF = float("inf")

    def test_they_are_one_range_behind_the_worst(self):
        assert impute_failed(np.array([1.0, self.INF, 4.0, 2.0])).tolist() == [1, 7, 4, 2]
        table = np.array([[1.0, self.INF], [4.0, 2.0]])
        assert impute_failed(table).tolist() == [[1, 7], [4, 2]]
        assert impute_failed(table, ranges=4.0).tolist() == [[1, 16], [4, 2]]

    @pytest.mark.parametrize(("value", "behind"), [(3.0, 6.0), (-3.0, 0.0), (0.1, 0.2), (0.0, 1.0)])
    def test_they_are_behind_where_all_costs_are_equal(self, value, behind):
        assert impute_failed(np.array([value, self.INF, value])).tolist() == [value, behind, value]
        assert impute_failed(np.array([[self.INF], [value]])).tolist() == [[behind], [value]]

    def test_something_else_must_be_known(self):
        with pytest.raises(ValueError, match="zero-size"):
            impute_failed(np.array([self.INF]))
        assert impute_failed(np.empty((0, 3))).shape == (0, 3)

    def test_without_a_range_in_a_block_the_usual_one_of_the_others_counts(self):
        nan, inf = np.nan, self.INF
        costs = np.array([[2.0, inf, nan], [1.0, 3.0, inf], [5.0, 5.0, inf], [inf, inf, nan]])
        expected = [[2.0, 4.0, nan], [1.0, 3.0, 5.0], [5.0, 5.0, 7.0], [nan, nan, nan]]
        np.testing.assert_array_equal(impute_by_block(costs), expected)
        np.testing.assert_array_equal(impute_by_block(costs[[0]]), [[2.0, 4.0, nan]])  # its size

    def test_who_is_far_behind_does_not_come_nearer_by_failing(self):
        nan, inf = np.nan, self.INF
        costs = np.array([[1.0, 2.0, 9.0], [11.0, 12.0, 15.0], [1.0, 2.0, inf], [nan, nan, 50.0]])
        assert impute_by_block(costs)[2].tolist() == [1.0, 2.0, 3.0]
        assert impute_no_nearer(costs)[2].tolist() == [1.0, 2.0, 9.0]
        before = [[2.0, 1.0], [1.0, inf], [inf, inf], [inf, 3.0]]  # a range behind is worse
        assert impute_no_nearer(np.array(before))[1].tolist() == [1.0, 2.0]
        assert impute_no_nearer(np.array(before))[3].tolist() == [4.0, 3.0]

    def test_a_failure_among_near_ties_costs_the_usual_range(self):
        costs = np.array([[1.0, 3.0, 2.0], [5.0, 5.0 + 1e-6, self.INF], [1.0, 3.0, 1.0]])
        assert impute_by_block(costs)[1, 2] == pytest.approx(5.0, abs=1e-5)
        assert impute_no_nearer(costs)[1, 2] == pytest.approx(7.0, abs=1e-5)

    def test_a_column_alone_on_its_blocks_is_imputed_by_block(self):
        costs = np.array([[self.INF, 3.0], [5.0, np.nan], [np.nan, 4.0]])
        np.testing.assert_array_equal(impute_no_nearer(costs), impute_by_block(costs))

    def test_without_any_the_very_same_array_comes_back(self):
        costs = np.array([1.0, 2.0])
        assert impute_failed(costs) is costs

    def test_no_sum_overflows_aloud(self):
        assert impute_failed(np.array([-1e308, 1e308, self.INF])).tolist()[2] == self.INF


class TestRowBuffer:
    def test_rows_come_back(self):
        rows = np.random.default_rng(0).random((100, 3))
        buffer = RowBuffer(3, np.float64)
        assert buffer.rows.shape == (0, 3)
        for row in rows[:40]:
            buffer.append(row)
        buffer.extend(rows[40:99])
        buffer.extend(rows[:0])
        buffer.append(rows[99])
        assert len(buffer) == 100
        np.testing.assert_array_equal(buffer.rows, rows)

    def test_keep(self):
        rows = np.arange(20.0).reshape(5, 4)
        buffer = RowBuffer(4, np.float64)
        buffer.extend(rows)
        buffer.keep(columns=np.array([0, 2]))
        buffer.keep(rows=np.array([4, 1]))
        np.testing.assert_array_equal(buffer.rows, [[16.0, 18.0], [4.0, 6.0]])
        buffer.append(np.array([7.0, 8.0]))
        np.testing.assert_array_equal(buffer.rows[-1], [7.0, 8.0])

    def test_growing_after_keeping_nothing(self):
        buffer = RowBuffer(2, np.float64)
        buffer.append(np.ones(2))
        buffer.keep(rows=np.array([], dtype=np.intp))
        assert len(buffer) == 0
        buffer.append(np.array([1.0, 2.0]))
        buffer.extend(np.zeros((3, 2)))
        np.testing.assert_array_equal(buffer.rows, [[1.0, 2.0], [0, 0], [0, 0], [0, 0]])


def test_the_blas_of_scipy_is_limited_although_it_is_loaded_after_the_first_limit():
    code = """
from threadpoolctl import threadpool_info, threadpool_limits
from racer._numerics import one_blas_thread
with one_blas_thread():
    pass
import scipy.linalg
with threadpool_limits(2, user_api="blas"), one_blas_thread():
    print(*{found["num_threads"] for found in threadpool_info() if found["user_api"] == "blas"})
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout.split() == ["1"]


def test_blas_has_its_threads_back_however_those_who_limit_it_overlap():
    libraries = _blas(with_scipy=True).lib_controllers
    assert libraries
    before = [library.get_num_threads() for library in libraries]

    def now():
        return [library.get_num_threads() for library in libraries]

    try:
        for library in libraries:
            library.set_num_threads(2)
        usual = now()
        one, other = one_blas_thread(), one_blas_thread()
        with one:
            assert now() == [1] * len(libraries)
            other.__enter__()
        other.__exit__(None, None, None)  # the last to leave was not the last to come
        assert now() == usual
        with pytest.raises(ZeroDivisionError), one_blas_thread():
            raise ZeroDivisionError
        assert now() == usual
    finally:
        for library, n in zip(libraries, before, strict=True):
            library.set_num_threads(n)
