"""Corrections for testing many hypotheses: adjusted p-values, same order as given."""

from __future__ import annotations

from functools import lru_cache
from math import comb
from typing import TYPE_CHECKING, Literal

import numpy as np

from racer._checks import as_floats, is_one_of, whole
from racer.errors import ScoresError, SettingError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

Correction = Literal["bonferroni", "holm", "hochberg", "shaffer"]
CORRECTIONS: tuple[Correction, ...] = ("bonferroni", "holm", "hochberg", "shaffer")


def _p_values(p_values: ArrayLike) -> NDArray[np.float64]:
    p = as_floats(p_values, "p_values", 1)
    if not ((p >= 0.0) & (p <= 1.0)).all():
        raise ScoresError("p_values must lie between 0 and 1, without NaN")
    return p


def _stepwise(
    p: NDArray[np.float64], factors: NDArray[np.float64], *, up: bool = False
) -> NDArray[np.float64]:
    """Multiply the p-values, smallest first (or largest), by `factors` and make them monotone."""
    order = np.argsort(p, kind="stable")[:: -1 if up else 1]
    running = np.minimum if up else np.maximum
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(running.accumulate(p[order] * factors), 1.0)
    return adjusted


def check_correction(correction: Correction | None, *, all_pairs: bool) -> None:
    """Raise SettingError unless the correction fits the family of comparisons."""
    allowed = tuple(c for c in CORRECTIONS if all_pairs or c != "shaffer")
    if correction is not None and not is_one_of(correction, allowed):
        raise SettingError(f"correction={correction!r}: choose None or one of {allowed}")


def bonferroni(p_values: ArrayLike) -> NDArray[np.float64]:
    """Multiply each p-value by their number (Dunn 1961). Controls the family-wise error.

    Parameters
    ----------
    p_values : array_like, shape (k,)

    Returns
    -------
    ndarray, shape (k,)
        Adjusted p-values, at most 1: reject where they are <= alpha.

    Raises
    ------
    ScoresError
        A p-value that is NaN or outside [0, 1]; so in every function here.

    Examples
    --------
    >>> bonferroni([0.01, 0.02, 0.03]).round(3).tolist()
    [0.03, 0.06, 0.09]
    """
    p = _p_values(p_values)
    return np.minimum(p * len(p), 1.0)


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Adjust by Holm's (1979) step-down: the i-th smallest of k counts k - i + 1 times.

    Never less powerful than Bonferroni, under the same (no) assumptions.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    p = _p_values(p_values)
    return _stepwise(p, np.arange(len(p), 0, -1, dtype=np.float64))


def hochberg(p_values: ArrayLike) -> NDArray[np.float64]:
    """Adjust by Hochberg's (1988) step-up: Holm's factors, from the largest p-value down.

    More powerful than Holm; valid for independent or positively dependent tests.

    Examples
    --------
    >>> hochberg([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.04, 0.04]
    """
    p = _p_values(p_values)
    return _stepwise(p, np.arange(1, len(p) + 1, dtype=np.float64), up=True)


@lru_cache(maxsize=64)
def _shaffer_factors(n_candidates: int) -> tuple[int, ...]:
    """Return, for each i, the most hypotheses that can be true once i - 1 are rejected.

    S(m) = union over j of {j(j-1)/2 + x : x in S(m-j)}, S(0) = {0} (Shaffer 1986), as bits.
    """
    sets = [1]
    for m in range(1, n_candidates + 1):
        bits = 0
        for j in range(1, m + 1):
            bits |= sets[m - j] << comb(j, 2)
        sets.append(bits)
    possible = [x for x in range(comb(n_candidates, 2) + 1) if sets[n_candidates] >> x & 1]
    remaining = np.arange(comb(n_candidates, 2), 0, -1)
    return tuple(possible[i - 1] for i in np.searchsorted(possible, remaining, side="right"))


def shaffer(p_values: ArrayLike, n_candidates: int) -> NDArray[np.float64]:
    """Adjust all pairwise comparisons of m candidates by Shaffer's (1986) static procedure.

    Holm's step-down, but the i-th smallest counts only as often as hypotheses can still be
    true together after i - 1 were rejected: if 1 and 2 differ, 1 = 3 and 2 = 3 cannot both hold.

    Parameters
    ----------
    p_values : array_like, shape (m(m-1)/2,)
        All pairs, in any order.
    n_candidates : int
        m.

    Raises
    ------
    ScoresError
        The number of p-values is not m(m-1)/2, or one lies outside [0, 1].
    SettingError
        `n_candidates` is not a whole number.

    Examples
    --------
    With four candidates the factors are 6, 3, 3, 3, 2, 1:

    >>> shaffer([0.01] * 6, n_candidates=4).round(3).tolist()
    [0.06, 0.06, 0.06, 0.06, 0.06, 0.06]
    >>> shaffer([0.001, 0.01, 0.02, 0.03, 0.04, 0.05], 4).round(3).tolist()
    [0.006, 0.03, 0.06, 0.09, 0.09, 0.09]
    """
    p = _p_values(p_values)
    if len(p) != comb(whole(n_candidates, "n_candidates", least=0), 2):
        raise ScoresError(
            f"{len(p)} p-values for n_candidates={n_candidates}: Shaffer's procedure needs all "
            f"{comb(n_candidates, 2)} pairs"
        )
    return _stepwise(p, np.array(_shaffer_factors(n_candidates), dtype=np.float64))


def adjust(
    p_values: ArrayLike, correction: Correction | None, *, n_candidates: int | None = None
) -> NDArray[np.float64]:
    """Adjust p-values, (k,), by the named procedure; None leaves them; "shaffer" needs m."""
    if correction is None:
        return _p_values(p_values)
    check_correction(correction, all_pairs=True)
    if correction == "shaffer":
        if n_candidates is None:
            raise SettingError("correction='shaffer' needs n_candidates: it is for all pairs")
        return shaffer(p_values, n_candidates)
    return {"bonferroni": bonferroni, "holm": holm, "hochberg": hochberg}[correction](p_values)
