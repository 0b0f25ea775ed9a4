"""The Bayesian hierarchical model of two algorithms, cross-validated on many data sets."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy  # its parts are imported when they are used

from racer._checks import as_floats, flag
from racer._numerics import as_costs
from racer.errors import ScoresError, warn
from racer.seeding import check_seed, rng_for
from racer.stats._sampling.chains import r_hat
from racer.stats._validation import frozen
from racer.stats.correlated_t import check_correlation, check_rope

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

    _Floats = NDArray[np.float64]

_CHAINS = 64
# sweeps, sweeps, rounds: one is enough for a probability of 1/2 where chains mix well
_WARM_UP, _ROUND, _MOST = 200, 350, 30
_THIN = (10, 50)  # sweeps between draws of the differences, at least and at most
_CELLS, _KEPT = 1 << 9, 1 << 22  # differences per added sweep; most differences kept
_ERROR = 0.004  # of a probability, below half of its second decimal
_R_HAT = 1.02  # of 64 chains, split in two: as near to 1 as so short ones can be
_UPPER = 1000.0  # bounds of standard deviations, in units of those of the data
_LEAST = 1e-3  # standard deviation of the folds of a data set at least, in units of the mean one
_ROUNDING = 1e-12  # of the largest difference: smaller spreads are none
_ALPHA, _BETA = (0.5, 5.0), (0.05, 0.15)  # of the Gamma law of nu
_LOG_NU = (math.log(1e-3), math.log(1e3), 400)  # grid of the logarithm of nu
_STEPS = (0.5, 1.5)  # of log nu


class Regions(NamedTuple):
    """Probabilities that y is better, that both are practically equivalent, that x is better.

    Examples
    --------
    >>> from racer.stats import Regions
    >>> max(Regions(0.02, 0.08, 0.9)._asdict().items(), key=lambda item: item[1])
    ('better', 0.9)
    """

    worse: float
    equivalent: float
    better: float


@dataclass(frozen=True, eq=False)
class HierarchicalResult:
    """Result of `hierarchical_t_test`; each probability is that y is better, neither, or x.

    Attributes
    ----------
    next_data_set : Regions
        Of the difference on the next data set.
    mean : Regions
        Of delta_0, the mean over all data sets like these.
    largest : Regions
        Probability that this region is the most probable one of the next data set: the paper's
        criterion. Without a rope, the same as `mean`.
    estimate, low, high : float
        Posterior mean and central 95 % interval of delta_0. Differences are positive where x is
        better.
    means : ndarray, shape (q,)
        Mean differences on the data sets, as observed.
    estimates, lows, highs : ndarray, shape (q,)
        Posterior means and central 95 % intervals of them, shrunk towards each other.
    correlation, rope : float
        As given.
    n_dropped : int
        Data sets left out, which have fewer than two folds with both scores.
    error : float
        Monte Carlo standard error of the least certain probability.
    r_hat : float
        The largest of delta_0, sigma_0 and nu; near 1 where chains have met.

    Examples
    --------
    >>> import numpy as np
    >>> from racer.stats import hierarchical_t_test
    >>> rng = np.random.default_rng(1)
    >>> errors = rng.normal(0.2, 0.02, (12, 10))
    >>> better = errors - rng.normal(0.02, 0.01, (12, 10))
    >>> result = hierarchical_t_test(better, errors, correlation=0.1, rope=0.005)
    >>> result.next_data_set.better > 0.9, round(result.estimate, 2)
    (True, 0.02)
    """

    next_data_set: Regions
    mean: Regions
    largest: Regions
    estimate: float
    low: float
    high: float
    means: NDArray[np.float64] = field(repr=False)
    estimates: NDArray[np.float64] = field(repr=False)
    lows: NDArray[np.float64] = field(repr=False)
    highs: NDArray[np.float64] = field(repr=False)
    correlation: float
    rope: float
    n_dropped: int
    error: float
    r_hat: float

    def to_frame(self) -> pd.DataFrame:
        """Return a row per data set used: mean, estimate, low, high."""
        import pandas as pd  # noqa: PLC0415

        columns = {"mean": self.means, "estimate": self.estimates}
        return pd.DataFrame({**columns, "low": self.lows, "high": self.highs})


class _Folds(NamedTuple):
    """Differences of two algorithms on the folds of q data sets, all shapes (q,)."""

    mean: _Floats
    spread: _Floats  # standard deviation
    within: _Floats  # sum of squares around the mean, over 1 - rho
    inflation: _Floats  # variance of the mean, in units of that of a fold
    n: _Floats


def hierarchical_t_test(
    x: ArrayLike,
    y: ArrayLike,
    *,
    correlation: float,
    rope: float = 0.0,
    maximize: bool = False,
    seed: int = 0,
) -> HierarchicalResult:
    """Return the posterior of the difference of two cross-validated algorithms on many data sets.

    On data set i the differences of the folds are multivariate normal around delta_i, with
    standard deviation sigma_i and correlation rho of each two, as folds share training data. The
    delta_i are draws from Student's t with location delta_0, scale sigma_0 and nu degrees of
    freedom: estimates on single data sets are shrunk towards their common mean, the more the
    noisier they are, and outliers little.

    Flat priors of sigma_i, sigma_0 and delta_0 reach far beyond the data: to 1 000 times the mean
    standard deviation of folds, 1 000 times that between mean differences, and plus and minus
    the largest difference (the paper has 1, for accuracies); nu is Gamma(alpha, beta) with alpha
    from U(0.5, 5) and beta from U(0.05, 0.15). As each bound is a multiple of a spread of the data
    and nu has no unit, the posterior in other units is the same: there is no scale to choose.

    Parameters
    ----------
    x, y : array_like, shape (q, n)
        Scores on the folds: a row per data set; smaller is better. A fold with NaN in x or y is
        left out, and with it a data set that has fewer than two others. Folds that all differ
        alike count as if they had a thousandth of the usual standard deviation.
    correlation : float in [0, 1)
        Of two folds. For a cross-validation the fraction of the data that is tested on, 1/10
        for ten folds, repeated or not (Nadeau and Bengio).
    rope : float >= 0
        A difference that does not matter, in units of the scores.
    maximize : bool
        Larger is better.
    seed : int >= 0
        Same seed, same answer.

    Returns
    -------
    HierarchicalResult
        From Gibbs chains that go on until each probability has a standard error of 0.004.

    Raises
    ------
    ScoresError
        x and y of different shapes, infinite scores, or fewer than two data sets.
    SettingError
        correlation, rope or seed out of range.

    References
    ----------
    Corani, Benavoli, Demšar, Mangili, Zaffalon: Statistical comparison of classifiers through
    Bayesian hierarchical modelling, Machine Learning 106 (2017), section 3.

    Examples
    --------
    >>> x = [[0.10, 0.12, 0.11], [0.30, 0.31, 0.28], [0.20, 0.19, 0.22], [0.15, 0.15, 0.16]]
    >>> y = [[0.14, 0.15, 0.16], [0.33, 0.36, 0.33], [0.25, 0.22, 0.27], [0.17, 0.19, 0.19]]
    >>> result = hierarchical_t_test(x, y, correlation=1 / 3)
    >>> result.mean.better > 0.95, len(result.estimates)
    (True, 4)
    """
    rho, rope = check_correlation(correlation), check_rope(rope)
    rng = rng_for(check_seed(seed), "hierarchical")
    gaps = _differences(x, y, maximize=flag(maximize, "maximize"))
    known = ~np.isnan(gaps)
    enough = known.sum(axis=1) >= 2
    dropped = int((~enough).sum())
    if enough.sum() < 2:
        raise ScoresError(
            f"x and y have {int(enough.sum())} data set(s) with two folds or more that have both "
            f"scores ({dropped} left out): at least 2 needed"
        )
    largest = float(np.nanmax(np.abs(gaps)[enough]))
    # a power of two, so that squares stay floats: any other unit gives the same draws
    scale = 2.0 ** math.floor(math.log2(largest)) if largest else 1.0
    folds = _folds(gaps[enough] / scale, rho)
    if folds.spread.max() == 0.0:
        draws = _constant(folds.mean, rope / scale)
    else:
        draws = _sampled(_Chains(folds, largest / scale, rng), rope / scale)
    level = (0.025, 0.975)
    low, high = scale * np.quantile(draws.delta0, level)
    lows, highs = scale * np.quantile(draws.deltas, level, axis=0)
    return HierarchicalResult(
        next_data_set=_regions(draws.next_data_set),
        mean=_regions(draws.mean),
        largest=_regions(draws.largest),
        estimate=scale * float(draws.delta0.mean()),
        low=float(low),
        high=float(high),
        means=frozen(scale * folds.mean),
        estimates=frozen(scale * draws.estimates),
        lows=frozen(lows),
        highs=frozen(highs),
        correlation=rho,
        rope=rope,
        n_dropped=dropped,
        error=draws.error,
        r_hat=draws.r_hat,
    )


def _differences(x: ArrayLike, y: ArrayLike, *, maximize: bool) -> _Floats:
    """Return how much better x is on each fold, (q, n), NaN where unknown."""
    first, second = as_floats(x, "x", 2), as_floats(y, "y", 2)
    if first.shape != second.shape:
        raise ScoresError(f"x has shape {first.shape} and y {second.shape}: give data sets x folds")
    if np.isinf(first).any() or np.isinf(second).any():
        raise ScoresError("x or y has infinite values: the mean of folds with one is meaningless")
    return as_costs(second, maximize=maximize) - as_costs(first, maximize=maximize)


def _folds(gaps: _Floats, rho: float) -> _Folds:
    """Return the differences (q, n) summed up; without any spread if all are the same."""
    n = (~np.isnan(gaps)).sum(axis=1).astype(np.float64)
    mean, spread = np.nanmean(gaps, axis=1), np.nanstd(gaps, axis=1, ddof=1)
    least = _ROUNDING * float(np.nanmax(np.abs(gaps)))
    usual = next((s for s in (float(spread.mean()), float(mean.std())) if s > least), 0.0)
    spread = np.maximum(spread, _LEAST * usual) if usual else np.zeros_like(spread)
    # equal correlations have two eigenvalues: 1 - rho of contrasts, 1 + (n - 1) rho of the mean
    within = (n - 1.0) * spread**2 / (1.0 - rho)
    return _Folds(mean, spread, within, (1.0 + (n - 1.0) * rho) / n, n)


def _constant(means: _Floats, rope: float) -> _Draws:
    """Return draws where all folds of all data sets differ by the same: the difference itself."""
    gap = float(means[0])
    sure = np.array([[gap < -rope, abs(gap) <= rope, gap > rope]], dtype=np.float64)
    if gap == rope == 0.0:
        sure = np.array([[0.5, 0.0, 0.5]])
    return _Draws(sure, sure, sure, means[:1], means[None], means, 0.0, 1.0)


def _regions(by_chain: _Floats) -> Regions:
    """Return the means over chains of probabilities, (chains, 3)."""
    return Regions(*map(float, by_chain.mean(axis=0)))


@lru_cache(maxsize=1)
def _log_prior() -> tuple[_Floats, _Floats]:
    """Return a grid of log nu, and its log density there, alpha and beta integrated out."""
    middles = (np.arange(64) + 0.5) / 64.0
    alpha = (_ALPHA[0] + (_ALPHA[1] - _ALPHA[0]) * middles)[:, None, None]
    beta = (_BETA[0] + (_BETA[1] - _BETA[0]) * middles)[:, None]
    log_nu = np.linspace(*_LOG_NU)
    logs = alpha * (np.log(beta) + log_nu) - beta * np.exp(log_nu) - scipy.special.gammaln(alpha)
    return log_nu, np.log(np.exp(logs).mean(axis=(0, 1)))


class _Chains:
    """Gibbs chains side by side, (chains, 1) or (chains, q).

    Student's t is a normal law of variance sigma_0^2 lambda_i. Where sigma_0 is small, draws of it
    and of delta_0 given the delta_i hardly move: they are drawn again given the standardised
    delta_i (Yu and Meng: To center or not to center, 2011).
    """

    def __init__(self, folds: _Folds, bound: float, rng: np.random.Generator) -> None:
        q = len(folds.mean)
        usual = float(folds.spread.mean())
        spread = float(folds.mean.std(ddof=1)) or usual
        self.folds, self.bound, self.rng = folds, bound, rng
        self.most, self.least = _UPPER * spread, (_UPPER * usual) ** -2.0
        self.precision = np.tile((folds.n - 1.0) / folds.within, (_CHAINS, 1))
        self.delta = folds.mean + np.sqrt(folds.inflation / self.precision) * self._normal(q)
        self.delta0 = self.delta.mean(axis=1, keepdims=True)
        self.sigma0 = spread * np.exp(self._normal(1))
        self.nu = np.exp(rng.uniform(0.0, math.log(30.0), (_CHAINS, 1)))
        self.mixing = np.ones((_CHAINS, q))

    def sweep(self) -> None:
        """Draw each part given the others."""
        self._draw_noise()
        self._draw_differences()
        self._draw_tails()
        self._draw_centre()
        self._draw_again()

    def _normal(self, q: int) -> _Floats:
        return self.rng.standard_normal((_CHAINS, q))

    def _draw_noise(self) -> None:
        """Draw 1 / sigma_i^2 given the delta_i."""
        data = self.folds
        rate = data.within + (data.mean - self.delta) ** 2 / data.inflation
        drawn = 2.0 * self.rng.standard_gamma((data.n - 1.0) / 2.0, rate.shape) / rate
        # beyond the flat prior the old value stays, as a rejected Metropolis step
        self.precision = np.where(drawn > self.least, drawn, self.precision)

    def _draw_differences(self) -> None:
        """Draw the delta_i."""
        data, prior = self.precision / self.folds.inflation, 1.0 / (self.mixing * self.sigma0**2)
        mean = (data * self.folds.mean + prior * self.delta0) / (data + prior)
        self.delta = mean + self._normal(mean.shape[1]) / np.sqrt(data + prior)

    def _draw_tails(self) -> None:
        """Draw nu by Metropolis steps of its logarithm, the lambda_i integrated out; then these."""
        squares = ((self.delta - self.delta0) / self.sigma0) ** 2
        density = _log_density(self.nu, squares)
        for step in _STEPS:
            nu = self.nu * np.exp(step * self._normal(1))
            proposed = _log_density(nu, squares)
            accepted = -self.rng.standard_exponential((_CHAINS, 1)) < proposed - density
            self.nu = np.where(accepted, nu, self.nu)
            density = np.where(accepted, proposed, density)
        squares = self._draw_tails_again(squares, density)
        shape = np.broadcast_to((self.nu + 1.0) / 2.0, squares.shape)
        self.mixing = (self.nu + squares) / (2.0 * self.rng.standard_gamma(shape))

    def _draw_tails_again(self, squares: _Floats, density: _Floats) -> _Floats:
        """Draw nu given the normal scores of the delta_i, and move these; return their squares.

        Many delta_i of which the data say little hold nu where it is, their scores do not. These
        are Wallace's (Normal approximations to the chi-square and t distributions, 1959).
        """
        nu = self.nu * np.exp(_STEPS[-1] * self._normal(1))
        ratio = _of_scores(self.nu) / _of_scores(nu)
        with np.errstate(all="ignore"):  # too far: not a number, and so rejected
            logs = np.log1p(squares / self.nu)
            moved = nu * np.expm1(ratio * logs)
            stretch = moved / squares
            delta = self.delta0 + (self.delta - self.delta0) * np.sqrt(stretch)
            slopes = np.log(ratio * nu / self.nu) - np.log(stretch) / 2.0 + (ratio - 1.0) * logs
            further = (delta - self.delta) * (delta + self.delta - 2.0 * self.folds.mean)
            gain = slopes - self.precision / self.folds.inflation / 2.0 * further
            proposed = _log_density(nu, moved) + gain.sum(axis=1, keepdims=True)
        accepted = -self.rng.standard_exponential((_CHAINS, 1)) < proposed - density
        self.nu = np.where(accepted, nu, self.nu)
        self.delta = np.where(accepted, delta, self.delta)
        return np.where(accepted, moved, squares)

    def _draw_centre(self) -> None:
        """Draw delta_0 and sigma_0 given the delta_i."""
        weights = 1.0 / self.mixing
        total = weights.sum(axis=1, keepdims=True)
        mean = (weights * self.delta).sum(axis=1, keepdims=True) / total
        self._move(mean + self.sigma0 / np.sqrt(total) * self._normal(1), self.sigma0)
        rate = (weights * (self.delta - self.delta0) ** 2).sum(axis=1, keepdims=True) / 2.0
        # (q - 1) / 2: sigma_0, not its square or logarithm, has the flat prior
        gamma = self.rng.standard_gamma((weights.shape[1] - 1.0) / 2.0, (_CHAINS, 1))
        self._move(self.delta0, np.sqrt(rate / gamma))

    def _draw_again(self) -> None:
        """Draw delta_0 and sigma_0 given the standardised delta_i, and move these."""
        weights = self.precision / self.folds.inflation
        standard = (self.delta - self.delta0) / self.sigma0
        total = weights.sum(axis=1, keepdims=True)
        rest = (weights * (self.folds.mean - self.sigma0 * standard)).sum(axis=1, keepdims=True)
        self._move(rest / total + self._normal(1) / np.sqrt(total), self.sigma0)
        total = (weights * standard**2).sum(axis=1, keepdims=True)
        rest = (weights * standard * (self.folds.mean - self.delta0)).sum(axis=1, keepdims=True)
        self._move(self.delta0, rest / total + self._normal(1) / np.sqrt(total))
        self.delta = self.delta0 + self.sigma0 * standard
        self.sigma0 = np.abs(self.sigma0)  # as probable with all signs changed

    def _move(self, delta0: _Floats, sigma0: _Floats) -> None:
        """Accept proposals within the bounds of the priors."""
        self.delta0 = np.where(np.abs(delta0) <= self.bound, delta0, self.delta0)
        self.sigma0 = np.where(np.abs(sigma0) <= self.most, sigma0, self.sigma0)


def _of_scores(nu: _Floats) -> _Floats:
    """Return k of Wallace's normal scores, k log(1 + t^2 / nu) = z^2."""
    return np.asarray(nu * ((8.0 * nu + 1.0) / (8.0 * nu + 3.0)) ** 2)


