"""Independent samples: the Bayesian Kruskal-Wallis test, a Dirichlet process for each candidate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from racer._checks import as_floats, check_draws, check_epsilon, check_fraction, flag, whole
from racer._numerics import as_costs, index_pairs, with_ties
from racer.errors import ScoresError, SettingError
from racer.seeding import check_seed, rng_for
from racer.stats._validation import frozen
from racer.stats.joint import Ordered, Statement, running_joint, stated, without_ties

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

_CELLS = 2_000_000  # numbers held at a time
_PERMUTATIONS = (1_999, 9_999)  # at least and at most, by default
_WORK = 50_000_000  # scores times samples times permutations, beyond the least: some seconds
_ENDS = (0.025, 0.975)
_RIDGE = 0.1  # of the mean eigenvalue of the covariance, added to each
_KNOWN = 0.5  # scores: N of them tell no effect, a share of them, more precisely
# Bound on the difference by rounding of two drawn effects that are equal: each is a sum of m - 1
# numbers up to 1, over m, and each number is rounded to float32 twice, by eps / 4 at most.
_ROUNDING = float(np.finfo(np.float32).eps)


@dataclass(frozen=True, eq=False)
class BayesianKruskalWallisResult:
    """Result of `bayesian_kruskal_wallis`.

    Attributes
    ----------
    rejected : bool
        The p-value is at most 1 - confidence.
    statistic, p_value : float
        Of the studentised permutation test that all effects are 1/2.
    effects, low, high : ndarray, shape (m,)
        The posterior mean and the central 95 % interval of a candidate's effect: the probability
        that a score of its is better than one of a candidate chosen at random, ties one half.
    probability_best : ndarray, shape (m,)
        Posterior probability that its effect is the largest.
    estimate, pair_low : ndarray, shape (m, m)
        The posterior mean and 2.5 % quantile of P(X_i < X_j) + P(X_i = X_j) / 2, X being costs.
    in_rope : ndarray, shape (m, m)
        Posterior probability that it differs from 1/2 by less than `epsilon`.
    statements : tuple of Statement
        One per pair, by decreasing marginal probability; they count pairs of scores.
    n_accepted : int
        How many of them, from the first, hold jointly with probability above `confidence`.
    confidence, epsilon : float
    n_scores : tuple of int
        Scores of each candidate.
    n_dropped : int
        NaN left out.

    Examples
    --------
    >>> from racer.stats import bayesian_kruskal_wallis
    >>> result = bayesian_kruskal_wallis([[1, 2, 3, 4, 5], [6, 7, 8, 9], [4, 6, 9, 11, 12, 13]])
    >>> result.effects.round(3), result.rejected
    (array([0.817, 0.389, 0.294]), True)
    """

    rejected: bool
    statistic: float
    p_value: float
    effects: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    probability_best: NDArray[np.float64]
    estimate: NDArray[np.float64]
    pair_low: NDArray[np.float64]
    in_rope: NDArray[np.float64]
    statements: tuple[Statement, ...]
    n_accepted: int
    confidence: float
    epsilon: float
    n_scores: tuple[int, ...]
    n_dropped: int

    @property
    def accepted(self) -> tuple[Statement, ...]:
        """The statements that hold jointly if "all alike" is rejected, else none."""
        return self.statements[: self.n_accepted] if self.rejected else ()

    def to_frame(self) -> pd.DataFrame:
        """Return one row per statement: its fields, estimate, low, high, in_rope, accepted."""
        import pandas as pd  # noqa: PLC0415

        frame = pd.DataFrame([vars(statement) for statement in self.statements])
        pairs = frame["better"].to_numpy(), frame["worse"].to_numpy()
        return frame.assign(
            estimate=self.estimate[pairs],
            low=self.pair_low[pairs],
            high=1.0 - self.pair_low[pairs[::-1]],
            in_rope=self.in_rope[pairs],
            accepted=np.arange(len(frame)) < len(self.accepted),
        )


class Samples(NamedTuple):
    """Independent samples of costs, pooled and sorted; N scores of m candidates."""

    owner: NDArray[np.intp]  # (N,), whose score each is
    below: NDArray[np.intp]  # (N,), pooled scores smaller than it
    upto: NDArray[np.intp]  # (N,), pooled scores not larger than it
    sizes: NDArray[np.intp]  # (m,)
    dropped: int  # NaN


def read_samples(samples: Sequence[ArrayLike], *, maximize: bool) -> Samples:
    """Check one list of scores per candidate, leave out NaN, and pool them as costs."""
    if not np.iterable(samples):
        raise ScoresError(f"samples is {samples!r}: give a sequence of samples, one per candidate")
    if len(samples) < 2:
        raise ScoresError(f"samples has {len(samples)}: give at least 2, one per candidate")
    given = [as_floats(one, f"samples[{place}]", 1) for place, one in enumerate(samples)]
    kept = [one[~np.isnan(one)] for one in given]
    for place, one in enumerate(kept):
        if len(one) < 2:
            raise ScoresError(
                f"samples[{place}] has {len(one)} score(s): give at least 2, as without a second "
                "its spread is unknown"
            )
    sizes = np.array([len(one) for one in kept])
    costs = as_costs(np.concatenate(kept), maximize=flag(maximize, "maximize"))
    pooled = with_ties(costs[None])[0]
    order = np.argsort(pooled, kind="stable")
    ordered = pooled[order]
    return Samples(
        np.repeat(np.arange(len(kept)), sizes)[order],
        np.searchsorted(ordered, ordered, "left"),
        np.searchsorted(ordered, ordered, "right"),
        sizes,
        sum(map(len, given)) - int(sizes.sum()),
    )


def _in_own_order(samples: Samples) -> tuple[Samples, NDArray[np.intp]]:
    """Return samples in order of size and scores, and the place (m,) at which each was given.

    Draws and permutations go by that order, so that the given one changes nothing. Equal samples
    stay as they were given.
    """
    places = np.split(
        samples.below[np.argsort(samples.owner, kind="stable")], np.cumsum(samples.sizes)[:-1]
    )
    keys = [(len(one), one.tolist()) for one in places]
    given = np.array(sorted(range(len(keys)), key=keys.__getitem__))
    owner = np.argsort(given)[samples.owner]
    owner = owner[np.lexsort([owner, samples.below])]  # of scores that tie, in order
    return samples._replace(owner=owner, sizes=samples.sizes[given]), given


def _statistics(samples: Samples, owners: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return d' (C + ridge)^-1 d of the effects for each assignment of scores, (k, N) to (k,).

    d are the effects less 1/2, C their covariance, to the first order, by the spread of the
    placements within each sample. Samples that do not overlap have no such spread: the ridge is at
    least that of effects known to half a score of all.
    """
    m, n = len(samples.sizes), samples.sizes.astype(np.float64)
    mine = owners[:, :, None] == np.arange(m)
    share = mine / n
    upto = np.concatenate([np.zeros((len(owners), 1, m)), share.cumsum(axis=1)], axis=1)
    lower = 0.5 * (upto[:, samples.below] + upto[:, samples.upto])  # P(X_j < x) + P(X_j = x) / 2
    own = (lower * mine).sum(axis=2)
    placed = np.where(mine, (m - 1.0 - lower.sum(axis=2) + own)[:, :, None], lower) / m
    mean = share.transpose(0, 2, 1) @ placed  # (k, sample, effect)
    weighted = placed / (n * (n - 1.0))[owners][:, :, None]
    covariance = placed.transpose(0, 2, 1) @ weighted
    covariance -= mean.transpose(0, 2, 1) @ (mean / (n - 1.0)[:, None])
    d = mean[:, np.arange(m), np.arange(m)] + 0.5 / m - 0.5
    scale = np.trace(covariance, axis1=1, axis2=2) / (m - 1)
    added = _RIDGE * np.maximum(scale, (_KNOWN / n.sum()) ** 2) + 1e-12
    solved = np.linalg.solve(covariance + added[:, None, None] * np.eye(m), d[:, :, None])
    return np.asarray((d * solved[:, :, 0]).sum(axis=1))


