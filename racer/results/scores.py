"""The columns of `result.scores`: a new one is a line of `COLUMNS`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd

    from racer.core.blocks import Place
    from racer.core.table import Table
    from racer.evaluate.outcome import Outcome


class Evaluation(NamedTuple):
    """One evaluation: where it took place, of which candidate, and its outcome."""

    block: int
    place: Place
    candidate: int
    outcome: Outcome


class Column(NamedTuple):
    """A column: its name, its type, its meaning, and its value for an evaluation."""

    name: str
    dtype: str
    doc: str
    value: Callable[[Evaluation], Any]


COLUMNS = (
    Column("block", "int64", "the block, from 0", lambda e: e.block),
    Column("instance", "Int64", "its index; missing without instances", lambda e: e.place.instance),
    Column("seed", "int64", "the seed given to `evaluate`", lambda e: e.place.seed),
    Column("candidate", "int64", "its number, from 0", lambda e: e.candidate),
    Column("value", "float64", "value of `evaluate`; NaN: failed", lambda e: e.outcome.value),
    Column("status", "str", "as in `racer.Outcome`", lambda e: e.outcome.status),
    Column("seconds", "float64", "wall time, retries included", lambda e: e.outcome.seconds),
    Column("message", "str", "why it failed", lambda e: e.outcome.message),
)

SPEND = Column("spend", "float64", "price in money; NaN: unknown", lambda e: e.outcome.spend)
"""The last column, where any evaluation has a spend."""


def _metric(name: str) -> Column:
    """Return the column of a metric."""
    doc = "of `evaluate`; NaN: failed"
    return Column(f"metric:{name}", "float64", doc, lambda e: (e.outcome.metrics or {}).get(name))


def scores_frame(
    known: Table,
    place: Callable[[int], Place],
    metrics: Sequence[str] = (),
    *,
    is_paid: bool = False,
) -> pd.DataFrame:
    """Return one row per outcome; `place` returns instance and seed of a block."""
    import pandas as pd  # noqa: PLC0415

    places = {row.block: place(row.block) for row in known.rows}
    found = [Evaluation(b, places[b], candidate, o) for b, candidate, o in known.cells()]
    columns = {
        column.name: pd.Series([column.value(one) for one in found], dtype=column.dtype)
        for column in (*COLUMNS, *map(_metric, metrics), *([SPEND] if is_paid else []))
    }
    return pd.DataFrame(columns)
