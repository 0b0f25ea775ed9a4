"""What a replay of a store would find, in a file beside it: a store at rest opens without one.

A snapshot stands for one content of the database, known by its size and SHA-256. Whatever does not
fit is no error: the store is replayed, as if there were no snapshot. Nothing in it is executed.

The file: `_MAGIC`, the SHA-256 of the rest, the length of the JSON text (8 bytes), the JSON text,
and the arrays that it names, one after the other; all numbers little endian.
"""

from __future__ import annotations

import gc
import hashlib
import json
import math
import operator
import os
import sqlite3
import struct
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from racer._checks import is_real
from racer._files import read_bytes, written
from racer.core.contest import Unused
from racer.core.events import Elimination, Ended, RaceCompleted
from racer.core.table import Row, Table
from racer.errors import RaceStateError
from racer.evaluate.outcome import Outcome, check_outcome
from racer.results.base import Result
from racer.results.tuning import Origin, TuneResult
from racer.store.contest import VERSION
from racer.store.jsonable import decode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from racer.core.contest import Contest
    from racer.store.reader import Reader
    from racer.store.schema import OutcomeRow

    Arrays = Mapping[str, NDArray[Any]]

__all__ = ["LEAST", "Snapshot", "content_of", "snapshot_of", "write_snapshot"]

LEAST = 5000
"""Outcomes of the smallest store that gets a snapshot: a smaller one is replayed at once."""

_MAGIC = b"racer snapshot 1\n"
_LENGTH = struct.Struct("<Q")
_LARGEST = 8  # times its database, of which it says less, but in JSON
_KINDS = {
    "blocks": "<i8",
    "sizes": "<i8",
    "candidates": "<i8",
    "values": "<f8",
    "seconds": "<f8",
    "workers": "<u4",
}
_TABLES = ("known", "held_out")
_REFUSED = (
    *(OSError, sqlite3.Error, UnicodeError, MemoryError, RecursionError, RaceStateError),
    *(AttributeError, KeyError, IndexError, TypeError, ValueError, OverflowError, struct.error),
)


def write_snapshot(reader: Reader, result: Any, image: bytes | None = None) -> None:
    """Write the result as a snapshot beside the database, in place of a replay; or nothing.

    No transaction may be open, and the database, whose image may be given, must hold all outcomes
    of the result.
    """
    if isinstance(result, Result) and result.evaluations >= LEAST:
        with suppress(*_REFUSED):
            path = Path(_beside(reader.path))
            if path.is_symlink():  # which nobody named, and would lead to another file
                path.unlink()
            data = content_of(result, _identity(image or reader.connection.serialize()))
            with written(path) as part:
                Path(part).write_bytes(data)


def snapshot_of(reader: Reader) -> Snapshot | None:
    """Return the snapshot that matches the database; None without an intact one."""
    with suppress(*_REFUSED):
        ((pages,),) = reader.connection.execute("PRAGMA page_count")
        ((size,),) = reader.connection.execute("PRAGMA page_size")
        data = read_bytes(_beside(reader.path), _LARGEST * pages * size)
        header, arrays = _read(data)
        if header["racer"] == VERSION and header["database"][0] == pages * size:
            image = reader.connection.serialize()  # as the connection sees it, its log included
            if header["database"] == _identity(image):
                return Snapshot(header, arrays, data, image)
    return None


@contextmanager
def uncollected() -> Iterator[None]:
    """Suspend garbage collection: many objects are made, and all of them are kept."""
    is_collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_collecting:
            gc.enable()


class Kept(NamedTuple):
    """The outcomes of a race: all rows of its table but the last, and all others."""

    image: bytes  # of the database
    rows: list[Row]
    others: list[OutcomeRow]


