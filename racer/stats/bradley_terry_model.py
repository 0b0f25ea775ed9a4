"""The Bayesian Bradley-Terry model: how probably one algorithm beats another on a data set."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from racer._checks import check_draws, check_positive, choice
from racer._numerics import shown_probability
from racer.errors import ScoresError, SettingError
from racer.seeding import check_seed, rng_for
from racer.stats._likelihoods import (
    SCALES,
    Likelihood,
    ScalePrior,
    SigmaPrior,
    StrengthModel,
    rough_mode,
)
from racer.stats._sampling import Posterior, sample
from racer.stats._sampling.summary import logistic, pair_frame, pairs, shortest
from racer.stats._validation import check_connected, frozen
from racer.stats.wins import WinTable, win_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from racer.stats.wins import TiePolicy

_PREDICTED = 1000
_TRUST = (1.0, 0.1, 0.0)  # 0: one always wins, and the curvature fades with sigma


class Waic(NamedTuple):
    """The widely applicable information criterion over pairs; smaller is better.

    Attributes
    ----------
    waic : float
        -2 (log predictive density - effective number of parameters).
    parameters : float
        Effective number of parameters.

    Examples
    --------
    >>> from racer.stats import bradley_terry, win_table
    >>> scores = [[1, 2, 3], [1, 3, 2], [2, 1, 3], [1, 2, 3], [1, 3, 2], [1, 2, 3], [1, 2, 3]]
    >>> waic = bradley_terry(win_table(scores)).waic()
    >>> waic.waic > 0
    True
    """

    waic: float
    parameters: float


class _Met(NamedTuple):
    """Some pairs that have met: counts (q,), and draws of half their gap and of log S (n, q).

    In units of sqrt(pi_i pi_j): exp(gap) for a win, exp(-gap) for a loss, nu for a tie, S in all.
    """

    won: NDArray[np.float64]
    lost: NDArray[np.float64]
    tied: NDArray[np.float64]
    gap: NDArray[np.float64]
    log_total: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class BradleyTerryResult:
    """Result of `bradley_terry`.

    Attributes
    ----------
    names : tuple of str
        The algorithms, as in the columns of the draws.
    ranking : tuple of str
        The same, from the best mean strength to the worst.
    strengths : ndarray, shape (draws, K)
        Posterior draws of beta; each sums to zero.
    sigma : ndarray, shape (draws,)
        Draws of the standard deviation of strengths.
    nu : ndarray, shape (draws,), or None
        Draws of Davidson's nu: between equals, P(tie) = nu / (2 + nu). None without ties.
    wins, ties : ndarray, shape (K, K)
        The counts after the policy for ties.
    posterior : Posterior
        How it was drawn: `method`, `ess`, `r_hat`, `divergences`, `converged`.
    seed : int
    position : ndarray, shape (draws,), or None
        Of votes on pairs in both orders: draws of the first place's bonus to a strength.

    Examples
    --------
    >>> from racer.stats import bradley_terry, win_table
    >>> scores = [[1, 2, 3], [1, 3, 2], [2, 1, 3], [1, 2, 3], [1, 3, 2], [1, 2, 3], [1, 2, 3]]
    >>> result = bradley_terry(win_table(scores))
    >>> result.ranking
    ('0', '1', '2')
    >>> bool(result.win_probability("0", "2").mean() > 0.8)
    True
    """

    names: tuple[str, ...]
    ranking: tuple[str, ...]
    strengths: NDArray[np.float64] = field(repr=False)
    sigma: NDArray[np.float64] = field(repr=False)
    nu: NDArray[np.float64] | None = field(repr=False)
    wins: NDArray[np.float64] = field(repr=False)
    ties: NDArray[np.float64] = field(repr=False)
    posterior: Posterior
    seed: int
    position: NDArray[np.float64] | None = field(default=None, repr=False)

    def win_probability(self, first: str, second: str) -> NDArray[np.float64]:
        """Return draws of the probability that `first` beats `second`, given that they differ."""
        places = []
        for name in (first, second):
            if name not in self.names:
                raise SettingError(f"no algorithm {name!r}: choose from {', '.join(self.names)}")
            places.append(self.names.index(name))
        return logistic(self.strengths[:, places[0]] - self.strengths[:, places[1]])

    def to_frame(
        self, *, rope: tuple[float, float] = (0.45, 0.55), level: float = 0.89
    ) -> pd.DataFrame:
        """Return one row per pair, the algorithm with the better mean strength first.

        Parameters
        ----------
        rope : pair of float
            Probabilities of winning at which two algorithms are practically equivalent.
        level : float in (0, 1)
            Of the highest-density interval.

        Returns
        -------
        DataFrame
            better, worse; of the probability p that the first beats the second on a data set:
            estimate (mean), low, high, delta (high - low); probability that p > 1/2, which is
            Wainer's above.50; in_rope.
        """
        return pair_frame(self.names, self.ranking, self.strengths, rope, level)

    def waic(self) -> Waic:
        """Return the information criterion, each pair's counts one observation."""
        from scipy.special import gammaln  # noqa: PLC0415

        fit = parameters = 0.0
        for met in self._met(len(self.strengths)):
            n = met.won + met.lost + met.tied
            density = (met.won - met.lost) * met.gap - n * met.log_total
            if self.nu is not None:
                density += met.tied * np.log(self.nu)[:, None]
            ways = gammaln(n + 1) - sum(gammaln(k + 1) for k in (met.won, met.lost, met.tied))
            top = density.max(axis=0)
            fit += float((ways + top + np.log(np.exp(density - top).mean(axis=0))).sum())
            parameters += float(density.var(axis=0, ddof=1).sum())
        return Waic(-2.0 * (fit - parameters), parameters)

    def predictive_check(self, levels: tuple[float, ...] = (0.5, 0.9, 0.95, 1.0)) -> pd.DataFrame:
        """Return how many pairs have their counts where the model, fitted, would put them.

        Returns
        -------
        DataFrame
            For each level: the fraction of pairs whose wins (with Davidson's model: and ties) lie
            within the highest-density interval of as many new comparisons, of which 1000 are
            drawn. It should not be below the level by much. 1 where every meeting was a tie
            and forgotten.
        """
        import pandas as pd  # noqa: PLC0415

        rng = rng_for(self.seed, "predictive")
        columns = ["wins"] if self.nu is None else ["wins", "ties"]
        inside, count = np.zeros((len(levels), len(columns))), 0
        for met in self._met(_PREDICTED):
            count += len(met.won)
            n = (met.won + met.lost + met.tied).astype(np.int64)
            new = []
            if self.nu is not None:
                p_tie = self.nu[:_PREDICTED, None] * np.exp(-met.log_total)
                new.append((rng.binomial(n, p_tie), met.tied))
            decided = n - new[0][0] if new else n
            new.insert(0, (rng.binomial(decided, logistic(2.0 * met.gap)), met.won))
            for column, (drawn, seen) in enumerate(new):
                ordered = np.sort(drawn, axis=0)
                for row, level in enumerate(levels):
                    low, high = shortest(ordered, level)
                    inside[row, column] += ((low <= seen) & (seen <= high)).sum()
        return pd.DataFrame(inside / count if count else inside + 1.0, columns=columns).assign(
            level=levels
        )[["level", *columns]]

    def plot(
        self,
        *,
        rope: tuple[float, float] = (0.45, 0.55),
        level: float = 0.89,
        ax: Axes | None = None,
    ) -> Axes:
        """Draw the probability of winning of each pair, with its interval and the rope.

        Parameters as in `to_frame`.

        Raises
        ------
        MissingExtraError
            Without matplotlib.
        """
        from racer.plots.pairs import intervals, pair_labels  # noqa: PLC0415

        frame = self.to_frame(rope=rope, level=level)
        return intervals(
            frame.set_axis(pair_labels(frame["better"], frame["worse"])),
            reference=0.5,
            rope=rope,
            caption="probability of winning on a data set",
            notes=list(map(shown_probability, frame["probability"])),
            notes_title="P(better)",
            ax=ax,
        )

    def plot_predictive_check(self, *, ax: Axes | None = None) -> Axes:
        """Draw `predictive_check` at the levels 0.1, 0.2, .. 1.

        Raises
        ------
        MissingExtraError
            Without matplotlib.
        """
        from racer.plots import predictive_check  # noqa: PLC0415

        levels = tuple(k / 10 for k in range(1, 11))
        return predictive_check(self.predictive_check(levels), ax=ax)

    def _met(self, draws: int) -> Iterator[_Met]:
        """Yield the pairs that have met, with the first `draws` draws."""
        if self.position is not None:
            raise ScoresError("checks of the fit do not know of the position of votes")
        for first, second in pairs(np.arange(len(self.names))):
            won, lost = self.wins[first, second], self.wins[second, first]
            tied = self.ties[first, second]
            seen = won + lost + tied > 0
            strengths = self.strengths[:draws]
            gap = (strengths[:, first[seen]] - strengths[:, second[seen]]) / 2.0
            log_total = np.abs(gap) + np.log1p(np.exp(-2.0 * np.abs(gap)))
            if self.nu is not None:
                log_total += np.log1p(self.nu[:draws, None] * np.exp(-log_total))
            yield _Met(won[seen], lost[seen], tied[seen], gap, log_total)


