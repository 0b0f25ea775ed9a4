"""The same race again: recorded outcomes told, recorded verdicts compared."""

from __future__ import annotations

import math
import warnings
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from racer.errors import RacerWarning, RaceStateError, warn
from racer.evaluate.cell import Outcome
from racer.racing.events import Ended
from racer.racing.race import Race
from racer.store.jsonable import same
from racer.store.setup import refuse_differences

if TYPE_CHECKING:
    from racer.store.reader import Reader
    from racer.store.recorder import Recorder
    from racer.store.schema import OutcomeRow
    from racer.store.setup import Setup
    from racer.store.writer import Store
    from racer.tuner.tuner import Tuner

__all__ = ["begin_or_replay", "replay"]


def begin_or_replay(store: Store, race: Race | Tuner, recorder: Recorder, given: Setup) -> None:
    """Write what is raced into a new store, or go on with the race in an old one.

    Raises
    ------
    StoreError
        It is another race, or its record does not make sense.
    """
    if not store.holds_a_race:
        store.begin(given)
        return
    recorded = store.reader.setup()
    refuse_differences(store.path, recorded, given)
    replay(race, store.reader, recorder)
    if not same(recorded.settings["budget"], given.settings["budget"]):
        settings = {**recorded.settings, "budget": given.settings["budget"]}
        store.extend(recorded._replace(settings=settings))
    if race.ended is Ended.ALL_FAILED:
        warn(
            f"in the race in {store.path!r} all evaluations failed, and what is recorded is not "
            "evaluated again: once evaluate is mended, begin a new store",
        )


def replay(race: Race | Tuner, reader: Reader, recorder: Recorder) -> None:
    """Tell a new race what is recorded.

    Raises
    ------
    StoreError
        A verdict comes out otherwise than recorded, or the record does not make sense.
    """
    recorder.replaying = True
    recorder.go_on()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RacerWarning)  # they were given at the time
        if isinstance(race, Race):
            _tell_by_block(race, reader)
        else:
            _tell_all(race, reader)
    if not recorder.all_came():
        reader.damaged("it has a verdict on a block whose outcomes are missing")
    recorder.replaying = False


def _tell_by_block(race: Race, reader: Reader) -> None:
    """Tell a race what is recorded: block by block, as it stands in the store."""
    for block, rows in groupby(reader.outcomes(), key=attrgetter("block")):
        try:
            _tell(race, list(rows))
        except RaceStateError as error:
            reader.damaged(f"the outcomes of block {block} are not those asked for ({error})")


def _tell_all(tuner: Tuner, reader: Reader) -> None:
    """Tell a tuner what is recorded, in the order in which it asks."""
    known = {(row.block, row.candidate): row for row in reader.outcomes()}
    missing = False
    while not missing and (cells := tuner.ask()):
        for cell in cells:
            row = known.pop((cell.block, cell.candidate), None)
            missing = missing or row is None
            if row is not None:
                tuner.tell(cell, _outcome(row))
    if known:
        block, candidate = next(iter(known))
        reader.damaged(f"candidate {candidate} on block {block} is recorded, but not asked for")


def _tell(race: Race, rows: list[OutcomeRow]) -> None:
    """Tell the outcomes of one block."""
    if (
        len(rows) == len(race.alive)
        and rows[0].block == len(race.table.rows)
        and all(row.status == "ok" for row in rows)
        and tuple(row.candidate for row in rows) == race.alive
    ):
        race.tell_block(
            [math.nan if row.value is None else row.value for row in rows],
            seconds=math.fsum(row.seconds for row in rows),
        )
        return
    asked = {(cell.block, cell.candidate): cell for cell in race.ask()}
    for row in rows:
        cell = asked.get((row.block, row.candidate))
        if cell is None:
            raise RaceStateError(f"candidate {row.candidate} had gone, or the race had ended")
        race.tell(cell, _outcome(row))


def _outcome(row: OutcomeRow) -> Outcome:
    status: Any = row.status  # checked when it is told
    return Outcome(status, row.value, row.seconds, row.message, row.attempt, row.worker)
