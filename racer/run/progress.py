"""Progress of a contest, here or in a store: live in a terminal or a notebook, lines elsewhere."""

from __future__ import annotations

import functools
import json
import math
import os
import shlex
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self

from rich.console import Console
from rich.live import Live
from rich.text import Text

from racer.core.budget import Budget
from racer.core.events import BlockCompleted, CandidatesAdded, Ended, RaceCompleted, RaceEnded
from racer.core.objective import Aim
from racer.errors import StoreError, warn
from racer.render.escape import printable
from racer.render.text import folded
from racer.results.ablation import AblationResult
from racer.results.base import Result
from racer.results.front import FrontOfMeans
from racer.results.summary import why
from racer.results.tuning import TuneResult
from racer.run.deadline import Deadline
from racer.run.signals import notify
from racer.store.contest import decode_setting
from racer.store.jsonable import is_plain
from racer.store.load import load_record
from racer.store.reader import open_to_read, sense_made_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from racer.core.contest import Contest, Kind
    from racer.core.events import Elimination
    from racer.core.rules import Rules
    from racer.evaluate.outcome import Cell, Outcome
    from racer.store.reader import Reader

_LEAST = 0.3  # seconds between two drawings
_SILENT = 10.0  # seconds without an event after which a log says where it stands
_ENOUGH = 20  # evaluations that show the pace of a resumed run
_NAMED = 2  # candidates of a front
_EACH = 5  # so many that leave at once are named
_WIDTH = 80  # of an unknown terminal

P = ParamSpec("P")


@dataclass(frozen=True)
class Subject:
    """The contest that is shown, and its workers; `before` counts evaluations known at the start."""

    title: str = ""
    kind: Kind = "race"
    budget: Budget | None = None
    before: int = 0
    workers: int | None = 1
    running: Callable[[], int] = int
    mean_label: str = "mean"
    n_held_out: int = 0  # instances
    deadline: Deadline = field(default_factory=Deadline)
    is_watched: bool = False  # by another process, which does not know when it began


@dataclass
class Work:
    """Evaluations, and the requested and finished cells of the current block."""

    evaluations: int = 0
    failures: int = 0
    seconds: float = 0.0
    asked: int = 0
    told: int = 0
    spent: float | None = None
    held_out: int = 0  # the number of the held-out instance that is evaluated, from 1


