"""What a replay of a large store would find, as one row in it: a store at rest opens without one.

The row counts while the file is byte by byte as its run left it, see `Reader.result`. Whatever makes
no sense in it is no error: the store is replayed, as if there were none. Nothing in it is executed.
"""

from __future__ import annotations

import json
import math
import operator
from base64 import b64decode, b64encode
from contextlib import suppress
from dataclasses import fields, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from racer._checks import is_real, is_whole
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
    from collections.abc import Callable, Mapping

    from racer.core.contest import Contest
    from racer.store.reader import Reader

__all__ = ["LEAST", "content_of", "is_result_of", "result_in"]

LEAST = 5000
"""Outcomes of the smallest store that has its result: a smaller one is replayed at once."""

_TABLES = ("known", "held_out")
_PACKED = {"candidates": "<i8", "values": "<f8", "seconds": "<f8", "by": "<i8"}
_REFUSED = (
    *(UnicodeError, MemoryError, RecursionError, RaceStateError),
    *(AttributeError, KeyError, IndexError, TypeError, ValueError, OverflowError),
)


def content_of(result: Any) -> str | None:
    """Return the text of a result; None of a small one, or one that JSON cannot hold."""
    if not isinstance(result, Result) or result.evaluations < LEAST:
        return None
    content: dict[str, Any] = {
        "racer": VERSION,
        "leader": result.leader,
        "survivors": result.survivors,
        "ended": result.ended.value,
        "evaluations": result.evaluations,
        "seconds": result.seconds,
        "spent": result.spent,
        "unused": result.unused._asdict(),
        "deterministic": result.stream.deterministic,
        "eliminations": [vars(gone) for gone in result._eliminations],  # noqa: SLF001  (no frame)
        "evidence": [(block, dict(evidence)) for block, evidence in result._evidence],  # noqa: SLF001
        **{name: _of_table(getattr(result, name)) for name in _TABLES},
    }
    if isinstance(result, TuneResult):
        content["races"] = [vars(race) for race in result.completed_races]
        content["origins"] = [vars(origin) for origin in result.origins]
    with suppress(*_REFUSED):
        return json.dumps(content, default=dict)
    return None


def result_in(reader: Reader, contest: Contest[Any]) -> Any:
    """Return the result in a store, of a contest that has not begun; None without one."""
    if reader.result is not None:
        with suppress(*_REFUSED):
            content = json.loads(reader.result)
            if content["racer"] == VERSION:
                return _restored(content, reader, contest)
    return None


def is_result_of(reader: Reader, result: Any) -> bool:
    """Return True if the result in a store, if any, is this one, but for rounding."""
    with suppress(*_REFUSED):
        if reader.result is None or (content := json.loads(reader.result))["racer"] != VERSION:
            return True
        unused = Unused(**content["unused"])
        if unused.cells == result.unused.cells and math.isclose(
            unused.seconds, result.unused.seconds, abs_tol=1e-9
        ):
            return content_of(replace(result, unused=unused)) == reader.result
    return False


def _of_table(table: Table) -> dict[str, Any]:
    """Return the columns of a table, and what is more than a value."""
    rows, names = table.rows, dict[str, int]()
    workers = [row.workers or ("",) * len(row.values) for row in rows]
    others = [
        (number, place, {field.name: getattr(outcome, field.name) for field in fields(Outcome)})
        for number, row in enumerate(rows)
        for place, outcome in row.others.items()
    ]
    return {
        "blocks": [row.block for row in rows],
        "sizes": [len(row.values) for row in rows],
        **{
            name: _packed(name, np.concatenate([getattr(row, name) for row in rows] or [[]]))
            for name in ("candidates", "values", "seconds")
        },
        "by": _packed("by", [names.setdefault(name, len(names)) for by in workers for name in by]),
        "workers": [*names],
        "others": others,
        "repeated": sorted(table.repeated),
        "incomplete": sorted(table.incomplete),
    }


def _packed(name: str, column: Any) -> str:
    """Return a column of numbers as base64."""
    return b64encode(np.asarray(column).astype(_PACKED[name]).tobytes()).decode()


