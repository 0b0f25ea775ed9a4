"""Replay of a contest: pass recorded outcomes, compare recorded verdicts, record new ones."""

from __future__ import annotations

import json
import math
import warnings
from itertools import chain
from sys import intern
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from racer.core.contest import Unused
from racer.core.events import BlockCompleted, CandidatesAdded, Ended, RaceEnded
from racer.core.prices import Prices
from racer.core.table import Row
from racer.errors import RacerWarning, RaceStateError, StoreError, warn
from racer.evaluate.outcome import Outcome, bounded, check_outcome
from racer.racing.asktell import under
from racer.racing.race import Race
from racer.store.contest import VERSION, refuse_differences, set_up
from racer.store.jsonable import decode, dumps, encode, same
from racer.store.reader import sense_made_of
from racer.store.result import result_in
from racer.store.schema import CandidateRow, Ending, PriceRow, VerdictRow, is_priced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from racer.core.contest import Contest
    from racer.core.events import Callback, Elimination, RaceCompleted
    from racer.core.rules import Rules
    from racer.evaluate.objective import Objective
    from racer.evaluate.outcome import CellKey
    from racer.store.reader import Reader
    from racer.store.schema import Conclusion, OutcomeRow
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
        self.n_compared = 0  # verdicts

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
            self._ending = reader.ending()
        self._verdicts = reader.verdicts()
        if recorded.kind == "tuning":
            self._sampled = reader.sampled()
        self.replaying = True

    def __call__(self, event: Event) -> None:
        """Compare or record an event."""
        if isinstance(event, BlockCompleted):
            evidence = None if event.evidence is None else _evidence(event.evidence)
            best = None if event.best is None else int(event.best)
            dropped = _dropped(event.eliminated) if event.eliminated else "[]"
            verdict = VerdictRow(event.block, best, dropped, evidence)
            self._compare(f"block {event.block}", next(self._verdicts, None), verdict)
        elif isinstance(event, RaceEnded):
            ending = Ending(event.ended.value, _dropped(event.eliminated))
            self._compare("the end", self._ending, ending)
        elif isinstance(event, CandidatesAdded):
            self._compare_candidates(event)
        if not self.replaying or isinstance(event, RaceEnded):
            self.pass_on(event)

    def pass_on(self, event: Event) -> None:
        """Tell watchers of an event."""
        for watcher in self._watchers:
            watcher(event)

    def _compare(
        self, place: str, recorded: VerdictRow | Ending | None, now: VerdictRow | Ending
    ) -> None:
        if recorded is None:
            self._record(now)
        # of the rest, the evidence is not compared
        elif recorded[:-2] != now[:-2] or not _agree(recorded.dropped, now.dropped):
            raise StoreError(
                f"{self._where}: replayed, its verdict at {place} comes out otherwise: recorded is "
                f"{_told(recorded)}; now it is {_told(now)}. {self._hint}; the file was left as "
                "it is"
            )
        elif isinstance(now, VerdictRow):
            self.n_compared += 1

    def _compare_candidates(self, event: CandidatesAdded) -> None:
        for number, config in enumerate(event.configs, event.first):
            now = CandidateRow(number, dumps(encode(config)))
            recorded = next(self._sampled, None)
            if recorded is None:
                self._record(now)
                if self._prices is not None:
                    price = self._prices.recorded_of(config)
                    self._record(PriceRow(number, dumps(price)))
            elif recorded != now:
                raise StoreError(
                    f"{self._where}: replayed, it samples otherwise: candidate {number} is "
                    f"{recorded.value} in the record, and {now.value} now. {self._hint}; the "
                    "file was left as it is"
                )

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


class Prefetched(NamedTuple):
    """Recorded outcomes that a replay has not used up."""

    ahead: dict[CellKey, Outcome]  # not asked for yet
    more: dict[CellKey, Outcome]  # told as capped, but known to a larger bound
    wasted: Unused  # capped too early

    @classmethod
    def none(cls) -> Prefetched:
        """Return the counts of a contest without records."""
        return cls({}, {}, Unused())

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
        if is_priced(given) and not (store.holds_a_race and store.reader.prices() is None):
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
        if not store.holds_a_race or self._has_grown:
            return None
        reader = store.reader
        result, ending = result_in(reader, self._contest), reader.ending()
        if result is None or ending is None or result.ended != ending.ended:
            return None
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
            return Prefetched.none()
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
        prefetched = _sorted_out(_tell_all(contest, reader), contest, reader)
    if not recorder.all_came():
        reader.damaged("it has a verdict on a block whose outcomes are missing")
    recorder.replaying = False
    return prefetched


def _tell_all(contest: Contest[Any], reader: Reader) -> dict[CellKey, Outcome]:
    """Pass recorded outcomes in the order of requests; return the rest.

    Of a cell that was evaluated with several bounds, the smallest comes first, as it did then.
    """
    rows = reader.outcomes()
    known: dict[CellKey, list[Outcome]] = {}
    untold: dict[CellKey, Outcome] = {}
    last = (False, -1)  # the block up to which rows have been read
    if isinstance(contest, Race) and _has_plain_costs(contest.rules):
        rows, last = _tell_rows(contest, reader, rows, known)
    missing = False
    while not missing and (cells := contest.ask()):
        for cell in cells:
            key = cell.key
            while last <= key[:2] and (row := next(rows, None)) is not None:
                last = _read(reader, row, known)
            outcomes = known.pop(key, [])
            while outcomes and bounded(outcomes[0], cell.bound) is None:
                untold[key] = outcomes.pop(0)
            if not outcomes:
                missing = True
                continue
            outcome = outcomes[0]
            try:
                contest.tell(cell, outcome)
            except RaceStateError as error:
                reader.damaged(f"an outcome on block {cell.block} makes no sense ({error})")
            more = outcomes if bounded(outcome, cell.bound) != outcome else outcomes[1:]
            if more:  # it says more than was asked for, or there are larger bounds
                known[key] = more
    for row in rows:
        _read(reader, row, known)
    return untold | {key: outcomes[-1] for key, outcomes in known.items()}


