"""Whether a store is sound, and what it holds."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from racer.errors import RacerError, StoreError
from racer.racing.race import Race
from racer.racing.rules import Rules
from racer.space.space import Space
from racer.space.stored import not_kept
from racer.store.jsonable import decode
from racer.store.reader import has_log, open_to_read
from racer.store.recorder import Recorder
from racer.store.replay import replay
from racer.tuner.tuner import Tuner

if TYPE_CHECKING:
    from os import PathLike

    from racer.racing.contest import Contest
    from racer.racing.result import RaceResult
    from racer.store.reader import Reader
    from racer.tuner.result import TuneResult

__all__ = ["Report", "check_store"]


@dataclass
class Report:
    """What was found in a store.

    Attributes
    ----------
    problems : list of str
        Why it is not sound; empty if it is.
    notes : list of str
        What could not be looked at.
    settings : dict
        By name; what JSON cannot hold stays described.
    candidates, instances : int, int or None
    statuses : dict of str to int
        Outcomes by status.
    failure : str
        Why the first that failed did, if any did.
    blocks, evaluations, seconds
        What has been raced: complete blocks, outcomes, the sum of their seconds.
    result : RaceResult, TuneResult or None
        Of the race or run as recorded, whose configurations are numbers; None if it cannot be replayed.
    ended : str or None
        Why the race ended; None if it can go on.
    resume : str
        The call that goes on with it.
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
    """Check a store without writing to it; it may be in use.

    SQLite's own integrity check, the checksums, and, where the decider can be rebuilt, whether
    the recorded outcomes lead to the recorded verdicts.

    Raises
    ------
    StoreError
        There is no store at `path`, or a newer one.
    """
    report = _look(path)
    if report.problems and has_log(str(path)):
        report = _look(path)  # a race may have begun in the middle of it
    return report


def _look(path: str | PathLike[str]) -> Report:
    report = Report()
    with open_to_read(str(path)) as reader:
        for look in (_tables, _contents, _outcomes, _verdicts):
            try:
                look(reader, report)
            except StoreError as error:
                report.problems.append(str(error))
                break
    return report


def _tables(reader: Reader, report: Report) -> None:
    reader.check_schema()
    found = [row[0] for row in reader.rows("PRAGMA integrity_check(10)")]
    report.problems += [f"SQLite: {line}" for line in found if line != "ok"]


def _contents(reader: Reader, report: Report) -> None:
    setup = reader.setup()
    report.settings = {name: _seen(value) for name, value in setup.settings.items()}
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
    """Replay the race or run, its configurations and instances replaced by their numbers."""
    written = report.settings.get("space")
    names = [*(field.name for field in fields(Rules)), "initial", "elites", "instance_order"]
    settings = {name: report.settings[name] for name in names if name in report.settings}
    for name, what in (("decider", "not one of racer's own"), ("repair", "not in the file")):
        held = settings.get(name) if name == "decider" else (written or {}).get(name)
        if isinstance(held, dict) or held is True:
            report.notes.append(f"its {name} is {what}: verdicts were not replayed")
            return
    missing = not_kept(written)
    if missing is not None:
        report.notes.append(f"its space has {missing}: verdicts were not replayed")
        return
    recorder = Recorder(_forget)
    try:
        recorder.expect(reader, reader.setup())
        instances = None if report.instances is None else range(report.instances)
        contest: Contest
        if written is None:
            contest = Race(range(report.candidates), instances, **settings, callbacks=[recorder])
        else:
            tests = range(len(report.settings["test_instances"])) or None
            contest = Tuner(
                Space.from_json(written),
                instances,
                test_instances=tests,
                **settings,
                callbacks=[recorder],
            )
        replay(contest, reader, recorder)
    except StoreError:
        raise
    except (RacerError, TypeError) as error:
        reader.damaged(f"no race can be made of its settings ({error})")
    if report.ended is not None and contest.ended is None:
        reader.damaged("it has an ending, but the race of its outcomes goes on")
    report.result = contest.result()
    report.blocks = contest.n_blocks
    report.candidates = len(contest.configs)


def _forget(verdict: object) -> None:
    """Record nothing: a check does not write."""


def _seen(encoded: Any) -> Any:
    try:
        return decode(encoded)
    except ValueError:
        return encoded
