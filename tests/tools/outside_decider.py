"""A decider as somebody else would write it, in a module that worker processes can import."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from racer.deciders import Decider, Drop, Verdict


@dataclass(frozen=True)
class TooSlow(Decider):
    """Drop each candidate whose mean cost is above `factor` times that of the best."""

    factor: float = 1.5

    def start(self, setting):
        return np.zeros(setting.n_candidates), 0

    def decide(self, state, blocks):
        totals, n = state
        totals, n = totals.copy(), n + len(blocks.costs)
        known = np.where(np.isinf(blocks.costs), 1e9, blocks.costs)
        totals[blocks.candidates] += known.sum(axis=0)
        standing = totals[blocks.candidates] / n
        best = blocks.candidates[standing.argmin()]
        slow = standing > self.factor * max(standing.min(), 0.0)
        drops = [
            Drop(c, "too slow", against=best, probability=mean, measure="seconds")
            for c, mean in zip(blocks.candidates[slow], standing[slow], strict=True)
            if c != best
        ]
        best = best if np.ptp(standing) else None
        return (totals, n), Verdict(tuple(drops), best, standing, {"factor": self.factor})
