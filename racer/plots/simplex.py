"""Draws of three proportions that sum to one, as points of a triangle."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from racer.errors import ScoresError
from racer.plots._canvas import BLACK, BLUE, GREEN, NORMAL, ORANGE, axes, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

_TOP = np.sqrt(0.75)
_MOST = 4000  # points drawn


def simplex(
    shares: ArrayLike, labels: Sequence[str], *, band: float | None = None, ax: Axes | None = None
) -> Axes:
    """Draw a posterior of three proportions as a cloud in a triangle.

    Parameters
    ----------
    shares : array_like, shape (draws, 3)
        Of the corners left, top, right; each row sums to 1. At most 4000 are drawn.
    labels : sequence of three str
        At the corners.
    band : float, optional
        The regions told apart are those where right less left, plus one, over two is below
        1/2 - band, between, above 1/2 + band. By default: where each proportion is the largest.
    ax : matplotlib Axes, optional

    Raises
    ------
    ScoresError
        Another shape.

    References
    ----------
    Benavoli, Corani, Demsar, Zaffalon: Time for a change (JMLR 2017), section 4.

    Examples
    --------
    >>> import numpy as np
    >>> draws = np.random.default_rng(1).dirichlet([2, 3, 10], size=500)
    >>> ax = simplex(draws, ["worse", "equivalent", "better"])
    >>> [text.get_text() for text in ax.texts]
    ['worse', 'equivalent', 'better']
    """
    points = np.asarray(shares, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 3 or len(labels) != 3:
        raise ScoresError(f"shares of shape {points.shape}: give (draws, 3), and three labels")
    points = points[:_MOST]
    ax = axes(ax, 5.2, 4.7)
    ax.set_axis_off()
    ax.set(xlim=(-0.05, 1.05), ylim=(-0.16, _TOP + 0.14), aspect="equal")
    x, y = points[:, 2] + points[:, 1] / 2.0, points[:, 1] * _TOP
    region = (
        np.argmax(points, axis=1) if band is None else 1 + (x >= 0.5 + band) - (x <= 0.5 - band)
    )
    for place, colour in enumerate((ORANGE, GREEN, BLUE)):
        mine = region == place
        ax.plot(x[mine], y[mine], ".", color=colour, markersize=2.5, alpha=0.35, rasterized=True)
    ax.plot([0, 0.5, 1, 0], [0, _TOP, 0, 0], color=BLACK, linewidth=1.2)
    for line in _borders(band):
        ax.plot(*line, color=BLACK, linewidth=0.9, linestyle=(0, (4, 3)))
    places = ((0.0, -0.03, "left", "top"), (0.5, _TOP + 0.02, "center", "bottom"))
    for label, (px, py, ha, va) in zip(
        labels, (*places, (1.0, -0.03, "right", "top")), strict=True
    ):
        ax.text(px, py, plain(label), ha=ha, va=va, fontsize=NORMAL)
    return ax


def _borders(band: float | None) -> list[tuple[list[float], list[float]]]:
    """Return the lines between the regions."""
    if band is None:
        centre = _TOP / 3.0
        ends = ((0.5, 0.0), (0.25, _TOP / 2.0), (0.75, _TOP / 2.0))
        return [([0.5, x], [centre, y]) for x, y in ends]
    return [([x, x], [0.0, 2.0 * min(x, 1.0 - x) * _TOP]) for x in (0.5 - band, 0.5 + band)]
