"""Win tables: on how many data sets each algorithm beats each other one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np

from racer._checks import as_floats, check_strength, choice, flag, repeated
from racer._numerics import TIE, as_costs
from racer.errors import ScoresError
from racer.stats._validation import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

TiePolicy = Literal["spread", "add", "forget", "davidson"]
LocalRope = Literal["paired", "unpaired"]
_CELLS = 1 << 18  # of runs and pairs, at a time


@dataclass(frozen=True, eq=False)
class WinTable:
    """Counts of wins and ties between K algorithms.

    Parameters
    ----------
    wins : array_like, shape (K, K)
        wins[i, j] = on how many data sets i beats j. The diagonal is zero.
    ties : array_like, shape (K, K), optional
        Symmetric; none by default.
    names : iterable, optional
        One per algorithm, all different; "0", "1", .. by default.
    n_missing : int
        Results that were missing (NaN) in the scores; they are neither won nor lost.

    Raises
    ------
    ScoresError
        Not square, fewer than two algorithms, counts that are not whole and >= 0, ties that
        are not symmetric, or names that repeat.

    Examples
    --------
    >>> from racer.stats import win_table
    >>> scores = [[1, 2, 3], [1, 3, 2], [2, 1, 3], [1, 2, 3], [1, 3, 2], [1, 2, 3], [1, 2, 3]]
    >>> table = win_table(scores)
    >>> int(table.wins[0, 1]), int(table.ties[0, 1])
    (6, 0)
    """

    wins: NDArray[np.float64]
    ties: NDArray[np.float64]
    names: tuple[str, ...]
    n_missing: int = 0

    def __init__(
        self,
        wins: ArrayLike,
        ties: ArrayLike | None = None,
        names: Iterable[object] | None = None,
        n_missing: int = 0,
    ) -> None:
        won = as_floats(wins, "wins", 2)
        tied = np.zeros_like(won) if ties is None else as_floats(ties, "ties", 2)
        k = len(won)
        if won.shape != (k, k) or tied.shape != (k, k):
            raise ScoresError(f"wins {won.shape} and ties {tied.shape} must both be (K, K)")
        if k < 2:
            raise ScoresError(f"{k} algorithm(s): give at least 2 to compare")
        for name, counts in (("wins", won), ("ties", tied)):
            if not (np.isfinite(counts).all() and (counts >= 0).all() and (counts % 1 == 0).all()):
                raise ScoresError(f"{name} must hold whole counts >= 0")
            if np.diagonal(counts).any():
                raise ScoresError(f"{name}[i, i] must be 0: none meets itself")
        if (tied != tied.T).any():
            raise ScoresError("ties must be symmetric: ties[i, j] = ties[j, i]")
        for name, value in {
            "wins": frozen(won),
            "ties": frozen(tied),
            "names": check_names(names, k),
            "n_missing": n_missing,
        }.items():
            object.__setattr__(self, name, value)

    def counted(self, policy: TiePolicy) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return wins and ties after a policy: "spread" gives half a tie to either, rounded up.

        "add" gives it to both, "forget" to neither; "davidson" leaves ties as they are.
        """
        nothing = np.zeros_like(self.ties)
        part = {"spread": np.ceil(self.ties / 2.0), "add": self.ties, "forget": nothing}
        choice(policy, "ties", (*part, "davidson"))
        if policy == "davidson":
            return self.wins, self.ties
        return self.wins + part[policy], nothing

    def to_frame(self) -> pd.DataFrame:
        """Return one row per pair: first, second, wins_first, wins_second, ties."""
        import pandas as pd  # noqa: PLC0415

        first, second = np.triu_indices(len(self.names), 1)
        return pd.DataFrame(
            {
                "first": [self.names[i] for i in first],
                "second": [self.names[j] for j in second],
                "wins_first": self.wins[first, second].astype(int),
                "wins_second": self.wins[second, first].astype(int),
                "ties": self.ties[first, second].astype(int),
            }
        )


def as_runs(scores: ArrayLike) -> NDArray[np.float64]:
    """Return scores as (n, r, K), with one run where they are (n, K)."""
    try:
        ndim = np.ndim(scores)
    except ValueError:  # ragged: as_floats says so
        ndim = 2
    if ndim == 3:
        return as_floats(scores, "scores", 3)
    return as_floats(scores, "scores", 2)[:, None, :]


def check_names(names: Iterable[object] | None, k: int) -> tuple[str, ...]:
    """Return k different names as strings."""
    try:
        given = tuple(map(str, range(k) if names is None else names))
    except TypeError:
        raise ScoresError(f"names={names!r}: give a name for each of {k} algorithms") from None
    if len(given) != k:
        raise ScoresError(f"{len(given)} names for {k} algorithms")
    if again := sorted(repeated(given)):
        raise ScoresError(f"names repeat: {', '.join(again)}; give each algorithm its own")
    return given


class Runs(NamedTuple):
    """Mean and variance over the known ones among values, along the first axis."""

    mean: NDArray[np.float64]
    variance: NDArray[np.float64]


