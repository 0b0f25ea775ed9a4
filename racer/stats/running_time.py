"""The expected running time of restarted runs until a target is reached."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from racer._checks import as_floats
from racer.errors import ScoresError
from racer.stats._validation import frozen

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def expected_running_time(evaluations: ArrayLike, used: ArrayLike) -> NDArray[np.float64]:
    """Return the expected running times (ERT) of algorithms that are restarted until they succeed.

    The evaluations of all runs, up to the target or to their end, over the number of runs that
    reached it.

    Parameters
    ----------
    evaluations : array_like, shape (runs, K)
        Evaluations until the target; inf where a run did not reach it, NaN where there is no run.
    used : float or array_like, shape (runs, K)
        Evaluations of each run in all, or the budget of all runs.

    Returns
    -------
    ndarray, shape (K,)
        inf where no run reached the target, NaN where there is no run.

    Raises
    ------
    ScoresError
        Values that are not numbers, or a run whose end is not known.

    References
    ----------
    Hansen, Auger, Ros, Finck, Posik (GECCO 2010), section 3.3; Doerr, Wang, Ye, van Rijn, Baeck:
    IOHprofiler (2018), as Calvo et al. (GECCO 2019) use it.

    Examples
    --------
    Two of three runs reach the target, after 30 and 50 evaluations; the third ends after 100:

    >>> expected_running_time([[30.0], [float("inf")], [50.0]], used=100)
    array([90.])
    """
    times = as_floats(evaluations, "evaluations", 2)
    try:
        ends = np.broadcast_to(as_floats(used, "used", np.ndim(used)), times.shape)
    except ValueError as error:
        raise ScoresError(
            f"used must be a number, or one for each of evaluations: {error}"
        ) from None
    known = ~np.isnan(times)
    spent = np.where(known, np.minimum(times, ends), 0.0)
    if not (np.isfinite(spent) & (spent >= 0.0)).all():
        raise ScoresError(
            "used must have the evaluations of each run that did not reach the target"
        )
    with np.errstate(divide="ignore", invalid="ignore"):
        return frozen(spent.sum(axis=0) / np.isfinite(times).sum(axis=0))
