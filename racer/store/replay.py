"""The same race again: recorded outcomes told, recorded verdicts compared."""

from __future__ import annotations

import math
import warnings
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from racer.errors import RacerWarning, RaceStateError, warn
from racer.evaluate.outcome import Outcome, bounded, check_outcome
from racer.racing.events import Ended
from racer.racing.race import Race
from racer.racing.result import Unused
from racer.store.jsonable import same
from racer.store.reader import sense_made_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from racer.evaluate.outcome import CellKey
    from racer.racing.contest import Contest
    from racer.store.reader import Reader
    from racer.store.recorder import Recorder
    from racer.store.schema import OutcomeRow, Setup
    from racer.store.writer import Store


def begin_or_replay(
    store: Store, contest: Contest, recorder: Recorder, given: Setup
) -> dict[CellKey, Outcome]:
    """Write what a contest is made of into a new store, or continue the one in an old store.

    Return outcomes made ahead, which have not been told.
    """
    if not store.holds_a_race:
        store.begin(given)
        return {}
    recorded = store.reader.setup()
    untold = replay(contest, store.reader, recorder)
    if not same(recorded.settings["budget"], given.settings["budget"]):
        settings = {**recorded.settings, "budget": given.settings["budget"]}
        store.extend(recorded._replace(settings=settings))
    if contest.ended is Ended.ALL_FAILED:
        warn(
            f"in the race in {store.path!r} all evaluations failed, and what is recorded is not "
            "evaluated again: once evaluate is mended, begin a new store"
        )
    return untold


def replay(contest: Contest, reader: Reader, recorder: Recorder) -> dict[CellKey, Outcome]:
    """Tell a contest what is recorded; StoreError if a verdict comes out differently.

    Return outcomes that were made ahead, and have not been asked for.
    """
    recorder.replaying = True
    with warnings.catch_warnings(), sense_made_of(reader.path):
        warnings.simplefilter("ignore", RacerWarning)  # they were given at the time
        if isinstance(contest, Race) and contest.rules.runtime is None:
            untold = _tell_by_block(contest, reader)
        else:
            untold = _tell_all(contest, reader)
        outcomes = {_key(row): _outcome(row) for row in untold}
        _check_ahead(outcomes, contest, reader)
    if not recorder.all_came():
        reader.damaged("it has a verdict on a block whose outcomes are missing")
    recorder.replaying = False
    return outcomes


def _tell_by_block(race: Race, reader: Reader) -> list[OutcomeRow]:
    """Tell a race what is recorded, as it stands in the store; return what it did not ask for."""
    untold: list[OutcomeRow] = []
    race.ask()  # one of a single candidate ends before anything is told
    for block, group in groupby(reader.outcomes(), key=attrgetter("held_out", "block")):
        rows = list(group)
        if block != (0, race.n_blocks) or race.ended is not None:
            untold += rows
            continue
        try:
            if tuple(row.candidate for row in rows) == race.alive:
                race.tell_block([_outcome(row) for row in rows])
                continue
            asked = {cell.key: cell for cell in race.ask()}
            for row in rows:
                if (cell := asked.get(_key(row))) is None:
                    untold.append(row)
                else:
                    race.tell(cell, _outcome(row))
        except RaceStateError as error:
            reader.damaged(f"an outcome on block {race.n_blocks} makes no sense ({error})")
    return untold


def _tell_all(contest: Contest, reader: Reader) -> list[OutcomeRow]:
    """Tell what is recorded in the order in which it is asked for; return the rest.

    Of a cell that was evaluated with several bounds, the smallest comes first, as it did then.
    """
    known: dict[CellKey, list[OutcomeRow]] = {}
    for row in reader.outcomes():
        known.setdefault(_key(row), []).append(row)
    too_short: list[OutcomeRow] = []
    missing = False
    while not missing and (cells := contest.ask()):
        for cell in cells:
            rows = known.get(cell.key, [])
            while rows and bounded(_outcome(rows[0]), cell.bound) is None:
                too_short.append(rows.pop(0))
            missing = missing or not rows
            if rows:
                outcome = _outcome(rows[0])
                try:
                    contest.tell(cell, outcome)
                except RaceStateError as error:
                    reader.damaged(f"an outcome on block {cell.block} makes no sense ({error})")
                if bounded(outcome, cell.bound) == outcome:  # else it says more, if asked again
                    rows.pop(0)
    return [*too_short, *(row for rows in known.values() for row in rows)]


class Untold(NamedTuple):
    """Recorded outcomes: made ahead; told, but known to a larger bound; capped too early."""

    ahead: dict[CellKey, Outcome]
    more: dict[CellKey, Outcome]
    wasted: Unused

    @classmethod
    def of(cls, contest: Contest, outcomes: Mapping[CellKey, Outcome]) -> Untold:
        """Sort out what `replay` returned."""
        ahead, more, wasted = dict(outcomes), {}, []
        if outcomes and contest.rules.runtime is not None:
            table = contest.result().known
            for key, outcome in outcomes.items():
                held_out, block, candidate = key
                told = None if held_out else table.of(candidate).get(block)
                if told is None:
                    continue
                del ahead[key]
                if outcome.status == "capped" and (outcome.value or 0.0) < (told.value or 0.0):
                    wasted.append(outcome)
                else:
                    more[key] = outcome
        return cls(ahead, more, Unused.of(wasted))

    def unused(self) -> Unused:
        """Return what was evaluated in vain."""
        return self.wasted.plus(Unused.of(self.ahead.values()))


def _check_ahead(outcomes: Mapping[CellKey, Outcome], contest: Contest, reader: Reader) -> None:
    """Raise StoreError for an outcome that nobody can have asked for, or made ahead."""
    if not outcomes:
        return
    description = contest.description()
    tests: float = len(description.test_instances)
    endless = not contest.rules.deterministic
    blocks = math.inf if endless else len(description.instances or ())
    for (held_out, block, candidate), outcome in outcomes.items():
        if not (
            0 <= candidate < len(contest.configs) and 0 <= block < (tests if held_out else blocks)
        ):
            reader.damaged(
                f"candidate {candidate} on block {block} is recorded, but there is no such cell"
            )
        try:
            check_outcome(outcome)
        except RaceStateError as error:
            reader.damaged(f"an outcome on block {block} makes no sense ({error})")


def _key(row: OutcomeRow) -> CellKey:
    return bool(row.held_out), row.block, row.candidate


def _outcome(row: OutcomeRow) -> Outcome:
    status: Any = row.status  # checked when it is told
    return Outcome(status, row.value, row.seconds, row.message, row.attempt, row.worker)
