"""Axes to draw on, colours and legends, for all pictures."""

from __future__ import annotations

import sys
from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING, Any

from racer.errors import MissingExtraError, ScoresError
from racer.render.escape import printable
from racer.render.sections import OF_PAGE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito (2008), without yellow, which is hard to see on white
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILION, PURPLE, GREY = "#0072B2", "#D55E00", "#CC79A7", "#777777"
COLOURS = (BLUE, ORANGE, GREEN, VERMILION, PURPLE, SKY, BLACK, GREY)
MARKERS = ("o", "s", "^", "D", "v")
SMALL, NORMAL = 8.5, 9.5
DPI = 130
DASHED: dict[str, Any] = {"color": BLACK, "linewidth": 0.9, "linestyle": (0, (4, 3))}
ABOVE: dict[str, Any] = {"borderaxespad": 0.2, "ncols": 4, "fontsize": SMALL, "frameon": False}


def check_columns(frame: pd.DataFrame, *needed: str) -> None:
    """Raise ScoresError if the frame has not all these columns."""
    if missing := [name for name in needed if name not in frame]:
        raise ScoresError(f"the frame has no column {missing[0]!r}: it must have {list(needed)}")


def axes(ax: Axes | None, width: float, height: float) -> Axes:
    """Return `ax`, or the axes of a new figure of that size in inches, which a notebook shows."""
    if ax is not None:
        return ax
    return canvas(width, height).add_subplot(axes_class=_kinds()[1])


def canvas(width: float, height: float) -> Figure:
    """Return a new figure of that size in inches, which a notebook shows.

    Where pyplot is in use it is pyplot's current figure, so that `plt.savefig` and `plt.show` find
    it; elsewhere nothing is kept open, and no display is needed.
    """
    require()
    kind, pyplot = _kinds()[0], sys.modules.get("matplotlib.pyplot")
    given: dict[str, Any] = {"figsize": (width, height), "dpi": DPI, "layout": "constrained"}
    if pyplot is None or OF_PAGE.get():
        return kind(**given)
    figure: Figure = pyplot.figure(FigureClass=kind, **given)
    return figure


@cache
def _kinds() -> tuple[type[Figure], type[Axes]]:
    """Return figures and axes that are shown where they are the last line of a notebook's cell."""
    from matplotlib import axes, figure  # noqa: PLC0415  (an extra)

    class ShownFigure(figure.Figure):
        def _repr_png_(self) -> tuple[bytes, dict[str, int]] | None:
            return _png(self)

    class ShownAxes(axes.Axes):
        def _repr_png_(self) -> tuple[bytes, dict[str, int]] | None:
            return _png(self.get_figure(root=False))

    return ShownFigure, ShownAxes


def _png(figure: Any) -> tuple[bytes, dict[str, int]] | None:
    """Return a picture for a notebook, with twice the pixels, and the size it is shown in.

    None if the notebook shows it by itself, as it does with the open figures of pyplot.
    """
    pyplot: Any = sys.modules.get("matplotlib.pyplot")
    is_open = pyplot is not None and pyplot.fignum_exists(getattr(figure, "number", -1))
    if is_open and "inline" in pyplot.get_backend():
        return None
    file = BytesIO()
    figure.savefig(file, format="png", dpi=2 * DPI)
    # an inch is 110 pixels in a notebook
    width, height = (round(inches * 110) for inches in figure.get_size_inches())
    return file.getvalue(), {"width": width, "height": height}


def one_line(text: str) -> str:
    """Return text without line breaks, and with escapes for invisible characters."""
    return " ".join(printable(text).split())


def shortened(text: str, most: int = 28) -> str:
    """Return text with its middle left out, if it is longer."""
    text = one_line(text)
    if len(text) <= most:
        return text
    tail = most // 3
    return f"{text[: most - tail - 1]}…{text[-tail:]}"


def shortened_apart(names: Iterable[object], most: int = 28) -> list[str]:
    """Return names as text, shortened by no more than leaves different ones different."""
    texts = [one_line(str(name)) for name in names]
    while True:
        shown = [shortened(text, most) for text in texts]
        if len(set(shown)) == len(set(texts)):
            return shown
        most += 4


def whole_ticks(ax: Axes) -> None:
    """Put the ticks of the x axis at whole numbers."""
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415

    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))


