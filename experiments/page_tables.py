"""Write the tables of the evidence pages from the recorded CSV files.

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

from experiments.report import markdown, read

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["TABLES", "filled", "main", "pages"]

HERE = Path(__file__).parent
ROOT = HERE.parent
MARKED = re.compile(r"(?<=^<!-- table: )(\S+) -->\n\n(?:\|.*\n)*", re.MULTILINE)

Rows = list[dict[str, Any]]


def _recorded(name: str) -> Rows:
    """Return the rows of a recorded file, numbers as numbers."""
    rows = pd.read_csv(HERE / name).to_dict("records")
    return [{str(key): value for key, value in row.items()} for row in rows]


def _caps(part: int) -> str:
    from experiments.runtime import caps  # noqa: PLC0415

    rows = [{k: v for k, v in row.items() if v} for row in read(HERE / "runtime" / "caps.csv")]
    return caps.tables(rows).split("\n\n")[part]


def _run_time_best() -> str:
    from experiments.runtime import best  # noqa: PLC0415

    return best.table(read(best.FILE))


def _solvers(solver: str, budget: float) -> str:
    from experiments.runtime import solvers  # noqa: PLC0415

    return solvers.table(solvers.FILE, solver, budget)


def _importance() -> str:
    from experiments.importance import known_truth  # noqa: PLC0415

    return known_truth.table()


def _searches() -> str:
    from experiments.sklearn_folds import tables  # noqa: PLC0415  (an extra)

    return tables.table(_recorded("sklearn_folds/searches.csv"))


def _fold_errors() -> str:
    from experiments.sklearn_folds import worlds  # noqa: PLC0415

    return worlds.table(_recorded("sklearn_folds/worlds.csv"))


def _error_rates() -> str:
    from experiments.error_rates import rates, tables  # noqa: PLC0415

    found = [rates.Rates.of(row) for row in _recorded("error_rates/error_rates.csv")]
    return tables.summary(found)


def _frontier() -> str:
    from experiments.frontier import runs, tables  # noqa: PLC0415

    names = runs.Point.__dataclass_fields__
    rows = _recorded("frontier/frontier.csv")
    return tables.ratios([runs.Point(**{name: row[name] for name in names}) for row in rows])


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


def _bundles() -> str:
    head = ("changed", "bundles", "with the hash", "without", "without, `--again 20`")
    rows = _recorded("bundles/tampering.csv")
    return markdown(head, [[str(value) for value in row.values()] for row in rows])


def _portfolios() -> str:
    head = ("family", "regret of one", "of the best of three", "ratio", "seeds with .6 or less")
    rows = pd.read_csv(HERE / "portfolios" / "families.csv")
    lines = []
    for name, of in rows.groupby("family", sort=False):
        one, best = of["single_best"].mean(), of["portfolio"].mean()
        few = int((of["ratio"] <= 0.6).sum())
        lines.append((str(name), f"{one:.3f}", f"{best:.3f}", f"{best / one:.3f}", str(few)))
    return markdown(head, lines)


def _hierarchical() -> str:
    head = ("two algorithms", "claims / signed-rank", "covered: mean / single", "error / of means")
    lines = []
    for row in _recorded("hierarchical/hierarchical.csv"):
        name, *figures = row.values()
        claims, covered = (
            f"{100 * one:.0f} / {100 * other:.0f} %" for one, other in (figures[:2], figures[2:4])
        )
        lines.append((str(name), claims, covered, f"{figures[4]:.2f} / {figures[5]:.2f}"))
    return markdown(head, lines)


def _tunings(study: str, part: int) -> str:
    return _tables_of_tunings(study).split("\n\n")[part]


@cache
def _tables_of_tunings(study: str) -> str:
    from experiments.tuner import tables  # noqa: PLC0415

    return tables.tables(pd.read_csv(HERE / "tuner" / f"{study}.csv"))


def _samplers(which: str) -> str:
    from experiments.tuner import samplers  # noqa: PLC0415  (an extra)

    return samplers.qualities(_recorded("tuner/samplers.csv"), which)


def _reliability() -> str:
    from experiments.reliability import tables  # noqa: PLC0415

    return "\n".join(tables.lines(pd.read_csv(HERE / "reliability" / "reliability.csv")))


def _best_or_first() -> str:
    from experiments.reliability import tables  # noqa: PLC0415

    return tables.best_or_first(pd.read_csv(HERE / "reliability" / "groups.csv"))


def _digits() -> str:
    from experiments.reliability import digits  # noqa: PLC0415

    return "\n".join(digits.lines(pd.read_csv(HERE / "reliability" / "digits.csv")))


def _failures() -> str:
    from experiments.reliability import failures  # noqa: PLC0415

    return "\n".join(failures.lines(pd.read_csv(HERE / "reliability" / "failures.csv")))


def _front_chances() -> str:
    from experiments.fronts import chances  # noqa: PLC0415

    return "\n".join(chances.lines(pd.read_csv(HERE / "fronts" / "chances.csv")))


TABLES: dict[str, Callable[[], str]] = {
    "caps-tests": lambda: _caps(0),
    "caps-races": lambda: _caps(1),
    "run-time-best": _run_time_best,
    "highs-15": lambda: _solvers("highs", 15.0),
    "minisat-6": lambda: _solvers("minisat", 6.0),
    "minisat-15": lambda: _solvers("minisat", 15.0),
    "importance": _importance,
    "sklearn-searches": _searches,
    "fold-errors": _fold_errors,
    "error-rates": _error_rates,
    "frontier": _frontier,
    "prompts": _prompts,
    "bundles": _bundles,
    "portfolios": _portfolios,
    "hierarchical": _hierarchical,
    "reliability": _reliability,
    "best-or-first": _best_or_first,
    "digits": _digits,
    "failures": _failures,
    "front-chances": _front_chances,
    "sampler-best": lambda: _samplers("best"),
    "sampler-late": lambda: _samplers("late"),
    "growth-regrets": lambda: _tunings("growth", 0),
    "growth-algorithms": lambda: _tunings("growth_algorithms", 0),
    **{
        f"{study}-{name}": partial(_tunings, study, part)
        for study in ("reported", "noise", "chosen", "anytime", "parallel")
        for part, name in enumerate(("regrets", "verdicts"))
    },
}


def pages() -> list[Path]:
    """Return the pages with a marked table."""
    found = sorted((ROOT / "docs").glob("*.md"))
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
