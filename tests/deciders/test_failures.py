"""A failed evaluation costs its cell, and never helps the candidate that failed.

What holds for ranks, exactly, for any table and a single look at it: put a failure in the place
of one cell of candidate c, and

- c does not gain on anybody: standing(c) - standing(j) does not fall, for any other j;
- so c is not named best where it was not before;
- the all-pairs sign test without a gate, which looks at each pair alone, drops c if it did before.

(It does not hold for the verdict of a gate: pushing c back can hide a difference between others.
Nor for means: what a failed cell would have cost is not known.)
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from racer.deciders import BayesianFriedman, FRace

LAWS = settings(max_examples=15, deadline=None, derandomize=True)


@st.composite
def tables_and_a_cell(draw):
    """A table with ties and some failures, and a cell of it in a block that has another score."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, m = int(rng.integers(5, 16)), int(rng.integers(2, 6))
    costs = (rng.integers(0, 5, size=(n, m)) + np.arange(m) * rng.integers(0, 2)).astype(float)
    costs[:, 2:][rng.random((n, m - 2)) < 0.1] = np.inf
    block, candidate = int(rng.integers(n)), int(rng.integers(m))
    return costs, block, candidate


@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize(
    "decider",
    [
        FRace(posthoc="sign", gate=False),
        FRace(posthoc="sign", gate=False, alpha=0.2),
        BayesianFriedman(),
    ],
    ids=["sign 0.05", "sign 0.2", "bayesian"],
)
@LAWS
@given(case=tables_and_a_cell())
def test_a_failure_never_helps(table, decider, maximize, case):
    costs, block, candidate = case
    worse = costs.copy()
    worse[block, candidate] = np.inf
    once = {"first_test": len(costs), "maximize": maximize}
    (before, [(_, looked)]), (after, [(_, again)]) = (
        table.race_over(decider, each, **once) for each in (costs, worse)
    )
    gaps = [verdict.standing[candidate] - verdict.standing for verdict in (looked, again)]
    assert (gaps[1] >= gaps[0] - 1e-12).all()
    if isinstance(decider, FRace) and candidate not in before.survivors:
        assert candidate not in after.survivors
