"""Writing a store: settings, outcomes and verdicts in one SQLite file."""

from __future__ import annotations

import os
import sqlite3
import zlib
from contextlib import ExitStack, suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Self

from filelock import FileLock, Timeout

from racer._files import written
from racer.errors import SettingError, StoreError, warn
from racer.store import schema
from racer.store.begun import mark_as_begun, was_begun_here
from racer.store.jsonable import dumps
from racer.store.log import Pages, damage_to_log
from racer.store.memory import Recorded, write_store
from racer.store.reader import (
    PATIENCE,
    OtherStoreError,
    Reader,
    connect,
    explained,
    look_at,
    refuse_irregular,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from filelock import BaseFileLock

    from racer.evaluate.outcome import Cell, Outcome

    Statement = tuple[str, tuple[Any, ...]]

_ADD: dict[type, str] = {
    schema.VerdictRow: "INSERT INTO verdicts VALUES (?, ?, ?, ?, ?)",
    schema.Ending: "INSERT INTO ending VALUES (?, ?, ?, ?)",
    schema.CandidateRow: "INSERT INTO candidates VALUES (?, ?)",
    schema.PriceRow: "INSERT INTO prices VALUES (?, ?, ?)",
}
_IN_THE_LOG = 1.0  # seconds of evaluation, after which the log is copied into the file
_MOST_IN_THE_LOG = 1000  # outcomes
_CHANGED = "changed"
_ERRORS = ("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_IOERR_SHORT_READ")  # of what was changed


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
        with explained(name):  # the working directory may have been deleted
            self._file = os.path.realpath(name)  # a link and its target are one store
        self._exit = ExitStack()
        self._reader: Reader | None = None
        self._unwritten: list[Statement] = []
        self._in_log = (0, 0.0)  # outcomes that stand only there, and seconds of their evaluation
        self._recorded = Recorded()
        self._pages = Pages()
        self._database, self._log, self._lock_file = (
            Path(f"{self._file}{end}") for end in ("", "-wal", ".lock")
        )
        self._lock_place: tuple[int, int] | None = None
        self._marks: dict[Path, _Mark] = {}  # of file and log, as last seen

    def __enter__(self) -> Self:
        refuse_irregular(self._file)
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
                self.reader.check_schema(pages=False)
                self._mark()
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
                self._check_place()
                raise OtherStoreError(
                    f"store {self.path!r} is in use: another process (or race) is writing to it, "
                    "and holds its .lock; wait until that one has ended, or give"
                ) from None
        self._exit.callback(self._let_go, lock)
        with explained(self.path):
            self._lock_place = _place(self._lock_file)

    def _check_place(self) -> None:
        """Refuse a folder that takes no file: there the lock cannot be held, whatever it says."""
        if not self._lock_file.exists():
            try:
                self._lock_file.touch()
            except OSError as error:
                folder = str(self._lock_file.parent)
                raise StoreError(
                    f"store {self.path!r}: no file can be made in {folder!r} ({error.strerror}); "
                    "give a path in a directory that can be written"
                ) from error

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
            self._reader.remember = self._recorded.add
            self._exit.callback(connection.close)
            (journal,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA wal_autocheckpoint = 0")  # the log is looked at before
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

    def remember(self, image: bytes | None = None) -> None:
        """Keep in mind what the file is before anything is written; StoreError if it is damaged.

        Of an image of the database, which is sound, also the outcomes, none of which is read then.
        """
        if image is None:
            self.reader.check_pages("quick_check(1)")
        with explained(self.path), suppress(MemoryError):  # then each row is checked in the end
            self._pages = Pages(image or self.reader.connection.serialize())
        if image is not None:
            self._recorded = Recorded(image, self.reader.count_outcomes())
            self.reader.remember = self._recorded.add

    def begin(self, setup: schema.Setup) -> None:
        """Write the definition of a contest, all or nothing."""
        self._open("rwc")
        self._mark()
        self._write(_definition(setup))
        mark_as_begun(setup, self.reader.digest)

    def extend(self, setup: schema.Setup) -> None:
        """Write other settings, and that the race has not ended."""
        is_ours = was_begun_here(self.reader.digest)
        self._write([("DELETE FROM settings", ()), ("DELETE FROM ending", ()), *_settings(setup)])
        self._reader = Reader(self.path, self.reader.connection)
        _ = self._reader.setup  # kept, whatever becomes of the file
        if is_ours:
            mark_as_begun(setup, self._reader.digest)

    def reopen(self) -> None:
        """Write that the race goes on, where a deadline had ended its last run."""
        if self.reader.is_out_of_time():
            self._write([("DELETE FROM ending", ())])

    def append(self, cell: Cell, outcome: Outcome) -> None:
        """Record the outcome of a cell; when this returns it is on disk."""
        metrics = None
        if outcome.metrics is not None:
            metrics = dumps({name: float(value) for name, value in outcome.metrics.items()})
        row = schema.OutcomeRow(
            cell.block,
            cell.candidate,
            outcome.attempts,
            outcome.status,
            outcome.value,
            metrics,
            outcome.spend,
            outcome.seconds,
            outcome.worker,
            outcome.message,
            int(cell.held_out),
            cell.bound or 0.0,
        )
        n, seconds = self._in_log[0] + 1, self._in_log[1] + outcome.seconds
        self._in_log = n, seconds
        due = seconds >= _IN_THE_LOG or n >= _MOST_IN_THE_LOG
        data = schema.packed(row)
        checksum = zlib.crc32(data)
        statements = [*self._unwritten, (schema.ADD_OUTCOME, (*row, checksum))]
        self._write(statements, (data, checksum), look=due or bool(self._unwritten))
        self._unwritten.clear()
        if due:
            self._empty_log()

    def conclude(self, row: schema.Conclusion) -> None:
        """Queue a verdict, an ending, a candidate or its price; the next `append` or `flush` writes it."""
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

    def finish(self) -> bytes | None:
        """Read the whole file again; StoreError unless all that was recorded is in it.

        Return its image if each page is as it was written; else each row has been checked.
        """
        self._empty_log()
        with explained(self.path):
            image = self._recorded.image_in(self._file, self._pages)
            is_whole = image is not None or self._recorded.is_in(self._file)
        if not is_whole:
            self._stop(self._database, _CHANGED)
        return image

    def _empty_log(self) -> None:
        """Copy the log into the file and cut it to nothing; later, if another process reads.

        StoreError if it is not as it was written: the file would be spoilt by it.
        """
        self._stop_if_moved()
        try:
            with explained(self.path):
                is_damaged = bool(damage_to_log(self._file, self._pages))
        except StoreError as error:
            if error.__cause__ is not None:  # it cannot be read
                raise
            is_damaged = True
        if is_damaged:
            self._stop(self._log, _CHANGED)
        left = self._checkpoint()
        self._in_log = -left, -left / 1000  # who waits for a reader looks ever more rarely
        self._mark()

    def _checkpoint(self) -> int:
        """Copy the log into the file; return how many pages stay in it, as somebody reads them."""
        connection = self.reader.connection
        with explained(self.path):
            connection.execute("PRAGMA busy_timeout = 0")
            busy, pages, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            connection.execute(f"PRAGMA busy_timeout = {int(1000 * PATIENCE)}")
        return max(int(pages), 0) if busy else 0

    def _write(
        self,
        statements: Sequence[Statement],
        row: tuple[bytes, int] | None = None,
        *,
        look: bool = True,
    ) -> None:
        """Execute statements, which record `row`, in one transaction; `look` at the files then."""
        connection = self.reader.connection
        if not statements:
            return
        with explained(self.path):
            try:
                if not look:
                    (alone,) = statements  # a transaction by itself
                    connection.execute(*alone)
                else:
                    connection.execute("BEGIN IMMEDIATE")
                    self._stop_if_unlocked()
                    for statement, values in statements:
                        connection.execute(statement, values)
                    connection.execute("COMMIT")
            except BaseException as error:
                with suppress(sqlite3.Error):  # the first error is the one to tell
                    connection.rollback()
                self._stop_if_moved()
                self._stop_if_unlocked()
                if (getattr(error, "sqlite_errorname", None) or "").startswith(_ERRORS):
                    self._stop(self._database, _CHANGED)
                raise
        if row is not None:
            self._recorded.add(*row)
        if look:
            self._stop_if_moved()

    def _stop_if_unlocked(self) -> None:
        with explained(self.path):
            place = _place(self._lock_file)
        if place != self._lock_place:
            raise StoreError(
                f"store {self.path!r}: its lock {str(self._lock_file)!r} was removed or replaced, so "
                "that another process may write to it as well, and this one has stopped: what it "
                f"recorded is in the store; go on with {self.reader.how_to_resume()}"
            )

    def _mark(self) -> None:
        """Keep in mind how file and log are now: nobody else may write to them."""
        with explained(self.path):
            marks = {path: _mark_of(path) for path in (self._database, self._log)}
        self._marks = {path: mark for path, mark in marks.items() if mark is not None}

    def _stop_if_moved(self) -> None:
        """Stop if the file or its log is another one, or was written by somebody else."""
        before = self._marks
        self._mark()
        for path, mark in before.items():
            now = self._marks.get(path)
            if now is None or now.place != mark.place:
                self._stop(path, "moved, deleted or replaced")
        for path, mark in before.items():
            now = self._marks[path]
            is_log = path == self._log  # which grows as it is written
            if now.size < mark.size if is_log else now != mark:
                with explained(self.path):
                    is_whole = self._recorded.is_in(self._file)
                if not is_whole:
                    self._stop(path, _CHANGED)
                if now[:3] != mark[:3]:  # else it was linked, say, or its rights were changed
                    warn(
                        f"store {self.path!r}: {str(path)!r} was written by something else while this "
                        "race wrote to it; all that was recorded is there, and replaces that"
                    )

    def _stop(self, path: Path, how: str) -> NoReturn:
        """Write all that was recorded into another file, from memory, and raise StoreError."""
        if how == _CHANGED:
            self._stop_if_unlocked()  # then by another race
        saved = next(
            name
            for name in (f"{self._file}.saved{number or ''}" for number in count())
            if not os.path.lexists(name)
        )
        setup = self.reader.setup
        if how != _CHANGED:  # the log must not be taken for that of another file
            with suppress(StoreError):
                self._checkpoint()
        try:
            with written(saved, is_new=True) as part:
                write_store(part, _definition(setup), self._recorded)
        except (sqlite3.Error, OSError) as error:
            told = f"the records are in that file only, of which no copy can be made ({error})"
        else:
            if how == _CHANGED:
                with suppress(OSError):  # else SQLite would copy it over what is there now
                    os.truncate(self._log, 0)
            reader = Reader(saved, self.reader.connection)
            reader.setup = setup
            told = (
                f"a copy of all that was recorded is {saved!r}; go on with {reader.how_to_resume()}"
            )
        raise StoreError(
            f"store {self.path!r}: {str(path)!r} was {how} by something else while this race wrote to it: "
            f"{told}"
        )


class _Mark(NamedTuple):
    """Identity and state of a file: different for another one, and after a change."""

    place: tuple[int, int]  # device and number
    size: int
    written: int  # ns
    changed: int


def _mark_of(path: Path) -> _Mark | None:
    """Return the mark of a file, None if there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return _Mark((found.st_dev, found.st_ino), found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _place(path: Path) -> tuple[int, int] | None:
    """Return the device and number of a file, None if there is none."""
    mark = _mark_of(path)
    return None if mark is None else mark.place


def _definition(setup: schema.Setup) -> list[Statement]:
    """Return the statements that make a new store of a contest."""
    return [
        (f"PRAGMA application_id = {schema.APPLICATION_ID}", ()),
        (f"PRAGMA user_version = {schema.SCHEMA}", ()),
        *((table.strip(), ()) for table in schema.TABLES.values()),
        *([(schema.PRICES.strip(), ())] if schema.is_priced(setup) else []),
        *_inserted("candidates", _numbered(setup.candidates)),
        *_inserted("instances", _numbered(setup.instances)),
        *_settings(setup),
    ]


def _numbered(values: Sequence[Any] | None) -> list[tuple[int, str]]:
    return [(index, dumps(value)) for index, value in enumerate(values or ())]


def _inserted(table: str, rows: Iterable[tuple[Any, str]]) -> list[Statement]:
    return [(f"INSERT INTO {table} VALUES (?, ?)", row) for row in rows]  # noqa: S608


def _settings(setup: schema.Setup) -> list[Statement]:
    texts = {name: dumps(value) for name, value in (("kind", setup.kind), *setup.settings.items())}
    digest = schema.settings_digest(texts, _numbered(setup.candidates), _numbered(setup.instances))
    return _inserted("settings", [*texts.items(), ("checksum", digest)])
