"""What a tuner tells those who watch it, besides what a race tells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["CandidatesAdded", "RaceCompleted"]


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
