"""What stands in a store: its tables, version 1, and the checksums that guard them."""

from __future__ import annotations

import hashlib
import struct
import zlib
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["APPLICATION_ID", "SCHEMA", "TABLES", "OutcomeRow", "checksum", "digest"]

APPLICATION_ID = 0x72616365  # "race"
SCHEMA = 1

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
    block INTEGER NOT NULL,
    candidate INTEGER NOT NULL,
    attempt INTEGER NOT NULL,      -- more than 1 after retries
    status TEXT NOT NULL,          -- ok, or why there is no value
    value,                         -- REAL as evaluate returned it, or NULL; -0.0 stays itself
    seconds REAL NOT NULL,
    worker TEXT NOT NULL,          -- host:pid
    message TEXT NOT NULL,
    checksum INTEGER NOT NULL,     -- CRC-32 of the row
    PRIMARY KEY (block, candidate)
) WITHOUT ROWID""",
    "verdicts": """
CREATE TABLE verdicts (
    block INTEGER PRIMARY KEY,     -- after which it fell
    best INTEGER,                  -- who leads, as of the last look
    dropped TEXT NOT NULL          -- JSON: [{candidate, reason, against, probability, measure}]
)""",
    "ending": """
CREATE TABLE ending (
    ended TEXT NOT NULL,           -- why the race ended; no row while it goes on
    dropped TEXT NOT NULL          -- JSON: who went at a last look, if there was one
)""",
}


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


_NUMBERS = struct.Struct("<qqqdd")
_NAN = float("nan")


def checksum(row: OutcomeRow | tuple[int, int, int, str, float | None, float, str, str]) -> int:
    """Return the CRC-32 of a row of `outcomes`.

    Of block, candidate, attempt (int64), value (NaN if NULL) and seconds (float64), all little
    endian, and then of status, worker and message in UTF-8, with a NUL between them.
    """
    block, candidate, attempt, status, value, seconds, worker, message = row
    numbers = _NUMBERS.pack(block, candidate, attempt, _NAN if value is None else value, seconds)
    return zlib.crc32(f"{status}\0{worker}\0{message}".encode(), zlib.crc32(numbers))


def digest(texts: Iterable[str]) -> str:
    """Return the SHA-256 of names and values of the settings, candidates and instances."""
    state = hashlib.sha256()
    for text in texts:
        state.update(text.encode())
        state.update(b"\0")
    return state.hexdigest()
