"""Output of the commands: answers on stdout, errors and warnings on stderr."""

from __future__ import annotations

import errno
import os
import re
import shlex
import shutil
import sys
import warnings
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from racer._files import write_text
from racer.cli.commands import main
from racer.errors import (
    BudgetError,
    RaceInterrupted,
    RacerError,
    RacerWarning,
    SettingError,
    SpaceFileError,
)
from racer.evaluate.recorded import SCORES
from racer.render.escape import in_csv, in_json, printable
from racer.render.sections import Code, Section
from racer.render.text import as_text, folded
from racer.results import summary as parts
from racer.results.ablation import AblationResult
from racer.results.page import command_line, race_table
from racer.results.tuning import TuneResult
from racer.run.signals import at_terminal
from racer.space.irace.table import written_configurations

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import pandas as pd

    from racer.render.sections import Piece
    from racer.results.race import RaceResult

NO_BEST = 3
_GOAL = r"(?:racer\.)?(?:Runtime|Within|Constrained|Pareto)\([^()=]*\)"
_VALUE = rf"""(?:{_GOAL}|\.\.|"[^"]*"|'[^']*'|\[[^]]*\]|\([^)]*\)|\{{[^}}]*\}}|[^\s,;:()'"\[{{]*[^\s,;:.()'"\[{{]|)"""
_NAME = r"(?<![\w{./'\"-])\w+"
_SETTINGS = rf"{_NAME}={_VALUE}(?:, {_NAME}={_VALUE})*"
_FORMS = re.compile(
    # calls of functions, and quotations, stay: there is no option for them
    r"""racer\.[a-z]+\(.*\)|(?<!\w)'[^'\n]*'|(?<!\w)"[^"\n]*"|"""
    r"(?:\w+=)?(?:racer\.)?(?:Instances|Budget|Limits|Search|Workers|deciders\.MeanRace)\("
    rf"(?:(?:\.\.|items), )?(?P<inner>{_SETTINGS})\)|(?P<goal>\b{_GOAL})|(?P<plain>{_SETTINGS})|"
    r"(?P<name>\b(?<![./-])[a-z]+_[a-z_]+\b(?! =))"
)
"""Settings as they are given in Python, one or several, and names that can be nothing else."""

_WIDTH, _NARROWEST = 80, 20  # columns of an answer


