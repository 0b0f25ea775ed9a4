"""Table 1: six directional statements about four algorithms on 30 data sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from racer.stats import bayesian_sign_test, joint_comparisons, sign_test

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["compute", "ranks"]


def ranks() -> NDArray[np.float64]:
    """Return 30 x 4 ranks with the wins that the published p-values imply.

    X2 beats X3 and X4 in 20 blocks, X3 beats X4 in 15, X1 beats each in 27. The paper's own
    ranks are not printed; columns 1 and 2 of the table depend on these counts only.
    """
    orders = (  # of X2, X3, X4 in a block, best first
        [(2, 3, 4)] * 8
        + [(2, 4, 3)] * 6
        + [(3, 2, 4)] * 6
        + [(3, 4, 2)]
        + [(4, 2, 3)] * 6
        + [(4, 3, 2)] * 3
    )
    found = np.empty((30, 4))
    for block, order in enumerate(orders):
        whole = (*order, 1) if block < 3 else (1, *order)
        for rank, algorithm in enumerate(whole, start=1):
            found[block, algorithm - 1] = rank
    return found


def compute(draws: int, seed: int) -> dict[str, dict[str, float]]:
    """Return, for each statement in the order of acceptance, the three columns of the table."""
    blocks = ranks()
    result: dict[str, dict[str, float]] = {}
    for statement in joint_comparisons(blocks, draws=draws, seed=seed).statements:
        better, worse = blocks[:, statement.better], blocks[:, statement.worse]
        result[f"X{statement.better + 1}<X{statement.worse + 1}"] = {
            "p_sign_test": sign_test(better, worse, alternative="better").p_value,
            "one_minus_posterior": 1.0 - bayesian_sign_test(better, worse).probability,
            "one_minus_joint_posterior": 1.0 - statement.joint,
        }
    return result
