"""`racer check`: soundness and contents of a store."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING, Any

import click

from racer.cli.answer import in_terminal
from racer.core.events import Ended
from racer.errors import StoreError
from racer.render.text import folded
from racer.results.base import Result
from racer.results.tuning import TuneResult
from racer.store.check import check_store

if TYPE_CHECKING:
    from racer.store.check import Report


_TO_COPY = ("go on with", "or, typed")


@click.command(short_help="Say whether a store is sound.")
@click.argument("store", type=click.Path())
def check(store: str) -> None:
    """Say whether STORE is sound, what it holds, and how to go on with it.

    STORE is a file that racer.race or racer.tune (.., store=) has written. It is only read, and
    may be in use. The exit code is 0 if it is sound, 1 if it is not, or is not a store.
    """
    try:
        report = check_store(store)
    except StoreError as error:
        raise click.ClickException(in_terminal(str(error))) from None
    if report.settings:
        for name, value in _lines(report):
            line = f"{name:<15}{value}"
            click.echo(line if name in _TO_COPY else folded(line, indent=" " * 15))
    for problem in report.problems:
        click.echo(in_terminal(f"NOT SOUND: {problem}"), err=True)
    if report.problems:
        sys.exit(1)
    click.echo(f"{store} is sound.")


def _lines(report: Report) -> list[tuple[str, str]]:
    """Return the contents of a store, as names and values."""
    most_first = sorted(report.statuses.items(), key=lambda item: -item[1])
    by_status = ", ".join(f"{count} {status}" for status, count in most_first)
    lines = [
        ("kind", str(report.kind)),
        ("candidates", str(report.candidates)),
        ("instances", "none" if report.instances is None else str(report.instances)),
        ("evaluations", f"{report.evaluations} ({by_status or 'none yet'})"),
        ("seconds", f"{report.seconds:.6g}, summed over evaluations"),
    ]
    if report.failure:
        lines += [("first failure", report.failure.partition("\n")[0])]
    if isinstance(report.result, Result):
        best = report.result.best_index
        config = f" {report.result.best}" if isinstance(report.result, TuneResult) else ""
        lines += [
            ("not needed", f"{report.result.unused.cells} of the evaluations, made ahead"),
            ("blocks", str(report.blocks)),
            ("still in", ", ".join(f"#{c}" for c in report.result.survivors)),
            ("best", "cannot be said" if best is None else f"#{best}{config}"),
        ]
    given = {n: value for n, value in report.settings.items() if value not in (None, [])}
    if command := given.get("command"):
        given |= {"evaluate": f"{shlex.join(map(str, command['argv']))}, in {command['cwd']}"}
        del given["command"]
    lines += [(n, _space(v) if n == "space" else str(v)) for n, v in given.items()]
    lines += [("note", note) for note in report.notes]
    lines += [("ended", report.ended or "no")]
    if not report.problems:
        if report.ended == Ended.ALL_FAILED:
            lines += [
                ("go on with", "a new store, once evaluate is mended: these are not tried again")
            ]
            return lines
        call, _, typed = report.resume.partition(", or, typed: ")
        lines += [("go on with", call), *([("or, typed", typed)] if typed else [])]
        if report.ended == Ended.BUDGET:
            lines += [("", "with a larger budget, as the budget ended it")]
    return lines


def _space(written: Any) -> str:
    """Return a space in one line: names and types."""
    try:
        kinds = ", ".join(f"{entry['name']}: {entry['type']}" for entry in written["parameters"])
        return f"{{{kinds}}}, {len(written['conditions'])} conditional"
    except (KeyError, TypeError):  # a damaged one
        return str(written)
