"""The near-ignorance form of the Bayesian Friedman test: for all priors of a given weight."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from racer._checks import check_fraction, check_strength
from racer.errors import ScoresError
from racer.stats._validation import complete_blocks, frozen
from racer.stats.friedman import ROUNDING, RankSums, centred, ellipse_test, spanned
from racer.stats.ranks import ranks_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

IDPDecision = Literal["different", "no difference", "indeterminate"]
MOST_ORDERED = 7  # candidates, of which there are 47 293 orders with ties


class IDPTails(NamedTuple):
    """A decision, and the least and greatest tail probability that priors of a weight lead to."""

    decision: IDPDecision
    lower: float
    upper: float


@lru_cache(maxsize=MOST_ORDERED)
def _orders(m: int) -> NDArray[np.float64]:
    """Return the centred ranks of all orders of m candidates, ties included, a row for each."""
    places = np.indices((m,) * m).reshape(m, -1).T
    ordered = np.sort(places, axis=1)
    are_orders = (ordered[:, 0] == 0) & (np.diff(ordered, axis=1) <= 1).all(axis=1)
    return frozen(centred(ranks_of(places[are_orders].astype(np.float64))))


def idp_tails(r: RankSums, gram: NDArray[np.float64], strength: float, level: float) -> IDPTails:
    """Return the bounds of the tail probability (eq. 19) over an atom at each order.

    mu' Sigma^-1 mu = (a0 + 1) q / (1 - q) with q = mu' (E r r')^-1 mu, and a prior atom changes E r r'
    by one rank: so q needs only u = r0' G^-1 r0, v = r0' G^-1 d and w = d' G^-1 d of the blocks.
    """
    n, m, s = r.n, r.m, strength
    within, whitened = spanned(gram)
    orders = _orders(m)
    atom, deviation = orders @ whitened, r.deviation @ whitened
    u, v, w = (atom**2).sum(axis=1), atom @ deviation, float(deviation @ deviation)
    q = (s * s * u + 2.0 * s * v + w + s * (u * w - v * v)) / (1.0 + s * u)
    # no block differs in the direction of such an order
    is_off = np.abs(orders - (orders @ within) @ within.T).max(axis=1) > ROUNDING * m
    q = np.where(is_off, s + w, q) / (s + n)
    least, greatest = (
        0.0
        if end > 1.0 - ROUNDING
        else ellipse_test((s + n + 1) * end / (1 - end), n, m).tail_probability
        for end in (float(q.max()), float(q.min()))
    )
    told: IDPDecision = "no difference" if least >= level else "indeterminate"
    return IDPTails("different" if greatest < level else told, least, greatest)


@dataclass(frozen=True)
class IDPFriedmanResult:
    """Result of `idp_friedman_test`.

    Attributes
    ----------
    decision : {"different", "no difference", "indeterminate"}
        The candidates differ, or there is no evidence that they do, whatever the prior; or the prior
        would decide.
    lower, upper : float
        The least and the greatest tail probability; "different" if `upper` is below 1 - confidence,
        "no difference" if `lower` is not.
    confidence, strength : float
    n_blocks, n_dropped : int
        Complete blocks used, and blocks left out because of NaN.

    Examples
    --------
    >>> from racer.stats import idp_friedman_test
    >>> result = idp_friedman_test([[1, 2, 3], [1, 3, 2], [2, 1, 3], [1, 2, 3], [1, 3, 2]])
    >>> result.decision, round(result.lower, 3), round(result.upper, 3)
    ('indeterminate', 0.011, 0.428)
    """

    decision: IDPDecision
    lower: float
    upper: float
    confidence: float
    strength: float
    n_blocks: int
    n_dropped: int


def idp_friedman_test(
    scores: ArrayLike, *, strength: float = 1.0, confidence: float = 0.95, maximize: bool = False
) -> IDPFriedmanResult:
    """Test whether all candidates have the same mean rank, for every prior of a given weight.

    The near-ignorance form (IDP) of `bayesian_friedman_test`: of the prior only the weight is fixed,
    and its atom R0 is put at each order of the candidates, ties included ("all equal" is one). Ties
    share average ranks; blocks with NaN are left out and counted.

    Parameters
    ----------
    scores : array_like, shape (n, m)
        One row per block, one column per candidate; smaller is better.
    strength : float >= 0
        Weight s of the prior atom, in blocks.
    confidence : float in (0, 1)
    maximize : bool
        Larger is better.

    Returns
    -------
    IDPFriedmanResult
        If every block ties throughout, "no difference".

    Raises
    ------
    ScoresError
        Fewer than two candidates or more than seven, fewer complete blocks than candidates, or
        values that are not numbers.
    SettingError
        strength or confidence out of range.

    References
    ----------
    Benavoli et al. (ICML 2015), section 7 and eq. 19.

    Examples
    --------
    >>> idp_friedman_test([[0, 1, 2]] * 20 + [[0, 2, 1]] * 10).decision
    'different'
    """
    check_strength(strength)
    check_fraction(confidence, "confidence")
    blocks = complete_blocks(scores, maximize=maximize)
    n, m = blocks.costs.shape
    if m > MOST_ORDERED or n < m:
        raise ScoresError(
            f"scores has {m} candidates on {n} complete block(s): give {MOST_ORDERED} candidates at "
            "most, whose orders are all tried, and at least as many blocks as candidates"
        )
    ranks = centred(ranks_of(blocks.costs))
    tails = idp_tails(RankSums.of(ranks), ranks.T @ ranks, strength, 1.0 - confidence)
    return IDPFriedmanResult(*tails, confidence, strength, n, blocks.dropped)
