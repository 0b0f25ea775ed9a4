"""Summaries of draws: highest-density intervals, pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from racer._checks import check_fraction, is_real
from racer.errors import SettingError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd
    from numpy.typing import NDArray

_PAIRS = 64  # pairs at a time


def highest_density(draws: NDArray[Any], level: float) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the ends, (q,), of the shortest intervals with a fraction `level` of draws (n, q)."""
    return shortest(np.sort(draws, axis=0), level)


def shortest(ordered: NDArray[Any], level: float) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return `highest_density` of draws whose columns are sorted."""
    inside = min(max(int(np.ceil(level * len(ordered))), 1), len(ordered))
    widths = ordered[inside - 1 :] - ordered[: len(ordered) - inside + 1]
    first, columns = np.argmin(widths, axis=0), np.arange(ordered.shape[1])
    return ordered[first, columns], ordered[first + inside - 1, columns]


def logistic(gap: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1 / (1 + exp(-gap))."""
    from scipy.special import expit  # noqa: PLC0415

    return np.asarray(expit(gap))


def pairs(order: NDArray[np.intp]) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield all pairs of an order, earlier and later, some at a time."""
    first, second = np.triu_indices(len(order), 1)
    for k in range(0, len(first), _PAIRS):
        yield order[first[k : k + _PAIRS]], order[second[k : k + _PAIRS]]


def pair_frame(
    names: tuple[str, ...],
    ranking: tuple[str, ...],
    strengths: NDArray[np.float64],
    rope: tuple[float, float],
    level: float,
) -> pd.DataFrame:
    """Return one row per pair of `ranking`, from draws of log strengths, (draws, K), by `names`."""
    import pandas as pd  # noqa: PLC0415

    low_rope, high_rope = rope
    if not (is_real(low_rope) and is_real(high_rope) and 0.0 <= low_rope <= high_rope <= 1.0):
        raise SettingError(f"rope={rope!r}: give two probabilities, the smaller first")
    check_fraction(level, "level")
    parts = []
    for first, second in pairs(np.array([names.index(name) for name in ranking])):
        p = logistic(strengths[:, first] - strengths[:, second])
        low, high = highest_density(p, level)
        columns = {
            "better": [names[i] for i in first],
            "worse": [names[j] for j in second],
            "estimate": p.mean(axis=0),
            "low": low,
            "high": high,
            "delta": high - low,
            "probability": (p > 0.5).mean(axis=0),
            "in_rope": ((p >= low_rope) & (p <= high_rope)).mean(axis=0),
        }
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)
