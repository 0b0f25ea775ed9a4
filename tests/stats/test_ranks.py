import numpy as np
import pytest

from racer.stats import rank_blocks


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
