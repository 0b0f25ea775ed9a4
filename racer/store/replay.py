"""Replay of a contest: pass recorded outcomes, compare recorded verdicts, record new ones."""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from racer.core.contest import Unused
from racer.core.events import BlockCompleted, CandidatesAdded, Ended, RaceEnded
from racer.core.prices import Prices
from racer.errors import RacerWarning, StoreError, warn
from racer.evaluate.outcome import Outcome, bounded
from racer.store.contest import VERSION, refuse_differences, set_up
from racer.store.jsonable import decode, dumps, encode, same
from racer.store.reader import sense_made_of
from racer.store.result import result_in
from racer.store.schema import CandidateRow, Ending, PriceRow, VerdictRow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from racer.core.contest import Contest
    from racer.core.events import Callback, Elimination, RaceCompleted
    from racer.evaluate.objective import Objective
    from racer.evaluate.outcome import CellKey
    from racer.store.reader import Reader
    from racer.store.schema import Conclusion
    from racer.store.writer import Store

    Event = BlockCompleted | RaceEnded | CandidatesAdded | RaceCompleted


class Recorder:
    """Compare each verdict with the recorded one, or record it; pass new events on to watchers."""

    def __init__(
        self,
        record: Callable[[Conclusion], object],
        watchers: Sequence[Callback] = (),
        prices: Prices | None = None,
    ) -> None:
        self._record = record
        self._prices = prices  # of the candidates that are sampled
        self._watchers = watchers
        self._verdicts: Iterator[VerdictRow] = iter(())
        self._sampled: Iterator[CandidateRow] = iter(())
        self._ending: Ending | None = None
        self._where = self._hint = ""
        self.replaying: bool = False

    def expect(self, reader: Reader, *, larger_budget: bool) -> None:
        """Compare the events to come with the recorded ones."""
        recorded = reader.setup
        self._where = f"store {reader.path!r}"
        self._hint = (
            f"Begun by racer {recorded.settings['racer']}, now racer {VERSION}: either the "
            "versions (of racer, NumPy, SciPy) decide otherwise, or the decider does"
        )
        if larger_budget:
            self._hint = (
                "The budget (or the deadline that makes it) is larger than recorded, which changes "
                "decisions of a decider that plans by it (halving, best-for-budget, BayesianBest, "
                "goal-for-budget): give the recorded one, or begin a new store"
            )
        else:
            # with a larger budget the contest goes on beyond its recorded end
            self._ending = reader.ending()
        self._verdicts = iter(reader.concluded(VerdictRow))
        if recorded.kind == "tuning":
            self._sampled = iter(reader.concluded(CandidateRow))
        self.replaying = True

    def __call__(self, event: Event) -> None:
        """Compare or record an event."""
        if isinstance(event, BlockCompleted):
            evidence = None if event.evidence is None else _evidence(event.evidence)
            best = None if event.best is None else int(event.best)
            verdict = VerdictRow(event.block, best, _dropped(event.eliminated), evidence)
            self._compare(
                f"its verdict at block {event.block}", next(self._verdicts, None), verdict
            )
        elif isinstance(event, RaceEnded):
            ending = Ending(event.ended.value, _dropped(event.eliminated))
            self._compare("its verdict at the end", self._ending, ending)
        elif isinstance(event, CandidatesAdded):
            self._compare_candidates(event)
        # the watchers had the replayed events in an earlier run; the end is for everyone
        if not self.replaying or isinstance(event, RaceEnded):
            self.pass_on(event)

    def pass_on(self, event: Event) -> None:
        """Tell watchers of an event."""
        for watcher in self._watchers:
            watcher(event)

    def _compare(self, what: str, recorded: Conclusion | None, now: Conclusion) -> None:
        """Record a new row; StoreError if it differs from the recorded one."""
        # a kill between two commits leaves outcomes whose verdict was still queued
        if recorded is None:
            self._record(now)
        elif not _agree(recorded, now):
            raise StoreError(
                f"{self._where}: replayed, {what} comes out otherwise: recorded is "
                f"{_told(recorded)}; now it is {_told(now)}. {self._hint}; the file was left as it is"
            )

    def _compare_candidates(self, event: CandidatesAdded) -> None:
        for number, config in enumerate(event.configs, event.first):
            now, recorded = CandidateRow(number, dumps(encode(config))), next(self._sampled, None)
            self._compare(f"candidate {number}", recorded, now)
            # the price goes with its candidate: a reader of the file has no price function
            if recorded is None and self._prices is not None:
                self._record(PriceRow(number, dumps(self._prices.recorded_of(config))))

    def all_came(self) -> bool:
        """Return True if all recorded verdicts and candidates have been reached."""
        return next(self._verdicts, None) is None and next(self._sampled, None) is None


