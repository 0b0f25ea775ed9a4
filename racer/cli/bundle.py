"""The commands about a bundle: a run that others can check."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from racer.cli.answer import FILE, refused_as, reported, say

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command(short_help="Write a run into one file that others can check.")
@click.argument("store", type=click.Path())
@click.option("-o", "--output", type=FILE, required=True, help="The bundle, a zip file.")
@click.option("--scenario", type=_FILE, help="The scenario of the run.")
def bundle(store: str, *, output: Path, scenario: Path | None) -> None:
    """Write the run in STORE, which is only read, into one file.

    With it go the scenario, versions, and hashes of the program and the instances. The hash
    that is printed says that a bundle is this one: publish it.
    """
    from racer.scenario.bundle import bundle as run  # noqa: PLC0415  (a second)

    with reported(), refused_as(output):
        say(f"{output}\nSHA-256 {run(store, output, scenario=scenario)}")


@click.command(short_help="Check a bundle.")
@click.argument("file", type=_FILE)
@click.option("--sha256", help="The hash that racer bundle printed.")
@click.option("--folder", type=click.Path(file_okay=False), help="Where the files of the run are.")
def verify(file: Path, *, sha256: str | None, folder: str | None) -> None:
    """Check FILE, which racer bundle has written: hashes, and verdicts, which are replayed.

    The exit code is 1 if anything was changed, or comes out otherwise. Nothing in it is run.
    """
    from racer.scenario.bundle import verify as run  # noqa: PLC0415  (a second)

    with reported():
        found = run(file, sha256=sha256, folder=folder)
    say(found)
    sys.exit(bool(found.problems))