def over_runs(values: NDArray[np.float64]) -> Runs:
    """Return mean and variance of the known ones, NaN where none is known."""
    known = ~np.isnan(values)
    count = known.sum(axis=0)
    with np.errstate(all="ignore"):
        mean = np.where(known, values, 0.0).sum(axis=0) / count
        squares = np.where(known, (values - mean) ** 2, 0.0).sum(axis=0)
        return Runs(mean, squares / (count - 1))


def _alike(runs: NDArray[np.float64], local_rope: LocalRope, threshold: float) -> NDArray[np.bool_]:
    """Return which pairs differ by less than `threshold` Cohen's d on data sets, (r, n, K) to (n, K, K)."""
    with np.errstate(all="ignore"):
        if local_rope == "paired":  # Wainer 2023, eq. 5
            each = over_runs(runs[..., :, None] - runs[..., None, :])
            return np.asarray(np.abs(each.mean) < threshold * np.sqrt(each.variance))
        mean, variance = over_runs(runs)  # eq. 3
        pooled = np.sqrt((variance[..., :, None] + variance[..., None, :]) / 2.0)
        return np.asarray(np.abs(mean[..., :, None] - mean[..., None, :]) < threshold * pooled)


def _equal(costs: NDArray[np.float64], tolerance: float) -> NDArray[np.bool_]:
    """Return which pairs of costs (n, K) are equal within a relative tolerance, (n, K, K)."""
    size = np.where(np.isfinite(costs), np.abs(costs), 0.0)
    one, other = costs[..., :, None], costs[..., None, :]
    with np.errstate(invalid="ignore", over="ignore"):  # inf - inf: equal all the same
        gaps, sizes = np.abs(one - other), np.maximum(size[..., :, None], size[..., None, :])
    return np.asarray((gaps <= tolerance * sizes) | (one == other))


def win_table(
    scores: ArrayLike,
    *,
    names: Iterable[object] | None = None,
    tolerance: float = TIE,
    local_rope: LocalRope | None = None,
    threshold: float = 0.4,
    maximize: bool = False,
) -> WinTable:
    """Count for each pair of algorithms the data sets on which one beats the other.

    Parameters
    ----------
    scores : array_like, shape (n, K) or (n, r, K)
        n data sets, K algorithms, and, in the second form, r runs or folds, which are averaged;
        smaller is better. NaN: no result there, neither won nor lost.
    names : iterable, optional
        One per algorithm, such as ``frame.columns``; "0", "1", .. by default.
    tolerance : float >= 0
        Scores tie when they differ by at most this times the larger of their sizes. The
        default forgives rounding and nothing else.
    local_rope : {"unpaired", "paired"}, optional
        Two algorithms tie on a data set also when their runs differ by less than `threshold`
        in Cohen's d: the difference of the means over the pooled standard deviation, or, when
        both have met the same folds, the mean of the differences over theirs.
    threshold : float > 0
        0.4 for a 30 % error of either kind with about 20 runs (Wainer 2023, section 6.1).
    maximize : bool
        Larger is better.

    Returns
    -------
    WinTable

    Raises
    ------
    ScoresError
        Fewer than two algorithms, names that repeat, values that are not numbers, or a local
        rope without runs.
    SettingError
        tolerance, local_rope or threshold out of range.

    References
    ----------
    Wainer: A Bayesian Bradley-Terry model to compare multiple ML algorithms on multiple data
    sets (JMLR 2023), sections 5.2 and 6.1, eq. 3 to 5.

    Examples
    --------
    >>> table = win_table([[0.1, 0.2, 0.2], [0.3, 0.1, float("nan")]], names="abc")
    >>> table.wins.tolist()
    [[0.0, 1.0, 1.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    >>> float(table.ties[1, 2]), table.n_missing
    (1.0, 1)
    """
    for name, value in (("tolerance", tolerance), ("threshold", threshold)):
        check_strength(value, name)
    if local_rope is not None:
        choice(local_rope, "local_rope", get_args(LocalRope))
    runs = as_runs(scores)
    if local_rope is not None and runs.shape[1] < 2:
        raise ScoresError(
            f"local_rope={local_rope!r} needs the scores of folds or runs: name their column, fold=.., "
            "give an array of shape (data sets, runs, K), or leave out local_rope"
        )
    runs = as_costs(runs, maximize=flag(maximize, "maximize"))
    k = runs.shape[2]
    wins, ties, missing = np.zeros((k, k)), np.zeros((k, k)), 0
    step = max(_CELLS // (runs.shape[1] * k * k), 1)
    for start in range(0, len(runs), step):
        some = runs[start : start + step].swapaxes(0, 1)
        costs = over_runs(some).mean
        missing += int(np.isnan(costs).sum())
        tied = _equal(costs, tolerance)
        if local_rope is not None:
            tied |= _alike(some, local_rope, threshold)
        wins += ((costs[..., :, None] < costs[..., None, :]) & ~tied).sum(axis=0)
        ties += tied.sum(axis=0)
    np.fill_diagonal(ties, 0.0)
    return WinTable(wins, ties, names, missing)