def _restored(content: Any, reader: Reader, contest: Contest[Any]) -> Any:
    """Return the result of these content; an error of `_REFUSED` if they make no sense."""
    fresh, more, rules = contest.result(), dict[str, Any](), contest.rules
    configs = fresh.configs
    if contest.kind == "tuning":
        configs = tuple(decode(json.loads(row.value)) for row in reader.sampled())
        more["completed_races"] = tuple(_made(RaceCompleted, race) for race in content["races"])
        more["origins"] = tuple(_made(Origin, origin) for origin in content["origins"])
        if len(more["origins"]) != len(configs):
            raise ValueError("another number of candidates")
        _check(origin.parent for origin in more["origins"])
    n = len(configs)
    for name in _TABLES:
        table = _table(content[name], n)
        more[name] = Table.of_rows(*table, maximize=rules.maximize, runtime=rules.runtime)
    gone = tuple(_made(Elimination, elimination) for elimination in content["eliminations"])
    _check((number for one in gone for number in (one.candidate, one.against)), n)
    _check([content["leader"], *content["survivors"]], n)
    unused = Unused(**content["unused"])
    _check([content["evaluations"], unused.cells, *(block for block, _ in content["evidence"])])
    took = [
        content["seconds"],
        unused.seconds,
        *([] if content["spent"] is None else [content["spent"]]),
    ]
    told = [part for _, evidence in content["evidence"] for part in evidence.values()]
    if not all(map(is_real, took)) or not all(isinstance(x, str | float | int) for x in told):
        raise TypeError("these are no numbers")
    is_deterministic = fresh.stream.deterministic or content["deterministic"] is True
    return replace(
        fresh,
        configs=configs,
        leader=content["leader"],
        survivors=tuple(content["survivors"]),
        ended=Ended(content["ended"]),
        evaluations=content["evaluations"],
        seconds=content["seconds"],
        spent=content["spent"],
        unused=unused,
        stream=replace(fresh.stream, deterministic=is_deterministic),
        _eliminations=gone,
        _evidence=tuple((block, evidence) for block, evidence in content["evidence"]),
        **more,
    )


_FITS: Mapping[str, Callable[[Any], bool]] = {
    "int": is_whole,
    "float": is_real,
    "bool": lambda value: isinstance(value, bool),
    "str": lambda value: isinstance(value, str),
    "tuple[int, ...]": lambda value: isinstance(value, list) and all(map(is_whole, value)),
    "Mapping[str, float]": lambda value: isinstance(value, dict),
    "Status": lambda value: isinstance(value, str),
}


def _made(cls: type[Any], values: Mapping[str, Any]) -> Any:
    """Return an instance of a class of plain fields, whose types are compared."""
    for name, kind in cls.__annotations__.items():
        if name == "_":  # KW_ONLY
            continue
        is_none = values[name] is None and kind.endswith(" | None")
        if not is_none and not _FITS[kind.removesuffix(" | None")](values[name]):
            raise TypeError(f"{name} is none")
    return cls(**{n: tuple(v) if isinstance(v, list) else v for n, v in values.items()})


def _check(numbers: Any, end: float = math.inf) -> None:
    """Raise TypeError or ValueError unless all are whole, from 0 and below `end`, or None."""
    if not all(0 <= operator.index(number) < end for number in numbers if number is not None):
        raise ValueError("out of range")


def _table(columns: Any, n: int) -> tuple[list[Row], list[int], list[int]]:
    """Return the rows of a table, and its blocks that repeat others, or are incomplete; checked."""
    values, seconds, candidates, by = (
        np.frombuffer(b64decode(columns[name]), _PACKED[name])
        for name in ("values", "seconds", "candidates", "by")
    )
    sizes, blocks, names = columns["sizes"], columns["blocks"], columns["workers"]
    repeated, incomplete = columns["repeated"], columns["incomplete"]
    _check([*sizes, *blocks, *repeated, *incomplete])
    ends = [0, *np.cumsum(sizes).tolist()]
    others: list[dict[int, Outcome]] = [{} for _ in sizes]
    failed = []
    for row, place, entry in columns["others"]:
        _check([row], len(sizes))
        _check([place], sizes[row])
        outcome = others[row][place] = _made(Outcome, entry)
        check_outcome(outcome)
        if outcome.value is None:
            failed.append(ends[row] + place)
    if (
        not ends[-1] == len(values) == len(candidates) == len(seconds) == len(by)
        or not ((seconds >= 0.0) & (seconds < math.inf)).all()
        or not ((candidates >= 0) & (candidates < n)).all()
        or not ((by >= 0) & (by < len(names))).all()
        or not all(isinstance(name, str) for name in names)
        or (sizes and min(sizes) == 0)
        or np.isinf(values).any()
        or np.flatnonzero(np.isnan(values)).tolist() != sorted(failed)
    ):
        raise ValueError("its columns make no table")
    told = [names[i] for i in by.tolist()]
    rows = [
        Row(block, candidates[a:b], values[a:b], seconds[a:b], more, (*told[a:b],))
        for block, (a, b), more in zip(blocks, pairwise(ends), others, strict=True)
    ]
    if not any(names):
        rows = [row._replace(workers=None) for row in rows]
    return rows, repeated, incomplete
