"""Progress of a contest in this process: live in a terminal or a notebook, lines elsewhere."""

from __future__ import annotations

import functools
import shlex
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self

from rich.console import Console
from rich.live import Live
from rich.text import Text

from racer._checks import counted
from racer.core.events import BlockCompleted, RaceCompleted, RaceEnded
from racer.errors import warn
from racer.render.text import folded
from racer.run.progress_state import ProgressState
from racer.run.signals import at_terminal, notify

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from racer.core.contest import Contest
    from racer.evaluate.outcome import Cell, Outcome
    from racer.run.deadline import Deadline

_LEAST = 0.3  # seconds between two drawings
_SILENT = 10.0  # seconds without an event after which a log says where it stands

P = ParamSpec("P")


class Screen(Console):
    """A console that outlives its reader, at whose end Rich exits; a width of 0 is unknown.

    It is a terminal if it is one: FORCE_COLOR, which notebooks set, says nothing of that.
    """

    def __init__(self) -> None:
        super().__init__(stderr=True, force_jupyter=False, force_terminal=at_terminal())
        if self.width < 1:
            self.width = 80

    def on_broken_pipe(self) -> None:
        """Show nothing any more."""
        self.quiet = True


def _harmless(
    method: Callable[Concatenate[Progress, P], None],
) -> Callable[Concatenate[Progress, P], None]:
    """Let an error of a method end the display instead of the run."""

    @functools.wraps(method)
    def call(display: Progress, /, *args: P.args, **kwargs: P.kwargs) -> None:
        if not display.has_failed:
            try:
                method(display, *args, **kwargs)
            except Exception as error:  # noqa: BLE001  (whatever it is: the run goes on)
                display.fail(error)

    return call