class Snapshot(NamedTuple):
    """A whole snapshot that stands for what its database holds."""

    header: Any
    arrays: Arrays
    data: bytes
    image: bytes  # of the database

    def is_of(self, result: Any) -> bool:
        """Return True if it is that of a result, but for the rounding of unused seconds."""
        with suppress(*_REFUSED):
            cells, took = self.header["unused"]
            if cells == result.unused.cells and math.isclose(took, result.unused.seconds):
                same = replace(result, unused=Unused(cells, took))
                return content_of(same, self.header["database"]) == self.data
        return False

    def result(self, reader: Reader, contest: Contest[Any]) -> Any:
        """Return the result that a replay would bring, of a contest that has not begun; or None."""
        with suppress(*_REFUSED), uncollected():
            return _restored(self.header, self.arrays, reader, contest)
        return None

    def kept(self, reader: Reader, n: int) -> Kept | None:
        """Return the outcomes of a race among n candidates; None if the snapshot has not all of them."""
        with suppress(*_REFUSED):
            rows, _, incomplete = _table(self.header, self.arrays, "known", n)
            rows = [row for row in rows if row.block not in incomplete]
            rows.pop()  # its events are for those who watch
            sizes = [len(row.values) for row in rows]
            until = np.full(n, -1)  # the last block of each candidate
            candidates = np.concatenate([row.candidates for row in rows])
            np.maximum.at(until, candidates, np.repeat([row.block for row in rows], sizes))
            others = list(reader.outcomes_after(until.tolist()))
            ((total,),) = reader.rows("SELECT count(*) FROM outcomes")
            if sum(sizes) + len(others) == total:
                return Kept(self.image, rows, others)
        return None


def _beside(path: str) -> str:
    return f"{os.path.realpath(path)}.snapshot"


def _identity(image: bytes) -> list[Any]:
    """Return size and SHA-256 of a database."""
    return [len(image), hashlib.sha256(image).hexdigest()]


def content_of(result: Result, database: list[Any]) -> bytes:
    """Return the snapshot of a result; TypeError if plain data cannot hold it."""
    arrays: dict[str, NDArray[Any]] = {}
    fields: dict[str, Any] = {
        "racer": VERSION,
        "database": database,
        "leader": result.leader,
        "survivors": result.survivors,
        "ended": result.ended.value,
        "evaluations": result.evaluations,
        "seconds": result.seconds,
        "spent": result.spent,
        "unused": result.unused,
        "deterministic": result.stream.deterministic,
        "eliminations": [list(vars(gone).values()) for gone in result._eliminations],  # noqa: SLF001
        "evidence": [(block, dict(evidence)) for block, evidence in result._evidence],  # noqa: SLF001
    }
    if isinstance(result, TuneResult):
        fields["races"] = [vars(race) for race in result.completed_races]
        fields["origins"] = [(o.race, o.parent, o.initial) for o in result.origins]
    for name in _TABLES:
        fields[name], found = _of_table(getattr(result, name))
        arrays |= {f"{name}.{column}": values for column, values in found.items()}
    fields["arrays"] = [(name, len(values)) for name, values in arrays.items()]
    text = json.dumps(fields).encode()
    data = b"".join(
        [_LENGTH.pack(len(text)), text, *(np.ascontiguousarray(a).data for a in arrays.values())]
    )
    return _MAGIC + hashlib.sha256(data).digest() + data


