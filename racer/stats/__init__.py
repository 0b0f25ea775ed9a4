"""Tests and posteriors for comparing candidates on common blocks: arrays in, results out.

Scores are n blocks x m candidates, and smaller is better unless `maximize=True`. Ranks: 1 is
best, ties share the average. NaN means "unknown": paired tests delete the pair, the others the
block, and every result says how many were left out.
"""

from racer.stats.bayesian_friedman import (
    BayesianFriedmanResult,
    bayesian_friedman_test,
    probability_best,
)
from racer.stats.friedman import FriedmanResult, friedman_test
from racer.stats.joint import JointComparisons, Statement, joint_comparisons
from racer.stats.multiplicity import bonferroni, hochberg, holm, shaffer
from racer.stats.posthoc import (
    PosthocResult,
    conover_posthoc,
    mean_rank_posthoc,
    nemenyi_critical_difference,
)
from racer.stats.ranks import rank_blocks
from racer.stats.sign import BayesianSignResult, SignResult, bayesian_sign_test, sign_test

__all__ = [
    "BayesianFriedmanResult",
    "BayesianSignResult",
    "FriedmanResult",
    "JointComparisons",
    "PosthocResult",
    "SignResult",
    "Statement",
    "bayesian_friedman_test",
    "bayesian_sign_test",
    "bonferroni",
    "conover_posthoc",
    "friedman_test",
    "hochberg",
    "holm",
    "joint_comparisons",
    "mean_rank_posthoc",
    "nemenyi_critical_difference",
    "probability_best",
    "rank_blocks",
    "shaffer",
    "sign_test",
]
