"""One race by `ask` and `tell`: required cells, and remaining candidates."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property, partial
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar

from racer._checks import counted
from racer.core.arguments import settings_of
from racer.core.blocks import Order, Stream, as_groups
from racer.core.contest import Description
from racer.core.events import Callback, Elimination, Ended
from racer.core.pool import as_instances, as_pool
from racer.core.rules import Rules
from racer.core.table import Row, Table
from racer.deciders.parts.groups import grouped
from racer.errors import BudgetError, SettingError
from racer.evaluate.outcome import Outcome, all_failed
from racer.racing.account import Account
from racer.racing.asktell import Asked, AskTell, Flow, Repeated
from racer.racing.capping import Caps, best_first, leader
from racer.racing.loop import advance, best, completed, expected, fell_short, race, too_short
from racer.racing.repeats import Repeats, Withheld
from racer.racing.state import Request, State
from racer.results.race import RaceResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Unpack

    from racer.core.arguments import Given, Instances
    from racer.core.blocks import InstanceOrder
    from racer.core.contest import Kind
    from racer.evaluate.outcome import Cell

__all__ = ["Race"]


class Race(AskTell):
    """A race by `ask` and `tell`: no clock, no files, no processes.

    `ask` for the required cells, evaluate them in any order, `tell` each outcome. A
    block is complete when all its cells have outcomes; only then are candidates eliminated, so the
    order of arrival changes nothing. Nothing happens before the first `ask`.

    Parameters
    ----------
    candidates : sequence
        Configurations, of any type; each once.
    instances : sequence, Instances or None
        Used again with new seeds when they run out. None: a noisy objective without instances.
    callbacks : sequence of callable
        Each is called with every `BlockCompleted` and the `RaceEnded`.
    **given
        `budget`, `goal`, `decider` and `seed`, as in `racer.race`.

    Raises
    ------
    CandidateError, SettingError, BudgetError
        Settings that cannot work, before anything is asked for.

    Examples
    --------
    >>> import racer
    >>> race = racer.Race([3.0, 1.0, 2.0], budget=60, seed=1)
    >>> while cells := race.ask():
    ...     for cell in cells:
    ...         race.tell(cell, racer.Outcome("ok", cell.config))
    >>> race.result().best
    1.0
    """

    kind: ClassVar[Kind] = "race"

    def __init__(
        self,
        candidates: Sequence[Any],
        instances: Sequence[Any] | Instances | None = None,
        *,
        callbacks: Sequence[Callback] = (),
        **given: Unpack[Given],
    ) -> None:
        super().__init__(callbacks)
        self._set_up(candidates, **settings_of("race", instances, given))

    def _set_up(
        self,
        candidates: Sequence[Any],
        instances: Sequence[Any] | None = None,
        *,
        instance_order: InstanceOrder | None = None,
        groups: Sequence[Any] | None = None,
        **rules: Any,
    ) -> None:
        self.configs: tuple[Any, ...] = as_pool(candidates)
        self.instances: tuple[Any, ...] | None = as_instances(instances)
        self.rules: Rules = Rules.given(rules)
        n_instances = None if self.instances is None else len(self.instances)
        of_items = self.rules.bounds is not None
        self._stream = Stream(
            *(n_instances, self.seed),
            bool(self.rules.deterministic) or (self.rules.is_used_once and n_instances is not None),
            ("shuffled" if of_items else "given") if instance_order is None else instance_order,
            self.rules.block_size,
            None if groups is None else as_groups(groups, n_instances, self.rules.block_size),
        )
        self._account = Account(self.rules, self.configs, self.instances)
        self._check()
        m, runtime = len(self.configs), self.rules.runtime
        self._state = State.new(
            self._playing,
            m,
            n_instances=n_instances,
            n_blocks=self._stream.n_blocks,
            prices=self._account.prices,
        )
        self._table = Table(maximize=self.rules.maximize, runtime=runtime)
        self._caps = None if runtime is None else Caps(runtime, self._table, self._pays)
        self._withheld = Withheld(Repeats(self._stream, self.rules))
        self.warns_of_failed_blocks = True

    def _check(self) -> None:
        m = len(self.configs)
        if self._stream.groups is not None and self.rules.runtime is not None:
            raise SettingError(
                "Instances(groups=..) with goal=Runtime(..): the mean of capped run times is undefined"
            )
        if self.rules.bounds is not None and self.rules.deterministic is False and self.instances:
            raise SettingError(
                f"deterministic=False with {self.rules.decider!r}, which uses each instance once: to "
                "repeat items, list them several times, and give Instances(.., groups=..) that say which "
                "are the same"
            )
        if m > 1 and self.rules.min_survivors >= m:
            raise SettingError(
                f"min_survivors={self.rules.min_survivors} leaves nothing to race among {m} "
                "candidates"
            )
        budget, blocks = self.rules.one_budget, self._least_blocks
        if m > 1 and not budget.pays(m * blocks, evaluations=0, seconds=0.0):
            raise BudgetError(
                f"budget of {budget.evaluations} evaluations: {m} candidates x {blocks} "
                f"blocks before the first test are {m * blocks}; raise the budget, or give fewer "
                "candidates"
            )
        self._account.check(map(self._stream.instance, range(blocks)), m)

    @property
    def seed(self) -> int:
        """The seed that repeats the race."""
        return self.rules.seed or 0

    @property
    def _least_blocks(self) -> int:
        """After how many blocks the first test is due, if no block is set aside."""
        if self._stream.groups is None:
            return self.rules.least_blocks(self._stream.n_instances)
        return self._stream.first_groups(self.rules.first_test)

    @cached_property
    def _playing(self) -> Rules:
        """The rules of the loop: with groups, the decider sees one block for each."""
        groups = self._stream.groups
        if groups is None:
            return self.rules
        shown = grouped(self.rules.decider, groups, self.rules.first_test)
        of_groups = self.rules.generalizes(self._stream.n_units)
        return replace(self.rules, decider=shown, generalize=of_groups)

    @property
    def settings(self) -> dict[str, Any]:
        """Settings of this race: Race.of(configs, instances, **settings) is the same one again."""
        order, groups = self._stream.order, self._stream.groups
        more: dict[str, Any] = {} if groups is None else {"groups": list(groups.numbers)}
        if order != "given" or self.rules.bounds is not None:
            more["instance_order"] = order
        if callable(self.rules.prices) and self._account.prices is not None:
            more["prices"] = self._account.prices.recorded()
        return self.rules.settings() | more

    def description(self) -> Description:
        """Return the parts of the race."""
        return Description(self.kind, self.settings, self.configs, self.instances)

    @property
    def ended(self) -> Ended | None:
        """Why the race ended; None while it goes on."""
        return self._state.ended

    @property
    def alive(self) -> tuple[int, ...]:
        """The candidates that have not been eliminated."""
        return tuple(self._state.alive.tolist())

    @property
    def ranked(self) -> tuple[int, ...]:
        """The candidates that have not been eliminated, best standing first."""
        return self._state.ranked

    @property
    def leader(self) -> int | None:
        """The candidate that led at the last test; None without one."""
        return leader(self._state, self.rules.runtime, self._table)

    @property
    def eliminations(self) -> Sequence[Elimination]:
        """The eliminations, in their order."""
        return self._state.eliminations

    @property
    def n_blocks(self) -> int:
        """How many blocks are complete."""
        return self._state.block

    @property
    def tested_blocks(self) -> int:
        """How many blocks the decider has seen."""
        return self._state.tested

    def result(self) -> RaceResult:
        """Return the result of a race that has ended, else its state."""
        state, known, prices = self._state, self._table.copy(), self._account.prices
        pending = self._asked.add_told(known, repeats=self._withheld.repeats, prices=prices)
        survivors = best_first(state, self.rules.runtime, self._table)
        return RaceResult(
            configs=self.configs,
            leader=best(state, survivors),
            survivors=survivors,
            ended=state.ended or Ended.INTERRUPTED,
            evaluations=state.used + len(pending),
            seconds=self._account.seconds + math.fsum(outcome.seconds for outcome in pending),
            spent=known.spent,
            seed=self.seed,
            known=known,
            stream=self._stream,
            _eliminations=tuple(state.eliminations),
            _evidence=tuple(state.evidence),
            rules=self.rules,
            instances=self.instances,
        )

    def _flow(self) -> Flow:
        order = Order(self._blocks(), self._stream.instance)
        flow = race(
            *(self._playing, self._state, order, self._withheld, partial(self._pays_block, order)),
            slow=None if self._caps is None else self._caps.eliminate,
            caps=self._caps,
            watch=self._complete,
        )
        asked = advance(flow, None)
        while isinstance(asked, Request):
            outcomes = yield Asked(
                partial(self._cells_of, asked), partial(self._later, asked, order)
            )
            asked = advance(flow, self._record(asked, outcomes))
        self._notes.append(asked)
        if self.ended is Ended.ALL_FAILED and self._state.succeeded:
            self._notes.append(
                "all groups are set aside: in each, every candidate failed somewhere, so that no mean "
                "of any is known; give smaller groups, or mend what fails"
            )
        if self.ended is Ended.BUDGET and fell_short(self.rules, self._state):
            n, due = self.tested_blocks, self._state.first_test
            after = f"{counted(n, 'usable block')}, before the first test ({due})"
            rest = "candidate", "fewer candidates"
            self._notes.append(too_short(self.rules, self.rules.one_budget, after, *rest))

    def _blocks(self) -> Iterator[int]:
        """Yield the blocks; whether instances are used again may turn out meanwhile."""
        for block in count():
            if self._stream.length is not None and block >= self._stream.length:
                return
            yield block

    def _record(self, asked: Request, told: list[Outcome]) -> Row:
        """Put outcomes into the table; return the row of the block."""
        account = self._account
        account.seconds += math.fsum([outcome.seconds for outcome in told])
        if asked.again:
            for (block, candidate), outcome in zip(asked.again, told, strict=True):
                row = self._table.add(block, [candidate], [outcome])
            return row
        if account.prices is not None:
            instance = self._stream.instance(asked.block)
            told = account.prices.settled(asked.candidates.tolist(), instance, told)
        return self._noted(asked, self._table.add(asked.block, asked.candidates, told))

    def _noted(self, asked: Request, row: Row) -> Row:
        """Return the row of a block, of which the account and the watch for repeats take note."""
        account, repeats = self._account, self._withheld.repeats
        if account.has_share:
            used = self._state.used + len(row.values)
            self._state.used_share = account.share(used, self._table.spent)
        if repeats is not None and repeats.is_open:
            repeats.see(asked.block, asked.candidates.tolist(), self._table)
            if repeats.found:
                self._stream = replace(self._stream, deterministic=True)
                self._notes.append(repeats.message)
        return row

    @property
    def _bound(self) -> float | None:
        """The cap of the present request."""
        return None if self._caps is None else self._caps.bound

    def _pays_block(self, order: Order, cells: int) -> bool:
        """Return whether a block can be begun, with cells that may have to be evaluated again."""
        state, prices = self._state, self._account.prices
        if prices is not None:
            price = prices.total(state.alive.tolist(), self._stream.instance(order.peek() or 0))
            is_endless = not self._stream.length and state.tested >= state.first_test
            if not self._account.affords(price, self._table.spent, is_endless=is_endless):
                return False
        if self._caps is not None:
            cells += self._caps.reserve(state)
        return self._pays(cells)

    def _pays(self, cells: int, extra: float = 0.0) -> bool:
        used, seconds = self._state.used, self._account.seconds
        return self.rules.one_budget.pays(cells, evaluations=used, seconds=seconds, extra=extra)

    def _complete(self, eliminated: tuple[Elimination, ...], row: Row) -> None:
        """Report a complete block."""
        state = self._state
        if self._callbacks:
            event = completed(
                state,
                row,
                eliminated,
                best=self.leader,
                mean=self._table.mean,
                evaluations=state.used,
                seconds=self._account.seconds,
                spent=self._table.spent,
            )
            self._notes.append(event)
        if not row.is_usable and self.warns_of_failed_blocks and len(state.alive):
            what = "is set aside" if self.rules.bounds is None else "has the worst score for all"
            text = f"block {row.block} {what}: {all_failed(row.outcomes())}"
            self._notes.append(Repeated(text))

    def _later(self, asked: Request, order: Order) -> Iterator[list[Cell]]:
        """Yield cells of the blocks after this one, block by block, the best standing first.

        Of the candidates likely to be in; only cells that instances and budget allow. A cap is as
        it would be now, times the slack: under a smaller one, the outcome is the same.
        """
        runtime, cells = self.rules.runtime, len(asked.candidates)
        bound = None if runtime is None else runtime.slackened(self._bound or 0.0)
        ahead = expected(self._playing, self._state, self._withheld.count)
        for at, ranked in enumerate(() if asked.again else ahead, 1):
            cells, block = cells + len(ranked), order.peek(at)
            if block is None or not self._pays(cells):
                return
            yield self._cells_on(block, ranked, bound)

    def _cells_of(self, asked: Request) -> list[Cell]:
        if asked.again:
            return [self._cells_on(b, [c], self._bound)[0] for b, c in asked.again]
        return self._cells_on(asked.block, asked.candidates.tolist(), self._bound)

    def _cells_on(self, block: int, candidates: Sequence[int], bound: float | None) -> list[Cell]:
        return self._stream.place(block).cells(
            *(block, candidates, self.configs.__getitem__, self.instances),
            bound=bound,
            metrics=self.rules.metric_names,
        )