class ProgressState:
    """Candidates left, the best, evaluations, time, workers; the clock starts at `now`."""

    def __init__(self, now: float) -> None:
        self.of: Subject = Subject()
        self.work: Work = Work()
        self.candidates = self.left = self.blocks = self.race = 0
        self.best: int | None = None
        self.mean: float | None = None
        self.ended: str = ""
        self._begun = now
        self._completed = self._earlier = 0  # races of a tuning before this one, and their blocks
        self._contest: Contest[Any] | None = None  # of run times: the best is chosen at the end
        self._means: FrontOfMeans | None = None
        self.front: tuple[int, ...] = ()  # of the means, in a race to the front

    def aim_at(self, rules: Rules) -> FrontOfMeans | None:
        """Track the front, if that is the goal."""
        self._means = FrontOfMeans(rules.aim) if rules.is_front and rules.aim is not None else None
        return self._means

    def begin(
        self,
        contest: Contest[Any],
        workers: int | None,
        running: Callable[[], int],
        deadline: Deadline | None = None,
    ) -> None:
        """Start tracking a contest."""
        result, rules = contest.result(), contest.rules
        self.candidates, self.left = len(contest.configs), len(contest.alive)
        self.blocks = contest.n_blocks
        if isinstance(result, TuneResult):
            from racer.tuner.tuner import Tuner  # noqa: PLC0415  (it is loaded)

            self.blocks = contest.race_blocks if isinstance(contest, Tuner) else 0
            self.race = self._completed = len(result.completed_races)
            self._earlier = sum(race.blocks for race in result.completed_races)
        self.best = result.best_index
        failed = len(result.known.failures)
        self.work = Work(result.evaluations, failed, result.seconds, spent=result.spent)
        if (means := self.aim_at(rules)) is not None:
            for _, candidate, outcome in result.known.cells():
                means.add(candidate, outcome.metrics or {})
            self.front = means.members(contest.alive)
        if rules.runtime is not None and isinstance(result, Result):
            self._contest = contest
        what = f"race of {self.candidates} candidates" if contest.kind == "race" else contest.kind
        known = f", {result.evaluations} evaluations known" if result.evaluations else ""
        hands = "" if workers is None else f", {workers} worker{'s' * (workers != 1)}"
        self.of = Subject(
            f"{what}: decider {type(rules.decider).__name__}, budget of {rules.budgets[-1]}, seed "
            f"{rules.seed}{hands}{known}",
            contest.kind,
            rules.budgets[-1],
            result.evaluations,
            workers,
            running,
            "mean" if rules.runtime is None else rules.runtime.score_name,
            len(contest.description().test_instances),
            deadline or Deadline(),
        )

    def watch(self, subject: Subject, evaluations: int) -> None:
        """Start tracking the races of a study, or a contest that another process runs."""
        self.of = replace(subject, before=evaluations)
        self.work.evaluations = evaluations

    def end(self, result: Result) -> None:
        """Take the figures of a contest that has ended from its result."""
        self._take_best(result)
        self.left, self.blocks = len(result.survivors), len(result.known)
        failed = len(result.known.failures)
        self.work = Work(result.evaluations, failed, result.seconds, spent=result.spent)

    def _take_best(self, result: Result) -> None:
        self.best = result.best_index
        self.mean = None if self.best is None else result.mean(self.best)

    def asked(self, cells: Sequence[Cell]) -> None:
        """Begin a block, or a held-out instance, that needs these cells."""
        self.work.asked, self.work.told = len(cells), 0
        self.work.held_out = cells[0].block + 1 if cells[0].held_out else 0

    def told(self, outcome: Outcome) -> None:
        """Count an outcome; those on held-out instances are beyond the budget."""
        self.work.told += 1
        if self.work.held_out:
            return
        self.work.evaluations += 1
        self.work.seconds += outcome.seconds
        if outcome.spend is not None:
            self.work.spent = (self.work.spent or 0.0) + outcome.spend
        self.work.failures += outcome.value is None

    def update(self, event: Any) -> None:
        """Update the figures after an event."""
        if isinstance(event, BlockCompleted):
            self.race = self._completed
            self.blocks = max(self.blocks, event.block + 1 - self._earlier)
            self.left, self.best, self.mean = len(event.alive), event.best, event.best_mean
            self.candidates = max(self.candidates, self.left + len(event.eliminated))
            self.work.evaluations, self.work.seconds = event.evaluations, event.seconds
            self.work.spent = event.spent
            if self._means is not None and event.metrics is not None:
                for place, candidate in enumerate(event.candidates):
                    self._means.add(candidate, {n: of[place] for n, of in event.metrics.items()})
                self.front = self._means.members(event.alive)
        elif isinstance(event, CandidatesAdded):
            self.candidates = event.first + len(event.configs)
            if event.race == self._completed:  # not of a race that begins later
                self.race, self.left = event.race, len(event.configs)
        elif isinstance(event, RaceCompleted):
            self.race, self.best, self.left = event.race, event.best, event.alive
            self._completed, self._earlier = event.race + 1, self._earlier + event.blocks
            if self._means is not None:
                self._means.clear()
            self.blocks = 0
        elif isinstance(event, RaceEnded):
            self.ended = event.ended.message
            if self._contest is not None:
                self._take_best(self._contest.result())

    def to_go(self, now: float) -> float | None:
        """Return how many seconds are left at this rate, if the whole budget is used."""
        budget, work = self.of.budget, self.work
        done, until = work.evaluations - self.of.before, self.of.deadline.left()
        if self.ended:
            return None
        if budget is None or done <= 0 or work.held_out:
            return until if until < math.inf else None
        left = budget.left(
            evaluations=work.evaluations, seconds=work.seconds, spent=work.spent or 0.0
        )
        pace = (now - self._begun) / done
        if done < min(self.of.before, _ENOUGH) and self.of.workers:  # as before it was resumed
            pace = work.seconds / work.evaluations / self.of.workers
        found = until if left is None else min(pace * left, until)
        return found if found < math.inf else None

    def text(self, now: float) -> str:
        """Return all of it as a table of four lines."""
        (label, best), mean = self._best(), self._mean()
        to_go, watched, work = self.to_go(now), self.of.is_watched, self.work
        failed = f"{work.failures} failed"
        within = f"{work.told} of {work.asked} cells of it" if work.asked else "-"
        left = "-" if to_go is None else f"at most {readable(to_go)}"
        used = "watched for" if watched else "time used"
        rows = [
            ("candidates left", f"{self.left} of {self.candidates}", "evaluations", self._spent()),
            (label, best, used, readable(now - self._begun)),
            (f"{self.of.mean_label} on common blocks", mean, "time left", left),
            (
                self._held_out() or self._where(),
                within,
                "of them" if watched else "workers busy",
                failed if watched else f"{self._busy()}; {failed}",
            ),
        ]
        return "\n".join(f" {a:<23}{b:<19} {c:<13}{d}" for a, b, c, d in rows)

    def _busy(self) -> str:
        workers = self.of.workers
        busy = self.of.running()
        if workers is None:
            return f"{busy} cells"
        return f"{1 if workers == 1 and not self.ended else min(busy, workers)} of {workers}"

    def line(self, now: float) -> str:
        """Return the most of it in a line."""
        label, best = self._best()
        leader = "" if best == "-" else f", {label} {best}"
        if self.mean is not None and not self.front:
            leader += f", {self.of.mean_label} {self._mean()}"
        to_go, work = self.to_go(now), self.work
        within = f"{self.blocks} blocks done"
        if self.of.kind == "ablation":
            within = f"{work.told} of {work.asked} cells"
        elif work.told < work.asked:
            within = f"block {self._block()}, {work.told} of {work.asked} cells"
        within = self._held_out() or within
        left = f"; at most {readable(to_go)} left" if to_go else ""
        failed = f", {work.failures} failed" if work.failures else ""
        return (
            f"{self._race()}{within}: {self.left} candidate{'s' * (self.left != 1)} left{leader}; "
            f"{self._spent()} evaluations{failed}{left}"
        )

    def _race(self) -> str:
        """Return the number of the race of a tuning; a store does not record it."""
        return f"race {self.race}, " if self.of.kind == "tuning" and not self.of.is_watched else ""

    def _held_out(self) -> str:
        """Return which held-out instance is evaluated, if one is."""
        at = self.work.held_out
        return f"held-out {at} of {self.of.n_held_out}" if at else ""

    def _where(self) -> str:
        """Return the race and the block; of an ablation, which may evaluate several, neither."""
        return "requested" if self.of.kind == "ablation" else f"{self._race()}block {self._block()}"

    def _block(self) -> int:
        """Return the number of the block that is evaluated, or of the last one."""
        return max(self._earlier + self.blocks - (self.work.told >= self.work.asked), 0)

    def _best(self) -> tuple[str, str]:
        """Return the leader, and its meaning."""
        if not self.front:
            return "best", "-" if self.best is None else f"#{self.best}"
        more = len(self.front) - _NAMED
        named = ", ".join(f"#{candidate}" for candidate in self.front[:_NAMED])
        return "front of means", named + (f" and {more} more" if more > 0 else "")

    def _mean(self) -> str:
        return "-" if self.mean is None else f"{self.mean:.4g}"

    def _spent(self) -> str:
        budget, work = self.of.budget, self.work
        if budget is None:
            return f"{work.evaluations}"
        if budget.evaluations is not None:
            used = f"{work.evaluations} of {budget.evaluations}"
        elif budget.seconds is not None:
            used = f"{work.evaluations} ({work.seconds:.4g} of {budget.seconds:g} s)"
        else:
            used = f"{work.evaluations}"
        if work.spent is None:
            return used
        limit = "" if budget.spend is None else f" of {budget.spend:g}"
        return f"{used} ({work.spent:.4g}{limit} spent)"


