"""What stands in a store: its tables, in each version, and the checksums that guard them."""

from __future__ import annotations

import functools
import hashlib
import sqlite3
import struct
import zlib
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

APPLICATION_ID = 0x72616365  # "race"
SCHEMA = 3

TABLES = {
    "settings": """
CREATE TABLE settings (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL            -- JSON
)""",
    "candidates": """
CREATE TABLE candidates (
    candidate INTEGER PRIMARY KEY, -- from 0
    value TEXT NOT NULL            -- JSON
)""",
    "instances": """
CREATE TABLE instances (
    instance INTEGER PRIMARY KEY,  -- from 0
    value TEXT NOT NULL            -- JSON
)""",
    "outcomes": """
CREATE TABLE outcomes (
    block INTEGER NOT NULL,        -- from 0; those of held-out instances also from 0
    candidate INTEGER NOT NULL,
    attempt INTEGER NOT NULL,      -- more than 1 after retries
    status TEXT NOT NULL,          -- ok, or why there is no value
    value,                         -- REAL as evaluate returned it, or NULL; -0.0 stays itself
    seconds REAL NOT NULL,
    worker TEXT NOT NULL,          -- host:pid
    message TEXT NOT NULL,
    held_out INTEGER NOT NULL,     -- 0 or 1
    bound REAL NOT NULL,           -- seconds after which it was stopped, of run times; 0: none
    checksum INTEGER NOT NULL,     -- CRC-32 of the row
    PRIMARY KEY (held_out, block, candidate, bound)
) WITHOUT ROWID""",
    "verdicts": """
CREATE TABLE verdicts (
    block INTEGER PRIMARY KEY,     -- after which it was reached
    best INTEGER,                  -- the best candidate at the last look
    dropped TEXT NOT NULL,         -- JSON: [{candidate, reason, against, probability, measure}]
    checksum INTEGER NOT NULL      -- CRC-32 of the row
)""",
    "ending": """
CREATE TABLE ending (
    ended TEXT NOT NULL,           -- why the race ended; no row while it goes on
    dropped TEXT NOT NULL,         -- JSON: the candidates dropped at a last look, if there was one
    checksum INTEGER NOT NULL      -- CRC-32 of the row
)""",
}

# What differs from the present tables. Schema 1: block i of held-out instances is -1 - i. Before
# schema 3 a cell was evaluated once, without a bound.
_EARLIER: Mapping[int, Mapping[str, str]] = {
    1: {
        "outcomes": """
CREATE TABLE outcomes (
    block INTEGER NOT NULL, candidate INTEGER NOT NULL, attempt INTEGER NOT NULL,
    status TEXT NOT NULL, value, seconds REAL NOT NULL, worker TEXT NOT NULL,
    message TEXT NOT NULL, checksum INTEGER NOT NULL, PRIMARY KEY (block, candidate)
) WITHOUT ROWID""",
        "verdicts": "CREATE TABLE verdicts (block INTEGER PRIMARY KEY, best INTEGER, dropped TEXT NOT NULL)",
        "ending": "CREATE TABLE ending (ended TEXT NOT NULL, dropped TEXT NOT NULL)",
    },
    2: {
        "outcomes": """
CREATE TABLE outcomes (
    block INTEGER NOT NULL, candidate INTEGER NOT NULL, attempt INTEGER NOT NULL,
    status TEXT NOT NULL, value, seconds REAL NOT NULL, worker TEXT NOT NULL,
    message TEXT NOT NULL, held_out INTEGER NOT NULL, checksum INTEGER NOT NULL,
    PRIMARY KEY (held_out, block, candidate)
) WITHOUT ROWID""",
    },
}

_OUTCOME = "attempt, status, value, seconds, worker, message"
_CONCLUSIONS = {
    "verdicts": "SELECT block, best, dropped, checksum",
    "ending": "SELECT ended, dropped, checksum",
}
_AS_NOW = {
    1: {
        "outcomes": f"SELECT CASE WHEN block < 0 THEN -1 - block ELSE block END, candidate, {_OUTCOME}, "
        "block < 0, 0.0, checksum",
        "verdicts": "SELECT block, best, dropped, conclusion_checksum(block, best, dropped)",
        "ending": "SELECT ended, dropped, conclusion_checksum(ended, dropped)",
    },
    2: {
        "outcomes": f"SELECT block, candidate, {_OUTCOME}, held_out, 0.0, checksum",
        **_CONCLUSIONS,
    },
    3: {
        "outcomes": f"SELECT block, candidate, {_OUTCOME}, held_out, bound, checksum",
        **_CONCLUSIONS,
    },
}
_KEYS = {
    1: "outcomes.block, outcomes.candidate",
    2: "outcomes.held_out, outcomes.block, outcomes.candidate",
    3: "outcomes.held_out, outcomes.block, outcomes.candidate, outcomes.bound",
}


