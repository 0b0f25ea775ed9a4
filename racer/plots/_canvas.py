"""What all pictures share: axes to draw on, and colours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from racer.errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito (2008), without yellow, which is hard to see on white
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILION, PURPLE, GREY = "#0072B2", "#D55E00", "#CC79A7", "#777777"
COLOURS = (BLUE, ORANGE, GREEN, VERMILION, PURPLE, SKY, BLACK, GREY)
MARKERS = ("o", "s", "^", "D", "v")
SMALL, NORMAL = 8.5, 9.5
DPI = 130


def axes(ax: Axes | None, width: float, height: float) -> Axes:
    """Return `ax`, or the axes of a new figure of that size in inches.

    Raises
    ------
    MissingExtraError
        Without matplotlib.
    """
    if ax is not None:
        return ax
    require()
    from matplotlib.figure import Figure  # noqa: PLC0415  (an extra)

    # not by pyplot: nothing is kept open, and no display is needed
    return Figure(figsize=(width, height), dpi=DPI, layout="constrained").add_subplot()


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
            "pictures need matplotlib, which is not installed: pip install 'racer[plot]'"
        ) from error


def plain(text: str) -> str:
    """Return text in which a dollar is a dollar, and begins no formula."""
    return text.replace("$", r"\$")


def clear(ax: Axes, *keep: str) -> None:
    """Remove the frame but for the sides named."""
    for side in ("left", "right", "top", "bottom"):
        ax.spines[side].set_visible(side in keep)