class Whole(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """A whole number of at least `least`, which may be written as 1e3."""

    name = "integer"

    def __init__(self, least: int | None = None) -> None:
        self._least = least

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number; UsageError if it is not one."""
        least = "" if self._least is None else f" of at least {self._least}"
        try:
            found = int(float(value)) if "e" in str(value).lower() else int(value)
        except (ValueError, OverflowError):
            found = None
        if (
            found is None
            or float(value) != found
            or (self._least is not None and found < self._least)
        ):
            self.fail(f"{value!r} is not a whole number{least}", param, ctx)
        return found


class Growing(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """A whole number, or the word growing."""

    name = "integer|growing"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | str:
        """Return the number or the word."""
        return "growing" if value == "growing" else Whole(1).convert(value, param, ctx)


class _Named(click.Path):
    """A file or a folder with a name: "-" is refused, as only answers are on standard output."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path; UsageError for "-"."""
        if str(value) == "-":
            self.fail("'-' is no name: give one, or ./- for a file of that name", param, ctx)
        return super().convert(value, param, ctx)


FILE = _Named(dir_okay=False, path_type=Path)
NAME = _Named(dir_okay=False)  # a file, as text
FOLDER = _Named(file_okay=False, path_type=Path)


class Refused(click.ClickException):
    """An argument or an option has a value that cannot work, or a table cannot be used."""

    exit_code = 2


@contextmanager
def reported() -> Iterator[None]:
    """Turn errors into exit code 1, or 2 for a setting, an interrupt into its own.

    Warnings become a line each.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("always", RacerWarning)
        warnings.showwarning = lambda message, *_, **__: tell(f"racer: {in_options(str(message))}")
        try:
            yield
        except RacerError as error:
            is_setting = isinstance(error, SettingError | BudgetError)
            is_refused = is_setting and not isinstance(error, SpaceFileError)
            kind = Refused if is_refused else click.ClickException
            raise kind(in_terminal(in_options(str(error)))) from None
        except RaceInterrupted as stop:
            if not stop.kept:
                tell(f"racer: {stop}")
            sys.exit(stop.code)


def say(text: object, *, err: bool = False) -> None:
    """Write a line to standard output, or standard error, as text without markup.

    A standard error that cannot be written, as on a full disk, ends no command.
    """
    with suppress(OSError) if err else nullcontext():
        click.echo(printable(str(text)), err=err)


def tell(message: str) -> None:
    """Write a message to standard error."""
    say(in_terminal(message), err=True)


def confirm(question: str) -> None:
    """Ask a question; Abort unless the answer is yes, ClickException where nobody can answer."""
    try:
        is_yes = click.confirm(question, err=True)
    except (click.Abort, RuntimeError, OSError, ValueError) as error:
        if isinstance(error, click.Abort) and sys.stdin.isatty():  # Ctrl-C
            raise
        raise click.ClickException("it asks, and nobody can answer here: give --yes") from None
    if not is_yes:
        raise click.Abort


def in_options(message: str) -> str:
    """Return a message with its settings, arguments of Python, as options of the running command.

    After the command line of a program nothing is racer's own.
    """
    said, mark, rest = message.partition("\ncommand: ")
    said = _FORMS.sub(_as_options, said)
    if said.endswith("--goal max or --goal min"):
        context = click.get_current_context()
        said += (
            f"; if larger is better: racer {context.info_name} {context.meta['typed']} --goal max"
        )
    return said + mark + rest


def _as_options(found: re.Match[str]) -> str:
    """Return options instead of settings; what is none of the running command's stays."""
    context = click.get_current_context(silent=True)
    params = [] if context is None else context.command.params
    options = {one.name: one for one in params if isinstance(one, click.Option)}
    if (form := found.lastgroup) is None:
        return found[0]
    text = {"name": f"{found[0]}=", "goal": f"goal={found[0]}"}.get(form, found[form])
    texts = []
    for name, value in re.findall(rf"({_NAME})=({_VALUE})", text):
        kind, is_goal, given = value.removeprefix("racer.").removesuffix(")").partition("(")
        if not (is_goal and kind):
            of = "generalize" if name == "population" else name
            kind, given = of, value
        elif given.startswith("{"):  # of several metrics that of a front
            kind = "goal"
        if (option := options.get(kind.lower())) is None or kind == "evaluate":
            return found[0]
        texts.append(_as_option(option, given))
    return " ".join(texts)


def _as_option(option: click.Option, value: str) -> str:
    """Return an option with a value that is written as in Python; .. is any."""
    flag = max(option.opts, key=len)
    if option.secondary_opts and value:
        return flag if value in {"True", "'max'"} else option.secondary_opts[0]
    if value in {"", ".."}:
        return f"{flag} {option.metavar or ''}".rstrip() if value else flag
    if value[0] in "[({" and '"' not in value:  # JSON stays as it was typed
        given = re.sub(r"""[][(){}'" ]""", "", value).replace(":", "=")
    else:
        given = value.strip("'\"") if value not in {"True", "False"} else value.lower()
    return f"{flag} {given if given.endswith('..') else shlex.quote(given)}"


def in_terminal(message: str) -> str:
    """Return a message for standard error, broken between words if that is a terminal."""
    return folded(message, shutil.get_terminal_size().columns) if at_terminal() else message


def answer_width() -> int:
    """Return the width of an answer: 80 columns, or a narrower terminal's."""
    if sys.stdout is None or not sys.stdout.isatty():
        return _WIDTH
    return max(min(shutil.get_terminal_size().columns, _WIDTH), _NARROWEST)


def _new_file(_: click.Context, __: click.Parameter, path: Path | None) -> Path | None:
    """Refuse a file that is there already, before anything is evaluated."""
    if path is not None and os.path.lexists(path):
        raise _there_already(path)
    return path


def _new_tables(_: click.Context, __: click.Parameter, folder: Path | None) -> Path | None:
    """Refuse a folder that has a table of a result, before anything is evaluated."""
    if folder is not None:
        for name in TuneResult._frame_names:  # noqa: SLF001  (a race has fewer)
            _new_file(_, __, folder / f"{name}.csv")
    return folder


def forms(command: Callable[..., Any], *, is_run: bool = True) -> Callable[..., Any]:
    """Add the options for the form of an answer; before a run, files are refused that are there."""
    new_tables = _new_tables if is_run else None
    says = "Write the survivors, best first, to this file, as irace's tables are."
    command = click.option("--configurations", type=FILE, callback=_new_file, help=says)(command)
    says = "Write all tables into this folder."
    command = click.option("--csv", type=FOLDER, callback=new_tables, help=says)(command)
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def give(
    result: RaceResult | TuneResult | AblationResult,
    settings: Mapping[str, Any],
    *,
    as_json: bool,
    csv: Path | None = None,
    configurations: Path | None = None,
) -> None:
    """Print the answer, write the files asked for, and exit with NO_BEST if there is no best.

    The answer comes first, so that a file that cannot be written does not hide it.
    """
    if isinstance(result, AblationResult):
        say(json_of(result.to_dict()) if as_json else shown(result))
        if csv is not None:
            write_frames(csv, result)
        if configurations is not None:
            raise click.ClickException("--configurations: an ablation has no survivors")
        return
    line = command_line(settings)
    begun = "tune" if isinstance(result, TuneResult) else "race"
    command: Any = main.get_command(click.Context(main), begun)
    of = settings.get("evaluate", SCORES)  # of a store
    if "command" not in settings and not of.startswith(SCORES):
        command = click.Command(begun)  # it was begun in Python: settings stay arguments
    with click.Context(command):  # it has the options of this run
        found = result.to_dict(line)
        found["verdict"] = [*map(in_options, found["verdict"])]
        say(json_of(found) if as_json else _answer(result, line))
    if configurations is not None:
        if isinstance(result, TuneResult):
            names = list(result.space.parameters)
        else:  # those of all configurations, in their order
            dicts = [config for config in result.configs if isinstance(config, dict)]
            names = list(dict.fromkeys(name for config in dicts for name in config))
        configs = [result.config(candidate) for candidate in result.leaders]
        write_new(configurations, written_configurations(configs, names))
    if csv is not None:
        write_frames(csv, result)
    if result.best_index is None:
        sys.exit(NO_BEST)


@contextmanager
def given_if_interrupted(settings: Mapping[str, Any], **form: Any) -> Iterator[None]:
    """Print the result so far of an interrupted run without a store, and exit with its code."""
    try:
        yield
    except RaceInterrupted as stop:
        if stop.kept:
            raise
        tell("racer: interrupted; this is known so far, and recorded only with --store")
        with suppress(SystemExit):
            give(stop.result, settings, **form)
        sys.exit(stop.code)


def shown(result: Any) -> str:
    """Return an answer as text: as `print` does, with settings as options."""
    return _as_text(result._pieces())  # noqa: SLF001


def _as_text(pieces: Sequence[Piece]) -> str:
    return as_text([*map(_worded, pieces)], answer_width())


def _worded(piece: Piece) -> Piece:
    """Return a piece with the settings of its sentences as options."""
    if isinstance(piece, Section):
        return piece._replace(pieces=tuple(map(_worded, piece.pieces)))
    return in_options(piece) if isinstance(piece, str) else piece


def json_of(payload: dict[str, Any]) -> str:
    """Return a result as JSON."""
    return in_json(payload, indent=2, default=str)


def _answer(result: RaceResult | TuneResult, line: Callable[[Any], str] | None) -> str:
    """Return the best with its command line, the survivors, the races, the latest eliminations."""
    pieces = parts.summary(result)
    if line is not None and result.best_index is not None:
        pieces.insert(-1, Section("As a command line", (Code(line(result.best)),)))
    if parts.has_successes(result):
        if not result.rules.is_front:
            pieces[-1:-1] = parts.configurations(result)
        if isinstance(result, TuneResult) and result.completed_races:
            pieces.insert(-1, race_table(result, result.completed_races))
        if len(result.eliminations):
            pieces.insert(-1, parts.eliminations(result))
    if result.known.failures:
        pieces.insert(-1, parts.failures(result))
    return _as_text(pieces)


def write_new(path: Path, text: str) -> None:
    """Write a file that is not there yet, and its folder; ClickException if that cannot be."""
    with refused_as(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, text, is_new=True)


@contextmanager
def refused_as(path: Path) -> Iterator[None]:
    """Turn an OSError into a ClickException that names a file."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.EEXIST and "store" not in str(error.strerror):
            raise _there_already(path) from None
        raise click.ClickException(f"{path} cannot be written: {error.strerror or error}") from None


def _there_already(path: Path) -> click.ClickException:
    return click.ClickException(f"{path} is there already: give another name")


def write_frames(folder: Path, result: RaceResult | TuneResult | AblationResult) -> None:
    """Write all tables of a result into a folder; none if one of them cannot be written."""
    done: list[Path] = []
    try:
        for name, frame in result.frames.items():
            indexed = frame.index.name is not None
            path = folder / f"{name}.csv"
            write_new(path, csv_of(frame.reset_index() if indexed else frame))
            done.append(path)
    except BaseException:
        for path in done:
            with suppress(OSError):
                path.unlink()
        raise


def csv_of(frame: pd.DataFrame) -> str:
    """Return a table as CSV in which no spreadsheet finds a formula."""
    texts = frame.copy()
    for place, kind in enumerate(frame.dtypes):
        if kind.kind == "O":
            texts.isetitem(place, in_csv(frame.iloc[:, place].tolist()))
    return texts.to_csv(index=False, header=in_csv(frame.columns))