def _of_table(table: Table) -> tuple[dict[str, Any], Arrays]:
    """Return a table as plain data: arrays, the names of workers, and what is more than a value."""
    rows = table.rows
    names: dict[str, int] = {}
    numbers: dict[tuple[str, ...], NDArray[Any]] = {}  # of the workers of a row
    workers = []
    for row in rows:
        by = row.workers or ("",) * len(row.values)
        if (known := numbers.get(by)) is None:
            known = np.array([names.setdefault(name, len(names)) for name in by], np.intp)
            numbers[by] = known
        workers.append(known)
    columns: dict[str, list[Any]] = {
        "blocks": [[row.block for row in rows]],
        "sizes": [[len(row.values) for row in rows]],
        "candidates": [row.candidates for row in rows],
        "values": [row.values for row in rows],
        "seconds": [row.seconds for row in rows],  # None is refused
        "workers": workers,
    }
    others = [
        (
            *(number, place, o.status, o.value, o.seconds, o.message, o.attempts, o.worker),
            *(None if o.metrics is None else dict(o.metrics), o.spend),
        )
        for number, row in enumerate(rows)
        for place, o in row.others.items()
    ]
    blocks = {"repeated": sorted(table.repeated), "incomplete": sorted(table.incomplete)}
    fields = {"workers": [*names], "others": others, **blocks}
    arrays = {
        name: np.concatenate(parts or [[]]).astype(_KINDS[name]) for name, parts in columns.items()
    }
    return fields, arrays


def _read(data: bytes) -> tuple[dict[str, Any], Arrays]:
    """Return header and arrays of a snapshot; an error of `_REFUSED` if it is not whole."""
    begin = len(_MAGIC) + hashlib.sha256().digest_size
    content = memoryview(data)[begin:]
    if data[:begin] != _MAGIC + hashlib.sha256(content).digest():
        raise ValueError("its checksum differs")
    (length,) = _LENGTH.unpack_from(content)
    at = _LENGTH.size + length
    header = json.loads(bytes(content[_LENGTH.size : at]))
    arrays = {}
    for name, size in header["arrays"]:
        kind = np.dtype(_KINDS[name.partition(".")[2]])
        arrays[name] = np.frombuffer(content, kind, operator.index(size), at)
        at += arrays[name].nbytes
    return header, arrays


def _restored(header: Any, arrays: Arrays, reader: Reader, contest: Contest[Any]) -> Any:
    """Return the result of a snapshot; an error of `_REFUSED` if it makes no sense."""
    fresh, more = contest.result(), dict[str, Any]()
    configs = fresh.configs
    if contest.kind == "tuning":
        configs = tuple(decode(json.loads(row.value)) for row in reader.sampled())
        more["completed_races"] = tuple(RaceCompleted(**_race(race)) for race in header["races"])
        more["origins"] = tuple(_origin(entry, len(configs)) for entry in header["origins"])
        if len(more["origins"]) != len(configs):
            raise ValueError("another number of candidates")
    n = len(configs)
    for name in _TABLES:
        table = _table(header, arrays, name, n)
        rules = contest.rules
        more[name] = Table.of_rows(*table, maximize=rules.maximize, runtime=rules.runtime)
    cells, took = header["unused"]
    is_deterministic = fresh.stream.deterministic or header["deterministic"] is True
    return replace(
        fresh,
        configs=configs,
        leader=None if header["leader"] is None else _number(header["leader"], n),
        survivors=tuple(_number(c, n) for c in header["survivors"]),
        ended=Ended(header["ended"]),
        evaluations=_number(header["evaluations"]),
        seconds=_real(header["seconds"]),
        spent=None if header["spent"] is None else _real(header["spent"]),
        unused=Unused(_number(cells), _real(took)),
        stream=replace(fresh.stream, deterministic=is_deterministic),
        _eliminations=tuple(_elimination(gone, n) for gone in header["eliminations"]),
        _evidence=tuple((_number(block), _evidence(value)) for block, value in header["evidence"]),
        **more,
    )


