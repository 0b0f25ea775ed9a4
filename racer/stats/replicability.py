"""Replicability of a test: how often two experiments of a kind have the same outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from racer._checks import as_floats
from racer.errors import ScoresError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def replicability(outcomes: ArrayLike) -> float:
    """Return how probably a test has the same outcome in two experiments, estimated from n of them.

    R = 1 - 2 sum (e_i - mean e)^2 / (n - 1): the fraction of pairs of experiments that agree.

    Parameters
    ----------
    outcomes : array_like, shape (n,)
        1 (True) where the hypothesis was rejected, 0 where it was not.

    Returns
    -------
    float
        From about 0.5, for outcomes at random, to 1.

    Raises
    ------
    ScoresError
        Fewer than two outcomes, or values other than 0 and 1.

    References
    ----------
    Bouckaert (ICML 2004); Benavoli et al.: A Bayesian Wilcoxon signed-rank test based on the
    Dirichlet process (ICML 2014), section 4.2.

    Examples
    --------
    >>> replicability([1, 1, 1, 0])
    0.5
    """
    found = as_floats(outcomes, "outcomes", 1)
    if len(found) < 2 or not np.isin(found, (0.0, 1.0)).all():
        raise ScoresError("outcomes must be two or more of 1 (rejected) and 0 (not rejected)")
    return float(1.0 - 2.0 * found.var(ddof=1))
