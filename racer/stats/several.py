"""Several metrics of the same candidates: the probability to be on their front, or to be sought."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from racer._checks import as_floats, whole
from racer._numerics import one_blas_thread
from racer.errors import ScoresError, SettingError
from racer.stats._validation import frozen
from racer.stats.best import Locations, lattice_points, locations

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

__all__ = ["FrontPosterior", "drawn_means", "front_posterior", "intervals", "on_front"]

_CELLS = 1 << 22  # comparisons held at once
_STRIDE = 1597  # of the lattice's points from metric to metric, so that mixtures are independent
_LEVEL = 0.95
_MOST = 64  # candidates, from which on fewer points do


@dataclass(frozen=True, eq=False)
class FrontPosterior:
    """Result of `front_posterior`.

    Attributes
    ----------
    probability_front : ndarray, shape (m,)
        Posterior probability of each candidate that no other has smaller expected costs in all
        metrics.
    mean, low, high : ndarray, shape (m, d)
        Posterior mean of each candidate's expected value, and the interval that holds it with
        probability .95.

    Examples
    --------
    >>> from racer.stats import front_posterior
    >>> error = [[1.0, 2.0, 3.0], [1.1, 2.1, 2.9], [0.9, 1.9, 3.1], [1.0, 2.1, 3.0]]
    >>> price = [[5.0, 1.0, 6.0]] * 4
    >>> found = front_posterior([error, price], exact=[False, True])
    >>> found.probability_front.round(2).tolist()
    [1.0, 1.0, 0.0]
    """

    probability_front: NDArray[np.float64]
    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]

    def to_frame(self) -> pd.DataFrame:
        """Return one row per candidate: probability_front, and mean, low and high per metric."""
        import pandas as pd  # noqa: PLC0415

        columns = {"probability_front": self.probability_front}
        for d in range(self.mean.shape[1]):
            columns |= {
                f"{name}:{d}": table[:, d]
                for name, table in (("mean", self.mean), ("low", self.low), ("high", self.high))
            }
        return pd.DataFrame(columns).rename_axis(index="candidate")


def front_posterior(
    scores: ArrayLike,
    *,
    maximize: Sequence[bool] | None = None,
    exact: Sequence[bool] | None = None,
    n_blocks: int | None = None,
) -> FrontPosterior:
    """Return the posterior probability of each candidate that it is on the Pareto front.

    In each metric the model is that of `best_posterior`; what it leaves open is as correlated
    between metrics as what is left of the costs when blocks and candidates are taken out.

    Parameters
    ----------
    scores : array_like, shape (d, n, m)
        For each metric one row per block and one column per candidate. NaN: not evaluated; +inf:
        failed.
    maximize : sequence of bool, optional
        One per metric: larger is better.
    exact : sequence of bool, optional
        One per metric: it is known without noise, and its mean over blocks counts.
    n_blocks : int, optional
        As in `best_posterior`.

    Returns
    -------
    FrontPosterior

    Raises
    ------
    ScoresError
        No candidate, or values that are not numbers.
    SettingError
        maximize, exact or n_blocks do not fit.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> table = rng.normal(size=(2, 20, 3)) + np.array([[[0, 1, 2]], [[1, 0, 2]]])
    >>> front_posterior(table).probability_front.round(1).tolist()
    [1.0, 1.0, 0.0]
    """
    table = as_floats(scores, "scores", 3)
    d, _, m = table.shape
    if not d or not m:
        raise ScoresError("scores is empty: give metrics x blocks x candidates")
    flags = {"maximize": maximize, "exact": exact}
    for name, given in flags.items():
        if given is not None and len(given) != d:
            raise SettingError(
                f"{name} has {len(given)} entries for {d} metrics: give one for each"
            )
    n_blocks = None if n_blocks is None else whole(n_blocks, "n_blocks", least=1)
    signs = np.where(np.zeros(d) if maximize is None else np.array(maximize), -1.0, 1.0)
    costs = signs[:, None, None] * table
    costs = np.where(np.isneginf(costs), np.inf, costs)
    known = np.zeros(d, dtype=bool) if exact is None else np.array(exact, dtype=bool)
    drawn = drawn_means(costs, known, by_block=True, n_blocks=n_blocks)
    step = max(1, _CELLS // (m * m))
    parts = [on_front(drawn[i : i + step]).sum(axis=0) for i in range(0, len(drawn), step)]
    probability = np.sum(parts, axis=0) / len(drawn)
    mean, low, high = intervals(costs, known, n_blocks=n_blocks)
    swapped = signs < 0.0
    low, high = np.where(swapped, -high, low), np.where(swapped, -low, high)
    return FrontPosterior(*map(frozen, (probability, signs * mean, low, high)))


def intervals(
    costs: NDArray[np.float64], exact: NDArray[np.bool_], *, n_blocks: int | None = None
) -> tuple[NDArray[np.float64], ...]:
    """Return mean, low and high, each (m, d), of the expected costs where candidates succeed."""
    finite = np.where(np.isfinite(costs), costs, np.nan)
    drawn = drawn_means(finite, exact, by_block=False, n_blocks=n_blocks)
    low, high = np.quantile(drawn, [0.5 - _LEVEL / 2.0, 0.5 + _LEVEL / 2.0], axis=0)
    return drawn.mean(axis=0), low, high


def on_front(drawn: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1 for candidates of (p, m, d) that none is better than in all metrics, else 0."""
    better = np.ones((len(drawn), drawn.shape[1], drawn.shape[1]), dtype=bool)
    for metric in range(drawn.shape[2]):
        better &= drawn[:, :, None, metric] > drawn[:, None, :, metric]
    return np.asarray(~better.any(axis=2), dtype=np.float64)


