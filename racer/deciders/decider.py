"""What a decider is: from completed blocks to a verdict on which candidates to eliminate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from racer._checks import whole
from racer.errors import SettingError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray


class Blocks(NamedTuple):
    """The blocks completed since the last test.

    Attributes
    ----------
    candidates : ndarray of int, shape (m,)
        The candidates still in, ascending. One that was in before and is missing now has been
        eliminated.
    costs : ndarray, shape (k, m)
        One row per new block; smaller is better, +inf for a failed cell.
    used : int, optional
        Evaluations that the race has used, blocks included in which every cell failed.

    Examples
    --------
    >>> import numpy as np
    >>> from racer.deciders import Blocks
    >>> blocks = Blocks(candidates=np.array([0, 2]), costs=np.array([[0.5, 0.7], [0.1, np.inf]]))
    >>> blocks.costs.shape
    (2, 2)
    """

    candidates: NDArray[np.intp]
    costs: NDArray[np.float64]
    used: int | None = None


class Drop(NamedTuple):
    """One candidate to be eliminated.

    Attributes
    ----------
    candidate, against : int
        Which candidate, and the opponent that settles it.
    reason : str
        Any text. racer's own deciders say "inferior", "indistinguishable", "halved", "outranked"
        (the budget has no more room for it) or "unlikely".
    probability : float
        What `measure` says: the posterior probability that the reason is true ("unlikely": that
        the candidate is best after all), the p-value of the test that found the difference, the
        fraction of blocks that the opponent won, or the e-value against the candidate, which is
        not a probability: it may exceed 1.
    measure : str
        Any text. racer's own deciders say "posterior", "p-value", "win-share" or "e-value".

    Examples
    --------
    >>> import numpy as np
    >>> from racer.deciders import Blocks, FRace
    >>> decider = FRace()
    >>> state = decider.start(3, np.random.default_rng(1))
    >>> blocks = Blocks(np.arange(3), np.tile([1.0, 2.0, 3.0], (8, 1)))
    >>> state, verdict = decider.decide(state, blocks)
    >>> drop = verdict.dropped[0]
    >>> drop.candidate, drop.against, drop.reason, drop.measure
    (1, 0, 'inferior', 'p-value')
    """

    candidate: int
    reason: str
    against: int
    probability: float
    measure: str


class Verdict(NamedTuple):
    """What a decider says after a test.

    Attributes
    ----------
    dropped : tuple of Drop
        The candidates to be eliminated, strongest evidence first: each is one of
        `Blocks.candidates`, each once, and never all of them.
    best : int or None
        The candidate with the best standing (the first of them, if several tie); None when all
        candidates tie.
    standing : ndarray, shape (m,)
        What candidates are ordered by, in the order of `Blocks.candidates`: smaller is better,
        without NaN.
    evidence : mapping
        What the omnibus test said, for the record.
    undecided : bool
        No drop can come any more within the budget; the race ends unless a candidate is
        eliminated.

    Examples
    --------
    >>> import numpy as np
    >>> from racer.deciders import Blocks, FRace
    >>> decider = FRace()
    >>> state = decider.start(3, np.random.default_rng(1))
    >>> blocks = Blocks(np.arange(3), np.tile([1.0, 2.0, 3.0], (8, 1)))
    >>> state, verdict = decider.decide(state, blocks)
    >>> verdict.best, [drop.candidate for drop in verdict.dropped]
    (0, [1, 2])
    >>> verdict.standing
    array([-1.,  0.,  1.])
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
        """Return the decider to start, for so many evaluations and so many blocks at most.

        None: the budget is not in evaluations; instances are used more than once.
        """
        ...


@runtime_checkable
class PlansDrops(Protocol):
    """A decider that knows beforehand how many candidates it will keep, and when.

    Free workers then evaluate no more of them ahead; what is decided does not depend on it.
    """

    def planned_room(self, n_candidates: int, used: int) -> int:
        """Return how many of so many candidates it keeps after so many evaluations of a race."""
        ...


@runtime_checkable
class JudgesOne(Protocol):
    """A decider that can compare one candidate with others that have not seen the same blocks."""

    def judge(self, own: NDArray[np.float64], others: NDArray[np.float64]) -> Drop | None:
        """Say whether one candidate is to be eliminated, from costs `own` (n,) and `others` (n, k).

        NaN: an opponent has not seen the block. In the Drop, `candidate` is k, `against` a column.
        """
        ...


@runtime_checkable
class Decider(Protocol):
    """Settings of an elimination procedure; what it knows of a race is its state.

    An attribute `each_test` says when it is asked if a race does not (see `racer.racing.Rules`),
    `takes_capped` that its statements hold for run times of which some are capped: ranks and signs.
    `decide` may use up the state it is given and return the same object.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> import racer
    >>> from racer.deciders import Drop, Verdict
    >>> @dataclass(frozen=True)
    ... class Worst:  # drops the worst mean at each test
    ...     def start(self, n_candidates, rng):
    ...         return np.zeros(n_candidates)
    ...     def decide(self, state, blocks):
    ...         state = state.copy()
    ...         state[blocks.candidates] += blocks.costs.sum(axis=0)
    ...         standing = state[blocks.candidates]
    ...         best = int(blocks.candidates[standing.argmin()])
    ...         worst = int(blocks.candidates[standing.argmax()])
    ...         drop = Drop(worst, "inferior", best, 1.0, "win-share")
    ...         dropped = () if best == worst else (drop,)
    ...         return state, Verdict(dropped, best, standing, {})
    >>> racer.race([3, 1, 2], lambda config, instance, seed: config, decider=Worst(), budget=60).best
    1
    """

    def start(self, n_candidates: int, rng: np.random.Generator) -> Any:
        """Return the state of a race in which nothing is known yet."""
        ...

    def decide(self, state: Any, blocks: Blocks) -> tuple[Any, Verdict]:
        """Take in new blocks and say which candidates to eliminate."""
        ...


def check_limit(limit: int | None, name: str) -> None:
    """Raise SettingError unless a limit is None or a whole number >= 1."""
    if limit is not None:
        whole(limit, name, least=1)


def least(given: int | None, told: int | None) -> int | None:
    """Return the smaller of two limits; None means no limit."""
    return min((limit for limit in (given, told) if limit is not None), default=None)


def needed(evaluations: int | None, name: str, example: str) -> int:
    """Return the budget of a race that begins; SettingError without one."""
    if evaluations is None:
        raise SettingError(
            f"decider={name!r} needs a budget of evaluations: give budget=.. as a number, or "
            f"{example}(evaluations=..)"
        )
    return evaluations


def used_after(used: int, blocks: Blocks) -> int:
    """Return the evaluations used: as the race says, or by the cells that were shown."""
    return used + blocks.costs.size if blocks.used is None else blocks.used
