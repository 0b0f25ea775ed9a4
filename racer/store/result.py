"""What a replay of a large store would find, as one row in it: a store at rest opens without one.

The row counts while the file is byte by byte as its run left it, see `Reader.result`. Nonsense in
it is not an error: the store is replayed, as if there were no result. Nothing in it is executed.
"""

from __future__ import annotations

import json
import math
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from sys import intern
from typing import TYPE_CHECKING, Any

import numpy as np

from racer.core.contest import Unused
from racer.core.events import Elimination, Ended, RaceCompleted
from racer.core.table import Row, Table
from racer.errors import RacerError
from racer.evaluate.outcome import Outcome
from racer.racing.asktell import under
from racer.results.base import Result
from racer.results.tuning import Origin, TuneResult
from racer.store.contest import VERSION
from racer.store.jsonable import decode
from racer.store.schema import CandidateRow, OutcomeRow, fits

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from racer.core.contest import Contest
    from racer.store.reader import Reader

LEAST = 5000
"""Outcomes of the smallest store that has its result: a smaller one is replayed at once."""

_TABLES = ("known", "held_out")
_VALUES = {
    "leader": "int | None",
    "survivors": "tuple[int, ...]",
    "evaluations": "int",
    "seconds": "float",
    "spent": "float | None",
}
_REFUSED = (
    *(RacerError, MemoryError, RecursionError, OverflowError),
    *(AttributeError, LookupError, TypeError, ValueError),
)
_CELLS = "SELECT held_out, block, candidate, value, seconds, worker FROM outcomes ORDER BY number"
_MORE = (
    "SELECT * FROM outcomes "
    "WHERE status != 'ok' OR attempts != 1 OR metrics IS NOT NULL OR spend IS NOT NULL"
)


def content_of(result: Any) -> str | None:
    """Return the text of a result; None if it is small, or JSON cannot hold it."""
    if not isinstance(result, Result) or result.evaluations < LEAST:
        return None
    special = (result.rules.runtime, result.rules.metric_names, result.rules.prices)
    is_cheap = isinstance(result, TuneResult) and result._cheap is not None  # noqa: SLF001  (no frame)
    if is_cheap or result.rules.needs_spend or any(setting is not None for setting in special):
        return None  # other outcomes than those recorded, or others beside them
    content: dict[str, Any] = {
        "racer": VERSION,
        **{name: getattr(result, name) for name in _VALUES},
        "ended": result.ended.value,
        "deterministic": result.stream.deterministic,
        "eliminations": [vars(gone) for gone in result._eliminations],  # noqa: SLF001  (no frame)
        "evidence": [(block, dict(evidence)) for block, evidence in result._evidence],  # noqa: SLF001
        **{name: _of_table(getattr(result, name)) for name in _TABLES},
    }
    if isinstance(result, TuneResult):
        content["races"] = [vars(race) for race in result.completed_races]
        content["origins"] = [vars(origin) for origin in result.origins]
        content["is_verified"] = result.is_verified
    with suppress(*_REFUSED):
        return json.dumps(content, default=dict)
    return None


def result_in(reader: Reader, contest: Contest[Any]) -> Any:
    """Return the result in a store, of a contest that has not begun; None without one."""
    if reader.result is not None:
        with suppress(*_REFUSED):
            content = json.loads(reader.result)
            # another version may decide otherwise: then the store is replayed
            if content["racer"] == VERSION:
                return _restored(content, reader, contest)
    return None


def is_result_of(reader: Reader, result: Any) -> bool:
    """Return True if the result in a store, if any, is this one."""
    with suppress(*_REFUSED):
        if reader.result is None or json.loads(reader.result)["racer"] != VERSION:
            return True
        return content_of(result) == reader.result
    return False


def _of_table(table: Table) -> dict[str, Any]:
    """Return which cells a table has; their outcomes are in the store."""
    return {
        "blocks": [row.block for row in table.rows],
        "sizes": [len(row.candidates) for row in table.rows],
        "candidates": [number for row in table.rows for number in row.candidates.tolist()],
        "repeated": sorted(table.repeated),
        "incomplete": sorted(table.incomplete),
    }