def bradley_terry(
    table: WinTable | ArrayLike,
    *,
    ties: TiePolicy = "spread",
    sigma_prior: SigmaPrior = "lognormal",
    sigma_scale: float | None = None,
    draws: int = 4000,
    seed: int = 0,
) -> BradleyTerryResult:
    """Return the posterior of the strengths of K algorithms from a table of pairwise wins.

    wins_ij ~ Binomial(n_ij, 1 / (1 + exp(beta_j - beta_i))), beta ~ Normal(0, sigma), sigma ~
    LogNormal(0, 0.5) (Wainer 2023, eq. 2). The strengths are drawn in the sum-to-zero space, as
    only their differences matter. An algorithm that always wins, or ties everywhere, needs no
    care: the prior keeps the strengths apart or together.

    Parameters
    ----------
    table : WinTable or array_like, shape (n, K)
        From `win_table`, or made of counts; or scores, smaller is better, of which `win_table`
        makes one.
    ties : {"spread", "add", "forget", "davidson"}
        Half a win for either, rounded up; a win for both; for neither; or Davidson's model, in
        which ties have a probability of their own: nu sqrt(pi_i pi_j) to pi_i and pi_j for
        either's win, with counts of a pair multinomial and log nu ~ Normal(0, 2).
    sigma_prior : {"lognormal", "cauchy", "normal"}
        LogNormal(0, scale), or half of a Cauchy or normal law. With "cauchy" and a perfect
        order without any upset, sigma has hardly an upper limit: expect a warning.
    sigma_scale : float > 0, optional
        0.5, 1 and 3 by default.
    draws : int >= 100
    seed : int >= 0
        Same seed, same answer.

    Returns
    -------
    BradleyTerryResult

    Raises
    ------
    ScoresError
        Some algorithms are never compared with others, directly or through third ones.
    SettingError
        ties, sigma_prior, sigma_scale, draws or seed out of range.

    Warns
    -----
    RacerWarning
        The chains have not met.

    References
    ----------
    Wainer: A Bayesian Bradley-Terry model to compare multiple ML algorithms on multiple data
    sets (JMLR 2023), eq. 2 and sections 5 and 6; Davidson (JASA 1970). Wainer's implementation
    of Davidson's model uses other totals, which is why his Tables 10 to 12 find it poor.

    Examples
    --------
    The published win table of five classifiers on 20 data sets (Wainer 2023, Table 3b) gives
    xgb > lda 0.72 and above .50 1.00 (Tables 4 and 6):

    >>> wins = [[0, 7, 2, 2, 6], [14, 0, 7, 6, 5], [19, 14, 0, 11, 11],
    ...         [19, 15, 10, 0, 12], [15, 15, 10, 9, 0]]
    >>> names = ["dt", "lda", "lgbm", "xgb", "svm"]
    >>> from racer.stats import WinTable
    >>> result = bradley_terry(WinTable(wins, names=names))
    >>> result.ranking
    ('xgb', 'lgbm', 'svm', 'lda', 'dt')
    >>> row = result.to_frame().iloc[2]
    >>> row.better, row.worse, round(float(row.estimate), 2), round(float(row.probability), 1)
    ('xgb', 'lda', 0.72, 1.0)
    """
    check_draws(draws)
    table = table if isinstance(table, WinTable) else win_table(table)
    wins, tied = table.counted(ties)
    choice(sigma_prior, "sigma_prior", tuple(SCALES))
    scale = SCALES[sigma_prior] if sigma_scale is None else sigma_scale
    check_positive(scale, "sigma_scale")
    check_connected(table.wins + table.wins.T + table.ties, table.names)
    prior = ScalePrior(sigma_prior, float(scale))
    return _drawn(Likelihood(wins, tied), prior, table.names, wins, tied, draws=draws, seed=seed)


