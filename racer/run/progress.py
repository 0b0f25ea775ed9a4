"""Progress of a race or a tuning: live in a terminal, lines elsewhere."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table

from racer.racing.events import BlockCompleted, Elimination, RaceEnded
from racer.racing.said import why
from racer.run.signals import tell
from racer.tuner.events import RaceCompleted

if TYPE_CHECKING:
    from racer.racing.contest import Description


def display_for(contest: Description) -> Display:
    """Return the display of a race or of a tuning."""
    return TunerProgress() if "space" in contest.settings else Progress()


class Display:
    """A callback that shows what happens on a console, live in a terminal while it is entered."""

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

    def __exit__(self, *error: object) -> None:
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
        self.console.print(text, highlight=False, markup=False, soft_wrap=True)


class Progress(Display):
    """Shows block, alive, best, its mean, evaluations, and the eliminated."""

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


def _line(drop: Elimination) -> str:
    if drop.reason == "rejected":
        return f"block {drop.block:>3}: #{drop.candidate} was rejected"
    return f"block {drop.block:>3}: dropped #{drop.candidate}, {why(drop)}"


def _leader(event: BlockCompleted | RaceCompleted) -> tuple[str, str]:
    """Return the leader and its mean, as they are shown."""
    best = "-" if event.best is None else f"#{event.best}"
    mean = "-" if event.best_mean is None else f"{event.best_mean:.4g}"
    return best, mean


def _plain(event: BlockCompleted) -> str:
    best, mean = _leader(event)
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
        *_leader(event),
        str(event.evaluations),
        str(event.failed),
    )
    return table


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
                self.print(_row(*_COLUMNS))
                self._headed = True
            self.print(self._line(event))
        elif isinstance(event, RaceEnded):
            self.print(event.ended.message)
        elif isinstance(event, BlockCompleted):
            if self._begun is None:
                self._begun = time.monotonic(), event.evaluations
            self.show(self._table(event))

    def _line(self, event: RaceCompleted) -> str:
        return _row(
            event.race if event.kind == "race" else event.kind,
            event.candidates,
            event.blocks,
            event.alive,
            *_leader(event),
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
        best, mean = _leader(event)
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


def _row(*values: object) -> str:
    return "  ".join(
        f"{value!s:>{width}}" for value, width in zip(values, _COLUMNS.values(), strict=True)
    )
