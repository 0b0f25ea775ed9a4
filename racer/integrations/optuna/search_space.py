"""The search space: the parameters of a trial, and parameters as the axes of a sampler."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.trial import BaseTrial

from racer._checks import with_article
from racer.errors import SettingError
from racer.space.distributions import from_distribution
from racer.space.domains import Choices, Continuum

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from racer.space.domains import Domain


Suggest = Callable[[BaseTrial], Any] | Mapping[str, BaseDistribution]


def checked_suggest(suggest: Suggest) -> Callable[[BaseTrial], Any]:
    """Return the function for the configuration of a trial, open or recorded."""
    if isinstance(suggest, Mapping):
        space = dict(suggest)
        if not space or not all(isinstance(d, BaseDistribution) for d in space.values()):
            raise SettingError("suggest is a dict: give {name: optuna distribution, ..}")
        return lambda trial: {name: _suggested(trial, name, d) for name, d in space.items()}
    if not callable(suggest):
        raise SettingError(
            f"suggest is {with_article(suggest)}: give suggest(trial) -> config, or "
            "{name: optuna distribution, ..}"
        )
    try:
        inspect.signature(suggest).bind(None)
    except TypeError as error:
        raise SettingError(f"suggest cannot be called as suggest(trial): {error}") from None
    except ValueError:  # some builtins have no signature
        pass
    return suggest


def _suggested(trial: BaseTrial, name: str, distribution: Any) -> Any:
    if isinstance(distribution, CategoricalDistribution):
        return trial.suggest_categorical(name, distribution.choices)
    is_whole = isinstance(distribution, IntDistribution)
    suggest: Any = trial.suggest_int if is_whole else trial.suggest_float
    low, high = distribution.low, distribution.high
    return suggest(name, low, high, step=distribution.step, log=distribution.log)


class Axis:
    """One parameter: its values as fractions u of its range, 0 <= u <= 1."""

    def __init__(self, distribution: BaseDistribution) -> None:
        self.distribution = distribution
        self.n_choices: int = 0  # of numbers
        self._domain: Domain | _Wide
        if isinstance(distribution, CategoricalDistribution):
            self.n_choices = len(distribution.choices)
            self._domain = Choices(tuple(range(self.n_choices)))
        else:
            numbers: Domain = from_distribution(distribution).domain({})
            self._domain = numbers if numbers.n else _Wide(distribution)

    @property
    def n_few(self) -> int:
        """The number of values, 0 if there are more than a few."""
        return int(self._domain.n) if self._domain.n <= 32 else 0

    def encode(self, value: Any) -> float:
        """Return the place of a value in the range; NaN if it is not in the distribution."""
        try:
            internal = self.distribution.to_internal_repr(value)
        except ValueError:
            return math.nan
        if not self.distribution._contains(internal):  # noqa: SLF001  (Optuna offers nothing else)
            return math.nan
        return self._domain.encode(int(internal) if self.n_choices else internal)

    def decode(self, u: float) -> Any:
        """Return the value at u, as the objective gets it."""
        value = self._domain.decode(u)
        if self.n_choices:
            return self.distribution.to_external_repr(value)
        return int(value) if isinstance(self.distribution, IntDistribution) else float(value)


class _Wide:
    """A grid with too many points to number: exact only to the precision of a float."""

    n = math.inf

    def __init__(self, distribution: Any) -> None:
        self._low, self._high = distribution.low, distribution.high
        self._step = distribution.step or 1
        self._reals = Continuum(float(self._low), float(self._high), distribution.log)

    def decode(self, u: float) -> Any:
        steps = round((self._reals.decode(u) - self._low) / self._step)
        return min(self._low + steps * self._step, self._high)

    def encode(self, value: float) -> float:
        return self._reals.encode(value)


class Axes:
    """Several parameters, by name: configurations as vectors, NaN for absent parameters."""

    def __init__(self, distributions: Mapping[str, BaseDistribution]) -> None:
        self.distributions: dict[str, BaseDistribution] = dict(distributions)
        self.axes: dict[str, Axis] = {name: Axis(d) for name, d in distributions.items()}
        self.choices: NDArray[np.intp] = np.array(
            [axis.n_choices for axis in self.axes.values()], dtype=np.intp
        )

    def __len__(self) -> int:
        return len(self.axes)

    def encode(self, params: Mapping[str, Any]) -> NDArray[np.float64]:
        """Return a configuration as a vector, shape (d,)."""
        axes = self.axes.items()
        return np.array([axis.encode(params[n]) if n in params else math.nan for n, axis in axes])

    def decode(self, vector: NDArray[np.float64]) -> dict[str, Any]:
        """Return the configuration at a vector without NaN."""
        places = zip(self.axes.items(), vector.tolist(), strict=True)
        return {name: axis.decode(u) for (name, axis), u in places}


def joined(one: Any, other: Any) -> Any:
    """Return a distribution with the values of both; `other`, the later one, where none has."""
    is_number = isinstance(one, FloatDistribution | IntDistribution)
    if one == other or type(one) is not type(other) or not is_number:
        return other
    if (one.log, one.step) != (other.log, other.step):
        return other
    low, high = min(one.low, other.low), max(one.high, other.high)
    of: Any = FloatDistribution if isinstance(one, FloatDistribution) else IntDistribution
    finest = None if of is FloatDistribution else 1
    return of(low, high, log=one.log, step=one.step if _aligned(one, other) else finest)


def _aligned(one: Any, other: Any) -> bool:
    if one.step is None:
        return True
    steps = (other.low - one.low) / one.step
    # fraction of a step, as in Optuna
    return bool(abs(steps - round(steps)) < 1e-8)


class _Rule(NamedTuple):
    """Parameter `about` exists where parameter `by`, which has few values, has certain ones."""

    about: int
    by: int
    exists: NDArray[np.intp]  # by value of `by`, last its absence: 1 yes, 0 no, -1 never seen


class Presence:
    """Conditions of a define-by-run space, learnt from its trials.

    A parameter that only some trials had is taken to depend on one with few values where each of
    these values occurred either always or never with it. Parameters that cannot be explained so
    exist where they do in the best trial. `vectors` (n, d) are trials, NaN where a parameter is
    absent; `n_values` (d,): the number of values of each parameter, 0 for more than a few.
    """

    def __init__(self, vectors: NDArray[np.float64], n_values: Sequence[int]) -> None:
        exists = ~np.isnan(vectors)
        self._n_values = n_values
        self._rules: list[_Rule] = []
        self.optional: NDArray[np.intp] = np.flatnonzero(~exists.all(axis=0))
        certain = [j for j in range(vectors.shape[1]) if j not in set(self.optional.tolist())]
        cells = {j: self._cells(vectors[:, j], j) for j, n in enumerate(n_values) if n}
        unexplained = self.optional.tolist()

        def explain(about: int) -> _Rule | None:
            return self._explain(about, exists[:, about], certain, cells)

        while found := [rule for rule in map(explain, unexplained) if rule is not None]:
            self._rules += found
            certain += [rule.about for rule in found]
            unexplained = [j for j in unexplained if j not in set(certain)]

    def __call__(
        self, vectors: NDArray[np.float64], example: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        """Return which parameters `vectors` (k, d) have; without a rule, as in `example` (d,)."""
        exists = np.ones(vectors.shape, dtype=bool)
        exists[:, self.optional] = ~np.isnan(example[self.optional])
        for about, by, told in self._rules:
            at = np.where(exists[:, by], vectors[:, by], np.nan)
            known = told[self._cells(at, by)]
            exists[:, about] = np.where(known >= 0, known == 1, exists[:, about])
        return exists

    def _cells(self, places: NDArray[np.float64], j: int) -> NDArray[np.intp]:
        """Return the index of the value at each place; n where the parameter is absent."""
        n = self._n_values[j]
        absent = np.isnan(places)
        cells = np.minimum(np.where(absent, 0.0, places) * n, n - 1).astype(np.intp)
        return np.where(absent, n, cells)

    def _explain(
        self,
        about: int,
        exists: NDArray[np.bool_],
        certain: Sequence[int],
        cells: dict[int, NDArray[np.intp]],
    ) -> _Rule | None:
        """Return the rule for a parameter that has the fewest values seen, or None."""
        rules = []
        for by in [by for by in certain if by in cells]:
            n = self._n_values[by] + 1
            have = np.bincount(cells[by][exists], minlength=n)
            have_not = np.bincount(cells[by][~exists], minlength=n)
            if not (have * have_not).any():
                told = np.where(have > 0, 1, np.where(have_not > 0, 0, -1))
                rules.append(_Rule(about, by, told))
        return min(rules, key=lambda rule: np.count_nonzero(rule.exists >= 0), default=None)
