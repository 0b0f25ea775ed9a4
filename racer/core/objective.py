"""The objective of a race of several metrics: directions and combination."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Mapping
from copy import copy
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from racer._checks import check_bounds, did_you_mean, flag, is_one_of, is_real
from racer.deciders.decider import Goal, GoalKind
from racer.errors import SettingError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from racer.core.table import Row, Table

__all__ = ["Aim", "Constrained", "Metric", "Objective", "Pareto", "Within"]

Direction = Literal["min", "max", "minimize", "maximize"]
_DIRECTIONS = get_args(Direction)

_MOST = 8  # metrics of a front: beyond that hardly any candidate is dominated
_RESERVED = {"spend": "which is the price of an evaluation"}


@dataclass(frozen=True)
class Metric:
    """One metric that `evaluate` returns, with its properties.

    Parameters
    ----------
    direction : {"min", "max"}, or {"minimize", "maximize"}
        Whether smaller or larger values are better.
    exact : bool
        It depends on the candidate only and has no noise: a price, the size of a model.
    margin : float >= 0
        For a front: a candidate also leaves it if another is nowhere worse by more than this, so
        that differences which nobody cares about keep nobody in. It is for elimination alone:
        `probability_front` is about the front itself, as fronts within margins are not unique.
    bounds : (float, float), optional
        The smallest and the largest value there can be, as of scores from 0 to 1. With them
        `racer.Within` and `racer.Constrained` make no assumption about the law of the values; give
        them wherever values are right or wrong.

    Raises
    ------
    SettingError
        A setting out of range.

    Examples
    --------
    >>> import racer
    >>> how = {"accuracy": racer.Metric("max", bounds=(0, 1)), "price": racer.Metric(exact=True)}
    """

    direction: Direction = "min"
    _: KW_ONLY
    exact: bool = False
    margin: float = 0.0
    bounds: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if not is_one_of(self.direction, _DIRECTIONS):
            raise SettingError(f'Metric({reprlib.repr(self.direction)}): give "min" or "max"')
        object.__setattr__(self, "direction", self.direction[:3])
        object.__setattr__(self, "exact", flag(self.exact, "exact"))
        if not is_real(self.margin) or not 0.0 <= self.margin < math.inf:
            raise SettingError(f"Metric(margin={self.margin!r}): give a finite number >= 0")
        object.__setattr__(self, "margin", float(self.margin))
        if self.bounds is not None:
            object.__setattr__(self, "bounds", check_bounds(self.bounds))

    @property
    def sign(self) -> float:
        """1 if smaller is better, else -1: the factor between values and costs."""
        return 1.0 if self.direction == "min" else -1.0

    def plain(self) -> str | dict[str, Any]:
        """Return it as plain data, from which it can be made again."""
        more: dict[str, Any] = {"exact": True} if self.exact else {}
        more |= {"margin": self.margin} if self.margin else {}
        more |= {} if self.bounds is None else {"bounds": list(self.bounds)}
        return {"direction": self.direction, **more} if more else self.direction


class Combined:
    """A goal of several metrics: which decide, and how they are combined.

    Attributes
    ----------
    names : tuple of str
        The metrics that decide; the first is the value that tables and events show.
    metrics : mapping of str to Metric, or None
        All that `evaluate` returns; None where their directions are known otherwise.
    """

    names: tuple[str, ...]
    metrics: Mapping[str, Metric] | None

    def directions(self) -> Mapping[str, Metric]:
        """Return the metrics; SettingError if their directions were not given."""
        if self.metrics is None:
            known = ", ".join(f'{name!r}: "min"' for name in self.names)
            raise SettingError(
                f'goal={self!r} has no directions: give {{{known}}}, "max" where larger is better, '
                "in place of the names"
            )
        return self.metrics

    @property
    def decisive(self) -> Objective:
        """The objective without directions, or the name of the only metric that decides."""
        found: Any = copy(self)
        found.metrics = None
        return self.names[0] if len(self.names) == 1 else found

    @staticmethod
    def over(metrics: Mapping[str, Any], objective: Any) -> Combined:
        """Return the goal that is an objective over these metrics."""
        first = objective if isinstance(objective, str) else objective.names[0]
        ordered = {first: metrics[first], **metrics}
        if isinstance(objective, Pareto):
            return Pareto(metrics, *objective.names)
        if isinstance(objective, Within):
            return Within(ordered, **objective.tolerances)
        limits = {} if isinstance(objective, str) else objective.constraints
        return Constrained(ordered, **limits)

    def _shown(self, limits: Mapping[str, object]) -> str:
        known = None if self.metrics is None else _plain(self.metrics)
        more = "".join(f", {name}={limit!r}" for name, limit in limits.items())
        return f"{type(self).__name__}({known or self.names[0]!r}{more})"


class Pareto(Combined):
    """Race to the front: the candidates that no other is better than in every metric.

    A candidate leaves when there is evidence that one other is better in all of these metrics.

    Parameters
    ----------
    metrics : mapping of str to "min", "max" or Metric
        Two to eight metrics that `evaluate` returns. The first is the value that tables and events
        show. In an Optuna study, which has directions, the names alone.
    *names : str
        The metrics that decide, if others are to be recorded only.

    Examples
    --------
    >>> import racer
    >>> racer.Pareto({"error": "min", "dollars": "min"})
    Pareto({'error': 'min', 'dollars': 'min'})
    """

    def __init__(self, metrics: Mapping[str, Direction | Metric] | str, *names: str) -> None:
        given: Any = metrics
        self.metrics = _checked_metrics(given) if isinstance(given, Mapping) else None
        chosen: tuple[Any, ...] = names or tuple(self.metrics or ())
        self.names = chosen if self.metrics is not None else (given, *names)
        named: tuple[Any, ...] = self.names
        if not all(isinstance(name, str) and name for name in named):
            raise SettingError(f"Pareto{self.names!r}: give names of metrics, and directions")
        if not 2 <= len(self.names) <= _MOST or len(set(self.names)) < len(self.names):
            raise SettingError(
                f"Pareto{self.names!r}: give two to {_MOST} metrics, each once; beyond that hardly any "
                "candidate is worse than another in all of them"
            )

    def __repr__(self) -> str:
        if self.metrics is None:
            return f"Pareto({', '.join(map(repr, self.names))})"
        names = () if self.names == (*self.metrics,) else self.names
        return f"Pareto({', '.join([repr(_plain(self.metrics)), *map(repr, names)])})"

    def plain(self) -> dict[str, Any]:
        """Return it as plain data, from which it can be made again."""
        return {"pareto": list(self.names)}

    def goal(self, metrics: Mapping[str, Metric]) -> Goal:
        """Return the goal for deciders."""
        return _goal("front", self.names, metrics)


class Within(Combined):
    """Find the best candidate in one metric among candidates that are nearly the best in others.

    Parameters
    ----------
    metrics : mapping of str to "min", "max" or Metric
        What `evaluate` returns. The first without a tolerance is raced for; further ones without
        are recorded. In an Optuna study, which has directions, the name alone.
    **tolerances : float >= 0
        By how much the mean of other metrics may be worse than the best mean of all candidates.

    Examples
    --------
    >>> import racer
    >>> racer.Within({"dollars": "min", "error": "min"}, error=0.01)
    Within({'dollars': 'min', 'error': 'min'}, error=0.01)
    """

    def __init__(
        self, metrics: Mapping[str, Direction | Metric] | str, /, **tolerances: float
    ) -> None:
        limits: dict[str, Any] = tolerances
        self.metrics, self.names = _names("Within", metrics, limits, "error=0.01")
        for name, limit in limits.items():
            if not is_real(limit) or not 0.0 <= limit < math.inf:
                raise SettingError(f"Within(.., {name}={limit!r}): give a number >= 0")
        self.tolerances: dict[str, float] = {name: float(x) for name, x in limits.items()}

    def __repr__(self) -> str:
        return self._shown(self.tolerances)

    def plain(self) -> dict[str, Any]:
        """Return it as plain data, from which it can be made again."""
        return {"metric": self.names[0], "within": dict(self.tolerances)}

    def goal(self, metrics: Mapping[str, Metric]) -> Goal:
        """Return the goal for deciders."""
        return _goal("within", self.names, metrics, tuple(self.tolerances.values()))


class Constrained(Combined):
    """Find the best candidate in one metric among candidates that are good enough in others.

    Parameters
    ----------
    metrics : mapping of str to "min", "max" or Metric
        What `evaluate` returns. The first without a constraint is raced for; further ones without
        are recorded. In an Optuna study, which has directions, the name alone.
    **constraints : (str, float)
        Conditions on the means of other metrics: ``("<=", 0.2)`` if smaller is better,
        ``(">=", 0.8)`` if larger is better. Without any, one metric decides.

    Examples
    --------
    >>> import racer
    >>> racer.Constrained({"dollars": "min", "error": "min"}, error=("<=", 0.2))
    Constrained({'dollars': 'min', 'error': 'min'}, error=('<=', 0.2))
    """

    def __init__(
        self, metrics: Mapping[str, Direction | Metric] | str, /, **constraints: tuple[str, float]
    ) -> None:
        given: dict[str, Any] = constraints
        self.metrics, self.names = _names("Constrained", metrics, given, 'error=("<=", 0.2)')
        for name, constraint in given.items():
            if (
                not isinstance(constraint, list | tuple)
                or len(constraint) != 2
                or constraint[0] not in ("<=", ">=")
                or not is_real(constraint[1])
                or not math.isfinite(constraint[1])
            ):
                raise SettingError(
                    f"Constrained(.., {name}={reprlib.repr(constraint)}): give "
                    '("<=", number) or (">=", number)'
                )
        self.constraints: dict[str, tuple[str, float]] = {
            name: (c[0], float(c[1])) for name, c in given.items()
        }

    def __repr__(self) -> str:
        return self._shown(self.constraints)

    def plain(self) -> dict[str, Any]:
        """Return it as plain data, from which it can be made again."""
        limits = {name: list(limit) for name, limit in self.constraints.items()}
        return {"metric": self.names[0], "constrained": limits}

    def goal(self, metrics: Mapping[str, Metric]) -> Goal:
        """Return the goal for deciders; SettingError for a constraint in the wrong direction."""
        limits = []
        for name, (relation, limit) in self.constraints.items():
            metric = metrics[name]
            fitting = "<=" if metric.sign > 0 else ">="
            if relation != fitting:
                raise SettingError(
                    f"{self}: {name!r} is {_DIRECTED[metric.direction]}, so its "
                    f"constraint is {fitting}, not {relation}"
                )
            limits.append(limit * metric.sign)
            bounds = metric.bounds
            if bounds is not None and not bounds[0] <= limit <= bounds[1]:
                raise SettingError(
                    f"{self}: {limit:g} is outside the bounds of {name!r}, {bounds}: every "
                    "candidate, or none, would satisfy it"
                )
        return _goal("constrained", self.names, metrics, tuple(limits))


Objective = str | Pareto | Within | Constrained
_DIRECTED = {"min": "minimised", "max": "maximised"}


def _names(
    kind: str, given: Any, limits: Mapping[str, Any], example: str
) -> tuple[Mapping[str, Metric] | None, tuple[str, ...]]:
    """Return the metrics, and the names of the deciding metrics, the raced one first."""
    metrics = _checked_metrics(given) if isinstance(given, Mapping) else None
    first = given if metrics is None else next((n for n in metrics if n not in limits), None)
    alone = not limits and (kind == "Within" or metrics is None)
    if not isinstance(first, str) or not first or alone or first in limits:
        raise SettingError(
            f"{kind}({reprlib.repr(given)}, ..): give the metric that is raced for, and at least "
            f'one other by name, {kind}({{"dollars": "min", "error": "min"}}, {example})'
        )
    return metrics, (first, *limits)


def _plain(metrics: Mapping[str, Metric]) -> dict[str, Any]:
    return {name: metric.plain() for name, metric in metrics.items()}


def _goal(
    kind: GoalKind,
    names: Iterable[str],
    metrics: Mapping[str, Metric],
    limits: tuple[float, ...] = (),
) -> Goal:
    found = [metrics[name] for name in names]
    if all(metric.exact for metric in found):
        raise SettingError(
            f"all of {', '.join(map(repr, names))} are known exactly: there is nothing to race"
        )
    return Goal(
        kind=kind,
        exact=tuple(metric.exact for metric in found),
        margins=tuple(metric.margin for metric in found),
        limits=limits,
        bounds=tuple(
            None if m.bounds is None else (min(b := [m.sign * x for x in m.bounds]), max(b))
            for m in found
        ),
    )


@dataclass(frozen=True, eq=False)
class Aim:
    """Metrics and objective of a race, checked; every direction is turned here.

    Attributes
    ----------
    metrics : dict of str to Metric
        All that `evaluate` returns.
    objective : str, Pareto, Within or Constrained
    """

    metrics: Mapping[str, Metric]
    objective: Objective

    @classmethod
    def of(cls, metrics: Any, objective: Any) -> Aim | None:
        """Return the checked objective; None without metrics; SettingError if invalid."""
        if metrics is None:
            if objective is None:
                return None
            raise SettingError(
                f"{objective!r} without metrics: name those that evaluate returns, and their "
                'directions, {"error": "min", ..}'
            )
        checked = _checked_metrics(metrics)
        if objective is None:
            if len(checked) > 1:
                raise SettingError(
                    f"several metrics, {', '.join(map(repr, checked))}: name the goal, with "
                    f"objective={next(iter(checked))!r} (the others are recorded), "
                    f"racer.Pareto({', '.join(map(repr, checked))}), racer.Within(..) or "
                    "racer.Constrained(..)"
                )
            objective = next(iter(checked))
        found = _as_objective(objective)
        names = (found,) if isinstance(found, str) else found.names
        for name in names:
            if name not in checked:
                raise SettingError(
                    f"{found!r}: {name!r} is none of the metrics "
                    f"{', '.join(map(repr, checked))}{did_you_mean(name, checked)}"
                )
        if not isinstance(found, str):
            found.goal(checked)
        return cls(checked, found)

    @property
    def deciding(self) -> tuple[str, ...]:
        """The metrics that decide, the value's metric first."""
        return (self.objective,) if isinstance(self.objective, str) else self.objective.names

    @property
    def names(self) -> tuple[str, ...]:
        """All metrics, the value's metric first."""
        first = self.deciding[0]
        return (first, *(name for name in self.metrics if name != first))

    @property
    def maximize(self) -> bool:
        """Whether larger values are better: of the metric that is the value."""
        return self.metrics[self.names[0]].direction == "max"

    @property
    def is_front(self) -> bool:
        """Whether the goal is a front, of which no candidate is the best."""
        return isinstance(self.objective, Pareto)

    @property
    def goal(self) -> Goal | None:
        """The goal for deciders; None where one number per cell decides."""
        return None if isinstance(self.objective, str) else self.objective.goal(self.metrics)

    def tables(self, known: Table, names: Iterable[str] | None = None) -> dict[str, Table]:
        """Return a table of each metric, or of these, in the order of `names`."""
        chosen = self.names if names is None else names
        return {
            name: known.of_metric(name, maximize=self.metrics[name].direction == "max")
            for name in chosen
        }

    def costs(self, row: Row) -> NDArray[np.float64]:
        """Return the metrics that decide as costs, (k, d), or (k,) of one; +inf: failed."""
        if isinstance(self.objective, str):
            return row.costs(maximize=self.maximize)
        signs = np.array([self.metrics[name].sign for name in self.deciding])
        costs = signs * np.stack([row.of_metric(name) for name in self.deciding], axis=1)
        return np.where(np.isnan(costs), np.inf, costs)


