"""Reading a store: settings, outcomes and verdicts, each checked."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
import sqlite3
import stat
from contextlib import closing, contextmanager
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from racer.core.events import Ended
from racer.errors import RaceStateError, StoreError
from racer.evaluate.outcome import Outcome, check_outcome
from racer.evaluate.recorded import SCORES
from racer.space.stored import not_kept
from racer.store import schema
from racer.store.jsonable import is_plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from racer.evaluate.outcome import CellKey

    Concluded = TypeVar(
        "Concluded", schema.VerdictRow, schema.Ending, schema.CandidateRow, schema.PriceRow
    )

SEARCH = "racer.integrations.sklearn.calls.Fit"
"""The objective of a search of scikit-learn."""

PATIENCE = 30.0  # seconds to wait for a viewer that holds the file


def connect(path: str, mode: str) -> sqlite3.Connection:
    """Open a file; `mode` is "ro", "rw" or "rwc" (may create it)."""
    uri = f"{Path(path).absolute().as_uri()}?mode={mode}"
    return sqlite3.connect(uri, uri=True, isolation_level=None, timeout=PATIENCE)


class OtherStoreError(StoreError):
    """A store that cannot be used by this call, where another one could."""

    def __init__(self, message: str) -> None:
        super().__init__(f"{message} another store")


_WHAT_TO_DO = {
    "SQLITE_FULL": "make room, then continue where it stopped: records are safe",
    "SQLITE_IOERR": "the disk, or a limit on file sizes, failed it: the records were left as "
    "they are; go on once that is mended",
    "SQLITE_READONLY": "it can be read, but not written: make file and directory writable",
    "SQLITE_CANTOPEN": "it cannot be opened: see that file and directory can be read and written",
    "SQLITE_BUSY": "another program holds it: close that one",
    "SQLITE_NOTADB": "this is not a store, or its beginning is damaged; the file is unchanged",
    # what cannot be read is this to SQLite, too
    "SQLITE_CORRUPT": "it is damaged, or the disk failed to read it, and was left as it is: if the "
    "system's log knows of no read error, put a copy in its place",
}


@contextmanager
def explained(path: str) -> Iterator[None]:
    """Turn errors of SQLite and of the file system into a StoreError that names the file."""
    try:
        with sense_made_of(path):
            yield
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", None) or ""
        advice = next((text for code, text in _WHAT_TO_DO.items() if name.startswith(code)), "")
        raise StoreError(f"store {path!r}: {error}{advice and ': '}{advice}") from error
    except OSError as error:
        raise StoreError(
            f"store {path!r}: {error}: see that file and directory can be read and written"
        ) from error


@contextmanager
def sense_made_of(path: str) -> Iterator[None]:
    """Convert exceptions caused by corrupt values into StoreError."""
    try:
        yield
    except RecursionError as error:
        raise damaged(path, "the records are nested too deeply") from error
    except MemoryError as error:
        raise StoreError(
            f"store {path!r}: there is not enough memory to read it, or a size in it is damaged; "
            "the file is unchanged"
        ) from error
    except (OverflowError, UnicodeError, RaceStateError) as error:
        raise damaged(path, f"its records make no sense ({error})") from error


def damaged(path: str, what: str) -> StoreError:
    """Return the error for damage that SQLite does not see."""
    return StoreError(
        f"store {path!r}: {what}: it is damaged, or was changed by hand, and was left as it is: "
        "put a copy in its place"
    )


_ALWAYS = {"racer", "evaluate", "retries", "timeout", "memory"}


class Reader:
    """Contents of a store, over an open connection."""

    def __init__(self, path: str, connection: sqlite3.Connection) -> None:
        self.path = path
        self.connection = connection

    @cached_property
    def setup(self) -> schema.Setup:
        """Settings, candidates and instances; StoreError if they are not as written."""
        settings = dict(self.rows("SELECT name, value FROM settings ORDER BY name"))
        candidates = self.rows("SELECT candidate, value FROM candidates ORDER BY 1")
        instances = self.rows("SELECT instance, value FROM instances ORDER BY 1")
        written = settings.pop("checksum", None)
        try:
            kind = json.loads(settings.get("kind", "null"))
            if kind == "tuning":  # they are sampled: no part of what it is made of
                candidates = []
            if written != schema.settings_digest(settings, candidates, instances):
                self.damaged("settings, candidates and instances do not match their checksum")
            del settings["kind"]
            values = {name: json.loads(text) for name, text in settings.items()}
            setup = schema.Setup(
                kind,
                values,
                [json.loads(text) for _, text in candidates],
                [json.loads(text) for _, text in instances] or None,
            )
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            self.damaged(f"settings, candidates or instances cannot be read ({error!r})")
        self._check_names(setup)
        for name, kind in schema.KIND_OF.items():
            if name in setup.settings and not schema.fits(setup.settings[name], kind):
                self.damaged(f"its {name} makes no sense")
        return setup

    @property
    def digest(self) -> str:
        """The checksum of settings, candidates and instances, which match it."""
        _ = self.setup
        ((text,),) = self.rows("SELECT value FROM settings WHERE name = 'checksum'")
        return str(text)

    def _check_names(self, setup: schema.Setup) -> None:
        """Raise StoreError unless a contest of this kind has exactly these settings."""
        kind: object = setup.kind
        if not isinstance(kind, str) or kind not in schema.ARGUMENTS:
            self.damaged(f"it holds a contest of the kind {setup.kind!r}")
        of_tuning = {"sampling", "instance_order"} if setup.kind == "tuning" else set()
        needed = _ALWAYS | {*schema.ARGUMENTS[setup.kind]}
        needed = needed - {"candidates", "instances", *schema.MAY_LACK} | of_tuning
        if missing := needed - setup.settings.keys():
            self.damaged(f"its settings lack {', '.join(sorted(missing))}")
        if others := setup.settings.keys() - needed - {*schema.OF_EVALUATIONS, *schema.MAY_LACK}:
            self.damaged(f"its settings have {', '.join(sorted(others))}, which are not known")

    def outcomes(self) -> Iterator[tuple[CellKey, Outcome]]:
        """Yield cells and outcomes in order of block and candidate, held-out ones last; see `check`."""
        before, has_fidelity = None, "fidelity" in self.setup.settings
        with explained(self.path):
            for *values, _, _ in self.connection.execute(schema.OUTCOMES):
                row = schema.OutcomeRow._make(values)
                full = bool(row.held_out), row.block, row.candidate
                key = *full, row.bound
                if key == before:
                    self.damaged(f"candidate {row.candidate} on block {row.block} is in it twice")
                before = key
                yield key if has_fidelity and row.bound else full, self.outcome_of(row)

    def outcome_of(self, row: schema.OutcomeRow) -> Outcome:
        """Return the outcome of a row; StoreError if it makes no sense."""
        parts: dict[str, Any] = dict(zip(schema.OF_OUTCOME, row[2:10], strict=True))
        try:
            parts["metrics"] = None if row.metrics is None else json.loads(row.metrics)
            check_outcome(outcome := Outcome(**parts))
        except (ValueError, RaceStateError) as error:
            self.damaged(f"an outcome on block {row.block} makes no sense ({error})")
        return outcome

    def check(self) -> tuple[int, int]:
        """Return the number of outcomes and the last checksum; StoreError unless all are as written.

        They are not read if the file is as its last run left it, known by its digest.
        """
        written = dict(self.rows("SELECT name, sql FROM sqlite_master"))
        for table, statement in schema.TABLES.items():
            if written.get(table) != statement:
                self.damaged(f"its table {table!r} is not that of a store")
        # a trigger would act on each row that racer writes
        if self.rows("SELECT 1 FROM sqlite_master WHERE type = 'trigger'"):
            self.damaged("it has triggers, which no store has")
        heads = self.rows("SELECT outcomes, checksum FROM recorded")
        if len(heads) != 1:
            self.damaged("it does not say once how many outcomes it has")
        if self.result is not None:
            return int(heads[0][0]), int(heads[0][1])
        found = [str(row[0]) for row in self.rows("PRAGMA quick_check(1)")]
        if found != ["ok"]:
            self.damaged("; ".join(found))
        return self._check_outcomes(heads[0])

    def _check_outcomes(self, expected: tuple[object, object]) -> tuple[int, int]:
        """Check each outcome and its place; more than expected are of a copy of a running race."""
        head, is_complete = (0, 0), expected == (0, 0)
        with explained(self.path):
            for *values, number, written in self.connection.execute(
                "SELECT * FROM outcomes ORDER BY number"
            ):
                head = head[0] + 1, schema.checksum(values, head[1])
                if (number, written) != head:
                    self.damaged(
                        f"the outcome of candidate {values[1]} on block {values[0]} does not "
                        "match its checksum, or others before it are missing"
                    )
                is_complete = is_complete or head == expected
        if not is_complete:
            self.damaged(f"{expected[0]} outcomes were recorded, of which {head[0]} are there")
        return head

    @cached_property
    def result(self) -> str | None:
        """The result in a file that is byte by byte as the last run left it, else None."""
        for text, digest in self.rows("SELECT result, digest FROM recorded"):
            is_one = isinstance(digest, bytes) and isinstance(text, str)
            if is_one and digest == digest_of(self.connection.serialize(), digest):
                return str(text)
        return None

    def concluded(self, kind: type[Concluded]) -> list[Concluded]:
        """Return the verdicts, endings, sampled candidates or prices in order, each checked."""
        table, n = schema.TABLE_OF[kind], len(kind._fields)
        rows = self.rows(f"SELECT * FROM {table} ORDER BY 1")  # noqa: S608
        for row in rows:  # candidates have no checksum: they are sampled again
            if row[n:] not in ((), (schema.checksum(row[:n]),)):
                self.damaged(f"row {row[0]} of its table {table!r} does not match its checksum")
        return [kind._make(row[:n]) for row in rows]

    def prices(self) -> list[float | list[float]]:
        """Return the price of each candidate that a tuner sampled, or those on the instances."""
        try:
            return [json.loads(row.value) for row in self.concluded(schema.PriceRow)]
        except (TypeError, ValueError, RecursionError) as error:
            self.damaged(f"its prices make no sense ({error})")

    def ending(self) -> schema.Ending | None:
        """Return how the race ended; None if it has not, or only by a deadline."""
        return None if self.is_out_of_time() else self._last_ending()

    def is_out_of_time(self) -> bool:
        """Return True if its deadline ended the last run, before the race had come to its end."""
        ending = self._last_ending()
        return ending is not None and ending.ended == Ended.DEADLINE

    def _last_ending(self) -> schema.Ending | None:
        endings = self.concluded(schema.Ending)
        if len(endings) > 1:
            self.damaged("it has more than one ending")
        return endings[0] if endings else None

    def damaged(self, what: str) -> NoReturn:
        """Raise StoreError: damage that SQLite does not see."""
        raise damaged(self.path, what)

    def rows(self, query: str) -> list[Any]:
        """Return the rows of a query."""
        with explained(self.path):
            return self.connection.execute(query).fetchall()

    def how_to_resume(self) -> str:
        """Return the call that goes on with this race."""
        setup = self.setup
        if setup.kind == "ablation":
            command = "racer ablation command, or " if "command" in setup.settings else ""
            return f"the same {command}call of racer.ablation(.., store={self.path!r})"
        if setup.settings["evaluate"].startswith(SCORES):
            return f"the same command, racer race SCORES --store {shlex.quote(self.path)}"
        if setup.settings["evaluate"] == SEARCH:
            return f"the same search: call its fit with the same data again, store={self.path!r}"
        parts = {**setup.settings, "candidates": setup.candidates, "instances": setup.instances}
        names = ("candidates", "instances", "decider", "runtime", "prices", "test_instances")
        needed = [name for name in names if not is_plain(parts.get(name))]
        if {"instances", "test_instances"} <= {*needed}:
            needed.remove("instances")  # they are given with the held-out ones
        if not_kept(parts.get("space")) is not None:
            needed.append("space")
        arguments = "".join(f", {schema.argument(name)}" for name in needed)
        if "command" in setup.settings and not needed:
            return f"racer resume {shlex.quote(self.path)}"
        return f"racer.resume({self.path!r}, evaluate{arguments})"


def contents_of(path: str) -> Reader | None:
    """Return the contents of a store after its last commit, in memory; None without a race.

    Its files are only read, and let go of. StoreError for a file of another kind or version.
    """
    with explained(path):
        try:
            found = os.stat(path)  # noqa: PTH116
            if not stat.S_ISREG(found.st_mode):  # SQLite would take a device for an empty file
                what = "a directory" if stat.S_ISDIR(found.st_mode) else "no regular file"
                raise StoreError(f"store {path!r}: this is {what}; give the path of a file")
            if found.st_size == 1:  # SQLite would take it for an empty file, too
                raise StoreError(f"store {path!r}: this is not a store; the file is unchanged")
            connection = _copy_of(path)
        except FileNotFoundError:
            return None
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (entries,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if application == 0 and entries == 0:
        return None
    if application != schema.APPLICATION_ID:
        raise StoreError(
            f"store {path!r}: this is an SQLite database of something else; the file is unchanged"
        )
    if version != schema.SCHEMA:
        raise StoreError(
            f"store {path!r} has schema {version}, and this version of racer reads schema "
            f"{schema.SCHEMA}: install the version that wrote it; the file was left as it is"
        )
    return Reader(path, connection)


def _copy_of(path: str) -> sqlite3.Connection:
    """Return a database after its last commit, in memory."""
    try:
        return _copied(path, "ro")
    except sqlite3.OperationalError as error:
        if getattr(error, "sqlite_errorname", "") != "SQLITE_READONLY_ROLLBACK":
            raise
    # a kill broke a commit off: that is undone in a copy, as what the journal says may be damaged
    with TemporaryDirectory() as folder:
        copy = f"{folder}/copy.db"
        for end in ("", "-journal"):
            shutil.copyfile(f"{path}{end}", f"{copy}{end}")
        return _copied(copy, "rw")


def _copied(path: str, mode: str) -> sqlite3.Connection:
    """Return a copy of a database in memory."""
    memory = sqlite3.connect(":memory:", isolation_level=None)
    # through SQLite alone: to close the file would drop the locks that this process has on it
    with closing(connect(path, mode)) as connection:
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        connection.backup(memory)
    return memory


_HEADER = 100  # bytes in which SQLite counts the changes of a file


NO_DIGEST = bytes(32)


def digest_of(image: bytes, digest: bytes) -> bytes:
    """Return the SHA-256 of a database, in which zeros stand for `digest`."""
    return hashlib.sha256(image[_HEADER:].replace(digest, NO_DIGEST, 1)).digest()


def no_race_in(path: str) -> StoreError:
    """Return the error for a store that does not exist, or that nothing was written to."""
    what = "there is no race in it" if os.path.lexists(path) else "there is no such file"
    return StoreError(f"store {path!r}: {what}; a race or a tuning with this store begins one")


@contextmanager
def open_to_read(path: str) -> Iterator[Reader]:
    """Read the store at `path`, without a lock; StoreError if it cannot be read."""
    reader = contents_of(path)
    if reader is None:
        raise no_race_in(path)
    with closing(reader.connection):
        yield reader
