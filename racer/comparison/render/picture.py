"""Which picture shows a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from racer.comparison.render.tables import shown
from racer.errors import SettingError
from racer.stats import BayesianSignedRankResult, nemenyi_critical_difference

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from racer.comparison.record import Record

__all__ = ["Kind", "draw"]

Kind = Literal["critical-difference", "pairs", "winning", "posterior"]
_MOST = 30  # pairs in one picture


def draw(comparison: Record, kind: Kind | None, ax: Axes | None) -> Axes:
    """Draw one kind of picture, by default the one that suits the method."""
    pictures = {
        "critical-difference": (_critical_difference, "mean_rank" in comparison.ranking),
        "posterior": (_posterior, isinstance(comparison.details, BayesianSignedRankResult)),
        "winning": (_winning, "expected_rank" in comparison.ranking),
        "pairs": (_pairs, "estimate" in comparison.pairs),
    }
    possible = [name for name, (_, can) in pictures.items() if can]
    chosen = possible[0] if kind is None else kind
    if chosen not in possible:
        known = "no such kind" if chosen not in get_args(Kind) else "not for this comparison"
        raise SettingError(
            f"kind={kind!r}: {known}; method={comparison.method!r} has {', '.join(possible)}"
        )
    return pictures[chosen][0](comparison, ax)


def _critical_difference(comparison: Record, ax: Axes | None) -> Axes:
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


def _posterior(comparison: Record, ax: Axes | None) -> Axes:
    first, second = comparison.algorithms
    if comparison.control == second:
        first, second = second, first
    result: BayesianSignedRankResult = comparison.details
    return result.plot((first, second), ax=ax)


def _winning(comparison: Record, ax: Axes | None) -> Axes:
    return comparison.details.plot(ax=ax)  # type: ignore[no-any-return]


def _pairs(comparison: Record, ax: Axes | None) -> Axes:
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


def _few(comparison: Record) -> tuple[pd.DataFrame, str]:
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
