"""A run of races as it goes, in a terminal: a line for each race, and how it stands."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Self

from rich.console import Console
from rich.live import Live
from rich.table import Table

from racer.racing.events import BlockCompleted, RaceEnded
from racer.tuner.events import RaceCompleted

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["TunerProgress"]


class TunerProgress:
    """A callback that shows each race: alive, best, its mean, evaluations used, time left.

    Parameters
    ----------
    console : rich.console.Console, optional
        Standard error by default.
    """

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(stderr=True)
        self._live = Live(console=self.console, refresh_per_second=4, transient=True)
        self._race = 0
        self._left: int | None = None
        self._begun: tuple[float, int] | None = None

    def __enter__(self) -> Self:
        if self.console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._live.stop()

    def __call__(self, event: object) -> None:
        """Show an event, in a terminal only."""
        if not self.console.is_terminal:
            return
        if isinstance(event, RaceCompleted):
            self._race, self._left = event.race + 1, event.left
            self._print(self._line(event))
        elif isinstance(event, RaceEnded):
            self._print(event.ended.message)
        elif isinstance(event, BlockCompleted):
            if self._begun is None:
                self._begun = time.monotonic(), event.evaluations
            self._live.update(self._standing(event))

    def _print(self, text: str) -> None:
        self.console.print(text, highlight=False, soft_wrap=True)

    def _line(self, event: RaceCompleted) -> str:
        name = f"race {event.race:>3}" if event.kind == "race" else event.kind
        best = "-" if event.best is None else f"#{event.best}"
        mean = "-" if event.best_mean is None else f"{event.best_mean:.4g}"
        used = _of(event.evaluations, event.left)
        return (
            f"{name}: {event.candidates} candidates, {event.blocks} blocks, {event.alive} alive, "
            f"best {best}, mean {mean}, {used} evaluations, "
            f"{self._time_left(event.evaluations, event.left)} ({event.ended})"
        )

    def _time_left(self, evaluations: int, left: int | None) -> str:
        if left == 0:
            return "done"
        if self._begun is None or left is None or evaluations <= self._begun[1]:
            return "time left unknown"
        since, at = self._begun
        seconds = (time.monotonic() - since) / (evaluations - at) * left
        return f"about {timedelta(seconds=round(seconds))} left"

    def _standing(self, event: BlockCompleted) -> Table:
        table = Table()
        row: dict[str, Any] = {
            "race": self._race,
            "alive": len(event.alive),
            "best": "-" if event.best is None else f"#{event.best}",
            "its mean": "-" if event.best_mean is None else f"{event.best_mean:.4g}",
            "evaluations": event.evaluations,
        }
        for name in row:
            table.add_column(name, justify="right")
        table.add_row(*map(str, row.values()))
        return table


def _of(used: int, left: int | None) -> str:
    return f"{used}" if left is None else f"{used} of {used + left}"
