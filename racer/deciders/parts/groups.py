"""Groups of instances: which are complete, their mean costs, and a decider that is shown these."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from racer._numerics import means_of
from racer.deciders.decider import Verdict
from racer.deciders.parts.checks import checked_verdict
from racer.deciders.parts.verdicts import best_of
from racer.deciders.parts.wrappers import Wrapper
from racer.failures import Largest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from racer.deciders.decider import Blocks, Decider, Setting


@dataclass(frozen=True)
class Groups:
    """Groups of instances; a group's instances follow each other, in their order."""

    numbers: tuple[int, ...]  # of the group of each instance, from 0

    @cached_property
    def members(self) -> tuple[tuple[int, ...], ...]:
        """The instances of each group."""
        found: dict[int, list[int]] = {}
        for instance, number in enumerate(self.numbers):
            found.setdefault(number, []).append(instance)
        return tuple(tuple(found[number]) for number in range(len(found)))

    def ends(self, instance: int) -> bool:
        """Return whether a group is complete once this instance has been evaluated."""
        return self.members[self.numbers[instance]][-1] == instance


@dataclass
class GroupMeans:
    """Mean costs of complete groups, each over its blocks that are not set aside."""

    groups: Groups
    rows: list[NDArray[np.float64]] = field(default_factory=list)  # of the group that is open

    def add(self, instance: int, costs: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
        """Add the costs of a block, None if it is set aside; return the mean of a complete group.

        None while it is not complete, and for a group that is set aside: in which all blocks are, or
        every candidate failed somewhere.
        """
        if costs is not None:
            self.rows.append(costs)
        if not (self.rows and self.groups.ends(instance)):
            return None
        mean = means_of(np.array(self.rows))
        self.rows = []
        return mean if np.isfinite(mean).any() else None


def grouped(decider: Decider, groups: Groups, first: int) -> Decider:
    """Return a decider that shows `decider` the mean of each group of instances as one block.

    The first test is after `first` groups.
    """
    return _Grouped(decider, groups, first)


def as_shown(
    decider: Decider, costs: NDArray[np.float64], *, usable: bool
) -> NDArray[np.float64] | None:
    """Return the costs of a block as shown to a decider, None if it is set aside.

    Of groups all blocks are shown, as NaN if they are set aside.
    """
    if usable or decider.bounds is not None:
        return costs
    return np.full_like(costs, np.nan) if isinstance(decider, _Grouped) else None


def in_order(
    decider: Decider, pending: Sequence[tuple[int, NDArray[np.float64]]]
) -> Sequence[tuple[int, NDArray[np.float64]]]:
    """Return pending blocks, with their numbers, in the order in which a decider is shown them.

    Blocks that had been withheld stand first; among groups they stand by their number.
    """
    if not isinstance(decider, _Grouped):
        return pending
    return sorted(pending, key=itemgetter(0))


def all_set_aside(decider: Decider, state: Any) -> bool:
    """Return whether a decider of groups, by its state, had enough for a test, but no mean of any."""
    if not isinstance(decider, _Grouped):
        return False
    return state.n_complete >= decider.least and not (state.n or state.complete)


@dataclass
class _State:
    """Groups not yet shown to the inner decider, as costs (m,) or (m, d)."""

    inner: Any
    standing: NDArray[np.float64]  # of the last verdict, of each candidate at the start
    candidates: NDArray[np.intp]
    bounds: tuple[float, float] | None
    open: GroupMeans
    complete: list[tuple[int, NDArray[np.float64]]] = field(default_factory=list)
    n: int = 0  # groups shown
    n_complete: int = 0  # groups, be they set aside or not
    largest: Largest = field(default_factory=Largest)

    def keep(self, candidates: NDArray[np.intp]) -> None:
        if len(candidates) < len(self.candidates):
            kept = np.searchsorted(self.candidates, candidates)
            self.open.rows = [costs[kept] for costs in self.open.rows]
            self.complete = [(group, costs[kept]) for group, costs in self.complete]
            self.candidates = candidates

    def add(self, instance: int, row: NDArray[np.float64]) -> None:
        """Add a block of the remaining candidates."""
        if self.bounds is not None:
            row = np.clip(row, *self.bounds)
        mean = self.open.add(instance, None if np.isnan(row).all() else row)
        self.n_complete += self.open.groups.ends(instance)
        if mean is not None:
            self.complete.append((self.open.groups.numbers[instance], mean))


@dataclass(frozen=True)
class _Grouped(Wrapper):
    groups: Groups
    first: int

    @property
    def least(self) -> int:
        """How many groups the first test needs."""
        return min(self.first, len(self.groups.members))

    def start(self, setting: Setting) -> _State:
        m = setting.n_candidates
        inner, means = self.decider.start(setting), GroupMeans(self.groups)
        return _State(inner, np.zeros(m), np.arange(m), setting.bounds, means)

    def decide(self, state: _State, blocks: Blocks) -> tuple[_State, Verdict]:
        """Collect blocks; ask the inner decider once enough groups are complete."""
        state.keep(blocks.candidates)
        rows = blocks.costs if blocks.metrics is None else blocks.metrics
        for instance, row in zip(np.asarray(blocks.instances).tolist(), rows, strict=True):
            if blocks.metrics is None:
                state.largest.add(blocks.candidates, row)
            state.add(instance, row)
        shown = state.complete
        if not shown or state.n + len(shown) < self.least:
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
            has_penalty=state.largest.is_penalty,
        )
        state.inner, verdict = checked_verdict(
            self.decider, state.inner, inner, len(state.standing)
        )
        state.standing[blocks.candidates] = verdict.standing
        return state, verdict