def query(table: str, version: int) -> str:
    """Return the query for the rows of a table of some schema, as rows of the present one."""
    order = {"outcomes": f" ORDER BY {_KEYS[version]}", "verdicts": " ORDER BY block"}
    return f"{_AS_NOW[version][table]} FROM {table}{order.get(table, '')}"


def migration(version: int) -> list[str]:
    """Return the statements that make a store of the present schema of an earlier one."""
    if version == SCHEMA:
        return []
    statements = [f"PRAGMA user_version = {SCHEMA}"]
    for table in _EARLIER[version]:
        statements += [
            f"ALTER TABLE {table} RENAME TO earlier_{table}",
            TABLES[table],
            f"INSERT INTO {table} {_AS_NOW[version][table]} FROM earlier_{table}",
            f"DROP TABLE earlier_{table}",
        ]
    return statements


@functools.cache
def columns_of(version: int) -> Mapping[str, list[tuple[object, ...]]]:
    """Return the columns of each table of a schema."""
    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in {**TABLES, **_EARLIER.get(version, {})}.values():
            connection.execute(statement)
        return {table: columns(connection, table) for table in TABLES}


def columns(connection: sqlite3.Connection, table: str) -> list[tuple[object, ...]]:
    """Return name, type, whether it is not null, and place in the key of a table's columns."""
    rows = connection.execute(f"PRAGMA table_info({table})")
    return [(name, kind, not_null, key) for _, name, kind, not_null, _, key in rows]


class Setup(NamedTuple):
    """All that says what is raced, encoded."""

    settings: dict[str, Any]
    candidates: list[Any]
    instances: list[Any] | None


class OutcomeRow(NamedTuple):
    """A row of `outcomes`, without its checksum."""

    block: int
    candidate: int
    attempt: int
    status: str
    value: float | None
    seconds: float
    worker: str
    message: str
    held_out: int
    bound: float


class VerdictRow(NamedTuple):
    """What was decided after a block."""

    block: int
    best: int | None
    dropped: str  # JSON


class Ending(NamedTuple):
    """How a race ended."""

    ended: str
    dropped: str  # JSON


class CandidateRow(NamedTuple):
    """A configuration that a tuner sampled."""

    candidate: int
    value: str  # JSON


_NUMBERS = struct.Struct("<qqqdd")
_BOUND = struct.Struct("<d")
_NAN = float("nan")


def checksum(
    row: OutcomeRow | tuple[int, int, int, str, float | None, float, str, str, int, float],
) -> int:
    """Return the CRC-32 of a row of `outcomes`: numbers little endian, then texts joined by NUL.

    These are block (-1 - block if held out), candidate, attempt (int64), value (NaN if NULL),
    seconds (float64); status, worker and message in UTF-8; a bound after them, if it is not 0.
    """
    block, candidate, attempt, status, value, seconds, worker, message, held_out, bound = row
    if held_out:
        block = -held_out - block
    numbers = _NUMBERS.pack(block, candidate, attempt, _NAN if value is None else value, seconds)
    texts = "\0".join((status, worker, message))  # noqa: FLY002  (refuses what is not text)
    found = zlib.crc32(texts.encode(), zlib.crc32(numbers))
    return zlib.crc32(_BOUND.pack(bound), found) if bound else found


def conclusion_checksum(*row: int | str | None) -> int:
    """Return the CRC-32 of a row of `verdicts` or `ending`: text and NUL per column, NULL empty."""
    texts = ("" if part is None else str(part) for part in row)
    return zlib.crc32("".join(f"{text}\0" for text in texts).encode())


def digest(texts: Iterable[str]) -> str:
    """Return the SHA-256 of names and values of the settings, candidates and instances."""
    state = hashlib.sha256()
    for text in texts:
        state.update(text.encode())
        state.update(b"\0")
    return state.hexdigest()
