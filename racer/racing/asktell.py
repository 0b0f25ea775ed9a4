"""`ask` and `tell`: one adapter for all contests, which are generators of cells."""

from __future__ import annotations

import reprlib
from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from racer._checks import is_whole
from racer._entry import entries
from racer.core.blocks import in_random_order
from racer.core.events import RaceEnded, check_callbacks
from racer.core.prices import with_spend
from racer.errors import RaceStateError, warn
from racer.evaluate.outcome import Cell, Outcome, bounded, check_outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from racer.core.contest import Kind
    from racer.core.events import Callback
    from racer.core.prices import Prices
    from racer.core.rules import Rules
    from racer.core.table import Table
    from racer.evaluate.outcome import CellKey
    from racer.racing.repeats import Repeats

    Cells = list[Cell]
    Ahead = Callable[[], Iterable[Cells]]


@dataclass(frozen=True, slots=True)
class Repeated:
    """The text of a warning that a block may bring: the first is given, and the last with a count."""

    text: str


class Notes(list[Any]):
    """Events, and texts of warnings, that have not been published."""

    def __init__(self) -> None:
        super().__init__()
        self._repeated: list[Repeated] = []

    def publish(self, callbacks: Iterable[Callback], *, is_over: bool) -> None:
        """Give the warnings, and show the events to the callbacks."""
        notes, self[:] = self.copy(), []
        for note in notes:
            if isinstance(note, Repeated):
                self._repeated.append(note)
                if len(self._repeated) == 1:
                    warn(note.text)
            elif isinstance(note, str):
                warn(note)
            else:
                for callback in callbacks:
                    callback(note)
        if is_over and len(self._repeated) > 1:
            warn(
                f"{self._repeated[-1].text}; the same happened on {len(self._repeated)} blocks in all"
            )


class Asked:
    """Cells that a contest needs, made when they are looked at, and the outcomes told so far.

    `later` yields the cells that may follow, of one block after the other, the likeliest first.
    """

    __slots__ = ("_by_key", "_cells", "_make", "_shuffled", "later", "told")

    def __init__(self, make: Callable[[], Cells], later: Ahead = tuple) -> None:
        self._make = make
        self._cells: Cells | None = None
        self._by_key: dict[CellKey, Cell] | None = None
        self._shuffled: Cells | None = None
        self.later: Ahead = later
        self.told: dict[CellKey, Outcome] = {}

    @property
    def cells(self) -> Cells:
        """The cells, in the order in which their outcomes are wanted."""
        if self._cells is None:
            self._cells = self._make()
        return self._cells

    @property
    def shuffled(self) -> Cells:
        """The cells, in the order in which they are evaluated."""
        if self._shuffled is None:
            self._shuffled = list(in_random_order(self.cells))
        return self._shuffled

    @property
    def by_key(self) -> dict[CellKey, Cell]:
        """The cells by key."""
        if self._by_key is None:
            self._by_key = {cell.key: cell for cell in self.cells}
        return self._by_key

    def add_told(
        self,
        known: Table,
        *,
        tests: Table | None = None,
        repeats: Repeats | None = None,
        prices: Prices | None = None,
    ) -> list[Outcome]:
        """Add the outcomes told so far to a result's table; return the outcomes on training instances.

        Those of full evaluations count as they will when all cells have one: in their order, at their
        price, and as no evidence where their block may only repeat others. `tests` is the table of
        held-out instances.
        """
        told, pending = self.told, list[Outcome]()
        some_told = (cell for key, cell in self.by_key.items() if key in told) if told else ()
        cells = (cell for cell in some_told if cell.fidelity is None)
        settled = None if prices is None or not told else prices.copy()
        for (is_held_out, block), group in groupby(cells, lambda c: (c.held_out, c.block)):
            some = list(group)
            candidates, outcomes = [c.candidate for c in some], [told[c.key] for c in some]
            if is_held_out:
                if tests is not None:
                    tests.add(block, candidates, outcomes)
                continue
            if settled is not None:
                outcomes = settled.settled(candidates, some[0].instance_index, outcomes)
            known.add_pending(block, candidates, outcomes)
            if repeats is not None and repeats.holds(block):
                known.set_repeated(block)
            pending += outcomes
        return pending


_NOTHING = Asked(list)
Outcomes = Any  # a list of outcomes in the order of the cells
Flow = Generator[Asked, Outcomes, None]


