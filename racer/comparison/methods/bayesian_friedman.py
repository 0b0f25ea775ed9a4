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

    from racer.comparison.scores import Scores
    from racer.stats.friedman import BayesianFriedmanResult
    from racer.stats.joint import JointComparisons


def bayesian_friedman(scores: Scores, settings: Settings) -> Analysis:
    """Rank by posterior mean ranks; accept the statements that hold together."""
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
    signs = [bayesian_sign_test(costs[:, i], costs[:, j]) for i, j in zip(*sides, strict=True)]
    low, high = np.array([sign.interval() for sign in signs]).T
    better, worse = ([names[place] for place in side] for side in sides)
    pairs = pd.DataFrame(
        {
            "better": better,
            "worse": worse,
            **dict(zip(("wins", "losses", "ties"), counts, strict=True)),
            "effect_size": pair_ranks(costs, *sides).effect_sizes(),
            "estimate": [sign.estimate for sign in signs],
            "low": low,
            "high": high,
            "probability": [statement.probability for statement in joint.statements],
            "joint": common_joint(joint.statements, ranks_of(costs).sum(axis=0)),
            "in_rope": in_rope,
            "decision": np.select(
                [
                    (in_rope > confidence) & (epsilon > 0.0),
                    np.arange(len(in_rope)) < joint.n_accepted,
                ],
                ["equivalent", "better"],
                "undecided",
            ),
        }
    )
    (n, m), by_region = costs.shape, gate.gate == "bayesian"
    notes = [*left_out(scores), *_notes(gate, joint, settings.alpha)]
    found = Analysis(
        title="Bayesian Friedman test with joint comparisons",
        ranking=rank_frame(names, mean_rank=gate.posterior_mean),
        order="posterior mean rank",
        pairs=pairs,
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
    """Yield notes on the gate that decided, and on probabilities that are 1."""
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
