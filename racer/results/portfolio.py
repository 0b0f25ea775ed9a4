"""The result of `racer.portfolio`: members on instances, and what the set gains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd

from racer._checks import check_fraction, counted
from racer._numerics import as_costs, mean_of, means_of
from racer.plots import by_instance
from racer.results.aslib import write_scenario
from racer.results.oracle import best_members, best_of_all, best_of_each, failures_behind
from racer.seeding import rng_for

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from _typeshed import StrPath
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from racer.results.tuning import TuneResult

__all__ = ["PortfolioResult"]

_DRAWS = 4000


@dataclass(frozen=True, eq=False)
class PortfolioResult:
    """Configurations of which one is good on each instance.

    Attributes
    ----------
    members : tuple of dict
        In the order in which they were tuned.
    instances : tuple
        Those of the table.
    values : ndarray, shape (instances, members, repeats)
        What `evaluate` returned; a failed evaluation is one range of all values behind the worst.
    is_known : ndarray of bool, of the same shape
        False where an evaluation failed.
    maximize : bool
    evaluations, seed : int
        Evaluations used, without those on held-out instances; the seed that repeats it all.
    tunings : tuple of TuneResult
        One for each member, and that of a further one if it found none, or if an interrupt or an
        error ended it all.
    note : str
        What is missing: "" if nothing is.

    Examples
    --------
    >>> import racer
    >>> space = racer.Space({"x": racer.Integer(0, 9)})
    >>> def evaluate(config, instance, seed):
    ...     return abs(config["x"] - instance)
    >>> found = racer.portfolio(
    ...     space, evaluate, [1, 2, 8, 9], size=2, budget=100, deterministic=True, seed=1
    ... )
    >>> found.evaluations <= 100
    True
    """

    members: tuple[dict[str, Any], ...]
    instances: tuple[Any, ...]
    values: NDArray[np.float64]
    is_known: NDArray[np.bool_]
    maximize: bool = False
    evaluations: int = 0
    seed: int = 0
    tunings: tuple[TuneResult, ...] = ()
    note: str = ""

    @classmethod
    def of(
        cls,
        members: Sequence[Any],
        instances: Sequence[Any],
        values: NDArray[np.float64],
        *,
        maximize: bool,
        **about: Any,
    ) -> Self:
        """Return that of values in which NaN is a failure; SettingError if all of them are."""
        filled, is_known = failures_behind(values, maximize=maximize), np.isfinite(values)
        return cls(tuple(members), tuple(instances), filled, is_known, maximize=maximize, **about)

    @property
    def table(self) -> pd.DataFrame:
        """The mean value of each member (a column) on each instance; NaN where all of it failed.

        Of the evaluations that did not fail, while `values` has a value for those that did.
        """
        index = pd.Index(self.instances, name="instance", tupleize_cols=False)
        means = means_of(np.moveaxis(self.values, 2, 0))
        for place in zip(*np.nonzero(~self.is_known.all(axis=2)), strict=True):
            known = self.values[place][self.is_known[place]]
            means[place] = mean_of(known.tolist()) if len(known) else np.nan
        return pd.DataFrame(means, index=index)

    @property
    def _failures(self) -> list[int]:
        """How many evaluations of each member failed."""
        return [int(n) for n in (~self.is_known).sum(axis=(0, 2))]

    @property
    def oracle(self) -> NDArray[np.float64]:
        """The value of the best member on each instance.

        With repeats, the best is chosen on all but one, and valued on that one, so that luck
        counts for nobody; the mean over which one it is, and over members that tie.
        """
        return best_of_each(self.values, maximize=self.maximize)

    @property
    def oracle_value(self) -> float:
        """The mean over instances of the best member on each."""
        return mean_of(self.oracle.tolist())

    @property
    def single_best(self) -> int:
        """The member with the best mean over instances and repeats; the first of those that tie."""
        costs = as_costs(self._means, maximize=self.maximize)
        return int(best_members(costs, axis=0).argmax())

    @property
    def _means(self) -> NDArray[np.float64]:
        """The mean of each member over instances and repeats."""
        return means_of(np.moveaxis(self.values, 1, 2).reshape(-1, len(self.members)))

    @property
    def single_best_value(self) -> float:
        """The mean over instances of the single best; chosen and valued as the oracle is.

        With repeats, which may choose another one for each, it is not the mean of `single_best`.
        """
        return mean_of(best_of_all(self.values, maximize=self.maximize).tolist())

    @property
    def gain(self) -> float:
        """By how much the best member on each instance is better than the single best.

        With repeats, both are chosen by one evaluation less, so that luck counts for neither. Where
        noise chooses another than the best on an instance, the gain is smaller than that of knowing
        the best; where it chooses another single best, larger. The single best is valued on the
        instances that chose it, which makes the gain smaller. With one repeat of a noisy objective
        it is too large.
        """
        one, each = self.single_best_value, self.oracle_value
        return each - one if self.maximize else one - each

    def gain_interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the credible interval of the gain on instances like these.

        By the Bayesian bootstrap (Rubin, 1981): instances have Dirichlet weights, and members stay
        those chosen. Of `gain`, not of what knowing the best would gain.
        """
        tail = (1.0 - check_fraction(level, "level")) / 2.0
        weights = rng_for(self.seed, "gain").dirichlet(np.ones(len(self.instances)), _DRAWS)
        sign = -1.0 if self.maximize else 1.0
        single = best_of_all(self.values, maximize=self.maximize)
        gains = weights @ (sign * (single - self.oracle))
        low, high = np.quantile(gains, [tail, 1.0 - tail])
        return float(low), float(high)

    def __str__(self) -> str:
        lines = [f"#{i}: {config}" for i, config in enumerate(self.members)]
        last = f"{counted(self.evaluations, 'evaluation')}; seed {self.seed}."
        return "\n".join(
            [*filter(None, [self.note]), self._answer(), *lines, *self._failed(), last]
        )

    def _failed(self) -> list[str]:
        """Return in a sentence how many evaluations failed, and what they count as."""
        each = len(self.instances) * self.values.shape[2]
        failed = [f"{n} of {each} of #{i}" for i, n in enumerate(self._failures) if n]
        behind = "counted one range of all values behind the worst"
        return [f"Failed evaluations, {behind}: {', '.join(failed)}."] if failed else []

    def _answer(self) -> str:
        """Return the result in a sentence or two."""
        m, best = len(self.members), self.single_best
        has = f"has a mean of {self._means[best]:z.4g}"
        answer = f"{counted(m, 'member')} on {counted(len(self.instances), 'instance')}: "
        if m == 1:
            return f"{answer}it {has}."
        answer += f"the single best, #{best}, {has}"
        low, high = self.gain_interval()
        gain = f"{self.gain:z.4g} ({low:z.4g} to {high:z.4g})"
        each = f"the best on each instance {self.oracle_value:z.4g}"
        if not (others := self.values.shape[2] - 1):
            return f"{answer}, {each}, a gain of {gain}."
        by = "the other evaluation" if others == 1 else f"the other {others} evaluations"
        return (
            f"{answer}. Chosen by {by}, the single best has {self.single_best_value:z.4g}, {each}: "
            f"a gain of {gain}."
        )

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the values of all members, instances in the order of the best value of each.

        Without failed evaluations, which the legend counts.
        """
        names = [f"#{i}{f', {n} failed' * bool(n)}" for i, n in enumerate(self._failures)]
        return by_instance(self.table, names, maximize=self.maximize, ax=ax)

    def to_aslib(
        self,
        folder: StrPath,
        *,
        name: str = "racer",
        measure: str = "value",
        features: Mapping[str, Sequence[float]] | None = None,
    ) -> None:
        """Write the table as a scenario of ASlib, from which a selector can be learnt.

        Members are m0, m1, .., with their configurations in `description.txt`, and instances i0,
        i1, .., each of which `readme.txt` shows.

        Parameters
        ----------
        folder : str or path-like
            Made if it is missing; its files are replaced.
        name, measure : str
            Of the scenario, and of what the values are: words without blanks.
        features : mapping of str to sequence, optional
            By name, a number for each instance (NaN: not known).

        Raises
        ------
        SettingError
            A name with blanks or signs, one of a column of ASlib (as "algorithm"), or features of
            another length.
        """
        write_scenario(
            folder,
            name,
            measure,
            self.members,
            self.instances,
            self.values,
            self.is_known,
            features or {},
            maximize=self.maximize,
        )
