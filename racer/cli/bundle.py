"""The commands about a bundle: a run that others can check."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from racer.cli.answer import FILE, refused_as, reported, say
from racer.cli.stores import shown_program

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command(short_help="Write a run into one file that others can check.")
@click.argument("store", type=click.Path())
@click.option("-o", "--output", type=FILE, required=True, help="The bundle, a zip file.")
@click.option("--scenario", type=_FILE, help="By default scenario.toml beside STORE, if there.")
def bundle(store: str, *, output: Path, scenario: Path | None) -> None:
    """Write the run in STORE, which is only read, into one file.

    With it go scenario, report, versions, and hashes of the program and the instances. The hash
    that is printed says that a bundle is this one: publish it.
    """
    from racer.scenario.bundle import bundle as run  # noqa: PLC0415  (a second)

    beside = Path(store).parent / "scenario.toml"
    with reported(), refused_as(output):
        found = run(store, output, scenario=scenario or (beside if beside.exists() else None))
        say(f"{output}\nSHA-256 {found}")


@click.command(short_help="Check a bundle.")
@click.argument("file", type=_FILE)
@click.option("--sha256", help="The hash that racer bundle printed.")
@click.option("--again", type=click.IntRange(0), default=0, help="Cells to evaluate anew.")
@click.option("--folder", type=click.Path(file_okay=False), help="Where the program runs here.")
@click.option("--jobs", "n_jobs", type=int, default=1, help="Evaluations at a time.")
@click.option("--seed", type=click.IntRange(0), help="Of the draw of cells.")
@click.option("--yes", is_flag=True, help="Run the program of the bundle without asking.")
def verify(file: Path, *, yes: bool, **given: Any) -> None:
    """Check FILE, which racer bundle has written: hashes, verdicts, and some cells anew.

    The exit code is 1 if anything was changed, or comes out otherwise. With --again the program of
    the bundle is shown, and you are asked before it is run.
    """
    from racer.run.verify import verify as run  # noqa: PLC0415  (a second)

    def may_run(command: dict[str, Any]) -> bool:
        if not yes:
            say(shown_program(command), err=True)
            click.confirm("Run it?", abort=True, err=True)
        return True

    with reported():
        try:
            found = run(file, **given, may_run=may_run)
        except OSError as error:
            raise click.ClickException(f"{file} cannot be read: {error.strerror}") from None
    say(found)
    if found.problems:
        sys.exit(1)