def _checked_metrics(given: Any) -> dict[str, Metric]:
    """Return metrics by name; SettingError for other objects."""
    if not isinstance(given, Mapping) or not given:
        raise SettingError(
            f"{reprlib.repr(given)} as metrics: give names and directions, "
            '{"error": "min", "accuracy": "max"}'
        )
    found: dict[str, Metric] = {}
    for name, metric in given.items():
        if not isinstance(name, str) or not name.strip() or not name.isprintable():
            raise SettingError(f"{reprlib.repr(given)}: {name!r} is no name of a metric")
        if name in _RESERVED:
            raise SettingError(f"the metric {name!r} is reserved, {_RESERVED[name]}: take another")
        found[name] = _as_metric(name, metric)
    return found


def _as_metric(name: str, given: Any) -> Metric:
    """Return a metric, also from its direction or from plain data."""
    if isinstance(given, Metric):
        return given
    if isinstance(given, Mapping):
        known = ("direction", "exact", "margin", "bounds")
        if unknown := next((key for key in given if key not in known), None):
            raise SettingError(
                f"the metric {name!r} has {unknown!r}: give {', '.join(known)}"
                f"{did_you_mean(unknown, known)}"
            )
        return Metric(**given)
    if not is_one_of(given, _DIRECTIONS):
        raise SettingError(
            f'{{{name!r}: {reprlib.repr(given)}}}: give "min", "max" or racer.Metric(..)'
        )
    return Metric(given)


def _as_objective(given: Any) -> Objective:
    """Return an objective, also from plain data; SettingError for anything else."""
    if isinstance(given, str | Pareto | Within | Constrained):
        return given
    if isinstance(given, Mapping):
        keys, kinds = set(given), [kind for kind in _COMBINED if kind in given]
        limits = given[kinds[0]] if kinds else None
        if keys == {"metric"} and isinstance(given["metric"], str):
            return given["metric"]
        if keys == {"pareto"} and isinstance(given["pareto"], list | tuple):
            return Pareto(*given["pareto"])
        is_whole = keys == {"metric", *kinds} and len(kinds) == 1
        if is_whole and isinstance(limits, Mapping) and all(isinstance(k, str) for k in limits):
            return _COMBINED[kinds[0]](given["metric"], **limits)
    raise SettingError(
        f"objective={reprlib.repr(given)}: give the name of a metric, racer.Pareto(..), "
        "racer.Within(..) or racer.Constrained(..)"
    )


_COMBINED: Mapping[str, type[Within | Constrained]] = {
    "within": Within,
    "constrained": Constrained,
}
