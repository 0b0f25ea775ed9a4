"""What the tests of two candidates on the same blocks share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from racer._checks import is_real
from racer.errors import ScoresError, SettingError
from racer.stats._validation import as_floats

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

Alternative = Literal["two-sided", "better", "worse"]
Preference = Literal["x", "y", "indeterminate"]


class Pair(NamedTuple):
    """Costs of x and y, shape (n,), without NaN, and how many pairs were left out."""

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    dropped: int


def paired(x: ArrayLike, y: ArrayLike, *, maximize: bool) -> Pair:
    """Check two lists of scores, leave out pairs with NaN, turn scores into costs."""
    first, second = as_floats(x, "x", 1), as_floats(y, "y", 1)
    if len(first) != len(second):
        raise ScoresError(f"x has {len(first)} scores and y {len(second)}: give pairs")
    known = ~(np.isnan(first) | np.isnan(second))
    if not known.any():
        raise ScoresError("x and y have no pair without NaN")
    sign = -1.0 if maximize else 1.0
    return Pair(sign * first[known], sign * second[known], int((~known).sum()))


def check_alternative(alternative: Alternative) -> Alternative:
    """Return `alternative` if there is such a one."""
    if alternative not in ("two-sided", "better", "worse"):
        raise SettingError(f"alternative={alternative!r}: choose 'two-sided', 'better' or 'worse'")
    return alternative


def preferred(lower: float, upper: float, l0: float, l1: float) -> Preference:
    """Return whom to prefer at least expected loss (Benavoli et al. 2014, eq. 9 and below).

    x if even the lower probability that it is better exceeds l1 / (l0 + l1), y if even the
    upper one is below that; otherwise the prior would decide. Rule iii of the paper has both
    of its inequalities reversed.
    """
    for name, loss in (("l0", l0), ("l1", l1)):
        if not is_real(loss) or not 0.0 < loss < np.inf:
            raise SettingError(f"{name}={loss!r}: give a finite loss > 0")
    threshold = l1 / (l0 + l1)
    if lower > threshold:
        return "x"
    return "y" if upper < threshold else "indeterminate"


def one_row(**columns: float) -> pd.DataFrame:
    """Return a frame of one row."""
    import pandas as pd  # noqa: PLC0415

    return pd.DataFrame([columns])
