"""What a decider is: from completed blocks to a verdict on who may go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

__all__ = [
    "Blocks",
    "Decider",
    "Drop",
    "JudgesOne",
    "KnowsBudget",
    "Measure",
    "Reason",
    "Verdict",
    "best_of",
    "drop_losers",
]

Reason = Literal["inferior", "indistinguishable", "halved", "unlikely"]
Measure = Literal["posterior", "p-value", "win-share", "e-value"]


class Blocks(NamedTuple):
    """The blocks completed since the last look.

    Attributes
    ----------
    candidates : ndarray of int, shape (m,)
        Who is in, ascending. Who was in before and is missing now is gone for good.
    costs : ndarray, shape (k, m)
        One row per new block; smaller is better, +inf for a failed cell.
    used : int, optional
        Evaluations that the race has used, blocks included in which every cell failed.
    """

    candidates: NDArray[np.intp]
    costs: NDArray[np.float64]
    used: int | None = None


class Drop(NamedTuple):
    """One candidate that may go.

    Attributes
    ----------
    candidate, against : int
        Who goes, and the opponent that settles it.
    reason : {"inferior", "indistinguishable", "halved", "unlikely"}
    probability : float
        What `measure` says: the posterior probability that the reason is true ("unlikely": that
        the candidate is best after all), the p-value of the test that found the difference, the
        share of blocks that the opponent won, or the e-value against the candidate, which is no
        probability: it may exceed 1.
    measure : {"posterior", "p-value", "win-share", "e-value"}
    """

    candidate: int
    reason: Reason
    against: int
    probability: float
    measure: Measure


class Verdict(NamedTuple):
    """What a decider says after a look.

    Attributes
    ----------
    dropped : tuple of Drop
        Who may go, strongest evidence first. Never all.
    best : int or None
        The candidate with the best standing (the first of them, if several tie); None when all
        candidates tie.
    standing : ndarray, shape (m,)
        What candidates are ordered by, in the order of `Blocks.candidates`: smaller is better.
    evidence : mapping
        What the omnibus test said, for the record.
    undecided : bool
        No drop can come any more within the budget; the race ends unless someone goes.
    """

    dropped: tuple[Drop, ...]
    best: int | None
    standing: NDArray[np.float64]
    evidence: Mapping[str, float | str]
    undecided: bool = False


@runtime_checkable
class KnowsBudget(Protocol):
    """A decider that plans ahead: the race tells it the budget before it starts."""

    def told_budget(self, evaluations: int | None, blocks: int | None) -> Decider:
        """Return the decider to start.

        Parameters
        ----------
        evaluations : int, optional
            The budget; None if it is not in evaluations.
        blocks : int, optional
            The number of instances if each is used once, None otherwise.
        """
        ...


@runtime_checkable
class JudgesOne(Protocol):
    """A decider that can compare one candidate with others that have not seen the same blocks."""

    def judge(self, own: NDArray[np.float64], others: NDArray[np.float64]) -> Drop | None:
        """Say whether one candidate may go; None if it stays.

        Parameters
        ----------
        own : ndarray, shape (n,)
            Its costs, in the order in which they came.
        others : ndarray, shape (n, k)
            Those of its opponents on the same blocks; NaN where one has not seen a block.

        Returns
        -------
        Drop or None
            `candidate` is k, `against` the column of an opponent.
        """
        ...


@runtime_checkable
class Decider(Protocol):
    """Settings of an elimination procedure; what it knows of a race is its state.

    `decide` may use up the state it is given and return the same object.
    """

    def start(self, n_candidates: int, rng: np.random.Generator) -> Any:
        """Return the state of a race in which nothing is known yet."""
        ...

    def decide(self, state: Any, blocks: Blocks) -> tuple[Any, Verdict]:
        """Take in new blocks and say who may go."""
        ...


def best_of(candidates: NDArray[np.intp], standing: NDArray[np.float64]) -> int | None:
    """Return the candidate with the smallest standing, the first of several; None if all tie."""
    values = standing.tolist()
    smallest = min(values)
    if len(values) > 1 and smallest == max(values):
        return None
    return int(candidates[values.index(smallest)])


def drop_losers(
    candidates: NDArray[np.intp],
    standing: NDArray[np.float64],
    better: NDArray[np.intp],
    worse: NDArray[np.intp],
    probability: NDArray[np.float64],
    measure: Measure,
) -> tuple[Drop, ...]:
    """Drop whoever is the worse one in any statement.

    Parameters
    ----------
    candidates, standing : ndarray, shape (m,)
    better, worse : ndarray of int, shape (k,)
        Accepted statements as positions in `candidates`, strongest first.
    probability : ndarray, shape (k,)
    measure : str

    Returns
    -------
    tuple of Drop
        In the order of the statements. Each names the first opponent that stays, or, where none
        stays, the first. If statements run in a circle and everyone loses, the candidate with
        the best standing stays.
    """
    loses = np.zeros(len(candidates), dtype=bool)
    loses[worse] = True
    if loses.all():
        loses[standing.argmin()] = False
    told = np.flatnonzero(loses[worse])
    told = told[np.argsort(loses[better[told]], kind="stable")]
    _, first = np.unique(worse[told], return_index=True)
    return tuple(
        Drop(
            int(candidates[worse[s]]),
            "inferior",
            int(candidates[better[s]]),
            float(probability[s]),
            measure,
        )
        for s in np.sort(told[first]).tolist()
    )
