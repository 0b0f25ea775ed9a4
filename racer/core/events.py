"""The events that a contest passes to its callbacks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from racer.errors import SettingError
from racer.evaluate.objective import generator_kind, is_coroutine_function
from racer.evaluate.process_state import watched_by_user

if TYPE_CHECKING:
    from racer.deciders.decider import Drop

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
    """Why a race ended; `message` is a sentence.

    Examples
    --------
    >>> import racer
    >>> result = racer.race([1, 2], lambda c, i, seed: c + seed % 7, budget=60, seed=1)
    >>> result.ended
    <Ended.DECIDED: 'decided'>
    >>> print(result.ended.message)
    Decided: no other candidate is left.
    """

    DECIDED = "decided"
    BUDGET = "budget"
    INSTANCES = "instances"
    UNDECIDED = "undecided"
    SETTLED = "settled"
    ALL_EQUAL = "all-equal"
    ALL_FAILED = "all-failed"
    ALL_REJECTED = "all-rejected"
    ONE_CANDIDATE = "one-candidate"
    DEADLINE = "deadline"
    INTERRUPTED = "interrupted"

    @property
    def message(self) -> str:
        """One sentence for a person."""
        return _MESSAGES[self]


_MESSAGES = {
    Ended.DECIDED: "Decided: no other candidate is left.",
    Ended.BUDGET: "The budget is used.",
    Ended.INSTANCES: "All instances are used.",
    Ended.UNDECIDED: "What is left of the budget and the instances cannot eliminate another candidate.",
    Ended.SETTLED: "Nothing is open between the candidates that are left.",
    Ended.ALL_EQUAL: "No two candidates differed anywhere: there is no evidence for any of them.",
    Ended.ALL_FAILED: "Every evaluation failed, or every candidate somewhere in each group.",
    Ended.ALL_REJECTED: "Every candidate that was left was rejected.",
    Ended.ONE_CANDIDATE: "There was one candidate, so nothing was evaluated.",
    Ended.DEADLINE: "The deadline has passed.",
    Ended.INTERRUPTED: "Interrupted before its end.",
}


@dataclass(frozen=True)
class Elimination:
    """One candidate that was eliminated.

    Attributes
    ----------
    block : int
        The block after which it was eliminated, from 0 (a row of `RaceResult.blocks`).
    candidate, against : int
        The candidate, and the opponent that settled it: itself, if it was rejected; the leader,
        if it was capped.
    reason : str
        "inferior", "indistinguishable", "halved", "outranked", "unlikely", "dominated",
        "unacceptable", "not better", or a decider's own;
        "rejected" if an evaluation had the status "rejected", "failed" if it has failed on every
        block so far, and "capped" if its run time has reached the cap on all blocks (see
        `racer.Runtime`).
    probability : float
        The number that `measure` names; an e-value, or a difference of means, may exceed 1.
    measure : str
        "posterior", "p-value", "win-share", "e-value", "place", "difference of means", or a
        decider's own; "outcome" if rejected, failed, capped or left behind at a rung of `Fidelity`:
        no probability is behind it, and it is 1.

    Examples
    --------
    >>> import racer
    >>> result = racer.race([1, 2], lambda c, i, seed: c + seed % 7, budget=60, seed=1)
    >>> result.eliminations[["candidate", "reason", "against"]].to_dict("records")
    [{'candidate': 1, 'reason': 'inferior', 'against': 0}]
    """

    block: int
    candidate: int
    _: KW_ONLY
    reason: str
    against: int
    probability: float
    measure: str

    def renumbered(self, numbers: Sequence[int], first: int = 0) -> Elimination:
        """Return it with other numbers of candidates, and blocks counted from `first`."""
        return replace(
            self,
            block=first + self.block,
            candidate=numbers[self.candidate],
            against=numbers[self.against],
        )

    @classmethod
    def of_drop(cls, block: int, drop: Drop) -> Elimination:
        """Return the elimination that a decider asks for."""
        return cls(block, **asdict(drop))

    @classmethod
    def of_rejected(cls, block: int, candidate: int) -> Elimination:
        """Return the elimination of a candidate that an evaluation rejected."""
        return cls.of_outcomes(block, candidate, "rejected", candidate)

    @classmethod
    def of_outcomes(cls, block: int, candidate: int, reason: str, leader: int) -> Elimination:
        """Return the elimination of a candidate by its outcomes, all "capped" or all "failed"."""
        return cls(
            block, candidate, reason=reason, against=leader, probability=1.0, measure="outcome"
        )


@dataclass(frozen=True)
class BlockCompleted:
    """A block is complete, and the decider has tested it if a test was due.

    Attributes
    ----------
    block : int
        Its number, from 0; of a tuning counted on through all races, as in
        `TuneResult.eliminations`. A race may use a block of `TuneResult.scores` again.
    candidates : tuple of int
        The candidates that were in. Outcomes that a race of a tuning has from an earlier race
        count as theirs; outcomes outside races have no event, and are in `RaceEnded.result`.
    values : tuple of float
        Their values on it, in the same order and in the user's direction; NaN for a failed cell,
        the bound for a capped one.
    alive : tuple of int
        The candidates still in.
    best : int or None
        The candidate that led at the last test.
    best_mean : float or None
        Its mean value so far, in the user's direction.
    eliminated : tuple of Elimination
        After this block.
    evaluations, seconds : int, float
        Used so far.
    failed : int
        Failed cells in this block; if all failed, the block was set aside, or, where scores have
        bounds, has the worst score for all.
    evidence : mapping, optional
        The decider's result of its omnibus test after this block (`Verdict.evidence`); None
        without a test.
    metrics : mapping of str to tuple of float, optional
        All metrics by name, each as `values`; None where `evaluate` returns one number.
    spent : float, optional
        Money spent so far; None where no evaluation has a spend.

    Examples
    --------
    >>> import racer
    >>> def leader(event):
    ...     if isinstance(event, racer.BlockCompleted) and event.eliminated:
    ...         print(event.block, event.best, event.alive)
    >>> result = racer.race([1, 2], lambda c, i, seed: c + seed % 7, budget=60, callbacks=[leader], seed=1)
    5 0 (0,)
    """

    block: int
    _: KW_ONLY
    candidates: tuple[int, ...]
    values: tuple[float, ...]
    alive: tuple[int, ...]
    best: int | None
    best_mean: float | None
    eliminated: tuple[Elimination, ...]
    evaluations: int
    seconds: float
    failed: int
    evidence: Mapping[str, float | str] | None = None
    metrics: Mapping[str, tuple[float, ...]] | None = None
    spent: float | None = None

    def renumbered(self, numbers: Sequence[int], first: int = 0) -> BlockCompleted:
        """Return it with other numbers of candidates, and blocks counted from `first`."""
        return replace(
            self,
            block=first + self.block,
            candidates=tuple(numbers[i] for i in self.candidates),
            alive=tuple(numbers[i] for i in self.alive),
            best=None if self.best is None else numbers[self.best],
            eliminated=tuple(e.renumbered(numbers, first) for e in self.eliminated),
        )


@dataclass(frozen=True)
class RaceEnded:
    """The race is over.

    Attributes
    ----------
    ended : Ended
    eliminated : tuple of Elimination
        At a last test, if there were blocks that had not been tested when the race ended.
    result : RaceResult, TuneResult or AblationResult
        With all outcomes, also from a resumed store; `unused` and `provenance` come later.

    Examples
    --------
    >>> import racer
    >>> def end(event):
    ...     if isinstance(event, racer.RaceEnded):
    ...         print(event.ended.value, event.result.best)
    >>> result = racer.race([1, 2], lambda c, i, seed: c + seed % 7, budget=60, callbacks=[end], seed=1)
    decided 1
    """

    ended: Ended
    _: KW_ONLY
    eliminated: tuple[Elimination, ...]
    result: Any = field(default=None, compare=False, repr=False)


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

    Examples
    --------
    >>> import racer
    >>> def new(event):
    ...     if isinstance(event, racer.tuner.CandidatesAdded):
    ...         print(event.race, len(event.configs))
    >>> space = racer.Space({"x": racer.Integer(0, 3)})
    >>> result = racer.tune(space, lambda c, i, s: c["x"] + s % 7, budget=60, seed=1, callbacks=[new])
    0 4
    """

    race: int
    _: KW_ONLY
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
        "selection": among the elites of all races, with the rest of the budget.
    candidates, alive : int
        How many began it, and how many were left at its end.
    blocks : int
        How many blocks it had.
    best : int or None
        The leader; None without evidence for any.
    best_mean : float or None
        Its mean value over all that is known of it, in the user's direction.
    elites : tuple of int
        The candidates that enter the next race, best first.
    evaluations, seconds : int, float
        Used so far by the whole tuning.
    left : int or None
        Evaluations that the budget still pays for; None if unknown.
    ended : str
        Why it ended: "decided" (no more candidates than elites are left), "budget",
        "no-elimination", "instances", "undecided", "settled", "all-failed", "all-equal",
        "all-rejected".

    Examples
    --------
    >>> import racer
    >>> def race_over(event):
    ...     if isinstance(event, racer.tuner.RaceCompleted):
    ...         print(event.race, event.candidates, event.best_mean, event.ended)
    >>> space = racer.Space({"x": racer.Integer(0, 3)})
    >>> result = racer.tune(space, lambda c, i, s: c["x"] + s % 7, budget=60, seed=1, callbacks=[race_over])
    0 4 3.0 budget
    """

    race: int
    _: KW_ONLY
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
    """Return the callbacks as a tuple, or SettingError."""
    if not isinstance(callbacks, list | tuple) or not all(map(callable, callbacks)):
        raise SettingError(f"callbacks={callbacks!r}: give a list of functions, [..]")
    for callback in callbacks:
        is_async = is_coroutine_function(callback)
        if (kind := "a coroutine function" if is_async else generator_kind(callback)) is not None:
            raise SettingError(
                f"callbacks=[{callback!r}]: it is {kind}, of which a call runs nothing: give a "
                "plain function"
            )
    return tuple(map(watched_by_user, callbacks))