def _evidence(evidence: Mapping[str, Any]) -> str:
    """Return the evidence of a test as JSON; other than text and numbers by their repr."""
    plain = {
        str(name): value if isinstance(value, str | int | float) else repr(value)
        for name, value in evidence.items()
    }
    return dumps(encode(plain))


def _dropped(eliminations: Iterable[Elimination]) -> str:
    """Return the eliminations as JSON, in the order of `Drop`."""
    each = [vars(drop) for drop in eliminations]
    return dumps([{name: encode(drop[name]) for name in drop if name != "block"} for drop in each])


def _told(row: Conclusion) -> str:
    return ", ".join(f"{name}={value}" for name, value in _compared(row).items())


def _compared(row: Conclusion) -> dict[str, Any]:
    """Return the columns that must come out the same: all but the evidence."""
    return {name: value for name, value in row._asdict().items() if name != "evidence"}


def _agree(recorded: Conclusion, now: Conclusion) -> bool:
    """Return True if two rows are equal; probabilities may differ in the last digits."""
    one, other = _compared(recorded), _compared(now)
    drops = one.pop("dropped", "[]"), other.pop("dropped", "[]")
    if one != other or drops[0] == drops[1]:
        return one == other
    try:
        was, now_is = map(json.loads, drops)
        p, q = ([decode(drop.pop("probability")) for drop in some] for some in (was, now_is))
        return was == now_is and np.allclose(p, q, rtol=1e-6, atol=1e-12, equal_nan=True)
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError, RecursionError):
        return False


class Prefetched(NamedTuple):
    """Recorded outcomes that a replay has not used up."""

    ahead: dict[CellKey, Outcome]  # not asked for yet
    more: dict[CellKey, Outcome]  # told as capped, but known to a larger bound
    wasted: Unused  # capped too early

    def unused(self) -> Unused:
        """Count the unused evaluations."""
        return self.wasted.plus(Unused.from_outcomes(self.ahead.values()))


class Recording:
    """A contest with its store, in which its verdicts are recorded, or compared with recorded ones."""

    def __init__(
        self,
        store: Store,
        contest: Contest[Any],
        evaluate: Objective,
        how: Mapping[str, Any],
        watchers: Sequence[Callback] = (),
    ) -> None:
        given = set_up(contest.description(), evaluate, how)
        self._store, self._contest, self._given = store, contest, given
        prices = None
        if given.kind == "tuning" and given.settings.get("prices") is not None:  # a function
            instances = contest.description().instances
            if len(instances or ()) <= 10_000:  # of so many each configuration has a price
                prices = Prices(contest.rules.prices, (), instances)
        self._recorder = Recorder(store.conclude, watchers, prices)
        self._has_grown = False
        if store.holds_a_race:
            recorded = store.reader.setup
            refuse_differences(store.path, recorded, given)
            self._has_grown = not same(recorded.settings["budget"], given.settings["budget"])
            self._recorder.expect(store.reader, larger_budget=self._has_grown)
        contest.watch(self._recorder)

    def concluded(self) -> Any:
        """Return the result of a contest that has ended, as it stands in its store; None if it does not.

        Watchers are notified of its end.
        """
        store = self._store
        # with a larger budget the recorded result is no longer the last word
        if not store.holds_a_race or self._has_grown:
            return None
        reader = store.reader
        result, ending = result_in(reader, self._contest), reader.ending()
        if result is None or ending is None or result.ended != ending.ended:
            return None
        # the event names only the candidates that left at the very end, as in the first run
        gone = len(json.loads(ending.dropped))
        all_gone = result._eliminations  # noqa: SLF001  (as events, not as a frame)
        latest = all_gone[len(all_gone) - gone :]
        self._recorder.pass_on(RaceEnded(result.ended, eliminated=latest, result=result))
        self._warn_of_failures(result.ended)
        return result

    def _warn_of_failures(self, ended: Ended | None) -> None:
        if ended is Ended.ALL_FAILED:
            warn(
                f"in the race in {self._store.path!r} all evaluations failed, and what is recorded "
                "is not evaluated again: once evaluate is mended, begin a new store"
            )

    def begin(self) -> Prefetched:
        """Write the settings of a new contest, or replay a recorded one; return unused outcomes."""
        store, contest = self._store, self._contest
        if not store.holds_a_race:
            store.begin(self._given)
            return Prefetched({}, {}, Unused())
        # before anything is written: a verdict that differs leaves the file as it was
        untold = replay(contest, store.reader, self._recorder)
        if self._has_grown:
            recorded = store.reader.setup
            settings = {**recorded.settings, "budget": self._given.settings["budget"]}
            store.extend(recorded._replace(settings=settings))
        store.reopen()
        self._warn_of_failures(contest.ended)
        return untold


