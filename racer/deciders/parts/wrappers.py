"""Deciders around deciders."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from racer._checks import whole
from racer.deciders.decider import Blocks, Decider, Schedule, Setting, Verdict
from racer.deciders.parts.checks import checked_verdict
from racer.deciders.parts.verdicts import best_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def protected(decider: Decider, until: Sequence[int]) -> Decider:
    """Return a decider that eliminates candidate i as `decider` does, but after `until[i]` blocks."""
    return _Protected(decider, tuple(until))


@dataclass(frozen=True)
class _Protected(Decider):
    decider: Decider
    until: tuple[int, ...]

    @property
    def tests(self) -> Schedule:
        return self.decider.tests

    @property
    def takes_capped(self) -> bool:
        return self.decider.takes_capped

    @property
    def ends_itself(self) -> bool:
        return self.decider.ends_itself

    @property
    def by_means(self) -> bool:
        return self.decider.by_means

    @property
    def objectives(self) -> tuple[str, ...]:
        return self.decider.objectives

    @property
    def bounds(self) -> tuple[float, float] | None:
        return self.decider.bounds

    def start(self, setting: Setting) -> tuple[Any, int]:
        return self.decider.start(setting), 0

    def decide(self, state: tuple[Any, int], blocks: Blocks) -> tuple[tuple[Any, int], Verdict]:
        """Remove the drops of protected candidates from the verdict of the inner decider."""
        inner, verdict = checked_verdict(self.decider, state[0], blocks, len(self.until))
        seen = state[1] + len(blocks.costs)
        if verdict.dropped:
            free = tuple(drop for drop in verdict.dropped if self.until[drop.candidate] <= seen)
            verdict = replace(verdict, dropped=free)
        return (inner, seen), verdict

    def planned_room(self, state: tuple[Any, int], used: int) -> int | None:
        return self.decider.planned_room(state[0], used)


def grouped(decider: Decider, groups: Sequence[int], first: int) -> Decider:
    """Return a decider that shows `decider` the mean of each group of instances as one block.

    `groups` has a number for each instance; those of a group follow each other. The first test is
    after `first` groups.
    """
    return _Grouped(decider, tuple(groups), first)


@dataclass
class _Open:
    """Blocks not yet shown to the inner decider, as costs (m,) or (m, d)."""

    inner: Any
    standing: NDArray[np.float64]  # of the last verdict, of each candidate at the start
    candidates: NDArray[np.intp]
    bounds: tuple[float, float] | None
    cells: list[NDArray[np.float64]] = field(default_factory=list)  # of the group that is open
    group: int = -1
    complete: list[tuple[int, NDArray[np.float64]]] = field(default_factory=list)
    n: int = 0  # groups shown

    def keep(self, candidates: NDArray[np.intp]) -> None:
        if len(candidates) < len(self.candidates):
            kept = np.searchsorted(self.candidates, candidates)
            self.cells = [costs[kept] for costs in self.cells]
            self.complete = [(group, costs[kept]) for group, costs in self.complete]
            self.candidates = candidates

    def close(self) -> None:
        """Complete the group that is open."""
        if self.cells:
            self.complete.append((self.group, np.mean(self.cells, axis=0)))
            self.cells = []


@dataclass(frozen=True)
class _Grouped(Decider):
    decider: Decider
    groups: tuple[int, ...]
    first: int

    @property
    def tests(self) -> Schedule:
        return self.decider.tests

    @property
    def ends_itself(self) -> bool:
        return self.decider.ends_itself

    @property
    def by_means(self) -> bool:
        return self.decider.by_means

    @property
    def objectives(self) -> tuple[str, ...]:
        return self.decider.objectives

    @property
    def bounds(self) -> tuple[float, float] | None:
        return self.decider.bounds

    def start(self, setting: Setting) -> _Open:
        m = setting.n_candidates
        return _Open(self.decider.start(setting), np.zeros(m), np.arange(m), setting.bounds)

    def decide(self, state: _Open, blocks: Blocks) -> tuple[_Open, Verdict]:
        """Collect blocks; ask the inner decider once enough groups are complete."""
        state.keep(blocks.candidates)
        rows = blocks.costs if blocks.metrics is None else blocks.metrics
        for instance, row in zip(np.asarray(blocks.instances).tolist(), rows, strict=True):
            if self.groups[instance] != state.group:
                state.close()
            state.group = self.groups[instance]
            state.cells.append(row if state.bounds is None else np.clip(row, *state.bounds))
            if len(state.cells) == self.groups.count(state.group):
                state.close()
        shown = state.complete
        if not shown or state.n + len(shown) < min(self.first, len(set(self.groups))):
            standing = state.standing[blocks.candidates]
            return state, Verdict((), best_of(blocks.candidates, standing), standing)
        state.n, state.complete = state.n + len(shown), []
        costs = np.array([row for _, row in shown])
        several = blocks.metrics is not None
        inner = replace(
            blocks,
            costs=costs[:, :, 0] if several else costs,
            instances=np.array([group for group, _ in shown], dtype=np.intp),
            metrics=costs if several else None,
        )
        state.inner, verdict = checked_verdict(
            self.decider, state.inner, inner, len(state.standing)
        )
        state.standing[blocks.candidates] = verdict.standing
        return state, verdict


def verdict_on(
    decider: Decider, state: Any, blocks: Blocks, n_candidates: int
) -> tuple[Any, Verdict]:
    """Return a decider's next state and its verdict on new blocks, checked; SettingError if unusable."""
    if isinstance(decider, _Protected):  # which checks that of the decider within
        return decider.decide(state, blocks)
    return checked_verdict(decider, state, blocks, n_candidates)


def planned_survivors(
    decider: Decider, state: Any, ranked: Sequence[int], used: int, seen: int
) -> Sequence[int]:
    """Return the candidates of `ranked`, best first, that a decider plans to keep; else all.

    After a test at which the race has used so many evaluations, and the decider has seen so many
    blocks.
    """
    if isinstance(decider, _Protected):
        kept = set(planned_survivors(decider.decider, state[0], ranked, used, seen))
        return tuple(c for c in ranked if c in kept or decider.until[c] > seen)
    room = decider.planned_room(state, used)
    if room is None:
        return ranked
    return ranked[: whole(room, f"{type(decider).__name__}.planned_room()", least=1)]
