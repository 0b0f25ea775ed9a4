"""`racer bench`: which program is faster."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from racer.cli.answer import FOLDER, NO_BEST, csv_of, is_watched, reported, say, tell, write_new

if TYPE_CHECKING:
    from pathlib import Path


def share(text: str) -> float:
    """Return a share, as 2% or 0.02."""
    return float(text.removesuffix("%")) / (100.0 if text.endswith("%") else 1.0)


@click.command("bench", short_help="Find the fastest program.")
@click.argument("commands", nargs=-1, required=True, metavar="COMMAND COMMAND ..")
@click.option("--instances", type=click.Path(), help="Folder, or file with a line for each.")
@click.option("--margin", type=share, default="2%", help="Up to this, programs are equally fast.")
@click.option("--rounds", type=click.IntRange(1), default=200, help="Maximum number of rounds.")
@click.option("--warmup", type=click.IntRange(0), default=1, help="Rounds that do not count.")
@click.option("--cpu", is_flag=True, help="Compare CPU times, not wall times.")
@click.option("--same-output", is_flag=True, help="Count output that differs as a failure.")
@click.option("--baseline", metavar="NAME", help="Which of two commands the other is held against.")
@click.option("--name", "names", multiple=True, help="Name of the next command; once for each.")
@click.option("--alpha", type=float, default=0.05, help="Probability of a false statement.")
@click.option("--seed", type=click.IntRange(0), help="Seed of the random orders.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with all times.")
@click.option("--csv", type=FOLDER, help="Write table.csv and times.csv into this folder.")
def bench_command(
    commands: tuple[str, ...],
    *,
    instances: str | None,
    names: tuple[str, ...],
    as_json: bool,
    csv: Path | None,
    **settings: Any,
) -> None:
    """Find the fastest COMMAND, and stop when that is sure.

    Each is one argument, split as a shell would, but run without one. In a round each command
    runs once, in random order, on the same instance, so that a machine that slows down favours
    none. A command that is slower than another is out; so is one that fails. When those that are
    left are within the margin, it ends.

    \b
        racer bench './sort_a {instance}' './sort_b {instance}' --instances data/

    The exit code is 0 if the fastest is known, or those that are as fast; 3 if not; 1 if a command
    failed; 2: wrong usage or setting; 130 after Ctrl-C, which prints the result so far. With
    --baseline: 0 if the other command passes, 1 if it is worse, 3 if that is undecided.
    """  # noqa: D301  (a backspace is click's mark of lines to keep)
    from racer.errors import RaceInterrupted  # noqa: PLC0415  (fast --help)
    from racer.run.bench import bench  # noqa: PLC0415
    from racer.scenario.scenario import Scenario  # noqa: PLC0415

    if names and not len(names) == len({*names}) == len(commands):
        raise click.UsageError(f"{len(commands)} commands, {len(names)} --name: one for each")
    for command in commands:
        if found := {"|", "||", "&&", "&", ";", "<", ">", ">>"} & {*command.split()}:
            tell(
                f"racer: no shell runs {command!r}, so {min(found)} is an argument: sh -c '..' has one"
            )
    code = 0
    with reported():
        items = Scenario({"instances": instances}).instances("instances")
        programs: Any = dict(zip(names, commands, strict=True)) if names else commands
        try:
            result = bench(programs, items, progress=is_watched(), **settings)
        except RaceInterrupted as stop:
            result, code = stop.result, stop.code
        say(result.to_json() if as_json else result)
        if csv is not None:
            write_new(csv / "table.csv", csv_of(result.table))
            write_new(csv / "times.csv", csv_of(result.times.reset_index()))
    if result.answer is not None:
        sys.exit(code or {"passes": 0, "worse": 1, "undecided": NO_BEST}[result.answer])
    is_known = result.table["verdict"][0] != "not known"
    sys.exit(code or (1 if result.failures else 0 if is_known else NO_BEST))
