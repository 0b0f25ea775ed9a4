"""The same race again: recorded outcomes told, recorded verdicts compared."""

from __future__ import annotations

import warnings
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from racer.errors import RacerWarning, RaceStateError, warn
from racer.evaluate.outcome import Outcome
from racer.racing.events import Ended
from racer.racing.race import Race
from racer.store.jsonable import same
from racer.store.reader import sense_made_of

if TYPE_CHECKING:
    from racer.evaluate.outcome import Cell
    from racer.racing.contest import Contest
    from racer.store.reader import Reader
    from racer.store.recorder import Recorder
    from racer.store.schema import OutcomeRow, Setup
    from racer.store.writer import Store


def begin_or_replay(store: Store, contest: Contest, recorder: Recorder, given: Setup) -> None:
    """Write what a contest is made of into a new store, or continue the one in an old store."""
    if not store.holds_a_race:
        store.begin(given)
        return
    recorded = store.reader.setup()
    replay(contest, store.reader, recorder)
    if not same(recorded.settings["budget"], given.settings["budget"]):
        settings = {**recorded.settings, "budget": given.settings["budget"]}
        store.extend(recorded._replace(settings=settings))
    if contest.ended is Ended.ALL_FAILED:
        warn(
            f"in the race in {store.path!r} all evaluations failed, and what is recorded is not "
            "evaluated again: once evaluate is mended, begin a new store"
        )


def replay(contest: Contest, reader: Reader, recorder: Recorder) -> None:
    """Tell a contest what is recorded; StoreError if a verdict comes out differently."""
    recorder.replaying = True
    with warnings.catch_warnings(), sense_made_of(reader.path):
        warnings.simplefilter("ignore", RacerWarning)  # they were given at the time
        if isinstance(contest, Race):
            _tell_by_block(contest, reader)
        else:
            _tell_all(contest, reader)
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


def _tell_all(contest: Contest, reader: Reader) -> None:
    """Tell what is recorded in the order in which it is asked for."""
    known = {_place(row): row for row in reader.outcomes()}
    missing = False
    while not missing and (cells := contest.ask()):
        for cell in cells:
            row = known.pop(_place(cell), None)
            missing = missing or row is None
            if row is not None:
                try:
                    contest.tell(cell, _outcome(row))
                except RaceStateError as error:
                    reader.damaged(f"an outcome on block {row.block} makes no sense ({error})")
    if known:
        _, block, candidate = next(iter(known))
        reader.damaged(f"candidate {candidate} on block {block} is recorded, but not asked for")


def _place(item: OutcomeRow | Cell) -> tuple[bool, int, int]:
    return bool(item.held_out), item.block, item.candidate


def _tell(race: Race, rows: list[OutcomeRow]) -> None:
    if rows[0].block == race.n_blocks and tuple(row.candidate for row in rows) == race.alive:
        race.tell_block([_outcome(row) for row in rows])
        return
    asked = {(cell.block, cell.candidate): cell for cell in race.ask()}
    for row in rows:
        cell = asked.get((row.block, row.candidate))
        if cell is None:
            raise RaceStateError(
                f"candidate {row.candidate} had been eliminated, or the race had ended"
            )
        race.tell(cell, _outcome(row))


def _outcome(row: OutcomeRow) -> Outcome:
    status: Any = row.status  # checked when it is told
    return Outcome(status, row.value, row.seconds, row.message, row.attempt, row.worker)