@entries
class AskTell(ABC):
    """A contest by `ask` and `tell`: no clock, no files, no processes.

    `_flow` yields requested cells and is sent the outcomes in the cells' order, for any
    order of arrival. Events and texts of warnings are left in
    `_notes`; they are published when it is ready for calls by a callback.
    """

    def __init__(self, callbacks: Sequence[Callback]) -> None:
        self._callbacks = list(check_callbacks(callbacks))
        self._notes = Notes()
        self._asked = _NOTHING
        self._running: Flow | BaseException | None = None  # or the error that ended it

    def __init_subclass__(cls) -> None:
        entries(cls)

    @classmethod
    def of(cls, *args: Any, callbacks: Sequence[Callback] = (), **settings: Any) -> Self:
        """Return the contest of `settings`, as a store has them."""
        made: Any = cls.__new__(cls)
        AskTell.__init__(made, callbacks)
        made._set_up(*args, **settings)  # noqa: SLF001  (its own)
        return made  # type: ignore[no-any-return]

    kind: ClassVar[Kind]
    rules: Rules

    @abstractmethod
    def _flow(self) -> Flow:
        """Yield requests until the contest is over."""

    @abstractmethod
    def result(self) -> Any:
        """Return the result of a contest that has ended, else its state."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Refuse to be pickled or copied: a generator cannot be, and copies would share it."""
        raise RaceStateError(
            f"a {type(self).__name__} can be neither pickled nor copied: make another with the same "
            "settings and seed, and tell it the same outcomes; racer.race and racer.tune with "
            "store= are resumed"
        )

    def watch(self, callback: Callback) -> None:
        """Call `callback` with each event from now on."""
        self._callbacks.append(callback)

    def ask(self) -> tuple[Cell, ...]:
        """Return the cells that are required next and have no outcome; empty when over.

        Cells of a block are in an order drawn from the seed and the block.

        Raises
        ------
        RaceStateError
            An error, as of the decider, ended the contest before.
        """
        self._begin()
        cells, told = self._asked.shuffled, self._asked.told
        return tuple([cell for cell in cells if cell.key not in told] if told else cells)

    def ahead(self, blocks: int) -> Iterator[Cell]:
        """Yield cells that may be asked for next, of up to this number of blocks, block by block.

        They depend on the outcomes so far only; one asked for later is the same.
        With a budget of money there are none: unneeded cells would be paid for.
        """
        if self.rules.is_paid:
            return
        # the next race of a tuning may begin with the group of blocks in which this one ends
        asked = self._asked.by_key
        for cells in islice(self._asked.later(), blocks):
            yield from (cell for cell in in_random_order(cells) if cell.key not in asked)

    def tell(self, cell: Cell, outcome: Outcome, /) -> None:
        """Record the outcome of a cell that was asked for.

        Raises
        ------
        RaceStateError
            The cell was not asked for, or was changed since (a copy may be told), or
            has an outcome, or this is not an outcome; or an error, as of the decider, ended the
            contest before.
        """
        if not isinstance(cell, Cell):
            raise RaceStateError(f"{cell!r} is not a cell: tell only cells that ask() returned")
        check_outcome(outcome, self.rules.metric_names)
        self._begin()
        request, key = self._asked, cell.key
        cells, told = request.by_key, request.told
        asked = cells.get(key)
        if asked is None or key in told:
            where = "held-out instance" if cell.held_out else "block"
            raise RaceStateError(
                f"candidate {cell.candidate} on {where} {cell.block} "
                + (
                    "has been told before"
                    if asked is not None
                    else "was not asked for: tell only cells that ask() returned, within their block"
                )
            )
        # the usual case is the very cell; only a copy has to be compared
        if cell is not asked:
            check_same(cell, asked)
        told[key] = self._counted(asked, outcome)
        if len(told) == len(cells):
            self._advance([told[key] for key in cells])

    def tell_all(self, outcomes: Sequence[Outcome]) -> None:
        """Record the outcomes of all cells that are required, in the order of `ask`.

        Raises
        ------
        RaceStateError
            This is not one outcome for each, or nothing is required.
        """
        required = self.ask()
        if len(outcomes) != len(required) or not required:
            raise RaceStateError(
                f"{len(outcomes)} outcomes: give one for each of the {len(required)} cells that "
                "ask() returns"
            )
        for outcome in outcomes:
            check_outcome(outcome, self.rules.metric_names)
        counted = [*map(self._counted, required, outcomes)]  # before any of them is told
        told, new = self._asked.told, dict(zip(map(id, required), counted, strict=True))
        self._advance([new.get(id(cell)) or told[cell.key] for cell in self._asked.cells])

    def _counted(self, cell: Cell, outcome: Outcome) -> Outcome:
        """Return an outcome as it counts for a cell; an error if it cannot be of it."""
        rules = self.rules
        if rules.bounds is not None:
            rules.check_bounds(cell, outcome.value)
        if rules.runtime is not None:
            check_time(cell, outcome.value)
        if cell.metrics is not None:
            outcome = as_measured(outcome, rules)
        if rules.needs_spend:
            outcome = with_spend(outcome)
        if cell.bound is None and outcome.status != "capped":
            return outcome
        return under(cell.bound, outcome)

    def _begin(self) -> None:
        """Run to the first request, once; RaceStateError after an error, as of a decider."""
        if isinstance(self._running, BaseException):
            raise RaceStateError(
                f"an error ended this {self.kind}: {self._running!r}; mend its cause, and begin anew"
            ) from self._running
        if self._running is None:
            self._running = self._flow()
            self._advance(None)

    def _advance(self, outcomes: Outcomes) -> None:
        """Answer the present request; go on to the next one, and publish the events."""
        assert isinstance(self._running, Generator)  # noqa: S101  (for the type checker)
        self._asked, is_over = _NOTHING, True
        try:
            self._asked, is_over = self._running.send(outcomes), False
        except StopIteration:
            pass
        except BaseException as error:
            # a generator that has raised would seem to have ended: keep the reason
            self._running = error
            raise
        if is_over and self._callbacks:
            # known only now: the flow noted its end without a result
            result = self.result()
            self._notes[:] = [
                replace(note, result=result) if isinstance(note, RaceEnded) else note
                for note in self._notes
            ]
        self._notes.publish(self._callbacks, is_over=is_over)


