"""The sections that every comparison has: what was compared, the ranking, the pairs, the notes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from racer._numerics import as_costs
from racer.comparison.methods.base import many
from racer.comparison.render import picture, prose
from racer.comparison.render.tables import (
    Figure,
    bullets,
    compact,
    escape_markdown,
    figures,
    shown,
)
from racer.comparison.section import Section
from racer.stats import rank_blocks

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from racer.comparison.data import ComparisonData, Named


def sections(comparison: ComparisonData) -> tuple[Section, ...]:
    """Return the sections of a comparison in their order."""
    return (_compared(comparison), _ranking(comparison), _pairs(comparison), _notes(comparison))


def _compared(comparison: ComparisonData) -> Section:
    said = _facts(comparison)
    return Section(
        terminal=[comparison.title, *said],
        markdown=[
            f"**{escape_markdown(comparison.title)}**",
            escape_markdown(f"{'. '.join(said)}."),
        ],
        prose=[prose.compared(comparison), *prose.all_alike(comparison)],
    )


def _ranking(comparison: ComparisonData) -> Section:
    frame, title = comparison.ranking, f"Ranking by {comparison.order}"
    return Section(
        terminal=[f"\n{title}", frame],
        markdown=[frame],
        latex=[(frame, [f"{title}. {comparison.title}", *_facts(comparison)])],
        prose=[prose.ranked(comparison)],
        pictures=picture.of_ranking(comparison),
    )


def _pairs(comparison: ComparisonData) -> Section:
    frame, better = compact(comparison.pairs), f"better: {comparison.meaning}"
    caption = [f"Pairs of algorithms. {comparison.title}; {better}", *comparison.explained]
    return Section(
        terminal=["Pairs", frame, better],
        markdown=[frame],
        latex=[(frame, caption)],
        prose=[prose.leader(comparison), prose.meaning(comparison)],
        pictures=picture.of_pairs(comparison),
    )


def _notes(comparison: ComparisonData) -> Section:
    words = f"Ranking by {comparison.order}; better: {comparison.meaning}."
    return Section(
        terminal=[f"- {note}" for note in comparison.explained],
        markdown=[bullets([words, *comparison.explained])],
        prose=comparison.notes,
    )


def scores(comparison: ComparisonData) -> Section:
    """Make a section of all scores, the best of a data set marked, and the mean ranks."""
    names = comparison.ranking["algorithm"].tolist()
    values = comparison.scores[names].to_numpy()
    costs = as_costs(values, maximize=comparison.maximize)
    complete = ~np.isnan(costs).any(axis=1)
    rows = [_marked(row, cost, values.ravel()) for row, cost in zip(values, costs, strict=True)]
    labels, notes = list(comparison.scores.index), []
    if complete.any():
        ranks = rank_blocks(costs[complete]).mean(axis=0)
        rows.append(_marked(ranks, ranks, ranks))
        labels.append("mean rank")
        if not complete.all():
            notes.append(f"Mean ranks over the {complete.sum()} complete data sets.")
    if comparison.n_folds > 1:
        notes.append("Each score is over its folds.")
    frame = pd.DataFrame(rows, columns=names, dtype=object)
    frame.insert(0, "data set", labels, allow_duplicates=True)
    return _with_marks("Scores", frame, "the best of its row.", *notes)


def _marked(
    row: NDArray[np.float64], costs: NDArray[np.float64], among: NDArray[np.float64]
) -> list[Figure]:
    """Return figures with the best of them marked, with the decimals of those `among` them."""
    best = np.nanmin(costs) if not np.isnan(costs).all() else np.nan
    return [
        Figure(text, bold=bool(cost == best))
        for text, cost in zip(figures(row.tolist(), among.tolist()), costs, strict=True)
    ]


def matrix(comparison: ComparisonData) -> Section:
    """Make a section of what is said of all pairs, as a table of algorithms x algorithms."""
    table = comparison.matrix()
    kind = "p_value" if "p_value" in comparison.pairs else "probability"
    said = comparison.pairs[comparison.pairs["decision"] == "better"]
    better = set(zip(said["better"], said["worse"], strict=True))
    rows = [
        [
            Figure("" if np.isnan(value) else shown(value, kind), bold=(name, other) in better)
            for other, value in row.items()
        ]
        for name, row in table.iterrows()
    ]
    frame = pd.DataFrame(rows, columns=table.columns, dtype=object)
    frame.insert(0, "algorithm", list(table.index), allow_duplicates=True)
    title = {
        "p_value": "Adjusted p-values of the pairs",
        "probability": "Posterior probability that the row is better than the column",
    }[kind]
    return _with_marks(title, frame, "decided; the row is better than the column.")


def _with_marks(title: str, frame: pd.DataFrame, mark: str, *notes: str) -> Section:
    """Make a section that says what its marks mean: stars in the terminal, elsewhere bold."""
    stars = Section.titled(title, frame, notes=[f"*: {mark}", *notes])
    bold = Section.titled(title, frame, notes=[f"In bold: {mark}", *notes])
    return replace(bold, terminal=stars.terminal)


NAMED: dict[Named, Callable[[ComparisonData], Section]] = {"scores": scores, "matrix": matrix}


def _facts(comparison: ComparisonData) -> list[str]:
    """Return what was compared, and what the test of all of them says, if there is one."""
    folds = f" ({comparison.n_folds} folds)" if comparison.n_folds > 1 else ""
    said = [
        f"{many(len(comparison.algorithms), 'algorithm')} on "
        f"{many(len(comparison.data_sets), 'data set')}{folds}; "
        f"{'larger' if comparison.maximize else 'smaller'} is better"
        + (f"; control {comparison.control}" if comparison.control else "")
    ]
    if comparison.omnibus is not None:
        test = comparison.omnibus
        verdict = "rejected" if test.rejected else "not rejected"
        said.append(
            f"The hypothesis that all perform alike is {verdict}: {test.test}, {test.found}, "
            f"{prose.tail(test)}"
        )
    return said
