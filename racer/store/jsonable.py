"""What a user passes in, as JSON: rebuilt where JSON can say it, described where it cannot.

Plain values are plain JSON. What JSON would blur is an object with a single tag, all of which
begin with "!": {"!tuple": [1, 2]}, {"!float": "nan"}, {"!numpy": ["float32", 0.5]}. What can only
be told apart, and not rebuilt, is {"!object": ..} or {"!array": ..}. A class is never looked up
by a name that stands in a file, but for racer's own records of settings.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import re
import reprlib
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import racer.deciders
from racer.evaluate.command.command import Command
from racer.racing.budget import Budget

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["decode", "dumps", "encode", "is_plain", "qualified_name", "same", "shown"]

# all deciders of racer's own, which are dataclasses
_RECORDS: Mapping[str, type[Any]] = {
    cls.__name__: cls
    for cls in (Budget, *(getattr(racer.deciders, name) for name in racer.deciders.__all__))
    if isinstance(cls, type) and is_dataclass(cls)
}
_SCALARS: Mapping[str, type[np.generic]] = {
    **{f"float{bits}": np.dtype(f"float{bits}").type for bits in (16, 32, 64)},
    **{f"int{bits}": np.dtype(f"int{bits}").type for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": np.dtype(f"uint{bits}").type for bits in (8, 16, 32, 64)},
    "bool": np.bool_,
    "str": np.str_,
}
_SCALAR_NAMES = {cls: name for name, cls in _SCALARS.items()}
_NOT_FINITE = {"nan", "inf", "-inf"}
_ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]+")
_LONGEST_REPR = 1000


def encode(value: Any) -> Any:
    """Return `value` as what the json module writes, telling apart all that differs in type."""
    try:
        return _encode(value)
    except RecursionError:  # it contains itself, or nearly so
        return {"!object": qualified_name(type(value))}


def _encode(value: Any) -> Any:  # noqa: PLR0911  (a case per type)
    kind = type(value)
    if value is None or kind in (bool, int, str):
        return value
    if kind is float:
        return value if math.isfinite(value) else {"!float": str(value)}
    if kind is list:
        return [_encode(item) for item in value]
    if kind is tuple:
        return {"!tuple": [_encode(item) for item in value]}
    if kind in (set, frozenset):
        return {f"!{kind.__name__}": sorted((_encode(item) for item in value), key=dumps)}
    if kind is dict:
        if all(type(name) is str and name[:1] != "!" for name in value):
            return {name: _encode(item) for name, item in value.items()}
        return {"!dict": [[_encode(name), _encode(item)] for name, item in value.items()]}
    if kind in _SCALAR_NAMES:
        return {"!numpy": [_SCALAR_NAMES[kind], _encode(value.item())]}
    if kind.__name__ in _RECORDS and kind is _RECORDS[kind.__name__]:
        return {"!racer": kind.__name__, "fields": _fields(value)}
    return _described(value)


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


def dumps(encoded: Any) -> str:
    """Write what `encode` returned."""
    return json.dumps(encoded, allow_nan=False)


def same(one: Any, other: Any) -> bool:
    """Say whether two encoded values are equal in type as well; the order of keys is no matter."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def is_plain(encoded: Any) -> bool:
    """Say whether `decode` can rebuild it."""
    if isinstance(encoded, list):
        return all(map(is_plain, encoded))
    if isinstance(encoded, dict):
        return not {"!object", "!array"} & encoded.keys() and all(map(is_plain, encoded.values()))
    return True


def decode(encoded: Any) -> Any:
    """Rebuild what `encode` was given.

    Raises
    ------
    ValueError
        It is described only, or was written by no version known here.
    """
    if isinstance(encoded, list):
        return [decode(item) for item in encoded]
    if not isinstance(encoded, dict):
        return encoded
    tag = next((name for name in encoded if name[:1] == "!"), None)
    if tag is None:
        return {name: decode(item) for name, item in encoded.items()}
    try:
        return _tagged(tag, encoded[tag], encoded)
    except (KeyError, TypeError) as error:
        raise ValueError(f"{encoded!r} cannot be rebuilt ({error!r})") from None


def shown(encoded: Any) -> str:
    """Return an encoded value as a message shows it."""
    try:
        text = repr(decode(encoded))
    except ValueError:
        return reprlib.repr(dumps(encoded))
    return text if len(text) <= 200 else text[:200] + ".."


def _tagged(tag: str, content: Any, encoded: dict[str, Any]) -> Any:  # noqa: PLR0911
    match tag:
        case "!float" if content in _NOT_FINITE:
            return float(content)
        case "!tuple":
            return tuple(decode(content))
        case "!set":
            return set(decode(content))
        case "!frozenset":
            return frozenset(decode(content))
        case "!dict":
            return {decode(name): decode(item) for name, item in content}
        case "!numpy":
            name, item = content
            return _SCALARS[name](decode(item))
        case "!racer":
            settings = {name: decode(item) for name, item in encoded["fields"].items()}
            return _RECORDS[content](**settings)
    raise ValueError(f"{encoded!r} cannot be rebuilt")


def qualified_name(item: Any) -> str:
    """Return module and name of a class or function, of any other object those of its class.

    A `Command` goes by its command line.
    """
    if isinstance(item, Command):
        return item.identity
    if isinstance(item, functools.partial):
        return f"functools.partial({qualified_name(item.func)})"
    named = item if isinstance(getattr(item, "__qualname__", None), str) else type(item)
    return f"{named.__module__}.{named.__qualname__}"
