"""The protocols of a contest (a race, a tuning or an ablation) and of its result."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from racer.core.events import Callback, Ended
    from racer.core.rules import Rules
    from racer.core.table import Table
    from racer.evaluate.outcome import Cell, Outcome

Kind = Literal["race", "tuning", "ablation"]


class Description(NamedTuple):
    """The definition of a contest: the same arguments make the same contest again."""

    kind: Kind
    settings: dict[str, Any]
    candidates: tuple[Any, ...]
    instances: tuple[Any, ...] | None
    test_instances: tuple[Any, ...] = ()
    parameters: tuple[str, ...] = ()


class Words(NamedTuple):
    """The user's words for an evaluation, a block, and an instance of it."""

    evaluation: str = "evaluation"
    run: str = "run"
    instance: str = "instance"


RUNS, FOLDS = Words(), Words("fit", "fold", "fold")


class Unused(NamedTuple):
    """Evaluations that were made and not needed."""

    cells: int = 0
    seconds: float = 0.0

    @classmethod
    def from_outcomes(cls, outcomes: Iterable[Outcome]) -> Unused:
        """Count outcomes, and add up their seconds."""
        seconds = [outcome.seconds for outcome in outcomes]
        return cls(len(seconds), math.fsum(seconds))

    def plus(self, other: Unused) -> Unused:
        """Return both together."""
        return Unused(self.cells + other.cells, self.seconds + other.seconds)


class ContestResult(Protocol):
    """A result of any kind of contest: a frozen dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def best_index(self) -> int | None:
        """The number of the best configuration, or None."""

    @property
    def ended(self) -> Ended:
        """Why it ended."""

    @property
    def evaluations(self) -> int:
        """Cells evaluated, failed ones included, held-out ones not."""

    @property
    def seconds(self) -> float:
        """Sum of their wall times."""

    @property
    def known(self) -> Table:
        """The outcomes, by block and candidate."""

    @property
    def unused(self) -> Unused:
        """Evaluations made ahead, and not needed."""

    @property
    def provenance(self) -> Mapping[str, Any]:
        """How it was evaluated."""


R_co = TypeVar("R_co", bound=ContestResult, covariant=True)


class Contest(Protocol[R_co]):
    """A race, a tuning or an ablation as ask and tell: no clock, no files, no processes.

    Nothing happens, and no callback is called, before the first `ask`. Outcomes may be told in any
    order: decisions do not depend on it.
    """

    rules: Rules

    @property
    def kind(self) -> Kind:
        """Which kind of contest it is."""

    @property
    def configs(self) -> tuple[Any, ...]:
        """All candidates so far, by number."""

    @property
    def n_blocks(self) -> int:
        """How many blocks have been used."""

    @property
    def ended(self) -> Ended | None:
        """Why it ended; None while it goes on."""

    def description(self) -> Description:
        """Return its definition."""

    def watch(self, callback: Callback) -> None:
        """Call `callback` with each event from now on."""

    def ask(self) -> tuple[Cell, ...]:
        """Return the cells that are required next and have no outcome; empty when over."""

    def ahead(self, blocks: int) -> Iterator[Cell]:
        """Yield cells that may be asked for after these, of up to this number of blocks, in order.

        They depend on the outcomes so far only; one asked for later is the same.
        """

    @property
    def alive(self) -> Collection[int]:
        """The candidates of which cells may still be asked for."""

    def tell(self, cell: Cell, outcome: Outcome, /) -> None:
        """Record the outcome of a cell that was asked for."""

    def tell_all(self, outcomes: Sequence[Outcome]) -> None:
        """Record the outcomes of all cells of `ask`, in their order."""

    def result(self) -> R_co:
        """Return the result of a contest that has ended, else its state."""
