"""`racer bench`: which program is faster."""

from __future__ import annotations

import sys
from typing import Any

import click

from racer.cli.output import NO_BEST, reported, say, shown
from racer.run.signals import at_terminal


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
def bench_command(
    commands: tuple[str, ...],
    *,
    instances: str | None,
    names: tuple[str, ...],
    as_json: bool,
    **settings: Any,
) -> None:
    """Find the fastest COMMAND, and stop when that is sure.

    Each is one argument, split as a shell would, but run without one. In a round each command
    runs once, in random order, on the same instance, so that a machine that slows down favours
    none. A command that is slower than another is out; so is a command that fails. When all that
    are left are within the margin, it ends.

    \b
        racer bench './sort_a {instance}' './sort_b {instance}' --instances data/

    The exit code is 0 if the fastest is known, or all that are as fast; 3 if not; 1 if a command
    failed; 2: wrong usage or setting; 130 after Ctrl-C, which prints the result so far. With
    --baseline: 0 if the other command passes, 1 if it is worse, 3 if that is undecided.
    """  # noqa: D301  (a backspace is click's mark of lines to keep)
    from racer.errors import RaceInterrupted  # noqa: PLC0415  (fast --help)
    from racer.run.bench import bench  # noqa: PLC0415
    from racer.scenario.scenario import Scenario  # noqa: PLC0415

    if names and not len(names) == len({*names}) == len(commands):
        raise click.UsageError(f"{len(commands)} commands, {len(names)} --name: one for each")
    code = 0
    with reported():
        items = Scenario({"instances": instances}).instances("instances")
        programs: Any = dict(zip(names, commands, strict=True)) if names else commands
        try:
            result = bench(programs, items, progress=at_terminal(), **settings)
        except RaceInterrupted as stop:
            result, code = stop.result, stop.code
        say(result.to_json() if as_json else shown(result))
    verdict = result.answer or ("worse" if result.failures else result.table["verdict"][0])
    sys.exit(code or {"worse": 1, "undecided": NO_BEST, "not known": NO_BEST}.get(verdict, 0))