def _table(
    header: Any, arrays: Arrays, name: str, n: int
) -> tuple[list[Row], list[int], list[int]]:
    """Return the rows of a table, and its blocks that repeat others, or are incomplete; checked."""
    fields, found = header[name], {column: arrays[f"{name}.{column}"] for column in _KINDS}
    values, seconds, ends = (
        found["values"],
        found["seconds"],
        [0, *np.cumsum(found["sizes"]).tolist()],
    )
    candidates, workers = found["candidates"].astype(np.intp), found["workers"]
    others: list[dict[int, Outcome]] = [{} for _ in found["sizes"]]
    failed = []
    for number, place, *entry in fields["others"]:
        outcome, row = _outcome(*entry), _number(number)
        others[row][_number(place, int(found["sizes"][row]))] = outcome
        if outcome.value is None:
            failed.append(int(ends[row]) + place)
    if (
        not ends[-1] == len(values) == len(candidates) == len(seconds) == len(workers)
        or not ((candidates >= 0) & (candidates < n)).all()
        or not ((seconds >= 0.0) & (seconds < math.inf)).all()
        or not ((found["sizes"] > 0).all() and (found["blocks"] >= 0).all())
        or np.isinf(values).any()
        or np.flatnonzero(np.isnan(values)).tolist() != sorted(failed)
    ):
        raise ValueError("its columns make no table")
    names = [_text(worker) for worker in fields["workers"]]
    alone: dict[int, tuple[str, ...] | None] = {}  # the only worker, by the size of a row
    if len(names) == 1:
        alone = {
            size: (*names * size,) if names[0] else None for size in {*found["sizes"].tolist()}
        }
    by = [] if alone else [names[i] for i in workers]
    rows = []
    for block, (a, b), more in zip(found["blocks"].tolist(), pairwise(ends), others, strict=True):
        own = alone[b - a] if alone else (*by[a:b],)
        known = own if own and any(own) else None
        rows.append(Row(block, candidates[a:b], values[a:b], seconds[a:b], more, known))
    repeated, incomplete = fields["repeated"], fields.get("incomplete", ())
    return rows, [*map(_number, repeated)], [*map(_number, incomplete)]


def _outcome(
    status: Any,
    value: Any,
    seconds: Any,
    message: Any,
    attempts: Any,
    worker: Any,
    metrics: Any,
    spend: Any,
) -> Outcome:
    """Return an outcome, checked; RaceStateError if there can be none such."""
    texts = {"message": _text(message), "worker": _text(worker)}
    took, tries = _real(seconds), _number(attempts)
    outcome = Outcome(
        status, value, seconds=took, attempts=tries, metrics=metrics, spend=spend, **texts
    )
    check_outcome(outcome)
    return outcome


def _number(value: Any, end: int | None = None) -> int:
    """Return a whole number >= 0 and below `end`; TypeError or ValueError for anything else."""
    if isinstance(value, bool):
        raise TypeError("this is no number")
    number = operator.index(value)
    if number < 0 or (end is not None and number >= end):
        raise ValueError("out of range")
    return number


def _real(value: Any) -> float:
    if not is_real(value):
        raise TypeError("this is no number")
    return float(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("this is no text")
    return value


def _evidence(payload: Any) -> dict[str, float | str]:
    if not all(isinstance(value, str | float | int) for value in payload.values()):
        raise TypeError("this is no evidence")
    return dict(payload)


def _elimination(gone: Any, n: int) -> Elimination:
    block, candidate, reason, against, probability, measure = gone
    return Elimination(
        *(_number(block), _number(candidate, n)),
        reason=_text(reason),
        against=_number(against, n),
        probability=_real(probability),
        measure=_text(measure),
    )


def _origin(entry: Any, n: int) -> Origin:
    race, parent, is_initial = entry
    place = None if parent is None else _number(parent, n)
    return Origin(_number(race), place, is_initial is True)


def _race(race: Any) -> dict[str, Any]:
    """Return the attributes of a race of a tuning, checked."""
    whole = ("race", "candidates", "alive", "blocks", "evaluations")
    optional = {"best": _number, "left": operator.index, "best_mean": _real}
    return {
        **race,
        **{name: _number(race[name]) for name in whole},
        **{name: None if race[name] is None else of(race[name]) for name, of in optional.items()},
        "elites": tuple(map(_number, race["elites"])),
        "seconds": _real(race["seconds"]),
        "kind": _text(race["kind"]),
        "ended": _text(race["ended"]),
    }
