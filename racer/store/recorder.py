"""Verdicts as they fall: recorded, or compared with what is recorded."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from racer.core.events import BlockCompleted, CandidatesAdded, RaceEnded
from racer.errors import StoreError
from racer.store.jsonable import decode, dumps, encode
from racer.store.schema import CandidateRow, Ending, VerdictRow
from racer.store.setup import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from racer.core.events import Callback, Elimination, RaceCompleted
    from racer.store.reader import Reader

    Event = BlockCompleted | RaceEnded | CandidatesAdded | RaceCompleted


class Recorder:
    """Compare each verdict with the recorded one, or record it; pass new events on to watchers."""

    def __init__(
        self,
        record: Callable[[VerdictRow | Ending | CandidateRow], object],
        watchers: Sequence[Callback] = (),
    ) -> None:
        self._record = record
        self._watchers = watchers
        self._verdicts: Iterator[VerdictRow] = iter(())
        self._sampled: Iterator[CandidateRow] = iter(())
        self._ending: Ending | None = None
        self._where = self._hint = ""
        self.replaying = False

    def expect(self, reader: Reader, *, larger_budget: bool) -> None:
        """Compare the events to come with the recorded ones."""
        recorded = reader.setup()
        self._where = f"store {reader.path!r}"
        self._hint = (
            f"Begun by racer {recorded.settings['racer']}, now racer {VERSION}: either the "
            "versions (of racer, NumPy, SciPy) decide otherwise, or the decider does"
        )
        if larger_budget:
            self._hint = (
                "The budget is larger than recorded, which changes what a decider decides that "
                "plans by it (halving, best-for-budget, bayesian-best): give the recorded one, or begin a new store"
            )
        else:
            self._ending = reader.ending()
        self._verdicts = reader.verdicts()
        if recorded.kind == "tuning":
            self._sampled = reader.sampled()
        self.replaying = True

    def __call__(self, event: Event) -> None:
        """Compare or record an event."""
        if isinstance(event, BlockCompleted):
            self._compare_verdict(event)
        elif isinstance(event, RaceEnded):
            self._compare_ending(event)
        elif isinstance(event, CandidatesAdded):
            self._compare_candidates(event)
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

    def _compare_candidates(self, event: CandidatesAdded) -> None:
        for number, config in enumerate(event.configs, event.first):
            now = CandidateRow(number, dumps(encode(config)))
            recorded = next(self._sampled, None)
            if recorded is None:
                self._record(now)
            elif recorded != now:
                raise StoreError(
                    f"{self._where}: replayed, it samples otherwise: candidate {number} is "
                    f"{recorded.value} in the record, and {now.value} now. {self._hint}; the "
                    "file was left as it is"
                )

    def _refuse(self, place: str, recorded: str, now: str) -> None:
        raise StoreError(
            f"{self._where}: replayed, its verdict at {place} comes out otherwise: recorded is "
            f"{recorded}; now it is {now}. {self._hint}; the file was left as it is"
        )

    def all_came(self) -> bool:
        """Return True if all recorded verdicts and candidates have been reached."""
        return next(self._verdicts, None) is None and next(self._sampled, None) is None


def _told(verdict: VerdictRow | Ending) -> str:
    if isinstance(verdict, Ending):
        return f"ended={verdict.ended!r}, dropped={verdict.dropped}"
    return f"block={verdict.block}, best={verdict.best}, dropped={verdict.dropped}"


def _dropped(eliminations: Iterable[Elimination]) -> str:
    """Return the eliminations as JSON, in the order of `Drop`."""
    return dumps(
        [
            {
                "candidate": int(drop.candidate),
                "reason": encode(drop.reason),
                "against": int(drop.against),
                "probability": encode(float(drop.probability)),
                "measure": encode(drop.measure),
            }
            for drop in eliminations
        ]
    )


def _agree(recorded: str, now: str) -> bool:
    """Return True if two lists of drops are equal; probabilities may differ in the last digits."""
    if recorded == now:
        return True
    try:
        pairs = zip(json.loads(recorded), json.loads(now), strict=True)
        return all(_same_drop(one, other) for one, other in pairs)
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError, RecursionError):
        return False


def _same_drop(one: dict[str, Any], other: dict[str, Any]) -> bool:
    p, q = (decode(drop.pop("probability")) for drop in (one, other))
    close = math.isclose(p, q, rel_tol=1e-6, abs_tol=1e-12) or (math.isnan(p) and math.isnan(q))
    return close and one == other
