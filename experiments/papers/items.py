"""Run the call of each item of the papers, and write its result beside the printed figure.

The calls stand in `items.csv`: Python, with `racer`, NumPy as `np`, all of `racer.stats`, and the names
of `names` below.
"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
import scipy.stats

import racer
from experiments.benavoli2014 import losses
from experiments.benavoli2015 import racing, table1
from experiments.papers import studies
from experiments.report import read, table, with_progress, write
from experiments.wainer2023 import ll, published, tables
from racer.comparison import example_scores

if TYPE_CHECKING:
    from experiments.report import Columns, Row

__all__ = ["ITEMS", "judged", "main", "names", "page"]

ITEMS = Path(__file__).with_name("items.csv")
COLUMNS: Columns = {
    "item": "{item}",
    "call": lambda row: f"`{row['call']}`" if row["call"] else "-",
    "printed": "{printed}",
    "found": "{found}",
    "": lambda row: row["status"] + (f": {row['note']}" if row["note"] else ""),
}


def names() -> dict[str, Any]:
    """Return the names that calls use."""
    known = {name: getattr(racer.stats, name) for name in racer.stats.__all__}
    own = {name: getattr(studies, name) for name in studies.__all__}
    scores = example_scores()
    base = {"base": scores, "accuracy": scores.iloc[:, 1:].to_numpy(), "ranks": table1.ranks()}
    modules = {"racer": racer, "np": np, "scipy": scipy.stats, "losses": losses, "ll": ll}
    modules |= {"racing": racing, "published": published, "tables": tables}
    return {**modules, **known, **own, **base}


def judged(row: Row, known: dict[str, Any]) -> dict[str, str]:
    """Return what a call gives, to three digits, and whether it rounds to what the paper prints."""
    if not row["call"]:
        return {"found": "", "status": "not here"}
    found = eval(row["call"], known)  # noqa: S307 (of this repository)
    shown = f"{found:.3g}" if isinstance(found, float | np.floating) else str(found)
    if not (printed := row["printed"]):
        return {"found": shown, "status": "there"}
    holds = shown == printed
    if isinstance(found, int | float | np.number) and not isinstance(found, bool):
        last = Decimal(printed).as_tuple().exponent  # of the last digit that is printed
        holds = abs(Decimal(float(found)) - Decimal(printed)) <= Decimal(f"0.5e{last}")
    return {"found": shown, "status": "holds" if holds else "differs"}


def page(paper: str) -> str:
    """Return the table of a paper's items, as recorded."""
    return table([row for row in read(ITEMS) if row["paper"] == paper], COLUMNS)


@click.command()
def main() -> None:
    """Run the call of each item of the four papers."""
    known = names()
    write(ITEMS, [row | judged(row, known) for row in with_progress(read(ITEMS))])
