"""The gate of methods that compare each pair on its own: "all alike" has to be rejected first."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING

import numpy as np

from racer.comparison.data import OmnibusTest
from racer.comparison.methods.base import ALIKE
from racer.stats.friedman import RankSums, centred, iman_davenport_df
from racer.stats.ranks import ranks_of
from racer.stats.sign_flips import all_alike, signs

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from racer.comparison.methods.base import Analysis, Settings
    from racer.comparison.scores import Scores

_FLIPS, _PER_LEVEL = 1000, 5  # flips at least, and so many p-values at or below the level


def gated(
    method: Callable[[Scores, Settings], Analysis],
) -> Callable[[Scores, Settings], Analysis]:
    """Return a method that calls none better unless "all alike" is rejected; of two, as it was."""

    @wraps(method)
    def behind_gate(scores: Scores, settings: Settings) -> Analysis:
        analysis = method(scores, settings)
        if len(scores.algorithms) == 2:  # one statement needs no other before it
            return analysis
        omnibus = omnibus_test(scores, settings)
        analysis = replace(
            analysis,
            omnibus=omnibus,
            references=(*analysis.references, *(("iman1980",) if omnibus.df else ())),
            meaning=f'{analysis.meaning}, once "all perform alike" is rejected',
        )
        if omnibus.rejected:
            return analysis
        pairs = analysis.pairs.replace({"decision": {"better": "undecided"}})
        pairs.attrs = analysis.pairs.attrs
        return replace(analysis, pairs=pairs, notes=[*analysis.notes, ALIKE])

    return behind_gate


def omnibus_test(scores: Scores, settings: Settings) -> OmnibusTest:
    """Test "all perform alike" by sign flips of ranks; a missing score has the middle rank."""
    ranks = np.zeros_like(scores.costs)
    for row, cost, known in zip(ranks, scores.costs, scores.known, strict=True):
        row[known] = _centred_ranks(cost[known])
    n, m = ranks.shape
    sums = RankSums(n, ranks.sum(axis=0), float(np.vdot(ranks, ranks)))
    k = max(_FLIPS, math.ceil(_PER_LEVEL / settings.alpha))
    test = all_alike(ranks, sums, signs(n, k, settings.seed), settings.alpha)
    if test.test == "sign-flip":
        return OmnibusTest("sign-flip test", test.statistic, test.p_value, test.rejected, ())
    df = iman_davenport_df(n, m)
    return OmnibusTest("Iman-Davenport F", test.statistic, test.p_value, test.rejected, df)


def _centred_ranks(costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the ranks of known costs (k,), measured from their middle."""
    return centred(ranks_of(costs[None]))[0] if len(costs) else costs
