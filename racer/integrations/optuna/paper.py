"""A race on paper: one look of any decider at what trials have seen together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from racer.deciders.decider import Blocks
from racer.deciders.verdicts import take_verdict
from racer.seeding import rng_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from racer.deciders.decider import Decider, Drop, Verdict

__all__ = ["judge_by_race"]


def _look(decider: Decider, costs: NDArray[np.float64], seed: int) -> Verdict | None:
    """Show a decider a table block by block, each candidate up to the first block it lacks.

    Parameters
    ----------
    decider : Decider
    costs : ndarray, shape (n, m)
        NaN where a candidate has not seen a block.
    seed : int

    Returns
    -------
    Verdict or None
        Of the last look; None unless two candidates have seen the last block and all before.
        Candidates are columns.
    """
    ends = np.where(np.isnan(costs).any(axis=0), np.isnan(costs).argmax(axis=0), len(costs))
    columns = np.flatnonzero(ends > 0)
    if np.count_nonzero(ends == len(costs)) < 2:
        return None
    state = decider.start(len(columns), rng_for(seed, "decider"))
    start, verdict = 0, None
    for end in np.unique(ends[columns]).tolist():
        places = np.flatnonzero(ends[columns] >= end)
        blocks = Blocks(places, costs[start:end, columns[places]], None)
        state, verdict = take_verdict(decider, state, blocks, len(columns))
        start = end
    if verdict is None:
        return None
    dropped = tuple(
        drop._replace(candidate=int(columns[drop.candidate]), against=int(columns[drop.against]))
        for drop in verdict.dropped
    )
    best = None if verdict.best is None else int(columns[verdict.best])
    return verdict._replace(dropped=dropped, best=best)


def judge_by_race(
    decider: Decider, own: NDArray[np.float64], others: NDArray[np.float64], seed: int
) -> Drop | None:
    """Say whether a candidate would go now in a race with the others, none of whom has gone.

    Parameters and result as of `JudgesOne.judge`.
    """
    verdict = _look(decider, np.column_stack([others, own]), seed)
    dropped = () if verdict is None else verdict.dropped
    return next((drop for drop in dropped if drop.candidate == others.shape[1]), None)
