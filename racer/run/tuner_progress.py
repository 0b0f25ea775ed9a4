"""A run of races as it goes, in a terminal: a line for each race, and how it stands."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from rich.table import Table

from racer.racing.events import BlockCompleted, RaceCompleted, RaceEnded
from racer.run.progress import Display

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["TunerProgress"]


class TunerProgress(Display):
    """Shows each race: alive, best, its mean, evaluations used, time left."""

    def __init__(self, console: Console | None = None) -> None:
        super().__init__(console)
        self._race = 0
        self._begun: tuple[float, int] | None = None

    def __call__(self, event: Any) -> None:
        """Show an event, in a terminal only."""
        if not self.console.is_terminal:
            return
        if isinstance(event, RaceCompleted):
            self._race = event.race + 1
            self.print(self._line(event))
        elif isinstance(event, RaceEnded):
            self.print(event.ended.message)
        elif isinstance(event, BlockCompleted):
            if self._begun is None:
                self._begun = time.monotonic(), event.evaluations
            self.show(self._table(event))

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

    def _table(self, event: BlockCompleted) -> Table:
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