def strengths_of_votes(
    votes: Sequence[tuple[str, str, float, float]], names: tuple[str, ...], *, seed: int
) -> BradleyTerryResult:
    """Return the posterior of Davidson's model of votes: first, second, points (1, .5, 0), weight.

    If a pair was asked in both orders, the first place has a strength of its own.
    """
    place = {name: i for i, name in enumerate(names)}
    counts = np.zeros((3, len(names), len(names)))  # lost, tied, won, by first and second
    for first, second, points, weight in votes:
        counts[int(2 * points), place[first], place[second]] += weight
    (lost, tied, won), asked = counts, counts.sum(axis=0)
    check_connected(asked + asked.T, names)
    likelihood, parts = _of_orders(counts)
    prior = ScalePrior("lognormal", SCALES["lognormal"])
    result = _drawn(likelihood, prior, names, won + lost.T, tied + tied.T, parts=parts, seed=seed)
    as_first, as_second = np.hsplit(result.strengths, 2)
    return replace(
        result,
        strengths=frozen(as_second - as_second.mean(axis=1, keepdims=True)),
        position=frozen(as_first[:, 0] - as_second[:, 0]) if parts.shape[1] > len(names) else None,
    )


def _of_orders(counts: NDArray[np.float64]) -> tuple[Likelihood, NDArray[np.float64]]:
    """Return the likelihood of votes, lost, tied and won (3, K, K), and a basis of its strengths.

    Its 2 K strengths are each algorithm's as the first and as the second; if pairs were asked in
    both orders, the first place may add a bonus, the same for all.
    """
    lost, tied, won = counts
    asked, k = counts.sum(axis=0), len(won)
    zero, parts = np.zeros_like(won), np.tile(np.eye(k), (2, 1))
    if (asked * asked.T).any():
        parts = np.column_stack([parts, np.repeat([1.0, 0.0], k)])
    wins, ties = np.block([[zero, won], [lost.T, zero]]), np.block([[zero, tied], [tied.T, zero]])
    return Likelihood(wins, ties), parts


