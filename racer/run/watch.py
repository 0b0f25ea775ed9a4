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
from racer.core.events import Ended
from racer.core.objective import Aim
from racer.errors import StoreError
from racer.render.escape import printable
from racer.results.ablation import AblationResult
from racer.results.front import FrontOfMeans
from racer.run.progress import Screen
from racer.run.progress_state import ProgressState, Subject, Work, readable
from racer.store.contest import decode_setting
from racer.store.jsonable import is_plain
from racer.store.load import load_record
from racer.store.reader import open_to_read, sense_made_of
from racer.store.schema import CandidateRow, VerdictRow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console

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
    state = state_in(store, ProgressState(clock()))

    def look_again() -> None:
        wait(interval)
        state_in(store, state)

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
    path = Path(os.path.realpath(store))
    written = path.stat().st_mtime if path.exists() else time.time()
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
    if aim is None or not aim.is_front:
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
    verdicts = reader.concluded(VerdictRow)
    state.best = verdicts[-1].best if verdicts else None
    ((n, failed, seconds, spent, block, seen, mean),) = reader.rows(
        "SELECT count(*), sum(value IS NULL), sum(seconds), "  # noqa: S608
        "sum(spend), max(block), count(DISTINCT candidate), avg(CASE WHEN candidate = "
        f"{-1 if state.best is None else int(state.best)} THEN value END) "
        "FROM outcomes WHERE NOT held_out"
    )
    runtime = setup.settings["runtime"]
    timed = decode_setting(reader.path, "runtime", runtime) if is_plain(runtime) else None
    state.watch(
        Subject(
            kind=setup.kind,
            budget=Budget.each(decode_setting(reader.path, "budget", setup.settings["budget"]))[-1],
            workers=None,  # a process per evaluation, if that has limits
            mean_label="mean" if timed is None else timed.score_name,
            n_held_out=len(setup.settings.get("test_instances") or ()),
            is_watched=True,
        ),
        state.of.before if state.of.is_watched else n,
    )
    state.mean = mean if runtime is None else None
    gone = reader.eliminated(verdicts)
    _read_front(reader, state, gone)
    asked = told = 0
    if setup.kind == "tuning":  # who is left in a race is not recorded
        state.candidates, state.left, state.blocks = (
            len(reader.concluded(CandidateRow)),
            None,
            len(verdicts),
        )
    else:
        # an ablation makes them as it goes on
        state.candidates = len(setup.candidates) if setup.kind == "race" else seen
        state.left = state.candidates - len(gone)
        block = -1 if block is None else block
        ((told,),) = reader.rows(
            f"SELECT count(*) FROM outcomes WHERE NOT held_out AND block = {int(block)}"  # noqa: S608
        )
        asked = max(state.left, told)
        state.blocks = block + (told == asked)
    ((held_out,),) = reader.rows("SELECT count(DISTINCT block) FROM outcomes WHERE held_out")
    state.work = Work(n, failed or 0, seconds or 0.0, asked, told, spent, held_out)
    ending = reader.ending()
    if reader.is_out_of_time():
        state.ended = Ended.DEADLINE.message
    elif ending is not None:
        with suppress(ValueError):  # of a newer version
            state.ended = Ended(ending.ended).message
        state.ended = state.ended or ending.ended
