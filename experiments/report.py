"""Progress, tables and files of the studies."""

from __future__ import annotations

import csv
import math
import time
from typing import TYPE_CHECKING, Any, TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from racer.render.markup import markdown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "duration",
    "markdown",
    "mean_and_error",
    "plus_minus",
    "print_row",
    "read",
    "shrink",
    "takes",
    "with_progress",
    "write",
]

T = TypeVar("T")


def takes(seconds: float, jobs: int) -> str:
    """Return about how long a run of so many seconds of one core takes."""
    cores = "one core" if jobs == 1 else f"{jobs} cores"
    return f"Takes about {duration(seconds / jobs + 2.0)} on {cores} with nothing else to do."


def with_progress(
    todo: Sequence[T], seconds: Sequence[float], jobs: int, label: Callable[[T], str]
) -> Iterator[T]:
    """Yield what is to do; progress and remaining time go to stderr.

    How long it takes goes to stdout: about, before the first, and truly, after the last.

    Parameters
    ----------
    todo : sequence
    seconds : sequence of float
        How long each is expected to take on one core: corrected as time goes by.
    jobs : int
    label : callable
        What is shown of each.
    """
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.description}, about {task.fields[left]} left"),
    )
    start, done, total = time.monotonic(), 0.0, math.fsum(seconds)
    print(f"{takes(total, jobs)}\n", flush=True)
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("", total=len(todo), left=duration(total / jobs))
        for each, expected in zip(todo, seconds, strict=True):
            progress.update(task, description=label(each))
            yield each
            done += expected
            left = (time.monotonic() - start) / done * (total - done)
            progress.update(task, advance=1, left=duration(left))
    print(f"Took {duration(time.monotonic() - start)}.\n")


def duration(seconds: float) -> str:
    """Return 95 seconds as "1 min 35 s"."""
    minutes, rest = divmod(round(max(seconds, 0.0)), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def mean_and_error(values: NDArray[np.float64]) -> tuple[float, float]:
    """Return the mean and its standard error (NaN if there is one value)."""
    n = len(values)
    return float(values.mean()), float(values.std(ddof=1) / math.sqrt(n)) if n > 1 else math.nan


def plus_minus(mean: float, error: float, digits: int = 2) -> str:
    """Return a mean and its standard error, if there is one."""
    if math.isnan(mean):
        return "-"
    return f"{mean:.{digits}f}" + ("" if math.isnan(error) else f" ± {error:.{digits}f}")


def print_row(*cells: object, head: bool = False) -> None:
    """Print a row of a table that is filled while it is printed."""
    print(f"| {' | '.join(map(str, cells))} |", flush=True)
    if head:
        print("|---" * len(cells) + "|", flush=True)


def read(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write(path: Path | None, rows: Sequence[dict[str, Any]]) -> None:
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


def shrink(path: Path) -> None:
    """Rewrite a PNG with a palette of 256 colours: a quarter of the bytes, and looks the same.

    Files of other formats stay as they are.
    """
    if path.suffix != ".png":
        return
    from PIL import Image  # noqa: PLC0415  (comes with matplotlib, an extra)

    with Image.open(path) as picture:
        coloured = picture.convert("RGB")
    coloured.quantize(256, kmeans=2, dither=Image.Dither.NONE).save(path, optimize=True)
