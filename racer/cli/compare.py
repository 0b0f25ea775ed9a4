"""`racer compare`: which algorithm is better, from a CSV file of scores."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click
import numpy as np

from racer.cli.answer import in_terminal
from racer.comparison.columns import Columns, numbered
from racer.comparison.data import LocalRope, Method, Named, Posthoc
from racer.errors import RacerError, ScoresError
from racer.plots._canvas import require

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    from numpy.typing import NDArray

    from racer.comparison.result import Comparison

_DELIMITERS = (",", ";", "\t")


class Refused(click.ClickException):
    """The arguments or the table cannot be used."""

    exit_code = 2


def _picture(_: click.Context, __: click.Parameter, path: Path | None) -> Path | None:
    """Refuse a picture that could not be written, before anything is computed."""
    if path is None:
        return None
    try:
        require()
    except RacerError as error:
        raise Refused(str(error)) from None
    from matplotlib.backend_bases import FigureCanvasBase  # noqa: PLC0415  (an extra)

    known = FigureCanvasBase.get_supported_filetypes()
    if path.suffix.lstrip(".").lower() not in known:
        raise click.BadParameter(f"{path.name!r} must end in one of .{', .'.join(sorted(known))}")
    if not path.absolute().parent.is_dir():
        raise click.BadParameter(f"there is no directory {str(path.parent)!r}")
    return path


FORMATS: dict[str, Callable[[Comparison], str]] = {
    "text": str,
    "markdown": lambda comparison: comparison.to_markdown(),
    "latex": lambda comparison: comparison.to_latex(),
    "json": lambda comparison: json.dumps(
        comparison.to_dict(), indent=2, ensure_ascii=False, allow_nan=False
    ),
    "prose": lambda comparison: comparison.prose(),
    "bibtex": lambda comparison: comparison.cite(),
}


@click.command("compare")
@click.argument("scores", type=click.Path(path_type=Path))
@click.option(
    "--method",
    type=click.Choice(get_args(Method)),
    default="auto",
    help="How they are compared; auto chooses, and says why.",
)
@click.option("--maximize", is_flag=True, help="Larger scores are better.")
@click.option("--control", metavar="NAME", help="Compare this algorithm with each other one.")
@click.option(
    "--rope",
    type=float,
    help="Half-width of practical equivalence: in units of the scores for signed-rank, otherwise "
    "around a probability of 1/2.",
)
@click.option("--alpha", type=float, default=0.05)
@click.option("--posthoc", type=click.Choice(get_args(Posthoc)), help="For --method friedman.")
@click.option(
    "--local-rope",
    type=click.Choice(get_args(LocalRope)),
    help="For --method bradley-terry with folds: small differences are ties.",
)
@click.option("--data-set", metavar="COLUMN", help="Column of data sets, if not found by its name.")
@click.option("--algorithm", metavar="COLUMN", help="Column of algorithms, in a long table.")
@click.option("--fold", metavar="COLUMN", help="Column of folds or runs.")
@click.option("--score", metavar="COLUMN", help="Column of scores, in a long table.")
@click.option("--seed", type=click.IntRange(0), default=0)
@click.option(
    "--plot",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    callback=_picture,
    help="Write a picture to this file (.png, .pdf, .svg ..).",
)
@click.option(
    "--with",
    "more",
    type=click.Choice(get_args(Named)),
    multiple=True,
    help="Add a table: all scores, or a matrix of the pairs. May be given twice.",
)
@click.option("--markdown", is_flag=True, help="Print Markdown tables.")
@click.option("--latex", is_flag=True, help="Print LaTeX tables.")
@click.option("--json", is_flag=True, help="Print JSON.")
@click.option("--prose", is_flag=True, help="Print a paragraph for a paper.")
@click.option("--bibtex", is_flag=True, help="Print the BibTeX of the methods.")
def compare_command(
    scores: Path, plot: Path | None, more: tuple[Named, ...], **settings: Any
) -> None:
    """Say which algorithm is better, from a CSV file of SCORES.

    SCORES is a table with a header: a row per data set and a column per algorithm, the first
    column naming the data sets; or a row per score, with columns of data sets, algorithms and
    scores. Either may have a column of folds. Empty fields are missing scores. The exit code is
    2 if the table cannot be compared.
    """
    from racer.comparison.compare import compare  # noqa: PLC0415  (a second)

    forms = [name for name in FORMATS if settings.pop(name, False)]
    if len(forms) > 1:
        raise click.UsageError(f"--{forms[0]} and --{forms[1]}: one of them at a time")
    try:
        table, indexed = _read_csv(scores)
        given = Columns(*(settings[role] for role in Columns._fields))
        ids = numbered(table, given, counted=not indexed)
        if ids is not None:
            settings["data_set"] = ids
        comparison = compare(table, **settings)
        for name in more:
            comparison = comparison.with_section(name)
        if ids is not None:
            note = (
                f"Column {ids!r}, of numbers, names the data sets and is not an algorithm; were it "
                "one, put a column of names before it."
            )
            comparison = replace(comparison, notes=(note, *comparison.notes))
        click.echo(FORMATS[forms[0] if forms else "text"](comparison))
        if plot is not None:
            figure: Any = comparison.plot().figure
            figure.savefig(plot)
            click.echo(f"Picture written to {plot}.", err=True)
    except RacerError as error:
        raise Refused(in_terminal(str(error))) from None
    except OSError as error:
        raise Refused(f"{plot} cannot be written: {error.strerror or error}") from None


def _read_csv(path: Path) -> tuple[pd.DataFrame, bool]:
    """Return a table with a header, and whether an index without a name stood before it.

    The header's most frequent of comma, semicolon and tab separates; nothing is read as what it is
    not: ScoresError names the line.
    """
    import pandas as pd  # noqa: PLC0415  (a second)

    from racer.comparison.scores import number_in  # noqa: PLC0415

    header, *rows = _lines(path)
    names = [name.strip() for name in header]
    numbers = map(number_in, names)
    if all(number is not None and np.isfinite(number) for number in numbers):
        raise ScoresError(
            f"{path}: the first row is all numbers, so there is no header: add one, with a name "
            "for each column"
        )
    for number, row in enumerate(rows, start=2):
        if len(row) != len(names):
            raise ScoresError(
                f"{path}, row {number}: {len(row)} fields, but the header has {len(names)}"
            )
    if not rows:
        raise ScoresError(f"{path} has a header and no rows")
    columns = [_column(texts, [*map(number_in, texts)]) for texts in zip(*rows, strict=True)]
    indexed = False
    if names[0] == "":  # as a table is written with an index that has no name
        if list(columns[0]) == list(range(len(rows))):
            names, columns, indexed = names[1:], columns[1:], True
        else:
            names[0] = "data set"
    if "" in names:
        raise ScoresError(f"{path}: column {names.index('') + 1} has no name")
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise ScoresError(f"{path}: column {repeated[0]!r} occurs twice; give each its own name")
    return pd.DataFrame(dict(zip(names, columns, strict=True))), indexed


def _lines(path: Path) -> list[list[str]]:
    """Return the fields of all lines that are not empty, the header first."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ScoresError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ScoresError(f"{path} is not text in UTF-8: save it as CSV in that encoding") from None
    if "\0" in text:
        raise ScoresError(f"{path} is not text: give a CSV file")
    head = text.partition("\n")[0]
    delimiter = max(_DELIMITERS, key=head.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        lines = [line for line in reader if line]
    except csv.Error as error:
        raise ScoresError(f"{path}, line {reader.line_num}: {error}") from None
    if not lines:
        raise ScoresError(f"{path} is empty: give a header and a row per data set")
    return lines


def _column(texts: tuple[str, ...], numbers: list[float | None]) -> NDArray[Any]:
    """Return numbers if all are, otherwise the texts, None where empty."""
    if None not in numbers:
        return np.array(numbers, dtype=np.float64)
    return np.array([text.strip() or None for text in texts], dtype=object)
