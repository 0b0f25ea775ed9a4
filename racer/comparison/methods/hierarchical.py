"""The hierarchical model of folds on many data sets, as a method of `racer.compare`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from racer._checks import counted
from racer.comparison.methods.base import (
    Analysis,
    Settings,
    against,
    decide,
    one_by_one,
    rank_frame,
)
from racer.comparison.render.tables import DECIMALS, SCIENTIFIC
from racer.errors import ScoresError, SettingError
from racer.stats import hierarchical_t_test

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from racer.comparison.scores import Scores
    from racer.stats import HierarchicalResult


def hierarchical(scores: Scores, settings: Settings) -> Analysis:
    """Compare each pair by its differences on all folds; rank by their mean, delta_0."""
    _check(scores, settings)
    names, runs = scores.algorithms, scores.runs
    rope = 0.0 if settings.rope is None else settings.rope
    rho = 1.0 / scores.n_folds if settings.correlation is None else settings.correlation
    dropped = []

    def test(i: int, j: int) -> HierarchicalResult:
        result = hierarchical_t_test(
            runs[:, :, i], runs[:, :, j], correlation=rho, rope=rope, seed=settings.seed
        )
        dropped.append(result.n_dropped)
        return result

    frame, standing, result = one_by_one(scores, settings, test, _row, 0.0)
    decimals = _decimals(frame[["low", "high"]].to_numpy())
    units = dict.fromkeys(("estimate", "low", "high"), decimals)
    # what a standard error of 0.004 supports
    frame.attrs[DECIMALS] = {
        **units,
        **dict.fromkeys(("probability", "in_rope", "probability_worse", "next"), 2),
    }
    ranking = rank_frame(names, order=-standing, advantage=standing).drop(columns="order")
    ranking.attrs[DECIMALS] = {"advantage": decimals}
    notes = []
    if settings.correlation is None:
        notes.append(
            f"Folds are taken for those of one cross-validation, correlated by 1/{scores.n_folds}: "
            "with repeated ones, give correlation."
        )
    one, n_dropped = len(frame) == 1, sum(dropped)
    if n_dropped:
        notes.append(
            f"{counted(n_dropped, 'data set')} with fewer than two common folds "
            f"{'was' if n_dropped == 1 else 'were'} left out{'' if one else ', over all pairs'}."
        )
    return Analysis(
        title=f"Bayesian hierarchical model of each pair (folds correlated by {rho:.3g})",
        ranking=ranking,
        order=f"mean advantage over {against(scores, settings)}",
        pairs=frame,
        meaning=(
            f"a posterior probability above {1.0 - settings.alpha:g} that being better"
            + (f" by more than {rope:g}" if rope else "")
            + " is the most probable outcome on the next data set, each pair on its own"
        ),
        references=("corani2017", "nadeau2003"),
        notes=notes,
        rope=rope or None,
        details=result if one else None,
    )


def _decimals(ends: NDArray[np.float64]) -> int:
    """Return the decimals of differences with such intervals, (pairs, 2)."""
    largest = float(np.abs(ends).max())
    if largest and not 1e-6 <= largest <= 1e6:
        return SCIENTIFIC
    width = float(np.median(ends[:, 1] - ends[:, 0]))
    return min(max(1 - math.floor(math.log10(width)), 0), 9) if width else 3


def _check(scores: Scores, settings: Settings) -> None:
    """Raise for a table without folds, with failed results, or of folds probably repeated."""
    if scores.n_folds < 2:
        raise ScoresError(
            "method='hierarchical' needs the scores of folds: name their column, fold=.., or use "
            "method='signed-rank', which compares one score per data set"
        )
    infinite = np.isinf(scores.runs).any(axis=(0, 1))
    if infinite.any():
        name = scores.algorithms[int(infinite.argmax())]
        raise ScoresError(
            f"algorithm {name!r} has infinite scores, of which method='hierarchical' takes no "
            "mean: use method='plackett-luce', or leave them empty"
        )
    # so many are repetitions, as a rule, whose correlation is that of the fewer folds
    if settings.correlation is None and scores.n_folds > 20:
        raise SettingError(
            f"method='hierarchical' with {scores.n_folds} folds: give correlation=, the fraction of "
            "the data that is tested on (0.1 for ten folds, repeated or not)"
        )


def _row(result: HierarchicalResult, alpha: float, *, turned: bool) -> dict[str, Any]:
    """Return the figures of a pair, where `turned` as seen from the second of them."""
    way = -1 if turned else 1
    worse, in_rope, better = result.largest[::way]
    low, high = sorted((way * result.low, way * result.high))
    rope = {"in_rope": in_rope, "probability_worse": worse} if result.rope else {}
    return {
        "estimate": way * result.estimate,
        "low": low,
        "high": high,
        "probability": better,
        **rope,
        "next": result.next_data_set[::way][2],
        "decision": decide(better, in_rope, alpha),
    }
