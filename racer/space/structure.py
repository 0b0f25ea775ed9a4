"""The structure of a space: conditions, bounds and forbidden combinations."""

from __future__ import annotations

import graphlib
import math
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from racer._checks import did_you_mean, is_real
from racer.errors import CandidateError, SettingError
from racer.space.domains import Empty, plain, token
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
    as_condition,
    compares,
)
from racer.space.numeric import Bounded
from racer.space.parameters import listed

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Sequence

    from racer.space.domains import Domain
    from racer.space.parameters import Parameter

Config = dict[str, Any]


class TooManyError(Exception):
    """There are more configurations than can be counted."""


class CircularError(SettingError):
    """A cycle of dependencies between `names`."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(
            f"conditions or bounds are circular: {' -> '.join(names)} (each depends on the next)"
        )
        self.names = names


def in_order(
    parameters: Mapping[str, Parameter], conditions: Mapping[str, Condition]
) -> tuple[str, ...]:
    """Return the names of the parameters, each after all that it depends on; or CircularError."""
    depends = {name: set(parameter.names()) for name, parameter in parameters.items()}
    for name, condition in conditions.items():
        depends[name] |= condition.names()
    graph = {name: sorted(names) for name, names in depends.items()}
    try:
        return tuple(graphlib.TopologicalSorter(graph).static_order())
    except graphlib.CycleError as error:
        raise CircularError(error.args[1][::-1]) from None


class Structure:
    """The part of a Space that determines its configurations."""

    def __init__(
        self,
        parameters: Mapping[str, Parameter],
        conditions: Mapping[str, Any],
        forbidden: Sequence[Any],
    ) -> None:
        self._parameters = dict(parameters)
        for name, parameter in self._parameters.items():
            _check_dependencies(name, parameter, self._parameters)
        self._conditions: dict[str, Condition] = {}
        for name, given in conditions.items():
            where = f"the condition of {name!r}"
            if name not in self._parameters:
                hint = did_you_mean(name, self._parameters)
                raise SettingError(f"{where}: there is no such parameter{hint}")
            self._conditions[name] = _settled(as_condition(given, where), self._parameters, where)
        self._forbidden = tuple(
            _settled(as_condition(given, f"forbidden[{i}]"), self._parameters, f"forbidden[{i}]")
            for i, given in enumerate(forbidden)
        )
        self._order = in_order(self._parameters, self._conditions)
        self._fixed = {  # the domains that depend on nothing
            name: parameter.domain({})
            for name, parameter in self._parameters.items()
            if not parameter.names()
        }

    @property
    def parameters(self) -> Mapping[str, Parameter]:
        """The parameters by name."""
        return MappingProxyType(self._parameters)

    @property
    def conditions(self) -> Mapping[str, Condition]:
        """The condition of each parameter that does not always exist."""
        return MappingProxyType(self._conditions)

    @property
    def forbidden(self) -> tuple[Condition, ...]:
        """The forbidden clauses."""
        return self._forbidden

    @property
    def free(self) -> tuple[str, ...]:
        """The parameters that can have more than one value."""
        counts = {name: domain.n for name, domain in self._fixed.items() if domain is not None}
        return tuple(name for name in self._parameters if counts.get(name, math.inf) > 1)

    @cached_property
    def size(self) -> float:
        """How many configurations there are.

        Infinity if there are reals without digits, and if parameters that others depend on have
        too many combinations to count: 20 000 of a single parameter, 6 000 of many binary ones.
        """
        related = self.related()
        rest = [name for name in self._order if name not in related]
        total: float = 0
        try:
            for values in self.configurations(related):
                domains = [self.domain(name, values) for name in rest]
                counts = [domain.n for domain in domains if domain is not None]
                total += math.prod(counts) if 0 not in counts else 0
        except TooManyError:
            return math.inf
        return total

    def check(self, config: Mapping[str, Any]) -> Config:
        """Return a configuration as the space writes it: its order, plain values, rounded reals.

        Raises
        ------
        CandidateError
            It is outside the space; the message has the parameter and the reason.
        """
        return self.cleaned(config)

    def __contains__(self, config: object) -> bool:
        try:
            self.cleaned(config)
        except CandidateError:
            return False
        return True

    def __len__(self) -> int:
        return len(self._parameters)

    def key(self, config: Mapping[str, Any]) -> tuple[Hashable, ...]:
        """Return a hashable key, the same for the same configuration only.

        Raises
        ------
        CandidateError
            The configuration is outside the space.
        """
        return self.key_of(self.cleaned(config))

    def domain(self, name: str, values: Mapping[str, Any]) -> Domain | None:
        """Return a parameter's domain, given the values before it; None if it does not exist."""
        condition = self._conditions.get(name)
        if condition is not None and condition.holds(values) is not True:
            return None
        return self._fixed[name] if name in self._fixed else self._parameters[name].domain(values)

    def build(
        self, choose: Callable[[str, Domain], Any], dead: Counter[str] | None = None
    ) -> Config | None:
        """Choose a value for each parameter that exists; None, counted in `dead`, if none can."""
        values: Config = {}
        for name in self._order:
            domain = self.domain(name, values)
            if domain is None:
                continue
            if domain.n == 0:
                if dead is not None:
                    dead[name] += 1
                return None
            values[name] = choose(name, domain)
        return self.arranged(values)

    def arranged(self, values: Mapping[str, Any]) -> Config:
        """Return the values in the order in which the parameters were given."""
        return {name: values[name] for name in self._parameters if name in values}

    def forbids(self, values: Mapping[str, Any]) -> Condition | None:
        """Return the first forbidden combination that the values show."""
        return next((clause for clause in self._forbidden if clause.holds(values) is True), None)

    def cleaned(self, config: Any, *, allowed: bool = True) -> Config:
        """Return the result of `check`, or, if it need not be allowed, a possibly forbidden one."""
        if not isinstance(config, Mapping):
            raise CandidateError(
                f"{config!r} is not a configuration: give a dict from parameter names to values"
            )
        for name in config:
            if name not in self._parameters:
                raise CandidateError(
                    f"{name!r} in {config!r} is not a parameter of the space"
                    f"{did_you_mean(name, self._parameters)}"
                )
        values: Config = {}
        for name in self._order:
            domain = self.domain(name, values)
            if domain is not None:
                values[name] = _cleaned(name, domain, config)
            elif name in config:
                raise CandidateError(f"{name!r} is given in {config!r}, but {self._absent(name)}")
        clause = self.forbids(values) if allowed else None
        if clause is not None:
            raise CandidateError(f"{config!r} is forbidden: {clause}")
        return self.arranged(values)

    def _absent(self, name: str) -> str:
        if name in self._conditions:
            return f"it exists only when {self._conditions[name]}"
        return f"its bounds need {', '.join(sorted(self._parameters[name].names()))}"

    def key_of(self, clean: Config) -> tuple[Hashable, ...]:
        """Return the key of a configuration that `check` has returned."""
        return tuple(token(clean[n]) if n in clean else None for n in self._parameters)

    @property
    def may_be_absent(self) -> bool:
        """Whether there is a parameter that does not exist in every configuration."""
        return bool(self._conditions) or len(self._fixed) < len(self._parameters)

    def related(self) -> frozenset[str]:
        """Return the parameters that others, or forbidden combinations, depend on."""
        used = [parameter.names() for parameter in self._parameters.values()]
        used += [condition.names() for condition in self._conditions.values()]
        used += [clause.names() for clause in self._forbidden]
        return frozenset().union(*used)

    def configurations(
        self, names: frozenset[str] | None = None, *, allowed: bool = True
    ) -> Iterator[Config]:
        """Yield all configurations, or all of `names` only; TooManyError if uncountable."""
        order = [name for name in self._order if names is None or name in names]
        values: Config = {}
        pending = [self._options(order, 0, values)]
        # depth first: what exists, and its values, depends on the parameters chosen before
        for _ in range(20_000 + 2 * len(order)):
            step = next(pending[-1], None)
            name = order[len(pending) - 1] if order else ""
            values.pop(name, None)
            if step is None:
                pending.pop()
                if not pending:
                    return
                continue
            if step:
                values[name] = step[0]
            if len(pending) < len(order):
                pending.append(self._options(order, len(pending), values))
            elif not allowed or self.forbids(values) is None:
                yield self.arranged(values)
        raise TooManyError

    def _options(self, order: list[str], depth: int, values: Config) -> Iterator[tuple[Any, ...]]:
        """Return the values that come next, each as a 1-tuple; () for not existing."""
        domain = self.domain(order[depth], values) if depth < len(order) else None
        if domain is None:
            return iter([()])
        if domain.n == math.inf:
            raise TooManyError
        return ((value,) for value in domain.values())


