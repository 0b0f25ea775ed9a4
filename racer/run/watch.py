"""Progress of the contest in a store, which another process runs; nothing is written or locked."""

from __future__ import annotations

import json
import os
import shlex
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from rich.live import Live
from rich.text import Text

from racer.core.budget import Budget
from racer.core.events import BlockCompleted, Ended
from racer.core.objective import Aim
from racer.errors import RacerError, StoreError
from racer.render.escape import printable
from racer.results.ablation import AblationResult
from racer.results.front import FrontOfMeans
from racer.run.progress import Screen
from racer.run.progress_state import ProgressState, Subject, Work, readable
from racer.store.contest import contest_from_store, decode_setting
from racer.store.jsonable import is_plain
from racer.store.load import load_record, why_not_replayed
from racer.store.reader import open_to_read, sense_made_of
from racer.store.replay import follow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from rich.console import Console

    from racer.core.contest import Contest
    from racer.evaluate.outcome import Cell, CellKey
    from racer.store.reader import Reader


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
    console = console or Screen()
    races = Races()
    state = state_in(store, ProgressState(clock()), races)

    def look_again() -> None:
        wait(interval)
        state_in(store, state, races)

    if not console.is_terminal and not once:
        for line in _lines(store, state, clock, look_again):
            console.file.write(f"{printable(line)}\n")
            console.file.flush()
        return

    narrow = {"width": console.width} if console.is_terminal else {}

    def text() -> str:
        return f"{state.text(clock(), **narrow)}\n{state.ended or _silence(store)}"

    with Live(console=console, auto_refresh=False, transient=True) as live:
        while not (once or state.ended):
            live.update(Text(text(), no_wrap=True, overflow="ellipsis"), refresh=True)
            look_again()
    console.print(text(), highlight=False, markup=False)


def _silence(store: str) -> str:
    """Return how long ago the store was written: a killed process cannot report its end."""
    path = os.path.realpath(store)
    files = [file for end in ("", "-wal") if (file := Path(f"{path}{end}")).exists()]
    written = max((file.stat().st_mtime for file in files), default=time.time())
    ago = readable(max(time.time() - written, 0.0))
    return f"Last written {ago} ago; if nothing runs it: racer check {shlex.quote(store)}"


