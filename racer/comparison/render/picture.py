"""The pictures of a comparison's ranking and of its pairs."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from racer.comparison.render.tables import shown
from racer.stats import BayesianSignedRankResult, nemenyi_critical_difference

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from racer.comparison.data import ComparisonData
    from racer.comparison.section import Draw

_MOST = 30  # pairs in one picture


def of_ranking(comparison: ComparisonData) -> dict[str, Draw]:
    """Return what can be drawn of the ranking, by name."""
    pictures: dict[str, Draw] = {}
    if "mean_rank" in comparison.ranking:
        pictures["critical-difference"] = partial(_critical_difference, comparison)
    if "expected_rank" in comparison.ranking:
        pictures["winning"] = partial(_winning, comparison)
    return pictures


def of_pairs(comparison: ComparisonData) -> dict[str, Draw]:
    """Return what can be drawn of the pairs, by name."""
    pictures: dict[str, Draw] = {}
    if isinstance(comparison.details, BayesianSignedRankResult):
        pictures["posterior"] = partial(_posterior, comparison)
    if "estimate" in comparison.pairs:
        pictures["pairs"] = partial(_pairs, comparison)
    return pictures


def _critical_difference(comparison: ComparisonData, ax: Axes | None) -> Axes:
    from racer.plots import critical_difference  # noqa: PLC0415

    ranking = comparison.ranking
    names = ranking["algorithm"].tolist()
    alike = np.zeros((len(names), len(names)), dtype=bool)
    open_pairs = comparison.pairs[comparison.pairs["decision"] != "better"]
    for row in open_pairs.itertuples():
        i, j = names.index(row.better), names.index(row.worse)
        alike[i, j] = alike[j, i] = True
    caption = comparison.order.removeprefix("posterior ")
    if comparison.control is not None:  # one bar, over all not told apart from the control
        group = [names.index(n) for n in {*open_pairs["better"], *open_pairs["worse"]}]
        alike[np.ix_(group, group)] = True
        caption += f"\n(bar: not told apart\nfrom {comparison.control})"
    distance = None
    if comparison.posthoc == "nemenyi":
        distance = nemenyi_critical_difference(
            len(names), comparison.details.n_blocks, alpha=comparison.alpha
        )
    ranks = ranking["mean_rank"].to_numpy()
    return critical_difference(names, ranks, alike, distance=distance, caption=caption, ax=ax)


def _posterior(comparison: ComparisonData, ax: Axes | None) -> Axes:
    first, second = comparison.algorithms
    if comparison.control == second:
        first, second = second, first
    result: BayesianSignedRankResult = comparison.details
    return result.plot((first, second), ax=ax)


def _winning(comparison: ComparisonData, ax: Axes | None) -> Axes:
    return comparison.details.plot(ax=ax)  # type: ignore[no-any-return]


def _pairs(comparison: ComparisonData, ax: Axes | None) -> Axes:
    from racer.plots import intervals  # noqa: PLC0415

    frame, caption = _few(comparison)
    probabilistic = comparison.method in ("bradley-terry", "plackett-luce", "bayesian-friedman")
    rope = comparison.rope if probabilistic else None
    return intervals(
        [f"{row.better} > {row.worse}" for row in frame.itertuples()],
        *(frame[name].to_numpy() for name in ("estimate", "low", "high")),
        decisions=frame["decision"].tolist(),
        reference=0.5,
        rope=None if rope is None else (0.5 - rope, 0.5 + rope),
        caption=caption,
        notes=[shown(p, "probability") for p in frame["probability"]],
        notes_title="P(better)",
        ax=ax,
    )


def _few(comparison: ComparisonData) -> tuple[pd.DataFrame, str]:
    """Return the pairs to draw, and a caption that says so."""
    frame = comparison.pairs
    caption = {
        "signed-rank": "theta",
        "bayesian-friedman": "probability of being better, ties half",
        "plackett-luce": "probability of coming before the other",
    }.get(comparison.method, "probability of winning on a data set")
    if len(frame) > _MOST and comparison.control is None:
        first = comparison.ranking["algorithm"].iloc[0]
        frame = frame[(frame["better"] == first) | (frame["worse"] == first)]
        caption += f" (pairs with {first} only)"
    return frame, caption
