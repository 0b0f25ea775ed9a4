"""The commands that take a store: show, report, check, resume, ablation."""

from __future__ import annotations

import shlex
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from racer._checks import read_json
from racer._files import SQLITE, beginning
from racer.cli.output import (
    FILE,
    NAME,
    Whole,
    answer_width,
    confirm,
    forms,
    give,
    refused_as,
    reported,
    say,
    tell,
)
from racer.core.budget import Budget
from racer.core.events import Ended
from racer.errors import CandidateError, SettingError
from racer.render.escape import one_line
from racer.render.text import folded
from racer.results.ablation import AblationResult
from racer.results.base import Result
from racer.results.tuning import TuneResult

if TYPE_CHECKING:
    from racer.evaluate.command.command import Command
    from racer.store.load import Report

_ENDING = ".db"


def _found(ctx: click.Context, _: click.Parameter, value: str | None) -> str:
    """Return the store that is named, or the only one in this folder."""
    if value is not None:
        return value
    here = [
        path.name
        for path in sorted(Path().glob(f"*{_ENDING}"))
        if path.is_file() and beginning(path).startswith(SQLITE)
    ]
    stores = [n for n in here if not n.endswith(f".ablation{_ENDING}")] or here
    if len(stores) != 1:
        what = f"are several stores: {', '.join(stores)}" if stores else f"is no *{_ENDING}"
        raise click.UsageError(f"Name the store: in this folder there {what}.", ctx)
    say(f"racer: {stores[0]}, the store of this folder", err=True)
    return stores[0]


_store_here = click.argument("store", type=click.Path(), required=False, callback=_found)


@click.command(short_help="Show a store's contents.")
@_store_here
@partial(forms, is_run=False)
def show(store: str, **form: Any) -> None:
    """Show the result of the race or tuning in STORE, which is only read and may be in use.

    Without STORE: the only one in this folder.

    Nothing is run or imported. The exit code is 3 if there is no best configuration (yet).
    """
    from racer.store.load import load_record  # noqa: PLC0415  (a second)

    with reported():
        recorded = load_record(store)
        give(recorded.result, recorded.settings, **form)


@click.command(short_help="Write a page about a store.")
@_store_here
@click.option(
    "-o",
    "--output",
    default="report.html",
    type=FILE,
    help="The page to write; it replaces an old one.",
)
def report(store: str, *, output: Path) -> None:
    """Write one HTML page about the race or tuning in STORE, which is only read.

    Without STORE: the only one in this folder.

    The page needs no network: verdict, best configuration, pictures, instances, failures,
    settings and cost; importance and ablation (of run.ablation.db beside run.db) of the parameters
    of a tuning. It needs the extra report: pip install 'racer-tuning[report]'.
    """
    from racer.store.load import load_record  # noqa: PLC0415  (a second)

    with reported():
        result: Any = load_record(store).result
        if isinstance(result, AblationResult):
            raise click.ClickException(
                f"{store} holds an ablation: give the store of its tuning, whose report shows it"
            )
        more, beside = {}, _beside(store)
        if isinstance(result, TuneResult) and beside.exists():
            more["ablation"] = load_record(beside).result
        try:
            with refused_as(output):
                result.report(output, **more)
        except SettingError as error:
            where = f"{beside}: {error}; or move it elsewhere" if more else str(error)
            raise click.ClickException(where) from None
        say(output)


def _beside(store: str) -> Path:
    """Return where the ablation of a store is recorded, unless another place is given."""
    path = Path(store)
    return path.with_name(f"{path.stem}.ablation{path.suffix}")


@click.command(short_help="Check that a store is sound.")
@_store_here
def check(store: str) -> None:
    """Check STORE, and show its contents and how to resume it.

    Without STORE: the only one in this folder.

    STORE is a file that racer.race or racer.tune (.., store=) has written. It is only read, and
    may be in use. The exit code is 0 if it is sound, 1 if it is not, or is not a store.
    """
    from racer.store.load import check_store  # noqa: PLC0415  (a second)

    with reported():
        report = check_store(store)
    if report.settings:
        for name, value in _lines(report):
            line = f"{name:<14} {value}"
            say(line if name == "go on with" else folded(line, answer_width(), " " * 15))
    for problem in report.problems:
        tell(f"NOT SOUND: {problem}")
    if report.problems:
        sys.exit(1)
    say(f"{store} is sound.")


def _lines(report: Report) -> list[tuple[str, str]]:
    """Return the contents of a store, as names and values."""
    most_first = sorted(report.statuses.items(), key=lambda item: -item[1])
    by_status = ", ".join(f"{count} {status}" for status, count in most_first)
    lines = [
        ("kind", str(report.kind)),
        ("evaluations", f"{report.statuses.total()} ({by_status or 'none yet'})"),
        ("seconds", f"{report.seconds:.6g}, summed over evaluations"),
    ]
    if report.failure:
        lines += [("first failure", report.failure.partition("\n")[0])]
    if isinstance(report.result, Result):
        best = report.result.best_index
        config = f" {report.result.best}" if isinstance(report.result, TuneResult) else ""
        lines += [
            ("not needed", f"{report.result.unused.cells} of the evaluations, made ahead"),
            ("best", "unknown" if best is None else f"#{best}{config}"),
        ]
    given = {n: v for n, v in report.settings.items() if n != "space" and v not in (None, [])}
    if command := given.pop("command", None):
        given["evaluate"] = f"{shlex.join(map(str, command['argv']))}, in {command['cwd']}"
    lines += [(n, str(v)) for n, v in given.items()]
    lines += [("note", note) for note in report.notes]
    lines += [("ended", report.ended or "no")]
    if report.problems:
        return lines
    if report.ended == Ended.ALL_FAILED:
        again = "a new store, once evaluate is mended: these are not tried again"
        return [*lines, ("go on with", again)]
    lines += [("go on with", report.resume)]
    if report.ended == Ended.BUDGET:
        in_seconds = Budget.each(report.settings["budget"])[-1].is_in_seconds
        more = "more seconds (--seconds)" if in_seconds else "a larger budget"
        lines += [("", f"with {more}, as the budget ended it")]
    return lines


