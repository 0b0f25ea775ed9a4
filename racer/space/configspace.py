"""Spaces of ConfigSpace, read from its JSON, format 0.4."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from racer.errors import SettingError
from racer.space.expressions import (
    And,
    Compare,
    Condition,
    Exists,
    In,
    Literal,
    Not,
    Or,
    Param,
    as_literal,
)
from racer.space.numeric import Integer, Real
from racer.space.parameters import Categorical, Ordinal

if TYPE_CHECKING:
    from racer.space.parameters import Parameter

_COMPARES = {"EQ": "==", "NEQ": "!=", "LT": "<", "GT": ">"}
_RELATIONS = {"RELATION_EQ": "==", "RELATION_LT": "<", "RELATION_GT": ">"}
_NOT_ONE = "this is no JSON of ConfigSpace in format 0.4"


def arguments_of(data: Any) -> dict[str, Any]:
    """Return the arguments of the Space that the JSON of a ConfigurationSpace describes.

    SettingError for something else, or features that a `Space` lacks: other distributions, weights.
    """
    if not isinstance(data, Mapping) or not isinstance(data.get("hyperparameters"), list):
        raise SettingError(f"{_NOT_ONE}: it has no list of hyperparameters")
    try:
        parameters = {entry["name"]: _parameter(entry) for entry in data["hyperparameters"]}
        default = {
            entry["name"]: entry["value"] if "value" in entry else entry["default_value"]
            for entry in data["hyperparameters"]
        }
        conditions: dict[str, Condition] = {}
        for entry in data.get("conditions", ()):
            found, child = _condition(entry), entry["child"]
            conditions[child] = conditions[child] & found if child in conditions else found
        forbidden = [_forbidden(entry) for entry in data.get("forbiddens", ())]
    except (KeyError, TypeError, AttributeError) as error:
        why = f"{error} is missing" if isinstance(error, KeyError) else error
        raise SettingError(f"{_NOT_ONE}: {why}") from error
    return {
        "parameters": parameters,
        "conditions": {child: _as_meant(c, conditions) for child, c in conditions.items()},
        "forbidden": forbidden,
        "default": default,
    }


def _parameter(entry: Mapping[str, Any]) -> Parameter:
    weights = entry.get("weights")
    if weights is not None and len({*weights}) > 1:
        raise SettingError(f"{entry['name']}: weights cannot be kept: leave them out")
    match entry["type"]:
        case "uniform_float":
            return Real(entry["lower"], entry["upper"], log=entry["log"])
        case "uniform_int":
            return Integer(entry["lower"], entry["upper"], log=entry["log"])
        case "categorical":
            return Categorical(tuple(entry["choices"]))
        case "ordinal":
            return Ordinal(tuple(entry["sequence"]))
        case "constant":
            return Categorical((entry["value"],))
    raise SettingError(
        f"{entry['name']}: the type {entry['type']!r} cannot be kept: use a uniform one"
    )


def _condition(entry: Mapping[str, Any]) -> Condition:
    kind = entry["type"]
    if kind in {"AND", "OR"}:
        parts = tuple(map(_condition, entry["conditions"]))
        return And(parts) if kind == "AND" else Or(parts)
    if kind == "IN":
        return In(Param(entry["parent"]), tuple(map(as_literal, entry["values"])))
    return Compare(_COMPARES[kind], Param(entry["parent"]), Literal(as_literal(entry["value"])))


def _as_meant(condition: Condition, conditions: Mapping[str, Condition]) -> Condition:
    """Return a condition of ConfigSpace, where an inactive parameter is unequal to all values."""
    match condition:
        case And(parts=parts) | Or(parts=parts):
            return type(condition)(tuple(_as_meant(part, conditions) for part in parts))
        case Compare(operation="!=", left=Param(name=parent)) if parent in conditions:
            return Or((Not(Exists(parent)), condition))
    return condition


def _forbidden(entry: Mapping[str, Any]) -> Condition:
    kind = entry["type"]
    if kind == "AND":
        return And(tuple(map(_forbidden, entry["clauses"])))
    if kind == "EQUALS":
        return In(Param(entry["name"]), (as_literal(entry["value"]),))
    if kind == "IN":
        return In(Param(entry["name"]), tuple(map(as_literal, entry["values"])))
    return Compare(_RELATIONS[kind], Param(entry["left"]), Param(entry["right"]))
