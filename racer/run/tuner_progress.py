"""A run of races as it goes, in a terminal: a line for each race, and how it stands."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from rich.table import Table

from racer.racing.events import BlockCompleted, RaceCompleted, RaceEnded
from racer.run.progress import Display, leader

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["TunerProgress"]


_COLUMNS = {
    "race": 9,
    "entrants": 8,
    "blocks": 6,
    "alive": 5,
    "best": 6,
    "its mean": 10,
    "evaluations": 13,
    "left": 8,
}  # 79 in all


class TunerProgress(Display):
    """Shows each race: alive, best, its mean, evaluations used, time left."""

    def __init__(self, console: Console | None = None) -> None:
        super().__init__(console)
        self._race = 0
        self._begun: tuple[float, int] | None = None
        self._headed = False

    def __call__(self, event: Any) -> None:
        """Show an event, in a terminal only."""
        if not self.console.is_terminal:
            return
        if isinstance(event, RaceCompleted):
            self._race = event.race + 1
            if not self._headed:
                self.print(_line(*_COLUMNS))
                self._headed = True
            self.print(self._line(event))
        elif isinstance(event, RaceEnded):
            self.print(event.ended.message)
        elif isinstance(event, BlockCompleted):
            if self._begun is None:
                self._begun = time.monotonic(), event.evaluations
            self.show(self._table(event))

    def _line(self, event: RaceCompleted) -> str:
        return _line(
            event.race if event.kind == "race" else event.kind,
            event.candidates,
            event.blocks,
            event.alive,
            *leader(event),
            event.evaluations
            if event.left is None
            else f"{event.evaluations}/{event.evaluations + event.left}",
            self._time_left(event.evaluations, event.left),
        )

    def _time_left(self, evaluations: int, left: int | None) -> str:
        if left == 0:
            return "done"
        if self._begun is None or left is None or evaluations <= self._begun[1]:
            return "-"
        since, at = self._begun
        seconds = (time.monotonic() - since) / (evaluations - at) * left
        minutes, rest = divmod(round(seconds), 60)
        return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"

    def _table(self, event: BlockCompleted) -> Table:
        table = Table()
        best, mean = leader(event)
        row: dict[str, Any] = {
            "race": self._race,
            "alive": len(event.alive),
            "best": best,
            "its mean": mean,
            "evaluations": event.evaluations,
        }
        for name in row:
            table.add_column(name, justify="right")
        table.add_row(*map(str, row.values()))
        return table


def _line(*values: object) -> str:
    return "  ".join(
        f"{value!s:>{width}}" for value, width in zip(values, _COLUMNS.values(), strict=True)
    )
