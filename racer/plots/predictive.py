"""A predictive check: how many counts lie within the intervals that a model predicts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from racer.errors import ScoresError
from racer.plots._canvas import BLACK, BLUE, ORANGE, SMALL, axes, clear

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def predictive_check(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the fraction of counts within predictive intervals against their level.

    A model that fits stays on or above the diagonal, except by chance; above it because counts
    are whole numbers, and because the model was fitted to them.

    Parameters
    ----------
    frame : DataFrame
        From `BradleyTerryResult.predictive_check`: level, wins and, with Davidson's model, ties.
    ax : matplotlib Axes, optional

    Raises
    ------
    ScoresError
        A column is missing.

    Examples
    --------
    >>> import pandas as pd
    >>> ax = predictive_check(pd.DataFrame({"level": [0.5, 0.9], "wins": [0.8, 1.0]}))
    >>> ax.get_xlabel()
    'level of the interval'
    """
    columns = [name for name in ("wins", "ties") if name in frame]
    if "level" not in frame or not columns:
        raise ScoresError("the frame must have the columns 'level' and 'wins'")
    ax = axes(ax, 4.2, 4.2)
    ax.plot([0, 1], [0, 1], color=BLACK, linewidth=0.9, linestyle=(0, (4, 3)), label="as nominal")
    for name, colour, marker in zip(columns, (BLUE, ORANGE), ("o", "s"), strict=False):
        ax.plot(
            frame["level"],
            frame[name],
            color=colour,
            marker=marker,
            markersize=6,
            linewidth=1.6,
            label=name,
            clip_on=False,
        )
    ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", xlabel="level of the interval")
    ax.set_ylabel("share of pairs within it")
    ax.tick_params(labelsize=SMALL)
    ax.grid(alpha=0.3)
    clear(ax, "left", "bottom")
    ax.legend(loc="lower right", fontsize=SMALL)
    return ax
