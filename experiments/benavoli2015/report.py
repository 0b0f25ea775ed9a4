"""Options, progress and announcements that Tables 2 and 3 share."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import click

from experiments.benavoli2015.racing import (
    PROTOCOLS,
    READINGS,
    Cell,
    Design,
    Setting,
    expected_seconds,
    parse_settings,
    run_cell,
)
from experiments.options import csv_option
from experiments.report import with_progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    Command = Callable[[tuple[Setting, ...], Design, Path | None], None]

__all__ = ["TRULY_SO", "announce", "claims", "racing_options", "run", "truly_so"]

TRULY_SO = "pairs declared indistinguishable are truly so"


def _settings(_: click.Context, __: click.Parameter, text: str | None) -> tuple[Setting, ...]:
    try:
        return parse_settings(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def racing_options(command: Command) -> Callable[..., None]:
    """Add the options of Tables 2 and 3 but those of the run; it gets settings, design and file."""
    options = (
        click.option(
            "--protocol",
            type=click.Choice(list(PROTOCOLS)),
            default="rounds",
            show_default=True,
            help="What a unit of M = 300 is: a round of all survivors, or one candidate's turn.",
        ),
        click.option(
            "--reading",
            type=click.Choice(list(READINGS)),
            default="found",
            show_default=True,
            help="How the races are read where the paper leaves it open: found by search; F-Race "
            "asking the Friedman test while many candidates are left; racer's own deciders, with "
            "an omnibus test at every look; without any.",
        ),
        click.option(
            "--settings",
            callback=_settings,
            help='Rows to run, as "30,1 100,.5" (q and rho); all by default.',
        ),
        csv_option,
    )

    @functools.wraps(command)
    def with_design(settings: tuple[Setting, ...], csv_path: Path | None, **design: Any) -> None:
        command(settings, Design(**design), csv_path)

    decorated: Callable[..., None] = with_design
    for option in reversed(options):
        decorated = option(decorated)
    return decorated


def announce(
    title: str, settings: Sequence[Setting], deciders: Sequence[str], design: Design
) -> None:
    """Print what will be run."""
    cells = len(settings) * len(deciders)
    print(f"{title}: {cells} cells, {design}")
    print(PROTOCOLS[design.protocol])
    print(READINGS[design.reading])


def run(
    settings: Sequence[Setting], deciders: Sequence[str], design: Design
) -> dict[tuple[Setting, str], Cell]:
    """Play all cells; progress and remaining time go to stderr."""
    todo = [(setting, decider) for setting in settings for decider in deciders]
    seconds = [expected_seconds(design)] * len(todo)
    cells = with_progress(todo, seconds, design.jobs, lambda cell: f"({cell[0]}) {cell[1]}")
    return {(setting, decider): run_cell(setting, decider, design) for setting, decider in cells}


def truly_so(cells: Iterable[Cell]) -> tuple[bool | None, str]:
    """Return whether all pairs declared indistinguishable are; None where no pair was declared."""
    declared, truly = map(sum, zip(*(cell.pairs for cell in cells), strict=True))
    return truly == declared if declared else None, f"{truly} of {declared} pairs"


def claims(found: Mapping[str, tuple[bool | None, str]]) -> str:
    """Return a line for each claim: whether it holds, None for nothing to judge, and why."""
    words = {True: "holds", False: "does not hold", None: "nothing to judge"}
    lines = [f"- {claim}: {words[holds]} ({why})" for claim, (holds, why) in found.items()]
    return "\n".join(["In this run:", *lines])
