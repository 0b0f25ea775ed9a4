"""Metrics of a result: the front, the posterior of the goal, all means."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from racer._numerics import widened
from racer.deciders.parts.several import FAILED
from racer.failures import impute_by_block
from racer.stats._validation import frozen
from racer.stats.best import BestPosterior
from racer.stats.several import Means, drawn_fronts, intervals, known_means

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from racer.core.objective import Aim
    from racer.core.table import Table
    from racer.deciders.decider import Goal

    Floats = NDArray[np.float64]

_LEVEL = 0.95
_DIGITS = 6  # of probabilities by which candidates are in order
_LEAST = 5  # blocks, before a metric is said to have no noise


class _Front(NamedTuple):
    """Eligible candidates: shares on the front (m,), their order, and draws held by the first.

    These are the draws whose whole front is among the first k candidates, for k from 1.
    """

    shares: NDArray[np.float64]
    order: NDArray[np.intp]
    held: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Metrics:
    """The metrics of a result: a table of each, and joint results."""

    aim: Aim
    known: Table
    n_candidates: int
    n_blocks: int | None  # of which all means are, if these are all there are

    @cached_property
    def tables(self) -> dict[str, Table]:
        """The table of each metric, the value's metric first."""
        return self.aim.tables(self.known)

    def held_out(self, tests: Table) -> dict[str, Table]:
        """Return a table of each metric on held-out instances; empty without any."""
        return self.aim.tables(tests) if len(tests) else {}

    @cached_property
    def eligible(self) -> list[int]:
        """The candidates that have been evaluated, and have not been rejected."""
        rejected = self.known.rejected
        seen = [c for c in range(self.n_candidates) if self.known.of(c)]
        return [c for c in seen if c not in rejected] or seen

    def costs(self, names: Sequence[str]) -> Floats:
        """Return the costs of eligible candidates in some metrics, (d, n, m)."""
        return np.array([self.tables[name].all_costs(self.eligible) for name in names])

    def exact(self, names: Sequence[str]) -> NDArray[np.bool_]:
        """Return which of some metrics are known exactly."""
        return np.array([self.aim.metrics[name].exact for name in names])

    @cached_property
    def front_names(self) -> tuple[str, ...]:
        """The metrics of the front: named by `racer.Pareto`, else all."""
        return self.aim.deciding if self.aim.is_front else self.aim.names

    @cached_property
    def _front(self) -> _Front:
        """Shares, order and coverage of the front, from draws of the posterior."""
        names = self.front_names
        drawn = drawn_fronts(self.costs(names), self.exact(names), n_blocks=self.n_blocks)
        shares = drawn.mean(axis=0)
        order = np.argsort(-shares.round(_DIGITS), kind="stable")
        # the place in this order of the last member of each drawn front
        last = drawn.shape[1] - 1 - drawn[:, order][:, ::-1].argmax(axis=1)
        return _Front(shares, order, np.bincount(last).cumsum())

    @property
    def probability_front(self) -> dict[int, float]:
        """The posterior probability of each candidate that it is on the front."""
        found = dict.fromkeys(range(self.n_candidates), float(self.n_candidates == 1))
        if self.eligible and len(self.known):
            found |= dict(zip(self.eligible, self._front.shares.tolist(), strict=True))
        return found

    def likeliest_first(self, candidates: Iterable[int]) -> tuple[int, ...]:
        """Return candidates, likeliest on the front first; of one probability, by number."""
        chances = self.probability_front
        return tuple(sorted(candidates, key=lambda c: (-round(chances[c], _DIGITS), c)))

    @cached_property
    def likely_front(self) -> tuple[int, ...]:
        """The candidates that are on the front with at least .5, likeliest first."""
        likely = [c for c, chance in self.probability_front.items() if chance >= 0.5]
        return self.likeliest_first(likely)

    @cached_property
    def credible_front(self) -> tuple[int, ...]:
        """The fewest candidates, likeliest first, that hold the whole front with .95."""
        return self.front_with(_LEVEL)

    def front_with(self, level: float) -> tuple[int, ...]:
        """Return the fewest candidates, likeliest first, that hold the whole front with a level."""
        if not self.eligible or not len(self.known):
            return tuple(range(self.n_candidates)) if self.n_candidates == 1 else ()
        held = self._front.held
        size = int(np.searchsorted(held, np.ceil(level * held[-1]))) + 1
        return tuple(self.eligible[i] for i in self._front.order[:size].tolist())

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """Sentences on metrics of the objective that have no noise, or separate no candidates."""
        found = []
        for name in self.aim.deciding if self.aim.goal is not None else ():
            values = self.tables[name].values(self.n_candidates)
            seen = ~np.isnan(values)
            if seen.sum(axis=0).max(initial=0) < _LEAST:
                continue
            high = np.where(seen, values, -np.inf).max(axis=0)
            low = np.where(seen, values, np.inf).min(axis=0)
            known = seen.any(axis=0)
            if (low[known] < high[known]).any():
                continue
            if np.ptp(high[known]) == 0.0:
                found.append(
                    f"{name!r} is the same for all candidates: leave it out of the objective."
                )
            elif not self.aim.metrics[name].exact:
                found.append(
                    f"{name!r} is the same on every block: goal={{{name!r}: "
                    f'racer.Metric("{self.aim.metrics[name].direction}", exact=True), ..}} needs '
                    "fewer evaluations."
                )
        return tuple(found)

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row per candidate evaluated: P(on the front), and each mean with its interval.

        Means are NaN without a success.
        """
        import pandas as pd  # noqa: PLC0415

        columns: dict[str, Any] = {
            "probability_front": [self.probability_front[c] for c in self.eligible]
        }
        names = self.aim.names
        if self.eligible and len(self.known):
            costs = self.costs(names)
            found = intervals(costs, self.exact(names), n_blocks=self.n_blocks)
            known = np.where(np.isfinite(costs).any(axis=1).T, 1.0, np.nan)  # a success
            for d, name in enumerate(names):
                sign = self.aim.metrics[name].sign * known[:, d]
                mean, low, high = (sign * table[:, d] for table in found)
                columns |= {f"metric:{name}": mean}
                columns |= {f"low:{name}": np.minimum(low, high)}
                columns |= {f"high:{name}": np.maximum(low, high)}
        frame = pd.DataFrame(columns, index=pd.Index(self.eligible, name="candidate"))
        return frame.loc[list(self.likeliest_first(self.eligible))]

    def posterior(self, goal: Goal, among: Collection[int] | None = None) -> BestPosterior:
        """Return the posterior of being the answer, or of being on the front.

        The answer is sought `among` these candidates, if not all; never a rejected one.
        """
        names, m = self.aim.deciding, self.n_candidates
        if not self.eligible or not len(self.known):
            return BestPosterior(frozen(np.full(m, 1.0 / m)), frozen(np.zeros(m)), 0)
        costs = self.costs(names)
        means = known_means(costs[0])
        if goal.kind == "front":
            probability = self._front.shares
        else:
            model = Means(
                _as_raced(costs, goal),
                self.exact(names),
                by_block=False,
                n_blocks=self.n_blocks,
            )
            sought = sought_of(self.eligible, among)
            shares = [_sought(model.drawn(turn), goal, sought).mean(axis=0) for turn in model.turns]
            probability = np.mean(shares, axis=0)
        found = BestPosterior(frozen(probability), frozen(means), costs.shape[1])
        return found.among(self.eligible, m)


def _as_raced(costs: Floats, goal: Goal) -> Floats:
    """Return costs (d, n, m) in which a failed cell has the worst value, where there is one.

    Beside limits of one's own it costs as much as in a race: a price that shows who is better does
    not measure whether a limit is met. Blocks on which all failed are as they are.
    """
    costs = costs.copy()
    failed = np.isposinf(costs)
    failed &= ~failed.all(axis=2, keepdims=True)
    for at, bounds in enumerate(goal.bounds):
        if goal.exact[at]:
            continue
        if bounds is not None:
            costs[at][failed[at]] = bounds[1]
        elif goal.kind == "constrained":
            costs[at][failed[at]] = impute_by_block(costs[at], ranges=FAILED)[failed[at]]
    return costs


def sought_of(eligible: Sequence[int], among: Collection[int] | None) -> NDArray[np.bool_]:
    """Return which eligible candidates are `among` some: all of them if none is, or without any."""
    sought = np.isin(eligible, eligible if among is None else list(among))
    return np.asarray(sought | (not sought.any()))


def _sought(drawn: Floats, goal: Goal, among: NDArray[np.bool_]) -> Floats:
    """Return the share of each candidate in being the answer, (p, m), of draws (p, m, d).

    It is sought `among` some, (m,); tolerances count from the best mean of all.
    """
    others, limits = drawn[:, :, 1:], np.array(goal.limits)
    if goal.kind == "within":
        limits = limits + others.min(axis=1, keepdims=True)
    fits = among & (np.isfinite(others) & (others <= widened(limits, others))).all(axis=2)
    price = np.where(fits, drawn[:, :, 0], np.inf)
    first = fits & (price <= price.min(axis=1, keepdims=True))
    return np.asarray(first / np.maximum(first.sum(axis=1, keepdims=True), 1))
