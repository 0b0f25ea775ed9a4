"""Tests and posteriors for comparing candidates on common blocks: arrays in, results out.

Scores are n blocks x m candidates, and smaller is better unless `maximize=True`. Ranks: 1 is
best, ties share the average. NaN means "unknown": paired tests delete the pair, the others the
block, and every result has the number left out.
"""

from racer._entry import public_room
from racer.stats.best import BestPosterior, best_posterior
from racer.stats.bradley_terry_model import BradleyTerryResult, Waic, bradley_terry
from racer.stats.correlated_t import CorrelatedTResult, correlated_t_test
from racer.stats.friedman import (
    BayesianFriedmanResult,
    FriedmanResult,
    bayesian_friedman_test,
    friedman_test,
)
from racer.stats.hierarchical import HierarchicalResult, Regions, hierarchical_t_test
from racer.stats.idp_friedman import IDPFriedmanResult, idp_friedman_test
from racer.stats.joint import JointComparisons, Statement, joint_comparisons
from racer.stats.multiplicity import bonferroni, hochberg, holm, shaffer
from racer.stats.plackett_luce_model import (
    PlackettLuceResult,
    plackett_luce,
    plackett_luce_by_budget,
)
from racer.stats.posthoc import (
    PosthocResult,
    conover_posthoc,
    mean_rank_posthoc,
    nemenyi_critical_difference,
)
from racer.stats.ranks import rank_blocks
from racer.stats.replicability import replicability
from racer.stats.running_time import expected_running_time
from racer.stats.sequences import MeanSequence, difference_sequence, mean_sequence
from racer.stats.several import FrontPosterior, front_posterior
from racer.stats.sign import BayesianSignResult, SignResult, bayesian_sign_test, sign_test
from racer.stats.sign_flips import SignFlipResult, sign_flip_test
from racer.stats.signed_rank import (
    BayesianSignedRankResult,
    SignedRankResult,
    bayesian_signed_rank_test,
    rank_biserial,
    signed_rank_test,
)
from racer.stats.wins import WinTable, win_table

__all__ = [
    "BayesianFriedmanResult",
    "BayesianSignResult",
    "BayesianSignedRankResult",
    "BestPosterior",
    "BradleyTerryResult",
    "CorrelatedTResult",
    "FriedmanResult",
    "FrontPosterior",
    "HierarchicalResult",
    "IDPFriedmanResult",
    "JointComparisons",
    "MeanSequence",
    "PlackettLuceResult",
    "PosthocResult",
    "Regions",
    "SignFlipResult",
    "SignResult",
    "SignedRankResult",
    "Statement",
    "Waic",
    "WinTable",
    "bayesian_friedman_test",
    "bayesian_sign_test",
    "bayesian_signed_rank_test",
    "best_posterior",
    "bonferroni",
    "bradley_terry",
    "conover_posthoc",
    "correlated_t_test",
    "difference_sequence",
    "expected_running_time",
    "friedman_test",
    "front_posterior",
    "hierarchical_t_test",
    "hochberg",
    "holm",
    "idp_friedman_test",
    "joint_comparisons",
    "mean_rank_posthoc",
    "mean_sequence",
    "nemenyi_critical_difference",
    "plackett_luce",
    "plackett_luce_by_budget",
    "rank_biserial",
    "rank_blocks",
    "replicability",
    "shaffer",
    "sign_flip_test",
    "sign_test",
    "signed_rank_test",
    "win_table",
]

public_room(vars())
