"""Writing a store: settings, outcomes and verdicts in one SQLite file."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import ExitStack, closing, suppress
from itertools import count, filterfalse
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from filelock import FileLock, Timeout

from racer._files import as_path, written
from racer.errors import ObjectiveError, StoreError, warn
from racer.evaluate.command.process import DeferredSignals
from racer.store import schema
from racer.store.jsonable import dumps
from racer.store.provenance import mark_as_begun, was_begun_here
from racer.store.reader import (
    NO_DIGEST,
    OtherStoreError,
    Reader,
    connect,
    contents_of,
    digest_of,
    explained,
    open_to_read,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from filelock import BaseFileLock

    from racer.evaluate.outcome import Cell, CellKey, Outcome

    Statement = tuple[str, tuple[Any, ...]]

_columns: Callable[[Outcome], tuple[Any, ...]] = attrgetter(*schema.OF_OUTCOME)
_content = attrgetter("st_size", "st_mtime_ns")  # of a file: what a writer changes
_TOGETHER = 0.02  # seconds: outcomes that come faster share a commit
_CHANGED, _MOVED = "changed", "moved, deleted or replaced"
_COUNTED = "UPDATE recorded SET outcomes = ?, checksum = ?, result = ?, digest = ?"
_clock = time.perf_counter
_ERRORS = ("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_IOERR_SHORT_READ")  # of what was changed


class StoreChangedError(StoreError):
    """A store that something else has changed, moved or replaced while it is written."""


class Store:
    """The one writer of a store: a context manager that holds its lock, the file `path`.lock.

    After each commit the file alone is whole (SQLite's rollback journal, `synchronous=EXTRA`).
    Outcomes that come faster than one in 20 ms share one.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = name = as_path(path, "store")
        with explained(name):  # the working directory may have been deleted
            self._file = os.path.realpath(name)  # a link and its target are one store
        self._exit = ExitStack()
        self.reader: Reader  # its contents, once a race has begun
        self._connection: Any = None
        self._unwritten: list[Statement] = []
        self._is_due_at, self._unwritten_seconds = 0.0, 0.0
        self._head = self._written = (0, 0)  # outcomes, and the checksum of the last one
        self._latest: dict[CellKey, Outcome] = {}  # which nobody else may know yet
        self._lock_file = Path(f"{self._file}.lock")
        self._lock_mark: os.stat_result | None = None
        self._mark: os.stat_result | None = None  # of the file, as this has left it

    def __enter__(self) -> Self:
        with explained(self.path), suppress(FileNotFoundError):
            os.stat(f"{self._file}-journal")  # noqa: PTH116  (an error if the name is too long)
        _ = contents_of(self._file)  # what is not a store gets no lock beside it
        try:
            self._lock_file.touch()
        except OSError as error:
            folder = str(self._lock_file.parent)
            raise StoreError(
                f"store {self.path!r}: no file can be made in {folder!r} ({error.strerror}); "
                "give the path of a file in a directory that is there and can be written"
            ) from error
        with self._exit:
            self._lock()
            # read only now: until the lock is held another process may be writing
            if (contents := contents_of(self._file)) is not None:
                self._exit.callback(contents.connection.close)
                self._head = self._written = contents.check()  # before anything in it is undone
                self._open("rw")
                self.reader = contents
            self._exit = self._exit.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        with self._exit, suppress(*[StoreError, OSError] if any(error) else []):
            self.flush()
            is_ours = self.holds_a_race and self._is_new and not self._head[0]
            if isinstance(error[1], ObjectiveError) and is_ours:
                # once mended, evaluate may take other settings, which this file would refuse
                self._stop_if_changed()
                self._connection.close()
                os.unlink(self._file)  # noqa: PTH108
        self._connection = None

    def _lock(self) -> None:
        lock = FileLock(str(self._lock_file), timeout=0)
        with explained(self.path):
            try:
                lock.acquire()
            except Timeout:
                raise OtherStoreError(
                    f"store {self.path!r} is in use: another process (or race) is writing to it, "
                    "and holds its .lock; wait until that one has ended, or give"
                ) from None
            self._exit.callback(_let_go, lock)
            self._lock_mark = _mark_of(self._lock_file)

    def _open(self, mode: str) -> None:
        with explained(self.path):
            self._connection = connection = connect(self._file, mode)
            self._is_new = mode == "rwc"
            self.reader = Reader(self.path, connection)
            self._exit.callback(connection.close)
            # no WAL, which leaves commits in a second file: this one shall be whole alone
            connection.execute("PRAGMA journal_mode = DELETE")
            # the folder, too: a power cut might bring back a journal that was removed
            connection.execute("PRAGMA synchronous = EXTRA")
            # the file may come from somebody else
            connection.execute("PRAGMA trusted_schema = OFF")
            self._mark = _mark_of(self._file)

    @property
    def holds_a_race(self) -> bool:
        """Whether a race has been begun in it."""
        return self._connection is not None

    def begin(self, setup: schema.Setup) -> None:
        """Write the definition of a contest, all or nothing."""
        self._open("rwc")
        self._write(_definition(setup))
        # after the commit: no mark may stand for a store that was never written
        mark_as_begun(setup, self.reader.digest)

    def extend(self, setup: schema.Setup) -> None:
        """Write other settings, and that the race has not ended."""
        is_ours = was_begun_here(self.reader.digest)
        # in one transaction: the old ending beside the new budget would look like its end
        self._write([("DELETE FROM settings", ()), ("DELETE FROM ending", ()), *_settings(setup)])
        self.reader = Reader(self.path, self._connection)
        _ = self.reader.setup  # kept, whatever becomes of the file
        if is_ours:
            mark_as_begun(setup, self.reader.digest)

    def reopen(self) -> None:
        """Write that the race goes on, where a deadline had ended its last run."""
        if self.reader.is_out_of_time():
            self._write([("DELETE FROM ending", ())])

    def append(self, cell: Cell, outcome: Outcome) -> None:
        """Record an outcome; the last 20 ms of outcomes may reach the disk a little later."""
        self._latest = {cell.key: outcome}
        self._queue(cell.key, outcome, cell.bound or 0.0)
        self._unwritten_seconds += outcome.seconds
        # what a kill loses has taken at most that long: whoever is slow is written at once
        if self._unwritten_seconds >= _TOGETHER or _clock() >= self._is_due_at:
            self.flush()

    def _queue(self, key: CellKey, outcome: Outcome, bound: float = 0.0) -> None:
        """Queue an outcome for the next commit."""
        held_out, block, candidate, *fidelity = key
        columns = (block, candidate, *_columns(outcome), int(held_out), *(fidelity or [bound]))
        row = schema.OutcomeRow._make(columns)
        if outcome.metrics is not None:
            plain = {name: float(value) for name, value in outcome.metrics.items()}
            row = row._replace(metrics=dumps(plain))
        n, before = self._head
        # a chain: a row that is lost, changed or moved spoils the checksums of all later ones
        self._head = n + 1, schema.checksum(row, before)
        self._unwritten.append((schema.ADD["outcomes"], (*row, *self._head)))

    def conclude(self, row: schema.Conclusion) -> None:
        """Queue a verdict, an ending, a candidate or its price, for the next commit."""
        values = row if isinstance(row, schema.CandidateRow) else (*row, schema.checksum(row))
        self._unwritten.append((schema.ADD[schema.TABLE_OF[type(row)]], values))

    def flush(self) -> None:
        """Write the queued rows; when this returns they are on disk."""
        if self._unwritten:
            # The queue is emptied first: the flush on exit must not repeat a failed commit. New
            # rows make a recorded result stale, so the same commit removes it.
            statements = [*self._unwritten, (_COUNTED, (*self._head, None, None))]
            self._unwritten = []
            with DeferredSignals():  # no interrupt between a commit and the note of it
                self._write(statements)
                self._written = self._head
        self._is_due_at, self._unwritten_seconds = _clock() + _TOGETHER, 0.0

    def finish(self, result: str | None = None) -> None:
        """Read the whole file again; StoreChangedError unless all that was recorded is in it.

        Its result, if one is given, is added, for readers who find the file as it is now.
        """
        self.flush()
        if result is not None:
            try:
                # no digest covers itself: it is taken with NO_DIGEST in its place, and written last
                self._write([(_COUNTED, (*self._head, result, NO_DIGEST))])
            except StoreChangedError:
                raise
            except StoreError:  # no room, say: it is replayed
                result = None
        self._stop_if_changed(is_checked=True)
        if result is not None and (contents := contents_of(self._file)) is not None:
            with suppress(sqlite3.Error, MemoryError), closing(contents.connection) as copy:
                digest = digest_of(copy.serialize(), NO_DIGEST)
                with self._connection.blobopen("recorded", "digest", 1) as blob:
                    blob.write(digest)

    def _write(self, statements: Sequence[Statement]) -> None:
        """Execute statements in one transaction."""
        connection = self._connection
        with explained(self.path):
            try:
                # takes the write lock at once: nobody can write between this look and the commit
                connection.execute("BEGIN IMMEDIATE")
                self._stop_if_changed()
                for statement, values in statements:
                    connection.execute(statement, values)
                connection.execute("COMMIT")
            except BaseException as error:
                with suppress(sqlite3.Error):  # the first error is the one to tell
                    connection.rollback()
                # SQLite's error may be a mere symptom: has something else changed the file?
                if not isinstance(error, StoreError):
                    self._stop_if_changed(is_checked=True)
                if (getattr(error, "sqlite_errorname", None) or "").startswith(_ERRORS):
                    raise self._changed(_CHANGED) from error
                raise
            now = _mark_of(self._file)
        # replaced during the commit: SQLite wrote to a file that has lost its name
        if not _is_same(now, self._mark):
            raise self._changed(_MOVED)
        self._mark = now

    def _stop_if_changed(self, *, is_checked: bool = False) -> None:
        """Stop if the file is another one, or what others wrote to it has changed the outcomes.

        `is_checked`: these are read, although nothing else may have written to it.
        """
        with explained(self.path):
            now, lock = _mark_of(self._file), _mark_of(self._lock_file)
        before, self._mark = self._mark, now
        if now is None or before is None or not _is_same(now, before):
            raise self._changed(_MOVED)
        if not _is_same(lock, self._lock_mark):
            raise StoreError(
                f"store {self.path!r}: its lock {str(self._lock_file)!r} was removed or replaced, so "
                "that another process may write to it as well, and this one has stopped: what it "
                f"recorded is in the store; go on with {self.reader.how_to_resume()}"
            )
        is_written = _content(now) != _content(before)
        is_touched = is_written or now.st_ctime_ns != before.st_ctime_ns  # linked, say
        if (is_checked or is_touched) and not self._is_whole():
            raise self._changed(_CHANGED)
        if not is_checked and is_written:
            warn(
                f"store {self.path!r} was written by something else while this race wrote to it; "
                "all that was recorded is there"
            )

    def _is_whole(self) -> bool:
        """Return True if the file, read anew, has all outcomes that were written."""
        try:
            with open_to_read(self._file) as contents:
                return contents.check() == self._written
        except StoreError as error:
            if _is_of_disk(error):
                raise
            return False

    def _changed(self, how: str) -> StoreChangedError:
        self._unwritten = []
        return StoreChangedError(
            f"store {self.path!r}: it was {how} by something else while this race wrote to it"
        )

    def rescue(self, why: StoreChangedError, outcomes: Mapping[CellKey, Outcome]) -> StoreError:
        """Write a new store of these outcomes, and return the error that names it."""
        names = (f"{self._file}.saved{number or ''}" for number in count())
        saved = next(filterfalse(os.path.lexists, names))
        setup = self.reader.setup
        try:
            with written(saved, is_new=True) as part:
                with Store(part) as copy:
                    copy.begin(setup)
                    for key, outcome in {**outcomes, **self._latest}.items():
                        copy._queue(key, outcome)
                # it belongs to the temporary name, which nobody will open
                copy._lock_file.unlink()
        except (StoreError, OSError) as error:
            return StoreError(
                f"{why}: the records are in that file only, of which no copy can be made ({error})"
            )
        self.reader.path = saved  # for the advice
        how = self.reader.how_to_resume()
        return StoreError(f"{why}: a copy of all that was recorded is {saved!r}; go on with {how}")


def _let_go(lock: BaseFileLock) -> None:
    """Release a lock; the race is recorded all the same if that fails, twice."""
    for _ in range(2):
        with suppress(OSError):
            lock.release()


def _is_of_disk(error: StoreError) -> bool:
    """Return True if SQLite could not read a file of any content."""
    name = getattr(error.__cause__, "sqlite_errorname", None) or ""
    return not name.startswith(_ERRORS) and (bool(name) or isinstance(error.__cause__, OSError))


def _mark_of(path: str | Path) -> os.stat_result | None:
    """Return the status of a file, by which it is known again; None if it is gone."""
    try:
        return os.stat(path)  # noqa: PTH116
    except FileNotFoundError:
        return None


def _is_same(mark: os.stat_result | None, other: os.stat_result | None) -> bool:
    """Return True for two marks of one file."""
    return mark is not None and other is not None and os.path.samestat(mark, other)


def _definition(setup: schema.Setup) -> list[Statement]:
    """Return the statements that make a new store of a contest."""
    return [
        (f"PRAGMA application_id = {schema.APPLICATION_ID}", ()),
        (f"PRAGMA user_version = {schema.SCHEMA}", ()),
        *((statement, ()) for statement in schema.TABLES.values()),
        (schema.ADD["recorded"], (0, 0, None, None)),
        *((schema.ADD["candidates"], row) for row in _numbered(setup.candidates)),
        *((schema.ADD["instances"], row) for row in _numbered(setup.instances)),
        *_settings(setup),
    ]


def _numbered(values: Sequence[Any] | None) -> list[tuple[int, str]]:
    return [(index, dumps(value)) for index, value in enumerate(values or ())]


def _settings(setup: schema.Setup) -> list[Statement]:
    texts = {name: dumps(value) for name, value in (("kind", setup.kind), *setup.settings.items())}
    digest = schema.settings_digest(texts, _numbered(setup.candidates), _numbered(setup.instances))
    return [(schema.ADD["settings"], row) for row in (*texts.items(), ("checksum", digest))]
