"""Run the call of each item of the papers, and write what it gives beside what is printed.

Run:  python scripts/study.py papers            # runs all calls, writes items.csv and README.md
      python scripts/study.py papers --check    # compares only

The calls stand in `items.csv`: Python, with `racer`, NumPy as `np`, all of `racer.stats`, and the names
of `names` below.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
import scipy.stats

import racer
from experiments.benavoli2014 import losses
from experiments.benavoli2015 import table1
from experiments.page_tables import MARKED
from experiments.papers import studies
from experiments.report import read, table, with_progress, write
from experiments.wainer2023 import ll, published
from racer.comparison import example_scores

if TYPE_CHECKING:
    from experiments.report import Columns, Row

__all__ = ["ITEMS", "PAGE", "judged", "main", "names"]

ITEMS = Path(__file__).with_name("items.csv")
PAGE = ITEMS.with_name("README.md")
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
    base = {"accuracy": published.accuracy(), "base": example_scores(), "ranks": table1.ranks()}
    modules = {"racer": racer, "np": np, "scipy": scipy.stats, "table1": table1, "losses": losses}
    return {**modules, "ll": ll, "published": published, **known, **own, **base}


def judged(row: Row, known: dict[str, Any]) -> dict[str, str]:
    """Return what a call gives, to three digits, and whether that is printed in the paper."""
    if not row["call"]:
        return {"found": "", "status": "not here"}
    found = eval(row["call"], known)  # noqa: S307 (of this repository)
    shown = f"{found:.3g}" if isinstance(found, float | np.floating) else str(found)
    if not row["printed"]:
        return {"found": shown, "status": "there"}
    numeric = bool(row["within"])
    holds = (
        abs(found - float(row["printed"])) <= float(row["within"])
        if numeric
        else (shown == row["printed"])
    )
    return {"found": shown, "status": "holds" if holds else "differs"}


@click.command()
@click.option("--check", is_flag=True, help="Write nothing; fail if an item would change.")
def main(*, check: bool) -> None:
    """Run the call of each item of the four papers."""
    old = read(ITEMS)
    known = names()
    rows = [row | judged(row, known) for row in with_progress(old)]
    text = PAGE.read_text(encoding="utf-8")

    def of_paper(mark: Any) -> str:
        lines = [row for row in rows if row["paper"] == mark[1]]
        return f"{mark[1]} -->\n\n{table(lines, COLUMNS)}\n"

    filled = MARKED.sub(of_paper, text)
    if check and (rows != old or filled != text):
        raise click.ClickException("items have changed: run python scripts/study.py papers")
    if not check:
        write(ITEMS, rows)
        PAGE.write_text(filled, encoding="utf-8")
