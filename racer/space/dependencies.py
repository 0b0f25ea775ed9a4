"""What conditions and bounds say of the parameters they name: checked, and orders spelled out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from racer._checks import did_you_mean, is_real
from racer.errors import SettingError
from racer.space.expressions import (
    And,
    Arithmetic,
    Compare,
    Condition,
    In,
    Literal,
    Not,
    Or,
    Param,
    compares,
)
from racer.space.numeric import Bounded

if TYPE_CHECKING:
    from collections.abc import Mapping

    from racer.space.domains import Domain
    from racer.space.parameters import Parameter


def _check_names(used: frozenset[str], known: Mapping[str, Parameter], where: str) -> None:
    for name in sorted(used, key=str):
        if name not in known:
            raise SettingError(
                f"{where} names {name!r}, which is not a parameter{did_you_mean(name, known)}"
            )


def listed(parameter: Parameter) -> Domain | None:
    """Return the values of a nominal or ordinal parameter, and None for a numeric one."""
    return None if parameter.scale == "numeric" else parameter.domain({})


def _listed(term: Any, known: Mapping[str, Parameter]) -> Domain | None:
    return listed(known[term.name]) if isinstance(term, Param) else None


def _is_number(term: Any, known: Mapping[str, Parameter]) -> bool:
    if isinstance(term, Literal):
        return is_real(term.constant)
    if isinstance(term, Arithmetic):
        return all(_is_number(part, known) for part in term.parts)
    values = _listed(term, known)
    return values is None or all(map(is_real, values.values()))


def check_dependencies(name: str, parameter: Parameter, known: Mapping[str, Parameter]) -> None:
    """Refuse a parameter that depends on one that is unknown, or bounds that are not numbers."""
    if isinstance(parameter, Bounded):
        for which, bound in parameter.terms().items():
            where = f"{name}: {which}={bound}"
            _check_names(bound.names(), known, where)
            if not _is_number(bound, known):
                raise SettingError(f"{where} is not a number: it names a parameter that is not one")
    _check_names(parameter.names(), known, f"the domain of {name!r}")


def settled(condition: Condition, known: Mapping[str, Parameter], where: str) -> Condition:
    """Return the condition, checked, with levels written out: then it needs no known parameters."""
    _check_names(condition.names(), known, where)
    return _settled(condition, known, where)


def _settled(condition: Condition, known: Mapping[str, Parameter], where: str) -> Condition:
    match condition:
        case And() | Or():
            return type(condition)(tuple(_settled(part, known, where) for part in condition.parts))
        case Not():
            return Not(_settled(condition.part, known, where))
        case In():
            return _settled_in(condition, known, where)
        case Compare():
            return _settled_compare(condition, known, where)
    return condition


def _possible(values: Domain, value: Any, condition: Condition, where: str) -> Any:
    try:
        return values.clean(value)
    except ValueError as error:
        raise SettingError(f"{where}: {condition} has the value {value!r}: {error}") from None


def _settled_in(condition: In, known: Mapping[str, Parameter], where: str) -> In:
    values = _listed(condition.term, known)
    if values is not None:
        found = [_possible(values, value, condition, where) for value in condition.among]
        ordered = {values.encode(value): value for value in found}
        return In(condition.term, tuple(ordered[u] for u in sorted(ordered)))
    if not _is_number(condition.term, known) or not all(map(is_real, condition.among)):
        raise SettingError(f"{where}: {condition} compares a number with something else")
    return condition


def _settled_compare(condition: Compare, known: Mapping[str, Parameter], where: str) -> Condition:
    if isinstance(condition.left, Literal):
        condition = condition.swapped()
    left, right, operation = condition.left, condition.right, condition.operation
    values = _listed(left, known)
    equality = operation in {"==", "!="}
    if values is not None and isinstance(left, Param) and isinstance(right, Literal):
        if equality:
            same = In(left, (_possible(values, right.constant, condition, where),))
            return same if operation == "==" else Not(same)
        if known[left.name].scale == "ordinal":
            at = values.encode(_possible(values, right.constant, condition, where))
            there = [v for v in values.values() if compares(operation, values.encode(v), at)]
            return In(left, tuple(there))
    numbers = [_is_number(side, known) for side in (left, right)]
    if all(numbers) or (equality and not any(numbers)):
        return condition
    raise SettingError(
        f"{where}: {condition} compares what cannot be compared: only numbers and the levels of "
        "an Ordinal have an order, and a number is never equal to text"
    )
