"""The Bayesian Friedman test with joint comparisons, as a method of `racer.compare`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from racer._checks import counted
from racer.comparison.data import OmnibusTest
from racer.comparison.methods.base import (
    Analysis,
    Settings,
    behind,
    complete_costs,
    half_width,
    left_out,
    places,
    rank_frame,
    refuse,
)
from racer.stats import (
    bayesian_friedman_test,
    bayesian_sign_test,
    joint_comparisons,
)
from racer.stats.friedman import iman_davenport_df
from racer.stats.joint import common_joint
from racer.stats.pairs import pair_ranks
from racer.stats.ranks import ranks_of
from racer.stats.sign import probability_indistinguishable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from racer.comparison.data import Decision
    from racer.comparison.scores import Scores
    from racer.stats.friedman import BayesianFriedmanResult
    from racer.stats.joint import JointComparisons


def bayesian_friedman(scores: Scores, settings: Settings) -> Analysis:
    """Rank by posterior mean ranks; accept the statements that hold together."""
    refuse(settings, "bayesian-friedman", "posthoc", "local_rope")
    epsilon = half_width(settings)
    names, confidence = scores.algorithms, 1.0 - settings.alpha
    costs = complete_costs(scores, "the Friedman test")
    gate = bayesian_friedman_test(costs, confidence=confidence)
    joint = joint_comparisons(
        costs, confidence=confidence, seed=settings.seed, control=settings.control
    )
    counts = np.array([[s.n_better, s.n_worse, s.n_ties] for s in joint.statements]).T
    in_rope = probability_indistinguishable(*counts, epsilon=epsilon, strength=1.0)
    sides = places([(s.better, s.worse) for s in joint.statements])
    effects = pair_ranks(costs, *sides).effect_sizes().tolist()
    together = common_joint(joint.statements, ranks_of(costs).sum(axis=0))
    rows = []
    for place, statement in enumerate(joint.statements):
        i, j = statement.better, statement.worse
        sign = bayesian_sign_test(costs[:, i], costs[:, j], epsilon=epsilon)
        low, high = sign.interval()
        decision: Decision = "undecided"
        if epsilon > 0.0 and in_rope[place] > confidence:
            decision = "equivalent"
        elif place < joint.n_accepted:
            decision = "better"
        rows.append(
            {
                "better": names[i],
                "worse": names[j],
                "wins": statement.n_better,
                "losses": statement.n_worse,
                "ties": statement.n_ties,
                "effect_size": effects[place],
                "estimate": sign.estimate,
                "low": low,
                "high": high,
                "probability": statement.probability,
                "joint": together[place],
                "in_rope": float(in_rope[place]),
                "decision": decision,
            }
        )
    (n, m), by_region = costs.shape, gate.gate == "bayesian"
    notes = [*left_out(scores), *_notes(gate, joint, settings.alpha)]
    found = Analysis(
        title="Bayesian Friedman test with joint comparisons",
        ranking=rank_frame(names, mean_rank=gate.mean_ranks),
        order="posterior mean rank",
        pairs=pd.DataFrame(rows),
        meaning=(
            "more often better than worse, in statements that hold all together with a posterior "
            f"probability above {confidence:g}"
        ),
        references=("benavoli2015", *(() if by_region else ("iman1980",))),
        notes=notes,
        omnibus=OmnibusTest(
            "Bayesian Friedman" if by_region else "Iman-Davenport F",
            gate.f_statistic,
            gate.tail_probability,
            gate.rejected,
            (m - 1, n - m + 1) if by_region else iman_davenport_df(n, m),
        ),
        rope=epsilon,
        details=gate,
    )
    return behind(found, settings.alpha, is_open=gate.rejected)


def _notes(gate: BayesianFriedmanResult, joint: JointComparisons, alpha: float) -> Iterator[str]:
    """Yield what a reader has to know of the gate, and of probabilities that are 1."""
    if gate.gate != "bayesian":
        yield (
            "Iman and Davenport's F decided whether all are alike, as the credible region needs "
            "as many complete data sets as algorithms, and no two algorithms that are the same."
        )
    limit = min((s.n_better for s in joint.statements if s.n_better and not s.n_worse), default=0)
    if limit and 0.5**limit >= alpha:
        yield (
            "P(better) is at its limit, 1, wherever one won all data sets that did not tie, "
            f"however few: with a prior win of the other, {counted(limit, 'data set')} won would "
            f"make it {1.0 - 0.5**limit:.3f}."
        )
