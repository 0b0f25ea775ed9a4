"""Common parts of deciders of several metrics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from racer._numerics import tie_sizes, widened
from racer.deciders.decider import Drop, Verdict
from racer.deciders.parts.e_processes import as_e_values, with_frozen
from racer.errors import SettingError
from racer.failures import FailedCells
from racer.stats._bets import MeanBets, difference_bounds
from racer.stats.hypervolume import thinned

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from racer.deciders.decider import Goal, GoalKind, Setting

    Floats = NDArray[np.float64]

FAILED = 4.0  # ranges of a block: a failed cell is so far behind its worst
_OBJECTIVES = {"front": "Pareto", "within": "Within", "constrained": "Constrained"}


def required_goal(setting: Setting, kind: GoalKind) -> Goal:
    """Return the race's goal; SettingError unless it is of this kind."""
    goal = setting.objective
    if goal == "cost" or goal.kind != kind:
        raise SettingError(f"decider={kind!r} is for goal=racer.{_OBJECTIVES[kind]}(..)")
    return goal


def exact_means(sums: Floats, counts: Floats | NDArray[np.int64]) -> Floats:
    """Return candidates' means so far; +inf where every cell has failed."""
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.inf)


class FiniteCosts:
    """Costs of one block after the other, failed cells as the worst there is, NaN if exact."""

    def __init__(self, goal: Goal) -> None:
        self._goal, self._failed = goal, [FailedCells(FAILED) for _ in goal.exact]

    def of(self, row: Floats) -> Floats:
        """Return the finite costs of a block, (m, d)."""
        goal, columns = self._goal, []
        for costs, bounds, exact, failed in zip(
            row.T, goal.bounds, goal.exact, self._failed, strict=True
        ):
            if exact:
                columns.append(np.where(np.isfinite(costs), costs, np.nan))
            elif bounds is None:
                columns.append(failed.imputed(costs))
            else:
                columns.append(np.clip(costs, *bounds))
        return np.stack(columns, axis=1)


@dataclass
class Sought:
    """State of a race for one candidate: sums of the metrics, and evidence on the first one."""

    goal: Goal
    finite: FiniteCosts
    start: int  # candidates
    candidates: NDArray[np.intp]
    sums: Floats  # (m, d)
    counts: Floats  # (m, d)
    log_e_eliminated: Floats  # (m,), of the weighted evidence of eliminated opponents
    dearer: MeanBets | None  # than each other, in the first metric; None: known exactly
    given_up: NDArray[np.bool_]
    against: Floats  # (m, m), the weighted evidence of each opponent at the last test
    succeeded: NDArray[np.bool_]  # (m,), at least once
    cheaper: Floats | None = None  # (m,), how many are cheaper, where that is known

    @classmethod
    def new(cls, setting: Setting, goal: Goal) -> Sought:
        """Return the state of a race in which nothing has been seen."""
        m, dearer = setting.n_candidates, None
        if not goal.exact[0]:
            possible = difference_bounds(goal.bounds[0])
            dearer = MeanBets((m, m), (0.0,), bounds=possible, n_blocks=setting.n_blocks)
        sums, counts = np.zeros((2, m, goal.n_metrics))
        return cls(
            *(goal, FiniteCosts(goal), m, np.arange(m), sums, counts),
            *(np.full(m, -np.inf), dearer),
            *(np.zeros(m, dtype=np.bool_), np.full((m, m), -np.inf)),
            np.zeros(m, dtype=np.bool_),
        )

    def keep(self, candidates: NDArray[np.intp]) -> NDArray[np.intp]:
        """Forget all but these candidates, freeze evidence of the others; return positions."""
        kept = np.searchsorted(self.candidates, candidates)
        if len(kept) == len(self.candidates):
            return kept
        self.log_e_eliminated = with_frozen(self.log_e_eliminated, self.against, kept)
        self.candidates, self.sums = self.candidates[kept], self.sums[kept]
        self.given_up, self.counts = self.given_up[kept], self.counts[kept]
        self.succeeded = self.succeeded[kept]
        self.cheaper = None if self.cheaper is None else self.cheaper[kept]
        if self.dearer is not None:
            self.dearer.keep(kept)
        return kept

    def add(self, row: Floats) -> Floats:
        """Take in a block, (m, d), +inf where a cell failed; return its finite costs."""
        self.succeeded |= np.isfinite(row).all(axis=1)
        costs = self.finite.of(row)
        self.sums += np.nan_to_num(costs)
        self.counts += ~np.isnan(costs)
        if self.dearer is not None:
            self.dearer.add(costs[:, None, 0] - costs[None, :, 0])
        return costs

    @property
    def means(self) -> Floats:
        """The mean costs so far, (m, d); +inf where every cell failed."""
        return exact_means(self.sums, self.counts)

    def log_dearer(self) -> tuple[Floats, Floats]:
        """Return evidence that i costs more than j, (m, m), and how many opponents may be cheaper."""
        m = len(self.candidates)
        if self.dearer is not None:
            found = self.dearer.log_e()
            np.fill_diagonal(found, -np.inf)
            return found, np.full(m, self.start - 1.0)
        price = self.means[:, 0]
        if self.cheaper is None:
            self.cheaper = (price[None, :] < price[:, None]).sum(axis=1).astype(np.float64)
        found = np.where(price[None, :] < price[:, None], np.inf, -np.inf)
        return found, self.cheaper


