"""How many blocks a race takes, and how surely it finds the best: before any money is spent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from racer._checks import check_positive, whole
from racer._entry import entry
from racer.plots import _canvas
from racer.render.notebook import Displayed
from racer.render.sections import Grid, number
from racer.simulate.play import play
from racer.simulate.worlds import NormalWorld

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from racer.deciders.decider import Decider
    from racer.render.sections import Piece

__all__ = ["Power", "plan"]


@dataclass(frozen=True, eq=False, repr=False)
class Power(Displayed):
    """The power of races of several lengths, from `racer.plan`.

    Attributes
    ----------
    table : DataFrame
        blocks (allowed), evaluations (used, on average), right (how often the best is found),
        error (its standard error).
    candidates : int
    effect, noise : float

    Examples
    --------
    >>> import racer
    >>> power = racer.plan(candidates=4, effect=1.0, noise=1.0, blocks=20, repetitions=20)
    >>> list(power.table["blocks"])
    [5, 10, 20]
    """

    table: pd.DataFrame
    candidates: int
    effect: float
    noise: float

    def _pieces(self) -> list[Piece]:
        sure = self.table[self.table["right"] >= 0.95]
        said = f"More than {self.table['blocks'].max()} blocks are needed for P(right) of 0.95."
        if len(sure):
            first = sure.iloc[0]
            said = f"P(right) of 0.95 takes {first.blocks:.0f} blocks, {first.evaluations:.0f} evaluations."
        rows = [tuple(number(x, 3) for x in row) for row in self.table.itertuples(index=False)]
        return [said, Grid.of([*self.table.columns], rows)]

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw P(right) against evaluations; MissingExtraError without matplotlib."""
        found = _canvas.axes(ax, 5.0, 3.2)
        table = self.table
        points = table["evaluations"], table["right"], 2.0 * table["error"]
        found.errorbar(*points, color=_canvas.BLUE, marker="o", capsize=2.0)
        found.set(xlabel="evaluations", ylabel="P(right)", ylim=(0.0, 1.05))
        return found


@entry
def plan(
    *,
    candidates: int,
    effect: float,
    noise: float,
    blocks: int = 160,
    decider: str | Decider | None = None,
    repetitions: int = 100,
    n_jobs: int = 1,
    seed: int = 0,
) -> Power:
    """Estimate, by simulated races, how many blocks and evaluations finding the best takes.

    One candidate is better by the effect than all others, which are equal: the hardest case with
    that effect. Costs have normal noise, independent from candidate to candidate.

    Parameters
    ----------
    candidates : int >= 2
    effect : float > 0
        How much better the best is.
    noise : float > 0
        Standard deviation within a block; a level that all costs of a block share does not count.
        Differences of two candidates have 1.4 times as large a deviation.
    blocks : int >= 5
        The longest race; others are a half, a quarter, .. of it, down to five blocks.
    decider, repetitions, n_jobs, seed
        As in `racer.simulate.play`; by default the decider of `racer.race`.

    Returns
    -------
    Power

    Raises
    ------
    SettingError
        A setting out of range.

    Examples
    --------
    >>> import racer
    >>> power = racer.plan(candidates=4, effect=1.0, noise=0.2, blocks=10, repetitions=20)
    >>> bool(power.table["right"].iloc[-1] > 0.9)
    True
    """
    import pandas as pd  # noqa: PLC0415

    ahead, noise = check_positive(effect, "effect"), check_positive(noise, "noise")
    qualities = (0.0, *[ahead] * (whole(candidates, "candidates", least=2) - 1))
    world, rows = NormalWorld(len(qualities), noise, qualities=qualities), []
    left = whole(blocks, "blocks", least=5)
    while left >= 5:
        played = play(
            decider, world, blocks=left, repetitions=repetitions, n_jobs=n_jobs, seed=seed
        )
        right = (played.frame["mae"] == 0).astype(float)
        rows.append((left, played.summary["observations"], right.mean(), right.sem()))
        left //= 2
    table = pd.DataFrame(rows[::-1], columns=["blocks", "evaluations", "right", "error"])
    return Power(table, len(qualities), ahead, noise)