def replay(contest: Contest[Any], reader: Reader, recorder: Recorder) -> Prefetched:
    """Replay a contest's outcomes, and return the rest; StoreError if a verdict differs."""
    with warnings.catch_warnings(), sense_made_of(reader.path):
        warnings.simplefilter("ignore", RacerWarning)  # they were given at the time
        prefetched = _sorted_out(_tell_all(contest, reader), contest)
    # a verdict is committed after its outcomes, or with them: without them it is damage
    if not recorder.all_came():
        reader.damaged("it has a verdict on a block whose outcomes are missing")
    recorder.replaying = False
    return prefetched


def _tell_all(contest: Contest[Any], reader: Reader) -> dict[CellKey, Outcome]:
    """Pass recorded outcomes in the order of requests; return the rest.

    Of a cell that was evaluated with several bounds, the smallest comes first, as it did then.
    """
    known: dict[CellKey, list[Outcome]] = {}
    for key, outcome in reader.outcomes():
        known.setdefault(key, []).append(outcome)
    untold: dict[CellKey, Outcome] = {}
    missing = False
    while not missing and (cells := contest.ask()):
        for cell in cells:
            key = cell.key
            outcomes = known.pop(key, [])
            # prefetched with a smaller cap than the request then had
            while outcomes and bounded(outcomes[0], cell.bound) is None:
                untold[key] = outcomes.pop(0)
            if not outcomes:
                # look at the others all the same: workers end in any order, so they may be recorded
                missing = True
                continue
            outcome = outcomes[0]
            contest.tell(cell, outcome)
            more = outcomes if bounded(outcome, cell.bound) != outcome else outcomes[1:]
            if more:  # it says more than was asked for, or there are larger bounds
                known[key] = more
    return untold | {key: outcomes[-1] for key, outcomes in known.items()}


def _sorted_out(untold: dict[CellKey, Outcome], contest: Contest[Any]) -> Prefetched:
    """Sort outcomes that were not asked for; of run times some say more of cells that were told."""
    if contest.rules.runtime is None or not untold:
        return Prefetched(untold, {}, Unused())
    ahead, more, wasted = {}, {}, []
    known = contest.result().known
    for key, outcome in untold.items():
        held_out, block, candidate, *_ = key
        told = None if held_out else known.of(candidate).get(block)
        if told is None:
            ahead[key] = outcome
        # its cell was evaluated again with a larger cap, so this one counts as unused
        elif outcome.status == "capped" and (outcome.value or 0.0) < (told.value or 0.0):
            wasted.append(outcome)
        else:
            more[key] = outcome
    return Prefetched(ahead, more, Unused.from_outcomes(wasted))
