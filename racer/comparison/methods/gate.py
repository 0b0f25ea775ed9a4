"""The gate of methods that compare each pair on its own: "all alike" is rejected first, then pairs."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING

import numpy as np

from racer.comparison.data import OmnibusTest
from racer.comparison.methods.base import as_index, behind
from racer.stats.friedman import RankSums, iman_davenport_df
from racer.stats.ranks import ranks_of
from racer.stats.sign_flips import all_alike, signs

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from racer.comparison.methods.base import Analysis, Settings
    from racer.comparison.scores import Scores
    from racer.stats.sign_flips import Signs

_LEAST, _FLIPS = 1000, 10_000  # flips, as many as fit: all there are of up to 14 data sets
_CHUNK, _CELLS = 64, 1 << 22  # pairs, and their differences, at a time


def gated(
    method: Callable[[Scores, Settings], Analysis], *, of_two: bool = False
) -> Callable[[Scores, Settings], Analysis]:
    """Return a method that calls none better unless "all alike" is rejected, and then of that pair.

    Of two algorithms only with `of_two`: one statement needs no other before it, if it holds its level.
    Decisions as they are published have no gate.
    """

    @wraps(method)
    def behind_gate(scores: Scores, settings: Settings) -> Analysis:
        analysis = method(scores, settings)
        if settings.decisions or (len(scores.algorithms) == 2 and not of_two):
            return behind(analysis, settings.alpha, is_open=True)
        flips = _flips(scores, settings)
        omnibus = omnibus_test(scores, settings, flips)
        places = as_index(analysis.pairs, scores.algorithms)
        found = replace(
            analysis,
            omnibus=omnibus,
            references=(*analysis.references, *(("iman1980",) if omnibus.df else ())),
            meaning=f'{analysis.meaning}, with "all alike" and "both alike" rejected',
        )
        if not omnibus.rejected:
            return behind(found, settings.alpha, is_open=False)
        differ = pairs_differ(scores, *places, flips, settings.alpha)
        return behind(found, settings.alpha, is_open=True, differ=differ)

    return behind_gate


def _flips(scores: Scores, settings: Settings) -> Signs:
    """Return sign flips of the data sets, (k, n), enough for p-values at the level.

    They go to data sets in the order of their ranks, as the order of a table means nothing.
    """
    n, m = scores.costs.shape
    # as many as take some seconds
    fit = min(20_000_000, 3_000_000_000 // (m * (m - 1) // 2)) // n
    # at least five flips are at or below the level
    k = max(_LEAST, min(_FLIPS, fit), math.ceil(5 / settings.alpha))
    # by name, so that the order of the columns does not change the flips either
    by_name = sorted(range(m), key=scores.algorithms.__getitem__)
    order = np.lexsort(_ranks(scores)[:, by_name].T)
    return signs(np.argsort(order), k, settings.seed)


def omnibus_test(scores: Scores, settings: Settings, flips: Signs | None = None) -> OmnibusTest:
    """Test "all perform alike" by sign flips of ranks; a missing score has the middle rank."""
    ranks = _ranks(scores)
    flips = _flips(scores, settings) if flips is None else flips
    test = all_alike(ranks, RankSums.of(ranks), flips, settings.alpha)
    if test.test == "sign-flip":
        return OmnibusTest("sign-flip test", test.statistic, test.p_value, test.rejected, ())
    df = iman_davenport_df(*ranks.shape)
    return OmnibusTest("Iman-Davenport F", test.statistic, test.p_value, test.rejected, df)


def pairs_differ(
    scores: Scores,
    i: NDArray[np.intp],
    j: NDArray[np.intp],
    flips: Signs,
    alpha: float,
) -> NDArray[np.bool_]:
    """Return which pairs (k,) differ in ranks, by a step-down of the largest statistic over flips.

    Flipping whole data sets keeps the dependence of pairs, and whichever of them are equal, one is
    called different with probability alpha at most (Romano and Wolf: Exact and approximate stepdown
    methods for multiple hypothesis testing, JASA 2005). With too few data sets for that level, a
    pair differs whose statistic no flip exceeds.
    """
    ranks, known = _ranks(scores), scores.known
    # step-down from the weakest pair: each competes, in each flip, with all pairs up to it
    size = np.empty(len(i))
    largest = np.zeros(len(flips))  # statistic of the weaker pairs, flip by flip
    p_values = np.empty(len(i))
    some = range(0, len(i), min(_CHUNK, max(1, _CELLS // len(ranks))))[1:]
    for at in np.split(np.arange(len(i)), some):
        size[at] = np.abs(_differences(ranks, known, i[at], j[at]).sum(axis=0))
    order = np.argsort(size, kind="stable")
    for at in np.split(order, some):
        flipped = np.abs(flips @ _differences(ranks, known, i[at], j[at]))
        flipped[:, 0] = np.maximum(flipped[:, 0], largest)
        flipped = np.maximum.accumulate(flipped, axis=1)
        p_values[at] = (flipped >= size[at] * (1.0 - 1e-9)).mean(axis=0)
        largest = flipped[:, -1]
    # from the strongest pair: none has a smaller p-value than a stronger one
    p_values[order[::-1]] = np.maximum.accumulate(p_values[order[::-1]])
    least = 0.5 ** (len(ranks) - 1)
    return (size > 0.0) & (p_values <= max(alpha, least) * (1.0 + 1e-9))


def _differences(
    ranks: NDArray[np.float64], known: NDArray[np.bool_], i: NDArray[np.intp], j: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return by how much ranks of pairs (k,) differ, (n, k), of unit length; 0 where one is missing."""
    apart = (ranks[:, i] - ranks[:, j]) * (known[:, i] & known[:, j])
    length = np.sqrt((apart**2).sum(axis=0))
    return np.asarray(apart / np.where(length > 0.0, length, 1.0))


def _ranks(scores: Scores) -> NDArray[np.float64]:
    """Return centred ranks (n, m); a missing score has the middle rank, 0."""
    _, levels = np.unique(scores.costs, return_inverse=True)  # NaN is the last
    ranks = ranks_of(levels.reshape(scores.costs.shape).astype(np.float64))
    middle = (scores.known.sum(axis=1, keepdims=True) + 1) / 2.0
    return np.where(scores.known, ranks - middle, 0.0)
