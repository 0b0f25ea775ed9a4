"""One race of a tuning: among some of its candidates, on some of its blocks."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from racer._numerics import mean_of
from racer.core.blocks import Order
from racer.core.table import Row, Table
from racer.deciders.parts.wrappers import protected
from racer.evaluate.outcome import bounded
from racer.racing.asktell import Asked
from racer.racing.capping import CAP_REFERENCE, leader, too_slow
from racer.racing.loop import advance, completed, expected, race
from racer.racing.repeats import Withheld
from racer.racing.state import Request, State

if TYPE_CHECKING:
    from racer.core.events import BlockCompleted, Elimination
    from racer.core.rules import Rules
    from racer.core.runtime import Runtime
    from racer.evaluate.outcome import Cell
    from racer.tuner.history import History

RaceKind = Literal["race", "selection"]
Blocks = tuple[Iterator[int], Sequence[int]]  # in order; until when each entrant is protected


class TunerRace:
    """A race among `entrants`, which takes their known outcomes from the history.

    A "race" is among elites and new candidates; the "selection", among elites, evaluates up to
    the limit and goes on although a test eliminates nobody. `cells` is how many may be evaluated.
    """

    def __init__(
        self,
        history: History,
        kind: RaceKind,
        entrants: Sequence[int],
        rules: Rules,
        blocks: Blocks,
        *,
        cells: int,
        elites: Sequence[int],
    ) -> None:
        order, until = blocks
        runtime = rules.runtime
        self.kind = kind
        self.entrants: tuple[int, ...] = tuple(entrants)
        self.rules: Rules = replace(rules, decider=protected(rules.decider, until))
        self._blocks: list[int] = []  # complete ones, in their order
        self._history = history
        self._cells = cells
        self._order = Order(order, history.plan.stream.instance)
        self.state: State = State.new(
            self.rules,
            len(entrants),
            n_instances=history.plan.stream.n_instances,
            n_blocks=history.plan.stream.length,
        )
        self._withheld = Withheld(history.repeats)
        leaders = [i for i, c in enumerate(entrants) if c in elites and kind == "race"]
        self._caps = None if runtime is None else TunerCaps(runtime, self.state, leaders)
        self._idle = Idle(max(until), is_patient=kind != "race" or rules.decider.ends_itself)

    @property
    def alive(self) -> list[int]:
        """The entrants that are still in."""
        return self._numbers(self.state.alive.tolist())

    @property
    def ranked(self) -> list[int]:
        """The entrants that are still in, best standing first."""
        return self._numbers(self.state.ranked)

    def _numbers(self, positions: Sequence[int]) -> list[int]:
        return [self.entrants[i] for i in positions]

    def run(
        self, report: Callable[[tuple[Elimination, ...], Row], object]
    ) -> Generator[Asked, Any, str]:
        """Yield the cells that are not known until the race is over; return why."""
        history, row = self._history, None

        def complete(eliminated: tuple[Elimination, ...], row: Row) -> None:
            self._idle.note(
                self.state, is_withheld=history.repeats.holds(row.block), out=eliminated
            )
            report(eliminated, row)

        flow = race(
            *(self.rules, self.state, self._order, self._withheld, self._pays),
            slow=None if self._caps is None else self._caps.eliminate,
            watch=complete,
        )
        while isinstance(asked := advance(flow, row), Request):
            block = asked.block
            if self._idle.is_over(self.state, self.rules):
                return "no-elimination"
            cap, coming = self._caps_of(block)
            missing = history.missing(self.alive, block, cap)
            while len(missing) > 1 and history.left() is None:  # one tells the price of the others
                if not history.affords(missing[:1], block):
                    return "budget"
                yield Asked(partial(history.cells, missing[:1], block, cap))
                self._cells, missing = self._cells - 1, missing[1:]
            is_paid = history.pays(len(missing)) and history.affords(missing, block)
            if len(missing) > self._cells or not is_paid:
                return "budget"
            self._cells -= len(missing)
            if missing:
                later = partial(self._later, block, len(missing))
                yield Asked(partial(history.cells, missing, block, cap), later)
            if self._withheld.is_in_vain:  # each instance is used once from here on
                self._withheld.discard(self.state, self._order)
                row = None
                continue
            self._blocks.append(block)
            row = self._row(block, cap, coming)
        return str(asked.ended)

    def _pays(self, cells: int) -> bool:
        return self.rules.one_budget.pays(cells, evaluations=self.state.used, seconds=0.0)

    def _row(self, block: int, cap: float | None, coming: float | None) -> Row:
        """Return known outcomes of the remaining entrants on a block, under its cap."""
        told = [self._history.known.of(c)[block] for c in self.alive]
        if self._caps is not None:
            told = [bounded(outcome, cap) or outcome for outcome in told]
            self._caps.coming = coming
            self._caps.told.add(self.state.block, self.state.alive, told)
        return Row.of(block, self.state.alive, told)

    def _caps_of(self, block: int) -> tuple[float, float] | tuple[None, None]:
        """Return the cap of a block for this race, and the cap of a block that is new to all.

        Where elites are known, the first is at least their worst time: they are not run again.
        """
        runtime, known = self.rules.runtime, self._history.known
        if runtime is None or self._caps is None:
            return None, None
        if self.kind == "selection" or not self._caps.has_leaders(self.rules.first_test):
            return runtime.limit, runtime.limit
        mean = [
            np.mean([runtime.limit if o.value is None else o.value for o in told.values()])
            for c in self._numbers(self._caps.leaders)
            if (told := known.of(c))
        ]
        coming = runtime.slackened(float(np.median(mean))) if mean else runtime.limit
        here = [o for c in self.alive if (o := known.of(c).get(block)) is not None]
        cap = max([coming, *(o.value for o in here if o.value is not None)])
        return min([cap, *(o.value for o in here if o.value and o.status == "capped")]), coming

    def _cap_ahead(self, block: int) -> float | None:
        """Return the cap of a block as it would be now, times the slack."""
        cap, _ = self._caps_of(block)
        runtime = self.rules.runtime
        return None if cap is None or runtime is None else runtime.slackened(cap)

    def _expected(self) -> Iterator[tuple[int, list[int]]]:
        """Yield the blocks that follow and the entrants likely to be in, best first.

        If the decider does not plan: while no elite can be eliminated, and one block more.
        """
        safe = max(self._idle.protected_until, self.rules.first_test * self.rules.block_size)
        plans = self.rules.decider.planned_room(self.state.decided, self.state.used) is not None
        most = None if plans else max(safe - self.state.block, 1)
        ahead = expected(self.rules, self.state, self._withheld.count)
        for at, ranked in enumerate(islice(ahead, most), 1):
            if (block := self._order.peek(at)) is None:
                return
            yield block, self._numbers(ranked)

    def _later(self, block: int, asked: int) -> Iterator[list[Cell]]:
        """Yield the cells of the blocks to come, while the race may use them.

        Then likely cells of the next race: its first group of blocks, which is new, of the elites to
        be.
        """
        history, cells = self._history, self._cells
        size = history.plan.stream.block_size
        spent, used = 0, max(history.blocks_used, block + 1)
        for later, ranked in self._expected():
            cap = self._cap_ahead(later)
            missing = history.missing(ranked, later, cap if self.kind == "selection" else None)
            spent += len(missing)
            if not history.pays(asked + spent):
                return
            if spent > cells:
                spent -= len(missing)
                break
            used = max(used, later + 1)
            yield history.cells(missing, later, cap)
        elites = self.ranked[: self.rules.min_survivors]
        if self.kind == "selection":
            yield from history.all_held_out(self.entrants)
        elif history.pays(asked + spent + len(elites) * size):
            for new in islice(history.new_blocks(used - used % size), size):
                yield history.cells(elites, new, self._cap_ahead(new))

    def event(self, eliminated: tuple[Elimination, ...], row: Row, first: int) -> BlockCompleted:
        """Return the event of a complete block, in the numbers of the tuning."""
        history, told = self._history, Table() if self._caps is None else self._caps.told
        event = completed(
            self.state,
            row,
            eliminated,
            best=leader(self.state, self.rules.runtime, told),
            mean=self._mean,
            evaluations=history.evaluations,
            seconds=history.seconds,
            spent=history.known.spent,
        )
        return event.renumbered(self.entrants, first)

    def _mean(self, position: int) -> float | None:
        """Return the mean value of an entrant on the blocks of this race."""
        if self._caps is not None:
            return self._caps.told.mean(position)
        known = self._history.known.of(self.entrants[position])
        values = [v for block in self._blocks if (v := known[block].value) is not None]
        return mean_of(values) if values else None


class Idle:
    """Tests that eliminate nobody end a race of a tuning, unless it is patient."""

    def __init__(self, protected_until: int, *, is_patient: bool) -> None:
        self.protected_until = protected_until  # blocks
        self._is_patient = is_patient
        self._blocks = self._tests = self._tested = 0

    def note(self, state: State, *, is_withheld: bool, out: Sequence[Elimination]) -> None:
        """Count a block, and its test, after the first test."""
        if out:
            self._blocks = self._tests = 0
        elif not is_withheld:
            self._blocks += self._tested > 0
            self._tests += state.tested > self._tested > 0
        self._tested = state.tested

    def is_over(self, state: State, rules: Rules) -> bool:
        """Return whether a race has been idle for long enough, with nobody protected."""
        is_idle = rules.is_idle(self._blocks, self._tests)
        return is_idle and state.block >= self.protected_until and not self._is_patient


class TunerCaps:
    """Caps that the times of the elites make; nothing is evaluated again.

    `coming` is the cap of a block that is new to all; `told` holds the outcomes shown to the race,
    with its own numbers of blocks and candidates.
    """

    def __init__(self, runtime: Runtime, state: State, elites: Sequence[int]) -> None:
        self.coming: float | None = None
        self.told: Table = Table(runtime=runtime)
        self._runtime = runtime
        self._state = state
        self._elites = elites

    @property
    def leaders(self) -> tuple[int, ...]:
        """The elites that are still in, else the entrants that stand best."""
        alive = self._state.alive
        return tuple(i for i in self._elites if i in alive) or self._state.ranked[:CAP_REFERENCE]

    def has_leaders(self, first_test: int) -> bool:
        """Return whether there are leaders: not before the first test of a first race."""
        return bool(self._elites) or self._state.tested >= first_test

    def eliminate(self, block: int, state: State, spare: int) -> list[Elimination]:
        """Return at most `spare` candidates that have reached the cap on every block."""
        if self.coming is None:
            return []
        runtime, told = self._runtime, self.told
        return too_slow(block, state, runtime, told, self.coming, self.leaders)[:spare]


def race_blocks(history: History, race: int, entrants: Sequence[int]) -> Blocks:
    """Return the blocks of a race, and until when each entrant is protected.

    A new block first, in which no elite has an advantage, then the old ones, in which elites are
    protected; blocks on which no candidate has succeeded come last.
    """
    size = history.plan.stream.block_size
    used = history.blocks_used - history.blocks_used % size  # in whole groups
    new = history.new_blocks(used)
    first = list(islice(new, size))
    groups, hopeless = history.whole_groups(history.plan.stream.old_ones(race, used))
    early = [*first, *chain(*groups)]
    until = []
    for candidate in entrants:
        known = history.known.of(candidate)
        until.append(max((at + 1 for at, block in enumerate(early) if block in known), default=0))
    return chain(early, new, sorted(hopeless)), until


def selection_blocks(history: History, entrants: Sequence[int], shared: int) -> Blocks:
    """Return the blocks of the last race, the blocks that all know first.

    All entrants are protected on these, and on `shared` more.
    """
    size = history.plan.stream.block_size
    used = history.blocks_used - history.blocks_used % size
    common = {b for b in history.known.common(entrants) if history.known.is_usable(b)}
    groups, hopeless = history.whole_groups(range(used))
    groups.sort(key=lambda group: not common.issuperset(group))
    blocks = chain(*groups, history.new_blocks(used), hopeless)
    return blocks, [len(common) + shared] * len(entrants)
