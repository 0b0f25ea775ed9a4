"""What a race, or a tuner that holds races, tells those who watch it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from racer.errors import SettingError

if TYPE_CHECKING:
    from racer.deciders.decider import Measure, Reason

__all__ = [
    "BlockCompleted",
    "Callback",
    "CandidatesAdded",
    "Elimination",
    "Ended",
    "RaceCompleted",
    "RaceEnded",
    "check_callbacks",
]


class Ended(StrEnum):
    """Why a race ended; `message` says it in a sentence."""

    DECIDED = "decided"
    BUDGET = "budget"
    INSTANCES = "instances"
    UNDECIDED = "undecided"
    ALL_EQUAL = "all-equal"
    ALL_FAILED = "all-failed"
    ONE_CANDIDATE = "one-candidate"
    INTERRUPTED = "interrupted"

    @property
    def message(self) -> str:
        """One sentence for a person."""
        return _MESSAGES[self]


_MESSAGES = {
    Ended.DECIDED: "No more candidates are left than were asked for.",
    Ended.BUDGET: "The budget cannot pay for another block.",
    Ended.INSTANCES: "Every instance has been used, and a deterministic race uses each once.",
    Ended.UNDECIDED: "What is left of the budget and the instances cannot bring enough evidence to drop anyone.",
    Ended.ALL_EQUAL: "No block told any two candidates apart, so nothing speaks for any of them.",
    Ended.ALL_FAILED: "Every evaluation has failed.",
    Ended.ONE_CANDIDATE: "There was one candidate, so nothing was evaluated.",
    Ended.INTERRUPTED: "The race had not come to its end.",
}


@dataclass(frozen=True)
class Elimination:
    """One candidate that went.

    Attributes
    ----------
    block : int
        The block after which it went (a row of `RaceResult.scores`).
    candidate, against : int
        Who went, and the opponent that settled it.
    reason : {"inferior", "indistinguishable", "halved", "unlikely"}
    probability : float
        What `measure` names; an e-value may exceed 1.
    measure : {"posterior", "p-value", "win-share", "e-value"}
    """

    block: int
    candidate: int
    reason: Reason
    against: int
    probability: float
    measure: Measure


@dataclass(frozen=True)
class BlockCompleted:
    """A block is complete, and the decider has looked at it if it was due.

    Attributes
    ----------
    block : int
        Its number, from 0.
    alive : tuple of int
        Who is still in.
    best : int or None
        Who leads, as of the last look.
    best_mean : float or None
        Its mean value so far, in the user's direction.
    eliminated : tuple of Elimination
        Who went after this block.
    evaluations, seconds : int, float
        Used so far.
    failed : int
        Failed cells in this block; if all failed, the block was set aside.
    """

    block: int
    alive: tuple[int, ...]
    best: int | None
    best_mean: float | None
    eliminated: tuple[Elimination, ...]
    evaluations: int
    seconds: float
    failed: int


@dataclass(frozen=True)
class RaceEnded:
    """The race is over.

    Attributes
    ----------
    ended : Ended
    eliminated : tuple of Elimination
        Who went at the last look, if blocks had not been looked at when the race ended.
    """

    ended: Ended
    eliminated: tuple[Elimination, ...]


@dataclass(frozen=True)
class CandidatesAdded:
    """New candidates are in.

    Attributes
    ----------
    race : int
        The number of the race that they enter, from 0.
    first : int
        The number of the first of them; the others follow.
    configs : tuple of dict
    parents : tuple of (int or None)
        Around which candidate each was sampled; None: around none.
    """

    race: int
    first: int
    configs: tuple[dict[str, Any], ...]
    parents: tuple[int | None, ...]


@dataclass(frozen=True)
class RaceCompleted:
    """One race of a tuner is over.

    Attributes
    ----------
    race : int
        Its number, from 0.
    kind : {"race", "selection"}
        "selection": among the elites of all races, with what was left of the budget.
    candidates, alive : int
        How many began it, and how many were in at its end.
    blocks : int
        How many blocks it had.
    best : int or None
        Who leads; None if nothing speaks for one rather than another.
    best_mean : float or None
        Its mean value over all that is known of it, in the user's direction.
    elites : tuple of int
        Who goes on to the next race, best first.
    evaluations, seconds : int, float
        Used so far by the whole run.
    left : int or None
        Evaluations that the budget still pays for; None if that cannot be told yet.
    ended : str
        Why it ended: "decided" (no more candidates than elites are left), "budget",
        "no-elimination", "instances", "undecided", "all-failed", "all-equal".
    """

    race: int
    kind: str
    candidates: int
    alive: int
    blocks: int
    best: int | None
    best_mean: float | None
    elites: tuple[int, ...]
    evaluations: int
    seconds: float
    left: int | None
    ended: str


Callback = Callable[[Any], object]  # a tuner tells more than a race does


def check_callbacks(callbacks: Sequence[Callback]) -> tuple[Callback, ...]:
    """Return the callbacks as a tuple.

    Raises
    ------
    SettingError
        Not a list or tuple, or something in it cannot be called.
    """
    if not isinstance(callbacks, list | tuple) or not all(map(callable, callbacks)):
        raise SettingError(f"callbacks={callbacks!r}: give a list of functions, [..]")
    return tuple(callbacks)
