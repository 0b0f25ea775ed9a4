"""One door for tables of scores, so that every test treats gaps and bad input alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from racer._checks import is_real, whole
from racer.errors import ScoresError, SettingError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class Blocks(NamedTuple):
    """Complete blocks as costs (n x m), and how many incomplete ones were left out."""

    costs: NDArray[np.float64]
    dropped: int


def as_floats(values: ArrayLike, name: str, ndim: int) -> NDArray[np.float64]:
    """Return `values` as a float array with `ndim` dimensions."""
    try:
        if isinstance(values, np.ma.MaskedArray):  # masked is unknown
            values = np.ma.filled(values.astype(np.float64), np.nan)
        given = np.asarray(values)
        kind = given.dtype.kind
        odd = [value for value in given.flat if isinstance(value, str)] if kind == "O" else []
        if kind == "O":  # NumPy knows None as NaN, but not what pandas has for it
            known = [None if type(value).__name__ == "NAType" else value for value in given.flat]
            given = np.array(known, dtype=object).reshape(given.shape)
        if kind not in "biufO":
            odd = given.ravel()[:1].tolist()
        array = None if odd else given.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ScoresError(f"{name} must hold numbers only: {error}") from None
    if array is None:
        raise ScoresError(f"{name} must hold numbers only, not such as {odd[0]!r}")
    if array.ndim != ndim:
        raise ScoresError(f"{name} must have {ndim} dimension(s), not shape {array.shape}")
    return array


def complete_blocks(scores: ArrayLike, *, maximize: bool, min_blocks: int = 1) -> Blocks:
    """Check a blocks x candidates table, leave out blocks with NaN, turn scores into costs."""
    table = as_floats(scores, "scores", 2)
    if table.shape[1] < 2:
        raise ScoresError(
            f"scores has {table.shape[1]} column(s): give blocks x candidates with at least 2 "
            "candidates as columns"
        )
    known = ~np.isnan(table).any(axis=1)
    complete = table[known]
    dropped = len(table) - len(complete)
    if len(complete) < min_blocks:
        raise ScoresError(
            f"scores has {len(complete)} complete block(s) ({dropped} left out for NaN): "
            f"at least {min_blocks} needed"
        )
    return Blocks(-complete if maximize else complete, dropped)


def check_fraction(value: float, name: str, *, low: float = 0.0, high: float = 1.0) -> float:
    """Return `value` if it lies strictly between `low` and `high`."""
    if not is_real(value) or not low < value < high:
        raise SettingError(f"{name}={value!r}: give a number between {low:g} and {high:g}")
    return float(value)


def check_epsilon(epsilon: float) -> float:
    """Return `epsilon` if it is a half-width around 1/2: 0 <= epsilon < 1/2."""
    if not is_real(epsilon) or not 0.0 <= epsilon < 0.5:
        raise SettingError(f"epsilon={epsilon!r}: give a number from 0 (none) up to below 0.5")
    return float(epsilon)


def check_strength(strength: float, name: str = "strength") -> float:
    """Return `strength` if it is a prior weight: finite and >= 0."""
    if not is_real(strength) or not 0.0 <= strength < np.inf:
        raise SettingError(f"{name}={strength!r}: give a finite number >= 0")
    return float(strength)


def check_positive(value: float, name: str) -> float:
    """Return `value` if it is finite and > 0."""
    if not is_real(value) or not 0.0 < value < np.inf:
        raise SettingError(f"{name}={value!r}: give a finite number > 0")
    return float(value)


def check_draws(draws: int) -> int:
    """Return `draws` if it is enough to estimate a probability from."""
    return whole(draws, "draws", least=100)


def check_connected(met: NDArray[np.float64], names: tuple[str, ...]) -> None:
    """Raise unless every algorithm was compared with every other, directly or through others.

    Parameters
    ----------
    met : ndarray, shape (K, K)
        Above zero where two were compared.
    names : tuple of str
    """
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415

    if not met.any():
        raise ScoresError("no two algorithms have a result on a common data set")
    count, group = connected_components(met, directed=False)
    if count > 1:
        apart = [name for name, g in zip(names, group, strict=True) if g != group[0]]
        raise ScoresError(
            f"never compared with {names[0]}, directly or through others: {', '.join(apart)}; "
            "leave them out, or evaluate some on common data sets"
        )


def frozen(array: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return `array` made read-only, for use in a result."""
    array.flags.writeable = False
    return array