def _log_density(nu: _Floats, squares: _Floats) -> _Floats:
    """Return the log density of log nu, (chains, 1), given squares of standardised delta_i."""
    half, log_nu = (nu + 1.0) / 2.0, np.log(nu)
    constant = scipy.special.gammaln(half) - scipy.special.gammaln(nu / 2.0) - log_nu / 2.0
    tails = half * np.log1p(squares / nu).sum(axis=1, keepdims=True)
    prior = np.interp(log_nu, *_log_prior(), left=-np.inf, right=-np.inf)
    return np.asarray(prior + squares.shape[1] * constant - tails)


class _Draws(NamedTuple):
    """Means of probabilities by chain, (chains, 3), and draws."""

    next_data_set: _Floats
    mean: _Floats
    largest: _Floats
    delta0: _Floats  # (draws,)
    deltas: _Floats  # (some draws, q)
    estimates: _Floats  # (q,), means of all
    error: float
    r_hat: float


def _sampled(chains: _Chains, rope: float) -> _Draws:
    """Run chains until the standard error between them is small enough."""
    for _ in range(_WARM_UP):
        chains.sweep()
    states: list[_Floats] = []
    deltas: list[_Floats] = []
    sums, n, error, worst = np.zeros((3, _CHAINS, 3)), 0, math.inf, math.inf
    thin = int(np.clip(chains.delta.size // _CELLS, *_THIN))
    total = np.zeros(chains.delta.shape[1])
    for _ in range(_MOST):
        for sweep in range(_ROUND):
            chains.sweep()
            states.append(np.hstack([chains.delta0, np.log(chains.sigma0), np.log(chains.nu)]))
            total += chains.delta.mean(axis=0)
            if sweep % thin == 0:
                deltas = [*deltas[-_KEPT // chains.delta.size :], chains.delta]
        sums += _counted(np.array(states[-_ROUND:]), rope).sum(axis=1)
        n += _ROUND
        error = float((sums / n).std(axis=1, ddof=1).max()) / math.sqrt(_CHAINS)
        worst = float(r_hat(np.array(states).swapaxes(0, 1)).max())
        if error <= _ERROR and worst <= _R_HAT:
            break
    if error > _ERROR or worst > _R_HAT:
        warn(
            f"the chains of the hierarchical model have not met (R-hat {worst:.3f}, standard error "
            f"{error:.3f}): rely on one decimal, or give more data sets"
        )
    delta0 = np.array(states)[:, :, 0].ravel()
    ahead, mean, largest = sums / n
    return _Draws(ahead, mean, largest, delta0, np.concatenate(deltas), total / n, error, worst)


def _counted(states: _Floats, rope: float) -> _Floats:
    """Return next data set, mean and most probable region, of states (n, chains, 3): (3, n, chains, 3)."""
    delta0, sigma0, nu = states[..., 0], np.exp(states[..., 1]), np.exp(states[..., 2])
    worse = scipy.special.stdtr(nu, (-rope - delta0) / sigma0)
    better = scipy.special.stdtr(nu, (delta0 - rope) / sigma0)
    shares = np.stack([worse, np.maximum(1.0 - worse - better, 0.0), better], axis=-1)
    mean = np.stack([delta0 < -rope, np.abs(delta0) <= rope, delta0 > rope], axis=-1)
    largest = shares == shares.max(axis=-1, keepdims=True)
    return np.stack([shares, mean.astype(np.float64), largest.astype(np.float64)])
