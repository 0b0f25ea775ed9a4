"""The Bayesian signed-rank test of each pair, as a method of `racer.compare`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from racer.comparison.methods.base import (
    Analysis,
    Settings,
    compared,
    encounters,
    places,
    rank_frame,
    refuse,
)
from racer.errors import ScoresError
from racer.stats import bayesian_signed_rank_test

if TYPE_CHECKING:
    from racer.comparison.data import Decision
    from racer.comparison.scores import Scores
    from racer.stats import BayesianSignedRankResult


def signed_rank(scores: Scores, settings: Settings) -> Analysis:
    """Compare each pair by signs and sizes of differences; rank by the mean of theta."""
    refuse(settings, "signed-rank", "posthoc", "local_rope")
    names, costs = scores.algorithms, scores.costs
    rope = 0.0 if settings.rope is None else settings.rope
    pairs = compared(len(names), settings.control)
    theta = np.full((len(names), len(names)), np.nan)
    rows, sides, result = [], [], None
    for i, j in pairs:
        if not (scores.known[:, i] & scores.known[:, j]).any():
            raise ScoresError(
                f"{names[i]} and {names[j]} have no data set in common: use "
                "method='bradley-terry', which compares them through others, or leave one out"
            )
        result = bayesian_signed_rank_test(costs[:, i], costs[:, j], rope=rope, seed=settings.seed)
        theta[i, j], theta[j, i] = result.estimate, 1.0 - result.estimate
        first, second = (i, j) if result.estimate >= 0.5 else (j, i)
        sides.append((first, second))
        rows.append(_row(result, settings.alpha, turned=first == j))
    frame = pd.concat([encounters(names, costs, *places(sides)), pd.DataFrame(rows)], axis=1)
    frame = frame.sort_values("estimate", ascending=False, kind="stable", ignore_index=True)
    if settings.control is None:
        standing = np.nanmean(theta, axis=1)
    else:
        theta[settings.control, settings.control] = 0.5
        standing = theta[:, settings.control]
    ranking = rank_frame(names, order=-standing, theta=standing).drop(columns="order")
    against = "the others" if settings.control is None else names[settings.control]
    notes = []
    if scores.n_missing:
        notes.append("Each pair is compared on the data sets on which both have a score.")
    return Analysis(
        title="Bayesian signed-rank test of each pair",
        ranking=ranking,
        order=f"mean of theta against {against}",
        pairs=frame,
        meaning=(
            f"a posterior probability above {1.0 - settings.alpha:g} for every prior, each pair "
            "on its own" + (f", of being better by more than {rope:g}" if rope else "")
        ),
        references=("benavoli2014", "benavoli2017"),
        notes=notes,
        rope=rope or None,
        details=result if len(pairs) == 1 else None,
    )


def _row(result: BayesianSignedRankResult, alpha: float, *, turned: bool) -> dict[str, Any]:
    """Return the figures of a pair, where `turned` as seen from the second of them."""
    low, high = result.interval()
    estimate, better, worse = result.estimate, result.better, result.worse
    if turned:
        estimate, low, high = 1.0 - estimate, 1.0 - high, 1.0 - low
        better, worse = worse, better
    lower, upper = (ends[0 if turned else 2] for ends in (result.least, result.most))
    decision: Decision = "undecided"
    if result.least[1] > 1.0 - alpha:  # whatever the prior
        decision = "equivalent"
    elif lower > 1.0 - alpha:
        decision = "better"
    elif max(upper, result.most[1]) > 1.0 - alpha:  # by some prior
        decision = "indeterminate"
    return {
        "estimate": estimate,
        "low": low,
        "high": high,
        "probability": better,
        **(
            {"in_rope": result.indistinguishable, "probability_worse": worse} if result.rope else {}
        ),
        "lower": lower,
        "upper": upper,
        "decision": decision,
    }