def _lines(
    store: str, state: ProgressState, clock: Callable[[], float], look_again: Callable[[], None]
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
        look_again()


class Races:
    """The races of a tuning that another process runs: replayed, as a store does not record them."""

    def __init__(self) -> None:
        self._begin(None)

    def _begin(self, budget: Any) -> None:
        self._contest: Contest[Any] | None = None
        self._budget = budget  # with which it is replayed
        self._is_lost = False  # it cannot be replayed from the file alone
        self._n_outcomes = self._n_blocks = 0
        self._asked: frozenset[CellKey] = frozenset()

    def follow(self, reader: Reader, state: ProgressState, n_outcomes: int) -> bool:
        """Update the figures of the running race; False if they cannot be known."""
        budget = reader.setup.settings["budget"]
        if budget != self._budget:  # begun, or gone on with a larger one
            self._begin(budget)
            state.forget_races(0)
        if not self._is_lost and n_outcomes != self._n_outcomes:
            try:
                self._is_lost = not self._catch_up(reader, state)
            except (RacerError, TypeError):
                self._is_lost = True
            self._n_outcomes = n_outcomes
        return not self._is_lost

    def _catch_up(self, reader: Reader, state: ProgressState) -> bool:
        """Pass the outcomes recorded since; return whether all recorded verdicts came."""
        if self._contest is None:
            if why_not_replayed(reader) is not None:
                return False
            self._contest = contest_from_store(reader, numbered=True)
            state.aim_at(self._contest.rules)
            self._contest.watch(state.update)
            self._contest.watch(self._count)
        n_verdicts = sum(1 for _ in reader.verdicts())
        follow(self._contest, reader, self._note)
        state.ended = ""  # the file says whether it has ended
        remaining = len(self._contest.ask())
        state.work.asked, state.work.told = len(self._asked), len(self._asked) - remaining
        return self._n_blocks >= n_verdicts

    def _count(self, event: object) -> None:
        self._n_blocks += isinstance(event, BlockCompleted)

    def _note(self, cells: Sequence[Cell]) -> None:
        """Keep the keys of a request, of which only those without an outcome come again."""
        keys = frozenset(cell.key for cell in cells)
        if not keys <= self._asked:
            self._asked = keys


def state_in(store: str, state: ProgressState, races: Races | None = None) -> ProgressState:
    """Bring the progress of the contest in a store up to date; StoreError if there is none.

    `races` follows those of a tuning from one look to the next.
    """
    with open_to_read(store) as reader, sense_made_of(reader.path):
        _read(reader, state, races or Races())
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
    if aim is None or not aim.is_front:
        return
    means = FrontOfMeans(aim)
    cells = reader.rows(
        "SELECT candidate, metrics FROM outcomes WHERE NOT held_out AND metrics IS NOT NULL"
    )
    for candidate, metrics in cells:
        means.add(candidate, json.loads(metrics))
    state.front = means.members(sorted({candidate for candidate, _ in cells} - gone))


def _read(reader: Reader, state: ProgressState, races: Races) -> None:
    setup = reader.setup
    ((n_outcomes,),) = reader.rows("SELECT count(*) FROM outcomes")
    ((n, failed, seconds, spent, block, seen),) = reader.rows(
        "SELECT count(*), sum(value IS NULL), sum(seconds), sum(spend), max(block), "
        "count(DISTINCT candidate) FROM outcomes WHERE NOT held_out"
    )
    runtime = setup.settings["runtime"]
    timed = decode_setting(reader.path, "runtime", runtime) if is_plain(runtime) else None
    before = state.of.before if state.of.is_watched else n
    is_over = reader.is_out_of_time() or reader.ending() is not None
    is_tuning = setup.kind == "tuning"
    has_races = is_tuning and not is_over and races.follow(reader, state, n_outcomes)
    state.watch(
        Subject(
            kind=setup.kind,
            budget=Budget.each(decode_setting(reader.path, "budget", setup.settings["budget"]))[-1],
            workers=None,  # a process per evaluation, if that has limits
            mean_label="mean" if timed is None else timed.score_name,
            n_held_out=len(setup.settings.get("test_instances") or ()),
            is_watched=True,
            has_races=has_races,
        ),
        before,
    )
    ((held_out,),) = reader.rows("SELECT count(DISTINCT block) FROM outcomes WHERE held_out")
    asked, told = state.work.asked, state.work.told
    if not is_tuning:
        asked, told = _read_block(reader, state, seen, block)
    elif not has_races:
        verdicts = list(reader.verdicts())
        state.forget_races(len(verdicts))
        state.candidates = len(list(reader.sampled()))
        state.best, state.mean = verdicts[-1].best if verdicts else None, None
        _read_front(reader, state, reader.eliminated(verdicts))
        asked = told = 0
    state.work = Work(n, failed or 0, seconds or 0.0, asked, told, spent, held_out)
    ending = reader.ending()
    if reader.is_out_of_time():
        state.ended = Ended.DEADLINE.message
    elif ending is not None:
        with suppress(ValueError):  # of a newer version
            state.ended = Ended(ending.ended).message
        state.ended = state.ended or ending.ended


def _read_block(
    reader: Reader, state: ProgressState, seen: int, block: int | None
) -> tuple[int, int]:
    """Bring the figures of a single race, or an ablation, up to date; return its latest block's cells.

    Those are asked for, and evaluated.
    """
    setup = reader.setup
    verdicts = list(reader.verdicts())
    gone = reader.eliminated(verdicts)
    # an ablation makes them as it goes on
    state.candidates = len(setup.candidates) if setup.kind == "race" else seen
    state.left = state.candidates - len(gone)
    state.best = verdicts[-1].best if verdicts else None
    block = -1 if block is None else block
    ((told, mean),) = reader.rows(
        f"SELECT sum(block = {int(block)}), avg(CASE WHEN candidate = "  # noqa: S608
        f"{-1 if state.best is None else int(state.best)} THEN value END) "
        "FROM outcomes WHERE NOT held_out"
    )
    state.mean = None if setup.settings["runtime"] is not None else mean
    _read_front(reader, state, gone)
    asked, told = max(state.left, told or 0), told or 0
    state.blocks = block + (told == asked)
    return asked, told