def _restored(content: Any, reader: Reader, contest: Contest[Any]) -> Any:
    """Return the result of these content; an error of `_REFUSED` if they make no sense."""
    fresh, more, rules = contest.result(), dict[str, Any](), contest.rules
    configs = fresh.configs
    if contest.kind == "tuning":
        configs = tuple(decode(json.loads(row.value)) for row in reader.concluded(CandidateRow))
        more["completed_races"] = tuple(_made(RaceCompleted, race) for race in content["races"])
        more["origins"] = tuple(_made(Origin, origin) for origin in content["origins"])
        more |= _checked({"is_verified": "bool"}, content)
        if len(more["origins"]) != len(configs):
            raise ValueError("another number of candidates")
        _numbers(origin.parent for origin in more["origins"])
    n = len(configs)
    cells = _Cells(reader, n)
    for held_out, name in enumerate(_TABLES):
        part = content[name]
        more[name] = table = Table(maximize=rules.maximize)
        for row in cells.rows(held_out, part):
            table.append(row)
        table.repeated = {*_numbers(part["repeated"]).tolist()}
        table.incomplete = {*_numbers(part["incomplete"]).tolist()}
    gone = tuple(_made(Elimination, elimination) for elimination in content["eliminations"])
    _numbers((number for one in gone for number in (one.candidate, one.against)), n)
    values = _checked(_VALUES, content)
    _numbers([values["leader"], *values["survivors"]], n)
    _numbers([values["evaluations"], *(block for block, _ in content["evidence"])])
    told = [part for _, evidence in content["evidence"] for part in evidence.values()]
    if not all(isinstance(part, str | float | int) for part in told):
        raise TypeError("these are no numbers")
    is_deterministic = fresh.stream.deterministic or content["deterministic"] is True
    return replace(
        fresh,
        configs=configs,
        ended=Ended(content["ended"]),
        unused=cells.unused(),
        stream=replace(fresh.stream, deterministic=is_deterministic),
        _eliminations=gone,
        _evidence=tuple((block, evidence) for block, evidence in content["evidence"]),
        **values,
        **more,
    )


def _checked(kinds: Mapping[str, str], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of these names; TypeError for one of another type."""
    if not all(fits(values[name], kind) for name, kind in kinds.items()):
        raise TypeError("another type")
    return {n: tuple(values[n]) if isinstance(values[n], list) else values[n] for n in kinds}


def _made(cls: type[Any], values: Mapping[str, Any]) -> Any:
    """Return an instance of a class of plain fields, whose types are compared."""
    return cls(**_checked({n: k for n, k in cls.__annotations__.items() if n != "_"}, values))


def _numbers(given: Iterable[Any], end: float = math.inf) -> NDArray[np.int64]:
    """Return whole numbers, from 0 and below `end`, None left out; ValueError for anything else."""
    numbers = np.array([number for number in given if number is not None])
    is_whole = numbers.ndim == 1 and numbers.dtype == np.int64
    if len(numbers) and not (is_whole and numbers.min() >= 0 and numbers.max() < end):
        raise ValueError("out of range")
    return numbers.astype(np.int64)


class _Cells:
    """The recorded outcomes, by column; an error of `_REFUSED` if they make no sense."""

    def __init__(self, reader: Reader, n: int) -> None:
        *keys, values, seconds, self._workers = zip(*reader.rows(_CELLS), strict=True)
        held_out, blocks, candidates = map(_numbers, keys, (2, math.inf, n))
        self._of_block, self._of_held_out = n, n * (int(blocks.max()) + 1)
        known = self._keys(held_out, blocks, candidates)
        self._order = known.argsort()
        self._sorted = known[self._order]
        self._values, self._seconds = np.array(values, np.float64), np.array(seconds, np.float64)
        self._others = dict[int, Outcome]()
        self._is_used = np.zeros(len(known), dtype=np.bool_)
        for *row, number, _ in reader.rows(_MORE):
            outcome = reader.outcome_of(OutcomeRow._make(row))
            self._others[number - 1] = under(None, outcome)

    def _keys(self, held_out: Any, blocks: Any, candidates: Any) -> NDArray[np.int64]:
        return np.asarray(held_out * self._of_held_out + blocks * self._of_block + candidates)

    def rows(self, held_out: int, part: Mapping[str, Any]) -> list[Row]:
        """Return the rows of a table."""
        blocks, sizes, candidates = (_numbers(part[n]) for n in ("blocks", "sizes", "candidates"))
        keys = self._keys(held_out, blocks.repeat(sizes), candidates)
        at = self._sorted.searchsorted(keys)
        if keys.shape != candidates.shape or (self._sorted[at] != keys).any() or 0 in sizes:
            raise ValueError("its cells are not those recorded")
        order = self._order[at]
        self._is_used[order] = True
        values, seconds, places = self._values[order], self._seconds[order], order.tolist()
        workers = [intern(self._workers[place]) for place in places]
        ends = [0, *sizes.cumsum().tolist()]
        return [
            Row(
                block,
                candidates[a:b],
                values[a:b],
                seconds[a:b],
                {i: self._others[p] for i, p in enumerate(places[a:b]) if p in self._others},
                tuple(workers[a:b]) if any(workers[a:b]) else None,
            )
            for block, (a, b) in zip(blocks.tolist(), pairwise(ends), strict=True)
        ]

    def unused(self) -> Unused:
        """Count the outcomes that are in none of the rows."""
        seconds = self._seconds[~self._is_used].tolist()
        return Unused(len(seconds), math.fsum(seconds))