def permutation_test(samples: Samples, permutations: int, seed: int) -> tuple[float, float]:
    """Return the statistic and its p-value among so many random assignments of scores."""
    rng, owner = rng_for(seed, "permutations"), samples.owner
    statistic = float(_statistics(samples, owner[None])[0])
    step = max(1, _CELLS // (len(owner) * len(samples.sizes)))
    as_large = 1
    for first in range(0, permutations, step):
        rows = min(step, permutations - first)
        owners = rng.permuted(np.broadcast_to(owner, (rows, len(owner))), axis=1)
        found = _statistics(samples, owners)
        as_large += int(np.count_nonzero(found >= statistic * (1.0 - 1e-9) - 1e-12))
    return statistic, as_large / (permutations + 1)


def _posterior(samples: Samples, draws: int, seed: int) -> NDArray[np.float32]:
    """Return draws of P(X_i < X_j) + P(X_i = X_j) / 2 for the pairs i < j, (pairs, draws)."""
    m = len(samples.sizes)
    at = [np.flatnonzero(samples.owner == k) for k in range(m)]
    # how many scores of a candidate are among the first pooled ones
    own = [np.append(0, (samples.owner == k).cumsum(dtype=np.int32)) for k in range(m)]
    drawn = np.empty((m * (m - 1) // 2, draws), dtype=np.float32)
    step = max(1, _CELLS // len(samples.owner))
    rngs = [rng_for(seed, "draws", k) for k in range(m)]
    for first in range(0, draws, step):
        rows = min(step, draws - first)
        weights = [
            rng.standard_exponential((rows, size))
            for rng, size in zip(rngs, samples.sizes, strict=True)
        ]
        weights = [one / one.sum(axis=1, keepdims=True) for one in weights]
        upto = [np.pad(one.cumsum(axis=1), ((0, 0), (1, 0))) for one in weights]
        for place, (i, j) in enumerate(zip(*index_pairs(m), strict=True)):
            low, high = own[j][samples.below[at[i]]], own[j][samples.upto[at[i]]]
            lower = 0.5 * (upto[j][:, low] + upto[j][:, high])
            drawn[place, first : first + rows] = 1.0 - np.einsum("dn,dn->d", weights[i], lower)
    return drawn


def _won(samples: Samples) -> NDArray[np.int64]:
    """Return in how many pairs of scores i has the smaller cost than j, (m, m)."""
    mine = samples.owner[:, None] == np.arange(len(samples.sizes))
    upto = np.concatenate([np.zeros_like(mine[:1], dtype=np.int64), mine.cumsum(axis=0)])
    return np.asarray((samples.sizes - upto[samples.upto]).T @ mine).T


def bayesian_kruskal_wallis(
    samples: Sequence[ArrayLike],
    *,
    confidence: float = 0.95,
    epsilon: float = 0.05,
    draws: int = 20_000,
    permutations: int | None = None,
    seed: int = 0,
    maximize: bool = False,
    control: int | None = None,
) -> BayesianKruskalWallisResult:
    """Compare candidates by independent samples: scores that no common block pairs.

    Each candidate's law has a Dirichlet process of its own, with a prior of no weight (the
    Bayesian bootstrap), so that samples may differ in size, spread and shape. Of each pair the
    direction with the larger posterior probability of P(better) > 1/2 is taken, and the longest
    prefix of these statements that holds *jointly* with probability above `confidence`.

    Statements are accepted only if "all effects are 1/2" is rejected, by a permutation test of
    the effects over their covariance: exact where all laws are the same, and asymptotically valid
    where only the effects are, which the Kruskal-Wallis test is not. The covariance is shrunk
    to a multiple of the identity.

    Parameters
    ----------
    samples : sequence of array_like, each of shape (n_i,)
        The scores of each candidate, at least two; smaller is better. NaN is left out and
        counted; an infinite score is worse (better) than all finite ones.
    confidence : float in (0, 1)
    epsilon : float in [0, 1/2)
        Half-width of the region of practical equivalence around 1/2.
    draws : int >= 100
    permutations : int >= 99, optional
        Random assignments of scores to candidates, beside the observed one. By default 9 999, of
        many scores fewer, but at least 1 999.
    seed : int >= 0
        Same seed, same answer, in whatever order the samples are given.
    maximize : bool
        Larger is better.
    control : int, optional
        Only the m - 1 pairs with this candidate get statements.

    Returns
    -------
    BayesianKruskalWallisResult

    Raises
    ------
    ScoresError
        Fewer than two samples, a sample with fewer than two scores, values that are not numbers.
    SettingError
        A setting out of range.

    References
    ----------
    Benavoli et al. (ICML 2015), sections 5.3 and 6, which leave this test to future work;
    Benavoli, Mangili, Ruggeri, Zaffalon (J. Stat. Theory Pract. 2015) for two samples; Brunner,
    Munzel (Biom. J. 2000) and Brunner, Konietschke, Bathke, Pauly (Int. Stat. Rev. 2021) for the
    effects; Chung, Romano (Ann. Stat. 2013) for studentised permutations.

    Examples
    --------
    >>> fast, slow = [3.1, 2.9, 3.4, 3.0, 3.3], [3.6, 4.2, 3.9, 3.2, 4.4, 3.8]
    >>> result = bayesian_kruskal_wallis([fast, slow])
    >>> result.p_value < 0.05, result.effects.round(3).tolist()
    (True, [0.717, 0.283])
    >>> [(s.better, s.worse) for s in result.accepted]
    [(0, 1)]
    """
    check_fraction(confidence, "confidence")
    epsilon = check_epsilon(epsilon)
    check_draws(draws)
    if permutations is not None:
        whole(permutations, "permutations", least=99)
    seed = check_seed(seed)
    pooled, given = _in_own_order(read_samples(samples, maximize=maximize))
    m = len(given)
    if control is not None:
        if whole(control, "control", least=0) >= m:
            raise SettingError(f"control={control}: the samples are 0 to {m - 1}")
        control = int(np.flatnonzero(given == control)[0])
    if permutations is None:
        least, most = _PERMUTATIONS
        permutations = max(least, min(most, _WORK // (len(pooled.owner) * m)))
    statistic, p_value = permutation_test(pooled, permutations, seed)
    drawn = _posterior(pooled, draws, seed)
    won = _won(pooled)
    met = np.multiply.outer(pooled.sizes, pooled.sizes)
    estimate = 0.5 + (won - won.T) / (2.0 * met)
    ordered = _ordered(drawn, estimate.mean(axis=1), control)
    joint = running_joint(_holding(drawn, ordered, m), draws)
    above = without_ties(sum(p > confidence for p in joint), ordered, -estimate.mean(axis=1))
    effects = _effects(drawn, m)
    best = effects >= effects.max(axis=0) - _ROUNDING
    first, second = index_pairs(m)
    pair_low, in_rope = np.full((m, m), 0.5), np.eye(m)
    pair_low[first, second], upper = np.quantile(drawn, _ENDS, axis=1)
    pair_low[second, first] = 1.0 - upper
    within = (np.abs(drawn - 0.5) < epsilon).mean(axis=1)
    in_rope[first, second] = in_rope[second, first] = within
    low, high = np.quantile(effects, _ENDS, axis=1)
    back = np.argsort(given)
    pairs = np.ix_(back, back)
    return BayesianKruskalWallisResult(
        rejected=p_value <= 1.0 - confidence + 1e-12,
        statistic=statistic,
        p_value=p_value,
        effects=frozen(estimate.mean(axis=1)[back]),
        low=frozen(low[back]),
        high=frozen(high[back]),
        probability_best=frozen((best / best.sum(axis=0)).mean(axis=1)[back]),
        estimate=frozen(estimate[pairs]),
        pair_low=frozen(pair_low[pairs]),
        in_rope=frozen(in_rope[pairs]),
        statements=stated(ordered, joint, won, met, given),
        n_accepted=above,
        confidence=confidence,
        epsilon=epsilon,
        n_scores=tuple(pooled.sizes[back].tolist()),
        n_dropped=pooled.dropped,
    )


def _effects(drawn: NDArray[np.float32], m: int) -> NDArray[np.float64]:
    """Return draws of the effects, (m, draws), from those of the pairs, (pairs, draws)."""
    effects = np.full((m, drawn.shape[1]), 0.5)
    for i, j, values in zip(*index_pairs(m), drawn, strict=True):
        effects[i] += values
        effects[j] += 1.0 - values
    return effects / m


def _ordered(
    drawn: NDArray[np.float32], effects: NDArray[np.float64], control: int | None
) -> Ordered:
    """Return the likelier statement of each pair, the surest first."""
    i, j = index_pairs(len(effects))
    above = 0.5 * ((drawn > 0.5).mean(axis=1) + (drawn >= 0.5).mean(axis=1))
    swap = (above < 0.5) | ((above == 0.5) & (effects[i] < effects[j]))
    better, worse = np.where(swap, j, i), np.where(swap, i, j)
    p_false = np.where(swap, above, 1.0 - above)
    order = np.lexsort((effects[worse] - effects[better], p_false))
    if control is not None:
        order = order[(better[order] == control) | (worse[order] == control)]
    return Ordered(better[order], worse[order], p_false[order])


def _holding(drawn: NDArray[np.float32], ordered: Ordered, m: int) -> Iterator[NDArray[np.bool_]]:
    """Yield for each statement the draws in which it holds, (draws,)."""
    place = np.zeros((m, m), dtype=np.intp)
    place[index_pairs(m)] = np.arange(len(drawn))
    for i, j, _ in zip(*ordered, strict=True):
        yield drawn[place[i, j]] > 0.5 if i < j else drawn[place[j, i]] < 0.5