def check_same(cell: Cell, asked: Cell) -> None:
    """Raise RaceStateError unless a cell is as it was asked for, or may be a copy of that.

    Bounds are not compared: a prefetched cell may have had another.
    """
    for name, number in (("candidate", cell.candidate), ("block", cell.block)):
        if not is_whole(number):
            raise RaceStateError(
                f"{name}={number!r} of a cell: give the whole number that ask() returned"
            )
    for name in ("seed", "instance_index", "config", "instance"):
        one, other = getattr(cell, name), getattr(asked, name)
        if one is not other and _differ(one, other):
            where = "held-out instance" if cell.held_out else "block"
            raise RaceStateError(
                f"candidate {cell.candidate} on {where} {cell.block} was told with {name}="
                f"{reprlib.repr(one)}, but asked for with {reprlib.repr(other)}: tell only cells that "
                "ask() returned"
            )


def _differ(one: Any, other: Any) -> bool:
    """Return True if two values differ for certain, also if one has been through JSON.

    Only numbers, texts, None, and dicts and sequences of them can be told apart.
    """
    arrays = isinstance(one, np.ndarray) and isinstance(other, np.ndarray)
    if arrays and one.dtype == other.dtype and one.dtype.kind in "biuf":
        return not np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    one, other = (v.tolist() if isinstance(v, np.ndarray | np.generic) else v for v in (one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        named = [{str(key): value for key, value in v.items()} for v in (one, other)]
        return named[0].keys() != named[1].keys() or any(
            _differ(value, named[1][key]) for key, value in named[0].items()
        )
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) != len(other) or any(map(_differ, one, other))
    plain = int | float | str | None
    if isinstance(one, plain) and isinstance(other, plain):
        return one != other and (one == one or other == other)  # noqa: PLR0124  (NaN)
    return False


def check_time(cell: Cell, value: float | None) -> None:
    """Raise RaceStateError for a value that is not a run time."""
    if value is not None and value < 0.0:
        where = "held-out instance" if cell.held_out else "block"
        raise RaceStateError(
            f"candidate {cell.candidate} on {where} {cell.block} was told with a run time of "
            f"{value} s: give seconds >= 0, or racer.Outcome('failed', None, message=..)"
        )


def as_measured(outcome: Outcome, rules: Rules) -> Outcome:
    """Return an outcome with its metrics, or that one of them is outside its bounds."""
    told = outcome.metrics
    if outcome.value is None or told is None:
        return outcome
    for name, metric in (rules.metrics or {}).items():
        if metric.bounds is not None and not metric.bounds[0] <= told[name] <= metric.bounds[1]:
            message = f"metric {name!r}: {told[name]} is outside its bounds, {metric.bounds}"
            return replace(outcome, status="invalid", value=None, metrics=None, message=message)
    return outcome


def under(bound: float | None, outcome: Outcome) -> Outcome:
    """Return an outcome as it is under a bound; RaceStateError if that is not known."""
    if outcome.status == "capped" and bound is None:
        raise RaceStateError("an outcome that is capped was told, but the goal is not Runtime(..)")
    found = bounded(outcome, bound)
    if found is None:
        raise RaceStateError(
            f"an outcome capped at {outcome.value} s was told for a cell with the bound {bound} s: "
            "evaluate it again"
        )
    return found
