"""Tests of independent samples, as methods of `racer.compare`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from racer.comparison.data import OmnibusTest
from racer.comparison.methods.base import (
    Analysis,
    Settings,
    behind,
    compared,
    decide_together,
    half_width,
    rank_frame,
)
from racer.stats import bayesian_kruskal_wallis
from racer.stats.joint import common_joint
from racer.stats.kruskal_wallis import read_samples
from racer.stats.multiplicity import adjust

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from racer.comparison.scores import Scores

_PAIRS = [
    *("better", "worse", "wins", "losses", "ties", "effect_size", "estimate", "low", "high"),
    *("probability", "joint", "in_rope", "decision"),
]


def _samples(scores: Scores) -> list[NDArray[np.float64]]:
    """Return the costs of each algorithm."""
    return [column[~np.isnan(column)] for column in scores.costs.T]


def by_bayesian_kruskal_wallis(scores: Scores, settings: Settings) -> Analysis:
    """Rank by relative effects; accept the statements that hold together."""
    epsilon = half_width(settings)
    names, confidence = scores.algorithms, 1.0 - settings.alpha
    result = bayesian_kruskal_wallis(
        _samples(scores),
        confidence=confidence,
        epsilon=epsilon,
        seed=settings.seed,
        control=settings.control,
    )
    frame = result.to_frame()
    counts = frame[["n_better", "n_worse", "n_ties"]].to_numpy().T
    frame = frame.assign(
        **{side: [names[place] for place in frame[side]] for side in ("better", "worse")},
        **dict(zip(("wins", "losses", "ties"), counts, strict=True)),
        effect_size=(counts[0] - counts[1]) / counts.sum(axis=0),
        joint=common_joint(result.statements, -result.effects),
        decision=decide_together(
            frame["in_rope"].to_numpy(), result.n_accepted, epsilon, confidence
        ),
    )
    notes = []
    if (counts[1] + counts[2] == 0).any():
        notes.append(
            "P(better) is at its limit, 1, where all scores of one are better than all of the "
            "other, however few there are."
        )
    ranking = rank_frame(
        names,
        order=-result.effects,
        relative_effect=result.effects,
        low=result.low,
        high=result.high,
        probability_largest=result.probability_best,
    )
    found = Analysis(
        title="Bayesian Kruskal-Wallis test with joint comparisons",
        ranking=ranking.drop(columns="order"),
        order="relative effect",
        pairs=frame[_PAIRS],
        meaning=(
            "a random score of the one is more often better than worse than one of the other, in "
            f"statements that hold all together with a posterior probability above {confidence:g}"
        ),
        references=("benavoli2015", "brunner2021", "chung2013"),
        notes=notes,
        omnibus=OmnibusTest(
            "studentised permutation test", result.statistic, result.p_value, result.rejected, ()
        ),
        rope=epsilon,
        details=result,
    )
    return behind(found, settings.alpha, is_open=result.rejected)


def by_kruskal_wallis(scores: Scores, settings: Settings) -> Analysis:
    """Test whether all laws are the same, then compare pairs by Brunner and Munzel's test."""
    from scipy.stats import rankdata  # noqa: PLC0415

    names, k = scores.algorithms, len(scores.algorithms)
    ranks = np.full(scores.costs.shape, np.nan)
    ranks[scores.known] = rankdata(scores.costs[scores.known])
    samples = [column[~np.isnan(column)] for column in ranks.T]
    means = np.array([sample.mean() for sample in samples])
    statistic, p_value = _kruskal(samples)
    i, j = np.array(compared(k, settings.control)).T
    all_p_values, won = brunner_munzel(samples)
    p_values = adjust(all_p_values[i, j], "holm")
    rejected = p_value <= settings.alpha
    open_gate = rejected or k == 2  # the only pair's test needs no other before it
    leads = (won[i, j] > won[j, i]) | ((won[i, j] == won[j, i]) & (means[i] <= means[j]))
    better, worse = np.where(leads, i, j), np.where(leads, j, i)
    sizes = np.array([len(sample) for sample in samples])
    wins, losses, met = won[better, worse], won[worse, better], sizes[i] * sizes[j]
    rows = {
        "better": np.array(names, dtype=object)[better],
        "worse": np.array(names, dtype=object)[worse],
        "wins": wins,
        "losses": losses,
        "ties": met - wins - losses,
        "effect_size": (wins - losses) / met,
        "p_value": p_values,
        "decision": np.where(p_values <= settings.alpha, "better", "undecided"),
    }
    found = Analysis(
        title="Kruskal-Wallis test, then Brunner and Munzel's test, Holm's correction",
        ranking=rank_frame(names, mean_rank=means),
        order="mean rank",
        pairs=pd.DataFrame(rows).sort_values("p_value", kind="stable", ignore_index=True),
        meaning=f"an adjusted p-value of at most {settings.alpha:g}",
        references=("kruskal1952", "brunner2000", "holm1979"),
        omnibus=OmnibusTest("Kruskal-Wallis", statistic, p_value, rejected, (k - 1,)),
    )
    return behind(found, settings.alpha, is_open=open_gate)


def _kruskal(samples: list[NDArray[np.float64]]) -> tuple[float, float]:
    """Return Kruskal and Wallis's H and its p-value; 0 and 1 where all scores tie."""
    from scipy.stats import kruskal  # noqa: PLC0415

    if np.ptp(np.concatenate(samples)) == 0.0:
        return 0.0, 1.0
    found = kruskal(*samples)
    return float(found.statistic), float(found.pvalue)


def brunner_munzel(
    samples: Sequence[NDArray[np.float64]],
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return p-values of Brunner and Munzel's test by Student's t, and wins, both (k, k).

    Samples have at least two scores. Wins are the pairs of scores of which the first sample's is
    smaller. A p-value is at least the chance that one sample lies on one side of the other, if they
    have the same law: where it does, the statistic has no variance.
    """
    from scipy.special import betaln, stdtr  # noqa: PLC0415

    owner, below, upto, n, _ = read_samples(samples, maximize=False)
    k = len(n)
    won, mean, variance = np.zeros((k, k), dtype=np.int64), np.zeros((k, k)), np.zeros((k, k))
    for j in range(k):  # where the scores of all are placed among its own
        count = np.append(0, (owner == j).cumsum())
        won[j] = np.bincount(owner, count[below])
        placed = 0.5 * (count[below] + count[upto])
        mean[:, j] = np.bincount(owner, placed) / n
        variance[:, j] = np.bincount(owner, (placed - mean[owner, j]) ** 2) / (n - 1)
    weighted = n[:, None] * variance
    met, total, both = np.multiply.outer(n, n), np.add.outer(n, n), weighted + weighted.T
    with np.errstate(invalid="ignore", divide="ignore"):
        apart = np.abs(mean - mean.T + 0.5 * np.subtract.outer(n, n))  # of the mean ranks
        statistic = met * apart / (total * np.sqrt(both))
        share = weighted**2 / (n[:, None] - 1)
        p_values = 2.0 * stdtr(both**2 / (share + share.T), -statistic)
    least = np.minimum(1.0, 2.0 * (total + 1) * np.exp(betaln(n[:, None] + 1, n + 1)))
    p_values = np.where(np.maximum(won, won.T) == met, least, np.fmax(p_values, least))
    return np.where(won + won.T == 0, 1.0, p_values), won
