"""Deciders around deciders: what must not happen, whoever decides."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from racer.deciders.decider import Blocks, Decider, KnowsBudget, Verdict

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Protected"]


@dataclass(frozen=True)
class Protected:
    """Keep some candidates in until the others have seen what they have seen.

    Parameters
    ----------
    decider : Decider
        Who decides otherwise.
    until : tuple of int
        For each candidate, the number of blocks before which it cannot go.
    """

    decider: Decider
    until: tuple[int, ...]

    def told_budget(self, evaluations: int | None, blocks: int | None) -> Decider:
        """Tell the decider inside, if it wants to know."""
        if not isinstance(self.decider, KnowsBudget):
            return self
        return replace(self, decider=self.decider.told_budget(evaluations, blocks))

    def start(self, n_candidates: int, rng: np.random.Generator) -> tuple[Any, int]:
        """Return the state of the decider inside, and how many blocks it has seen."""
        return self.decider.start(n_candidates, rng), 0

    def decide(self, state: tuple[Any, int], blocks: Blocks) -> tuple[tuple[Any, int], Verdict]:
        """Take back what was said of a candidate whose time has not come."""
        inner, verdict = self.decider.decide(state[0], blocks)
        seen = state[1] + len(blocks.costs)
        if verdict.dropped:
            free = tuple(drop for drop in verdict.dropped if self.until[drop.candidate] <= seen)
            verdict = verdict._replace(dropped=free)
        return (inner, seen), verdict
