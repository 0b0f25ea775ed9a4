"""A bundle verified: hashes compared, verdicts replayed, some cells evaluated anew."""

from __future__ import annotations

import hashlib
import os
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from racer._checks import check_jobs, whole
from racer._files import as_path, read_bytes
from racer.errors import RacerError, SettingError, StoreError
from racer.evaluate.command.command import Command
from racer.results.verification import Verification
from racer.run.again import differences
from racer.seeding import check_seed
from racer.store.archive import MANIFEST, MOST_BYTES, in_bundle, unpacked
from racer.store.load import check_store
from racer.store.used_files import UsedFiles

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from racer.evaluate.objective import Objective

__all__ = ["verify"]

_SHOWN = 5  # problems of a kind


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
    StoreError
        `again` where JSON cannot hold the candidates or instances.
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
    check_jobs(n_jobs)
    if sha256 is not None and not isinstance(sha256, str):
        raise SettingError(f"sha256={sha256!r}: give the text that racer.bundle returned")
    folder = None if folder is None else as_path(folder, "folder", "folder")
    data = read_bytes(as_path(path, "path"), MOST_BYTES)
    found = hashlib.sha256(data).hexdigest()
    if sha256 is not None and sha256.strip().lower() != found:
        return Verification(found, (f"its SHA-256 is {found}, not {sha256}",))
    try:
        members = unpacked(data)
    except ValueError as error:
        return Verification(found, (str(error),))
    files = UsedFiles(members[MANIFEST]["folder"], members[MANIFEST]["files"])
    here = files.folder if folder is None else os.path.abspath(folder)  # noqa: PTH100
    changed, missing = files.compared(here)
    problems = [f"{name} is not the file that was used" for name in changed[:_SHOWN]]
    of_all = f"{len(missing)} of {len(files.hashes)} files"
    notes = (f"{of_all} of the run are not in {here}",) if missing else ()
    with tempfile.TemporaryDirectory() as temporary:
        store = f"{temporary}/run.db"
        Path(store).write_bytes(members["run.db"])
        try:
            report = check_store(store)
        except RacerError as error:
            return Verification(found, (*problems, in_bundle(error, store)))
        problems += [in_bundle(text, store) for text in report.problems]
        if report.result is None and not report.problems:
            problems += report.notes  # why it cannot be replayed
        if report.ended is None and not problems:
            problems.append("the run has not come to its end")
        known = Verification(found, tuple(problems), notes, report.evaluations, report.verdicts)
        if problems or not again:
            return known
        how = {name: report.settings[name] for name in ("retries", "timeout", "memory")}
        moved = partial(files.moved, here=here)
        if evaluate is None:
            evaluate = _program(report.settings.get("command"), moved, here, may_run)
        try:
            count, texts = differences(
                store, evaluate, how, again, seed=seed, n_jobs=n_jobs, moved=moved
            )
        except StoreError as error:
            raise StoreError(f"again= is not possible: {in_bundle(error, store)}") from error
    more = len(texts) - _SHOWN
    problems = texts[:_SHOWN] + ([f"{more} more cells differ"] if more > 0 else [])
    return replace(known, problems=tuple(problems), again=count, agreeing=count - len(texts))


def _program(command: Any, moved: Any, here: str, may_run: Any) -> Command:
    """Return the program of a bundle as it runs here; SettingError if it may not."""
    if command is None:
        raise SettingError("again= needs the objective of the run, which is no program: give it")
    command = {**command, "argv": [moved(text) for text in command["argv"]], "cwd": here}
    if not may_run(command):
        raise SettingError("again= runs the program of the bundle: look at it, and give may_run=")
    return Command(**command)
