"""scikit-learn's `param_distributions` as a space: lists, and distributions of SciPy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from numbers import Number
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from racer._checks import is_real
from racer.errors import SettingError
from racer.space.domains import plain, token
from racer.space.expressions import And, Condition, In, Not, Param
from racer.space.numeric import Integer, Real
from racer.space.parameters import Categorical, Listed, Ordinal

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

    from racer.space.parameters import Parameter, Scale

_QUANTILES = 1000


@dataclass(frozen=True, eq=False)
class Quantiles(Listed):
    """A distribution of numbers, by a thousand of its quantiles."""

    scale: ClassVar[Scale] = "numeric"
    what: ClassVar[str] = "values"
    name: str
    settings: tuple[str, str]
    values: tuple[float, ...]

    @classmethod
    def of(cls, distribution: Any) -> Quantiles:
        """Return the quantiles of a frozen distribution of SciPy."""
        at = (np.arange(_QUANTILES) + 0.5) / _QUANTILES
        found = [float(f"{value:.10g}") for value in np.asarray(distribution.ppf(at)).tolist()]
        whole = hasattr(distribution.dist, "pmf")
        listed = [int(value) if whole else value for value in found if np.isfinite(value)]
        settings = (repr(distribution.args), repr(distribution.kwds))
        return cls(distribution.dist.name, settings, tuple(sorted(set(listed))))

    def checked(self, name: str) -> Quantiles:
        """Return it; SettingError, with the name, if it has no finite value."""
        if not self.values:
            raise SettingError(f"{name}: the distribution {self.name!r} has no finite quantile")
        return self

    def to_json(self) -> dict[str, Any]:
        """Return the distribution as plain data."""
        return {"distribution": self.name, "settings": list(self.settings)}


def arguments_of(param_distributions: Any) -> tuple[dict[str, Any], Named]:
    """Return the arguments of a Space, and the objects that its values name.

    SettingError for no dict from names to lists or distributions, or several that cannot be joined.
    """
    grids = [param_distributions] if _is_grid(param_distributions) else param_distributions
    if not isinstance(grids, Sequence) or not grids or not all(map(_is_grid, grids)):
        raise SettingError(
            f"param_distributions={param_distributions!r}: give a dict from names of parameters "
            "to lists or SciPy distributions, or a list of such dicts"
        )
    named = Named()
    read = [{name: _parameter(name, given, named) for name, given in g.items()} for g in grids]
    if len(read) == 1:
        return {"parameters": read[0]}, named
    return _joined(read), named


class Named:
    """Objects by the names that stand for them: not plain, or equal to an earlier value."""

    def __init__(self) -> None:
        self.objects: dict[str, dict[str, Any]] = {}  # by parameter
        self._first: dict[Hashable, Any] = {}

    def told_apart(self, name: str, value: Any, key: Hashable) -> Any:
        """Return a value, or a name where the first value of that key is of another type: 1, 1.0."""
        types = _types(value)
        if types == _types(self._first.setdefault((name, key), value)):
            return value
        return self.label(name, self._first.setdefault((name, key, types), value))

    def label(self, name: str, value: Any) -> str:
        """Return the name of an object."""
        known = self.objects.setdefault(name, {})
        label = next((text for text, other in known.items() if other is value), None)
        if label is None:
            text = " ".join(repr(value).split())
            label = text if text not in known else f"{text} #{len(known) + 1}"
            known[label] = value
        return label

    def params(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """Return a configuration with the objects in place of their names."""
        return {
            name: self.objects[name].get(value, value)
            if name in self.objects and isinstance(value, str)
            else value
            for name, value in config.items()
        }


def _types(value: Any) -> Any:
    """Return the types of the numbers in a value."""
    if isinstance(value, tuple | list):
        return tuple(map(_types, value))
    return type(value) if isinstance(value, Number) else None


def _is_grid(given: Any) -> bool:
    return isinstance(given, Mapping) and bool(given)


def _parameter(name: str, given: Any, named: Named) -> Parameter:
    """Return a list or a distribution as a parameter; note which objects got names."""
    if hasattr(given, "rvs"):
        return _of_distribution(name, given)
    if isinstance(given, str) or not isinstance(given, Sequence | np.ndarray) or not len(given):
        raise SettingError(
            f"{name}: {given!r}: give a list of values, or a distribution of scipy.stats"
        )
    values = [_plain(name, value, named) for value in given]
    values = list({token(value): value for value in values}.values())
    if len(values) > 2 and all(map(is_real, values)):
        if all(low < high for low, high in pairwise(values)):
            return Ordinal(values)
        if all(low > high for low, high in pairwise(values)):
            return Ordinal(values[::-1])
    return Categorical(values)


def _plain(name: str, value: Any, named: Named) -> Any:
    """Return a plain value as it is, and of any other its name."""
    try:
        if not isinstance(value, list):  # which would come back as a tuple
            found = plain(value)
            return named.told_apart(name, found, token(found))
    except TypeError:
        pass
    return named.label(name, value)


def _of_distribution(name: str, given: Any) -> Parameter:
    kind = getattr(getattr(given, "dist", None), "name", None)
    if kind is None or not hasattr(given, "ppf"):
        raise SettingError(
            f"{name}: {given!r} is no distribution of scipy.stats: give one, a list, or a "
            "racer.Space"
        )
    low, high = (float(end) for end in given.support())
    if kind == "uniform":
        return Real(low, high)
    if kind in ("loguniform", "reciprocal") and _is_even(given.ppf, low, high):
        return Real(low, high, log=True)
    if kind == "randint":
        return Integer(int(low), int(high))
    return Quantiles.of(given)


def _is_even(quantile: Callable[[float], float], low: float, high: float) -> bool:
    """Return whether a distribution is uniform in the logarithm; with `loc` it is not."""
    # two roots, as the product of the ends may overflow
    return low > 0.0 and math.isclose(quantile(0.5), math.sqrt(low) * math.sqrt(high))


def _joined(grids: Sequence[Mapping[str, Parameter]]) -> dict[str, Any]:
    """Return the arguments of a space of several, selected by one parameter that all of them have.

    Of the others, each exists where its dict has it; where lists differ, a value missing in a dict's
    list is forbidden there.
    """
    chosen = next((name for name in grids[0] if _tells_apart(name, grids)), None)
    if chosen is None:
        raise SettingError(
            "param_distributions is a list of dicts that no parameter separates: give one a list "
            "in each dict, with other values in each, such as 'kernel'"
        )
    parameters: dict[str, Parameter] = {}
    conditions: dict[str, Condition] = {}
    forbidden: list[Condition] = []
    selects = [In(Param(chosen), tuple(_values(grid[chosen]))) for grid in grids]
    for name in dict.fromkeys(name for grid in grids for name in grid):
        having = [i for i, grid in enumerate(grids) if name in grid]
        found = [grids[i][name] for i in having]
        parameters[name] = found[0] if len(set(found)) == 1 else _union(name, found)
        if len(having) < len(grids):
            among = tuple(value for i in having for value in selects[i].among)
            conditions[name] = In(Param(chosen), among)
        if name != chosen and len(set(found)) > 1:
            forbidden += [
                And((selects[i], Not(In(Param(name), tuple(_values(grids[i][name]))))))
                for i in having
                if len(_values(grids[i][name])) < len(_values(parameters[name]))
            ]
    return {"parameters": parameters, "conditions": conditions, "forbidden": forbidden}


def _values(parameter: Parameter) -> list[Any]:
    """Return the values of a list, and nothing for a distribution."""
    if isinstance(parameter, Categorical | Ordinal):
        return list(parameter.domain({}).among)
    return []


def _tells_apart(name: str, grids: Sequence[Mapping[str, Parameter]]) -> bool:
    """Return whether all dicts list other values of a parameter."""
    listed = [{*map(token, _values(grid[name]))} if name in grid else set() for grid in grids]
    return all(listed) and all(one.isdisjoint(other) for one, other in combinations(listed, 2))


def _union(name: str, found: Iterable[Parameter]) -> Categorical:
    listed = [_values(parameter) for parameter in found]
    if not all(listed):
        raise SettingError(
            f"{name}: its distributions differ from dict to dict, and a space has one range for "
            "each parameter: give the same in all of them, or lists"
        )
    return Categorical(list({token(v): v for values in listed for v in values}.values()))
