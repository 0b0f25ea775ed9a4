"""The race: a generator that yields the next cells and receives their outcomes."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from racer._numerics import with_ties
from racer.core.events import BlockCompleted, Elimination, Ended, RaceEnded
from racer.core.table import Row
from racer.deciders.decider import Blocks
from racer.deciders.parts.groups import all_set_aside, as_shown, in_order
from racer.deciders.parts.wrappers import is_free, planned_survivors, verdict_on
from racer.racing.state import Request, State, started

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from racer.core.blocks import Order
    from racer.core.budget import Budget
    from racer.core.rules import Rules
    from racer.racing.capping import Caps
    from racer.racing.repeats import Withheld

    Untested = tuple[int, NDArray[np.float64]]  # a block, and costs of those left

Flow = Generator[Request, Row | None, RaceEnded]
Watch = Callable[[tuple[Elimination, ...], Row], object]
Slow = Callable[[int, State, int], list[Elimination]]


def race(
    rules: Rules,
    state: State,
    order: Order,
    withheld: Withheld,
    pays: Callable[[int], bool],
    *,
    slow: Slow | None = None,
    caps: Caps | None = None,
    watch: Watch | None = None,
) -> Flow:
    """Race candidates block by block until the race is over; return its end.

    `pays`: whether the budget pays for a number of cells; `slow`: which candidates have reached the
    cap of run times on every block, `caps` which cells are evaluated again in the end. A request
    is answered by a row of the table; by None if the blocks of `order` have changed, so that
    another request follows.
    """
    while (over := _why_over(rules, state, order, pays)) is None:
        asked = order.peek() or 0
        row = yield Request(asked, state.alive)
        if row is None:
            continue
        order.advance()
        block, state.block, state.used = state.block, state.block + 1, state.used + len(row.values)
        state.pending[:0] = _with_success(rules, withheld.released())
        costs, rejected, is_usable = rules.costs(row), row.places("rejected"), row.is_usable
        state.succeeded.update(state.alive[~np.isnan(row.values)].tolist())
        eliminated: tuple[Elimination, ...] = ()
        if rejected:
            gone = [Elimination.of_rejected(block, int(state.alive[i])) for i in rejected]
            state.succeeded.difference_update(state.alive[rejected].tolist())
            eliminated = _leave(rules, state, withheld, gone)
            costs = np.delete(costs, rejected, axis=0)
        shown = as_shown(rules.decider, costs, usable=is_usable)
        is_withheld = withheld.withhold(asked, shown)
        if shown is not None:
            state.has_difference = state.has_difference or (is_usable and _differ(costs))
            if not is_withheld:
                state.pending.append((asked, shown))
                seen, blocks = state.tested + len(state.pending), state.block - withheld.count
                due = rules.is_due(seen, state.first_test, blocks)
                if due and len(state.alive) > (1 if rejected else 0):
                    eliminated += _test(rules, state, order, withheld, block)
        if slow is not None and state.tested >= state.first_test:
            spare = max(len(state.alive) - rules.min_survivors, 0)
            eliminated += _leave(rules, state, withheld, slow(block, state, spare))
        if withheld.is_in_vain:
            withheld.discard(state, order)
        if watch is not None:
            watch(eliminated, row)
    return (yield from _conclude(over, rules, state, order, withheld, caps))


def _conclude(
    over: Ended,
    rules: Rules,
    state: State,
    order: Order,
    withheld: Withheld,
    caps: Caps | None,
) -> Flow:
    """Evaluate capped cells again if the budget pays for it, test the pending blocks, and end."""
    eliminated: tuple[Elimination, ...] = ()
    block = state.block - 1
    is_whole = rules.is_whole(state.block - withheld.count)
    if caps is not None and (again := caps.again(state.ranked)):
        yield Request(-1, state.alive, again)
        state.used += len(again)
        if is_whole and len(state.alive) > 1:
            state.decided, state.tested = started(rules, state.setting), 0
            state.pending = caps.all_blocks(state.alive)
            eliminated = _test(rules, state, order, withheld, block)
    elif state.pending and is_whole and len(state.alive) > (1 if state.n_rejected else 0):
        eliminated = _test(rules, state, order, withheld, block)
    state.ended = _named(over, rules, state)
    return RaceEnded(state.ended, eliminated=eliminated)


def _leave(
    rules: Rules, state: State, withheld: Withheld, gone: Sequence[Elimination]
) -> tuple[Elimination, ...]:
    """Remove candidates from all that has not been tested; return their eliminations."""
    if gone:
        withheld.keep(state.eliminate(gone))
        state.pending = _with_success(rules, state.pending)
    return tuple(gone)


def _with_success(rules: Rules, untested: Sequence[Untested]) -> list[Untested]:
    """Return untested blocks; set aside blocks where only candidates that have left succeeded."""
    shown = [
        (block, as_shown(rules.decider, costs, usable=not np.isposinf(costs).all()))
        for block, costs in untested
    ]
    return [(block, costs) for block, costs in shown if costs is not None]


def _test(
    rules: Rules, state: State, order: Order, withheld: Withheld, block: int
) -> tuple[Elimination, ...]:
    """Show the decider the pending blocks; eliminate its drops, if enough are known."""
    numbers, rows = zip(*in_order(rules.decider, state.pending), strict=True)
    costs = np.array(rows)  # (blocks, m), or (blocks, m, d)
    blocks = Blocks(
        state.alive,
        costs if costs.ndim == 2 else costs[:, :, 0],
        used=state.used,
        instances=order.instances(numbers),
        metrics=None if costs.ndim == 2 else costs,
        used_share=state.used_share,
    )
    state.tested, state.pending = state.tested + len(rows), []
    state.decided, verdict = verdict_on(rules.decider, state.decided, blocks, state.n_candidates)
    state.judged = state.alive, verdict
    state.evidence.append((block, verdict.evidence))
    spare = len(state.alive) - rules.min_survivors if state.tested >= state.first_test else 0
    gone = [Elimination.of_drop(block, drop) for drop in verdict.dropped]
    gone = [*_never_succeeded(rules, state, block, {drop.candidate for drop in gone}), *gone]
    return _leave(rules, state, withheld, gone[: max(spare, 0)])


def _never_succeeded(
    rules: Rules, state: State, block: int, dropped: set[int]
) -> list[Elimination]:
    """Return the candidates that have failed on every block so far, if another one has succeeded.

    They go whatever the decider's test says of so few blocks: the first failure of each may be the
    one outlier that a test of means waits for.
    """
    leader = next((c for c in state.ranked if c in state.succeeded), None)
    if leader is None:
        return []
    return [
        Elimination.of_outcomes(block, candidate, "failed", leader)
        for candidate in state.alive.tolist()
        if not (candidate in state.succeeded or candidate in dropped)
        and is_free(rules.decider, candidate, state.tested)
    ]


def advance(flow: Flow, row: Row | None) -> Request | RaceEnded:
    """Answer a race's request; return the next one, or its end. The first answer is None."""
    try:
        return flow.send(row)
    except StopIteration as end:
        ended: RaceEnded = end.value
        return ended


