"""The tables of a comparison: the ranking, the pairs, and further tables on demand."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from racer._numerics import as_costs, shown_probability
from racer.comparison.columns import is_numeric
from racer.plots.critical_difference import groups
from racer.render.sections import Bold, Grid
from racer.stats import rank_blocks

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from racer.comparison.data import ComparisonData

HEADS = {
    "mean_rank": "mean rank",
    "probability_best": "P(best)",
    "expected_rank": "expected rank",
    "top_1": "P(top 1)",
    "top_2": "P(top 2)",
    "top_3": "P(top 3)",
    "won": "won/lost/tied",
    "effect_size": "effect size",
    "rank_difference": "rank difference",
    "p_value": "p",
    "probability": "P better",
    "probability_worse": "P worse",
    "in_rope": "P in rope",
    "depends_on": "why",
    "joint": "P, this and all above",
    "next": "P next better",
}
_PROBABILITIES = {
    *("probability_best", "p_value", "probability", "probability_worse", "in_rope", "joint"),
    *("next", "lower", "upper", "top_1", "top_2", "top_3"),
}
DECIMALS = "decimals"  # attribute of a frame: the decimals, by column, where they are not three
SCIENTIFIC = -1  # decimals of a column that is shown in powers of ten, as `figures` does
_IN_UNITS = {"mean", "sd"}  # of the scores


def shown(value: Any, column: str, decimals: int = 3) -> str:
    """Return a value as text for a table; no probability is 0 or 1."""
    if isinstance(value, str):
        return value
    if not isinstance(value, float):
        return str(value)
    if math.isnan(value):
        return "-"
    if column in _PROBABILITIES and not (column == "p_value" and value >= 0.0005):
        return shown_probability(value, decimals)
    return f"{value:.3e}" if decimals == SCIENTIFIC else f"{value:.{decimals}f}"


def figures(values: Sequence[float], among: Iterable[float] | None = None) -> list[str]:
    """Return numbers as text, with the decimals that all `among` need, at most four digits."""
    largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0) or 1.0
    most = max(0, 3 - math.floor(math.log10(largest)))
    known = [v for v in (values if among is None else among) if math.isfinite(v)]
    needed = (d for d in range(most) if all(math.isclose(v, round(v, d)) for v in known))
    form = f".{next(needed, most)}f" if 1e-3 <= largest < 1e7 else ".3e"
    return ["-" if math.isnan(value) else f"{value:{form}}" for value in values]


def as_grid(frame: pd.DataFrame) -> Grid:
    """Return a frame as a table; numbers stand on the right."""
    decimals = {"probability_best": 2, **frame.attrs.get(DECIMALS, {})}
    columns = [
        figures(column.tolist())
        if name in _IN_UNITS and is_numeric(column)
        else [shown(value, str(name), decimals.get(name, 3)) for value in column.tolist()]
        for name, column in frame.items()
    ]
    head = tuple(HEADS.get(str(name), str(name)) for name in frame)
    right = tuple(is_numeric(column) for _, column in frame.items())
    return Grid(head, tuple(zip(*columns, strict=True)), right)


def letters(comparison: ComparisonData) -> list[str]:
    """Return letters of the algorithms, ranked; a shared letter means "not separated"."""
    names = comparison.ranking["algorithm"].tolist()
    alike = np.zeros((len(names), len(names)), dtype=bool)
    for row in comparison.pairs[comparison.pairs["decision"] != "better"].itertuples():
        i, j = names.index(row.better), names.index(row.worse)
        alike[i, j] = alike[j, i] = True
    found = groups(np.arange(len(names), dtype=np.float64), alike)
    found += [[one] for one in range(len(names)) if not alike[one].any()]
    columns = [""] * len(names)
    for place, group in enumerate(sorted(found)):
        letter = chr(ord("a") + place % 26) + (str(place // 26) if place >= 26 else "")
        for one in group:
            columns[one] += letter
    return columns


def pairs_grid(pairs: pd.DataFrame) -> Grid:
    """Return the pairs as a table with their counts in one column, their intervals in another."""
    pairs = pairs.copy()
    counts = pairs[["wins", "losses", "ties"]].to_numpy().tolist()
    pairs.insert(list(pairs).index("wins"), "won", ["/".join(map(str, each)) for each in counts])
    if "low" in pairs:
        ends = pairs[["low", "high"]].to_numpy().tolist()
        places = pairs.attrs.get(DECIMALS, {}).get("low", 3)
        texts = [" to ".join(shown(end, "low", places) for end in pair) for pair in ends]
        pairs.insert(list(pairs).index("low"), "interval", texts)
    merged = ["wins", "losses", "ties", "low", "high"]
    if not pairs["depends_on"].any():
        merged.append("depends_on")
    pairs = pairs.drop(columns=[name for name in merged if name in pairs])
    grid, names = as_grid(pairs), list(pairs)
    right = tuple(r or n in {"won", "interval"} for r, n in zip(grid.right, names, strict=True))
    rare = [n for n in ("interval", "effect_size", "estimate", "probability_worse") if n in names]
    return grid._replace(right=right, optional=tuple(HEADS.get(name, name) for name in rare))


def scores_grid(comparison: ComparisonData) -> tuple[Grid, list[str]]:
    """Return all scores, the best of a data set bold, and the mean ranks; and notes on them."""
    names = comparison.ranking["algorithm"].tolist()
    values = comparison.scores[names].to_numpy()
    costs = as_costs(values, maximize=comparison.maximize)
    complete = ~np.isnan(costs).any(axis=1)
    rows = [
        (str(name), *_marked(row, cost, values.ravel()))
        for name, row, cost in zip(comparison.scores.index, values, costs, strict=True)
    ]
    notes = []
    if complete.any():
        ranks = rank_blocks(costs[complete]).mean(axis=0)
        rows.append(("mean rank", *_marked(ranks, ranks, ranks)))
        if not complete.all():
            notes.append(f"Mean ranks over the {complete.sum()} complete data sets.")
    if comparison.n_folds > 1:
        notes.append("Each score is over its folds.")
    return _square("data set", names, rows, "the best of its row."), notes


def _marked(
    row: NDArray[np.float64], costs: NDArray[np.float64], among: NDArray[np.float64]
) -> list[str]:
    """Return figures, the best of them bold, with the decimals that all `among` need."""
    best = np.nanmin(costs) if not np.isnan(costs).all() else np.nan
    texts = figures(row.tolist(), among.tolist())
    return [Bold(t) if cost == best else t for t, cost in zip(texts, costs, strict=True)]


def matrix_grid(comparison: ComparisonData) -> tuple[Grid, str]:
    """Return the matrix of all pairs, algorithms x algorithms, and its title."""
    table = comparison.matrix()
    kind = "p_value" if "p_value" in comparison.pairs else "probability"
    decided = comparison.pairs[comparison.pairs["decision"] == "better"]
    better = set(zip(decided["better"], decided["worse"], strict=True))
    decimals, rows = comparison.pairs.attrs.get(DECIMALS, {}).get(kind, 3), []
    for name, row in table.iterrows():
        texts = ["" if np.isnan(value) else shown(value, kind, decimals) for value in row]
        pairs = zip(texts, table.columns, strict=True)
        rows.append((str(name), *(Bold(t) if (name, o) in better else t for t, o in pairs)))
    title = {
        "p_value": "Adjusted p-values of the pairs",
        "probability": "Posterior probability that the row is better than the column",
    }[kind]
    mark = "decided; the row is better than the column."
    return _square("algorithm", list(table.columns), rows, mark), title


def _square(corner: str, names: list[str], rows: list[tuple[str, ...]], mark: str) -> Grid:
    """Return a table with a column per algorithm."""
    head = (corner, *map(str, names))
    return Grid(head, tuple(rows), (False, *[True] * len(names)), mark=mark)
