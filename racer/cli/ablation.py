"""`racer ablation`: which of the changes to a program's configuration made the difference."""

from __future__ import annotations

import json
from typing import Any

import click

from racer.cli.answer import reported
from racer.cli.show import beside, program_of


def _end(text: str) -> Any:
    """Return a configuration, the number of a candidate, or a word."""
    try:
        return json.loads(text)
    except ValueError:
        return text


@click.command(short_help="Show which parameter changes mattered.")
@click.argument("store", type=click.Path())
@click.option("--source", default="default", show_default=True, help="Or a number, or JSON.")
@click.option("--target", default="best", show_default=True, help="Or a number, or JSON.")
@click.option("--budget", type=click.IntRange(1), help="Evaluations; by default what it takes.")
@click.option("--blocks", type=click.IntRange(2), help="On how many blocks.")
@click.option("--jobs", type=int, default=1, show_default=True, help="Evaluations at a time.")
@click.option("--into", type=click.Path(dir_okay=False), help="Its own store, beside STORE.")
@click.option("--yes", is_flag=True, help="Run the program of the store without asking.")
@click.option("-q", "--quiet", is_flag=True, help="Show no progress.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def ablation(
    store: str,
    *,
    source: str,
    target: str,
    budget: int | None,
    blocks: int | None,
    jobs: int,
    into: str | None,
    yes: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Say which of the changes from the default to the best configuration in STORE mattered.

    Step by step, each time the change that gains most. What is evaluated is recorded in a store
    of its own (run.ablation.db beside run.db), so that the same command goes on with it, and
    racer report shows it. For an objective that is a Python function, use racer.ablation.
    """
    from racer.run.ablation import ablation as run  # noqa: PLC0415  (a second)

    with reported():
        command, _ = program_of(store, "racer.ablation", yes=yes)
        found = run(
            store,
            command,
            source=_end(source),
            target=_end(target),
            budget=budget,
            blocks=blocks,
            n_jobs=jobs,
            store=into or beside(store),
            progress=not quiet,
        )
        said = json.dumps(found.to_dict(), indent=2, ensure_ascii=False, default=str)
        click.echo(said if as_json else str(found))
