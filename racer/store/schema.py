"""The tables of a store, and the checksums that guard their rows."""

from __future__ import annotations

import hashlib
import re
import struct
import zlib
from dataclasses import fields
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from racer._checks import is_real, is_whole
from racer.core.rules import Rules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from racer.core.contest import Kind

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
    block INTEGER NOT NULL,        -- from 0; those of held-out instances also from 0
    candidate INTEGER NOT NULL,
    attempts INTEGER NOT NULL,     -- more than 1 after retries
    status TEXT NOT NULL,          -- ok, or why there is no value
    value,                         -- REAL as evaluate returned it, or NULL; -0.0 stays itself
    metrics TEXT,                  -- JSON: {name: value} of several metrics, or NULL
    spend REAL,                    -- what it cost, or NULL
    seconds REAL NOT NULL,
    worker TEXT NOT NULL,          -- host:pid
    message TEXT NOT NULL,
    held_out INTEGER NOT NULL,     -- 0 or 1
    bound REAL NOT NULL,           -- seconds after which it was stopped, of run times; 0: none
    number INTEGER PRIMARY KEY,    -- from 1, in the order in which they were recorded
    checksum INTEGER NOT NULL      -- CRC-32 of the row, begun with that of the row before
)""",
    "recorded": """
CREATE TABLE recorded (
    outcomes INTEGER NOT NULL,     -- how many there are
    checksum INTEGER NOT NULL      -- that of the last of them
)""",
    "results": """
CREATE TABLE results (
    result TEXT NOT NULL,          -- JSON: what a replay of a large store would find
    digest BLOB NOT NULL           -- SHA-256 of the file in which it stands for that
)""",
    "verdicts": """
CREATE TABLE verdicts (
    block INTEGER PRIMARY KEY,     -- after which it was reached
    best INTEGER,                  -- the best candidate at the last look
    dropped TEXT NOT NULL,         -- JSON: [{candidate, reason, against, probability, measure}]
    evidence TEXT,                 -- JSON: {name: value} of the test, or NULL
    checksum INTEGER NOT NULL      -- CRC-32 of the row
)""",
    "ending": """
CREATE TABLE ending (
    ended TEXT NOT NULL,           -- why the race ended; no row while it goes on
    dropped TEXT NOT NULL,         -- JSON: the candidates dropped at a last look, if there was one
    evidence TEXT,                 -- JSON: {name: value} of that look, or NULL
    checksum INTEGER NOT NULL      -- CRC-32 of the row
)""",
}

PRICES = """
CREATE TABLE prices (
    candidate INTEGER PRIMARY KEY, -- from 0
    value TEXT NOT NULL,           -- JSON: its price, or a list of one for each instance
    checksum INTEGER NOT NULL      -- CRC-32 of the row
)"""
"""One table more, of a tuning whose prices are a function."""

_IN_ORDER = "ORDER BY held_out, block, candidate, bound"
STATUSES = "SELECT status, count(*), sum(seconds) FROM outcomes GROUP BY status"
FIRST_MESSAGE = f"SELECT message FROM outcomes WHERE message != '' {_IN_ORDER} LIMIT 1"  # noqa: S608

ADD_OUTCOME = "INSERT INTO outcomes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"

_COMMAND = {"argv", "switches", "reads", "protocol", "cost", "cwd", "success_codes"}


def _is_command(value: Any) -> bool:
    """Return True for settings of a `racer.Command` that can be shown; it checks the others."""
    if not isinstance(value, dict) or not value.keys() <= _COMMAND:
        return False
    argv, switches = value.get("argv"), value.get("switches")
    return (isinstance(argv, list) and bool(argv) and isinstance(switches, dict)) and all(
        isinstance(text, str) for text in (*argv, *switches.values(), value.get("cwd"))
    )


def argument(name: str) -> str:
    """Return how a setting is given again in a call."""
    call = {"prices": "budget=racer.Budget(prices=..)", "runtime": "goal=racer.Runtime(..)"}
    call["test_instances"] = "instances=racer.Instances(.., held_out=..)"
    return call.get(name, f"{name}=..")


def is_record(value: Any, name: str) -> bool:
    """Return True for an encoded record of racer's class of that name."""
    return isinstance(value, dict) and value.get("!racer") == name


_KINDS: Mapping[str, Callable[[Any], bool]] = {
    "int": is_whole,
    "float": is_real,
    "positive": lambda value: is_real(value) and value > 0,
    "bool": lambda value: isinstance(value, bool),
    "str": lambda value: isinstance(value, str),
    "tuple[int, ...]": lambda value: isinstance(value, list) and all(map(is_whole, value)),
    "Command": _is_command,
    "Runtime": lambda value: is_record(value, "Runtime"),
}


def fits(value: Any, kind: str) -> bool:
    """Return True for a value from JSON of a type that is named as in annotations."""
    is_none = value is None and kind.endswith(" | None")
    return is_none or _KINDS[kind.removesuffix(" | None")](value)


