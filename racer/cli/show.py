"""`racer show`, `racer report` and `racer resume`: the contents of a store, and going on with it."""

from __future__ import annotations

import shlex
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from racer.cli.answer import forms, give, reported
from racer.errors import RacerError, RacerWarning
from racer.results.ablation import AblationResult
from racer.results.tuning import TuneResult

if TYPE_CHECKING:
    from racer.evaluate.command.command import Command
    from racer.store.load import Recorded


def beside(store: str | Path) -> Path:
    """Return where the ablation of a store is recorded, unless another place is given."""
    path = Path(store)
    return path.with_name(f"{path.stem}.ablation{path.suffix}")


@click.command(short_help="Show what a store holds.")
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


@click.command(short_help="Write a page about a store.")
@click.argument("store", type=click.Path())
@click.option(
    "-o",
    "--output",
    default="report.html",
    show_default=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="The page to write; it replaces what is there.",
)
@click.option(
    "--ablation",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The store of its ablation, if it is not run.ablation.db beside run.db.",
)
def report(store: str, *, output: Path, ablation: Path | None) -> None:
    """Write one HTML page about the race or tuning in STORE, which is only read.

    The page needs no network: verdict, best configuration, pictures, instances, failures,
    settings and cost; importance and ablation of the parameters of a tuning. It needs the extra
    report: pip install 'racer-tuning[report]'.
    """
    from racer.store.load import load_record  # noqa: PLC0415  (a second)

    with reported():
        result: Any = load_record(store).result
        if isinstance(result, AblationResult):
            raise click.ClickException(
                f"{store} holds an ablation: give the store of its tuning, whose report shows it"
            )
        more = {}
        if isinstance(result, TuneResult) and (of := ablation or beside(store)).exists():
            more["ablation"] = load_record(of).result
        try:
            result.report(output, **more)
        except OSError as error:
            raise click.ClickException(f"{output} cannot be written: {error.strerror}") from None
        click.echo(output)


@click.command(short_help="Continue the run in a store.")
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

    A store may come from somebody else: so the program is shown, and you are asked first, unless
    the scenario.toml or scenario.txt beside the store says the same. For an objective that is a
    Python function, use racer.resume.
    """
    from racer.run.resume import resume as run  # noqa: PLC0415  (a second)

    with reported():
        command, settings = program_of(store, "racer.resume", yes=yes)
        result = run(store, command, budget=budget, n_jobs=jobs, progress=not quiet)
        give(result, settings, as_json=as_json, csv=csv, configurations=configurations)


def program_of(store: str, call: str, *, yes: bool) -> tuple[Command, dict[str, Any]]:
    """Return the program of a store, if it is to be run, and its settings; `call` needs none."""
    from racer.evaluate.command.command import Command  # noqa: PLC0415  (a second)
    from racer.store.load import load_record  # noqa: PLC0415

    recorded = load_record(store)
    settings = recorded.settings
    stored = settings.get("command")
    if stored is None:
        raise click.ClickException(
            f"{store} was begun with evaluate={settings['evaluate']}, which is not in it: go on "
            f"with {call}({store!r}, evaluate)"
        )
    if not yes and not _is_beside_its_scenario(store, recorded):
        line = shlex.join(map(str, stored["argv"]))
        click.echo(f"{store} runs, in {stored['cwd']}:\n  {line}", err=True)
        click.confirm("Run it?", abort=True, err=True)
    return Command(**stored), settings


def _is_beside_its_scenario(store: str, recorded: Recorded) -> bool:
    """Return True if a scenario in the folder of a store would make the same contest."""
    from racer.scenario.scenario import USUAL, read_scenario  # noqa: PLC0415  (a second)

    folder = Path(store).absolute().parent
    for name in USUAL:
        if not (folder / name).is_file():
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RacerWarning)  # said when it was begun
            try:
                if read_scenario(str(folder / name)).made(recorded, str(folder)):
                    return True
            except RacerError:
                continue
    return False