def toward(space: Structure, here: Config, target: Config, name: str) -> Config | None:
    """Return a configuration with one parameter as in the target, and the changes that this forces.

    Children that begin to exist take the target's value, children that no longer do vanish, and a
    value outside its new bounds becomes the target's. None if that is not allowed, or changes
    nothing.
    """

    def choose(parameter: str, domain: Domain) -> Any:
        known = [c[parameter] for c in (here, target) if parameter in c]
        for value in [target[parameter]] if parameter == name else known:
            with suppress(ValueError):
                return domain.clean(value)
        return domain.decode(0.5)

    try:
        built = space.build(choose)
        config = None if built is None else space.check(built)
    except CandidateError:
        return None
    return None if config is None or space.key(config) == space.key(here) else config


def _cleaned(name: str, domain: Domain, config: Mapping[str, Any]) -> Any:
    if domain.n == 0:
        why = f": its range {domain.why}" if isinstance(domain, Empty) else ""
        raise CandidateError(f"{config!r} leaves no value for {name!r}{why}")
    if name not in config:
        raise CandidateError(f"{name!r} is missing in {config!r}")
    try:
        return domain.clean(plain(config[name]))
    except TypeError:
        reason = "it is neither text nor a finite number, True, False, None or a tuple of these"
    except ValueError as error:
        reason = str(error)
    raise CandidateError(f"{name}={config[name]!r}: {reason}")