def completed(
    state: State,
    row: Row,
    eliminated: Sequence[Elimination],
    *,
    best: int | None,
    mean: Callable[[int], float | None],
    evaluations: int,
    seconds: float,
    spent: float | None = None,
) -> BlockCompleted:
    """Return the event of a complete block, in the race's numbers; `mean` takes a candidate."""
    block, tests = state.block - 1, state.evidence[-1:]
    return BlockCompleted(
        block,
        candidates=tuple(row.candidates.tolist()),
        values=tuple(row.values.tolist()),
        alive=tuple(state.alive.tolist()),
        best=best,
        best_mean=None if best is None else mean(best),
        eliminated=tuple(eliminated),
        evaluations=evaluations,
        seconds=seconds,
        spent=spent,
        failed=row.n_failed,
        evidence=next((dict(found) for after, found in tests if after == block), None),
        metrics=row.metrics(),
    )


def _why_over(
    rules: Rules, state: State, order: Order, pays: Callable[[int], bool]
) -> Ended | None:
    """Return why no block can be begun, None if one can."""
    m = len(state.alive)
    if state.n_candidates == 1:
        return Ended.ONE_CANDIDATE
    if m <= rules.min_survivors:
        return Ended.DECIDED if m else Ended.ALL_REJECTED
    failed = not state.succeeded and state.block >= state.first_test
    if failed or all_set_aside(rules.decider, state.decided):
        return Ended.ALL_FAILED
    if (stopped := state.stopped) is not None:
        return stopped
    if order.peek() is None:
        return Ended.INSTANCES
    return None if pays(m) else Ended.BUDGET


