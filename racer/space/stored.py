"""A space as plain data for JSON, and back: no pickle, and nothing is run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from racer.errors import SettingError
from racer.space.arithmetic import OPERATIONS
from racer.space.conditions import And, Compare, Condition, Constant, Exists, In, Not, Or
from racer.space.parameters import Categorical, Integer, Ordinal, Parameter, Real
from racer.space.terms import Arithmetic, Literal, Param, Term, as_literal

__all__ = ["read_condition", "read_parameter", "written_condition", "written_parameter"]

_COMPARISONS = {"==", "!=", "<", "<=", ">", ">="}
_NUMERIC: dict[str, type[Real | Integer]] = {"real": Real, "integer": Integer}
_DEEPEST = 200


def _written_value(value: Any) -> Any:
    return [_written_value(part) for part in value] if isinstance(value, tuple) else value


def _written_term(term: Any) -> Any:
    if isinstance(term, Param):
        return {"param": term.name}
    if isinstance(term, Arithmetic):
        return {"do": term.operation, "with": [_written_term(part) for part in term.parts]}
    return _written_value(term.constant if isinstance(term, Literal) else term)


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
    raise SettingError(f"a stored space has {data!r}, which is no term")


def written_condition(condition: Condition) -> Any:
    """Return a condition as plain data: True, False, or [what, ..]."""
    match condition:
        case Compare():
            sides = (_written_term(condition.left), _written_term(condition.right))
            return [condition.operation, *sides]
        case In():
            return ["in", _written_term(condition.term), _written_value(condition.among)]
        case Not():
            return ["not", written_condition(condition.part)]
        case And() | Or():
            what = "and" if isinstance(condition, And) else "or"
            return [what, *map(written_condition, condition.parts)]
        case Exists():
            return ["exists", condition.name]
        case Constant():
            return condition.truth
    raise SettingError(f"{condition!r} cannot be stored: use the conditions of racer.space")


def read_condition(data: Any, deep: int = 0) -> Condition:
    """Return the condition that was written as `data`.

    Raises
    ------
    SettingError
        Nothing that `written_condition` writes.
    """
    if deep > _DEEPEST:
        raise SettingError(f"a stored space has a condition of more than {_DEEPEST} levels")
    match data:
        case bool():
            return Constant(data)
        case [str(what), left, right] if what in _COMPARISONS:
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
    raise SettingError(f"a stored space has {data!r}, which is no condition")


def written_parameter(parameter: Parameter) -> dict[str, Any]:
    """Return a parameter as plain data."""
    match parameter:
        case Categorical():
            return {"type": "categorical", "choices": _written_value(tuple(parameter.choices))}
        case Ordinal():
            return {"type": "ordinal", "levels": _written_value(tuple(parameter.levels))}
    ends = {"low": _written_term(parameter.low), "high": _written_term(parameter.high)}
    rest: dict[str, Any] = {"log": parameter.log, "step": parameter.step}
    if isinstance(parameter, Real):
        rest["digits"] = parameter.digits
    return {"type": "real" if isinstance(parameter, Real) else "integer", **ends, **rest}


def read_parameter(data: Any) -> Parameter:
    """Return the parameter that was written as `data`.

    Raises
    ------
    SettingError
        Nothing that `written_parameter` writes.
    """
    match data:
        case {"type": "categorical", "choices": list(choices), **rest} if not rest:
            return Categorical(choices)
        case {"type": "ordinal", "levels": list(levels), **rest} if not rest:
            return Ordinal(levels)
        case {"type": "real" | "integer" as kind, "low": low, "high": high, **rest} if set(
            rest
        ) <= {"log", "step", "digits"} and (kind == "real" or "digits" not in rest):
            settings: dict[str, Any] = {str(key): value for key, value in rest.items()}
            return _NUMERIC[kind](_read_bound(low), _read_bound(high), **settings)
    raise SettingError(f"a stored space has {data!r}, which is no parameter")


def _read_bound(data: Any) -> Any:
    return _read_term(data) if isinstance(data, Mapping) else data
