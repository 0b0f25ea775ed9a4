"""A race in one SQLite file: what was asked, what came of it, what was decided."""

from __future__ import annotations

import os
import sqlite3
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from filelock import FileLock, Timeout

from racer.errors import SettingError, StoreError, warn
from racer.store.jsonable import dumps
from racer.store.reader import (
    CandidateRow,
    Ending,
    Reader,
    VerdictRow,
    connect,
    explained,
    look_at,
    refuse_directory,
    settings_digest,
)
from racer.store.schema import APPLICATION_ID, SCHEMA, TABLES, OutcomeRow, checksum

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from filelock import BaseFileLock

    from racer.evaluate.outcome import Cell, Outcome
    from racer.store.setup import Setup

__all__ = ["Store"]

_ADD_OUTCOME = "INSERT INTO outcomes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_ADD: dict[type, str] = {
    VerdictRow: "INSERT INTO verdicts VALUES (?, ?, ?)",
    Ending: "INSERT INTO ending VALUES (?, ?)",
    CandidateRow: "INSERT INTO candidates VALUES (?, ?)",
}


class Store:
    """The one writer of a store: a context manager that holds its lock.

    An outcome is on disk when `append` returns (WAL, `synchronous=FULL`). A verdict is written
    with the outcome that comes next: until then it can be worked out again.

    Parameters
    ----------
    path : str or path-like
        The file; it need not exist. The lock is `path`.lock, and stays behind.

    Raises
    ------
    SettingError
        No path.
    StoreError
        On entering: another process has the lock, or the file cannot be used.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        given: Any = path
        name = os.fspath(path) if isinstance(given, str | os.PathLike) else ""
        if not name or "\0" in name:
            raise SettingError(f"store={path!r}: give the path of a file")
        self.path = name
        self._file = os.path.realpath(name)  # a link and its target are one store
        self._exit = ExitStack()
        self._connection: sqlite3.Connection | None = None
        self._unwritten: list[tuple[str, tuple[Any, ...]]] = []

    def __enter__(self) -> Self:
        with self._exit:
            self._lock()
            if look_at(self._file):
                self._open("rw")
                self.reader.check_schema()
            self._exit = self._exit.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._exit.close()
        self._connection = None

    def _lock(self) -> None:
        refuse_directory(self._file)
        folder = Path(self._file).parent
        with explained(self.path):
            has_directory = folder.is_dir()
        if not has_directory:
            raise StoreError(
                f"store {self.path!r}: there is no directory {str(folder)!r}; give the path of a file"
            )
        lock = FileLock(f"{self._file}.lock", timeout=0)
        with explained(self.path):
            try:
                lock.acquire()
            except Timeout:
                raise StoreError(
                    f"store {self.path!r} is in use: another process (or race) is writing to it, "
                    "and holds its .lock; wait until that one has ended, or give another store"
                ) from None
        self._exit.callback(self._let_go, lock)

    def _let_go(self, lock: BaseFileLock) -> None:
        """Release the lock: if that fails the race is no less recorded, and its result stands."""
        with suppress(OSError):
            lock.release()
        try:
            lock.release()  # nothing, if it has been
        except OSError as error:
            warn(
                f"store {self.path!r}: its lock cannot be released ({error}), and goes with this "
                "process",
            )

    def _open(self, mode: str) -> None:
        with explained(self.path):
            self._connection = connection = connect(self._file, mode)
            self._exit.callback(connection.close)
            (journal,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA trusted_schema = OFF")
        if journal != "wal":
            raise StoreError(
                f"store {self.path!r}: SQLite cannot keep a write-ahead log there (a network file "
                "system?): give a path on a local disk"
            )

    @property
    def holds_a_race(self) -> bool:
        """Whether a race has been begun in it."""
        return self._connection is not None

    @property
    def reader(self) -> Reader:
        """What it says."""
        if self._connection is None:
            raise StoreError(f"store {self.path!r}: there is no race in it")
        return Reader(self.path, self._connection)

    def begin(self, setup: Setup) -> None:
        """Write what is to be raced, all or nothing."""
        self._open("rwc")
        statements: list[tuple[str, tuple[Any, ...]]] = [
            (f"PRAGMA application_id = {APPLICATION_ID}", ()),
            (f"PRAGMA user_version = {SCHEMA}", ()),
            *((table.strip(), ()) for table in TABLES.values()),
            *_rows("candidates", setup.candidates),
            *_rows("instances", setup.instances or ()),
        ]
        self._write([*statements, *_settings(setup)])

    def extend(self, setup: Setup) -> None:
        """Write other settings, and that the race has not ended."""
        self._write([("DELETE FROM settings", ()), ("DELETE FROM ending", ()), *_settings(setup)])

    def append(self, cell: Cell, outcome: Outcome) -> None:
        """Record what came of a cell; when this returns it is on disk."""
        row = OutcomeRow(
            -1 - cell.block if cell.held_out else cell.block,
            cell.candidate,
            outcome.attempt,
            outcome.status,
            outcome.value,
            outcome.seconds,
            outcome.worker,
            outcome.message,
        )
        self._write([*self._unwritten, (_ADD_OUTCOME, (*row, checksum(row)))])
        self._unwritten.clear()

    def conclude(self, row: VerdictRow | Ending | CandidateRow) -> None:
        """Record what was concluded; it is written by the next `append` or `flush`."""
        self._unwritten.append((_ADD[type(row)], row))

    def flush(self) -> None:
        """Write what has not been written."""
        self._write(self._unwritten)
        self._unwritten.clear()

    def _write(self, statements: Sequence[tuple[str, tuple[Any, ...]]]) -> None:
        """Execute statements in one transaction."""
        connection = self.reader.connection
        if not statements:
            return
        with explained(self.path):
            try:
                connection.execute("BEGIN IMMEDIATE")
                for statement, values in statements:
                    connection.execute(statement, values)
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):  # the first error is the one to tell
                    connection.rollback()
                raise


def _rows(table: str, values: Sequence[Any]) -> list[tuple[str, tuple[Any, ...]]]:
    add = f"INSERT INTO {table} VALUES (?, ?)"  # noqa: S608
    return [(add, (index, dumps(value))) for index, value in enumerate(values)]


def _settings(setup: Setup) -> list[tuple[str, tuple[Any, ...]]]:
    texts = {name: dumps(value) for name, value in setup.settings.items()}
    parts = [
        [(index, dumps(value)) for index, value in enumerate(values or ())]
        for values in (setup.candidates, setup.instances)
    ]
    rows = [*texts.items(), ("checksum", settings_digest(texts, *parts))]
    return [("INSERT INTO settings VALUES (?, ?)", row) for row in rows]
