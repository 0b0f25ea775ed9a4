"""Pairs: an interval each, beside their names (a forest plot), or a matrix of probabilities."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np

from racer.errors import ScoresError
from racer.plots._canvas import (
    BLUE,
    DASHED,
    GREEN,
    GREY,
    NORMAL,
    SMALL,
    VERMILION,
    axes,
    beside,
    check_columns,
    clear,
    legend,
    name_rows,
    one_line,
    plain,
    shortened_apart,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

# what was decided: its colour, its marker, and whether that is filled
STYLES = {
    "better": (BLUE, "o", True),
    "equivalent": (GREEN, "s", True),
    "undecided": (VERMILION, "o", False),
    "indeterminate": (GREY, "D", False),
}


def pair_labels(better: Iterable[object], worse: Iterable[object]) -> list[str]:
    """Return "a > b" for each pair, with long names shortened as far as they stay different."""
    pairs = list(zip(better, worse, strict=True))
    names = list(dict.fromkeys(name for pair in pairs for name in pair))
    short = dict(zip(names, shortened_apart(names), strict=True))
    return [f"{short[one]} > {short[other]}" for one, other in pairs]


def intervals(
    frame: pd.DataFrame,
    *,
    decisions: Sequence[str] | None = None,
    notes: Sequence[str] | None = None,
    notes_title: str = "",
    reference: float | None = None,
    rope: tuple[float, float] | None = None,
    caption: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw a point and an interval per line, the first on top.

    Parameters
    ----------
    frame : DataFrame
        A row per line: estimate, low, high; the index has the labels.
    decisions : sequence of str, optional
        For each "better", "equivalent", "undecided" or "indeterminate": colour and marker.
    notes : sequence of str, optional
        Written on the right of each line, under `notes_title`.
    reference : float, optional
        A value to compare them with.
    rope : pair of float, optional
        The region of practical equivalence, shaded.
    caption : str
        Label of the axis.
    ax : matplotlib Axes, optional

    Raises
    ------
    ScoresError
        A column is missing, lengths do not agree, or an unknown decision.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"estimate": 0.7, "low": 0.6, "high": 0.8}, index=["a > b"])
    >>> ax = intervals(frame, decisions=["better"], reference=0.5)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['a > b']
    """
    check_columns(frame, "estimate", "low", "high")
    labels = list(map(one_line, frame.index))
    q = len(labels)
    kinds = ["better"] * q if decisions is None else list(decisions)
    if {len(kinds), len(notes or labels)} != {q}:
        raise ScoresError(f"the frame has {q} rows: give as many decisions and notes")
    if unknown := set(kinds) - set(STYLES):
        raise ScoresError(f"decision {min(unknown)!r}: choose from {', '.join(STYLES)}")
    longest = max((len(label) for label in labels), default=0)
    height = 0.95 + 0.235 * q + 0.45 * (decisions is not None) + 0.17 * caption.count("\n")
    ax = axes(ax, 4.8 + 0.075 * longest, height)
    if rope is not None:
        ax.axvspan(*rope, color="#DDDDDD", zorder=0, label="practically equivalent")
    if reference is not None:
        ax.axvline(reference, zorder=1, **DASHED)
    _marks(ax, frame, kinds)
    name_rows(ax, labels, caption, NORMAL)
    ticks = ax.xaxis.get_major_formatter().format_ticks(ax.get_xticks().tolist())
    # there is room for many short ticks
    if max(map(len, ticks), default=0) > 5:
        ax.locator_params(axis="x", nbins=6)
    for place, note in enumerate(notes or ()):
        where = ax.get_yaxis_transform()
        ax.text(1.02, place, note, transform=where, va="center", fontsize=SMALL)
    if notes:
        beside(ax, notes_title, (1.02, 1.0), (0, 2), xycoords="axes fraction", color=GREY)
    if decisions is not None:
        legend(ax, *ax.get_legend_handles_labels(), below=True, columns=3)
    return ax


def _marks(ax: Axes, frame: pd.DataFrame, kinds: Sequence[str]) -> None:
    middle, start, end = (frame[name].to_numpy() for name in ("estimate", "low", "high"))
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


_NUMBERED = 16  # names with which there is room for numbers


def matrix(
    values: ArrayLike,
    names: Sequence[str],
    words: Sequence[Sequence[str]],
    *,
    caption: str = "P(row better than column)",
    symmetric: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw a matrix of pairs in colours, with its numbers if there are at most 16 names.

    Parameters
    ----------
    values : array_like, shape (m, m)
        From 0 to 1; NaN leaves a field empty.
    names : sequence of str, length m
    words : sequence of sequences of str, m x m
        Texts of the fields.
    caption : str
        Label of the values.
    symmetric : bool
        Whether colours are to be symmetric about 0.5, as of probabilities that one is better.
    ax : matplotlib Axes, optional

    Raises
    ------
    ScoresError
        Sizes that differ.

    Examples
    --------
    >>> ax = matrix([[np.nan, 0.9], [0.1, np.nan]], ["a", "b"], [["", "0.900"], ["0.100", ""]])
    >>> [text.get_text() for text in ax.texts]
    ['0.900', '0.100']
    """
    table = np.asarray(values, dtype=np.float64)
    m = len(names)
    if table.shape != (m, m) or [len(row) for row in words] != [m] * m:
        raise ScoresError(f"values {table.shape}, {m} names: sizes differ")
    side = max(min(0.52 * m, 8.0), 1.6) if m <= _NUMBERED else 8.0
    labels = shortened_apart(names, 24)
    margin = 0.09 * max(map(len, labels), default=0)
    ax = axes(ax, side + margin + max(1.2, 0.6 + margin / 2), side + margin * 0.8 + 0.3)
    picture = ax.imshow(
        np.ma.masked_invalid(table), cmap="PuOr_r" if symmetric else "cividis", vmin=0.0, vmax=1.0
    )
    if m <= _NUMBERED:
        for i, j in np.argwhere(np.isfinite(table)).tolist():
            # white letters on dark fields, by brightness as the eye weighs the colours
            red, green, blue, _ = picture.cmap(table[i, j])
            ax.text(
                j,
                i,
                words[i][j],
                ha="center",
                va="center",
                fontsize=SMALL - 1,
                color="white" if 0.3 * red + 0.6 * green + 0.1 * blue < 0.5 else "black",
            )
    size = NORMAL if m <= _NUMBERED else max(min(SMALL, 8.0 * 72 / m / 1.2), 2.5)
    step = 1 if m <= 110 else -(-m // 60)
    shown = [*map(plain, labels)][::step]
    ax.set_yticks(range(0, m, step), shown, fontsize=size)
    ax.set_xticks(
        range(0, m, step), shown, fontsize=size, rotation=60, ha="left", rotation_mode="anchor"
    )
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    clear(ax)
    bar = ax.figure.colorbar(picture, ax=ax, shrink=0.7, aspect=30, pad=0.02)
    tall = 72 * side * 0.7 / (0.55 * SMALL)  # letters beside the bar
    bar.set_label(fill(plain(caption), max(int(tall), 12)), fontsize=SMALL)
    bar.ax.tick_params(labelsize=SMALL)
    bar.outline.set_visible(False)
    return ax
