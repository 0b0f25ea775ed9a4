"""Arguments of users as JSON: rebuilt where JSON can hold them, else described.

Values that JSON would blur have a tag: {"!tuple": [1, 2]}, {"!float": "nan"}; values that can
only be compared are {"!object": ..} or {"!array": ..}. No class is looked up by its name in a
file, except racer's own records of settings and a few fixed types.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import os
import re
import reprlib
from dataclasses import fields, is_dataclass
from pathlib import PosixPath, PurePath, PurePosixPath, PureWindowsPath, WindowsPath
from typing import TYPE_CHECKING, Any

import numpy as np

import racer.deciders
from racer.core.budget import Budget
from racer.core.runtime import Runtime
from racer.deciders.decider import Scheduled
from racer.deciders.gate import GateRace
from racer.evaluate.command.command import Command
from racer.evaluate.fidelity import Fidelity
from racer.evaluate.pace import own_objective
from racer.evaluate.recorded import RecordedScores

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_DECIDERS = [getattr(racer.deciders, name) for name in racer.deciders.__all__]
_RECORDS: Mapping[str, type[Any]] = {
    cls.__name__: cls
    for cls in (Budget, Fidelity, Runtime, GateRace, *_DECIDERS)
    if isinstance(cls, type) and is_dataclass(cls)
}
_NUMBERS = "float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64"
_SCALARS: Mapping[str, type[np.generic]] = {
    name: np.dtype(name).type for name in (*_NUMBERS.split(), "bool", "str")
}
_PATHS: Mapping[str, type[PurePath]] = {
    cls.__name__: cls for cls in (PurePosixPath, PureWindowsPath, PosixPath, WindowsPath)
}
_NOT_FINITE = {text: float(text) for text in ("nan", "inf", "-inf")}
_ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]+")
_LONGEST_REPR = 1000
_LONGEST_SHOWN = 200


def encode(value: Any) -> Any:
    """Return `value` for the json module; values of different types stay different."""
    try:
        return _encode(value)
    except RecursionError:  # it contains itself, or nearly so
        return {"!object": qualified_name(type(value))}


def _encode(value: Any) -> Any:
    encoder: Callable[[Any], Any] = _ENCODERS.get(type(value), _described)
    return encoder(value)


def _items(value: Any) -> list[Any]:
    return [_encode(item) for item in value]


def _dict(value: dict[Any, Any]) -> dict[str, Any]:
    if all(type(name) is str and name[:1] != "!" for name in value):
        return {name: _encode(item) for name, item in value.items()}
    return {"!dict": [[_encode(name), _encode(item)] for name, item in value.items()]}


def _fields(value: Any) -> dict[str, Any]:
    return {field.name: _encode(getattr(value, field.name, None)) for field in fields(value)}


def _described(value: Any) -> dict[str, Any]:
    name = qualified_name(type(value))
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            return {"!object": name, "items": _encode(value.tolist())}
        content = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return {"!array": [value.dtype.str, list(value.shape), content]}
    if is_dataclass(value):
        return {"!object": name, "fields": _fields(value)}
    try:
        text = _ADDRESS.sub("at 0x..", repr(value))
    except Exception:  # noqa: BLE001  (a __repr__ of the user's may raise anything)
        return {"!object": name}
    if len(text) > _LONGEST_REPR:
        digest = hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()
        text = f"{text[:100]}.. sha256 {digest}"
    return {"!object": name, "repr": text}


def _record(value: Any) -> dict[str, Any]:
    given = _fields(value)
    if isinstance(value, Scheduled):  # when it tests is a setting of its own
        tests = {field.name for field in fields(Scheduled)}
        given = {name: item for name, item in given.items() if name not in tests}
    if isinstance(value, Budget):  # schema 1 has money only if it is given
        more = () if value.spend is None else ("spend",)
        given = {name: given[name] for name in ("evaluations", "seconds", *more)}
    return {"!racer": type(value).__name__, "fields": given}


def _numpy(value: np.generic) -> dict[str, Any]:
    return {"!numpy": [np.dtype(type(value)).name, _encode(value.item())]}


_ENCODERS: Mapping[type, Callable[[Any], Any]] = {
    **dict.fromkeys((type(None), bool, int, str), lambda value: value),
    float: lambda value: value if math.isfinite(value) else {"!float": str(value)},
    list: _items,
    tuple: lambda value: {"!tuple": _items(value)},
    set: lambda value: {"!set": sorted(_items(value), key=dumps)},
    frozenset: lambda value: {"!frozenset": sorted(_items(value), key=dumps)},
    dict: _dict,
    **dict.fromkeys(_SCALARS.values(), _numpy),
    **dict.fromkeys(_RECORDS.values(), _record),
    **dict.fromkeys(_PATHS.values(), lambda value: {"!path": [type(value).__name__, str(value)]}),
}


def dumps(encoded: Any) -> str:
    """Write a value of `encode`."""
    return json.dumps(encoded, allow_nan=False)


def same(one: Any, other: Any) -> bool:
    """Return True if two encoded values are equal in type as well, in any order of keys."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def is_plain(encoded: Any) -> bool:
    """Return True if `decode` can rebuild it."""
    if isinstance(encoded, list):
        return all(map(is_plain, encoded))
    if isinstance(encoded, dict):
        return not {"!object", "!array"} & encoded.keys() and all(map(is_plain, encoded.values()))
    return True


