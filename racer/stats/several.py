"""Several metrics of the same candidates: the probability to be on their front, or to be sought."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from racer._checks import as_floats, flag, whole
from racer._numerics import TIE, one_blas_thread, power_near
from racer.errors import ScoresError, SettingError
from racer.failures import failing_parts
from racer.stats._validation import frozen
from racer.stats.axes import noise_axes
from racer.stats.least import Part, in_lowest_class, lattice_points, root_of
from racer.stats.places import Design, far_behind, place_parts, pooled_noise, scores, two_way

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import ArrayLike, NDArray


_CELLS = 1 << 15  # comparisons of one metric at once, which fit into a processor's cache
_APART = 0.7  # of the logarithms of spreads along two axes
_NOISELESS = 1e-2  # of the largest unit along an axis: less is no noise
_TIE = 1e-7  # of the noise: what is equal is drawn apart by so little
_ROUNDING = 1e-9  # of the range of a metric: less is no difference from a linear function
_LEAST = 10  # cells, with fewer no metric is taken for a function of another
_LEVEL = 0.95
_FAILING = 1e3  # of what places differ by: who fails more often is so far behind
_FAR = 1e50  # times the size of the smallest candidate: costs of another kind, beside which it is 0
_BEYOND = (1e9, 1e12)  # units of a block, of candidates with such costs: at least, and times theirs
_HIDING = 1e3  # of what the others differ by
_TURNS = 16  # of draws: the error of a probability is below half of its second decimal
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

    Each metric has the model of `best_posterior`, along the principal axes of the noise of all
    metrics, with a noise variance of its own for each candidate as far as these differ by more than
    chance. Failures count as they do there, in each metric that is not exact.

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
        if given is None:
            continue
        try:
            n_given = len([flag(value, name) for value in given])
        except TypeError:
            raise SettingError(f"{name}={given!r}: give True or False for each metric") from None
        if n_given != d:
            raise SettingError(f"{name} has {n_given} entries for {d} metrics: give one for each")
    seen = (~np.isnan(table)).sum(axis=1).max()
    if n_blocks is not None and whole(n_blocks, "n_blocks", least=1) < seen:
        raise SettingError(
            f"n_blocks={n_blocks}: give at least the {seen} that a candidate has seen"
        )
    signs = np.where(np.zeros(d) if maximize is None else np.array(maximize), -1.0, 1.0)
    costs = signs[:, None, None] * table
    costs = np.where(np.isneginf(costs), np.inf, costs)
    known = np.zeros(d, dtype=bool) if exact is None else np.array(exact, dtype=bool)
    probability = drawn_fronts(costs, known, n_blocks=n_blocks).mean(axis=0)
    mean, low, high = intervals(costs, known, n_blocks=n_blocks)
    swapped = signs < 0.0
    low, high = np.where(swapped, -high, low), np.where(swapped, -low, high)
    return FrontPosterior(*map(frozen, (probability, signs * mean, low, high)))


def intervals(
    costs: NDArray[np.float64], exact: NDArray[np.bool_], *, n_blocks: int | None = None
) -> tuple[NDArray[np.float64], ...]:
    """Return mean, low and high, each (m, d), of the expected costs where candidates succeed."""
    finite = np.where(np.isfinite(costs), costs, np.nan)
    drawn = Means(finite, exact, by_block=False, n_blocks=n_blocks).drawn()
    mean, known = drawn.mean(axis=0), np.isfinite(drawn).all(axis=0)
    ends = [0.5 - _LEVEL / 2.0, 0.5 + _LEVEL / 2.0]
    low, high = np.quantile(np.where(known, drawn, 0.0), ends, axis=0)
    return mean, np.where(known, low, mean), np.where(known, high, mean)


def on_front(drawn: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which candidates of (p, m, d) are on the front: no other is better in all, (p, m)."""
    p, m, _ = drawn.shape
    found = np.empty((p, m), dtype=np.bool_)
    step = max(min(_CELLS // m, p), 1)
    together = max(_CELLS // (m * step), 1)
    for first in range(0, p, step):
        some = np.ascontiguousarray(drawn[first : first + step].T)  # (d, m, step)
        for start in range(0, m, together):
            these = slice(start, start + together)
            better = some[0][:, None] < some[0, these]
            for metric in some[1:]:
                better &= metric[:, None] < metric[these]
            found[first : first + step, these] = ~better.any(axis=0).T
    return found


class _Metric(NamedTuple):
    """Scores of one metric, (n, m), NaN where unknown, and its level, where costs are compared."""

    scores: NDArray[np.float64]
    weights: NDArray[np.float64]  # of candidates in the level, (m,)
    level: float  # mean of the blocks' levels
    error: float  # its standard deviation


class _Axis(NamedTuple):
    """The posterior of the candidates' places along one axis: a mixture of Student's t."""

    parts: list[Part]
    freedom: float

    def drawn(
        self, points: NDArray[np.float64], scale: NDArray[np.float64], near: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Return places of the candidates `near` at normal points (k, p), part by part.

        Student's t are normal points over a common `scale` (p,).
        """
        p = points.shape[1]
        ends = (p * np.cumsum([part.weight for part in self.parts])).round().astype(np.intp)
        drawn = np.empty(points.shape)
        first = 0
        for part, end in zip(self.parts, [*ends[:-1], p], strict=True):
            root = root_of(part.covariance[np.ix_(near, near)])
            here = slice(first, end)
            drawn[:, here] = root @ points[:, here] / scale[here] + part.mean[near, None]
            first = end
        return drawn


class _Scaled(NamedTuple):
    """Hold a metric's costs (n, m) over a power of two; costs of candidates far away are failures.

    `far` (m,) says which candidates these are; their means and standard errors, (m,), are over
    `far_power`.
    """

    costs: NDArray[np.float64]
    power: float
    far: NDArray[np.bool_]
    far_power: float
    mean: NDArray[np.float64]
    error: NDArray[np.float64]


class Means:
    """The posterior of the expected costs of m candidates in d metrics, given costs, (d, n, m).

    With `by_block` they are in units of the spread within a block, else as costs. The mean of a
    metric that is known exactly has no error. Failed cells, +inf, tell nothing of costs; failing
    often counts, in each of the other metrics, as in `best_posterior`, in draws in which failures
    are not by chance. Candidates with costs beyond 1e100, which would dwarf another's, have a mean
    of their own, and the others are treated as if these costs had failed.

    Noise is made independent by turning metrics to the principal axes of residuals of blocks and
    candidates; along each, the posterior is as in `best_posterior`. A metric that is a linear
    function of another, such as a price of a number of tokens, has its draws; one that is the same
    everywhere has no noise.
    """

    def __init__(
        self,
        costs: NDArray[np.float64],
        exact: NDArray[np.bool_],
        *,
        by_block: bool,
        n_blocks: int | None,
    ) -> None:
        d, _, self._m = costs.shape
        self._by_block = by_block
        self._known = np.stack([known_means(costs[at]) for at in range(d)], axis=1)
        noisy = [at for at in range(d) if not exact[at] and _differs(costs[at])]
        for at in {at for at in range(d) if not exact[at]} - {*noisy}:  # the same but for rounding
            is_known = np.isfinite(self._known[:, at])
            self._known[is_known, at] = self._known[is_known, at][:1]
        self._failing: NDArray[np.float64] | None = None
        if by_block and noisy:
            costs = costs.copy()
            for _ in range(2):  # the size of the first hides what else is rounding
                costs[noisy] -= _hiding(costs[noisy])[:, None]
        self._images = _images(costs, noisy)
        self._noisy = [at for at in noisy if at not in self._images]
        if not self._noisy:
            return
        with one_blas_thread():
            self._scaled = [_scaled(costs[at]) for at in self._noisy]
            self._metrics = [
                _scored(one.costs, by_block=by_block, n_blocks=n_blocks) for one in self._scaled
            ]
            values = np.stack([metric.scores for metric in self._metrics])
            axes = noise_axes(values)
            self._back = np.linalg.inv(axes)  # from the axes to the metrics
            turned = np.einsum("jd,dnm->jnm", axes, values)
            total = np.inf if n_blocks is None else n_blocks
            self._fits = [
                _posterior(table, Design(n_blocks=total), by_block=by_block) for table in turned
            ]
            if not np.array_equal(axes, np.eye(len(axes))):
                self._fits = _alike(self._fits, [_size(table) for table in turned])
        first = costs[self._noisy[0]]
        told = np.isfinite(first).any(axis=1)
        if np.isposinf(first[told]).any():
            self._failing = failing_parts(first[told]).cumsum(axis=1)

    @property
    def turns(self) -> range:
        """Turns of draws needed for two correct decimals; one where all is certain."""
        return range(_TURNS if self._noisy else 1)

    def drawn(self, turn: int = 0, near: NDArray[np.intp] | None = None) -> NDArray[np.float64]:
        """Return draws (p, k, d) of all candidates, or with `by_block` of k candidates `near` (k,).

        Each `turn` gives a different set of draws. Each metric goes through the parts of its
        mixture in an order of its own: so metrics are independent.
        """
        near = np.arange(self._m) if near is None else near
        if not self._noisy:
            return self._known[near][None]
        k, d = len(near), self._known.shape[1]
        n = len(self._noisy)
        used = n * k + d + n
        fails = self._failing is not None
        normal, scale = lattice_points(used + fails * k, fewer=k > _MOST, turn=turn)
        p = normal.shape[1]
        drawn = np.empty((d, k, p))
        drawn[:] = self._known[near].T[:, :, None]
        with one_blas_thread():
            places, back = np.empty((n, k, p)), np.empty(p, dtype=np.intp)
            for at, found in enumerate(self._fits):
                order = np.argsort(normal[n * k + d + at])  # of its parts
                back[order] = np.arange(p)
                own = normal[at * k : (at + 1) * k].take(order, axis=1)
                along = found.drawn(own, scale(found.freedom), near)
                if self._by_block:
                    along += _TIE * own  # puts equal candidates in random order
                places[at] = along.take(back, axis=1)
            places = np.tensordot(self._back, places, axes=1)
        for number, at in enumerate(self._noisy):
            metric, place, scaled = self._metrics[number], places[number], self._scaled[number]
            if not self._by_block:  # what all candidates share is the level of the blocks
                weights = metric.weights[near]
                place -= weights @ place / max(weights.sum(), 1e-300)
                place += metric.level + metric.error * normal[n * k + at]
            if self._failing is not None:
                is_least = in_lowest_class(self._failing[near], normal[used:])
                place = np.where(is_least, place, place + _FAILING * (np.ptp(place) + 1.0))
            if not self._by_block:
                place = place * scaled.power
            for row in np.flatnonzero(scaled.far[near]):
                candidate = near[row]
                own = normal[number * k + row]
                own = scaled.mean[candidate] + scaled.error[candidate] * own
                beyond = np.sign(own) * _BEYOND[0] + _BEYOND[1] * own
                place[row] = beyond if self._by_block else scaled.far_power * own
            drawn[at] = place
        for at, (of, slope, level) in self._images.items():
            drawn[at] = np.sign(slope) * drawn[of] if self._by_block else slope * drawn[of] + level
        return drawn.T


def drawn_fronts(
    costs: NDArray[np.float64], exact: NDArray[np.bool_], *, n_blocks: int | None
) -> NDArray[np.bool_]:
    """Return which of m candidates are on the front in draws of the posterior, (p, m).

    Candidates on the front in none of the first draws are left out of the others.
    """
    means = Means(costs, exact, by_block=True, n_blocks=n_blocks)
    fronts = [on_front(means.drawn())]
    near = np.flatnonzero(fronts[0].any(axis=0))
    for turn in means.turns[1:]:
        some = on_front(means.drawn(turn, near))
        found = np.zeros((len(some), costs.shape[2]), dtype=np.bool_)
        found[:, near] = some
        fronts.append(found)
    return np.concatenate(fronts)


def _differs(costs: NDArray[np.float64]) -> bool:
    """Return whether costs (n, m), +inf where a cell failed, are not all the same."""
    known = costs[np.isfinite(costs)] / power_near(costs)
    if not len(known):
        return False
    apart = np.ptp(known) > TIE * np.abs(known).max()
    return bool(apart or np.isposinf(costs).any())


def _images(
    costs: NDArray[np.float64], noisy: Sequence[int]
) -> dict[int, tuple[int, float, float]]:
    """Return the metrics of costs (d, n, m) that are linear functions of an earlier metric.

    Each with that metric, slope and level. A failed cell is the worst: slopes are then positive.
    """
    found: dict[int, tuple[int, float, float]] = {}
    near = {}  # cells over a power of two, and without wide gaps, beside which all is rounding
    for at in noisy:
        known, power = np.isfinite(costs[at]), power_near(costs[at])
        near[at] = costs[at][known] / power, power
    kinds = np.isfinite(costs) + 2 * np.isposinf(costs)
    for place, at in enumerate(noisy):
        (other, power), failed = near[at], np.isposinf(costs[at]).any()
        for of in noisy[:place]:
            one, power_of = near[of]
            if of in found or len(one) < _LEAST or not np.array_equal(kinds[at], kinds[of]):
                continue  # any two points are on a line
            centred = one - one.mean()
            slope = float(centred @ other) / max(float(centred @ centred), 1e-300)
            level = float(other.mean() - slope * one.mean())
            apart = np.abs(other - slope * one - level).max()
            if slope and apart <= _ROUNDING * np.ptp(other) and (slope > 0.0 or not failed):
                found[at] = of, slope * power / power_of, level * power
                break
    return found


def _scaled(costs: NDArray[np.float64]) -> _Scaled:
    """Return a metric's costs (n, m), +inf where a cell failed, so that their squares hold."""
    m = costs.shape[1]
    power, none = power_near(costs), np.zeros(m)
    if power <= 1.0:
        return _Scaled(costs / power, power, np.zeros(m, dtype=np.bool_), 1.0, none, none)
    size = np.where(np.isfinite(costs), np.abs(costs), 0.0)
    each = size.max(axis=0)
    is_far = size / power > _FAR * (each[each > 0.0].min() / power)
    scaled = costs / power
    with np.errstate(invalid="ignore"):
        mean, known = known_means(scaled), np.isfinite(scaled)
        count = np.maximum(known.sum(axis=0), 2)
        squares = np.where(known, scaled - mean, 0.0) ** 2
        error = np.sqrt(squares.sum(axis=0) / (count - 1) / count)
    costs = np.where(is_far, np.inf, costs)
    rest = power_near(costs)
    return _Scaled(costs / rest, rest, is_far.any(axis=0), power, mean, error)


def _scored(table: NDArray[np.float64], *, by_block: bool, n_blocks: int | None) -> _Metric:
    """Return the scores of a metric's costs (n, m), and the level of its blocks."""
    values = scores(table, "rank" if by_block else "mean", ranked=False)
    known = np.isfinite(table)
    some = known.any(axis=1)
    # the level of a block is its costs above the additive effects of its candidates; a candidate
    # with much noise tells little of the level
    costs = np.where(known, table, np.nan)[some]
    noise = pooled_noise(costs)
    weights = known.sum(axis=0) / noise
    of_block, effect = two_way(costs, noise)
    of_block += effect @ weights / weights.sum()
    n = len(of_block)
    share = 1.0 if n_blocks is None else max(1.0 - n / n_blocks, 0.0)
    error = float(np.sqrt(share * of_block.var(ddof=1) / n)) if n > 1 else 0.0
    values[known.sum(axis=1) < 2] = np.nan  # tells no candidates apart
    return _Metric(values, weights, float(of_block.mean()), error)


def _posterior(values: NDArray[np.float64], design: Design, *, by_block: bool) -> _Axis:
    """Return the posterior of places by scores (n, m), each candidate with its own noise.

    For means, `by_block` False, the prior of each is as wide as its noise: a mean that is known
    badly would else be drawn to the others, however far its costs are from theirs.
    """
    noise = pooled_noise(values)
    kernels = None if by_block else np.diag(noise)[None]
    return _Axis(*place_parts(values, design, noise_of=noise, kernels=kernels))


def _hiding(metrics: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return by how much candidates are so far behind, in all metrics, that they hide the others.

    Shape (d, m), of costs (d, n, m); 0 for most, and where the others are copies in all metrics.
    """
    found, is_told = np.zeros(metrics.shape[::2]), False
    for at, costs in enumerate(metrics):
        power = power_near(costs)
        scaled = np.where(np.abs(costs) < _FAR * power, costs, np.nan) / power
        effects, excess = far_behind(scaled)
        is_near = excess == 0.0
        apart = np.ptp(effects[is_near])
        found[at] = np.where(excess > _HIDING * apart, excess * power, 0.0)
        is_told |= bool(apart > TIE * np.nanmax(np.abs(scaled[:, is_near]), initial=0.0))
    return np.where(is_told & (found > 0.0).all(axis=0), found, 0.0)


def _size(values: NDArray[np.float64]) -> float:
    """Return the root mean square of residuals of values (n, m) from blocks and candidates."""
    blocks, effects = two_way(values)
    return float(np.sqrt(np.nanmean((values - blocks[:, None] - effects) ** 2)))


def _alike(fits: Sequence[_Axis], sizes: Sequence[float]) -> list[_Axis]:
    """Return posteriors whose candidates have about the same spread along each axis.

    Along the axis with the most noise, the spread is known mainly from the other axes. Axes with
    next to nothing on them, such as rounding of a price, tell nothing of the others: `sizes` of the
    noise show which.
    """
    logs = [np.log(np.array([part.spread for part in found.parts]) + 1e-300) for found in fits]
    weights = [np.array([part.weight for part in found.parts]) for found in fits]
    told = {at for at, size in enumerate(sizes) if size > _NOISELESS * max(sizes)}
    coupled = []
    for at, found in enumerate(fits):
        own = weights[at].copy()
        for other in told - {at} if at in told else ():
            apart = (logs[at][:, None] - logs[other][None, :]) / _APART
            own *= (weights[other] / (1.0 + apart**2)).sum(axis=1)
        own /= own.sum()
        parts = [p._replace(weight=float(w)) for p, w in zip(found.parts, own, strict=True)]
        coupled.append(found._replace(parts=parts))
    return coupled


def known_means(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean of each column of costs (n, m) over known ones; +inf without any."""
    known = np.isfinite(table)
    sums = np.where(known, table, 0.0).sum(axis=0)
    count = known.sum(axis=0)
    return np.where(count > 0, sums / np.maximum(count, 1), np.inf)
