"""What a tuner tells its callbacks, beside what its races tell."""

from __future__ import annotations

from dataclasses import dataclass


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
        How many began it, and how many were left at its end.
    blocks : int
        How many blocks it had.
    best : int or None
        The one that leads; None if nothing speaks for one rather than another.
    best_mean : float or None
        Its mean value over all that is known of it, in the user's direction.
    elites : tuple of int
        The candidates that enter the next race, best first.
    evaluations, seconds : int, float
        Used so far by the whole tuning.
    left : int or None
        Evaluations that the budget still pays for; None if that cannot be told yet.
    ended : str
        Why it ended: "decided" (no more candidates than elites are left), "budget",
        "no-elimination", "instances", "undecided", "all-failed", "all-equal".

    Examples
    --------
    >>> import racer
    >>> def race_over(event):
    ...     if isinstance(event, racer.tuner.RaceCompleted):
    ...         print(event.race, event.candidates, event.best_mean, event.ended)
    >>> space = racer.Space({"x": racer.Integer(0, 3)})
    >>> result = racer.tune(space, lambda c, i, s: c["x"], budget=60, seed=1, callbacks=[race_over])
    0 4 0.0 decided
    1 2 0.0 budget
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
