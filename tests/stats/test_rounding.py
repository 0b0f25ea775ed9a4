"""What is equal but for rounding ties, in every test alike."""

import numpy as np
import pytest

from racer import stats

NOISY, PLAIN = 0.1 + 0.2, 0.3
SCORES = np.array([[NOISY, PLAIN, 1.0], [PLAIN, NOISY, 2.0], *[[NOISY, PLAIN, 0.1]] * 5])
EQUAL = np.array([[PLAIN, PLAIN, 1.0], [PLAIN, PLAIN, 2.0], *[[PLAIN, PLAIN, 0.1]] * 5])


@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize(
    "test",
    [
        stats.rank_blocks,
        stats.friedman_test,
        stats.bayesian_friedman_test,
        stats.conover_posthoc,
        stats.mean_rank_posthoc,
        stats.joint_comparisons,
        stats.win_table,
        stats.plackett_luce,
    ],
)
def test_of_a_table(test, maximize):
    np.testing.assert_equal(
        _plain(test(SCORES, maximize=maximize)), _plain(test(EQUAL, maximize=maximize))
    )


@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize(
    "test",
    [
        stats.sign_test,
        stats.signed_rank_test,
        stats.bayesian_sign_test,
        stats.bayesian_signed_rank_test,
    ],
)
def test_of_a_pair(test, maximize):
    result = test(SCORES[:, 0], SCORES[:, 1], maximize=maximize)
    assert (result.n_better, result.n_worse, result.n_ties) == (0, 0, 7)


def _plain(result):
    if not hasattr(result, "__dict__"):
        return result
    return {name: value for name, value in vars(result).items() if name != "posterior"}
