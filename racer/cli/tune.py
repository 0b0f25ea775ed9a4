"""`racer tune` and `racer check-scenario`: from files to the best configuration."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from racer.cli.answer import forms, give, reported
from racer.cli.options import WithCommand, scenario_of, scenario_options

if TYPE_CHECKING:
    from pathlib import Path


@click.command(cls=WithCommand, short_help="Find the best configuration of a program.")
@scenario_options
@forms
@click.option("-q", "--quiet", is_flag=True, help="Show no progress.")
@click.option("-v", "--verbose", is_flag=True, help="Say what each setting is.")
@click.pass_context
def tune(
    ctx: click.Context,
    /,
    scenario: str | None,
    *,
    as_json: bool,
    csv: Path | None,
    configurations: Path | None,
    quiet: bool,
    verbose: bool,
    **options: Any,
) -> None:
    """Find the best configuration of a program, or go on where that was interrupted.

    SCENARIO is a scenario.toml, or a scenario.txt of irace; without one, those of that name in this
    folder, or the options. The program may stand at the end: -- ./solver {parameters} {instance}
    {seed}. Each setting is an option, and so are irace's long flags.

    The answer is on standard output, all else on standard error. Exit code 0: there is a best
    configuration; 1: an error; 2: wrong usage; 3: no best; 130, 143, 129: interrupted by Ctrl-C,
    SIGTERM, SIGHUP, and all that was evaluated is recorded.
    """
    from racer.evaluate.command.command import Command  # noqa: PLC0415  (a second)
    from racer.run.tune import tune as run  # noqa: PLC0415

    with reported():
        found = scenario_of(ctx, scenario, options)
        for note in found.notes:
            click.echo(f"racer: {note}", err=True)
        if verbose:
            for name, value in found.settings.items():
                click.echo(f"{name:<22}{value}", err=True)
        arguments = found.arguments()
        result = run(**arguments, progress=not quiet)
        store = arguments.get("store")
        settings: dict[str, Any] = {"space": arguments["space"].to_json()}
        if isinstance(evaluate := arguments["evaluate"], Command):
            settings["command"] = evaluate.settings
        if store is not None:
            click.echo(f"racer: all of it is recorded: racer show {store}", err=True)
        give(result, settings, as_json=as_json, csv=csv, configurations=configurations)


@click.command(
    "check-scenario", cls=WithCommand, short_help="Read all files of a scenario, and try it."
)
@scenario_options
@click.pass_context
def check_scenario(ctx: click.Context, /, scenario: str | None, **options: Any) -> None:
    """Read all files of SCENARIO, and try it: two random and all initial configurations.

    Each is run once, on the first instance; its command line, cost and time are printed. The exit
    code is 1 if any of that fails.
    """
    from racer.scenario.trial import tried  # noqa: PLC0415  (a second)

    with reported():
        found = scenario_of(ctx, scenario, options)
        for note in found.notes:
            click.echo(f"note: {note}")
        failed = 0
        for line, failure in tried(found):
            click.echo(line)
            failed += failure
        if failed:
            click.echo(f"{failed} of the evaluations failed.", err=True)
            sys.exit(1)
        click.echo("The scenario can be used.")
