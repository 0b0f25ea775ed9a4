"""The Bayesian signed-rank test of each pair, as a method of `racer.compare`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from racer.comparison.methods.base import (
    Analysis,
    Settings,
    against,
    compared,
    one_by_one,
    rank_frame,
)
from racer.errors import ScoresError
from racer.stats import bayesian_signed_rank_test

if TYPE_CHECKING:
    from racer.comparison.data import Decision
    from racer.comparison.scores import Scores
    from racer.stats import BayesianSignedRankResult

_DRAWS = 2_000, 50_000  # of each pair, at least and at most
_WEIGHTS = 1e9  # that all pairs draw together, beyond which each draws less often


def signed_rank(scores: Scores, settings: Settings) -> Analysis:
    """Compare each pair by signs and sizes of differences; rank by the mean of theta."""
    names, costs = scores.algorithms, scores.costs
    rope = 0.0 if settings.rope is None else settings.rope
    n_pairs = len(compared(len(names), settings.control))
    draws = int(np.clip(_WEIGHTS / (len(costs) * n_pairs), *_DRAWS))

    def test(i: int, j: int) -> BayesianSignedRankResult:
        if not (scores.known[:, i] & scores.known[:, j]).any():
            raise ScoresError(
                f"{names[i]} and {names[j]} have no data set in common: use "
                "method='bradley-terry', which compares them through others, or leave one out"
            )
        return bayesian_signed_rank_test(
            costs[:, i], costs[:, j], rope=rope, draws=draws, seed=settings.seed
        )

    frame, standing, result = one_by_one(scores, settings, test, _row, 0.5)
    ranking = rank_frame(names, order=-standing, theta=standing).drop(columns="order")
    notes = []
    if draws < _DRAWS[1]:
        notes.append(
            f"As there is so much to compare, probabilities stand on {draws} draws of weights each: "
            f"standard errors are at most {0.5 / draws**0.5:.1g}."
        )
    if scores.n_missing:
        notes.append("Each pair is compared on the data sets on which both have a score.")
    return Analysis(
        title="Bayesian signed-rank test of each pair",
        ranking=ranking,
        order=f"mean of theta against {against(scores, settings)}",
        pairs=frame,
        meaning=(
            f"a posterior probability above {1.0 - settings.alpha:g} for every prior, each pair "
            "on its own" + (f", of being better by more than {rope:g}" if rope else "")
        ),
        references=("benavoli2014", "benavoli2017"),
        notes=notes,
        rope=rope or None,
        details=result if n_pairs == 1 else None,
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