def empty(words: str, *, ax: Axes | None = None) -> Axes:
    """Write why there is nothing to draw.

    Parameters
    ----------
    words : str
    ax : matplotlib Axes, optional

    Examples
    --------
    >>> [text.get_text() for text in empty("Nothing was evaluated.").texts]
    ['Nothing was evaluated.']
    """
    ax = axes(ax, 5.0, 1.2)
    ax.set_axis_off()
    ax.text(0.5, 0.5, plain(words), ha="center", va="center", wrap=True, fontsize=NORMAL)
    return ax


def legend(
    ax: Axes, handles: Sequence[Artist], words: Sequence[str], *, below: bool, columns: int = 1
) -> None:
    """Put a legend outside the axes: below, under the label of the x axis, or on the right."""
    from matplotlib.transforms import ScaledTranslation  # noqa: PLC0415  (an extra)

    label = ax.xaxis.label.get_fontproperties().get_size_in_points()
    lines = 1 + ax.xaxis.label.get_text().count("\n")
    under = 13 + 1.2 * (SMALL + lines * label)  # points: a tick, its label, the axis label
    right, up = (0.0, -under / 72) if below else (8 / 72, 0.0)
    points = ScaledTranslation(right, up, ax.figure.dpi_scale_trans)
    ax.legend(
        handles,
        [plain(word) for word in words],
        loc="upper center" if below else "center left",
        bbox_to_anchor=(0.5, 0.0) if below else (1.0, 0.5),
        bbox_transform=ax.transAxes + points,
        borderaxespad=0.0,
        ncols=columns,
        fontsize=SMALL,
        handlelength=None if below else 3.2,
    )


def entry(text: str) -> str:
    """Return the label of a line in a legend; one without letters would be a number of its own."""
    return plain(text) or " "


def entries(handles: Iterable[Artist]) -> dict[str, list[Any]]:
    """Return a legend's handles and labels; by itself it leaves out names that begin with "_"."""
    found = list(handles)
    return {"handles": found, "labels": [handle.get_label() for handle in found]}


def rows(ax: Axes, places: Sequence[int], names: Sequence[str], size: float = SMALL) -> None:
    """Put names at rows, which have neither ticks nor a frame."""
    ax.set_yticks(places, [plain(name) for name in names], fontsize=size)
    ax.tick_params(axis="x", labelsize=SMALL)
    ax.tick_params(axis="y", length=0)
    clear(ax, "bottom")


def name_rows(ax: Axes, names: Sequence[str], caption: str, size: float = SMALL) -> None:
    """Put names at the rows 0, 1, .., the first on top, and the label of the x axis."""
    rows(ax, range(len(names)), names, size)
    ax.set(ylim=(len(names) - 0.4, -0.6), xlabel=plain(caption))
    ax.grid(axis="x", alpha=0.3)


def curves(ax: Axes, xlabel: str, ylabel: str) -> None:
    """Label the axes of curves, with a grid and without the upper half of the frame."""
    ax.set(xlabel=plain(xlabel), ylabel=plain(ylabel))
    ax.tick_params(labelsize=SMALL)
    ax.grid(alpha=0.3)
    clear(ax, "left", "bottom")


Place = tuple[float, float]


def beside(ax: Axes, words: str, at: Place, by: Place, size: float = SMALL, **style: Any) -> None:
    """Write words at an offset in points, `by`, from a place."""
    ax.annotate(words, at, xytext=by, textcoords="offset points", fontsize=size, **style)


def require() -> None:
    """Raise MissingExtraError, with the install command, unless there is matplotlib.

    Examples
    --------
    >>> require()
    """
    try:
        import matplotlib.figure  # noqa: F401, PLC0415
    except ImportError as error:
        raise MissingExtraError(
            "pictures need matplotlib, which is not installed: pip install 'racer-tuning[plot]'"
        ) from error


def plain(text: str) -> str:
    """Return text in which a dollar sign begins no formula, and no letter lacks a picture."""
    return printable(text).replace("\t", " ").replace("$", r"\$")


def clear(ax: Axes, *keep: str) -> None:
    """Remove the frame except for the sides named."""
    for side in ("left", "right", "top", "bottom"):
        ax.spines[side].set_visible(side in keep)
