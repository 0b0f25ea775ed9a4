"""A store as a result, or as a report of its soundness: nothing is run, imported or written."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from racer._entry import entry
from racer._files import as_path
from racer.core.events import Ended
from racer.errors import RacerError, StoreError
from racer.space.stored import not_kept
from racer.store.contest import contest_from_store, decode_setting, has_prices
from racer.store.jsonable import is_plain
from racer.store.provenance import was_begun_here
from racer.store.reader import open_to_read, sense_made_of
from racer.store.replay import Recorder, replay
from racer.store.result import is_result_of, result_in
from racer.store.schema import FIRST_MESSAGE, STATUSES, VerdictRow

if TYPE_CHECKING:
    from os import PathLike

    from racer.core.contest import Kind
    from racer.results.ablation import AblationResult
    from racer.results.race import RaceResult
    from racer.results.tuning import TuneResult
    from racer.store.reader import Reader
    from racer.store.schema import Conclusion

    AnyResult = RaceResult | TuneResult | AblationResult


__all__ = ["Report", "StoredResult", "check_store", "load", "load_record"]


class StoredResult(NamedTuple):
    """A result, and the settings of the race, decoded where JSON can hold them.

    `is_ours`: this user began it. `resume`: the call that continues it.
    """

    result: AnyResult
    settings: dict[str, Any]
    is_ours: bool
    resume: str


@entry
def load(store: str | PathLike[str]) -> AnyResult:
    """Return the result of a race, a tuning or an ablation from its store, without running anything.

    The race is replayed from its records, and its verdicts are compared with the recorded
    ones. The file is only read, and may be in use; of a race that has not come to its end the
    result has `ended` "interrupted", or "deadline" where that ended the last run.

    Parameters
    ----------
    store : str or path-like
        The file that `racer.race(.., store=)` or `racer.tune(.., store=)` was given.

    Returns
    -------
    RaceResult, TuneResult or AblationResult
        Candidates that JSON cannot hold are replaced by their numbers.

    Raises
    ------
    StoreError
        No race there, a damaged race, or a race that the file alone cannot rebuild: with a
        decider, a repair hook or parameters that are not racer's own.

    Examples
    --------
    >>> import racer, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = folder + "/run.db"
    ...     first = racer.race(range(5), lambda x, i, s: x + s % 7, budget=60, seed=1, store=path)
    ...     racer.load(path).best == first.best
    True
    """
    return load_record(store).result


def load_record(store: str | PathLike[str]) -> StoredResult:
    """Return the result, as `load` does, and the recorded settings."""
    with open_to_read(as_path(store, "store")) as reader, sense_made_of(reader.path):
        reader.check()
        if (why := why_not_replayed(reader)) is not None:
            raise StoreError(
                f"store {reader.path!r}: {why}, so that it cannot be loaded from the file alone: "
                f"use {reader.how_to_resume()}"
            )
        settings = seen_settings(reader)
        result = replayed(reader, may_restore=True)
        names = ("racer", "evaluate", "command", "retries", "timeout", "memory")
        how = {name: settings[name] for name in names if name in settings}
        how |= {"workers": _n_workers(reader, settings), "store": reader.path}
        is_ours, resume = was_begun_here(reader.digest), reader.how_to_resume()
        more: dict[str, Any] = {"provenance": how}
        if reader.setup.kind == "tuning":
            more["_only_described"] = _only_described(reader)
    return StoredResult(replace(result, **more), settings, is_ours, resume)


def _only_described(reader: Reader) -> str:
    """Return which instances have numbers in a result, and how to have them; empty if none."""
    parts = {**reader.setup.settings, "instances": reader.setup.instances}
    for name in ("instances", "test_instances"):
        if not is_plain(parts.get(name)):
            return (
                f"store {reader.path!r} only describes its {name}: give the "
                f"result of {reader.how_to_resume()} instead"
            )
    return ""


def _n_workers(reader: Reader, settings: dict[str, Any]) -> int | None:
    """Return how many processes made evaluations at a time; None if each had one of its own.

    As far as records tell: those of another session begin after the last of the one before.
    """
    if settings["timeout"] is not None or settings["memory"] is not None:
        return None
    spans = reader.rows("SELECT min(number), max(number) FROM outcomes GROUP BY worker")
    return max((sum(a <= first <= b for a, b in spans) for first, _ in spans), default=None)


def why_not_replayed(reader: Reader) -> str | None:
    """Return a clause on missing inputs of verdicts; None if the file is complete."""
    setup = reader.setup
    if not is_plain(setup.settings["decider"]):
        return "its decider is not one of racer's own"
    if not is_plain(setup.settings.get("runtime")):
        return "the function of its utility is not in the file"
    if not is_plain(setup.settings.get("prices")) and not has_prices(reader):
        return "its prices are a function, which is not in the file"
    missing = not_kept(setup.settings.get("space"))
    return None if missing is None else f"its space has {missing}"


def seen_settings(reader: Reader) -> dict[str, Any]:
    """Return the settings, decoded where JSON can hold them, else as they are described."""
    return {
        name: decode_setting(reader, name, value) if is_plain(value) else value
        for name, value in reader.setup.settings.items()
    }


def replayed(reader: Reader, *, may_restore: bool = False) -> AnyResult:
    """Return the result of a recorded contest; StoreError if it is not sound.

    `may_restore`: of a result that stands in the store nothing is replayed.
    """
    missing: list[Conclusion] = []  # this does not write
    recorder = Recorder(missing.append)
    try:
        contest = contest_from_store(reader, numbered=True)
        if may_restore and (found := result_in(reader, contest)) is not None:
            restored: AnyResult = found
            return restored
        recorder.expect(reader, larger_budget=False)
        contest.watch(recorder)
        prefetched = replay(contest, reader, recorder)
    except StoreError:
        raise
    except (RacerError, TypeError) as error:
        reader.damaged(f"no race can be made of its settings ({error})")
    if reader.ending() is not None and contest.ended is None:
        reader.damaged("it has an ending, but the race of its outcomes goes on")
    if reader.ending() is not None and missing:  # without one they come when it is resumed
        first = missing[0]
        what = "verdict on block" if isinstance(first, VerdictRow) else "candidate"
        reader.damaged(f"it has an ending, but no {what} {first[0]}")
    result: AnyResult = replace(contest.result(), unused=prefetched.unused())
    if contest.ended is None and reader.is_out_of_time():
        result = replace(result, ended=Ended.DEADLINE)
    return result


@dataclass
class Report:
    """Findings about a store: `problems` if it is not sound, and its contest."""

    kind: Kind | None = None
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)  # decoded if JSON can hold them
    statuses: Counter[str] = field(default_factory=Counter)
    failure: str = ""
    seconds: float = 0.0
    result: AnyResult | None = None  # None if it cannot be replayed
    ended: str | None = None
    resume: str = ""  # the call that continues it


def check_store(path: str | PathLike[str]) -> Report:
    """Check a store, which may be in use, without writing: integrity, checksums, verdicts."""
    report = Report()
    with open_to_read(str(path)) as reader:
        try:
            with sense_made_of(reader.path):
                _fill(report, reader)
        except StoreError as error:
            report.problems.append(str(error))
    return report


def _fill(report: Report, reader: Reader) -> None:
    """Report all that is found; StoreError at the first thing that is not sound."""
    reader.check()
    report.kind = reader.setup.kind
    report.settings = seen_settings(reader)
    report.resume = reader.how_to_resume()
    ending, _ = reader.ending(), reader.concluded(VerdictRow)  # each is checked
    report.ended = None if ending is None else ending.ended
    for status, n, seconds in reader.rows(STATUSES):
        report.statuses[status] = n
        report.seconds += seconds
    report.failure = next((message for (message,) in reader.rows(FIRST_MESSAGE)), "")
    if (why := why_not_replayed(reader)) is not None:
        report.notes.append(f"{why}: verdicts were not replayed")
        return
    report.result = replayed(reader)
    if not is_result_of(reader, report.result):
        reader.damaged("its result says otherwise than its outcomes")
