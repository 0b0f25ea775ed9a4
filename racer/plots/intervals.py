"""Intervals beside their names, one line each: a forest plot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from racer.errors import ScoresError
from racer.plots._canvas import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    NORMAL,
    SMALL,
    VERMILION,
    axes,
    clear,
    legend,
    plain,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

# what was decided: its colour, its marker, and whether that is filled
STYLES = {
    "better": (BLUE, "o", True),
    "equivalent": (GREEN, "s", True),
    "undecided": (VERMILION, "o", False),
    "indeterminate": (GREY, "D", False),
}


def intervals(
    labels: Sequence[str],
    estimate: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    *,
    decisions: Sequence[str] | None = None,
    notes: Sequence[str] | None = None,
    notes_title: str = "",
    reference: float | None = None,
    rope: tuple[float, float] | None = None,
    caption: str = "",
    limits: tuple[float, float] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a point and an interval per line, the first on top.

    Parameters
    ----------
    labels : sequence of str, length q
    estimate, low, high : array_like, shape (q,)
    decisions : sequence of str, optional
        For each "better", "equivalent", "undecided" or "indeterminate": colour and marker.
    notes : sequence of str, optional
        Written on the right of each line, under `notes_title`.
    reference : float, optional
        A value to compare them with.
    rope : pair of float, optional
        The region of practical equivalence, shaded.
    caption : str
        What the axis shows.
    limits : pair of float, optional
        Of the axis.
    ax : matplotlib Axes, optional

    Raises
    ------
    ScoresError
        Lengths that do not agree, or an unknown decision.

    Examples
    --------
    >>> ax = intervals(["a > b"], [0.7], [0.6], [0.8], decisions=["better"], reference=0.5)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['a > b']
    """
    q = len(labels)
    middle, start, end = (np.asarray(v, dtype=np.float64) for v in (estimate, low, high))
    kinds = ["better"] * q if decisions is None else list(decisions)
    if {len(middle), len(start), len(end), len(kinds), len(notes or labels)} != {q}:
        raise ScoresError(f"{q} labels: give as many estimates, ends, decisions and notes")
    if unknown := set(kinds) - set(STYLES):
        raise ScoresError(f"decision {min(unknown)!r}: choose from {', '.join(STYLES)}")
    longest = max((len(label) for label in labels), default=0)
    ax = axes(ax, 4.8 + 0.075 * longest, 0.95 + 0.235 * q + 0.45 * (decisions is not None))
    if rope is not None:
        ax.axvspan(*rope, color="#DDDDDD", zorder=0, label="practically equivalent")
    if reference is not None:
        ax.axvline(reference, color=BLACK, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
    _marks(ax, middle, start, end, kinds)
    ax.set_yticks(range(q), [plain(label) for label in labels], fontsize=NORMAL)
    ax.set(ylim=(q - 0.4, -0.6), xlabel=plain(caption))
    if limits is not None:
        ax.set_xlim(limits)
    ax.tick_params(axis="x", labelsize=SMALL)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", alpha=0.3)
    clear(ax, "bottom")
    _write(ax, notes or (), notes_title)
    if decisions is not None:
        legend(ax, *ax.get_legend_handles_labels(), below=True, columns=3)
    return ax


def _marks(
    ax: Axes,
    middle: NDArray[np.float64],
    start: NDArray[np.float64],
    end: NDArray[np.float64],
    kinds: Sequence[str],
) -> None:
    for kind, (colour, marker, filled) in STYLES.items():
        mine = np.array([k == kind for k in kinds], dtype=bool)
        if mine.any():
            ax.hlines(np.flatnonzero(mine), start[mine], end[mine], color=colour, linewidth=1.8)
            ax.plot(
                middle[mine],
                np.flatnonzero(mine),
                marker,
                color=colour,
                markerfacecolor=colour if filled else "white",
                markeredgewidth=1.5,
                markersize=6,
                label=kind,
            )


def _write(ax: Axes, notes: Sequence[str], title: str) -> None:
    """Write notes on the right of the lines."""
    where = ax.get_yaxis_transform()
    for place, note in enumerate(notes):
        ax.text(1.02, place, note, transform=where, va="center", fontsize=SMALL)
    if notes:
        ax.annotate(
            title,
            (1.02, 1.0),
            xycoords="axes fraction",
            xytext=(0, 2),
            textcoords="offset points",
            fontsize=SMALL,
            color=GREY,
        )
