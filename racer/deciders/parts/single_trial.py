"""Evidence against one candidate, from the blocks that it has in common with others."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from racer.deciders.parts.e_processes import Duels
from racer.deciders.parts.scores import rank_scores

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Evidence(NamedTuple):
    """Evidence against a candidate."""

    log_e: float
    against: int  # the opponent with the strongest evidence


def evidence_against(own: NDArray[np.float64], others: NDArray[np.float64]) -> Evidence:
    """Return the e-value of "worse than one of these": costs `own` (n,) and `others` (n, k).

    The mean of two e-processes, so one too: the mean of E_ij over the opponents j, and bets against
    the opponent with the best mean rank on the blocks before.
    """
    leaders = _leaders(others)
    duels = Duels(others.shape[1], "median")
    won = np.zeros(duels.n_fractions)
    for cost, row, leader in zip(own.tolist(), others, leaders.tolist(), strict=True):
        gained = duels.add(np.full(len(row), cost), row)
        if leader >= 0:
            won += gained[:, leader]
    of_each = duels.log_e()[0]
    both = _log_mean(np.array([_log_mean(of_each), _log_mean(won)]))
    return Evidence(both, int(of_each.argmax()))


def _leaders(others: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return for each block its leader on the blocks before, -1 where it has none."""
    leaders = np.full(len(others), -1, dtype=np.intp)
    ranks, costs, seen = np.zeros((3, others.shape[1]))
    for block, row in enumerate(others):
        sees = np.flatnonzero(~np.isnan(row))
        if len(sees) == 1:
            leaders[block] = sees[0]
        known = sees[seen[sees] > 0]
        if len(known):
            order = np.lexsort((costs[known] / seen[known], ranks[known] / seen[known]))
            leaders[block] = known[order[0]]
        ranks[sees] += rank_scores(row[sees])
        with np.errstate(over="ignore"):
            costs[sees] += row[sees]
        seen[sees] += 1.0
    return leaders


def _log_mean(log_e: NDArray[np.float64]) -> float:
    return float(np.logaddexp.reduce(log_e) - np.log(len(log_e)))
