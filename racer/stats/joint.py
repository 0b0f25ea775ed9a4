"""Joint multiple comparisons: how many directional statements hold at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from racer._checks import check_draws, check_fraction, whole
from racer.errors import SettingError
from racer.seeding import check_seed
from racer.stats._validation import complete_blocks
from racer.stats.dirichlet import PairSums
from racer.stats.ranks import ranks_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

_CELLS = 1 << 24  # weights kept, of 4 bytes


@dataclass(frozen=True)
class Statement:
    """One directional statement: `better` performs better than `worse`.

    Attributes
    ----------
    better, worse : int
        Columns of the table.
    n_better, n_worse, n_ties : int
        Blocks that `better` won, lost, and tied.
    probability : float
        Marginal posterior probability that the statement is true; 1/2 if all blocks tie.
    joint : float
        Posterior probability that it and all statements before it are true; 0 from the first
        pair on that ties in all blocks, as neither is better there.

    Examples
    --------
    >>> from racer.stats import joint_comparisons
    >>> scores = [[1, 2, 3], [1, 3, 2], [2, 1, 3], [1, 2, 3], [1, 3, 2], [1, 2, 3], [1, 2, 3]]
    >>> result = joint_comparisons(scores)
    >>> statement = result.statements[0]
    >>> statement.better, statement.worse, statement.n_better
    (0, 2, 7)
    """

    better: int
    worse: int
    n_better: int
    n_worse: int
    n_ties: int
    probability: float
    joint: float


@dataclass(frozen=True)
class JointComparisons:
    """Result of `joint_comparisons`.

    Attributes
    ----------
    statements : tuple of Statement
        One per pair, by decreasing marginal probability.
    n_accepted : int
        How many of them, from the first, hold jointly with probability above `confidence`,
        without any that tie with the first that does not.
    confidence : float
    n_blocks, n_dropped : int
        Complete blocks used, and blocks left out because of NaN.

    Examples
    --------
    >>> from racer.stats import joint_comparisons
    >>> scores = [[1, 2, 3], [1, 3, 2], [2, 1, 3], [1, 2, 3], [1, 3, 2], [1, 2, 3], [1, 2, 3]]
    >>> result = joint_comparisons(scores)
    >>> result.n_accepted
    2
    >>> [(s.better, s.worse) for s in result.accepted]
    [(0, 2), (0, 1)]
    """

    statements: tuple[Statement, ...]
    n_accepted: int
    confidence: float
    n_blocks: int
    n_dropped: int

    @property
    def accepted(self) -> tuple[Statement, ...]:
        """The accepted statements."""
        return self.statements[: self.n_accepted]

    def to_frame(self) -> pd.DataFrame:
        """Return one row per statement, with a column `accepted`."""
        import pandas as pd  # noqa: PLC0415

        frame = pd.DataFrame([vars(statement) for statement in self.statements])
        frame["accepted"] = np.arange(len(frame)) < self.n_accepted
        return frame


class Ordered(NamedTuple):
    """Statements sorted for acceptance: strongest first."""

    better: NDArray[np.intp]
    worse: NDArray[np.intp]
    p_false: NDArray[np.float64]  # marginal probability that the statement is false


def order_statements(
    wins: NDArray[Any],
    rank_sums: NDArray[np.float64],
    better: NDArray[np.intp],
    worse: NDArray[np.intp],
    strength: float = 0.0,
) -> Ordered:
    """Sort by marginal probability, then rank sums; each pair begins with `strength` wins each."""
    from scipy.special import betainc  # noqa: PLC0415

    base = int(wins.max()) + 1
    pairs = wins[better, worse].astype(np.int64) * base + wins[worse, better]
    counts, place = np.unique(pairs, return_inverse=True)
    won, lost = np.divmod(counts, base)
    by_count = np.full(len(counts), 0.5)
    # limits of the Beta as a parameter goes to 0, where betainc is not defined
    by_count[(lost == 0) & (won > 0)] = 0.0
    mixed = (lost + strength > 0) & (won != lost)
    by_count[mixed] = betainc(won[mixed] + strength, lost[mixed] + strength, 0.5)
    p_false = by_count[place]
    gap = rank_sums[worse] - rank_sums[better]
    order = np.lexsort((-gap, p_false))  # what ties in both stays in the order given
    return Ordered(better[order], worse[order], p_false[order])


def running_joint(
    statements: Iterable[NDArray[np.bool_]], draws: int, *, stop_at: float = -1.0
) -> list[float]:
    """Return the fraction of draws, (draws,) each, in which the first 1, 2, .. statements hold."""
    together = np.ones(draws, dtype=bool)
    joint: list[float] = []
    for holds in statements:
        together &= holds
        joint.append(int(np.count_nonzero(together)) / draws)
        if joint[-1] <= stop_at:
            break
    return joint


def without_ties(accepted: int, ordered: Ordered, rank_sums: NDArray[np.float64]) -> int:
    """Return how many of the first statements do not tie with the first that is not accepted."""
    ties = _ties_with_next(ordered, rank_sums)
    while 0 < accepted <= len(ties) and ties[accepted - 1]:
        accepted -= 1
    return accepted


def stated(
    ordered: Ordered,
    joint: Sequence[float],
    won: NDArray[np.int64],
    met: NDArray[np.int64],
    numbers: NDArray[np.intp],
) -> tuple[Statement, ...]:
    """Return statements by how often candidates met and won, (m, m), under the `numbers` given, (m,)."""
    return tuple(
        Statement(
            better=int(numbers[i]),
            worse=int(numbers[j]),
            n_better=int(won[i, j]),
            n_worse=int(won[j, i]),
            n_ties=int(met[i, j] - won[i, j] - won[j, i]),
            probability=1.0 - float(p_false),
            joint=together,
        )
        for i, j, p_false, together in zip(*ordered, joint, strict=True)
    )


def common_joint(statements: Sequence[Statement], rank_sums: NDArray[np.float64]) -> list[float]:
    """Return the joint probabilities; statements that tie have the last one's."""
    better, worse = np.array([(s.better, s.worse) for s in statements]).T
    p_false = np.array([1.0 - s.probability for s in statements])
    ties = _ties_with_next(Ordered(better, worse, p_false), rank_sums)
    joint = [s.joint for s in statements]
    for place in np.flatnonzero(ties).tolist()[::-1]:
        joint[place] = joint[place + 1]
    return joint


