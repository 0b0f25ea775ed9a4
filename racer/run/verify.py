"""A bundle verified: hashes compared, verdicts replayed, some cells evaluated anew."""

from __future__ import annotations

import hashlib
import math
import os
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from racer._checks import whole
from racer._files import read_bytes
from racer.errors import RacerError, SettingError
from racer.evaluate.command.command import Command
from racer.evaluate.workers import outcomes_of
from racer.run.drive import pool
from racer.seeding import check_seed, rng_for
from racer.store.bundle import MOST_BYTES, hashes, moved, unpacked
from racer.store.contest import contest_from_store, decode_setting
from racer.store.load import check_store
from racer.store.reader import open_to_read
from racer.store.replay import Recorder, replay

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from racer.evaluate.objective import Objective
    from racer.evaluate.outcome import Cell, Outcome

__all__ = ["Verification", "verify"]

_AGREE = 1e-9  # relative difference of values
_SHOWN = 5


@dataclass(frozen=True)
class Verification:
    """What was found out about a bundle.

    Attributes
    ----------
    sha256 : str
        Of the bundle.
    problems, notes : tuple of str
        What speaks against it; what is to be known besides.
    evaluations, blocks : int
        Recorded outcomes, and the blocks whose verdicts came out the same when replayed.
    again, agreeing : int
        Cells evaluated anew, and those with the recorded outcome.

    Examples
    --------
    >>> import racer
    >>> print(racer.Verification("9f..", ("its SHA-256 is 9f.., not 8a..",)))
    NOT VERIFIED: its SHA-256 is 9f.., not 8a..
    """

    sha256: str
    problems: tuple[str, ...]
    notes: tuple[str, ...] = ()
    evaluations: int = 0
    blocks: int = 0
    again: int = 0
    agreeing: int = 0

    def __str__(self) -> str:
        lines = [*(f"NOT VERIFIED: {text}" for text in self.problems)]
        if not self.problems:
            anew = f"; {self.agreeing} of {self.again} cells evaluated anew agree"
            same = f"the verdicts on {self.blocks} blocks come out the same"
            anew = anew if self.again else ""
            lines += [
                f"Verified: {self.evaluations} evaluations; {same}{anew}. SHA-256 {self.sha256}"
            ]
        return "\n".join([*lines, *(f"note: {text}" for text in self.notes)])


def verify(
    path: str | PathLike[str],
    evaluate: Objective | None = None,
    *,
    sha256: str | None = None,
    again: int = 0,
    folder: str | PathLike[str] | None = None,
    n_jobs: int = 1,
    seed: int | None = None,
    may_run: Callable[[dict[str, Any]], bool] = lambda _: False,
) -> Verification:
    """Check a bundle: nothing was changed, all verdicts come out the same, cells agree.

    Parameters
    ----------
    path : str or path-like
        A file that `racer.bundle` wrote.
    evaluate : callable, optional
        The objective, for `again`, unless it is a program.
    sha256 : str, optional
        The hash that `racer.bundle` returned. Without it a bundle is only known to be consistent:
        somebody may have made up another one.
    again : int >= 0
        Number of recorded cells, drawn at random, to evaluate anew; values agree if they are equal
        to nine digits, run times if both evaluations ended in the same way.
    folder : str or path-like, optional
        Where the program runs here, in place of the folder that is recorded.
    n_jobs : int
        As in `racer.race`.
    seed : int >= 0, optional
        Of the draw of cells.
    may_run : callable
        Gets the program of the bundle, and returns whether it may be run. By default it may not.

    Returns
    -------
    Verification
        With `problems` if anything differs.

    Raises
    ------
    SettingError
        `again` without an objective, or settings out of range.
    OSError
        The file cannot be read.

    Examples
    --------
    >>> import racer, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store, path = f"{folder}/run.db", f"{folder}/run.zip"
    ...     result = racer.race(range(5), lambda x, i, seed: x + seed % 7, budget=60, seed=1, store=store)
    ...     sha256 = racer.bundle(store, path)
    ...     found = racer.verify(path, lambda x, i, seed: x + seed % 7, sha256=sha256, again=10)
    >>> found.problems, found.agreeing
    ((), 10)
    """
    again, seed = whole(again, "again", least=0), check_seed(seed)
    data = read_bytes(path, MOST_BYTES)
    found = hashlib.sha256(data).hexdigest()
    if sha256 is not None and sha256.strip().lower() != found:
        return Verification(found, (f"its SHA-256 is {found}, not {sha256}",))
    try:
        members = unpacked(data)
        place, files = members["manifest.json"]["folder"], members["manifest.json"]["files"]
        here = place if folder is None else os.path.abspath(folder)  # noqa: PTH100
        now = {name: hashes([moved(name, place, here)], here) for name in files}
    except ValueError as error:
        return Verification(found, (str(error),))
    except (KeyError, TypeError, AttributeError, RecursionError):
        return Verification(found, ("its manifest makes no sense",))
    changed = [n for n, of in files.items() if now[n] and [*now[n].values()] != [of]]
    problems = [f"{name} is not the file that was used" for name in changed[:_SHOWN]]
    missing = sum(not of for of in now.values())
    notes = [f"{missing} of {len(files)} files of the run are not in {here}"] if missing else []
    with tempfile.TemporaryDirectory() as temporary:
        store = f"{temporary}/run.db"
        Path(store).write_bytes(members["run.db"])
        try:
            report = check_store(store)
        except RacerError as error:
            return Verification(found, (*problems, str(error)))
        problems += report.problems
        if report.result is None and not report.problems:
            problems += report.notes  # why it cannot be replayed
        if report.ended is None and not problems:
            problems.append("the run has not come to its end")
        known = Verification(
            found, tuple(problems), tuple(notes), report.evaluations, report.blocks
        )
        if problems or not again:
            return known
        return _evaluated_anew(known, store, evaluate, again, seed, n_jobs, place, here, may_run)


