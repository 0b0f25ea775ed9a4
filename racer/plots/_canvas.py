"""Axes to draw on, colours and legends, for all pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from racer.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

# Okabe and Ito (2008), without yellow, which is hard to see on white
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILION, PURPLE, GREY = "#0072B2", "#D55E00", "#CC79A7", "#777777"
COLOURS = (BLUE, ORANGE, GREEN, VERMILION, PURPLE, SKY, BLACK, GREY)
MARKERS = ("o", "s", "^", "D", "v")
SMALL, NORMAL = 8.5, 9.5
DPI = 130


def axes(ax: Axes | None, width: float, height: float) -> Axes:
    """Return `ax`, or the axes of a new figure of that size in inches."""
    if ax is not None:
        return ax
    require()
    from matplotlib.figure import Figure  # noqa: PLC0415  (an extra)

    # not by pyplot: nothing is kept open, and no display is needed
    return Figure(figsize=(width, height), dpi=DPI, layout="constrained").add_subplot()


def legend(
    ax: Axes, handles: Sequence[Artist], words: Sequence[str], *, below: bool, columns: int = 1
) -> None:
    """Put a legend outside the axes: below, under the label of the x axis, or on the right."""
    from matplotlib.transforms import ScaledTranslation  # noqa: PLC0415  (an extra)

    label = ax.xaxis.label.get_fontproperties().get_size_in_points()
    under = 13 + 1.2 * (SMALL + label)  # points: a tick, its label, that of the axis
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


def require() -> None:
    """Raise MissingExtraError, which says what to install, unless there is matplotlib.

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
    """Return text in which a dollar sign does not begin a formula."""
    return text.replace("$", r"\$")


def clear(ax: Axes, *keep: str) -> None:
    """Remove the frame except for the sides named."""
    for side in ("left", "right", "top", "bottom"):
        ax.spines[side].set_visible(side in keep)
