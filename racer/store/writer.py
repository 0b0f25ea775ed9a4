"""Writing a store: settings, outcomes and verdicts in one SQLite file."""

from __future__ import annotations

import os
import sqlite3
from contextlib import ExitStack, suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from filelock import FileLock, Timeout

from racer.errors import SettingError, StoreError, warn
from racer.store import schema
from racer.store.jsonable import dumps
from racer.store.log import damage_to_log
from racer.store.reader import PATIENCE, Reader, connect, explained, look_at, refuse_directory

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from filelock import BaseFileLock

    from racer.evaluate.outcome import Cell, Outcome

    Statement = tuple[str, tuple[Any, ...]]

ADD_OUTCOME = "INSERT INTO outcomes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_ADD: dict[type, str] = {
    schema.VerdictRow: "INSERT INTO verdicts VALUES (?, ?, ?, ?, ?)",
    schema.Ending: "INSERT INTO ending VALUES (?, ?, ?, ?)",
    schema.CandidateRow: "INSERT INTO candidates VALUES (?, ?)",
}
_IN_THE_LOG = 1.0  # seconds of evaluation, after which the log is copied into the file


class Store:
    """The one writer of a store: a context manager that holds its lock, the file `path`.lock.

    An outcome is on disk when `append` returns (WAL, `synchronous=FULL`), a verdict with the next
    outcome.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        given: Any = path
        name = os.fspath(path) if isinstance(given, str | os.PathLike) else ""
        if not name or "\0" in name:
            raise SettingError(f"store={path!r}: give the path of a file")
        self.path = name
        self._file = os.path.realpath(name)  # a link and its target are one store
        self._exit = ExitStack()
        self._reader: Reader | None = None
        self._unwritten: list[Statement] = []
        self._seconds = 0.0  # of evaluation that stand only in the log
        self._database, self._log, self._lock_file = (
            Path(f"{self._file}{end}") for end in ("", "-wal", ".lock")
        )
        self._lock_place: tuple[int, int] | None = None
        self._places: dict[Path, tuple[int, int]] = {}  # as last seen

    def __enter__(self) -> Self:
        refuse_directory(self._file)
        folder = Path(self._file).parent
        with explained(self.path):
            has_directory = folder.is_dir()
        if not has_directory:
            raise StoreError(
                f"store {self.path!r}: there is no directory {str(folder)!r}; give the path of a file"
            )
        look_at(self._file)  # what is not a store gets no lock beside it
        with self._exit:
            self._lock()
            with explained(self.path):
                warning = damage_to_log(self._file)
            if look_at(self._file):
                self._open("rw")
                self.reader.check_schema()
            if warning:
                warn(warning)
            self._exit = self._exit.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._exit.close()
        self._reader = None

    def _lock(self) -> None:
        lock = FileLock(str(self._lock_file), timeout=0)
        with explained(self.path):
            try:
                lock.acquire()
            except Timeout:
                raise StoreError(
                    f"store {self.path!r} is in use: another process (or race) is writing to it, "
                    "and holds its .lock; wait until that one has ended, or give another store"
                ) from None
        self._exit.callback(self._let_go, lock)
        with explained(self.path):
            self._lock_place = _place(self._lock_file)

    def _let_go(self, lock: BaseFileLock) -> None:
        """Release the lock: if that fails the race is recorded all the same."""
        with suppress(OSError):
            lock.release()
        try:
            lock.release()  # nothing, if it has been
        except OSError as error:
            warn(
                f"store {self.path!r}: its lock cannot be released ({error}), and is held until "
                "this process ends"
            )

    def _open(self, mode: str) -> None:
        with explained(self.path):
            connection = connect(self._file, mode)
            self._reader = Reader(self.path, connection)
            self._exit.callback(connection.close)
            (journal,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA trusted_schema = OFF")
            place = _place(self._database)
        self._places = {} if place is None else {self._database: place}
        if journal != "wal":
            raise StoreError(
                f"store {self.path!r}: SQLite cannot keep a write-ahead log there (a network file "
                "system?): give a path on a local disk"
            )

    @property
    def holds_a_race(self) -> bool:
        """Whether a race has been begun in it."""
        return self._reader is not None

    @property
    def reader(self) -> Reader:
        """Its contents."""
        if self._reader is None:
            raise StoreError(f"store {self.path!r}: there is no race in it")
        return self._reader

    def begin(self, setup: schema.Setup) -> None:
        """Write the definition of a contest, all or nothing."""
        self._open("rwc")
        statements: list[Statement] = [
            (f"PRAGMA application_id = {schema.APPLICATION_ID}", ()),
            (f"PRAGMA user_version = {schema.SCHEMA}", ()),
            *((table.strip(), ()) for table in schema.TABLES.values()),
            *_inserted("candidates", _numbered(setup.candidates)),
            *_inserted("instances", _numbered(setup.instances)),
        ]
        self._write([*statements, *_settings(setup)])

    def extend(self, setup: schema.Setup) -> None:
        """Write other settings, and that the race has not ended."""
        self._write([("DELETE FROM settings", ()), ("DELETE FROM ending", ()), *_settings(setup)])
        self._reader = Reader(self.path, self.reader.connection)

    def append(self, cell: Cell, outcome: Outcome) -> None:
        """Record the outcome of a cell; when this returns it is on disk."""
        metrics = {name: float(value) for name, value in (outcome.metrics or {}).items()}
        row = schema.OutcomeRow(
            cell.block,
            cell.candidate,
            outcome.attempts,
            outcome.status,
            outcome.value,
            None if outcome.metrics is None else dumps(metrics),
            outcome.spend,
            outcome.seconds,
            outcome.worker,
            outcome.message,
            int(cell.held_out),
            cell.bound or 0.0,
        )
        self._seconds += outcome.seconds
        due = self._seconds >= _IN_THE_LOG
        statements = [*self._unwritten, (ADD_OUTCOME, (*row, schema.checksum(row)))]
        self._write(statements, look=due or bool(self._unwritten))
        self._unwritten.clear()
        if due:
            self._empty_log()

    def conclude(self, row: schema.VerdictRow | schema.Ending | schema.CandidateRow) -> None:
        """Queue a verdict, an ending or a candidate; the next `append` or `flush` writes it."""
        values = (
            row
            if isinstance(row, schema.CandidateRow)
            else (*row, schema.conclusion_checksum(*row))
        )
        self._unwritten.append((_ADD[type(row)], values))

    def flush(self) -> None:
        """Write the queued rows."""
        self._write(self._unwritten)
        self._unwritten.clear()

    def _empty_log(self) -> None:
        """Copy the log into the file and cut it to nothing; later, if another process reads."""
        connection = self.reader.connection
        with explained(self.path):
            connection.execute("PRAGMA busy_timeout = 0")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            connection.execute(f"PRAGMA busy_timeout = {int(1000 * PATIENCE)}")
        self._seconds = 0.0

    def _write(self, statements: Sequence[Statement], *, look: bool = True) -> None:
        """Execute statements in one transaction; `look` whether the files are where they were."""
        connection = self.reader.connection
        if not statements:
            return
        with explained(self.path):
            try:
                connection.execute("BEGIN IMMEDIATE")
                if look:
                    self._stop_if_unlocked()
                for statement, values in statements:
                    connection.execute(statement, values)
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):  # the first error is the one to tell
                    connection.rollback()
                self._stop_if_moved()
                self._stop_if_unlocked()
                raise
        if look:
            self._stop_if_moved()

    def _stop_if_unlocked(self) -> None:
        if _place(self._lock_file) != self._lock_place:
            raise StoreError(
                f"store {self.path!r}: its lock {str(self._lock_file)!r} was removed or replaced, so "
                "that another process may write to it as well, and this one has stopped: what it "
                f"recorded is in the store; go on with {self.reader.how_to_resume()}"
            )

    def _stop_if_moved(self) -> None:
        """Save all rows if the file or its log was moved: apart, neither is complete."""
        with explained(self.path):
            now = {path: _place(path) for path in (self._database, self._log)}
        moved = [str(path) for path, place in self._places.items() if now[path] != place]
        self._places = {path: place for path, place in now.items() if place is not None}
        if not moved:
            return
        with suppress(StoreError):
            self._empty_log()  # which must not be taken for that of another file
        saved = next(
            name
            for name in (f"{self._file}.saved{number or ''}" for number in count())
            if not os.path.lexists(name)
        )
        try:
            self.reader.connection.execute("VACUUM INTO ?", (saved,))
        except sqlite3.Error as error:
            told = f"what was recorded is in that file only, of which no copy can be made ({error})"
        else:
            resume = Reader(saved, self.reader.connection).how_to_resume()
            told = f"a copy of all that was recorded is {saved!r}; go on with {resume}"
        raise StoreError(
            f"store {self.path!r}: {moved[0]!r} was moved, deleted or replaced while this race wrote "
            f"to it: {told}"
        )


def _place(path: Path) -> tuple[int, int] | None:
    """Return the device and number of a file, None if there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def _numbered(values: Sequence[Any] | None) -> list[tuple[int, str]]:
    return [(index, dumps(value)) for index, value in enumerate(values or ())]


def _inserted(table: str, rows: Iterable[tuple[Any, str]]) -> list[Statement]:
    return [(f"INSERT INTO {table} VALUES (?, ?)", row) for row in rows]  # noqa: S608


def _settings(setup: schema.Setup) -> list[Statement]:
    texts = {name: dumps(value) for name, value in (("kind", setup.kind), *setup.settings.items())}
    digest = schema.settings_digest(texts, _numbered(setup.candidates), _numbered(setup.instances))
    return _inserted("settings", [*texts.items(), ("checksum", digest)])
