"""Whether a store is sound, and what it holds."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from racer.errors import RacerError, StoreError
from racer.racing.race import Race
from racer.racing.result import Unused
from racer.racing.rules import Rules
from racer.space.space import Space
from racer.space.stored import not_kept
from racer.store.jsonable import is_plain
from racer.store.log import damage_to_log, has_log
from racer.store.reader import explained, open_to_read, sense_made_of
from racer.store.recorder import Recorder
from racer.store.replay import replay
from racer.store.setup import rebuilt
from racer.tuner.tuner import Tuner

if TYPE_CHECKING:
    from os import PathLike

    from racer.racing.contest import Contest
    from racer.racing.result import RaceResult
    from racer.store.reader import Reader
    from racer.store.schema import Setup
    from racer.tuner.result import TuneResult


@dataclass
class Report:
    """What was found in a store: `problems` if it is not sound, and what was raced.

    `settings` has what JSON can hold; `result` is None if it cannot be replayed; `resume` is the
    call that continues it.
    """

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
    result: RaceResult | TuneResult | None = None
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
    report.settings = {name: _seen(reader, name, value) for name, value in setup.settings.items()}
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
    written = report.settings.get("space")
    for name, described in (
        ("decider", not is_plain(setup.settings["decider"])),
        ("repair", isinstance(written, dict) and bool(written.get("repair"))),
    ):
        if described:
            what = "not one of racer's own" if name == "decider" else "not in the file"
            report.notes.append(f"its {name} is {what}: verdicts were not replayed")
            return
    missing = not_kept(written)
    if missing is not None:
        report.notes.append(f"its space has {missing}: verdicts were not replayed")
        return
    recorder = Recorder(_forget)
    try:
        contest = _made(reader, report, setup)
        recorder.expect(reader, setup)
        contest.watch(recorder)
        untold = replay(contest, reader, recorder)
    except StoreError:
        raise
    except (RacerError, TypeError) as error:
        reader.damaged(f"no race can be made of its settings ({error})")
    if report.ended is not None and contest.ended is None:
        reader.damaged("it has an ending, but the race of its outcomes goes on")
    report.result = replace(contest.result(), unused=Unused.of(untold.values()))
    report.blocks = contest.n_blocks
    report.candidates = len(contest.configs)


def _made(reader: Reader, report: Report, setup: Setup) -> Contest:
    """Return the contest that the settings make; what is only described has a number instead."""
    written = report.settings.get("space")
    names = [*(field.name for field in fields(Rules)), "initial", "elites", "instance_order"]
    settings = {name: report.settings[name] for name in names if name in report.settings}
    instances = None if setup.instances is None else _values(reader, "instances", setup.instances)
    if written is None:
        return Race(_values(reader, "candidates", setup.candidates), instances, **settings)
    tests = _values(reader, "test_instances", setup.settings["test_instances"]) or None
    return Tuner(Space.from_json(written), instances, test_instances=tests, **settings)


def _values(reader: Reader, name: str, encoded: list[Any]) -> list[Any]:
    """Return candidates or instances as they were given, or their numbers."""
    return rebuilt(reader.path, name, encoded) if is_plain(encoded) else list(range(len(encoded)))


def _forget(verdict: object) -> None:
    """Record nothing: a check does not write."""


def _seen(reader: Reader, name: str, encoded: Any) -> Any:
    """Return a setting as it was given, what JSON cannot hold as it is described."""
    return rebuilt(reader.path, name, encoded) if is_plain(encoded) else encoded
