import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import rankdata

from racer.stats import rank_blocks

LAW = settings(max_examples=60, deadline=None, derandomize=True)
SMALL = st.tuples(st.integers(1, 6), st.integers(2, 6))
TIED = arrays(np.float64, SMALL, elements=st.integers(0, 3).map(float))


@pytest.mark.parametrize(
    ("scores", "ranks"),
    [
        ([[0.2, 0.1, 0.1]], [[3.0, 1.5, 1.5]]),
        ([[3.0, 2.0, 1.0]], [[3.0, 2.0, 1.0]]),
        ([[7.0, 7.0, 7.0, 7.0]], [[2.5, 2.5, 2.5, 2.5]]),
        ([[np.inf, 1.0, np.inf, -np.inf]], [[3.5, 2.0, 3.5, 1.0]]),
        ([[1.0, 2.0], [2.0, 1.0]], [[1.0, 2.0], [2.0, 1.0]]),
    ],
)
def test_values(scores, ranks):
    assert rank_blocks(scores).tolist() == ranks


@LAW
@given(TIED)
def test_as_one_block_at_a_time(scores):
    expected = np.array([rankdata(row) for row in scores])
    np.testing.assert_array_equal(rank_blocks(scores), expected)