def _has_plain_costs(rules: Rules) -> bool:
    """Return True if outcomes are told as they are recorded, whatever they are."""
    special = (rules.runtime, rules.metric_names, rules.bounds, rules.prices)
    return not rules.is_paid and all(setting is None for setting in special)


def _tell_rows(
    contest: Race,
    reader: Reader,
    outcomes: Iterator[OutcomeRow],
    known: dict[CellKey, list[Outcome]],
) -> tuple[Iterator[OutcomeRow], tuple[bool, int]]:
    """Tell a race its complete blocks, one by one; return the remaining rows, and the last block.

    Outcomes that are read, but belong to no complete block, are added to `known`.
    """
    last, row = (False, -1), next(outcomes, None)
    while (asked := contest.requested) is not None:
        block, candidates = asked
        found: dict[int, OutcomeRow] = {}
        while row is not None and not row.held_out and row.block <= block:
            if row.block < block or row.candidate in found:
                _read(reader, row, known)
            else:
                found[row.candidate] = row
            row = next(outcomes, None)
        last = (False, block)
        told = [found.pop(candidate, None) for candidate in candidates.tolist()]
        is_whole = None not in told
        for other in (*found.values(), *(() if is_whole else filter(None, told))):
            _read(reader, other, known)
        if not is_whole:
            break
        contest.tell_row(_row_of(reader, block, candidates, told))  # type: ignore[arg-type]
    return chain(() if row is None else (row,), outcomes), last


def _row_of(
    reader: Reader, block: int, candidates: NDArray[np.intp], told: Sequence[OutcomeRow]
) -> Row:
    """Return the row of a table that outcomes make; StoreError if they make no sense."""
    others: dict[int, Outcome] = {}
    _, _, tries, statuses, values, *more, seconds, workers, _, _, _ = zip(*told, strict=True)
    are_plain = {*statuses} == {"ok"} and {*tries} == {1} and {*more[0], *more[1]} == {None}
    for place, row in enumerate(() if are_plain else told):
        if (row.status, row.attempts, row.metrics, row.spend) != ("ok", 1, None, None):
            others[place] = _outcome(reader, row)
    known, took = np.array(values, dtype=np.float64), np.array(seconds, dtype=np.float64)
    have_none = [place for place, outcome in others.items() if outcome.value is None]
    is_sound = np.isfinite(known) & (took >= 0.0) & (took < math.inf)
    is_sound[have_none] = True  # their outcomes are checked
    try:
        for outcome in others.values():
            check_outcome(under(None, outcome))
    except RaceStateError as error:
        reader.damaged(f"an outcome on block {block} makes no sense ({error})")
    if not is_sound.all():
        reader.damaged(f"an outcome on block {block} has a value or a time that makes no sense")
    by = tuple(map(intern, workers))
    return Row(block, candidates, known, took, others, by if any(by) else None)


def _read(reader: Reader, row: OutcomeRow, known: dict[CellKey, list[Outcome]]) -> tuple[bool, int]:
    """Add the outcome of a row; return where it belongs: held out or not, and its block."""
    place = bool(row.held_out), row.block
    known.setdefault((*place, row.candidate), []).append(_outcome(reader, row))
    return place


def _outcome(reader: Reader, row: OutcomeRow) -> Outcome:
    """Return the outcome of a row, which is checked when it is told."""
    status: Any = row.status
    try:
        metrics = None if row.metrics is None else json.loads(row.metrics)
    except ValueError as error:
        reader.damaged(f"the metrics of an outcome on block {row.block} make no sense ({error})")
    return Outcome(
        status,
        row.value,
        seconds=row.seconds,
        message=row.message,
        attempts=row.attempts,
        worker=row.worker,
        metrics=metrics,
        spend=row.spend,
    )


def _sorted_out(
    untold: dict[CellKey, Outcome], contest: Contest[Any], reader: Reader
) -> Prefetched:
    """Sort unrequested outcomes; StoreError for one outside blocks or candidates."""
    if not untold:
        return Prefetched.none()
    ahead, more, wasted = dict(untold), {}, []
    description = contest.description()
    tests: float = len(description.test_instances)
    endless = not contest.rules.deterministic
    blocks = math.inf if endless else len(description.instances or ())
    known = contest.result().known
    for key, outcome in untold.items():
        held_out, block, candidate = key
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
        told = None if held_out or contest.rules.runtime is None else known.of(candidate).get(block)
        if told is None:
            continue
        del ahead[key]
        if outcome.status == "capped" and (outcome.value or 0.0) < (told.value or 0.0):
            wasted.append(outcome)
        else:
            more[key] = outcome
    return Prefetched(ahead, more, Unused.from_outcomes(wasted))
