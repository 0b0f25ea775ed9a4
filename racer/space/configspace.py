"""Spaces of ConfigSpace: its JSON, format 0.4, read and written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from racer.errors import SettingError
from racer.space.domains import token
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
    from collections.abc import Sequence

    from racer.space.parameters import Parameter

_COMPARES = {"EQ": "==", "NEQ": "!=", "LT": "<", "GT": ">"}
_RELATIONS = {"RELATION_EQ": "==", "RELATION_LT": "<", "RELATION_GT": ">"}
_NOT_ONE = "this is no JSON of ConfigSpace in format 0.4"
_TO_COMPARE = {operation: name for name, operation in _COMPARES.items()}


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


def as_json(
    parameters: Mapping[str, Parameter],
    conditions: Mapping[str, Condition],
    forbidden: Sequence[Condition],
    default: Mapping[str, Any],
) -> dict[str, Any]:
    """Return a space as the JSON of a ConfigurationSpace; SettingError if it lacks a feature."""
    found: list[dict[str, Any]] = []
    for name, parameter in parameters.items():
        domain = parameter.domain({})
        if domain is None:
            raise SettingError(f"{name}: ConfigSpace has no bounds that depend on parameters")
        value = default.get(name, domain.decode(0.5))
        ends = {"lower": domain.decode(0.0), "upper": domain.decode(1.0)}
        is_constant = parameter.scale == "numeric" and domain.n == 1  # no range, for ConfigSpace
        written = Categorical((ends["lower"],)) if is_constant else parameter
        found.append({"name": name, **_written(name, written, value, ends)})
    return {
        "name": None,
        "hyperparameters": found,
        "conditions": [
            _written_condition(name, _as_theirs(c, parameters, conditions))
            for name, c in conditions.items()
        ],
        "forbiddens": [_written_forbidden(clause) for clause in forbidden],
        "format_version": 0.4,
    }


def _written(name: str, parameter: Parameter, value: Any, ends: dict[str, Any]) -> dict[str, Any]:
    shared = {"default_value": value, "meta": None}
    match parameter:
        case Real(step=None):
            return {"type": "uniform_float", **ends, "log": parameter.log, **shared}
        case Integer(step=1):
            return {"type": "uniform_int", **ends, "log": parameter.log, **shared}
        case Categorical(choices=[only]):
            return {"type": "constant", "value": only, "meta": None}
        case Categorical():
            choices = {"choices": list(parameter.choices), "weights": None}
            return {"type": "categorical", **choices, **shared}
        case Ordinal():
            return {"type": "ordinal", "sequence": list(parameter.levels), **shared}
    raise SettingError(f"{name}: ConfigSpace has nothing like {parameter!r}")


def _as_theirs(
    condition: Condition, parameters: Mapping[str, Parameter], conditions: Mapping[str, Condition]
) -> Condition:
    """Return a condition in ConfigSpace's sense, the opposite of `_as_meant`."""
    match condition:
        case Or(parts=[Not(part=Exists(name=one)), unequal]) if _unequal_to(unequal)[:1] == (one,):
            return unequal
        case And(parts=parts) | Or(parts=parts):
            return type(condition)(tuple(_as_theirs(p, parameters, conditions) for p in parts))
    if not (found := _unequal_to(condition)) or found[0] not in conditions:
        return condition
    parent, value = Param(found[0]), found[1]
    match parameters[found[0]]:
        case Categorical(choices=values) | Ordinal(levels=values):
            return In(parent, tuple(one for one in values if token(one) != token(value)))
    there = Literal(value)
    return Or((Compare("<", parent, there), Compare(">", parent, there)))


def _unequal_to(condition: Condition) -> tuple[()] | tuple[str, Any]:
    """Return the parameter and the value that a condition lets differ; nothing for others."""
    match condition:
        case Not(part=In(term=Param(name=name), among=[value])):
            return name, value
        case Compare(operation="!=", left=Param(name=name), right=Literal(constant=value)):
            return name, value
    return ()


def _written_condition(child: str, condition: Condition) -> dict[str, Any]:
    match condition:
        case And() | Or():
            kind = "AND" if isinstance(condition, And) else "OR"
            parts = [_written_condition(child, part) for part in condition.parts]
            return {"type": kind, "child": child, "conditions": parts}
        case In(term=Param(name=parent), among=among):
            return {"type": "IN", "child": child, "parent": parent, "values": list(among)}
        case Not(part=In(term=Param(name=parent), among=[value])):
            return {"type": "NEQ", "child": child, "parent": parent, "value": value}
        case Compare(
            operation=operation, left=Param(name=parent), right=Literal(constant=value)
        ) if operation in _TO_COMPARE:
            kind = _TO_COMPARE[operation]
            return {"type": kind, "child": child, "parent": parent, "value": value}
    raise SettingError(f"{child}: ConfigSpace lacks the condition {condition}")


def _written_forbidden(clause: Condition) -> dict[str, Any]:
    match clause:
        case And():
            return {"type": "AND", "clauses": [_written_forbidden(part) for part in clause.parts]}
        case In(term=Param(name=name), among=among):
            return {"type": "IN", "name": name, "values": list(among)}
        case Compare(operation="==", left=Param(name=name), right=Literal(constant=value)):
            return {"type": "EQUALS", "name": name, "value": value}
        case Compare(operation=operation, left=Param(name=left), right=Param(name=right)) if (
            f"RELATION_{_TO_COMPARE.get(operation)}" in _RELATIONS
        ):
            return {"type": f"RELATION_{_TO_COMPARE[operation]}", "left": left, "right": right}
    raise SettingError(f"ConfigSpace has no way to express that {clause} is forbidden")
