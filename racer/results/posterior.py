"""The posterior of the best of a contest's candidates: which costs it compares, and how."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from racer.deciders.correlated_t import CorrelatedTRace
from racer.deciders.mean import MeanRace
from racer.deciders.parts.groups import GroupMeans
from racer.failures import penalty
from racer.results.metrics import sought_of
from racer.stats.best import BestPosterior, best_posterior, plausible

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from numpy.typing import NDArray

    from racer.core.blocks import Stream
    from racer.core.rules import Rules
    from racer.core.table import Table
    from racer.stats.places import Measure

    # from candidates (m,) and their costs, (n, m), to (k, m, m)
    Covariances = Callable[[Sequence[int], NDArray[np.float64]], NDArray[np.float64]]


def rounded(posterior: BestPosterior) -> NDArray[np.float64]:
    """Return probabilities to be the best, (m,), such that rounding does not tell equals apart."""
    return posterior.probability_best.round(6)


def likeliest(posterior: BestPosterior, leader: int) -> int:
    """Return the likeliest best of a posterior: the decider's leader, if none is likelier.

    It is that, too, where probably no candidate is the answer.
    """
    chances, best = rounded(posterior), posterior.best
    none = 1.0 - float(posterior.probability_best.sum())
    return leader if chances[leader] == chances[best] or none > 0.5 else best


def goes_by_means(rules: Rules, *, is_exact: bool = False) -> bool:
    """Return whether mean costs are compared as they are, not in units of each block.

    `is_exact`: in a tuning without noise, the best of whose candidates differ most on the instances
    between which they have to choose, so that the spread within a block cannot serve as a unit.
    """
    return is_exact or rules.runtime is not None or rules.decider.by_means


def as_compared(
    costs: NDArray[np.float64], rules: Rules, *, by_means: bool = True
) -> tuple[NDArray[np.float64], Measure]:
    """Return costs (n, m) as `best_posterior` takes them, and its measure: run times have their own."""
    if rules.runtime is not None:
        return rules.runtime.compared(costs)
    return costs, "mean" if by_means else "rank"


def posterior_of(
    known: Table,
    n_candidates: int,
    stream: Stream,
    rules: Rules,
    correlation: float = 0.0,
    covariances: Covariances | None = None,
    among: Collection[int] | None = None,
    *,
    by_means: bool,
) -> BestPosterior:
    """Return the posterior of the best of all candidates, `by_means` or in units of each block.

    The best is sought `among` these candidates, if not all; never a rejected one. Where scores
    have bounds, a failed cell has the worst.
    """
    if isinstance(rules.decider, CorrelatedTRace):
        correlation = rules.decider.correlation
    if not n_candidates:
        return BestPosterior(np.zeros(0), np.zeros(0), 0)
    rejected = known.rejected
    eligible = [c for c in range(n_candidates) if c not in rejected] or list(range(n_candidates))
    of_others = is_of_others(rules, stream)
    rows = _rows_compared(known, eligible, n_candidates, stream, rules)
    costs, measure = as_compared(rows.costs, rules, by_means=by_means)
    instances = None
    if stream.n_instances is not None and not correlation:
        instances = [stream.unit(block) or 0 for block in rows.blocks]
    sought = sought_of(eligible, among)
    kernels = None
    if covariances is not None and not correlation and np.isfinite(costs).any():
        some = plausible(costs, sought)
        costs, sought = costs[:, some], sought[some]
        eligible = [eligible[i] for i in some.tolist()]
        kernels = covariances(eligible, costs)
    found = best_posterior(
        costs,
        measure=measure,
        correlation=correlation,
        n_blocks=None if correlation or of_others else rows.n_blocks,
        instances=instances,
        generalize=rules.generalizes(stream.n_units),
        covariances=kernels,
        among=np.flatnonzero(sought),
        penalty=None if rules.runtime is None or kernels is not None else rules.runtime.penalty,
    )
    return found.among(eligible, n_candidates)


class _Rows(NamedTuple):
    """Costs (n, m) that are compared, and the block of each row: of a group, its last.

    `n_blocks` is how many rows there are in all, if few.
    """

    costs: NDArray[np.float64]
    blocks: list[int]
    n_blocks: int | None


def _rows_compared(
    known: Table,
    eligible: list[int],
    n_candidates: int,
    stream: Stream,
    rules: Rules,
) -> _Rows:
    """Return the blocks, or the means of groups, by which candidates are compared.

    Groups are compared by their means, unless these would hide a penalty, which is a failure: then
    blocks are compared, and a group's blocks count as one instance's.
    """
    costs = known.all_costs(eligible, stream.instance)
    n_blocks = n_blocks_of(known, stream, costs)
    if rules.cost_bounds is not None:
        costs = np.minimum(costs, rules.cost_bounds[1])
    cells = _Rows(costs, known.counted(eligible, stream.instance), n_blocks)
    if stream.groups is None or penalty(costs) is not None:
        return cells
    shown, ends = _shown(known, n_candidates, stream, rules)
    has_success = np.isfinite(shown[:, eligible]).any(axis=1)
    means = shown[has_success][:, eligible]
    blocks = np.array(ends, dtype=np.intp)[has_success].tolist()
    return _Rows(means, blocks, _n_groups_of(known, stream, len(shown)))


def is_of_population(rules: Rules) -> bool:
    """Return whether the means of a population are raced for, of which the items are a sample."""
    return isinstance(rules.decider, MeanRace) and rules.decider.population


def is_of_others(rules: Rules, stream: Stream) -> bool:
    """Return whether claims are about other instances than those given; with each used once, not."""
    if stream.length is None:
        return rules.generalizes(stream.n_units)
    return is_of_population(rules) or bool(rules.generalize)


def costs_shown(
    known: Table, n_candidates: int, stream: Stream, rules: Rules
) -> NDArray[np.float64]:
    """Return costs as a decider is shown them, blocks or whole groups x candidates, in their order.

    NaN: not evaluated. Where scores have bounds, a failed cell has the worst.
    """
    return _shown(known, n_candidates, stream, rules)[0]


def _shown(
    known: Table, n_candidates: int, stream: Stream, rules: Rules
) -> tuple[NDArray[np.float64], list[int]]:
    """Return `costs_shown`, and the block of each row: of a group, its last."""
    order = sorted(_blocks_of(known, stream))
    at, worst = {block: i for i, block in enumerate(order)}, (rules.cost_bounds or (0.0, np.inf))[1]
    costs = np.full((len(at), n_candidates), np.nan)
    for row in known.rows:
        if row.block in at:
            found = row.costs(maximize=rules.maximize)
            costs[at[row.block], row.candidates] = np.minimum(found, worst)
    is_shown = np.array([rules.bounds is not None or known.is_usable(b) for b in order], np.bool_)
    if stream.groups is None:
        return costs[is_shown], np.array(order)[is_shown].tolist()
    means, shown = GroupMeans(stream.groups), {}
    for block, costs_of, counts in zip(order, costs, is_shown, strict=True):
        mean = means.add(stream.instance(block) or 0, costs_of if counts else None)
        if mean is not None:
            shown[block] = mean
    return np.array([*shown.values()]).reshape(-1, n_candidates), [*shown]


def n_blocks_of(
    known: Table, stream: Stream, costs: NDArray[np.float64] | None = None
) -> int | None:
    """Return how many blocks that can be solved there are, if each instance is used once."""
    if stream.length is None:
        return None
    blocks = stream.length - known.n_unsolved
    seen = 1 if costs is None else (~np.isnan(costs)).sum(axis=0).max(initial=1)
    return blocks if blocks >= seen else None


def _n_groups_of(known: Table, stream: Stream, shown: int) -> int | None:
    """Return how many groups a decider may be shown, if each instance is used once.

    `shown` were shown so far; any other complete group was set aside.
    """
    if stream.length is None or stream.groups is None:
        return stream.n_blocks
    blocks = _blocks_of(known, stream)
    complete = sum(stream.groups.ends(stream.instance(block) or 0) for block in blocks)
    return len(stream.groups.members) - (complete - shown)


def _blocks_of(known: Table, stream: Stream) -> set[int]:
    """Return the blocks that are shown to a decider, of groups only complete ones."""
    blocks = {row.block for row in known.rows} - known.repeated
    return blocks if stream.groups is None else blocks - known.incomplete
