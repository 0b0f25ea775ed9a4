"""One door for scores, so that all treat gaps and bad input alike; base of posteriors of pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from racer._checks import as_floats, check_fraction, check_positive, flag
from racer._numerics import as_costs, shown_probability, with_ties
from racer.errors import ScoresError

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray


class Blocks(NamedTuple):
    """Complete blocks as costs (n x m) with ties, and how many incomplete ones were left out."""

    costs: NDArray[np.float64]
    dropped: int


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
    costs = as_costs(complete, maximize=flag(maximize, "maximize"))
    return Blocks(with_ties(costs), dropped)


def check_connected(met: NDArray[np.float64], names: tuple[str, ...]) -> None:
    """Raise unless all algorithms were compared, directly or through others: met > 0, (K, K)."""
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415

    if not met.any():
        raise ScoresError("scores: no two algorithms have a result on a common data set")
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


Alternative = Literal["two-sided", "better", "worse"]
ALTERNATIVES = ("two-sided", "better", "worse")
Preference = Literal["x", "y", "indeterminate"]


class Pair(NamedTuple):
    """Costs of x and y, shape (n,), with ties and without NaN, and how many pairs were left out."""

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
    both = np.column_stack([first[known], second[known]])
    costs = with_ties(as_costs(both, maximize=flag(maximize, "maximize")))
    return Pair(costs[:, 0], costs[:, 1], int((~known).sum()))


def p_value_of(
    alternative: Alternative, better: float, worse: float, at_least: Callable[[float], float]
) -> float:
    """Return the p-value, by the probability of evidence `at_least` as strong on one side."""
    if alternative == "two-sided":
        return min(1.0, 2.0 * at_least(max(better, worse)))
    return at_least(better if alternative == "better" else worse)


class PosteriorOfPair:
    """Base of the posteriors of theta, the probability that x is better."""

    probability: float
    lower: float
    upper: float
    worse: float
    indistinguishable: float
    better: float
    estimate: float

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the central credible interval of theta."""
        return self._between((1.0 - check_fraction(level, "level")) / 2.0)

    def prefer(self, *, l0: float = 1.0, l1: float = 19.0) -> Preference:
        """Return which to prefer at least expected loss (Benavoli et al. 2014, eq. 9 and below).

        x if even the lower probability that it is better exceeds l1 / (l0 + l1), y if even the
        upper one is below that; otherwise the prior would decide. Rule iii of the paper has both
        of its inequalities reversed.

        Parameters
        ----------
        l0, l1 : float > 0
            Losses: of not preferring x although it is better, and of preferring it although
            it is not. Preferring y thus does not claim that y is better.

        Returns
        -------
        "x", "y" or "indeterminate"
        """
        for name, loss in (("l0", l0), ("l1", l1)):
            check_positive(loss, name)
        threshold = l1 / (l0 + l1)
        if self.lower > threshold:
            return "x"
        return "y" if self.upper < threshold else "indeterminate"

    def to_frame(self, level: float = 0.95) -> pd.DataFrame:
        """Return one row: estimate, low, high, probability, lower, upper, in_rope."""
        import pandas as pd  # noqa: PLC0415

        low, high = self.interval(level)
        columns = {
            "estimate": self.estimate,
            "low": low,
            "high": high,
            "probability": self.probability,
            "lower": self.lower,
            "upper": self.upper,
            "in_rope": self.indistinguishable,
        }
        return pd.DataFrame([columns])

    def plot(self, names: tuple[str, str] = ("x", "y"), *, ax: Axes | None = None) -> Axes:
        """Draw the posterior.

        After a sign test 4000 draws of the fractions of blocks lost, tied and won by x; after a
        signed-rank test draws of the three fractions of pairs with a rope, of theta without.

        Parameters
        ----------
        names : pair of str
            Names of x and y.
        ax : matplotlib Axes, optional

        Raises
        ------
        MissingExtraError
            Without matplotlib.
        """
        worse = f"{names[1]} better\n{shown_probability(self.worse)}"
        better = f"{names[0]} better\n{shown_probability(self.better)}"
        return self._drawn(names[0], worse, better, ax)

    def _drawn(self, x: str, worse: str, better: str, ax: Axes | None) -> Axes:
        """Draw the posterior, with words on the sides where x is worse and better."""
        raise NotImplementedError

    def _between(self, tail: float) -> tuple[float, float]:
        """Return the quantiles of theta at `tail` and 1 - `tail`."""
        raise NotImplementedError