def readable(seconds: float) -> str:
    """Return seconds as h:mm:ss."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


class _Screen(Console):
    """A console that outlives its reader, at whose end Rich exits; a width of 0 is unknown."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, force_jupyter=False)
        if self.width < 1:
            self.width = _WIDTH

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
        self.console: Console = console or _Screen(stderr=True)
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

    def _text(self) -> str:
        text = self.state.text(time.monotonic())
        return f"{text}\n{self._notice.strip()}" if self._notice else text

    def _render(self) -> Text:
        return Text(self._text(), no_wrap=True, overflow="ellipsis")

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
        """Show where a contest is recorded."""
        path = shlex.quote(store)
        self.line(f"recorded in {path}; racer watch {path} follows it")

    @_harmless
    def asked(self, cells: Sequence[Cell]) -> None:
        """Begin a block, or a held-out instance, that needs these cells."""
        begins = cells[0].held_out and not self.state.work.held_out
        self.state.asked(cells)
        if begins:
            many = self.state.of.n_held_out
            self.line(
                f"{many} held-out instances, {len(cells)} configuration{'s' * (len(cells) != 1)} on each"
            )

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
            for line in _left(event.eliminated):
                self.line(line)
        if isinstance(event, RaceEnded):
            self.line(event.ended.message)
        elif isinstance(event, RaceCompleted):
            self.line(_race(event))
        elif isinstance(event, CandidatesAdded) and event.race:
            many = len(event.configs)
            new = "new candidate" + "s" * (many != 1)
            self.line(f"race {event.race}: {many} {new}, from #{event.first} on")
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


