"""What can be driven and recorded: a race, a tuner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from racer.evaluate.outcome import Cell, Outcome
    from racer.racing.events import Callback, Ended
    from racer.racing.rules import Rules


class Description(NamedTuple):
    """What a contest is made of: from the same arguments, the same contest is made again."""

    settings: dict[str, Any]
    candidates: tuple[Any, ...]
    instances: tuple[Any, ...] | None
    test_instances: tuple[Any, ...] = ()
    parameters: tuple[str, ...] = ()


class Contest(Protocol):
    """A race or a tuning as ask and tell: no clock, no files, no processes.

    Nothing happens, and no callback is called, before the first `ask` or `tell_block`. Outcomes
    may be told in any order: what is decided does not depend on it.
    """

    rules: Rules

    @property
    def configs(self) -> tuple[Any, ...]:
        """All candidates so far, by number."""
        ...

    @property
    def n_blocks(self) -> int:
        """How many blocks have been used."""
        ...

    @property
    def ended(self) -> Ended | None:
        """Why it ended; None while it goes on."""
        ...

    def description(self) -> Description:
        """Return what it is made of."""
        ...

    def watch(self, callback: Callback) -> None:
        """Call `callback` with each event from now on."""
        ...

    def ask(self) -> tuple[Cell, ...]:
        """Return the cells that must be known next and have not been told; empty when over."""
        ...

    def ahead(self, blocks: int) -> Iterator[Cell]:
        """Yield cells that may be asked for after these, of up to so many blocks, in order.

        It depends on what has been told, and on nothing else; one asked for later is the same.
        """
        ...

    @property
    def alive(self) -> Collection[int]:
        """The candidates of which cells may still be asked for."""
        ...

    def tell(self, cell: Cell, outcome: Outcome) -> None:
        """Record the outcome of a cell that was asked for."""
        ...

    def result(self) -> Any:
        """Return what is known: the result if it has ended, else its state."""
        ...