class _Metric(NamedTuple):
    """What is drawn of a metric: candidates' locations, and the level and noise of all of them."""

    found: Locations | None  # None: known exactly
    level: float
    error: float
    residuals: NDArray[np.float64]  # (n, m)
    means: NDArray[np.float64]  # (m,), of the locations
    share: NDArray[np.float64]  # (m,), of each candidate in all evaluations


def drawn_means(
    costs: NDArray[np.float64],
    exact: NDArray[np.bool_],
    *,
    by_block: bool,
    n_blocks: int | None,
) -> NDArray[np.float64]:
    """Return draws of the expected costs of candidates, (p, m, d), given their costs, (d, n, m).

    With `by_block` they are in units of the spread within a block, else as costs are. A mean of what
    is known exactly has no error.
    """
    d, _, m = costs.shape
    with one_blas_thread():
        metrics = [
            _fitted(table, is_exact=bool(known), by_block=by_block, n_blocks=n_blocks)
            for table, known in zip(costs, exact, strict=True)
        ]
        normal, levels, scale = lattice_points(d * m + d, m, fewer=m > _MOST)
        root = _mixing([metric.residuals for metric in metrics])
        grid = normal[:, : d * m].reshape(-1, d, m)
        grid = np.einsum("de,pem->pdm", root, grid)
        drawn = np.empty((len(normal), m, d))
        for at, (metric, table) in enumerate(zip(metrics, costs, strict=True)):
            if metric.found is None:
                drawn[:, :, at] = _exact_values(table)
                continue
            points = np.roll(grid[:, at], at * _STRIDE, axis=0)
            points = points / scale(metric.found.freedom)[:, None]
            parts = metric.found.drawn(points, levels, np.arange(m))
            place = np.concatenate(list(parts)) * metric.found.unit
            place = np.roll(place, -at * _STRIDE, axis=0)
            if not by_block:  # what all share is the level of the blocks, not of candidates
                off = (place - metric.means) @ metric.share
                place += (metric.level + metric.error * normal[:, d * m + at] - off)[:, None]
            drawn[:, :, at] = place
    return drawn


def _fitted(
    table: NDArray[np.float64], *, is_exact: bool, by_block: bool, n_blocks: int | None
) -> _Metric:
    """Return the posterior of a metric's costs (n, m), and the mean level of blocks with its error."""
    finite = np.where(np.isfinite(table), table, np.nan)
    any_known: NDArray[np.bool_] = np.asarray(np.isfinite(finite).any(axis=1))
    if is_exact or not any_known.any():
        nothing = np.zeros(table.shape[1])
        return _Metric(None, 0.0, 0.0, np.full(table.shape, np.nan), nothing, nothing)
    found = locations(table, by_block=by_block, correlation=0.0, n_blocks=n_blocks)
    means = found.unit * np.sum([part.weight * part.mean for part in found.parts], axis=0)
    of_block = np.nanmean((finite - means)[any_known], axis=1)
    n = len(of_block)
    share = 1.0 if n_blocks is None else max(1.0 - n / n_blocks, 0.0)
    error = float(np.sqrt(share * of_block.var(ddof=1) / n)) if n > 1 else 0.0
    column = np.nanmean(np.where(any_known[:, None], finite, 0.0), axis=0)
    residuals = finite - np.nanmean(np.where(any_known[:, None], finite, 0.0), axis=1)[:, None]
    residuals -= column - np.nanmean(column)
    counts = np.isfinite(finite).sum(axis=0)
    level = float(of_block.mean())
    return _Metric(found, level, error, residuals, means, counts / counts.sum())


def _exact_values(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean of each column of costs (n, m) over what is known; +inf: nothing is."""
    known = np.isfinite(table)
    sums = np.where(known, table, 0.0).sum(axis=0)
    count = known.sum(axis=0)
    return np.where(count > 0, sums / np.maximum(count, 1), np.inf)


def _mixing(residuals: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return the root of the correlations between metrics of what is left of costs, (d, d)."""
    d = len(residuals)
    flat = np.array([table.ravel() for table in residuals])
    found = np.eye(d)
    for i in range(d):
        for j in range(i):
            both = np.isfinite(flat[i]) & np.isfinite(flat[j])
            one, other = flat[i, both], flat[j, both]
            size = float(np.sqrt((one**2).sum() * (other**2).sum()))
            if size > 0.0:
                found[i, j] = found[j, i] = 0.95 * float((one * other).sum()) / size
    values, vectors = np.linalg.eigh(found)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    return np.asarray(root / np.sqrt((root**2).sum(axis=1, keepdims=True)))
