"""The Bayesian Plackett-Luce model: how probably each algorithm comes first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from racer._checks import check_draws, check_fraction, check_strength, choice, flag, whole
from racer._numerics import TIE, as_costs, shown_probability
from racer.errors import ScoresError, SettingError
from racer.seeding import check_seed, rng_for
from racer.stats._likelihoods import ChoiceModel, gather, median_of_runs, pooled, rank_costs
from racer.stats._sampling import Posterior, sample
from racer.stats._sampling.summary import pair_frame
from racer.stats._validation import check_connected, frozen
from racer.stats.wins import as_runs, check_names

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

TieRule = Literal["efron", "random"]
Runs = Literal["pooled", "median"]
_NEW = 4  # new rankings per draw


@dataclass(frozen=True, eq=False)
class PlackettLuceResult:
    """Result of `plackett_luce`.

    Attributes
    ----------
    names : tuple of str
        The algorithms, as in the columns of the draws.
    ranking : tuple of str
        The same, from the most probable winner on.
    weights : ndarray, shape (draws, K)
        Posterior draws of w: each algorithm's probability of coming first; rows sum to 1.
    prior : ndarray, shape (K,)
        The alpha of the Dirichlet prior.
    n_rankings, n_absent, n_failed : int
        Informative rankings, and results that were absent (NaN) or failed in all.
    ties : {"efron", "random"}
        Treatment of ties.
    runs : {"pooled", "median"}
    posterior : Posterior
        How it was drawn: `method`, `ess`, `r_hat`, `divergences`, `converged`.
    seed : int

    Examples
    --------
    >>> from racer.stats import plackett_luce
    >>> scores = [[1, 2, 3], [1, 3, 2], [2, 1, 3], [1, 2, 3], [1, 3, 2], [1, 2, 3], [1, 2, 3]]
    >>> result = plackett_luce(scores)
    >>> result.ranking
    ('0', '1', '2')
    >>> int(result.probability_largest().argmax())
    0
    """

    names: tuple[str, ...]
    ranking: tuple[str, ...]
    weights: NDArray[np.float64] = field(repr=False)
    prior: NDArray[np.float64] = field(repr=False)
    n_rankings: int
    n_absent: int
    n_failed: int
    ties: TieRule
    runs: Runs
    posterior: Posterior
    seed: int

    def expected_ranks(self) -> NDArray[np.float64]:
        """Return the expected rank of each, 1 to K: 1 + sum_j w_j / (w_i + w_j), shape (K,)."""
        k = len(self.names)
        beaten = np.zeros(k)
        for i in range(k):
            beats = self.weights / np.maximum(self.weights + self.weights[:, i, None], 1e-300)
            beaten[i] = beats.mean(axis=0).sum() - 0.5
        return 1.0 + beaten

    def rank_probabilities(self) -> NDArray[np.float64]:
        """Return how probably each has each rank in a new ranking, shape (K, K).

        Row i: the probabilities that i is first, second, .. last, from four new rankings per
        draw.
        """
        k = len(self.names)
        rng, counts = rng_for(self.seed, "rankings"), np.zeros((k, k))
        for _ in range(_NEW):
            arrivals = rng.standard_exponential(self.weights.shape)
            arrivals /= np.maximum(self.weights, 1e-300)
            order = np.argsort(arrivals, axis=1)
            for rank in range(k):
                counts[:, rank] += np.bincount(order[:, rank], minlength=k)
        return counts / (_NEW * len(self.weights))

    def probability_largest(self) -> NDArray[np.float64]:
        """Return how probably each has the largest weight of all, shape (K,)."""
        first = np.argmax(self.weights, axis=1)
        return np.bincount(first, minlength=len(self.names)) / len(self.weights)

    def as_prior(self) -> NDArray[np.float64]:
        """Return the alpha, shape (K,), of a Dirichlet law with these means and total variance.

        For the `prior` of a later analysis. Multiply by less than 1 to trust it less.
        """
        mean = self.weights.mean(axis=0)
        spread = float(self.weights.var(axis=0, ddof=1).sum())
        total = float((mean * (1.0 - mean)).sum()) / spread - 1.0
        return np.asarray(mean * max(total, 1e-3))

    def to_frame(self, *, level: float = 0.9, top: int = 3) -> pd.DataFrame:
        """Return one row per algorithm, the most probable winner first.

        Parameters
        ----------
        level : float in (0, 1)
            Of the central credible interval.
        top : int >= 1
            For the last column.

        Returns
        -------
        DataFrame
            algorithm; of its probability of winning: estimate (mean), low, high; probability
            that it is the best, that is, has the largest of these; expected_rank; top, the
            probability that a new ranking has it among the first `top`.
        """
        import pandas as pd  # noqa: PLC0415

        tail = (1.0 - check_fraction(level, "level")) / 2.0
        whole(top, "top", least=1)
        low, high = np.quantile(self.weights, [tail, 1.0 - tail], axis=0)
        frame = pd.DataFrame(
            {
                "algorithm": self.names,
                "estimate": self.weights.mean(axis=0),
                "low": low,
                "high": high,
                "probability": self.probability_largest(),
                "expected_rank": self.expected_ranks(),
                f"top_{top}": self.rank_probabilities()[:, :top].sum(axis=1),
            }
        )
        order = [self.names.index(name) for name in self.ranking]
        return frame.iloc[order].reset_index(drop=True)

    def pairs(
        self, *, rope: tuple[float, float] = (0.45, 0.55), level: float = 0.89
    ) -> pd.DataFrame:
        """Return one row per pair, as `BradleyTerryResult.to_frame`, of p = w_i / (w_i + w_j)."""
        strengths = np.log(np.maximum(self.weights, 1e-300))
        return pair_frame(self.names, self.ranking, strengths, rope, level)

    def plot(self, *, level: float = 0.9, ax: Axes | None = None) -> Axes:
        """Draw the probability of winning of each, with its central credible interval.

        Raises
        ------
        MissingExtraError
            Without matplotlib.
        """
        from racer.plots import intervals  # noqa: PLC0415
        from racer.plots._canvas import shortened_apart  # noqa: PLC0415

        frame = self.to_frame(level=level)
        return intervals(
            frame.set_axis(shortened_apart(self.ranking)),
            reference=1.0 / len(self.names),
            caption="probability of winning (line: all alike)",
            notes=list(map(shown_probability, frame["probability"])),
            notes_title="P(largest)",
            ax=ax,
        )


def _alpha(prior: ArrayLike, k: int) -> NDArray[np.float64]:
    alpha = np.asarray(prior)
    if alpha.dtype.kind not in "iuf" or alpha.shape not in ((), (k,)):
        raise SettingError(f"prior={prior!r}: give a number > 0, or one for each of {k} algorithms")
    alpha = np.broadcast_to(alpha, (k,)).astype(np.float64)
    if not ((alpha > 0.0) & (alpha < np.inf)).all():
        raise SettingError(f"prior={prior!r}: all must be finite and > 0")
    return alpha


def plackett_luce(
    scores: ArrayLike,
    *,
    names: Iterable[object] | None = None,
    prior: ArrayLike = 1.0,
    ties: TieRule = "efron",
    runs: Runs = "pooled",
    tolerance: float = TIE,
    draws: int = 4000,
    seed: int = 0,
    maximize: bool = False,
) -> PlackettLuceResult:
    """Return the posterior probability of each of K algorithms of coming first, from rankings.

    P(ranking) = prod_i w_i / (sum of the w at risk at place i), w ~ Dirichlet(prior) (Calvo et
    al. 2019, eq. 2 and 3). The weights reflect the whole order, not only the winner.

    Parameters
    ----------
    scores : array_like, shape (n, K) or (n, r, K)
        Smaller is better; each row is ranked. NaN: absent, as if the algorithm had not existed
        there. Infinite cost (with `maximize`, -inf): failed, such as a target not reached; all
        failed algorithms come after all others, in no order among themselves. In the second form
        there are r runs of each of n instances.
    names : iterable, optional
        One per algorithm, such as ``frame.columns``; "0", "1", .. by default.
    prior : float or array_like, shape (K,)
        alpha > 0. `PlackettLuceResult.as_prior` of an earlier analysis makes one.
    ties : {"efron", "random"}
        Efron's rule: of g that tie, the second, third, .. is chosen from all at risk less 1/g,
        2/g, .. of the tied. Or ties are broken at random, with the seed.
    runs : {"pooled", "median"}
        Rank every run, which is about random runs on random instances; or rank the medians of
        the runs on each instance (section 4.1).
    tolerance : float >= 0
        Neighbours in a row tie when they differ by at most this times the larger of their
        sizes.
    draws : int >= 100
    seed : int >= 0
        Same seed, same answer.
    maximize : bool
        Larger is better.

    Returns
    -------
    PlackettLuceResult
        When all tie everywhere, the prior with 1/K for each as mean if it was one number.

    Raises
    ------
    ScoresError
        Fewer than two algorithms, names that repeat, values that are not numbers, or, with one
        number as prior, algorithms never compared with others, directly or through third ones.
    SettingError
        prior, ties, runs, tolerance, draws or seed out of range.

    Warns
    -----
    RacerWarning
        The chains have not met.

    References
    ----------
    Calvo, Shir, Ceberio, Doerr, Wang, Back, Lozano: Bayesian performance analysis for black-box
    optimization benchmarking (GECCO 2019), section 2.1; Efron (JASA 1977) for ties.

    Examples
    --------
    With two algorithms the posterior is a Beta: 6 wins and 2 losses after a uniform prior give
    a probability of winning of 7/10.

    >>> result = plackett_luce([[1, 2]] * 6 + [[2, 1]] * 2, names=["new", "old"], draws=20_000)
    >>> result.ranking, round(float(result.weights[:, 0].mean()), 2)
    (('new', 'old'), 0.7)
    """
    check_draws(draws)
    seed = check_seed(seed)
    choice(ties, "ties", ("efron", "random"))
    choice(runs, "runs", ("pooled", "median"))
    check_strength(tolerance, "tolerance")
    table = as_runs(scores)
    k = table.shape[2]
    known_as = check_names(names, k)
    if k < 2:
        raise ScoresError(f"{k} algorithm(s): give at least 2 to compare")
    table = as_costs(table, maximize=flag(maximize, "maximize"))
    costs = (median_of_runs(table) if runs == "median" else table).reshape(-1, k)
    alpha = _alpha(prior, k)
    if np.ndim(prior) == 0:
        present = (~np.isnan(costs)).astype(np.float64)
        met = present.T @ present
        np.fill_diagonal(met, 0.0)
        check_connected(met, known_as)
    if ties == "random":
        rng = rng_for(seed, "ties")
        choices = gather((rank_costs(row, float(tolerance), rng) for row in costs), k)
    else:
        rows, times = pooled(costs, float(tolerance))
        choices = gather((rank_costs(row, 0.0, None) for row in rows), k, times.tolist())
    posterior, model = sample([ChoiceModel(choices, alpha)], draws, seed)
    weights = np.exp(model.log_weights(posterior.draws))
    weights /= weights.sum(axis=1, keepdims=True)
    order = np.argsort(-weights.mean(axis=0), kind="stable")
    return PlackettLuceResult(
        names=known_as,
        ranking=tuple(known_as[i] for i in order),
        weights=frozen(weights),
        prior=frozen(alpha),
        n_rankings=int(((costs < np.inf).any(axis=1) & ((~np.isnan(costs)).sum(axis=1) > 1)).sum()),
        n_absent=int(np.isnan(costs).sum()),
        n_failed=int(np.isposinf(costs).sum()),
        ties=ties,
        runs=runs,
        posterior=posterior,
        seed=seed,
    )


def plackett_luce_by_budget(
    scores: Mapping[float, ArrayLike], *, level: float = 0.9, **settings: Any
) -> pd.DataFrame:
    """Return how the probability of winning changes with the budget (Calvo et al., Figure 5).

    Parameters
    ----------
    scores : mapping of budget to array_like
        For each budget the scores reached with it, as for `plackett_luce`.
    level : float in (0, 1)
        Of the central credible interval.
    **settings
        As for `plackett_luce`.

    Returns
    -------
    DataFrame
        For each budget and algorithm: budget, and the columns of `PlackettLuceResult.to_frame`.
        `racer.plots.evolution` draws it.

    Raises
    ------
    ScoresError
        No budget, or an input that `plackett_luce` refuses.

    References
    ----------
    Calvo et al. (GECCO 2019), Figure 5.

    Examples
    --------
    >>> costs = {100: [[3, 2]] * 5, 1000: [[1, 2]] * 5}
    >>> frame = plackett_luce_by_budget(costs, names=["patient", "hasty"])
    >>> frame[["budget", "algorithm"]].values.tolist()
    [[100, 'hasty'], [100, 'patient'], [1000, 'patient'], [1000, 'hasty']]
    """
    import pandas as pd  # noqa: PLC0415

    given: object = scores
    if not isinstance(given, Mapping) or not given:
        raise ScoresError("no budgets: give a mapping with at least one, from budgets to scores")
    parts = [
        plackett_luce(table, **settings).to_frame(level=level).assign(budget=budget)
        for budget, table in scores.items()
    ]
    frame = pd.concat(parts, ignore_index=True)
    return frame[["budget", *(column for column in frame if column != "budget")]]
