"""The numerical tools that rooms share."""

import numpy as np
import pytest

from racer._numerics import RowBuffer, _blas, one_blas_thread


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


def test_blas_has_its_threads_back_however_those_who_limit_it_overlap():
    libraries = _blas().lib_controllers
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
