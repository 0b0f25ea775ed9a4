"""A space from plain data: no pickle, no class is looked up by name, and nothing is run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import racer.space.registry as registry  # noqa: PLR0402 (not by way of the package)
from racer.errors import SettingError
from racer.space.arithmetic import OPERATIONS
from racer.space.expressions import (
    SWAPPED,
    And,
    Arithmetic,
    Compare,
    Condition,
    Constant,
    Exists,
    In,
    Literal,
    Not,
    Or,
    Param,
    Term,
    as_literal,
)

if TYPE_CHECKING:
    from racer.space.parameters import Parameter

_CLASSES: dict[str, type[Any]] = {
    name.lower(): found for name, found in vars(registry).items() if isinstance(found, type)
}
_KINDS = {cls: kind for kind, cls in _CLASSES.items()}
_DEEPEST = 200


def _read_term(data: Any, deep: int = 0) -> Term:
    if deep > _DEEPEST:
        raise SettingError(f"a stored space has a term of more than {_DEEPEST} levels")
    if not isinstance(data, Mapping):
        return Literal(as_literal(data))
    if isinstance(data.get("param"), str):
        return Param(data["param"])
    operation, parts = data.get("do"), data.get("with")
    if isinstance(parts, list) and isinstance(operation, str) and operation in OPERATIONS:
        least, most, _ = OPERATIONS[operation]
        if least <= len(parts) <= most:
            return Arithmetic(operation, tuple(_read_term(part, deep + 1) for part in parts))
    raise SettingError(f"a stored space has {data!r}, which is not a term")


def read_condition(data: Any, deep: int = 0) -> Condition:
    """Return the condition whose `to_json` gave the data; SettingError if none does."""
    if deep > _DEEPEST:
        raise SettingError(f"a stored space has a condition of more than {_DEEPEST} levels")
    match data:
        case bool():
            return Constant(data)
        case [str(what), left, right] if what in SWAPPED:
            return Compare(what, _read_term(left), _read_term(right))
        case ["in", term, [*among]]:
            return In(_read_term(term), as_literal(among))
        case ["not", part]:
            return Not(read_condition(part, deep + 1))
        case ["and" | "or" as what, *parts]:
            read = tuple(read_condition(part, deep + 1) for part in parts)
            return And(read) if what == "and" else Or(read)
        case ["exists", str(name)]:
            return Exists(name)
    raise SettingError(f"a stored space has {data!r}, which is not a condition")


def written_parameter(name: str, parameter: Parameter) -> dict[str, Any]:
    """Return a parameter as plain data; one of a class from outside is only described."""
    settings, kind = parameter.to_json(), _KINDS.get(type(parameter))
    if kind is not None:
        return {"name": name, "type": kind, **settings}
    return {"name": name, "outside": type(parameter).__qualname__, "settings": settings}


def read_parameter(data: Any) -> Parameter:
    """Return the parameter that was written as `data`, less its name; SettingError if none was."""
    match data:
        case {"type": str(kind), **rest} if kind in _CLASSES:
            cls = _CLASSES[kind]
            if set(rest) <= {field.name for field in fields(cls)}:
                parameter: Parameter = cls(**{str(k): _read_setting(v) for k, v in rest.items()})
                return parameter
        case {"outside": kind}:
            raise SettingError(
                f"a stored space only describes its parameter of class {kind}: "
                "make the space again with racer.Space(..)"
            )
    raise SettingError(f"a stored space has {data!r}, which is not a parameter")


def _read_setting(data: Any) -> Any:
    return _read_term(data) if isinstance(data, Mapping) else data


def not_kept(data: Any) -> str | None:
    """Return the parts of the space that its plain data cannot hold, if any."""
    match data:
        case {"repair": True}:
            return "a repair hook"
        case {"parameters": [*entries]}:
            for entry in entries:
                match entry:
                    case {"name": name, "outside": kind}:
                        return f"the parameter {name!r} of class {kind}"
    return None
