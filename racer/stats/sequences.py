"""Confidence sequences of a mean: intervals and e-values that hold however often one looks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from racer._checks import as_floats, check_fraction, choice, is_real, whole
from racer.errors import ScoresError, SettingError
from racer.stats._bets import log_e_path, mean_limits

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

_NULLS = 1001  # means at which intermediate limits may lie


@dataclass(frozen=True, eq=False)
class MeanSequence:
    """Confidence sequence of a mean, from `mean_sequence` or `difference_sequence`.

    Attributes
    ----------
    mean, lower, upper : ndarray, shape (n,)
        After each value: the mean so far, and the interval. With probability 1 - alpha the true
        mean is in all n intervals, so that one may stop at any of them. They only narrow; before
        the last, each end is rounded outwards to a thousandth of the range.
    alpha : float
        Probability that the true mean is ever outside.
    bounds : (float, float)
        The smallest and the largest value there can be.
    n_items : int or None
        Number of items whose mean is meant; None: the mean of a population.

    Examples
    --------
    >>> from racer.stats import mean_sequence
    >>> sequence = mean_sequence([1, 1, 0, 1] * 25, 0, 1)
    >>> [round(float(end[-1]), 2) for end in (sequence.lower, sequence.upper)]
    [0.6, 0.87]
    """

    mean: Floats
    lower: Floats
    upper: Floats
    alpha: float
    bounds: tuple[float, float]
    n_items: int | None
    _values: Floats = field(repr=False)

    def e_values(
        self, mean: float, alternative: Literal["larger", "smaller", "two-sided"] = "two-sided"
    ) -> Floats:
        """Return the e-values against a mean after each value, shape (n,).

        If the true mean is `mean` (or smaller, for "larger"; or larger, for "smaller"), the
        e-value ever reaches 1 / alpha with probability alpha at most.
        """
        choice(alternative, "alternative", ("larger", "smaller", "two-sided"))
        low, high = self.bounds
        if not is_real(mean) or not low <= mean <= high:
            raise SettingError(f"mean={mean!r}: give a number from {low:g} to {high:g}")
        sides = {"larger": (1.0,), "smaller": (-1.0,)}.get(alternative, (1.0, -1.0))
        found = np.zeros(len(self._values))
        for sign in sides:
            ends = _turned(self.bounds, sign)
            logs = [*log_e_path(sign * self._values, sign * mean, ends, self.n_items)]
            found += np.exp(np.minimum(np.concatenate(logs), 700.0)) / len(sides)
        return found


def mean_sequence(
    x: ArrayLike, low: float, high: float, *, n_items: int | None = None, alpha: float = 0.05
) -> MeanSequence:
    """Find confidence intervals of the mean of bounded values, valid at any time.

    The hypotheses are "the mean is c", for each c. Against each, bets on the values multiply a
    wealth whose expectation does not grow if it is true; c is out for good once the wealth
    against it reaches 2 / alpha on one side. Nothing but the bounds is assumed of the values.
    `racer.deciders.MeanRace` stands on the same bets.

    Parameters
    ----------
    x : array_like, shape (n,)
        Values in the order in which they were observed, independent, or with `n_items` drawn
        without replacement in random order.
    low, high : float
        The smallest and the largest value there can be.
    n_items : int, optional
        Number of items whose mean is meant, of which x are the first. None: the mean of a
        population.
    alpha : float in (0, 0.5)
        Probability that the mean is ever outside its interval.

    Returns
    -------
    MeanSequence

    Raises
    ------
    ScoresError
        NaN, no value, more values than `n_items`, or a value outside the bounds.
    SettingError
        Invalid bounds, `n_items` or alpha.

    References
    ----------
    Waudby-Smith, Ramdas: Estimating means of bounded random variables by betting (JRSS B 2024);
    Confidence sequences for sampling without replacement (NeurIPS 2020).

    Examples
    --------
    After 96 of 100 items, the others can move the mean by four hundredths at most:

    >>> from racer.stats import mean_sequence
    >>> sequence = mean_sequence([0, 1] * 48, 0, 1, n_items=100)
    >>> [round(float(end[-1]), 2) for end in (sequence.lower, sequence.upper)]
    [0.48, 0.52]
    """
    check_fraction(alpha, "alpha", high=0.5)
    values = _bounded(x, "x", low, high)
    if n_items is not None and len(values) > whole(n_items, "n_items", least=1):
        raise ScoresError(f"x has {len(values)} values, of n_items={n_items}")
    bounds, nulls = (float(low), float(high)), np.linspace(low, high, _NULLS)
    ends = []
    exact = mean_limits(values[:, None], bounds, n_blocks=n_items, alpha=alpha)
    for sign, last in zip((1.0, -1.0), exact, strict=True):
        ordered = np.sort(sign * nulls)
        found, since = np.full(len(values), ordered[0]), 0
        for null in ordered[:-1]:
            # evidence against a mean is evidence against each that is farther off
            since = _refuted(sign * values, null, _turned(bounds, sign), n_items, alpha, since)
            found[since:] = null
        found[-1] = max(found[-1], sign * last[0])
        if n_items is not None:  # whatever the others are
            n = np.arange(1, len(values) + 1)
            rest = (n_items - n) * ordered[0]
            found = np.maximum(found, (np.cumsum(sign * values) + rest) / n_items)
        ends.append(sign * np.maximum.accumulate(found))
    mean = np.cumsum(values) / np.arange(1, len(values) + 1)
    return MeanSequence(mean, ends[0], ends[1], alpha, bounds, n_items, values)


def difference_sequence(
    x: ArrayLike,
    y: ArrayLike,
    low: float,
    high: float,
    *,
    n_items: int | None = None,
    alpha: float = 0.05,
) -> MeanSequence:
    """Find confidence intervals of the mean of x - y on the same blocks, valid at any time.

    As `mean_sequence` of the differences.

    Parameters
    ----------
    x, y : array_like, shape (n,)
        Scores on the same blocks, in the order in which they were observed.
    low, high : float
        The smallest and the largest score there can be.
    n_items, alpha
        As in `mean_sequence`.

    Returns
    -------
    MeanSequence

    Raises
    ------
    ScoresError, SettingError
        As in `mean_sequence`; different lengths.

    Examples
    --------
    >>> from racer.stats import difference_sequence
    >>> sequence = difference_sequence([1, 1, 1, 0] * 20, [0, 1, 0, 0] * 20, 0, 1)
    >>> bool(sequence.lower[-1] > 0)
    True
    """
    one, other = _bounded(x, "x", low, high), _bounded(y, "y", low, high)
    if len(one) != len(other):
        raise ScoresError(
            f"x has {len(one)} values and y {len(other)}: give those of the same blocks"
        )
    return mean_sequence(one - other, low - high, high - low, n_items=n_items, alpha=alpha)


def _bounded(x: ArrayLike, name: str, low: float, high: float) -> Floats:
    """Return the values; raise ScoresError without any, or with one outside the bounds."""
    if not (is_real(low) and is_real(high) and -np.inf < low < high < np.inf):
        raise SettingError(f"low={low!r}, high={high!r}: give the smallest and the largest value")
    values = as_floats(x, name, 1)
    bad = values[~((low <= values) & (values <= high))]
    if not len(values) or len(bad):
        what = f"{bad[0]:g} is not between {low:g} and {high:g}" if len(bad) else "no value"
        raise ScoresError(f"{name}: {what}")
    return values


def _turned(bounds: tuple[float, float], sign: float) -> tuple[float, float]:
    """Return the bounds of values times the sign."""
    return bounds if sign > 0 else (-bounds[1], -bounds[0])


def _refuted(
    values: Floats,
    null: float,
    bounds: tuple[float, float],
    n_items: int | None,
    alpha: float,
    since: int,
) -> int:
    """Return after which value, from `since` on, bets refute the null; their number, if never."""
    at = 0
    for logs in log_e_path(values, null, bounds, n_items) if since < len(values) else ():
        is_refuted = logs[max(since - at, 0) :] >= np.log(2.0 / alpha)
        if is_refuted.any():
            return max(since, at) + int(is_refuted.argmax())
        at += len(logs)
    return len(values)
