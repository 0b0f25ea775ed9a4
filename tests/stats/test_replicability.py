"""The replicability of a test, against all pairs of its outcomes."""

import itertools

import numpy as np
import pytest

from racer.errors import ScoresError
from racer.stats import replicability


@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_share_of_pairs_of_experiments_that_agree(seed):
    outcomes = np.random.default_rng(seed).random(9) < 0.3
    pairs = list(itertools.combinations(outcomes.tolist(), 2))
    assert replicability(outcomes) == pytest.approx(np.mean([a == b for a, b in pairs]))


def test_outcomes_that_are_none():
    assert replicability([1] * 5) == 1.0
    for outcomes in ([1], [0.5, 1], [0, np.nan]):
        with pytest.raises(ScoresError, match="two or more"):
            replicability(outcomes)
