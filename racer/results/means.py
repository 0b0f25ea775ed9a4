"""The means of a race on bounded scores, with confidence sequences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from racer.deciders.mean import MeanRace
from racer.errors import SettingError
from racer.render.sections import Grid, Section, number
from racer.results.posterior import costs_shown, is_of_population
from racer.stats._bets import mean_limits

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from racer.results.base import Result

    Floats = NDArray[np.float64]

_MOST = 12  # rows of a summary


def has_means(result: Result) -> bool:
    """Return whether means have confidence sequences: of a race, whose candidates begin together."""
    return result._is_race and result.rules.bounds is not None and len(result.known) > 0


def mean_scores(result: Result) -> list[dict[str, Any]]:
    """Return one row per candidate, the best mean first: its mean, and its gap to the best."""
    rules, m = result.rules, len(result.configs)
    if rules.cost_bounds is None:
        raise SettingError(
            'means have confidence sequences where scores have bounds: decider="mean"'
        )
    low, high = rules.cost_bounds
    alpha = 1.0 - _level(result)
    costs = costs_shown(result.known, m, result.stream, rules)
    n_blocks = None if is_of_population(rules) else result.stream.n_blocks
    limits = mean_limits(costs, (low, high), n_blocks=n_blocks, alpha=alpha / m)
    columns = {
        "items": (~np.isnan(costs)).sum(axis=0),
        **_directed(("mean", "low", "high"), _means(costs), limits, maximize=rules.maximize),
    }
    best = result.best_index
    if best is not None and m > 1:
        apart, width = costs - costs[:, [best]], high - low
        limits = mean_limits(
            apart, (-width, width), n_blocks=n_blocks, alpha=2.0 * alpha / (m * (m - 1))
        )
        limits[0][best] = limits[1][best] = 0.0
        names = ("difference", "difference_low", "difference_high")
        columns |= _directed(names, _means(apart), limits, maximize=rules.maximize)
    order = np.argsort(-columns["mean"] if rules.maximize else columns["mean"], kind="stable")
    values = {name: [None if v != v else v for v in c.tolist()] for name, c in columns.items()}  # noqa: PLR0124  (NaN)
    return [
        {"candidate": c, **{name: column[c] for name, column in values.items()}}
        for c in order.tolist()
    ]


def means_frame(result: Result) -> pd.DataFrame:
    """Return the same as a data frame, by candidate."""
    import pandas as pd  # noqa: PLC0415

    return pd.DataFrame(mean_scores(result)).set_index("candidate")


def _level(result: Result) -> float:
    decider = result.rules.decider
    return 1.0 - (decider.alpha if isinstance(decider, MeanRace) else 0.05)


def _means(values: Floats) -> Floats:
    counts = (~np.isnan(values)).sum(axis=0)
    return np.where(counts > 0, np.nansum(values, axis=0) / np.maximum(counts, 1), np.nan)


def _directed(
    names: tuple[str, str, str], means: Floats, limits: tuple[Floats, Floats], *, maximize: bool
) -> dict[str, Floats]:
    """Return a mean and its limits as scores."""
    if maximize:
        means, limits = -means, (-limits[1], -limits[0])
    return dict(zip(names, (means + 0.0, limits[0] + 0.0, limits[1] + 0.0), strict=True))


def means_section(result: Result, most: int | None = _MOST) -> Section:
    """Return the means with their confidence sequences, best first."""
    found, best = mean_scores(result), result.best_index
    shown = found[:most]
    columns: list[tuple[str, Sequence[object]]] = [
        ("candidate", [result._label(row["candidate"]) for row in shown]),
        ("items" if result.stream.groups is None else "groups", [row["items"] for row in shown]),
        ("mean", [number(row["mean"], 3) for row in shown]),
        ("interval", [_span(row, "") for row in shown]),
    ]
    if "difference" in found[0]:
        others = [None if row["candidate"] == best else row for row in shown]
        gaps = ["" if row is None else number(row["difference"], 3) for row in others]
        spans = ["" if row is None else _span(row, "difference_") for row in others]
        columns += [(f"difference to #{best}", gaps), ("interval ", spans)]
    grid = Grid.of_columns(columns, left=["candidate"], n_more=len(found) - len(shown))
    note = f"{100 * _level(result):g} % intervals, valid together and at any time."
    gone = {drop.candidate for drop in result._eliminations}.difference([best])
    left = [row for row in shown if row["candidate"] in gone and "difference" in row]
    if any(row["difference_low"] <= 0.0 <= row["difference_high"] for row in left):
        # the test averages e-values over all opponents; an interval is of one pair
        note += " A candidate leaves by all of its comparisons together: its interval may hold 0."
    if result.instances is not None:
        calls = len(result.configs) * len(result.instances)
        note += f" Every candidate on every instance would have been {calls} evaluations."
    return Section("Mean scores", (grid, note))


def _span(row: dict[str, Any], prefix: str) -> str:
    return f"{number(row[f'{prefix}low'], 3)} .. {number(row[f'{prefix}high'], 3)}"
