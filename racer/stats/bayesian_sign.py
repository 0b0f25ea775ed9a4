"""The Bayesian sign test, for two candidates on the same blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from racer._checks import check_epsilon, check_strength
from racer._numerics import shown_probability
from racer.seeding import rng_for
from racer.stats._pair import PosteriorOfPair
from racer.stats.sign import count, probability_better, quantile, three_way

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike


@dataclass(frozen=True)
class BayesianSignResult(PosteriorOfPair):
    """Result of `bayesian_sign_test`.

    Attributes
    ----------
    probability : float
        Posterior probability that x is better than y: P(theta > 1/2), without epsilon.
    worse, indistinguishable, better : float
        Posterior probabilities that x is worse than y (theta <= 1/2 - epsilon), within
        epsilon of it, and better (theta >= 1/2 + epsilon); they sum to 1.
    n_better, n_worse, n_ties, n_dropped : int
        As in `SignResult`.
    epsilon : float
        Half-width of the indistinguishable region.
    lower, upper : float
        The least and the greatest `probability` that any prior of weight `ignorance` gives.
    estimate : float
        Posterior mean of theta.
    strength, ignorance : float
        Prior weights, as given.

    Examples
    --------
    >>> from racer.stats import bayesian_sign_test
    >>> result = bayesian_sign_test([1, 2, 1, 1], [2, 3, 4, 0])
    >>> result.probability, result.lower, result.upper
    (0.875, 0.6875, 0.9375)
    """

    probability: float
    worse: float
    indistinguishable: float
    better: float
    n_better: int
    n_worse: int
    n_ties: int
    n_dropped: int
    epsilon: float
    lower: float
    upper: float
    estimate: float
    strength: float
    ignorance: float

    def _between(self, tail: float) -> tuple[float, float]:
        ties = self.n_ties + self.strength
        low = quantile(self.n_better, self.n_worse, ties, tail)
        return low, 1.0 - quantile(self.n_worse, self.n_better, ties, tail)

    def plot(self, names: tuple[str, str] = ("x", "y"), *, ax: Axes | None = None) -> Axes:
        """Draw 4000 draws of the fractions of blocks lost, tied and won by x.

        Parameters
        ----------
        names : pair of str
            What x and y are called.
        ax : matplotlib Axes, optional

        Raises
        ------
        MissingExtraError
            Without matplotlib.
        """
        from racer.plots import simplex  # noqa: PLC0415

        weights = (self.n_worse, self.n_ties + self.strength, self.n_better)
        gammas = rng_for(0, "simplex").standard_gamma(weights, (4000, 3))
        worse, better = (
            f"{names[1]} better\n{shown_probability(self.worse)}",
            f"{names[0]} better\n{shown_probability(self.better)}",
        )
        within = shown_probability(self.indistinguishable)
        return simplex(
            gammas / gammas.sum(axis=1, keepdims=True),
            [
                worse,
                f"ties (between the lines: indistinguishable {within})",
                better,
            ],
            band=self.epsilon,
            ax=ax,
        )


def bayesian_sign_test(
    x: ArrayLike,
    y: ArrayLike,
    *,
    epsilon: float = 0.05,
    strength: float = 0.0,
    ignorance: float = 1.0,
    maximize: bool = False,
) -> BayesianSignResult:
    """Posterior probability that x is worse than, indistinguishable from, better than y.

    theta = P(x better) + P(tie)/2 under a Dirichlet process whose prior atom is a tie. With n_b
    blocks won and n_w lost, P(theta > 1/2) = P(Beta(n_b, n_w) > 1/2), exactly and for any prior
    strength (Benavoli et al. 2015, Theorem 2, eq. 22). Ties count one half, which leaves that
    probability alone but draws theta towards 1/2, so they make "indistinguishable" likelier.
    Pairs with NaN are deleted (`n_dropped`).

    Parameters
    ----------
    x, y : array_like, shape (n,)
        Scores of two candidates on the same n blocks; smaller is better.
    epsilon : float in [0, 0.5)
        x and y are indistinguishable when 1/2 - epsilon < theta < 1/2 + epsilon.
    strength : float >= 0
        Weight s of the prior's tie in the three-way probabilities. 0 is the paper's choice: the
        same Beta for the region.
    ignorance : float >= 0
        Weight s of a prior of which nothing else is known (IDP): `lower` puts it where x
        loses, P(Beta(n_b, n_w + s) > 1/2), `upper` where it wins, P(Beta(n_b + s, n_w) > 1/2).
        1 halves the range of theta's expectation at the first block.
    maximize : bool
        Larger is better.

    Returns
    -------
    BayesianSignResult
        When all blocks tie, probability 1/2 and indistinguishable 1. Without a won (lost) block
        the probability of being better is its limit 0 (1). `lower` and `upper` are then 0 and 1
        when all blocks tie.

    Raises
    ------
    ScoresError
        Different lengths, no pair without NaN, or values that are not numbers.
    SettingError
        epsilon, strength or ignorance out of range.

    References
    ----------
    Benavoli, Mangili, Corani, Zaffalon: A Bayesian nonparametric procedure for comparing
    algorithms (ICML 2015), sections 5.1, 6, 7 and 7.1; `lower`, `upper` and `prefer` from
    Benavoli et al.: A Bayesian Wilcoxon signed-rank test (ICML 2014), section 3.

    Examples
    --------
    The paper's Table 1: 20 against 10 blocks leave 0.0307, 15 against 15 leave 0.5:

    >>> result = bayesian_sign_test([0] * 20 + [2] * 10, [1] * 30)
    >>> round(1 - result.probability, 4)
    0.0307
    >>> round(result.worse + result.indistinguishable + result.better, 12)
    1.0
    """
    counts = count(x, y, maximize=maximize)
    better, worse = float(counts.better), float(counts.worse)
    ties = counts.ties + check_strength(strength)
    check_strength(ignorance, "ignorance")
    parts = three_way(better, worse, ties, check_epsilon(epsilon))
    return BayesianSignResult(
        probability_better(better, worse),
        *parts,
        *counts,
        float(epsilon),
        lower=probability_better(better, worse + ignorance),
        upper=probability_better(better + ignorance, worse),
        estimate=(better + ties / 2.0) / (better + worse + ties),
        strength=float(strength),
        ignorance=float(ignorance),
    )
