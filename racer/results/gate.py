"""The result of a gate: whether a change is worse than the baseline."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from racer._checks import counted
from racer._numerics import TIE, as_json
from racer.deciders.gate import BASELINE, CHANGE, differences
from racer.render.escape import escape_markdown
from racer.render.markup import markdown_table
from racer.render.notebook import Displayed
from racer.render.sections import Grid, number
from racer.results import summary
from racer.results.posterior import costs_shown
from racer.stats._bets import difference_bounds, free_limits, mean_limits

if TYPE_CHECKING:
    from racer.render.sections import Piece
    from racer.results.race import RaceResult

__all__ = ["GateResult"]

Answer = Literal["passes", "worse", "undecided"]
_MARKS = {"passes": "✅", "worse": "❌", "undecided": "❔"}
_MOST = 10  # items in a comment


def answer_of(race: RaceResult) -> Answer:
    """Return the answer of a race of the baseline and the change: which left, unless it broke."""
    left = {gone.candidate: gone.reason for gone in race._eliminations}
    if left.get(BASELINE) == "rejected" or not left:
        return "undecided"
    return "worse" if CHANGE in left else "passes"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class GateResult(Displayed):
    """Whether a change is worse than the baseline by more than a margin.

    Attributes
    ----------
    answer : {"passes", "worse", "undecided"}
        "passes": not worse by more than the margin; "worse": by more; each is wrong with probability
        alpha at most. "undecided": the budget, or the run, ended before.
    evaluations : int
        Calls of `evaluate`.
    n_items : int
        Number of items: as many calls would be all.
    difference, low, high : float
        Mean of the change less the baseline over the items seen, in units of the score, and its confidence
        interval of `level`, about all items; it holds whenever the gate ended.
    level : float
        1 - 2 alpha: each side is as sure as an answer.
    means : (float, float)
        Of the baseline and of the change, over the items seen; failed ones count as the worst.
    scores : dict of str to float
        Scores of the change by item; None where it failed.
    better, worse, equal : int
        Items on which the change is better, worse, as good.
    failures : dict of str to str
        Why the change failed, by item.
    metric : str
        Name of the score.
    margin, alpha : float
        As they were given; a margin in percent, in units of the score.
    bounds : (float, float) or None
        The smallest and the largest score. None: decided by signs and means together.
    seed : int
        The seed that repeats the order of items.
    race : RaceResult
        The race of the baseline (candidate 0) and the change (1).

    Examples
    --------
    >>> import racer
    >>> main = {f"q{i}": float(i % 5 > 0) for i in range(400)}
    >>> result = racer.gate(main, lambda item: 1.0, margin=0.02, goal="max", seed=1)
    >>> result.answer, result.evaluations < 200, result.difference > 0
    ('passes', True, True)
    """

    answer: Answer
    metric: str
    margin: float
    alpha: float
    bounds: tuple[float, float] | None
    difference: float
    low: float
    high: float
    level: float
    means: tuple[float, float]
    better: int
    worse: int
    equal: int
    evaluations: int
    n_items: int
    seed: int
    failures: dict[str, str]
    scores: dict[str, float | None]
    race: RaceResult

    @classmethod
    def of(cls, race: RaceResult, metric: str, margin: float) -> GateResult:
        """Return the result of a race of the baseline and the change."""
        decider: Any = race.rules.decider
        names, place, alpha = race.instances or (), race.stream.instance, 2.0 * decider.alpha
        cells = race.known.cells()
        made = {names[place(block) or 0]: one for block, c, one in cells if c == CHANGE}
        costs = costs_shown(race.known, 2, race.stream, race.rules)
        costs = costs[~np.isnan(costs).any(axis=1)]
        d = differences(costs, race.rules.cost_bounds, decider.worst)
        d = (1.0 if race.rules.maximize else -1.0) * np.where(abs(d) <= TIE, 0.0, -d)
        mean = float(d.mean()) if len(d) else math.nan
        sign = -1.0 if race.rules.maximize else 1.0
        baseline = sign * float(costs[:, BASELINE].mean()) if len(d) else math.nan
        bounds = race.rules.bounds
        if len(d) in (0, len(names)):  # nothing is known, or nothing is left to be known
            low, high = (mean, mean) if len(d) else (-math.inf, math.inf)
        elif bounds is None:
            low, high = free_limits(d, alpha)
        else:
            ends = difference_bounds(bounds) or bounds
            limits = mean_limits(d[:, None], ends, n_blocks=len(names), alpha=alpha)
            low, high = (float(end[0]) for end in limits)
        better, worse = int((sign * d < 0).sum()), int((sign * d > 0).sum())
        return cls(
            answer=answer_of(race),
            metric=metric,
            margin=margin,
            race=race,
            alpha=decider.alpha,
            bounds=bounds,
            level=1.0 - alpha,
            seed=race.seed,
            difference=mean,
            low=low,
            high=high,
            means=(baseline, baseline + mean),
            better=better,
            worse=worse,
            equal=len(d) - better - worse,
            evaluations=len(made),
            n_items=len(names),
            failures={name: one.message for name, one in made.items() if one.status != "ok"},
            scores={name: one.value for name, one in made.items()},
        )

    def _pieces(self) -> list[Piece]:
        margin = number(self.margin)
        said = {
            "passes": f"Passes: not worse by more than {margin}.",
            "worse": f"Worse by more than {margin}.",
            "undecided": f"Undecided: whether it is worse by more than {margin} is not known yet.",
        }[self.answer]
        ended = self.race.ended if self.answer == "undecided" else "decided"
        end = summary.end(ended, f"{self.evaluations} of {self.n_items} items", "item")
        head = (
            "score",
            "baseline",
            "change",
            "difference",
            f"limits, {100 * (1.0 - self.alpha):g} % each",
        )
        shown = [*(number(mean) for mean in self.means), f"{self.difference:+.3g}"]
        is_known = np.isfinite([self.low, self.high]).all()
        ends = f"{number(self.low, 3)} to {number(self.high, 3)}" if is_known else "not known yet"
        notes = (
            f"{self.better} items better, {self.worse} worse, {self.equal} equal. "
            f"{end}. Repeat with seed={self.seed}."
        )
        if self.failures:
            item, why = next(iter(self.failures.items()))
            failed = f"{counted(len(self.failures), 'item')} failed, and count as the worst score"
            notes += f" {failed}; the first, {item}: {' '.join(why.split())[:200]}."
        if self.bounds is None:
            notes += " No bounds of the scores: decided by signs and by means (t, approximate)."
        return [said, Grid.of(head, [(self.metric, *shown, ends)], ["score"]), notes]

    def to_markdown(self) -> str:
        """Return a comment for a pull request."""
        said, grid, notes = self._pieces()
        title = f"### {_MARKS[self.answer]} {escape_markdown(str(said))}"
        parts = [title, markdown_table(grid), escape_markdown(str(notes))]  # type: ignore[arg-type]
        sign = 1.0 if self.race.rules.maximize else -1.0
        names, table = self.race.instances or (), self.race.table
        both = ((names[self.race.stream.instance(b) or 0], *row) for b, *row in table.itertuples())
        gaps = [(sign * (new - old), name, f"{old:.4g} → {new:.4g}") for name, old, new in both]
        lost = [*self.failures.items(), *(one[1:] for one in sorted(gaps) if one[0] < 0)]
        if lost:
            rows = [(item, why[:200]) for item, why in lost[:_MOST]]
            grid = Grid.of(("item", "score"), rows, ("item", "score"))
            head = f"Items that got worse ({len(lost)}; here {len(rows)})"
            parts.append(
                f"<details><summary>{head}</summary>\n\n{markdown_table(grid)}\n\n</details>"
            )
        return "\n\n".join(parts) + "\n"

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain data; None where a number is not known."""
        found = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "race"}
        plain: dict[str, Any] = as_json(found | {"ended": self.race.ended.value})
        return plain
