"""What a condition or a bound says of the parameters it names: checked, and orders spelled out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from racer._checks import did_you_mean, is_real
from racer.errors import SettingError
from racer.space.conditions import And, Compare, Condition, In, Not, Or
from racer.space.parameters import Categorical, Ordinal, Parameter
from racer.space.terms import Arithmetic, Literal, Param, Term

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["check_bounds", "settled"]

_ORDER: dict[str, Callable[[int, int], bool]] = {
    "<": lambda level, limit: level < limit,
    "<=": lambda level, limit: level <= limit,
    ">": lambda level, limit: level > limit,
    ">=": lambda level, limit: level >= limit,
}


def _check_names(used: frozenset[str], known: Mapping[str, Parameter], where: str) -> None:
    for name in sorted(used, key=str):
        if name not in known:
            raise SettingError(
                f"{where} names {name!r}, which is no parameter{did_you_mean(name, known)}"
            )


def _choices(term: Any, known: Mapping[str, Parameter]) -> Any:
    """Return the choices that a term stands for, or None if it stands for a number."""
    parameter = known[term.name] if isinstance(term, Param) else None
    return parameter.domain({}) if isinstance(parameter, Categorical | Ordinal) else None


def _is_number(term: Any, known: Mapping[str, Parameter]) -> bool:
    if isinstance(term, Literal):
        return is_real(term.constant)
    if isinstance(term, Arithmetic):
        return all(_is_number(part, known) for part in term.parts)
    choices = _choices(term, known)
    return choices is None or all(map(is_real, choices.among))


def check_bounds(name: str, parameter: Parameter, known: Mapping[str, Parameter]) -> None:
    """Check that the bounds of a parameter name others that are numbers.

    Raises
    ------
    SettingError
        They do not.
    """
    if isinstance(parameter, Categorical | Ordinal):
        return
    for which in ("low", "high"):
        bound = getattr(parameter, which)
        if isinstance(bound, Term):
            where = f"{name}: {which}={bound}"
            _check_names(bound.names(), known, where)
            if not _is_number(bound, known):
                raise SettingError(f"{where} is no number: it names a parameter that is not one")


def settled(condition: Condition, known: Mapping[str, Parameter], where: str) -> Condition:
    """Return the condition in terms that need no knowledge of the parameters.

    Values compared with choices become the choices themselves, and orders of levels the levels.

    Raises
    ------
    SettingError
        An unknown name, a value that a parameter never has, an order where there is none.
    """
    _check_names(condition.names(), known, where)
    return _settled(condition, known, where)


def _settled(condition: Condition, known: Mapping[str, Parameter], where: str) -> Condition:
    if isinstance(condition, And | Or):
        return type(condition)(tuple(_settled(part, known, where) for part in condition.parts))
    if isinstance(condition, Not):
        return Not(_settled(condition.part, known, where))
    if isinstance(condition, In):
        return _settled_in(condition, known, where)
    if isinstance(condition, Compare):
        return _settled_compare(condition, known, where)
    return condition


def _index(choices: Any, value: Any, condition: Condition, where: str) -> int:
    try:
        return int(choices.index(value))
    except ValueError as error:
        raise SettingError(f"{where}: {condition} has the value {value!r}: {error}") from None


def _settled_in(condition: In, known: Mapping[str, Parameter], where: str) -> In:
    choices = _choices(condition.term, known)
    if choices is not None:
        found = {_index(choices, value, condition, where) for value in condition.among}
        return In(condition.term, tuple(choices.among[i] for i in sorted(found)))
    if not _is_number(condition.term, known) or not all(map(is_real, condition.among)):
        raise SettingError(f"{where}: {condition} compares a number with something else")
    return condition


def _settled_compare(condition: Compare, known: Mapping[str, Parameter], where: str) -> Condition:
    if isinstance(condition.left, Literal):
        condition = condition.swapped()
    left, right, operation = condition.left, condition.right, condition.operation
    choices = _choices(left, known)
    if choices is not None and isinstance(right, Literal):
        ordered = isinstance(left, Param) and isinstance(known[left.name], Ordinal)
        if operation in {"==", "!="} or ordered:
            at = _index(choices, right.constant, condition, where)
            if operation in {"==", "!="}:
                same = In(left, (choices.among[at],))
                return same if operation == "==" else Not(same)
            levels = (v for i, v in enumerate(choices.among) if _ORDER[operation](i, at))
            return In(left, tuple(levels))
    numbers = [_is_number(side, known) for side in (left, right)]
    if all(numbers) or (operation in {"==", "!="} and not any(numbers)):
        return condition
    raise SettingError(
        f"{where}: {condition} compares what cannot be compared: only numbers and the levels of "
        "an Ordinal have an order, and a number is never equal to text"
    )
