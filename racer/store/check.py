"""Whether a store is sound, and what it holds."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from racer.errors import StoreError
from racer.store.load import replayed, seen_settings, why_not_replayed
from racer.store.log import damage_to_log, has_log
from racer.store.reader import explained, open_to_read, sense_made_of

if TYPE_CHECKING:
    from os import PathLike

    from racer.core.contest import Kind
    from racer.store.load import AnyResult
    from racer.store.reader import Reader


@dataclass
class Report:
    """Findings about a store: `problems` if it is not sound, and its contest.

    `settings` has what JSON can hold; `result` is None if it cannot be replayed; `resume` is the
    call that continues it.
    """

    kind: Kind | None = None
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)
    candidates: int = 0
    instances: int | None = None
    statuses: dict[str, int] = field(default_factory=dict)
    failure: str = ""
    blocks: int = 0
    evaluations: int = 0
    seconds: float = 0.0
    result: AnyResult | None = None
    ended: str | None = None
    resume: str = ""


def check_store(path: str | PathLike[str]) -> Report:
    """Check a store, which may be in use, without writing: integrity, checksums, verdicts."""
    report = _look(path)
    if report.problems and has_log(str(path)):
        report = _look(path)  # a race may have begun in the middle of it
    return report


def _look(path: str | PathLike[str]) -> Report:
    report = Report()
    with open_to_read(str(path)) as reader:
        for look in (_tables, _contents, _outcomes, _verdicts):
            try:
                with sense_made_of(reader.path):
                    look(reader, report)
            except StoreError as error:
                report.problems.append(str(error))
                break
    return report


def _tables(reader: Reader, report: Report) -> None:
    with explained(reader.path):
        warning = damage_to_log(reader.path)
    if warning:
        report.notes.append(warning)
    reader.check_schema()
    reader.check_pages("integrity_check(10)")


def _contents(reader: Reader, report: Report) -> None:
    setup = reader.setup()
    report.kind = setup.kind
    report.settings = seen_settings(reader, setup)
    report.candidates = len(setup.candidates)
    report.instances = None if setup.instances is None else len(setup.instances)
    report.resume = reader.how_to_resume()
    ending = reader.ending()
    report.ended = None if ending is None else ending.ended


def _outcomes(reader: Reader, report: Report) -> None:
    statuses: Counter[str] = Counter()
    for row in reader.outcomes():
        statuses[row.status] += 1
        report.failure = report.failure or row.message
        report.seconds += row.seconds
        report.statuses, report.evaluations = dict(statuses), statuses.total()


def _verdicts(reader: Reader, report: Report) -> None:
    """Replay the race or tuning, its configurations and instances replaced by their numbers."""
    setup = reader.setup()
    if (why := why_not_replayed(setup)) is not None:
        report.notes.append(f"{why}: verdicts were not replayed")
        return
    report.result, contest = replayed(reader)
    report.blocks = contest.n_blocks
    report.candidates = len(contest.configs)