class _Told:
    """A contest that keeps its cells and outcomes."""

    def __init__(self, contest: Any) -> None:
        self._contest, self.told = contest, list[tuple[Any, Any]]()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._contest, name)

    def tell(self, cell: Cell, outcome: Outcome) -> None:
        self.told.append((cell, outcome))
        self._contest.tell(cell, outcome)


def _evaluated_anew(
    known: Verification,
    store: str,
    evaluate: Any,
    again: int,
    seed: int,
    n_jobs: int,
    place: str,
    here: str,
    may_run: Callable[[dict[str, Any]], bool],
) -> Verification:
    """Return what is known, and how many of the cells drawn agree."""
    with open_to_read(store) as reader:
        settings = reader.setup.settings
        if evaluate is None:
            evaluate = _program(settings.get("command"), place, here, may_run)
        contest: Any = _Told(contest_from_store(reader))
        recorder = Recorder(lambda _: None)
        recorder.expect(reader, larger_budget=False)
        contest.watch(recorder)
        replay(contest, reader, recorder)
        names = ("retries", "timeout", "memory")
        how = {name: decode_setting(reader.path, name, settings[name]) for name in names}
    drawn = rng_for(seed, "verify").permutation(len(contest.told))[:again]
    cells, recorded = [], {}
    for cell, outcome in (contest.told[i] for i in drawn):
        cells.append(replace(cell, instance=moved(cell.instance, place, here)))
        recorded[cell.key] = outcome
    timed = contest.rules.runtime is not None
    differing = []
    with pool(evaluate, how, n_jobs=n_jobs, executor=None, timed=timed)(contest) as workers:
        for cell, outcome in outcomes_of(workers, cells):
            old = recorded[cell.key]
            if not _agree(old, outcome, timed=timed):
                where = f"candidate {cell.candidate} on block {cell.block}"
                differing.append(f"{where} is {_shown(outcome)} now, recorded is {_shown(old)}")
    more = len(differing) - _SHOWN
    problems = sorted(differing)[:_SHOWN] + ([f"{more} more cells differ"] if more > 0 else [])
    agreeing = len(cells) - len(differing)
    return replace(known, problems=tuple(problems), again=len(cells), agreeing=agreeing)


def _program(command: Any, place: str, here: str, may_run: Any) -> Command:
    """Return the program of a bundle as it runs here; SettingError if it may not."""
    if command is None:
        raise SettingError("again= needs the objective of the run, which is no program: give it")
    command = {**command, "argv": [moved(t, place, here) for t in command["argv"]], "cwd": here}
    if not may_run(command):
        raise SettingError("again= runs the program of the bundle: look at it, and give may_run=")
    return Command(**command)


def _agree(old: Outcome, new: Outcome, *, timed: bool) -> bool:
    """Return True if two outcomes are equal; of run times, if the evaluations ended alike."""
    if timed:
        return {old.status, new.status} <= {"ok", "capped"} or old.status == new.status
    if old.value is None or new.value is None or old.status != new.status:
        return old.status == new.status
    names = old.metrics or {}
    pairs = [(old.value, new.value), *((names[n], (new.metrics or {}).get(n)) for n in names)]
    return all(b is not None and math.isclose(a, b, rel_tol=_AGREE) for a, b in pairs)


def _shown(outcome: Outcome) -> str:
    return outcome.status if outcome.value is None else f"{outcome.value!r}"