def verdict_on_one(
    sought: Sought,
    alpha: float,
    *,
    unfit: Floats,
    acceptable: Floats,
    worse: Floats,
    beside: Floats | None,
) -> Verdict:
    """Return the verdict of a race for the cheapest acceptable candidate.

    `unfit` is evidence that i is not acceptable, (m,) or for each opponent (m, m); `acceptable` that j
    is, (m,), and `beside` beside each opponent. `worse` is evidence that j is acceptable, or nearer
    to it than i, (m, m): without it, an unacceptable candidate stays. Candidates that never
    succeeded stand last.
    """
    m, is_own = len(sought.candidates), unfit.ndim == 1
    dearer, cheaper = sought.log_dearer()
    better = np.minimum(acceptable[None, :], dearer)
    np.fill_diagonal(better, -np.inf)
    # without cheaper opponents, all of the weight is on evidence that i is not acceptable
    share = np.where(cheaper > 0.0, 0.5, 0.0)
    with np.errstate(divide="ignore"):
        by_others = np.log(share / np.maximum(cheaper, 1.0))[:, None] + better
        own = np.log(1.0 - share)
    alone = np.full(m, -np.inf)
    if is_own:
        sought.against, alone = by_others, own + unfit
        found_unfit = alone
    else:
        by_unfit = own[:, None] + unfit - np.log(sought.start - 1)
        sought.against = np.logaddexp(by_unfit, by_others)
        found_unfit = np.logaddexp.reduce(by_unfit, axis=1)
    is_better = np.logaddexp.reduce(by_others, axis=1) >= found_unfit
    total = np.logaddexp(np.logaddexp.reduce(sought.against, axis=1), alone)
    total = np.logaddexp(total, sought.log_e_eliminated)
    sought.given_up = total >= -np.log(alpha)
    means = sought.means
    over = excess(sought.goal, means)
    seems_fit = ~sought.given_up & sought.succeeded & (over == 0.0)
    nobody_fits = is_own and not seems_fit.any()  # then the nearest come first, whoever is given up
    given_up = sought.given_up & (not nobody_fits)
    order = np.lexsort((means[:, 0], over, given_up, ~sought.succeeded))
    standing = np.empty(m)
    standing[order] = np.arange(m)
    first = int(order[0])
    leave = sought.given_up & ((worse.max(axis=1) >= np.log(m / alpha)) | (is_better & is_own))
    leave[first] = False
    last_first = order[::-1] if nobody_fits else np.argsort(-total, kind="stable")
    places = [i for i in last_first.tolist() if leave[i]]
    open_ones = int((~sought.given_up).sum())
    stay = np.flatnonzero(~leave)
    settled = open_ones <= 1 and (
        len(stay) == 1 if beside is None else bool((beside[first][stay] >= -np.log(alpha)).all())
    )
    return Verdict(
        tuple(
            _drop(
                sought,
                i,
                first,
                total[i],
                np.where(
                    leave, -np.inf, (worse if is_own and not is_better[i] else sought.against)[i]
                ),
                is_better=is_better[i],
            )
            for i in places
        ),
        int(sought.candidates[first]),
        standing,
        {"open": float(open_ones)},
        settled=settled,
    )


def _drop(
    sought: Sought,
    place: int,
    first: int,
    total: float,
    evidence: Floats,
    *,
    is_better: np.bool_,
) -> Drop:
    """Return the drop of a position, against the opponent of the strongest evidence, (m,)."""
    is_known = np.isfinite(evidence).any() and int(evidence.argmax()) != place
    against = int(evidence.argmax()) if is_known else first
    return Drop(
        int(sought.candidates[place]),
        "inferior" if is_better else "unacceptable",
        against=int(sought.candidates[against]),
        probability=float(as_e_values(total)),
        measure="e-value",
    )


def best_first(goal: Goal, means: Floats) -> list[int]:
    """Return the places of candidates in the order in which mean costs, (m, d), serve a goal."""
    if goal.kind == "front":
        return _by_layers(means)
    return [int(i) for i in np.lexsort((means[:, 0], excess(goal, means)))]


def excess(goal: Goal, means: Floats) -> Floats:
    """Return by how much mean costs, (m, d), exceed the limits of a goal at most, (m,); 0 if none.

    Of several limits, each counts in its metric's spread, so that units do not matter.
    """
    others, limits = means[:, 1:], np.array(goal.limits)
    if goal.kind == "within":
        limits = limits + others.min(axis=0)
    with np.errstate(invalid="ignore"):  # inf - inf and inf / inf, of one that failed
        over = np.where(others <= widened(limits, others), 0.0, others - limits)
        if len(goal.limits) > 1:
            over = np.nan_to_num(over / _spreads(others), nan=np.inf, posinf=np.inf)
    return np.asarray(over.max(axis=1))


def _spreads(means: Floats) -> Floats:
    """Return the usual distance of candidates from the median one in each metric of (m, d), (d,).

    Candidates equal to it do not count; +inf if all are, as the metric separates none then.
    """
    found = np.full(means.shape[1], np.inf)
    for at, column in enumerate(means.T):
        known = column[np.isfinite(column)]
        if len(known):
            middle = np.median(known)
            distance = np.abs(known - middle)
            distance = np.sort(distance[distance > tie_sizes(known, middle)])
            found[at] = distance[(len(distance) - 1) // 2] if len(distance) else np.inf
    return found


def _by_layers(means: Floats) -> list[int]:
    """Return places by layers of undominated candidates, each by hypervolume."""
    left, order = np.arange(len(means)), []
    while len(left):
        some = means[left]
        worse = np.asarray((some[:, None] >= some[None]).all(axis=2))
        worse &= np.asarray((some[:, None] > some[None]).any(axis=2))
        layer = left[~worse.any(axis=1)]
        order += [int(layer[i]) for i in thinned(means[layer], len(layer))]
        left = left[worse.any(axis=1)]
    return order
