"""A race as it runs: live in a terminal, a line per look elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table

from racer.racing.events import BlockCompleted, Elimination, RaceCompleted, RaceEnded
from racer.run.signals import tell

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["Display", "Progress", "leader"]


class Display:
    """A callback that shows what happens on a console, live in a terminal while it is entered.

    Parameters
    ----------
    console : rich.console.Console, optional
        Standard error by default.
    """

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(stderr=True)
        self._standing: RenderableType = ""
        self._notice = ""
        self.live = Live(
            get_renderable=self._render, console=self.console, refresh_per_second=8, transient=True
        )

    def __enter__(self) -> Self:
        if self.console.is_terminal:
            self.live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.live.stop()

    def __call__(self, event: Any) -> None:
        """Show an event."""
        raise NotImplementedError

    def show(self, standing: RenderableType) -> None:
        """Show how it stands, until it stands otherwise."""
        self._standing = standing

    def announce(self, line: str) -> None:
        """Show a line from now on; as the answer to a signal, which may come at any time."""
        if self.live.is_started:  # what is written past it would be wiped off
            self._notice = line
        else:
            tell(line)

    def _render(self) -> RenderableType:
        return Group(self._standing, self._notice) if self._notice else self._standing

    def print(self, text: str) -> None:
        """Print a line, as it is."""
        self.console.print(text, highlight=False, soft_wrap=True)


class Progress(Display):
    """Shows block, alive, best, its mean, evaluations, and who was dropped."""

    def __call__(self, event: BlockCompleted | RaceEnded) -> None:
        """Show an event."""
        for elimination in event.eliminated:
            self.print(_line(elimination))
        if isinstance(event, RaceEnded):
            self.print(event.ended.message)
        elif self.console.is_terminal:
            self.show(_standing(event))
        elif event.eliminated or event.block % 10 == 9:
            self.print(_plain(event))


_RELATIONS = {
    "inferior": "inferior to",
    "indistinguishable": "indistinguishable from",
    "halved": "in the worse half behind",
    "unlikely": "unlikely to be best beside",
}
_FORMATS = {"posterior": ".3f", "e-value": ".3g"}


def _line(gone: Elimination) -> str:
    evidence = f"{gone.probability:{_FORMATS.get(gone.measure, '.2g')}}"
    relation = _RELATIONS[gone.reason]
    return (
        f"block {gone.block:>3}: dropped #{gone.candidate}, {relation} #{gone.against} "
        f"({gone.measure} {evidence})"
    )


def leader(event: BlockCompleted | RaceCompleted) -> tuple[str, str]:
    """Return who leads and its mean, as they are shown."""
    best = "-" if event.best is None else f"#{event.best}"
    mean = "-" if event.best_mean is None else f"{event.best_mean:.4g}"
    return best, mean


def _plain(event: BlockCompleted) -> str:
    best, mean = leader(event)
    return (
        f"block {event.block:>3}: {len(event.alive)} alive, best {best}, mean {mean}, "
        f"{event.evaluations} evaluations"
    )


def _standing(event: BlockCompleted) -> Table:
    table = Table()
    for name in ("blocks", "alive", "best", "its mean", "evaluations", "failed in block"):
        table.add_column(name, justify="right")
    table.add_row(
        str(event.block + 1),
        str(len(event.alive)),
        *leader(event),
        str(event.evaluations),
        str(event.failed),
    )
    return table
