"""`racer show` and `racer resume`: what a store holds, and going on with it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import click

from racer.cli.answer import forms, give, reported

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@click.argument("store", type=click.Path())
@forms
def show(store: str, **form: Any) -> None:
    """Show the result of the race or tuning in STORE, which is only read and may be in use.

    Nothing is run or imported. The exit code is 3 if there is no best configuration (yet).
    """
    from racer.store.load import load_record  # noqa: PLC0415  (a second)

    with reported():
        result, settings = load_record(store)
        give(result, settings, **form)


@click.command()
@click.argument("store", type=click.Path())
@click.option("--budget", type=click.IntRange(1), help="Evaluations in all, more than before.")
@click.option("--jobs", type=int, default=1, show_default=True, help="Evaluations at a time.")
@click.option("--yes", is_flag=True, help="Run the program of the store without asking.")
@click.option("-q", "--quiet", is_flag=True, help="Show no progress.")
@forms
def resume(
    store: str,
    *,
    budget: int | None,
    jobs: int,
    yes: bool,
    quiet: bool,
    as_json: bool,
    csv: Path | None,
    configurations: Path | None,
) -> None:
    """Go on with the race or tuning in STORE, which knows the program that it runs.

    A store may come from somebody else: so the program is shown, and you are asked first. For an
    objective that is a Python function, use racer.resume.
    """
    from racer.evaluate.command.command import Command  # noqa: PLC0415  (a second)
    from racer.run.resume import resume as run  # noqa: PLC0415
    from racer.store.load import load_record  # noqa: PLC0415

    with reported():
        settings = load_record(store).settings
        stored = settings.get("command")
        if stored is None:
            raise click.ClickException(
                f"{store} was begun with evaluate={settings['evaluate']}, which is not in it: go on "
                f"with racer.resume({store!r}, evaluate)"
            )
        if not yes:
            line = shlex.join(map(str, stored["argv"]))
            click.echo(f"{store} runs, in {stored['cwd']}:\n  {line}", err=True)
            click.confirm("Run it?", abort=True, err=True)
        result = run(store, Command(**stored), budget=budget, n_jobs=jobs, progress=not quiet)
        give(result, settings, as_json=as_json, csv=csv, configurations=configurations)