def _left(eliminated: tuple[Elimination, ...]) -> list[str]:
    """Return a line for each candidate that left after a block, one for all if they are many."""
    if len(eliminated) > _EACH:
        reasons = Counter(drop.reason for drop in eliminated)
        counted = ", ".join(f"{count} {reason}" for reason, count in reasons.most_common())
        block = eliminated[0].block
        return [f"block {block:>3}: dropped {len(eliminated)} candidates: {counted}"]
    return [_line(drop) for drop in eliminated]


def _line(drop: Elimination) -> str:
    if drop.reason == "rejected":
        return f"block {drop.block:>3}: #{drop.candidate} was rejected"
    return f"block {drop.block:>3}: dropped #{drop.candidate}, {why(drop)}"


def _race(event: RaceCompleted) -> str:
    """Return how a race of a tuning has ended."""
    best = "no best" if event.best is None else f"best #{event.best}"
    mean = "" if event.best_mean is None else f", its mean over all blocks {event.best_mean:.4g}"
    of = "" if event.left is None else f" of {event.evaluations + event.left}"
    return (
        f"{event.kind} {event.race}: {event.alive} of {event.candidates} candidates left after "
        f"{event.blocks} blocks ({event.ended}), {best}{mean}; {event.evaluations}{of} evaluations"
    )


