"""The numerical tools that rooms share."""

import sys

import numpy as np
import pytest
from processes import python

from racer._numerics import (
    TIE,
    RowBuffer,
    _blas,
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
    done = python("-c", code)
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
