"""Write the tables of the evidence pages and of the papers' items from the recorded CSV files.

Run:  python scripts/study.py tables            # after a study has written its CSV
      python scripts/study.py tables --check    # compares only

A line `<!-- table: NAME -->` in a page precedes a table, which this command replaces.
"""

from __future__ import annotations

import re
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pandas as pd

from experiments.report import markdown, table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["TABLES", "filled", "main", "pages", "part"]

HERE = Path(__file__).parent
ROOT = HERE.parent
MARKED = re.compile(r"(?<=^<!-- table: )(\S+) -->\n\n(?:\|.*\n)*", re.MULTILINE)
PAPERS = ("benavoli2015", "benavoli2014", "wainer2023", "calvo2019")

Rows = list[dict[str, Any]]


def _recorded(name: str) -> Rows:
    """Return the rows of a recorded file, numbers as numbers."""
    rows = pd.read_csv(HERE / name).to_dict("records")
    return [{str(key): value for key, value in row.items()} for row in rows]


def part(table: str, rows: str = "", columns: Mapping[str, str] | None = None) -> str:
    """Return some rows and columns of a Markdown table.

    Parameters
    ----------
    table : str
    rows : str
        Pattern with which a row that stays begins, its cells joined by `; `.
    columns : mapping of str to str, optional
        The head of each column that stays, and the head that it gets; by default all stay.
    """
    head, _, *lines = (
        [cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()
    )
    heads = columns or {name: name for name in head}
    places = [head.index(name) for name in heads]
    kept = [line for line in lines if re.match(rows, "; ".join(line).replace("*", ""))]
    return markdown(tuple(heads.values()), [[line[place] for place in places] for line in kept])


def _caps() -> str:
    from experiments.runtime import caps  # noqa: PLC0415

    return table(_recorded("runtime/caps.csv"), caps.COLUMNS)


def _highs() -> str:
    from experiments.runtime import solvers  # noqa: PLC0415

    return solvers.table(solvers.FILE)


def _searches() -> str:
    from experiments.sklearn_folds import tables  # noqa: PLC0415  (an extra)

    return table(_recorded("sklearn_folds/searches.csv"), tables.COLUMNS)


def _fold_errors() -> str:
    from experiments.sklearn_folds import worlds  # noqa: PLC0415  (an extra)

    columns = {head: head for head in list(worlds.COLUMNS)[1:-1]}
    return part(table(_recorded("sklearn_folds/worlds.csv"), worlds.COLUMNS), "equal", columns)


def _error_rates() -> str:
    from experiments.error_rates import tables  # noqa: PLC0415

    found = tables.summary(_recorded("error_rates/error_rates.csv"))
    columns = {head: head for head in tables.HEAD if "any best" not in head}
    return part(found, "(?!.*(each_test|-sign|mean-rank|bayesian-best))", columns)


def _frontier() -> str:
    from experiments.frontier import tables  # noqa: PLC0415

    return tables.ratios(_recorded("frontier/frontier.csv"))


_NAMES = {
    "model_scores": "28 models",
    "right or wrong, apart": "right or wrong, abilities apart",
}


def _prompts() -> str:
    rows = [*_recorded("items/models.csv"), *_recorded("items/items.csv")]
    found = {(row["table"], row["way"]): row for row in rows}
    head = (
        *("items", 'best lost by `"mean"`', "its calls", "with a margin of 2 %"),
        'calls of `"anytime"` (decided)',
    )
    lines = []
    for name in dict.fromkeys(row["table"] for row in rows):
        mean, some, anytime = (found[name, way] for way in ("mean", "mean, margin 2%", "anytime"))
        shown = _NAMES.get(name, name)
        calls = [f"{100 * row['calls']:.1f} %" for row in (mean, some, anytime)]
        decided = f"{calls[2]} ({100 * anytime['decided']:.0f} %)"
        lines.append((shown, f"{100 * mean['lost']:.0f} %", *calls[:2], decided))
    return markdown(head, lines)


@cache
def _tunings(study: str) -> list[str]:
    """Return the regrets and the verdicts of a file of tunings."""
    from experiments.tuner import tables  # noqa: PLC0415

    return tables.tables(pd.read_csv(HERE / "tuner" / f"{study}.csv")).split("\n\n")


def _samplers() -> str:
    from experiments.tuner import samplers  # noqa: PLC0415  (an extra)

    return samplers.qualities(_recorded("tuner/samplers.csv"))


def _reliability() -> str:
    from experiments.reliability import tables  # noqa: PLC0415

    return tables.lines(pd.read_csv(HERE / "reliability" / "bins.csv"))


def _worlds(kind: str = "") -> str:
    from experiments.reliability import tables  # noqa: PLC0415

    return tables.by_world(pd.read_csv(HERE / "reliability" / "worlds.csv"), kind)


def _items(paper: str) -> str:
    from experiments.papers import items  # noqa: PLC0415

    return items.page(paper)


TABLES: dict[str, Callable[[], str]] = {
    **{name: partial(_items, name) for name in PAPERS},
    "caps-tests": _caps,
    "run-time-best": lambda: _worlds("run times"),
    "highs-15": _highs,
    "sklearn-searches": _searches,
    "fold-errors": _fold_errors,
    "error-rates": _error_rates,
    "frontier": _frontier,
    "prompts": _prompts,
    "reliability": _reliability,
    "reliability-kinds": _worlds,
    "sampler-best": _samplers,
    "failing-worlds": lambda: _tunings("failing")[0],
    "reported-verdicts": lambda: part(_tunings("reported")[1], "algorithms|formulas"),
}


def pages() -> list[Path]:
    """Return the pages with a marked table."""
    found = [*sorted(ROOT.glob("docs/*.md")), *sorted(ROOT.glob("experiments/*/README.md"))]
    return [path for path in found if MARKED.search(path.read_text(encoding="utf-8"))]


def filled(text: str) -> str:
    """Return a page with its marked tables written anew."""
    return MARKED.sub(lambda mark: f"{mark[1]} -->\n\n{TABLES[mark[1]]()}\n", text)


@click.command()
@click.option("--check", is_flag=True, help="Write nothing; fail if a table would change.")
def main(*, check: bool) -> None:
    """Write the tables of the evidence pages from the recorded files."""
    for path in pages():
        text = path.read_text(encoding="utf-8")
        found = filled(text)
        if found == text:
            continue
        if check:
            raise click.ClickException(
                f"{path.name} has other tables than its files make: run python scripts/study.py tables"
            )
        path.write_text(found, encoding="utf-8")
        print(f"{path.name} is written.")
