"""A matrix of pairs: how probably the row is better than the column."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from racer.errors import ScoresError
from racer.plots._canvas import NORMAL, SMALL, axes, clear, plain, shortened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

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
        What is written into the fields.
    caption : str
        What the values are.
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
    most = 24
    margin = 0.09 * min(max(map(len, names), default=0), most)
    ax = axes(ax, side + margin + 1.2, side + margin * 0.8 + 0.3)
    picture = ax.imshow(
        np.ma.masked_invalid(table), cmap="PuOr_r" if symmetric else "cividis", vmin=0.0, vmax=1.0
    )
    if m <= _NUMBERED:
        for i, j in np.argwhere(np.isfinite(table)).tolist():
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
    shown = [plain(shortened(name, most)) for name in names][::step]
    ax.set_yticks(range(0, m, step), shown, fontsize=size)
    ax.set_xticks(
        range(0, m, step), shown, fontsize=size, rotation=60, ha="left", rotation_mode="anchor"
    )
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    clear(ax)
    bar = ax.figure.colorbar(picture, ax=ax, shrink=0.7, aspect=30, pad=0.02)
    bar.set_label(plain(caption), fontsize=SMALL)
    bar.ax.tick_params(labelsize=SMALL)
    bar.outline.set_visible(False)
    return ax