class Progress:
    """A callback that shows progress: live in a terminal while it is entered, else lines.

    `begin`, `asked` and `told` report progress within a block, which has no events. An error, as of
    a disk that is full, ends the display only.
    """

    def __init__(self, console: Console | None = None) -> None:
        self.console: Console = console or Screen()
        self.state: ProgressState = ProgressState(time.monotonic())
        self._notice = ""
        self._early: list[Any] | None = None  # events that came while it is held
        self._lines: list[str] = []  # to be shown above the live part
        self._last = time.monotonic()  # something was shown
        self._done = threading.Event()
        self._ticker: threading.Thread | None = None
        self.live: Live = Live(
            get_renderable=self._render, console=self.console, auto_refresh=False, transient=True
        )
        self._cell = None if self.console.is_terminal or console else _notebook_cell()
        self.has_failed: bool = False

    def __enter__(self) -> Self:
        self._start()
        return self

    def __exit__(self, *error: object) -> None:
        self._done.set()
        if self._ticker is not None:
            self._ticker.join()
        self._stop()

    @_harmless
    def _start(self) -> None:
        if self.console.is_terminal:
            self.live.start()
            self._ticker = threading.Thread(target=self._tick, daemon=True)
            self._ticker.start()

    @_harmless
    def _stop(self) -> None:
        if self._ticker is not None:
            self._flush()
        self.live.stop()
        if self._cell is not None:
            self._cell(self._text())

    def fail(self, error: Exception) -> None:
        """End the display after an error; the terminal is left in order if it can be."""
        self.has_failed = True
        with suppress(Exception):
            self.live.stop()
        with suppress(OSError, ValueError):  # as of the display
            warn(f"progress is not shown any more ({type(error).__name__}: {error})")

    @_harmless
    def _tick(self) -> None:
        while not self._done.wait(_LEAST):
            if self._lines:
                self._flush()  # which draws the rest as well
            else:
                self.live.refresh()

    def _flush(self) -> None:
        """Print the lines that have gathered: each printing draws the live part again."""
        lines, self._lines = self._lines, []
        if lines:
            text = folded("\n".join(lines), self.console.width, indent="  ")
            self.console.print(text, highlight=False, markup=False, soft_wrap=True, emoji=False)

    def _text(self, width: int = 1_000) -> str:
        text = self.state.text(time.monotonic(), width)
        return f"{text}\n{folded(self._notice.strip(), width)}" if self._notice else text

    def _render(self) -> Text:
        return Text(self._text(self.console.width), no_wrap=True, overflow="ellipsis")

    def announce(self, line: str) -> None:
        """Show a line from now on; as the answer to a signal, which may come at any time."""
        if self.live.is_started:  # what is written past it would be wiped off
            self._notice = line
        else:
            notify(line)

    @_harmless
    def begin(
        self,
        contest: Contest[Any],
        workers: int | None,
        running: Callable[[], int],
        deadline: Deadline | None = None,
    ) -> None:
        """Show that a contest begins, or goes on; `running()`: the number of running cells."""
        self.state.begin(contest, workers, running, deadline)
        self.line(self.state.of.title)
        self.release()
        if self._cell is not None:
            self._cell(self._text())

    def hold(self) -> None:
        """Keep events until the beginning: a replay may end before that."""
        self._early = []

    @_harmless
    def release(self) -> None:
        """Show the events that were kept."""
        early, self._early = self._early, None
        for event in early or ():
            self(event)

    @_harmless
    def recorded_in(self, store: str) -> None:
        """Show where a contest is recorded, before anything is."""
        path = shlex.quote(store)
        self.line(f"outcomes go to {path}; racer show {path} says where it stands")

    @_harmless
    def asked(self, cells: Sequence[Cell]) -> None:
        """Begin a block, or a held-out instance, that needs these cells."""
        begins = cells[0].held_out and not self.state.work.held_out
        self.state.asked(cells)
        if begins:
            many = counted(self.state.of.n_held_out, "held-out instance")
            self.line(f"{many}, {counted(len(cells), 'configuration')} on each")

    @_harmless
    def told(self, outcome: Outcome) -> None:
        """Count an outcome; called for each evaluation."""
        self.state.told(outcome)
        if self._ticker is None and time.monotonic() - self._last >= (
            _LEAST if self._cell is not None else _SILENT
        ):
            self._show()

    def _show(self) -> None:
        """Show the present figures."""
        if self._cell is not None:
            now = time.monotonic()
            if now - self._last >= _LEAST:
                self._cell(self._text())
                self._last = now
        elif self._ticker is None:
            self.line(self.state.line(time.monotonic()))

    @_harmless
    def __call__(self, event: Any) -> None:
        """Show an event, unless it is held."""
        if self._early is not None:
            self._early.append(event)
            return
        self.state.update(event)
        if isinstance(event, BlockCompleted | RaceEnded) and self.state.of.kind != "tuning":
            for line in self.state.left_lines(event.eliminated):
                self.line(line)
        if isinstance(event, RaceEnded):
            self.line(self.state.ended)
        elif isinstance(event, RaceCompleted):
            self.line(self.state.race_line(event))
        elif isinstance(event, BlockCompleted) and (
            (event.eliminated and self.state.of.kind != "tuning")
            or time.monotonic() - self._last >= _SILENT
        ):
            self._show()

    @_harmless
    def line(self, text: str) -> None:
        """Show a line that stays: above the live part, or, in a log, with the time."""
        if self._cell is not None:
            return
        self._last = time.monotonic()
        if self._ticker is not None:
            self._lines.append(text)
        elif self.console.is_terminal:
            self._lines.append(text)
            self._flush()
        else:
            stamp = time.strftime("%Y-%m-%d %H:%M:%S")
            self.console.file.write(f"{stamp} {text}\n")
            self.console.file.flush()


def _notebook_cell() -> Callable[[str], None] | None:
    """Return a function that shows text in one place of a notebook's cell."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if type(shell).__name__ != "ZMQInteractiveShell":
        return None
    from IPython.display import display  # type: ignore[import-not-found]  # noqa: PLC0415

    handle = display({"text/plain": ""}, raw=True, display_id=True)
    return lambda text: handle.update({"text/plain": text}, raw=True)