def rough_strengths(
    counts: NDArray[np.float64], rng: np.random.Generator, draws: int
) -> NDArray[np.float64]:
    """Return normal draws (draws, K) of the strengths in votes (3, K, K), near the mode for sigma 1.

    For the choice of the next pair: the posterior of `strengths_of_votes` takes a second.
    """
    likelihood, parts = _of_orders(counts)
    mode = rough_mode(likelihood, parts)
    precision = parts.T @ likelihood.curvature(parts @ mode) @ parts + np.eye(len(mode))
    noise = rng.standard_normal((draws, len(mode)))
    turned = np.linalg.solve(np.linalg.cholesky(precision).T, noise.T).T
    return np.asarray((mode + turned)[:, : counts.shape[1]])


def _drawn(
    likelihood: Likelihood,
    prior: ScalePrior,
    names: tuple[str, ...],
    wins: NDArray[np.float64],
    ties: NDArray[np.float64],
    *,
    parts: NDArray[np.float64] | None = None,
    draws: int = 4000,
    seed: int,
) -> BradleyTerryResult:
    """Draw from the posterior of strengths."""
    models = [StrengthModel(likelihood, prior, trust, parts) for trust in _TRUST]
    posterior, model = sample(models, draws, check_seed(seed))
    strengths = model.strengths(posterior.draws)
    order = np.argsort(-strengths[:, -len(names) :].mean(axis=0), kind="stable")
    return BradleyTerryResult(
        names=names,
        ranking=tuple(names[i] for i in order),
        strengths=frozen(strengths),
        sigma=frozen(model.sigma(posterior.draws)),
        nu=frozen(model.nu(posterior.draws)[:, 0]) if likelihood.tied else None,
        wins=wins,
        ties=ties,
        posterior=posterior,
        seed=seed,
    )
