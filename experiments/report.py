"""What studies share: seeded repetitions in workers, with progress; tables; files.

A study names its cells and measures one of them with one seed; `measured` makes the rows, `table`
or `wide` shows them, and `write` keeps them.
"""

from __future__ import annotations

import csv
import math
from typing import TYPE_CHECKING, Any, TypeVar

import joblib
import numpy as np
from rich.console import Console
from rich.progress import track

from racer.render.markup import markdown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    Row = Mapping[Any, Any]
    Column = str | Callable[[Row], str]  # a format such as "{fits:.0f}", or what makes the cell
    Columns = Mapping[str, Column]

__all__ = [
    "averaged",
    "cell_of",
    "markdown",
    "mean_and_error",
    "measured",
    "plus_minus",
    "pm",
    "print_row",
    "read",
    "table",
    "wide",
    "with_progress",
    "write",
]

T = TypeVar("T")


def with_progress(todo: Sequence[T]) -> Iterable[T]:
    """Yield the tasks; a progress bar with the remaining time goes to stderr."""
    return track(todo, description="", console=Console(stderr=True))


def measured(
    one: Callable[[T, int], Mapping[Any, Any]],
    cells: Sequence[T],
    seeds: Sequence[int],
    jobs: int,
    by: str = "",
) -> list[dict[str, Any]]:
    """Measure each cell with each seed, in workers; return a row per cell.

    Parameters
    ----------
    one : callable
        A function of a module: given a cell and a seed, it returns figures by name.
    cells : sequence of NamedTuple
    seeds : sequence of int
        The same for each cell.
    jobs : int
    by : str
        If given, `one` returns such figures for each of some labels, and each label gets a row,
        which has it in this column.

    Returns
    -------
    list of dict
        What names a cell; of each figure what `averaged` says; the number of seeds as `repetitions`.
    """
    call, rows = joblib.delayed(one), []
    with joblib.Parallel(n_jobs=jobs, batch_size=-(-len(seeds) // (4 * jobs))) as pool:
        for cell in with_progress(cells):
            found = pool(call(cell, seed) for seed in seeds)
            parts = {label: [each[label] for each in found] for label in found[0] if by}
            for label, figures in (parts or {"": found}).items():
                names = cell._asdict()  # type: ignore[attr-defined]
                names |= {by: label} if by else {}
                rows.append(names | averaged(figures) | {"repetitions": len(seeds)})
    return rows


def averaged(figures: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    """Return of each figure the mean and, as `NAME_se`, its standard error, without NaN."""
    row: dict[str, Any] = {}
    for name in figures[0]:
        values = np.array([each[name] for each in figures], dtype=np.float64)
        row[name], row[f"{name}_se"] = mean_and_error(values[~np.isnan(values)])
    return row


def mean_and_error(values: NDArray[np.float64]) -> tuple[float, float]:
    """Return the mean and its standard error (NaN if there is one value, both if there is none)."""
    n = len(values)
    mean = float(values.mean()) if n else math.nan
    return mean, float(values.std(ddof=1) / math.sqrt(n)) if n > 1 else math.nan


def plus_minus(mean: float, error: float, digits: int = 2) -> str:
    """Return a mean and its standard error, if there is one."""
    if math.isnan(mean):
        return "-"
    return f"{mean:.{digits}f}" + ("" if math.isnan(error) else f" ± {error:.{digits}f}")


def pm(
    name: str, digits: int = 2, scale: float = 1.0, *, error: bool = True
) -> Callable[[Row], str]:
    """Return the column of a mean and, if wanted, its standard error, times `scale`."""
    return lambda row: plus_minus(
        scale * row[name], scale * row[f"{name}_se"] if error else math.nan, digits
    )


def cell_of(row: Row, column: Column) -> str:
    """Return the text of a column in a row."""
    return column.format_map(row) if isinstance(column, str) else column(row)


def table(rows: Iterable[Row], columns: Columns) -> str:
    """Return rows as a table in Markdown, with these columns by their heads."""
    lines = [[cell_of(row, column) for column in columns.values()] for row in rows]
    return markdown(list(columns), lines)


def wide(rows: Iterable[Row], keys: Columns, by: Column, cell: Column) -> str:
    """Return a table in Markdown: a line for each of the keys' texts, a column for each of `by`'s."""
    lines: dict[tuple[str, ...], dict[str, str]] = {}
    for row in rows:
        line = lines.setdefault(tuple(cell_of(row, column) for column in keys.values()), {})
        line[cell_of(row, by)] = cell_of(row, cell)
    heads = list(dict.fromkeys(head for line in lines.values() for head in line))
    body = [[*key, *(line.get(head, "-") for head in heads)] for key, line in lines.items()]
    return markdown([*keys, *heads], body)


def print_row(*cells: object, head: bool = False) -> None:
    """Print a row of a table that is filled while it is printed."""
    print(f"| {' | '.join(map(str, cells))} |", flush=True)
    if head:
        print("|---" * len(cells) + "|", flush=True)


def read(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write(path: Path | None, rows: Sequence[Row]) -> None:
    """Write rows to a CSV file, numbers to six significant digits; None writes nothing.

    A row need not have all columns.
    """
    if path is None:
        return
    with path.open("w", newline="", encoding="utf-8") as file:
        names = dict.fromkeys(name for row in rows for name in row)
        writer = csv.DictWriter(file, list(names), lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in row.items()})
    print(f"\nWritten to {path}.")
