"""`racer init` and `racer import-irace`: files to begin with."""

from __future__ import annotations

from pathlib import Path

import click

from racer.cli.answer import reported, write_new
from racer.scenario.irace_options import from_irace
from racer.scenario.r_file import read_assignments
from racer.scenario.skeleton import SKELETON, as_toml


@click.command(short_help="Write a scenario to begin with.")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), default=".")
def init(folder: Path) -> None:
    """Write a scenario to begin with into FOLDER: it can be run as it is.

    Nothing that is there is overwritten.
    """
    there = [name for name in SKELETON if (folder / name).exists()]
    if there:
        raise click.ClickException(f"{folder / there[0]} is there already: nothing was written")
    for name, text in SKELETON.items():
        write_new(folder / name, text)
        if text.startswith("#!"):
            (folder / name).chmod(0o755)
        click.echo(folder / name)
    click.echo("Now: racer check-scenario, and racer tune, in that folder.", err=True)


@click.command("import-irace", short_help="Convert a scenario of irace to scenario.toml.")
@click.argument("scenario", type=click.Path(dir_okay=False, path_type=Path))
def import_irace(scenario: Path) -> None:
    """Write a scenario.toml beside SCENARIO, a scenario.txt of irace.

    What is ignored or changed is in its comments.
    """
    with reported():
        settings, notes = from_irace(read_assignments(scenario), scenario.name)
        target = scenario.with_name("scenario.toml")
        write_new(target, as_toml(settings, notes, scenario.name))
        click.echo(target)
