"""`watch`: where a race in a store stands, seen from another process."""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.live import Live
from rich.text import Text

from racer.errors import StoreError
from racer.racing.ablation_result import AblationResult
from racer.racing.events import Ended
from racer.run.standing import Standing
from racer.run.standing import clock as readable
from racer.store.jsonable import decode, is_plain
from racer.store.load import load_record
from racer.store.reader import open_to_read, sense_made_of
from racer.store.schema import query

if TYPE_CHECKING:
    from collections.abc import Callable

    from racer.racing.budget import Budget
    from racer.store.reader import Reader

__all__ = ["standing_in", "watch"]


def watch(
    store: str,
    *,
    interval: float = 1.0,
    once: bool = False,
    console: Console | None = None,
    clock: Callable[[], float] = time.monotonic,
    wait: Callable[[float], None] = time.sleep,
) -> None:
    """Show where the race in a store stands, until it has ended; nothing is written or locked."""
    console = console or Console()
    standing = standing_in(store, Standing(clock()))
    if not console.is_terminal and not once:
        _lines(store, standing, interval, console, clock, wait)
        return

    def text() -> str:
        return f"{standing.text(clock())}\n{standing.ended or _silence(store)}"

    with Live(console=console, auto_refresh=False, transient=True) as live:
        while not (once or standing.ended):
            live.update(Text(text(), no_wrap=True, overflow="ellipsis"), refresh=True)
            wait(interval)
            standing_in(store, standing)
    console.print(text(), highlight=False, markup=False)


def _silence(store: str) -> str:
    """Say how long nothing has been written: a process that was killed cannot say so itself."""
    path = os.path.realpath(store)
    files = [file for end in ("", "-wal") if (file := Path(f"{path}{end}")).exists()]
    written = max((file.stat().st_mtime for file in files), default=time.time())
    ago = readable(max(time.time() - written, 0.0))
    return f"Last written {ago} ago; if nothing runs it: racer check {store}"


def _lines(
    store: str,
    standing: Standing,
    interval: float,
    console: Console,
    clock: Callable[[], float],
    wait: Callable[[float], None],
) -> None:
    """Write a line whenever something has changed."""
    console.file.write(f"{_silence(store)}\n" if not standing.ended else "")
    shown = -1
    while True:
        if standing.evaluations != shown or standing.ended:
            stamp = time.strftime("%Y-%m-%d %H:%M:%S")
            console.file.write(f"{stamp} {standing.line(clock())}\n")
            shown = standing.evaluations
        if standing.ended:
            console.file.write(f"{standing.ended}\n")
            return
        console.file.flush()
        wait(interval)
        standing_in(store, standing)


def standing_in(store: str, standing: Standing) -> Standing:
    """Bring up to date where a race in a store stands; StoreError if there is none."""
    with open_to_read(store) as reader, sense_made_of(reader.path):
        _read(reader, standing)
        runtime = reader.setup().settings.get("runtime")
    if runtime is not None and is_plain(runtime):
        standing.mean_is, standing.mean = decode(runtime).score_is, None
    if standing.ended:
        with suppress(StoreError):  # with a decider of one's own
            result: Any = load_record(store).result
            if isinstance(result, AblationResult):
                standing.best = result.best_index
            else:
                standing.end(result)
    return standing


def _read(reader: Reader, standing: Standing) -> None:
    setup = reader.setup()
    cells = f"({query('outcomes', reader.version)})"
    ((n, failed, seconds, block, workers, seen),) = reader.rows(
        f"SELECT count(*), sum(value IS NULL), sum(seconds), max(block), count(DISTINCT worker), "  # noqa: S608
        f"count(DISTINCT candidate) FROM {cells} WHERE NOT held_out"
    )
    verdicts = list(reader.verdicts())
    gone: set[int] = set()
    for verdict in verdicts:
        gone |= {drop["candidate"] for drop in json.loads(verdict.dropped)}
    if standing.budget is None:
        standing.watch(_last_budget(decode(setup.settings["budget"])), n)
    standing.is_tuning = "space" in setup.settings
    sampled = len(list(reader.sampled())) if standing.is_tuning else len(setup.candidates)
    if "ablation" in setup.settings:  # which makes its candidates as it goes on
        sampled = seen
    standing.candidates, standing.left = sampled, sampled - len(gone)
    standing.evaluations, standing.failures = n, failed or 0
    standing.seconds, standing.workers = seconds or 0.0, workers or None
    block = -1 if block is None else block
    standing.best = verdicts[-1].best if verdicts else None
    ((told, mean),) = reader.rows(
        f"SELECT sum(block = {int(block)}), avg(CASE WHEN candidate = "  # noqa: S608
        f"{-1 if standing.best is None else int(standing.best)} THEN value END) FROM {cells} "
        "WHERE NOT held_out"
    )
    standing.cells_told, standing.mean = told or 0, mean
    standing.cells = max(standing.left, standing.cells_told)
    standing.blocks = block + (standing.cells_told == standing.cells)
    ending = reader.ending()
    if ending is not None:
        with suppress(ValueError):  # of a newer version
            standing.ended = Ended(ending.ended).message
        standing.ended = standing.ended or ending.ended


def _last_budget(budget: Budget | list[Budget]) -> Budget:
    return budget[-1] if isinstance(budget, list) else budget
