"""Deciders around deciders."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from racer._checks import whole
from racer.deciders.decider import Blocks, Decider, Schedule, Setting, Verdict
from racer.deciders.gate import GateRace
from racer.deciders.parts.checks import checked_verdict

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Wrapper(Decider):
    """A decider around another one, with whose properties the rules of a race are checked."""

    decider: Decider

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


def protected(decider: Decider, until: Sequence[int]) -> Decider:
    """Return a decider that eliminates candidate i as `decider` does, but after `until[i]` blocks."""
    return _Protected(decider, tuple(until))


@dataclass(frozen=True)
class _Protected(Wrapper):
    until: tuple[int, ...]

    @property
    def takes_capped(self) -> bool:
        return self.decider.takes_capped

    def start(self, setting: Setting) -> tuple[Any, int]:
        return self.decider.start(setting), 0

    def decide(self, state: tuple[Any, int], blocks: Blocks) -> tuple[tuple[Any, int], Verdict]:
        """Remove the drops of protected candidates from the verdict of the inner decider."""
        inner, verdict = checked_verdict(self.decider, state[0], blocks, len(self.until))
        seen = state[1] + len(blocks.costs)
        if verdict.dropped:
            free = tuple(d for d in verdict.dropped if is_free(self, d.candidate, seen))
            verdict = replace(verdict, dropped=free)
        return (inner, seen), verdict

    def planned_room(self, state: tuple[Any, int], used: int) -> int | None:
        return self.decider.planned_room(state[0], used)


def is_free(decider: Decider, candidate: int, seen: int) -> bool:
    """Return whether a candidate may be eliminated once the decider has `seen` blocks."""
    if isinstance(decider, GateRace):  # the error rate of its answer covers failures
        return False
    return not isinstance(decider, _Protected) or decider.until[candidate] <= seen


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

    After a test at which the race has `used` evaluations and the decider has `seen` blocks.
    """
    if isinstance(decider, _Protected):
        kept = set(planned_survivors(decider.decider, state[0], ranked, used, seen))
        return tuple(c for c in ranked if c in kept or decider.until[c] > seen)
    room = decider.planned_room(state, used)
    if room is None:
        return ranked
    return ranked[: whole(room, f"{type(decider).__name__}.planned_room()", least=1)]
