"""What was said of who is the best beside what is true: in bins, in figures of a group, in a picture."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from experiments.report import markdown

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from matplotlib.figure import Figure

    from experiments.reliability.worlds import Floats
    from racer.stats import BestPosterior

__all__ = ["Said", "Summary", "by_world", "draw", "lines", "said", "summary", "table"]

EDGES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
LEAST = 40  # candidates of a point that is drawn, or of a cell of the table
COLUMNS = {
    "tables and races": "tables and races",
    "best-for-budget": "of these, `best-for-budget`",
    "folds": "searches over folds",
    "tunings": "tunings",
}
MARKERS = {
    "tables": "o",
    "bayesian-friedman": "s",
    "f-race": "D",
    "best-for-budget": "^",
    "folds": "v",
    "tunings": "X",
}
MANY = 100  # candidates of a bin that may be a world's worst
SMALLEST = 1e-4  # probability whose logarithm is taken


class Said(NamedTuple):
    """What was said of the k candidates that are compared, and what is true."""

    source: str
    world: str
    candidates: int  # of the table, race or tuning
    probability: Floats  # (k,)
    truth: Floats  # (k,), sums to 1
    claimed: float  # probability of the credible set
    covered: float  # whether it holds the best
    regret: float  # of the best by the posterior
    leader_regret: float  # of the one that the decider puts first


def said(
    source: str,
    world: str,
    quality: Floats,
    found: BestPosterior,
    leader: int | None = None,
    among: Sequence[int] | None = None,
) -> Said:
    """Return what a posterior says of candidates of known quality, and what is true.

    The best is sought `among` these, or all; regret is that of all.
    """
    some = np.arange(len(quality)) if among is None else np.array(among)
    truth = np.zeros(len(quality))
    truth[some] = quality[some] <= quality[some].min() + 1e-12
    truth /= truth.sum()
    gap, credible = quality - quality.min(), list(found.credible_set())
    return Said(
        *(source, world, len(quality), found.probability_best[some], truth[some]),
        claimed=float(found.probability_best[credible].sum()),
        covered=float(truth[credible].sum()),
        regret=float(gap[found.best]),
        leader_regret=math.nan if leader is None else float(gap[leader]),
    )


def table(rows: Sequence[Said]) -> list[tuple[float, float, int]]:
    """Return by bin what was said on average, how often it was true, and of how many."""
    probability = np.concatenate([row.probability for row in rows])
    truth = np.concatenate([row.truth for row in rows])
    bins = np.digitize(probability, EDGES[1:-1])
    return [
        (float(probability[here].mean()), float(truth[here].mean()), int(here.sum()))
        for here in (bins == k for k in range(len(EDGES) - 1))
        if here.any()
    ]


class Summary(NamedTuple):
    """What a group of tables comes to.

    Attributes
    ----------
    tables : int
    claimed : float
        Probability of the credible sets on average: at least .95, and more of few candidates.
    covered : float
        Share of the credible sets that hold the best.
    worst : float
        What is said less what is true, where that is most: of the bins from .05 to .95 with at
        least a hundred candidates.
    regret, regret_se : float
        Of the best, less that of the candidate that the decider puts first; and its standard error.
    races : int
        That have a decider.
    said, true : float
        Largest probability on average, and how often it was of the best.
    log : float
        Mean logarithm of the probability of the best.
    """

    tables: int
    claimed: float
    covered: float
    worst: float
    regret: float
    regret_se: float
    races: int
    said: float = math.nan
    true: float = math.nan
    log: float = math.nan


def summary(rows: Sequence[Said]) -> Summary:
    """Return what a group of tables comes to."""
    gaps = np.array([row.regret - row.leader_regret for row in rows])
    gaps = gaps[~np.isnan(gaps)]
    errors = [
        one - other for one, other, n in table(rows) if n >= MANY and EDGES[1] <= one < EDGES[-2]
    ]
    worst = errors[int(np.abs(errors).argmax())] if errors else math.nan
    logs = [float(row.truth @ np.log(np.maximum(row.probability, SMALLEST))) for row in rows]
    return Summary(
        len(rows),
        round(float(np.mean([row.claimed for row in rows])), 4),
        round(float(np.mean([row.covered for row in rows])), 4),
        round(worst, 4),
        round(float(gaps.mean()), 5) if len(gaps) else math.nan,
        round(float(gaps.std() / math.sqrt(len(gaps))), 5) if len(gaps) else math.nan,
        len(gaps),
        round(float(np.mean([row.probability.max() for row in rows])), 4),
        round(float(np.mean([row.truth[row.probability.argmax()] for row in rows])), 4),
        round(float(np.mean(logs)), 4),
    )


def lines(found: pd.DataFrame) -> list[str]:
    """Return the table of the page: a row for each bin, a column for each group."""
    bins = np.digitize(found["said"], EDGES[1:-1])
    rows = [
        f"| said | {' | '.join(COLUMNS.values())} |",
        "|---" * (len(COLUMNS) + 1) + "|",
    ]
    for k, (low, high) in enumerate(pairwise(EDGES)):
        cells = [f"{low:g} to {high:g}"]
        for group in COLUMNS:
            some = found[(found["group"] == group) & (bins == k) & (found["candidates"] >= LEAST)]
            cells.append("-" if some.empty else "{:.2f} → {:.2f}".format(*some.iloc[0, 1:3]))
        rows.append(f"| {' | '.join(cells)} |")
    return rows


def by_world(found: pd.DataFrame, worlds: Sequence[str]) -> str:
    """Return a table of some groups: of the likeliest, of the best and of credible sets."""
    rows = [
        (
            str(row.group),
            f"{row.said:.2f} → {row.true:.2f}",
            f"{row.log:.2f}",
            f"{row.claimed:.3f} → {row.covered:.3f}",
        )
        for row in found[found["group"].isin(worlds)].itertuples()
    ]
    return markdown(("world", "of the likeliest: said → true", "log", "set: said → true"), rows)


def draw(found: pd.DataFrame) -> Figure:
    """Draw what was said beside what was true, a line for each source."""
    from matplotlib.figure import Figure  # noqa: PLC0415  (an extra)

    figure = Figure(figsize=(5.6, 5.2), layout="constrained")
    ax = figure.add_subplot()
    ax.plot([0, 1], [0, 1], color="grey", linewidth=1, linestyle="--")
    for name, marker in MARKERS.items():
        some = found[(found["group"] == name) & (found["candidates"] >= LEAST)]
        ax.plot(some["said"], some["true"], marker=marker, markersize=4, linewidth=1, label=name)
    ax.set(xlabel="P(best), as said", ylabel="share of candidates that are best", aspect="equal")
    ax.legend(frameon=False)
    return figure