_jobs = click.option(
    "--n-jobs", type=int, help="Evaluations at a time; -1: one for each core. [as recorded]"
)


@click.command(short_help="Continue the run in a store.")
@click.argument("store", type=click.Path())
@click.option("--budget", type=Whole(1), help="Evaluations in all, more than before.")
@click.option("--seconds", type=float, help="Seconds of evaluation in all, more than before.")
@click.option("--wall", type=float, help="Seconds of wall time from now on; the budget stays.")
@_jobs
@click.option("--yes", is_flag=True, help="Run the program of the store without asking.")
@click.option("-q", "--quiet", is_flag=True, help="Show no progress.")
@forms
def resume(
    store: str,
    *,
    budget: int | None,
    seconds: float | None,
    wall: float | None,
    n_jobs: int | None,
    yes: bool,
    quiet: bool,
    **form: Any,
) -> None:
    """Go on with the race or tuning in STORE, which knows the program that it runs.

    A store may come from somebody else: so the program is shown, and you are asked first, unless
    it was begun by you, on this machine. For an objective that is a Python function, use
    racer.resume.
    """
    from racer.run.resume import resume as run  # noqa: PLC0415  (a second)

    with reported():
        command, settings = _program_of(store, "racer.resume", yes=yes)
        n_jobs = settings.get("jobs", 1) if n_jobs is None else n_jobs
        is_given = budget or seconds is not None or wall is not None
        limit = Budget(evaluations=budget, seconds=seconds, wall=wall) if is_given else None
        result = run(store, command, budget=limit, n_jobs=n_jobs, progress=not quiet)
        give(result, settings, **form)


def _end(name: str, text: str) -> Any:
    """Return a configuration, the number of a candidate, or a word."""
    try:
        return read_json(text)
    except ValueError as error:
        if text.lstrip().startswith("{"):
            raise SettingError(f"{name}={text} is not a configuration: {error}") from None
        return text


@click.command(short_help="Show which parameter changes mattered.")
@click.argument("store", type=click.Path())
@click.option("--source", default="default", help="Or a number, or JSON.")
@click.option("--target", default="best", help="Or a number, or JSON.")
@click.option("--budget", type=Whole(1), help="Evaluations; by default as many as needed.")
@click.option("--blocks", type=click.IntRange(2), help="Number of blocks.")
@_jobs
@click.option("--into", type=NAME, help="Store of the ablation; by default beside STORE.")
@click.option("--yes", is_flag=True, help="Run the program of the store without asking.")
@click.option("-q", "--quiet", is_flag=True, help="Show no progress.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def ablation(
    store: str,
    *,
    source: str,
    target: str,
    into: str | None,
    yes: bool,
    quiet: bool,
    as_json: bool,
    n_jobs: int | None,
    **settings: Any,
) -> None:
    """Show which of the changes from the default to the best configuration in STORE mattered.

    Step by step, each time the change that gains most. Evaluations are recorded in a store
    of its own (run.ablation.db beside run.db), so that the same command goes on with it, and
    racer report shows it from there. For an objective that is a Python function, use
    racer.ablation.
    """
    from racer.run.ablation import ablation as run  # noqa: PLC0415  (a second)

    with reported():
        ends = {"source": _end("source", source), "target": _end("target", target)}
        command, recorded = _program_of(store, "racer.ablation", yes=yes)
        settings["n_jobs"] = recorded.get("jobs", 1) if n_jobs is None else n_jobs
        own = into or _beside(store)
        try:
            found = run(store, command, **ends, **settings, store=own, progress=not quiet)
        except CandidateError as error:  # of --source or --target
            raise SettingError(str(error)) from None
        give(found, {}, as_json=as_json)


def _program_of(store: str, call: str, *, yes: bool) -> tuple[Command, dict[str, Any]]:
    """Return the program of a store, if it is to be run, and its settings; `call` needs none."""
    from racer.evaluate.command.command import Command  # noqa: PLC0415  (a second)
    from racer.store.load import load_record  # noqa: PLC0415

    recorded = load_record(store)
    settings = recorded.settings
    stored = settings.get("command")
    if stored is None:
        how = recorded.resume if call == "racer.resume" else f"{call}({store!r}, evaluate)"
        raise click.ClickException(
            f"{store} was begun with {settings['evaluate']}, which no file can hold: run "
            f"again what began it, or {how}"
        )
    if not yes and not recorded.is_ours:
        begun = f"{one_line(store)} was begun by another user, or elsewhere."
        say(f"{begun}\n{shown_program(stored)}", err=True)
        confirm("Run it?")
    return Command(**stored), settings


def shown_program(command: dict[str, Any]) -> str:
    """Return the program of a store, in lines that nothing in it can begin or end."""
    argv = [one_line(shlex.quote(word)) for word in command["argv"]]
    switches = [f"  {one_line(shlex.quote(switch))}" for switch in command["switches"].values()]
    with_values = ["and, before the values of its parameters:", *switches] if switches else []
    return "\n".join(
        [
            f"It runs, in {one_line(command['cwd'])}:",
            f"  {argv[0]}",
            f"with {len(argv) - 1} arguments:",
            *(f"  {word}" for word in argv[1:]),
            *with_values,
        ]
    )