KIND_OF: Mapping[str, str] = {
    "racer": "str",
    "evaluate": "str",
    "evaluate_source": "str",
    "command": "Command",
    "retries": "int",
    "timeout": "positive | None",
    "memory": "positive | None",
    "jobs": "int",
    "seed": "int",
    "sampling": "int",
    "maximize": "bool",
    "runtime": "Runtime | None",
}
"""Types of settings that are used before a contest, or a program, is made of them."""

_RULES = tuple(field.name for field in fields(Rules))
_SAMPLED = (
    "space",
    "instances",
    "test_instances",
    "initial",
    "elites",
    "test_elites",
    "parallel_races",
    "instance_order",
)
ARGUMENTS: Mapping[Kind, tuple[str, ...]] = {
    "race": ("candidates", "instances", "instance_order", "groups", *_RULES),
    "tuning": (*_SAMPLED, *(name for name in _RULES if name != "min_survivors")),
    "ablation": ("space", "source", "target", "instances", "seeds", *_RULES),
}
"""Parts of a contest of each kind: settings, and rows of the tables of that name."""

MAY_LACK = (
    "metrics",
    "objective",
    "prices",
    "instance_order",
    "groups",
    "generalize",
    "test_elites",
    "parallel_races",
)
"""Settings that are not written where they are as by default (`instance_order`: of a race)."""

OF_EVALUATIONS = ("command", "evaluate_source", "jobs")
"""Settings of the objective and its workers that a store may have, and that may differ."""

ROWS = {
    "outcomes": f"SELECT * FROM outcomes {_IN_ORDER}",  # noqa: S608
    "recorded": "SELECT * FROM outcomes ORDER BY number",
    "verdicts": "SELECT * FROM verdicts ORDER BY block",
    "ending": "SELECT * FROM ending",
    "prices": "SELECT * FROM prices ORDER BY candidate",
}


def columns_of(statement: str) -> list[str]:
    """Return the words of a statement that creates a table, without its comments."""
    return re.sub("--.*", "", statement).split()


class Setup(NamedTuple):
    """Everything that defines a contest, encoded; kind and settings are rows of `settings`."""

    kind: Kind
    settings: dict[str, Any]
    candidates: list[Any]
    instances: list[Any] | None


class OutcomeRow(NamedTuple):
    """A row of `outcomes`, without its number and checksum."""

    block: int
    candidate: int
    attempts: int
    status: str
    value: float | None
    metrics: str | None  # JSON
    spend: float | None
    seconds: float
    worker: str
    message: str
    held_out: int
    bound: float


OF_OUTCOME = OutcomeRow._fields[2:10]
"""Columns that are fields of an `Outcome`."""


class VerdictRow(NamedTuple):
    """The decisions after a block."""

    block: int
    best: int | None
    dropped: str  # JSON
    evidence: str | None = None  # JSON


class Ending(NamedTuple):
    """How a race ended."""

    ended: str
    dropped: str  # JSON
    evidence: str | None = None  # JSON


class CandidateRow(NamedTuple):
    """A configuration that a tuner sampled."""

    candidate: int
    value: str  # JSON


class PriceRow(NamedTuple):
    """The price of a configuration that a tuner sampled."""

    candidate: int
    value: str  # JSON


Conclusion = VerdictRow | Ending | CandidateRow | PriceRow


def is_priced(setup: Setup) -> bool:
    """Return True for a tuning whose prices are a function."""
    return setup.kind == "tuning" and setup.settings.get("prices") is not None


_NUMBERS = struct.Struct("<4q4d")
_NAN = float("nan")


def checksum(row: OutcomeRow, before: int) -> int:
    """Return the CRC-32 of a row of `outcomes`, begun with that of the row before it (0: none).

    It is over numbers, little endian, then texts joined by NUL. The numbers are block, candidate,
    attempts and held_out (int64), value, seconds, bound and spend (float64, NaN if NULL); the texts
    status, worker, message and metrics (empty if NULL), in UTF-8.
    """
    block, candidate, attempts, status, value, metrics, spend, seconds, worker, *rest = row
    message, held_out, bound = rest
    value, spend = _NAN if value is None else value, _NAN if spend is None else spend
    numbers = _NUMBERS.pack(block, candidate, attempts, held_out, value, seconds, bound, spend)
    texts = f"{status}\0{worker}\0{message}\0{metrics or ''}".encode()
    return zlib.crc32(texts, zlib.crc32(numbers, before))


def conclusion_checksum(*row: int | str | None) -> int:
    """Return the CRC-32 of a row of `verdicts` or `ending`: text and NUL per column, NULL empty."""
    texts = ["" if part is None else str(part) for part in row]
    return zlib.crc32("\0".join([*texts, ""]).encode())


def settings_digest(
    settings: dict[str, str], candidates: list[tuple[int, str]], instances: list[tuple[int, str]]
) -> str:
    """Return the SHA-256 of settings, candidates and instances, as they are written."""
    state = hashlib.sha256()
    rows: Iterable[tuple[Any, str]] = chain(sorted(settings.items()), candidates, instances)
    for key, text in rows:
        state.update(f"{key}={text}\0".encode())
    return state.hexdigest()