def fell_short(rules: Rules, state: State) -> bool:
    """Return whether seconds or money, unlike evaluations not known before, were too little to test."""
    needed = state.used + len(state.alive)
    return rules.one_budget.ends_unforeseen(needed) and state.tested < state.first_test


def too_short(rules: Rules, budget: Budget, after: str, whom: str, else_give: str) -> str:
    """Return the warning that a budget ended before the first test: of time, if that is its limit."""
    what, more = "the budget", "a larger budget"
    if budget.is_in_seconds:
        what, more = f"the time for evaluations ({budget.seconds:.4g} s)", "more time"
    guess = "" if rules.is_front else ", and result.guess is the one to take nevertheless"
    return (
        f"{what} ended after {after}: no {whom} can be called the best{guess}; give {more}, or "
        f"{else_give}"
    )


def _named(over: Ended, rules: Rules, state: State) -> Ended:
    """Return the name of the end after the last test: failures first."""
    if state.n_candidates == 1 or not len(state.alive):
        return over
    if not state.succeeded or all_set_aside(rules.decider, state.decided):
        return Ended.ALL_FAILED
    if state.is_left_alone:
        return Ended.DECIDED
    if not state.has_difference and not (over is Ended.BUDGET and fell_short(rules, state)):
        return Ended.ALL_EQUAL
    if len(state.alive) <= rules.min_survivors:
        return Ended.DECIDED
    return state.stopped or over


def _differ(costs: NDArray[np.float64]) -> bool:
    """Return whether the costs of a block, (m,), or in a metric of (m, d), do not all tie."""
    shown = with_ties(np.atleast_2d(costs.T))
    return bool((shown.min(axis=1) < shown.max(axis=1)).any())


def best(state: State, survivors: Sequence[int]) -> int | None:
    """Return the first of the survivors; None without evidence for any."""
    if state.n_candidates == 1:
        return 0
    goal = state.setting.objective
    if goal != "cost" and goal.kind == "front" and len(survivors) > 1:
        return None
    if not survivors or not state.succeeded:
        return None
    is_tested = state.has_difference and state.tested >= state.first_test
    if len(survivors) == 1 and (is_tested or state.is_left_alone):
        return survivors[0]
    if not is_tested or state.verdict is None:
        return None
    return None if state.verdict.best is None and not state.eliminations else survivors[0]


def expected(rules: Rules, state: State, n_withheld: int) -> Iterator[Sequence[int]]:
    """Yield the candidates likely to be in, best first, block by block from the next one.

    All that are left, unless the decider plans how many it keeps at each test, until it keeps no
    more than the race has to.
    """
    ranked: Sequence[int] = _ranked_so_far(state)
    used, blocks = state.used, state.block - n_withheld
    seen = state.tested + len(state.pending)
    while True:
        used, blocks, seen = used + len(ranked), blocks + 1, seen + 1
        if rules.is_due(seen, state.first_test, blocks):
            ranked = planned_survivors(rules.decider, state.decided, ranked, used, seen)
            if len(ranked) <= rules.min_survivors:
                return
        yield ranked


def _ranked_so_far(state: State) -> tuple[int, ...]:
    """Return the candidates left, best first; before the first test, by their mean ranks."""
    if state.verdict is not None or not state.pending:
        return state.ranked
    rows = np.array([costs if costs.ndim == 1 else costs[:, 0] for _, costs in state.pending])
    places = rows.argsort(axis=1, kind="stable").argsort(axis=1)
    return tuple(state.alive[places.mean(axis=0).argsort(kind="stable")].tolist())
