"""The pictures of a comparison's ranking and of its pairs."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from racer._checks import is_one_of
from racer.comparison.render.tables import DECIMALS, shown
from racer.errors import SettingError
from racer.plots._canvas import canvas, shortened, shortened_apart
from racer.stats import (
    BayesianSignedRankResult,
    bayesian_signed_rank_test,
    nemenyi_critical_difference,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from matplotlib.axes import Axes

    from racer.comparison.data import ComparisonData
    from racer.comparison.render.forms import Draw

_SIDE = 20  # letters of a name beside another


def pictures(comparison: ComparisonData) -> dict[str, Draw]:
    """Return the pictures of a comparison by name, the method's own first."""
    found: dict[str, Draw] = {}
    if "mean_rank" in comparison.ranking:
        found["critical-difference"] = partial(_critical_difference, comparison)
    if "expected_rank" in comparison.ranking:
        found["winning"] = lambda ax: comparison.details.plot(ax=ax)
    if isinstance(comparison.details, BayesianSignedRankResult):
        found["posterior"] = partial(_posterior, comparison)
    if "estimate" in comparison.pairs:
        found["pairs"] = partial(_pairs, comparison)
    return {**found, "matrix": partial(_matrix, comparison)}


def together(draw: Sequence[Draw]) -> list[Axes]:
    """Draw pictures one below the other in one figure, each of the height that it has alone."""
    alone: list[Any] = [one(None).figure for one in draw]
    sizes = np.array([figure.get_size_inches() for figure in alone])
    figure = canvas(sizes[:, 0].max(), sizes[:, 1].sum())
    grid = figure.add_gridspec(len(draw), height_ratios=sizes[:, 1].tolist())
    return [one(figure.add_subplot(grid[place])) for place, one in enumerate(draw)]


def posterior_of(comparison: ComparisonData, pair: tuple[str, str], ax: Axes | None) -> Axes:
    """Draw the posterior of two algorithms, by the Bayesian signed-rank test."""
    known = list(comparison.scores.columns)
    given: Any = pair
    are_known = isinstance(given, list | tuple) and all(is_one_of(name, known) for name in given)
    if not are_known or len(given) != 2 or given[0] == given[1]:
        names = ", ".join(map(str, known))
        raise SettingError(f"pair={pair!r}: give the names of two algorithms, of {names}")
    both = comparison.scores[list(pair)].dropna()
    result = bayesian_signed_rank_test(
        both[pair[0]],
        both[pair[1]],
        rope=comparison.rope if comparison.method == "signed-rank" and comparison.rope else 0.0,
        maximize=comparison.maximize,
        seed=comparison.seed,
    )
    one, other = shortened_apart(pair, _SIDE)
    return result.plot((one, other), ax=ax)


def _matrix(comparison: ComparisonData, ax: Axes | None) -> Axes:
    from racer.plots import matrix  # noqa: PLC0415

    table = comparison.matrix()
    is_p = "p_value" in comparison.pairs
    kind = "p_value" if is_p else "probability"
    places = comparison.pairs.attrs.get(DECIMALS, {}).get(kind, 3)
    words = [
        ["" if np.isnan(v) else shown(v, kind, places) for v in row] for row in table.to_numpy()
    ]
    caption = "adjusted p-value" if is_p else "P(row better than column)"
    names = list(map(str, table.index))
    return matrix(table.to_numpy(), names, words, caption=caption, symmetric=not is_p, ax=ax)


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
        what = "bar: not separated" if group else "all separated"
        caption += f"\n({what}\nfrom {shortened(comparison.control)})"
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
    one, other = shortened_apart((first, second), _SIDE)
    return result.plot((one, other), ax=ax)


def _pairs(comparison: ComparisonData, ax: Axes | None) -> Axes:
    from racer.plots.pairs import intervals, pair_labels  # noqa: PLC0415

    frame, caption = _few(comparison)
    probabilistic = comparison.method != "signed-rank"
    middle = 0.0 if comparison.method == "hierarchical" else 0.5
    rope = comparison.rope if probabilistic else None
    places = comparison.pairs.attrs.get(DECIMALS, {}).get("probability", 3)
    return intervals(
        frame.set_axis(pair_labels(frame["better"], frame["worse"])),
        decisions=frame["decision"].tolist(),
        reference=middle,
        rope=None if rope is None else (middle - rope, middle + rope),
        caption=caption,
        notes=[shown(p, "probability", places) for p in frame["probability"]],
        notes_title="P(better)",
        ax=ax,
    )


def _few(comparison: ComparisonData) -> tuple[pd.DataFrame, str]:
    """Return the pairs to draw, and a caption."""
    frame = comparison.pairs
    caption = {
        "signed-rank": "theta",
        "hierarchical": "mean difference, positive if better",
        "bayesian-friedman": "probability of being better, ties half",
        "plackett-luce": "probability of coming before the other",
    }.get(comparison.method, "probability of winning on a data set")
    if len(frame) > 30 and comparison.control is None:
        first = comparison.ranking["algorithm"].iloc[0]
        frame = frame[(frame["better"] == first) | (frame["worse"] == first)]
        caption += f"\n(pairs with {shortened(first)} only)"
    return frame, caption