def _check_names(used: frozenset[str], known: Mapping[str, Parameter], where: str) -> None:
    for name in sorted(used, key=str):
        if name not in known:
            raise SettingError(
                f"{where} names {name!r}, which is not a parameter{did_you_mean(name, known)}"
            )


def _listed(term: Any, known: Mapping[str, Parameter]) -> Domain | None:
    return listed(known[term.name]) if isinstance(term, Param) else None


def _is_number(term: Any, known: Mapping[str, Parameter]) -> bool:
    if isinstance(term, Literal):
        return is_real(term.constant)
    if isinstance(term, Arithmetic):
        return all(_is_number(part, known) for part in term.parts)
    values = _listed(term, known)
    return values is None or all(map(is_real, values.values()))


def _check_dependencies(name: str, parameter: Parameter, known: Mapping[str, Parameter]) -> None:
    """Refuse a parameter that depends on an unknown one, or has bounds that are not numbers."""
    if isinstance(parameter, Bounded):
        for which, bound in parameter.terms().items():
            where = f"{name}: {which}={bound}"
            _check_names(bound.names(), known, where)
            if not _is_number(bound, known):
                raise SettingError(f"{where} is not a number: it names a parameter that is not one")
    _check_names(parameter.names(), known, f"the domain of {name!r}")


def _settled(condition: Condition, known: Mapping[str, Parameter], where: str) -> Condition:
    """Return the condition, checked, with levels written out: then it needs no known parameters."""
    _check_names(condition.names(), known, where)
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


def _check_ascending(condition: Compare, known: Mapping[str, Parameter], where: str) -> None:
    """Refuse an order of two parameters whose levels are numbers in another order."""
    for side in (condition.left, condition.right):
        if not isinstance(side, Param) or known[side.name].scale != "ordinal":
            continue
        levels = [*(_listed(side, known) or Empty("")).values()]
        if all(map(is_real, levels)) and levels != sorted(levels):
            raise SettingError(
                f"{where}: {condition} compares numbers, but the levels of {side.name!r} are not in "
                "ascending order: list them so, or compare with a level"
            )


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
    if not equality:
        _check_ascending(condition, known, where)
    numbers = [_is_number(side, known) for side in (left, right)]
    if all(numbers) or (equality and not any(numbers)):
        return condition
    raise SettingError(
        f"{where}: {condition} compares values that cannot be compared: only numbers and the levels of "
        "an Ordinal have an order, and a number is never equal to text"
    )
