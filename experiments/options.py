"""Options of commands that several scripts have."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

__all__ = [
    "csv_option",
    "figures_option",
    "file_in_a_directory",
    "jobs_option",
    "number_option",
    "run_options",
    "seed_option",
    "words_option",
]


def number_option(flag: str, default: int, least: int = 1, **more: Any) -> Decorator:
    """Return an option that takes a whole number, not less than `least`."""
    return click.option(
        flag, type=click.IntRange(least), default=default, show_default=True, **more
    )


jobs_option = number_option("--jobs", 2)
seed_option = number_option("--seed", 1, least=0)


def run_options(repetitions: int, least: int = 1) -> Decorator:
    """Add --repetitions, with this default, --jobs and --seed."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        return number_option("--repetitions", repetitions, least)(jobs_option(seed_option(command)))

    return add


def words_option(
    flag: str, words: Iterable[Any], each: click.ParamType[Any] | None = None, **more: Any
) -> Decorator:
    """Return an option that takes words separated by blanks; by default all of `words`.

    Each is one of `words`, or converted by the type `each` where that is given.
    """
    words = [str(word) for word in words]
    kind = each or click.Choice(words)

    def convert(ctx: click.Context, param: click.Parameter, text: str) -> tuple[Any, ...]:
        if not text.split():
            raise click.BadParameter("give at least one")
        return tuple(dict.fromkeys(kind.convert(word, param, ctx) for word in text.split()))

    settings = {"show_default": True, **more}
    return click.option(flag, default=" ".join(words), callback=convert, **settings)


def file_in_a_directory(_: click.Context, __: click.Parameter, path: Path | None) -> Path | None:
    """Refuse a file whose directory does not exist."""
    if path is not None and not path.absolute().parent.is_dir():
        raise click.BadParameter(f"there is no directory {str(path.parent)!r}")
    return path


csv_option = click.option(
    "--csv",
    "csv_path",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    callback=file_in_a_directory,
    help="Write the table to this file.",
)

figures_option = click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(__file__).resolve().parents[1] / "docs" / "figures",
    help="Where the pictures go.  [default: docs/figures]",
)
