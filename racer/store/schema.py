"""The tables of a store, and the checksums that guard their rows."""

from __future__ import annotations

import hashlib
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

_COLUMNS = {
    "settings": "name TEXT PRIMARY KEY, value TEXT NOT NULL",
    "candidates": "candidate INTEGER PRIMARY KEY, value TEXT NOT NULL",
    "prices": "candidate INTEGER PRIMARY KEY, value TEXT NOT NULL, checksum INTEGER NOT NULL",
    "instances": "instance INTEGER PRIMARY KEY, value TEXT NOT NULL",
    # a value without a type, where -0.0 stays itself
    "outcomes": "block INTEGER NOT NULL, candidate INTEGER NOT NULL, attempts INTEGER NOT NULL, "
    "status TEXT NOT NULL, value, metrics TEXT, spend REAL, seconds REAL NOT NULL, "
    "worker TEXT NOT NULL, message TEXT NOT NULL, held_out INTEGER NOT NULL, bound REAL NOT NULL, "
    "number INTEGER PRIMARY KEY, checksum INTEGER NOT NULL",
    "recorded": "outcomes INTEGER NOT NULL, checksum INTEGER NOT NULL, result TEXT, digest BLOB",
    "verdicts": "block INTEGER PRIMARY KEY, best INTEGER, dropped TEXT NOT NULL, evidence TEXT, "
    "checksum INTEGER NOT NULL",
    "ending": "ended TEXT NOT NULL, dropped TEXT NOT NULL, evidence TEXT, checksum INTEGER NOT NULL",
}
TABLES = {table: f"CREATE TABLE {table} ({columns})" for table, columns in _COLUMNS.items()}
"""The statements that make a store; docs/reference/store.md has the meaning of each column."""

_IN_ORDER = "ORDER BY held_out, block, candidate, bound"
STATUSES = "SELECT status, count(*), sum(seconds) FROM outcomes GROUP BY status"
FIRST_MESSAGE = f"SELECT message FROM outcomes WHERE message != '' {_IN_ORDER} LIMIT 1"  # noqa: S608

ADD = {
    table: f"INSERT INTO {table} VALUES ({', '.join('?' * (columns.count(',') + 1))})"  # noqa: S608
    for table, columns in _COLUMNS.items()
}
"""The statements that add a row."""

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


_KINDS: Mapping[str, Callable[[Any], bool]] = {
    "int": is_whole,
    "float": is_real,
    "positive": lambda value: is_real(value) and value > 0,
    "bool": lambda value: isinstance(value, bool),
    "str": lambda value: isinstance(value, str),
    "tuple[int, ...]": lambda value: isinstance(value, list) and all(map(is_whole, value)),
    "Command": _is_command,
    "Runtime": lambda value: isinstance(value, dict) and value.get("!racer") == "Runtime",
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
    "instance_order",
    "fidelity",
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
    "fidelity",
)
"""Settings that are not written where they are as by default (`instance_order`: of a race)."""

OF_EVALUATIONS = ("command", "evaluate_source", "jobs")
"""Settings of the objective and its workers that a store may have, and that may differ."""

OUTCOMES = f"SELECT * FROM outcomes {_IN_ORDER}"  # noqa: S608


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
    value: str  # JSON: its price, or a list of one for each instance


Conclusion = VerdictRow | Ending | CandidateRow | PriceRow

TABLE_OF: Mapping[type[Conclusion], str] = {
    VerdictRow: "verdicts",
    Ending: "ending",
    CandidateRow: "candidates",
    PriceRow: "prices",
}


def checksum(row: Iterable[float | str | None], before: int = 0) -> int:
    """Return the CRC-32 of a row, begun with the checksum of the row before it.

    It is over the text of each column, followed by a NUL: of numbers `%.17g`, of NULL nothing.
    """
    texts = [
        "" if part is None else f"{part:.17g}" if isinstance(part, float | int) else str(part)
        for part in row
    ]
    return zlib.crc32("\0".join([*texts, ""]).encode(), before)


def settings_digest(
    settings: dict[str, str], candidates: list[tuple[int, str]], instances: list[tuple[int, str]]
) -> str:
    """Return the SHA-256 of settings, candidates and instances, as they are written."""
    state = hashlib.sha256()
    rows: Iterable[tuple[Any, str]] = chain(sorted(settings.items()), candidates, instances)
    for key, text in rows:
        state.update(f"{key}={text}\0".encode())
    return state.hexdigest()
