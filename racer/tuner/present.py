"""The default, which is in use: whether the best found is better, on blocks that chose neither."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from racer.racing.asktell import Asked

if TYPE_CHECKING:
    from collections.abc import Generator

    from racer.core.budget import Budget
    from racer.tuner.history import History
    from racer.tuner.plan import Plan

_KEPT = 0.1  # of the budget
_FEWEST = 4  # blocks, from which a standard error is estimated
_BLOCKS = 8  # asked for at once
_BETTER = 2.0  # standard errors by which the best has to be better ..
_CLEAR = 3.0  # .. and either, that no more blocks are needed


def share_kept(plan: Plan) -> float:
    """Return the share of the budget that is kept for this comparison."""
    total = plan.rules.budgets[0].evaluations
    pays = total is None or _KEPT * total >= 2 * _FEWEST
    return _KEPT if pays and plan.space.default is not None and plan.is_noisy else 0.0


def without_kept(plan: Plan, budget: Budget) -> Budget:
    """Return a budget without what is kept."""
    kept = share_kept(plan)
    given = {name: getattr(budget, name) for name in ("evaluations", "seconds", "spend")}
    rest = {name: (1.0 - kept) * value for name, value in given.items() if value is not None}
    if "evaluations" in rest:
        rest["evaluations"] = round(rest["evaluations"])
    return replace(budget, **rest) if kept else budget


def is_better(history: History, best: int) -> Generator[Asked, Any, bool | None]:
    """Yield cells of the default and the best on blocks new to both, until either is clearly better.

    Return whether the best is better; None where too few blocks can be paid for. A block on which
    one of them fails does not count: the final stage looks for failures.
    """
    pair, first = (0, best), history.blocks_used
    new = (block for block in history.new_blocks(first) if block >= first)
    apart, error = 0.0, np.inf
    while (room := min((history.left() or 0) // 2, _BLOCKS)) and abs(apart) <= _CLEAR * error:
        pairs = history.affordable([(c, block) for block in islice(new, room) for c in pair])
        spent = history.known.spent
        yield Asked(partial(history.cells_of, pairs))
        for _, block in pairs:
            history.use(block)
        known = history.known
        seen = [block for block in known.common(pair) if known.is_usable(block)]
        costs = known.costs(pair)[np.array(seen) >= first]
        gains = np.subtract(*costs[np.isfinite(costs).all(axis=1)].T)
        if len(gains) >= _FEWEST:
            apart, error = gains.mean(), gains.std(ddof=1) / np.sqrt(len(gains))
        if not pairs or history.is_free(spent):
            break
    return None if error == np.inf else bool(apart > _BETTER * error)
