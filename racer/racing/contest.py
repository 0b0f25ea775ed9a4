"""What can be driven and recorded: a race, a tuner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
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

    def tell(self, cell: Cell, outcome: Outcome) -> None:
        """Record the outcome of a cell that was asked for."""
        ...

    def result(self) -> Any:
        """Return what is known: the result if it has ended, else its state."""
        ...