def _notebook_cell() -> Callable[[str], None] | None:
    """Return a function that shows text in one place of a notebook's cell."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if type(shell).__name__ != "ZMQInteractiveShell":
        return None
    from IPython.display import display  # type: ignore[import-not-found]  # noqa: PLC0415

    handle = display({"text/plain": ""}, raw=True, display_id=True)
    return lambda text: handle.update({"text/plain": text}, raw=True)


def watch(
    store: str,
    *,
    interval: float = 1.0,
    once: bool = False,
    console: Console | None = None,
    clock: Callable[[], float] = time.monotonic,
    wait: Callable[[float], None] = time.sleep,
) -> None:
    """Show the progress of the contest in a store until its end; nothing is written or locked."""
    console = console or _Screen()
    state = state_in(store, ProgressState(clock()))
    if not console.is_terminal and not once:
        for line in _lines(store, state, clock, lambda: wait(interval)):
            console.file.write(f"{printable(line)}\n")
            console.file.flush()
        return

    def text() -> str:
        return f"{state.text(clock())}\n{state.ended or _silence(store)}"

    with Live(console=console, auto_refresh=False, transient=True) as live:
        while not (once or state.ended):
            live.update(Text(text(), no_wrap=True, overflow="ellipsis"), refresh=True)
            wait(interval)
            state_in(store, state)
    console.print(text(), highlight=False, markup=False)


def _silence(store: str) -> str:
    """Return how long ago the store was written: a killed process cannot report its end."""
    path = os.path.realpath(store)
    files = [file for end in ("", "-wal") if (file := Path(f"{path}{end}")).exists()]
    written = max((file.stat().st_mtime for file in files), default=time.time())
    ago = readable(max(time.time() - written, 0.0))
    return f"Last written {ago} ago; if nothing runs it: racer check {shlex.quote(store)}"


def _lines(
    store: str, state: ProgressState, clock: Callable[[], float], wait: Callable[[], None]
) -> Iterator[str]:
    """Yield a line whenever something has changed."""
    if not state.ended:
        yield _silence(store)
    shown = -1
    while True:
        if state.work.evaluations != shown or state.ended:
            yield f"{time.strftime('%Y-%m-%d %H:%M:%S')} {state.line(clock())}"
            shown = state.work.evaluations
        if state.ended:
            yield state.ended
            return
        wait()
        state_in(store, state)


def state_in(store: str, state: ProgressState) -> ProgressState:
    """Bring the progress of the contest in a store up to date; StoreError if there is none."""
    with open_to_read(store) as reader, sense_made_of(reader.path):
        _read(reader, state)
    if state.ended:
        with suppress(StoreError):  # with a decider of one's own
            result = load_record(store).result
            if isinstance(result, AblationResult):
                state.best = result.best_index
            else:
                state.end(result)
    return state


def _read_front(reader: Reader, state: ProgressState, gone: set[int]) -> None:
    """Bring the front of the means up to date, of a race to a front."""
    settings = reader.setup.settings
    aim = Aim.of(settings.get("metrics"), settings.get("objective"))
    if aim is None or aim.goal is None or aim.goal.kind != "front":
        return
    means = FrontOfMeans(aim)
    cells = reader.rows(
        "SELECT candidate, metrics FROM outcomes WHERE NOT held_out AND metrics IS NOT NULL"
    )
    for candidate, metrics in cells:
        means.add(candidate, json.loads(metrics))
    state.front = means.members(sorted({candidate for candidate, _ in cells} - gone))


def _read(reader: Reader, state: ProgressState) -> None:
    setup = reader.setup
    ((n, failed, seconds, spent, block, seen),) = reader.rows(
        "SELECT count(*), sum(value IS NULL), sum(seconds), sum(spend), max(block), "
        "count(DISTINCT candidate) FROM outcomes WHERE NOT held_out"
    )
    runtime = setup.settings["runtime"]
    timed = decode_setting(reader.path, "runtime", runtime) if is_plain(runtime) else None
    before = state.of.before if state.of.is_watched else n
    state.watch(
        Subject(
            kind=setup.kind,
            budget=Budget.each(decode_setting(reader.path, "budget", setup.settings["budget"]))[-1],
            workers=None,  # a process per evaluation, if that has limits
            mean_label="mean" if timed is None else timed.score_name,
            n_held_out=len(setup.settings.get("test_instances") or ()),
            is_watched=True,
        ),
        before,
    )
    verdicts = list(reader.verdicts())
    gone = reader.eliminated(verdicts)
    counts = {"race": len(setup.candidates), "tuning": len(list(reader.sampled()))}
    state.candidates = counts.get(setup.kind, seen)  # an ablation makes them as it goes on
    state.left = state.candidates - len(gone)
    state.best = verdicts[-1].best if verdicts else None
    block = -1 if block is None else block
    ((told, mean),) = reader.rows(
        f"SELECT sum(block = {int(block)}), avg(CASE WHEN candidate = "  # noqa: S608
        f"{-1 if state.best is None else int(state.best)} THEN value END) "
        "FROM outcomes WHERE NOT held_out"
    )
    state.mean = None if runtime is not None else mean
    _read_front(reader, state, gone)
    asked = max(state.left, told or 0)
    ((held_out,),) = reader.rows("SELECT count(DISTINCT block) FROM outcomes WHERE held_out")
    state.work = Work(n, failed or 0, seconds or 0.0, asked, told or 0, spent, held_out)
    state.blocks = block + (state.work.told == asked)
    ending = reader.ending()
    if ending is not None:
        with suppress(ValueError):  # of a newer version
            state.ended = Ended(ending.ended).message
        state.ended = state.ended or ending.ended