def _ties_with_next(ordered: Ordered, rank_sums: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which statements but the last tie with the next one, in probability and gap."""
    p_false, gap = ordered.p_false, rank_sums[ordered.worse] - rank_sums[ordered.better]
    return np.asarray((p_false[1:] == p_false[:-1]) & (gap[1:] == gap[:-1]))


def joint_comparisons(
    scores: ArrayLike,
    *,
    confidence: float = 0.95,
    draws: int = 20_000,
    seed: int = 0,
    maximize: bool = False,
    control: int | None = None,
) -> JointComparisons:
    """Accept as many directional statements as are jointly probable.

    For each pair the direction with the larger posterior probability of P(better) > 1/2 is
    taken (the Bayesian sign test; equal ones by mean rank), the statements are sorted by it,
    and the longest prefix whose *joint* posterior probability exceeds `confidence` is accepted.
    The joint probability is a fraction of Dirichlet draws common to all statements, so that it
    accounts for their dependence. The prior's strength does not matter: its atom is a tie.
    Statements that tie, in probability and in the gap between the mean ranks, are accepted
    together or not at all, so that the order of the columns decides nothing.

    Run the omnibus test first (`bayesian_friedman_test`): without it, some false statement is
    accepted in most data sets whose candidates are all equal.

    Parameters
    ----------
    scores : array_like, shape (n, m)
        One row per block, one column per candidate; smaller is better. Ties count one half;
        blocks with NaN are left out and counted.
    confidence : float in (0, 1)
    draws : int >= 100
        The standard error of a joint probability p is sqrt(p (1 - p) / draws).
    seed : int >= 0
        Same seed, same answer.
    maximize : bool
        Larger is better.
    control : int, optional
        A column: only the m - 1 pairs with it are compared, instead of all.

    Returns
    -------
    JointComparisons

    Raises
    ------
    ScoresError
        Fewer than two candidates, no complete block, or values that are not numbers.
    SettingError
        confidence, draws, seed or control out of range.

    References
    ----------
    Benavoli et al. (ICML 2015), section 5.3 and Table 1; Gelman and Tuerlinckx (2000).

    Examples
    --------
    X1 beats X2 in all blocks, and X2 beats X3 in 20 of 30, as in the paper's Table 1:

    >>> scores = [[0, 1, 2]] * 20 + [[0, 2, 1]] * 10
    >>> result = joint_comparisons(scores)
    >>> [(s.better, s.worse, round(1 - s.probability, 4)) for s in result.accepted]
    [(0, 2, 0.0), (0, 1, 0.0), (1, 2, 0.0307)]
    """
    check_fraction(confidence, "confidence")
    check_draws(draws)
    blocks = complete_blocks(scores, maximize=maximize)
    costs = blocks.costs
    n, m = costs.shape
    ranks = ranks_of(costs)
    wins, rank_sums = np.zeros((m, m), dtype=np.int64), ranks.sum(axis=0)
    for row in costs:  # wins[i, j]: blocks in which i has a smaller cost than j
        wins += row[:, None] < row

    # by rank sums, then by all ranks (big-endian bytes sort alike): columns order only copies
    keys = [*zip(rank_sums, (row.tobytes() for row in ranks.T.astype(">f8")), strict=True)]
    standing = np.array(sorted(range(m), key=keys.__getitem__))
    first, second = standing[np.stack(np.triu_indices(m, 1))]
    if control is not None:
        if whole(control, "control", least=0) >= m:
            raise SettingError(f"control={control}: the columns are 0 to {m - 1}")
        mine = (first == control) | (second == control)
        first, second = first[mine], second[mine]
    swap = wins[first, second] < wins[second, first]
    ordered = order_statements(
        wins, rank_sums, np.where(swap, second, first), np.where(swap, first, second)
    )

    sums = PairSums(draws, check_seed(seed), kept=_CELLS // draws)
    joint = running_joint(sums.hold(costs, ordered.better, ordered.worse), draws)
    # draws err; the exact probability of the last statement is the least of all so far
    joint = np.minimum(joint, 1.0 - ordered.p_false).tolist()
    above = sum(together > confidence for together in joint)
    met, numbers = np.full((m, m), n), np.arange(m)
    statements = stated(ordered, joint, wins, met, numbers)
    return JointComparisons(
        statements, without_ties(above, ordered, rank_sums), confidence, n, blocks.dropped
    )
