"""Conditions and forbidden clauses that no configuration can make true."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

from racer._checks import is_real
from racer.space.domains import UNKNOWN, Continuum, Lattice
from racer.space.expressions import (
    And,
    Arithmetic,
    Compare,
    Condition,
    Expression,
    Literal,
    Or,
    Param,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from racer.space.domains import Domain
    from racer.space.structure import Structure

_FEW, _MOST = 50, 5_000  # values of a parameter, and combinations, that are all looked at
_MONOTONE = {"+", "-", "*", "neg", "min", "max", "floor", "ceiling", "trunc"}


def never_true(space: Structure) -> Iterator[str]:
    """Yield a sentence for each condition, and each forbidden clause, that is surely never true."""
    for name, condition in space.conditions.items():
        if _never(condition, space):
            yield f"the condition of {name!r}, {condition}, is never true: it never exists"
    for number, clause in enumerate(space.forbidden):
        if _never(clause, space):
            yield f"forbidden[{number}], {clause}, is never true: it forbids nothing"


def _never(condition: Condition, space: Structure) -> bool:
    """Return whether a condition is false or unknown wherever its parameters exist or not."""
    if isinstance(condition, And) and any(_never(part, space) for part in condition.parts):
        return True
    if isinstance(condition, Or):
        return all(_never(part, space) for part in condition.parts)
    names = sorted(condition.names())
    domains = [space.parameters[name].domain({}) for name in names]
    numbers = {n for part in _parts(condition) for n in _numbers(part)}
    numbers |= {end for d in domains if d is not None for end in (d.decode(0.0), d.decode(1.0))}
    at = sorted(filter(is_real, numbers))
    values = [[*_values(domain, at)] for domain in domains]
    is_whole = all(d is not None and d.n == len(v) for d, v in zip(domains, values, strict=True))
    if not (is_whole or _is_shown(condition, names)) or not all(values):
        return False
    for place, name in enumerate(names):
        values[place] += [UNKNOWN] if name in space.conditions else []
    if math.prod(map(len, values)) > _MOST:
        return False
    return not any(_holds(condition, space, names, own) for own in itertools.product(*values))


def _holds(condition: Condition, space: Structure, names: list[str], own: tuple[Any, ...]) -> bool:
    """Return whether a condition is true of values with which their parameters can exist."""
    known = {name: value for name, value in zip(names, own, strict=True) if value is not UNKNOWN}
    above = {name: space.conditions[name] for name in names if name in space.conditions}
    return condition.holds(known) is True and all(
        (own.holds(known) is True) is (name in known)
        for name, own in above.items()
        if own.names() <= {*names}
    )


def _parts(expression: Expression) -> Iterator[Expression]:
    """Yield an expression and all in it."""
    yield expression
    for field in vars(expression).values():
        for part in field if isinstance(field, tuple) else (field,):
            if isinstance(part, Expression):
                yield from _parts(part)


def _numbers(part: Expression) -> tuple[Any, ...]:
    return (part.constant,) if isinstance(part, Literal) else getattr(part, "among", ())


def _values(domain: Domain | None, at: list[float]) -> Iterator[Any]:
    """Yield all values, or values at, beside and between numbers; none if neither is known."""
    if domain is not None and domain.n <= _FEW:
        yield from domain.values()
    elif isinstance(domain, Continuum):
        inside = [number for number in at if domain.low <= number <= domain.high]
        step = 1e-9 * (domain.high - domain.low)
        # a comparison changes only at its numbers: at, beside and between them show all outcomes
        beside = [n + d for n in inside for d in (-step, step)]
        between = [(low + high) / 2.0 for low, high in itertools.pairwise(inside)]
        yield from (n for n in {*inside, *beside, *between} if domain.low <= n <= domain.high)
    elif isinstance(domain, Lattice):
        places = [domain.nearest(number) for number in at]
        around = {place + step for place in places for step in (-1, 0, 1)}
        around |= {(low + high) // 2 for low, high in itertools.pairwise(places)}
        yield from (domain.at(place) for place in around if 0 <= place < domain.n)


def _is_shown(condition: Condition, names: list[str]) -> bool:
    """Return whether such values show all that a condition can be.

    They do for comparisons of up to four parameters and constants, and at the ends of their ranges
    for one order of sums and the like in which each parameter stands once.
    """
    parts = [*_parts(condition)]
    if not any(isinstance(part, Arithmetic) for part in parts):
        return len(names) <= 4
    terms = [part for part in parts if isinstance(part, Arithmetic)]
    stand = [part.name for part in parts if isinstance(part, Param)]
    is_order = isinstance(condition, Compare) and condition.operation not in {"==", "!="}
    return is_order and len(stand) == len({*stand}) and all(t.operation in _MONOTONE for t in terms)
