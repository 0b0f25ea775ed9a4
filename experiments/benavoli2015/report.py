"""Options, progress, tables and files that the scripts share."""

from __future__ import annotations

import csv
import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from experiments.benavoli2015.racing import (
    PROTOCOLS,
    Cell,
    Design,
    Setting,
    expected_seconds,
    parse_settings,
    run_cell,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

__all__ = ["announce", "csv_option", "markdown", "plus_minus", "racing_options", "run", "write"]


def _settings(_: click.Context, __: click.Parameter, text: str | None) -> tuple[Setting, ...]:
    try:
        return parse_settings(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def _csv(_: click.Context, __: click.Parameter, path: Path | None) -> Path | None:
    if path is not None and not path.absolute().parent.is_dir():
        raise click.BadParameter(f"there is no directory {str(path.parent)!r}")
    return path


csv_option = click.option(
    "--csv",
    "csv_path",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    callback=_csv,
    help="Write the table to this file.",
)


def racing_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of Tables 2 and 3."""
    options = (
        click.option("--repetitions", type=click.IntRange(1), default=200, show_default=True),
        click.option("--jobs", type=click.IntRange(1), default=2, show_default=True),
        click.option("--seed", type=click.IntRange(0), default=1, show_default=True),
        click.option(
            "--protocol",
            type=click.Choice(list(PROTOCOLS)),
            default="rounds",
            show_default=True,
            help="What a unit of M = 300 is: a round of all survivors, or one candidate's turn.",
        ),
        click.option(
            "--gate/--no-gate",
            default=True,
            show_default=True,
            help="Ask the Friedman test before the comparisons, as the library does. The "
            "published ITER of F-Race_S is met without it.",
        ),
        click.option(
            "--settings",
            callback=_settings,
            help='Rows to run, as "30,1 100,.5" (q and rho); all by default.',
        ),
        csv_option,
    )
    for option in reversed(options):
        command = option(command)
    return command


def announce(
    title: str, settings: Sequence[Setting], deciders: Sequence[str], design: Design
) -> None:
    """Say what will be run and about how long it takes."""
    seconds = expected_seconds(design) * len(settings) * len(deciders)
    print(f"{title}: {len(settings) * len(deciders)} cells, {design}")
    print(PROTOCOLS[design.protocol])
    jobs = "one core" if design.jobs == 1 else f"{design.jobs} cores"
    print(f"Takes about {duration(seconds + 2.0)} on {jobs} with nothing else to do.\n", flush=True)


def run(
    settings: Sequence[Setting], deciders: Sequence[str], design: Design
) -> dict[tuple[Setting, str], Cell]:
    """Play all cells; progress and remaining time go to stderr."""
    todo = [(setting, decider) for setting in settings for decider in deciders]
    cells: dict[tuple[Setting, str], Cell] = {}
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.description}, about {task.fields[left]} left"),
    )
    start = time.monotonic()
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(
            "cells", total=len(todo), left=duration(expected_seconds(design) * len(todo))
        )
        for setting, decider in todo:
            progress.update(task, description=f"({setting}) {decider}")
            cells[setting, decider] = run_cell(setting, decider, design)
            each = (time.monotonic() - start) / len(cells)
            left = each * (len(todo) - len(cells))
            progress.update(task, advance=1, left=duration(left))
    print(f"Took {duration(time.monotonic() - start)}.\n")
    return cells


def duration(seconds: float) -> str:
    """Return 95 seconds as "1 min 35 s"."""
    minutes, rest = divmod(round(max(seconds, 0.0)), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def plus_minus(mean: float, error: float, digits: int = 2) -> str:
    """Return a mean and its standard error, if there is one."""
    if math.isnan(mean):
        return "-"
    return f"{mean:.{digits}f}" + ("" if math.isnan(error) else f" ± {error:.{digits}f}")


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table with columns padded to their widths."""
    lines = [list(head), *(list(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    padded = [
        "| " + " | ".join(text.ljust(w) for text, w in zip(line, widths, strict=True)) + " |"
        for line in lines
    ]
    return "\n".join([padded[0], "|" + "|".join("-" * (w + 2) for w in widths) + "|", *padded[1:]])


def write(path: Path | None, rows: Sequence[dict[str, Any]]) -> None:
    """Write rows to a CSV file, numbers to six significant digits; None writes nothing."""
    if path is None:
        return
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in row.items()})
    print(f"\nWritten to {path}.")