def left_class(encoded: Any) -> str | None:
    """Return the class of an encoded record that this version does not have, if it is one."""
    name = encoded.get("!racer") if isinstance(encoded, dict) else None
    return name if isinstance(name, str) and name.isidentifier() and name not in _RECORDS else None


def decode(encoded: Any) -> Any:
    """Rebuild the argument of `encode`; ValueError if it is only described, or unknown here."""
    try:
        return _decode(encoded)
    except (KeyError, TypeError, AttributeError, OverflowError, NotImplementedError) as error:
        raise ValueError(f"{reprlib.repr(encoded)} cannot be rebuilt ({error!r})") from None
    except RecursionError:
        raise ValueError("it cannot be rebuilt, as it is nested too deeply") from None


def _decode(encoded: Any) -> Any:
    if isinstance(encoded, list):
        return [_decode(item) for item in encoded]
    if not isinstance(encoded, dict):
        return encoded
    tag = next((name for name in encoded if name[:1] == "!"), None)
    if tag is None:
        return {name: _decode(item) for name, item in encoded.items()}
    content = encoded[tag]
    if tag == "!racer":
        settings = {name: _decode(item) for name, item in encoded["fields"].items()}
        return _RECORDS[content](**settings)
    return _DECODERS[tag](content)


def _scalar(content: Any) -> np.generic:
    name, item = content
    kind, value = _SCALARS[name], _decode(item)
    if issubclass(kind, np.integer) and not np.iinfo(kind).min <= value <= np.iinfo(kind).max:
        raise OverflowError(f"{value} is out of bounds for {name}")  # older NumPy only warns
    return kind(value)


_DECODERS: Mapping[str, Callable[[Any], Any]] = {
    "!float": lambda content: _NOT_FINITE[content],
    "!tuple": lambda content: tuple(_decode(content)),
    "!set": lambda content: set(_decode(content)),
    "!frozenset": lambda content: frozenset(_decode(content)),
    "!dict": lambda content: {_decode(name): _decode(item) for name, item in content},
    "!numpy": _scalar,
    "!path": lambda content: _PATHS[content[0]](*content[1:]),
}


def shown_apart(*encoded: Any) -> list[str]:
    """Return encoded values that differ as a message shows them: long ones where they differ."""
    texts = [_whole(value) for value in encoded]
    if len(set(texts)) == 1:  # it is a type within that differs
        texts = [dumps(value) for value in encoded]
    if all(len(text) <= _LONGEST_SHOWN for text in texts):
        return texts
    alike = len(os.path.commonprefix(texts))  # noqa: RUF071  (of letters)
    first = max(alike - _LONGEST_SHOWN // 4, 0)
    last, begun = first + _LONGEST_SHOWN, texts[0].rfind("{", 0, alike)
    of = texts[0][begun : begun + 24] if 0 <= begun < first else ""  # which part it is in
    return [f"{of}{'..' * (first > 0)}{t[first:last]}{'..' * (len(t) > last)}" for t in texts]


def _whole(encoded: Any) -> str:
    try:
        return repr(decode(encoded))
    except ValueError:
        return dumps(encoded)


def qualified_name(item: Any) -> str:
    """Return module and name of a class, a function or an object's class.

    Of a `Command` its line; of `RecordedScores` a digest.
    """
    item = own_objective(item)
    if isinstance(item, Command | RecordedScores):
        return item.identity
    if isinstance(item, functools.partial):
        return f"functools.partial({qualified_name(item.func)})"
    named = item if isinstance(getattr(item, "__qualname__", None), str) else type(item)
    return f"{named.__module__}.{named.__qualname__}"
