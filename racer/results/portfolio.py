"""The result of `racer.portfolio`: members on instances, and what the set gains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd

from racer.errors import SettingError
from racer.plots._canvas import COLOURS, MARKERS, axes, curves, legend_beside
from racer.results.aslib import write_scenario
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
        One for each member.

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

    @classmethod
    def of(
        cls,
        members: Sequence[Any],
        instances: Sequence[Any],
        tables: Sequence[NDArray[np.float64]],
        *,
        maximize: bool,
        evaluations: int = 0,
        seed: int = 0,
        tunings: Sequence[TuneResult] = (),
    ) -> Self:
        """Return that of tables (instances, repeats) per member, in which NaN is a failure."""
        values = np.stack(tables, axis=1)
        known = values[np.isfinite(values)]
        if not known.size:
            raise SettingError("no member has a value on any instance: see the failures of tunings")
        worst, best = (known.min(), known.max()) if maximize else (known.max(), known.min())
        is_known = np.isfinite(values)
        return cls(
            tuple(members),
            tuple(instances),
            np.where(is_known, values, 2.0 * worst - best),
            is_known,
            maximize=maximize,
            evaluations=evaluations,
            seed=seed,
            tunings=tuple(tunings),
        )

    @property
    def table(self) -> pd.DataFrame:
        """The mean value of each member (a column) on each instance."""
        index = pd.Index(self.instances, name="instance", tupleize_cols=False)
        return pd.DataFrame(self.values.mean(axis=2), index=index)

    @property
    def oracle(self) -> NDArray[np.float64]:
        """The value of the best member on each instance.

        With repeats, the best is chosen on all but one, and valued on that one, so that luck
        counts for nobody; the mean over which one it is.
        """
        sign = -1.0 if self.maximize else 1.0
        repeats = self.values.shape[2]
        if repeats == 1:
            best: NDArray[np.float64] = sign * (sign * self.values[:, :, 0]).min(axis=1)
            return best
        totals = self.values.sum(axis=2, keepdims=True)
        chosen = (sign * (totals - self.values)).argmin(axis=1)  # (instances, repeats)
        left_out = np.take_along_axis(self.values, chosen[:, None], axis=1)
        means: NDArray[np.float64] = left_out[:, 0].mean(axis=1)
        return means

    @property
    def oracle_value(self) -> float:
        """The mean over instances of the best member on each."""
        return float(self.oracle.mean())

    @property
    def single_best(self) -> int:
        """The member with the best mean over instances."""
        means = self.table.to_numpy().mean(axis=0)
        return int(means.argmax() if self.maximize else means.argmin())

    @property
    def single_best_value(self) -> float:
        """The mean over instances of the single best member."""
        return float(self.table[self.single_best].mean())

    @property
    def gain(self) -> float:
        """By how much the best member on each instance is better than the single best."""
        difference = self.single_best_value - self.oracle_value
        return -difference if self.maximize else difference

    def gain_interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the credible interval of the gain on instances like these.

        By the Bayesian bootstrap (Rubin, 1981): instances have Dirichlet weights.
        """
        if not 0.0 < level < 1.0:
            raise SettingError(f"level={level!r}: give a number between 0 and 1")
        weights = rng_for(self.seed, "gain").dirichlet(np.ones(len(self.instances)), _DRAWS)
        sign = -1.0 if self.maximize else 1.0
        gains = weights @ (sign * (self.table[self.single_best].to_numpy() - self.oracle))
        low, high = np.quantile(gains, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
        return float(low), float(high)

    def __str__(self) -> str:
        low, high = self.gain_interval()
        lines = [f"#{i}: {config}" for i, config in enumerate(self.members)]
        gain = (
            f"{len(self.members)} members on {len(self.instances)} instances: the single best, "
            f"#{self.single_best}, has {self.single_best_value:.4g}, the best on each instance "
            f"{self.oracle_value:.4g}, a gain of {self.gain:.4g} ({low:.4g} to {high:.4g})."
        )
        return "\n".join([gain, *lines, f"{self.evaluations} evaluations; seed {self.seed}."])

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the values of all members, instances in the order of the best value of each."""
        table = self.table.to_numpy()
        best = table.max(axis=1) if self.maximize else table.min(axis=1)
        order = best.argsort(kind="stable")
        ax = axes(ax, 6.4, 3.4)
        x = np.arange(1, len(order) + 1)
        for member in range(table.shape[1]):
            style: dict[str, Any] = {
                "marker": MARKERS[member % 5],
                "color": COLOURS[member % 8],
                "markersize": 4.0,
            }
            ax.plot(x, table[order, member], linestyle="", label=f"#{member}", **style)
        ax.plot(x, best[order], color="#000000", linewidth=0.9, label="best of each")
        curves(ax, "instances, by the value of the best member", "value")
        legend_beside(ax, "member")
        return ax

    def to_aslib(
        self,
        folder: StrPath,
        *,
        name: str = "racer",
        measure: str = "value",
        features: Mapping[str, Sequence[float]] | None = None,
    ) -> None:
        """Write the table as a scenario of ASlib, from which a selector can be learnt.

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
            A name with blanks or signs, or features of another length.
        """
        names = [f"i{place}" for place in range(len(self.instances))]
        values, is_lost = self.values, ~self.is_known
        runs = [
            (
                names[i],
                r + 1,
                f"m{m}",
                float(values[i, m, r]),
                "crash" if is_lost[i, m, r] else "ok",
            )
            for i, m, r in np.ndindex(values.shape)
        ]
        write_scenario(
            folder,
            name,
            measure,
            maximize=self.maximize,
            algorithms={f"m{i}": repr(config) for i, config in enumerate(self.members)},
            instances=names,
            runs=runs,
            features={n: np.asarray(v, dtype=float) for n, v in (features or {}).items()},
        )
