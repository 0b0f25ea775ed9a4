"""`racer compare`: which algorithm is better, from a file of scores."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from racer._files import written
from racer.cli.output import Refused, in_options, in_terminal, reported, say
from racer.cli.scenarios import WithCommand
from racer.comparison.columns import Columns
from racer.comparison.data import KINDS, Decisions, Method, Named, Posthoc
from racer.errors import RacerError, ScoresError
from racer.plots._canvas import require
from racer.render.escape import in_json
from racer.stats.wins import LocalRope

if TYPE_CHECKING:
    from collections.abc import Callable

    from racer.comparison.result import Comparison


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
    "text": lambda comparison: (
        str(comparison).replace("`pairs`, or --with", "--with").replace("see `pairs`", "see --json")
    ),
    "markdown": lambda comparison: comparison.to_markdown(),
    "latex": lambda comparison: comparison.to_latex(),
    "json": lambda comparison: in_json(comparison.to_dict(), indent=2, allow_nan=False),
    "prose": lambda comparison: comparison.prose(),
    "bibtex": lambda comparison: comparison.cite(),
}


@click.command("compare", cls=WithCommand)
@click.argument("scores", type=click.Path(path_type=Path))
@click.option(
    "--method",
    type=click.Choice(get_args(Method)),
    default="auto",
    metavar="NAME",
    help=f"Method: {', '.join(get_args(Method))}; auto chooses, with the reason.",
)
@click.option(
    "--goal",
    type=click.Choice(["min", "max"]),
    help="Smaller scores are better, or larger: if neither their name nor the format says so.",
)
@click.option("--maximize/--minimize", default=None, help="The same as --goal max, --goal min.")
@click.option("--control", metavar="NAME", help="Compare this algorithm with each other one.")
@click.option(
    "--rope",
    type=float,
    help="Half-width of practical equivalence: in units of the scores for signed-rank and "
    "hierarchical, otherwise around a probability of 1/2.",
)
@click.option("--alpha", type=float, default=0.05)
@click.option("--posthoc", type=click.Choice(get_args(Posthoc)), help="For --method friedman.")
@click.option(
    "--local-rope",
    type=click.Choice(get_args(LocalRope)),
    help="For --method bradley-terry with folds: small differences are ties.",
)
@click.option(
    "--correlation",
    type=float,
    help="Of two folds, for --method hierarchical; by default 1 over their number.",
)
@click.option(
    "--decisions",
    type=click.Choice(get_args(Decisions)),
    default="gated",
    help="For --method bradley-terry and plackett-luce: behind a test that all are alike, or as "
    "published, by the probability or (strong) by the mean of each pair.",
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
    "--picture",
    "kinds",
    type=click.Choice(KINDS),
    metavar="KIND",
    multiple=True,
    help=f"Pictures of --plot: {', '.join(KINDS)}. May be repeated.",
)
@click.option(
    "--report",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Write table.tex, figure.pdf, paragraph.tex and .txt, refs.bib into this folder.",
)
@click.option(
    "--with",
    "more",
    type=click.Choice(get_args(Named)),
    multiple=True,
    help="Add a table: all scores, a matrix of the pairs, or (above 15) the pairs. May be repeated.",
)
@click.option("--markdown", is_flag=True, help="Print Markdown tables.")
@click.option("--latex", is_flag=True, help="Print LaTeX tables.")
@click.option("--json", is_flag=True, help="Print JSON.")
@click.option("--prose", is_flag=True, help="Print a paragraph for a paper.")
@click.option("--bibtex", is_flag=True, help="Print the BibTeX of the methods and of racer.")
@reported()
def compare_command(
    scores: Path,
    plot: Path | None,
    kinds: tuple[str, ...],
    report: Path | None,
    more: tuple[Named, ...],
    **settings: Any,
) -> None:
    """Compare algorithms by a CSV file of SCORES.

    SCORES is a table with a header: a row per data set and a column per algorithm, the first
    column naming the data sets; or a row per score, with columns of data sets, algorithms and
    scores. Either may have a column of folds. Empty fields are missing scores. Or a row per vote,
    with columns model_a, model_b and winner. Or it is what promptfoo eval -o wrote (.json, .jsonl),
    lm_eval --log_samples (a folder), or logs of inspect_ai; then --score is a metric. The exit code
    is 2 if the table cannot be compared.

    \b
        racer compare scores.csv --goal max --plot pairs.png
    """  # noqa: D301  (a backspace is click's mark of lines to keep)
    from racer.comparison.compare import compare  # noqa: PLC0415  (a second)
    from racer.scenario.score_files import read_scores, table_in  # noqa: PLC0415

    if (larger := settings.pop("maximize")) is not None:
        settings["goal"] = "max" if larger else "min"
    if kinds and plot is None:
        raise click.UsageError("--picture needs --plot FILE, where it is drawn")
    forms = [name for name in FORMATS if settings.pop(name, False)]
    if len(forms) > 1:
        raise click.UsageError(f"--{forms[0]} and --{forms[1]}: one of them at a time")
    try:
        given = Columns(*(settings[role] for role in Columns._fields))
        read = table_in(scores)
        if read is not None:
            table, found, notes = read.labelled(given)
            settings |= found._asdict()
        else:
            table, notes = read_scores(scores, **given._asdict()), []
            settings |= dict.fromkeys(Columns._fields)
        comparison = compare(table, **settings)
        for name in dict.fromkeys(more):
            comparison = comparison.with_section(name)
        comparison = replace(comparison, notes=(*notes, *comparison.notes))
        drawn: Any = None
        if plot is not None:  # before the answer: a kind may not be for this comparison
            drawn = comparison.plot(kinds)[0] if kinds else comparison.plot()
        say(FORMATS[forms[0] if forms else "text"](comparison))
        _write(comparison, drawn, plot, report)
    except RacerError as error:
        is_of_file = isinstance(error, ScoresError) and str(scores) not in str(error)
        said = in_options(str(error))
        raise Refused(in_terminal(f"{scores}: {said}" if is_of_file else said)) from None


def _write(comparison: Comparison, drawn: Any, plot: Path | None, report: Path | None) -> None:
    """Write the picture, and the folder of a paper; Refused where that cannot be."""
    try:
        if plot is not None:
            with written(plot) as part:
                drawn.figure.savefig(part)
            say(f"Picture written to {plot}.", err=True)
        if report is not None:
            comparison.report(report)
            say(f"Table, figure, paragraph and references written to {report}.", err=True)
    except OSError as error:
        said = f"{error.filename or plot} cannot be written: {error.strerror or error}"
        raise Refused(said) from None
