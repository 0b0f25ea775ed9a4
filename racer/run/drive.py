"""The loop: ask, evaluate, record, tell."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

from racer.errors import RaceInterrupted
from racer.evaluate.workers import generators_put_back
from racer.run.signals import GentleStop, tell

if TYPE_CHECKING:
    from collections.abc import Callable

    from racer.evaluate.workers import Workers
    from racer.racing.contest import Contest
    from racer.store.writer import Store

__all__ = ["drive"]

# The signal may have gone to what the evaluation had started as well: to a solver, say
_MAY_BE_THE_SIGNALS = ("failed", "invalid", "killed")


def drive(
    race: Contest,
    workers: Workers,
    store: Store | None = None,
    announce: Callable[[str], None] = tell,
) -> Any:
    """Run a race to its end.

    With a store, each outcome is recorded before the race is told, and the first SIGINT, SIGTERM
    or SIGHUP lets what is being evaluated finish, which is announced; the second stops at once.

    Raises
    ------
    RaceInterrupted
        Ctrl-C; the error carries what is known so far.
    StoreError
        An outcome cannot be recorded.
    """
    if store is not None:
        return _drive_recorded(race, workers, store, announce)
    try:
        with generators_put_back():
            while cells := race.ask():
                with closing(workers.outcomes(cells)) as outcomes:
                    for cell, outcome in outcomes:
                        race.tell(cell, outcome)
    except KeyboardInterrupt:
        raise RaceInterrupted(race.result()) from None
    return race.result()


def _drive_recorded(
    race: Contest, workers: Workers, store: Store, announce: Callable[[str], None]
) -> Any:
    stop = GentleStop(announce)
    try:
        with stop, generators_put_back():
            while not stop.requested() and (cells := race.ask()):
                with closing(workers.outcomes(cells, stopping=stop.requested)) as outcomes:
                    for cell, outcome in outcomes:
                        if stop.requested() and outcome.status in _MAY_BE_THE_SIGNALS:
                            continue  # not recorded, so it is evaluated again
                        store.append(cell, outcome)
                        race.tell(cell, outcome)
            store.flush()
    except KeyboardInterrupt:
        raise _interrupted(race, store, stop.code) from None
    if stop.requested():
        raise _interrupted(race, store, stop.code)
    return race.result()


def _interrupted(race: Contest, store: Store, code: int) -> RaceInterrupted:
    kept = f"all of them are recorded; go on with {store.reader.how_to_resume()}"
    return RaceInterrupted(race.result(), kept=kept, code=code)
