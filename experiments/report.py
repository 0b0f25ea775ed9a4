"""Progress, tables and files of the studies."""

from __future__ import annotations

import csv
import math
import re
import time
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from racer.render.markup import markdown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = [
    "duration",
    "looks_alike",
    "markdown",
    "mean_and_error",
    "plus_minus",
    "print_row",
    "read",
    "save",
    "shrink",
    "takes",
    "with_progress",
    "words",
    "write",
]

T = TypeVar("T")


def takes(seconds: float, jobs: int) -> str:
    """Return about how long a run of so many seconds of one core takes."""
    cores = "one core" if jobs == 1 else f"{jobs} cores"
    return f"Takes about {duration(seconds / jobs + 2.0)} on {cores} with nothing else to do."


def with_progress(
    todo: Sequence[T], seconds: Sequence[float], jobs: int, label: Callable[[T], str]
) -> Iterator[T]:
    """Yield what is to do; progress and remaining time go to stderr.

    How long it takes goes to stdout: about, before the first, and truly, after the last.

    Parameters
    ----------
    todo : sequence
    seconds : sequence of float
        How long each is expected to take on one core: corrected as time goes by.
    jobs : int
    label : callable
        What is shown of each.
    """
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.description}, about {task.fields[left]} left"),
    )
    start, done, total = time.monotonic(), 0.0, math.fsum(seconds)
    print(f"{takes(total, jobs)}\n", flush=True)
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("", total=len(todo), left=duration(total / jobs))
        for each, expected in zip(todo, seconds, strict=True):
            progress.update(task, description=label(each))
            yield each
            done += expected
            left = (time.monotonic() - start) / done * (total - done)
            progress.update(task, advance=1, left=duration(left))
    print(f"Took {duration(time.monotonic() - start)}.\n")


def duration(seconds: float) -> str:
    """Return 95 seconds as "1 min 35 s"."""
    minutes, rest = divmod(round(max(seconds, 0.0)), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def mean_and_error(values: NDArray[np.float64]) -> tuple[float, float]:
    """Return the mean and its standard error (NaN if there is one value)."""
    n = len(values)
    return float(values.mean()), float(values.std(ddof=1) / math.sqrt(n)) if n > 1 else math.nan


def plus_minus(mean: float, error: float, digits: int = 2) -> str:
    """Return a mean and its standard error, if there is one."""
    if math.isnan(mean):
        return "-"
    return f"{mean:.{digits}f}" + ("" if math.isnan(error) else f" ± {error:.{digits}f}")


def print_row(*cells: object, head: bool = False) -> None:
    """Print a row of a table that is filled while it is printed."""
    print(f"| {' | '.join(map(str, cells))} |", flush=True)
    if head:
        print("|---" * len(cells) + "|", flush=True)


def read(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write(path: Path | None, rows: Sequence[dict[str, Any]]) -> None:
    """Write rows to a CSV file, numbers to six significant digits; None writes nothing.

    A row need not have all columns.
    """
    if path is None:
        return
    with path.open("w", newline="", encoding="utf-8") as file:
        names = dict.fromkeys(name for row in rows for name in row)
        writer = csv.DictWriter(file, list(names), lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in row.items()})
    print(f"\nWritten to {path}.")


GREY = "#768390"  # can be read on white and on black


def save(figure: Any, path: Path) -> None:
    """Write a picture as SVG, transparent, whose text and lines can be read on white and black."""
    import matplotlib as mpl  # noqa: PLC0415  (an extra)

    for artist in figure.findobj(lambda artist: not _is_in_cell(artist)):
        for what in ("color", "edgecolor", "facecolor", "markeredgecolor", "markerfacecolor"):
            get, change = getattr(artist, f"get_{what}", None), getattr(artist, f"set_{what}", None)
            if get is not None and change is not None and (grey := _grey_for(get())):
                change(grey)
    for legend in figure.findobj(mpl.legend.Legend):
        legend.set_frame_on(False)
    with mpl.rc_context({"svg.hashsalt": "racer", "svg.fonttype": "none"}):
        figure.savefig(path, transparent=True, dpi=150, metadata={"Date": None})


def _is_in_cell(artist: Any) -> bool:
    """Return True for text on a coloured cell, whose colour fits that."""
    from matplotlib.text import Annotation, Text  # noqa: PLC0415

    is_text = isinstance(artist, Text) and not isinstance(artist, Annotation)
    ax = getattr(artist, "axes", None)
    return is_text and ax is not None and artist in ax.texts and bool(ax.images)


def _grey_for(colour: Any) -> Any:
    """Return what takes the place of black, and of light grey; None for other colours."""
    from matplotlib.colors import to_rgba, to_rgba_array  # noqa: PLC0415

    try:
        found = to_rgba_array(colour)
    except (TypeError, ValueError):
        return None
    if len(found) != 1 or not found[0, 3] or np.ptp(found[0, :3]) > _HUE:
        return None
    if found[0, 0] < _DARK:
        return GREY
    return to_rgba(GREY, _FAINT) if _LIGHT < found[0, 0] < 1.0 else None


_HUE, _DARK, _LIGHT, _FAINT = 0.05, 0.2, 0.72, 0.35


_NUMBER = re.compile(r"-?\d+\.?\d*(?:e-?\d+)?")
_IMAGE = re.compile(r"data:image/png;base64,[\w+/=\s]+")
_NAME = re.compile(r"(?<=[\"#])[a-z][0-9a-f]{10}(?=[\")])")  # a hash of a shape's last digits
_NEAR = 2.0  # units of 1/72 inch that arithmetic of another processor may move something by


def looks_alike(one: str, other: str) -> bool:
    """Return True if two SVGs differ by nothing that can be seen; images within are not compared."""
    texts = [_numbered(_IMAGE.sub("", text)) for text in (one, other)]
    numbers = [[float(number) for number in _NUMBER.findall(text)] for text in texts]
    return words(one) == words(other) and all(
        a == b or abs(a - b) <= _NEAR for a, b in zip(*numbers, strict=True)
    )


def words(text: str) -> str:
    """Return an SVG or a page without its images, and with # for each number."""
    return _NUMBER.sub("#", _numbered(_IMAGE.sub("", text)))


def _numbered(text: str) -> str:
    """Return an SVG with the shapes named by their order, further apart than `_NEAR`."""
    order: dict[str, int] = {}
    return _NAME.sub(lambda found: f"{10 * order.setdefault(found[0], len(order))}", text)


def shrink(path: Path, notes: Mapping[str, str] | None = None) -> None:
    """Rewrite a PNG with a palette of 256 colours: a quarter of the bytes, and looks the same.

    Files of other formats stay as they are. `notes` are written into the file.
    """
    if path.suffix != ".png":
        return
    from PIL import Image  # noqa: PLC0415  (comes with matplotlib, an extra)
    from PIL.PngImagePlugin import PngInfo  # noqa: PLC0415

    within = PngInfo()
    for name, text in (notes or {}).items():
        within.add_text(name, text)
    with Image.open(path) as picture:
        coloured = picture.convert("RGB")
    drawn = coloured.quantize(256, kmeans=2, dither=Image.Dither.NONE)
    drawn.save(path, optimize=True, pnginfo=within)
