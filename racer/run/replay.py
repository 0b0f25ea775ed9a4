"""The same race again: recorded outcomes told, recorded verdicts compared."""

from __future__ import annotations

import json
import math
import warnings
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from racer.errors import RacerWarning, RaceStateError, StoreError
from racer.evaluate.cell import Outcome
from racer.racing.budget import Budget
from racer.racing.events import BlockCompleted, RaceEnded
from racer.run.jsonable import decode, dumps, encode, same
from racer.run.reading import Ending, VerdictRow
from racer.run.setup import VERSION, rebuilt, refuse_differences

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from racer.racing.events import Callback, Elimination
    from racer.racing.race import Race
    from racer.run.reading import Reader
    from racer.run.schema import OutcomeRow
    from racer.run.setup import Setup
    from racer.run.store import Store

__all__ = ["Recorder", "begin_or_replay", "replay"]


class Recorder:
    """A callback that compares each verdict with the recorded one, or hands it on to be recorded.

    Parameters
    ----------
    record : callable
        Called with each verdict that has not been recorded.
    watchers : sequence of callable
        Told of each block that was not replayed, and of the end.
    """

    def __init__(
        self, record: Callable[[VerdictRow | Ending], object], watchers: Sequence[Callback] = ()
    ) -> None:
        self._record = record
        self._watchers = watchers
        self._verdicts: Iterator[VerdictRow] = iter(())
        self._ending: Ending | None = None
        self._where = self._hint = ""
        self.replaying = False

    def expect(self, reader: Reader, settings: dict[str, Any]) -> dict[str, Any]:
        """Compare what comes with what `reader` says; return the settings of the race to make.

        These are those given, with the recorded seed if they have none.
        """
        recorded = reader.setup().settings
        if settings["seed"] is None:
            settings = {**settings, "seed": rebuilt(reader.path, "seed", recorded.get("seed"))}
        self._where = f"store {reader.path!r}"
        self._hint = (
            f"Begun by racer {recorded.get('racer')}, now racer {VERSION}: either the "
            "versions (of racer, NumPy, SciPy) decide otherwise, or the decider does"
        )
        if not same(recorded.get("budget"), encode(Budget.of(settings["budget"]))):
            self._hint = (
                "The budget is larger than recorded, which changes what a decider decides that "
                "plans by it (halving, bayesian-best): give the recorded one, or begin a new store"
            )
        self._verdicts = reader.verdicts()
        if same(recorded.get("budget"), encode(Budget.of(settings["budget"]))):
            self._ending = reader.ending()
        return settings

    def __call__(self, event: BlockCompleted | RaceEnded) -> None:
        """Take in an event."""
        if isinstance(event, BlockCompleted):
            self._compare_verdict(event)
        else:
            self._compare_ending(event)
        if not self.replaying or isinstance(event, RaceEnded):
            for watcher in self._watchers:
                watcher(event)

    def _compare_verdict(self, event: BlockCompleted) -> None:
        best = None if event.best is None else int(event.best)
        now = VerdictRow(event.block, best, _dropped(event.eliminated))
        recorded = next(self._verdicts, None)
        if recorded is None:
            self._record(now)
        elif recorded[:2] != now[:2] or not _agree(recorded.dropped, now.dropped):
            self._refuse(f"block {event.block}", _told(recorded), _told(now))

    def _compare_ending(self, event: RaceEnded) -> None:
        now = Ending(event.ended.value, _dropped(event.eliminated))
        if self._ending is None:
            self._record(now)
        elif self._ending.ended != now.ended or not _agree(self._ending.dropped, now.dropped):
            self._refuse("the end", _told(self._ending), _told(now))

    def _refuse(self, place: str, recorded: str, now: str) -> None:
        raise StoreError(
            f"{self._where}: replayed, its verdict at {place} comes out otherwise: recorded is "
            f"{recorded}; now it is {now}. {self._hint}; the file was left as it is"
        )

    def all_came(self) -> bool:
        """Say whether all recorded verdicts have come by."""
        return next(self._verdicts, None) is None


def _told(verdict: VerdictRow | Ending) -> str:
    if isinstance(verdict, Ending):
        return f"ended={verdict.ended!r}, dropped={verdict.dropped}"
    return f"block={verdict.block}, best={verdict.best}, dropped={verdict.dropped}"


def _dropped(eliminations: Iterable[Elimination]) -> str:
    """Write who went, in the order of `Drop`."""
    return dumps(
        [
            {
                "candidate": int(gone.candidate),
                "reason": encode(gone.reason),
                "against": int(gone.against),
                "probability": encode(float(gone.probability)),
                "measure": encode(gone.measure),
            }
            for gone in eliminations
        ]
    )


def _agree(recorded: str, now: str) -> bool:
    """Say whether two lists of drops are the same; probabilities may differ in the last digits."""
    if recorded == now:
        return True
    try:
        pairs = zip(json.loads(recorded), json.loads(now), strict=True)
        return all(_same_drop(one, other) for one, other in pairs)
    except (TypeError, ValueError, KeyError, AttributeError):
        return False


def _same_drop(one: dict[str, Any], other: dict[str, Any]) -> bool:
    p, q = (decode(drop.pop("probability")) for drop in (one, other))
    close = math.isclose(p, q, rel_tol=1e-6, abs_tol=1e-12) or (math.isnan(p) and math.isnan(q))
    return close and one == other


def begin_or_replay(store: Store, race: Race, recorder: Recorder, given: Setup) -> None:
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


def replay(race: Race, reader: Reader, recorder: Recorder) -> None:
    """Tell a new race what is recorded.

    Raises
    ------
    StoreError
        A verdict comes out otherwise than recorded, or the record does not make sense.
    """
    recorder.replaying = True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RacerWarning)  # they were given at the time
        for block, rows in groupby(reader.outcomes(), key=attrgetter("block")):
            try:
                _tell(race, list(rows))
            except RaceStateError as error:
                reader.damaged(f"the outcomes of block {block} are not those asked for ({error})")
    if not recorder.all_came():
        reader.damaged("it has a verdict on a block whose outcomes are missing")
    recorder.replaying = False


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
        race.tell(
            cell,
            Outcome(
                row.status,  # type: ignore[arg-type]  # checked by tell()
                row.value,
                row.seconds,
                row.message,
                row.attempt,
                row.worker,
            ),
        )
