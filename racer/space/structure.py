"""The structure of a space: what exists when, within which bounds, and what is forbidden."""

from __future__ import annotations

import graphlib
import math
from collections.abc import Callable, Hashable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from racer._checks import did_you_mean
from racer.errors import CandidateError, SettingError
from racer.space.meaning import check_bounds, settled
from racer.space.terms import as_condition
from racer.space.values import plain

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Sequence

    from racer.space.conditions import Condition
    from racer.space.domains import Domain
    from racer.space.parameters import Parameter

__all__ = ["COUNTABLE", "CircleError", "Config", "Structure", "TooManyError", "in_order"]

Config = dict[str, Any]
COUNTABLE = 20_000  # configurations that are counted one by one


class TooManyError(Exception):
    """There are more configurations than can be counted."""


class CircleError(SettingError):
    """What depends on itself; `names` has the circle."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(
            f"conditions or bounds go round in a circle: {' -> '.join(names)} (each depends on the "
            "next)"
        )
        self.names = names


def in_order(
    parameters: Mapping[str, Parameter], conditions: Mapping[str, Condition]
) -> tuple[str, ...]:
    """Return the names of the parameters, each after those that it depends on.

    Raises
    ------
    CircleError
    """
    depends = {
        name: sorted(
            {*parameter.names(), *(conditions[name].names() if name in conditions else ())}
        )
        for name, parameter in parameters.items()
    }
    try:
        return tuple(graphlib.TopologicalSorter(depends).static_order())
    except graphlib.CycleError as error:
        raise CircleError(error.args[1][::-1]) from None


class Structure:
    """Checked parameters, conditions and forbidden combinations; see `racer.Space`."""

    def __init__(
        self,
        parameters: Mapping[str, Parameter],
        conditions: Mapping[str, Any],
        forbidden: tuple[Any, ...],
    ) -> None:
        self.parameters = dict(parameters)
        for name, parameter in self.parameters.items():
            check_bounds(name, parameter, self.parameters)
        self.conditions: dict[str, Condition] = {}
        for name, given in conditions.items():
            where = f"the condition of {name!r}"
            if name not in self.parameters:
                raise SettingError(
                    f"{where}: there is no such parameter{did_you_mean(name, self.parameters)}"
                )
            self.conditions[name] = settled(as_condition(given, where), self.parameters, where)
        self.forbidden = tuple(
            settled(as_condition(given, f"forbidden[{i}]"), self.parameters, f"forbidden[{i}]")
            for i, given in enumerate(forbidden)
        )
        self.order = in_order(self.parameters, self.conditions)
        self._fixed = {  # the domains that depend on nothing
            name: parameter.domain({})
            for name, parameter in self.parameters.items()
            if not parameter.names()
        }

    def domain(self, name: str, values: Mapping[str, Any]) -> Domain | None:
        """Return what a parameter may be, given those before it; None if it does not exist."""
        condition = self.conditions.get(name)
        if condition is not None and condition.holds(values) is not True:
            return None
        return self._fixed[name] if name in self._fixed else self.parameters[name].domain(values)

    def build(
        self, choose: Callable[[str, Domain], Any], dead: Counter[str] | None = None
    ) -> Config | None:
        """Choose a value for each parameter that exists.

        None if the bounds of one leave no value; its name is then counted in `dead`.
        """
        values: Config = {}
        for name in self.order:
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
        return {name: values[name] for name in self.parameters if name in values}

    def forbids(self, values: Mapping[str, Any]) -> Condition | None:
        """Return the first forbidden combination that the values show."""
        return next((clause for clause in self.forbidden if clause.holds(values) is True), None)

    def clean(self, config: Any, *, allowed: bool = True) -> Config:
        """Return a configuration in plain values; CandidateError if it is outside the space."""
        if not isinstance(config, Mapping):
            raise CandidateError(
                f"{config!r} is no configuration: give a dict from parameter names to values"
            )
        for name in config:
            if name not in self.parameters:
                raise CandidateError(
                    f"{name!r} in {config!r} is no parameter of the space"
                    f"{did_you_mean(name, self.parameters)}"
                )
        values: Config = {}
        for name in self.order:
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
        if name in self.conditions:
            return f"it exists only when {self.conditions[name]}"
        return f"its bounds need {', '.join(sorted(self.parameters[name].names()))}"

    def key(self, clean: Config) -> tuple[Hashable, ...]:
        """Return what two clean configurations share only if they are the same."""
        tokens: list[Hashable] = []
        for name in self.parameters:
            domain = self.domain(name, clean) if name in clean else None
            tokens.append(None if domain is None else domain.token(clean[name]))
        return tuple(tokens)

    @property
    def free(self) -> tuple[str, ...]:
        """The parameters that can have more than one value."""
        return tuple(name for name in self.parameters if _several(self._fixed.get(name)))

    @property
    def may_be_absent(self) -> bool:
        """Whether there is a parameter that does not exist in every configuration."""
        return bool(self.conditions) or any(p.names() for p in self.parameters.values())

    def related(self) -> frozenset[str]:
        """Return the parameters that others, or forbidden combinations, depend on."""
        used = [parameter.names() for parameter in self.parameters.values()]
        used += [condition.names() for condition in self.conditions.values()]
        used += [clause.names() for clause in self.forbidden]
        return frozenset().union(*used)

    def configurations(
        self, names: frozenset[str] | None = None, *, allowed: bool = True
    ) -> Iterator[Config]:
        """Go through all configurations, or through those of some parameters without the rest.

        Raises
        ------
        TooManyError
            After COUNTABLE steps, and where there are reals.
        """
        order = [name for name in self.order if names is None or name in names]
        values: Config = {}
        pending = [self._options(order, 0, values)]
        for _ in range(COUNTABLE + 2 * len(order)):
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

    @cached_property
    def size(self) -> float:
        """How many configurations there are; infinity for the reals and for too many to count."""
        related = self.related()
        rest = [name for name in self.order if name not in related]
        total: float = 0
        try:
            for values in self.configurations(related):
                domains = [self.domain(name, values) for name in rest]
                counts = [domain.n for domain in domains if domain is not None]
                total += math.prod(counts) if 0 not in counts else 0
        except TooManyError:
            return math.inf
        return total


def _several(domain: Domain | None) -> bool:
    return domain is None or domain.n > 1


def _cleaned(name: str, domain: Domain, config: Mapping[str, Any]) -> Any:
    if domain.n == 0:
        raise CandidateError(f"{config!r} leaves no value for {name!r}: its low is above its high")
    if name not in config:
        raise CandidateError(f"{name!r} is missing in {config!r}")
    try:
        return domain.clean(plain(config[name]))
    except TypeError:
        reason = "it is neither text nor a finite number, True, False, None or a tuple of these"
    except ValueError as error:
        reason = str(error)
    raise CandidateError(f"{name}={config[name]!r}: {reason}")
