"""Which parameters mattered, by the surrogate of a tuning."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import sobol_indices, uniform

from racer._numerics import one_blas_thread
from racer.core.table import with_success
from racer.model.effects import Effects, natural_effects, unit_near
from racer.model.relevance import Relevance
from racer.model.scales import in_one_scale
from racer.plots import bars
from racer.plots._canvas import empty
from racer.render.notebook import Displayed
from racer.render.sections import Grid
from racer.seeding import rng_for
from racer.space.vectors import choice_counts, features

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from racer.render.sections import Piece
    from racer.results.base import Result
    from racer.space.space import Space


_LEARNT = 300  # candidates at most
_DISTANCES = 4e6  # of single parameters, between the candidates that are learnt from
_LEAST = 20  # candidates to learn from
_POOR = 0.3  # R squared below which nothing is said
_WORK = 3e8  # distances of single parameters to be computed
_GRID = 60  # positions of a parameter, around the best: as many in each of up to 6 values
_FEW = 100  # values of a parameter; more of them are as good as a continuum
_CELLS = 5040  # parts of a parameter's range, which each of up to ten values has as many of
_NEGLIGIBLE = 1e-12  # variance
_SHORTEST = 1e-5  # of the limit of run times: shorter ones count as that
# A model of logarithms is tried where the largest value is so many times as far from the median as
# the least, and taken if it gives a value, by all others, so much more of a log density, and its R
# squared is not worse by more than the third.
_TAIL, _DENSER, _WORSE = 10.0, 1.0, 0.1
_BELOW = 0.1  # of the range from the least value to the median: where logarithms begin
_MOST_LOG = 300.0  # of a value in its unit


@dataclass(frozen=True, eq=False, repr=False)
class Importance(Displayed):
    """Which parameters mattered, by a Gaussian process with a length scale per parameter.

    It is fitted to the costs of the first candidates of the tuning, of which many are spread over the
    whole space; the tuning's own surrogate, which has one length scale for all parameters, is
    quicker, but takes inert parameters for important ones.

    Costs are the objective's: all in one unit, also on instances with other scales, where a
    decider compares means. Otherwise instances whose scales differ by more than chance
    count alike. Of run times it is the logarithm; of several metrics, the first that decides.
    Where a few costs are far above the rest, the process may be one of their logarithms.

    Attributes
    ----------
    parameters : tuple of str
        The parameters that are not fixed.
    total : tuple of float
        Total Sobol index of each: which part of the variance over the whole space would remain
        if all others were known. They sum to more than 1 where parameters interact. NaN if
        there is no statement.
    local : tuple of float
        Around the best: the variance when only this parameter varies over its range, as a part of
        the sum over all parameters. NaN where it does not exist in the best.
    r_squared : float
        Of the surrogate's predictions for candidates that it has not seen (leave-one-out): the
        part of their variance that it explains. Below 0.3 nothing is shown. Costs are noisy, so
        it is less than 1 even for the true function.
    candidates : int
        How many it has learnt from.
    metric : str or None
        The metric that is explained, if there are several.
    """

    parameters: tuple[str, ...]
    total: tuple[float, ...]
    local: tuple[float, ...]
    r_squared: float
    candidates: int
    metric: str | None = None

    @property
    def is_poor(self) -> bool:
        """Whether the surrogate explains too little for a statement."""
        return not self.r_squared >= _POOR

    @property
    def order(self) -> tuple[str, ...]:
        """The parameters, the most important first by the total index; as given if it is poor."""
        if self.is_poor:
            return self.parameters
        ranked = np.argsort(-np.nan_to_num(self.total), kind="stable")
        return tuple(self.parameters[i] for i in ranked)

    def to_frame(self) -> pd.DataFrame:
        """Return parameter, total and local as a data frame, in the order of the parameters."""
        import pandas as pd  # noqa: PLC0415

        columns = {"parameter": self.parameters, "total": self.total, "local": self.local}
        return pd.DataFrame(columns)

    @property
    def words(self) -> str:
        """How far it can be trusted."""
        if self.candidates < _LEAST:
            return (
                f"{self.candidates} candidates are too few for an importance of parameters: at "
                f"least {_LEAST} are needed."
            )
        evidence = f"leave-one-out R² = {self.r_squared:.2f}, from {self.candidates} candidates"
        if self.is_poor:
            return (
                f"The importance of parameters is unknown: the surrogate explains too little of "
                f"what it has not seen ({evidence}; at least {_POOR} are needed)."
            )
        of = "" if self.metric is None else f" of {self.metric!r}"
        return (
            f"By a surrogate{of} ({evidence}). Total: which part of the variance over the whole space "
            "would remain if all other parameters were known. Local: which part of the variance "
            "around the best, one parameter varied at a time. A conditional parameter counts "
            "where it exists; where it does not, it changes nothing."
        )

    def _pieces(self) -> list[Piece]:
        """Return the figures in a table, and how far they can be trusted."""
        if self.is_poor:
            return [self.words]
        at = {name: i for i, name in enumerate(self.parameters)}
        rows = [(n, _part(self.total[at[n]]), _part(self.local[at[n]])) for n in self.order]
        return [Grid.of(("parameter", "total", "local"), rows, left=["parameter"]), self.words]

    def plot(self, *, most: int = 25, ax: Axes | None = None) -> Axes:
        """Draw the total index of the most important parameters, with the local one beside it."""
        if self.is_poor:
            return empty(self.words, ax=ax)
        at = {name: i for i, name in enumerate(self.parameters)}
        shown = self.order[:most]
        more = f" (the first {most} of {len(at)})" if len(at) > most else ""
        return bars(
            [self.total[at[name]] for name in shown],
            shown,
            f"total Sobol index, and local share{more}; R² = {self.r_squared:.2f}",
            notes=[f"{_part(self.total[at[n]])}   local {_part(self.local[at[n]])}" for n in shown],
            limits=(0.0, 1.35 * max([0.05, *(self.total[at[name]] for name in shown)])),
            ax=ax,
        )


def _part(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.2f}" if value >= 0.005 else "<0.01"


def importance(result: Result, space: Space) -> Importance:
    """Return which parameters mattered; see `Importance`.

    References
    ----------
    Sobol indices: Saltelli et al., Computer Physics Communications 181 (2010). Local: Biedenkapp
    et al. (LION 2018).
    """
    names = list(space.parameters)
    free = [names.index(name) for name in space.free]
    known = [c for c in range(len(result.configs)) if result.known.of(c)]
    # the first ones, which are spread over the space: later ones are alike in what matters not, too
    known = known[: min(_LEARNT, max(int(np.sqrt(_DISTANCES / max(len(names), 1))), _LEAST))]
    costs = with_success(result.known.all_costs(known))
    learnt = len(known) if len(costs) else 0
    nothing = (math.nan,) * len(free)
    metrics = result.rules.metric_names
    metric = metrics[0] if metrics is not None and len(metrics) > 1 else None
    unknown = Importance(tuple(space.free), nothing, nothing, math.nan, learnt, metric)
    if learnt < _LEAST or not free:
        return unknown
    length = None if result.stream.length is None else result.known.n_usable
    model = _Model(space, [result.config(c) for c in known], _values(result, costs, length))
    found = replace(unknown, r_squared=model.r_squared)
    if found.is_poor:
        return found
    total = model.total(free, rng_for(result.seed, "importance"))
    local = nothing if result.best_index is None else model.local(free, result.best)
    return replace(found, total=tuple(total), local=tuple(local))


def _values(result: Result, costs: NDArray[np.float64], length: int | None) -> Effects:
    """Return the costs of candidates in a unit in which differences are as large as they matter."""
    runtime = result.rules.runtime
    if runtime is not None:
        costs = np.log(np.clip(costs, _SHORTEST * runtime.limit, runtime.limit))
    if not result.rules.decider.by_means:
        costs = in_one_scale(costs)
    return natural_effects(costs / unit_near(costs), length)


def _middles(space: Space) -> dict[int, NDArray[np.float64]]:
    """Return, for each ordered parameter of a few values, where these are encoded, cell by cell."""
    places = (np.arange(_CELLS) + 0.5) / _CELLS
    found = {}
    for i, parameter in enumerate(space.parameters.values()):
        domain = None if parameter.names() else parameter.domain({})
        if domain is not None and parameter.scale != "nominal" and domain.n <= _FEW:
            at = [domain.encode(domain.decode(u)) for u in places.tolist()]
            found[i] = np.array(at, dtype=np.float64)
    return found


def _explained(errors: NDArray[np.float64], known: Effects) -> float:
    """Return R squared of leave-one-out predictions; NaN where all values are the same."""
    spread = float(np.var(known.value))
    return 1.0 - float(np.mean(errors**2)) / spread if spread > _NEGLIGIBLE else float("nan")


def _far_below(values: NDArray[np.float64]) -> float | None:
    """Return a level below all values if few are far above the rest, for their logarithms above it."""
    least, middle, most = float(values.min()), float(np.median(values)), float(values.max())
    half = middle - least
    return least - _BELOW * half if half > 0.0 and most - middle > _TAIL * half else None


class _Logarithmic:
    """A Gaussian process of logarithms above a level, where a few values are far above the rest."""

    def __init__(self, points: NDArray[np.float64], known: Effects, level: float) -> None:
        self._level = level
        above = known.value - level
        variance = np.minimum(known.variance / above**2, 1.0)
        self._model = Relevance(points, Effects(np.log(above), variance))
        left_out = np.log(above) - self._model.leave_one_out
        self.leave_one_out: NDArray[np.float64] = above - _exp(left_out)
        self.log_density = self._model.log_density - float(np.log(above).mean())

    def __call__(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._level + _exp(self._model(points))


def _exp(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.exp(np.minimum(logs, _MOST_LOG)))


class _Model:
    """The surrogate as a function of points in the unit cube."""

    def __init__(self, space: Space, configs: list[dict[str, Any]], known: Effects) -> None:
        self._space = space
        self._choices = choice_counts(space.parameters)
        self._middles = _middles(space)
        vectors = np.array([space.located(config)[1] for config in configs])
        self._n = len(vectors)
        with one_blas_thread():
            points = features(vectors, self._choices)
            self._model: Relevance | _Logarithmic = Relevance(points, known)
            if (level := _far_below(known.value)) is not None:
                other = _Logarithmic(points, known, level)
                is_likelier = other.log_density > self._model.log_density + _DENSER
                errors = (other.leave_one_out, self._model.leave_one_out)
                new, old = (_explained(one, known) for one in errors)
                if is_likelier and new > old - _WORSE:
                    self._model = other
        self.r_squared = _explained(self._model.leave_one_out, known)

    def __call__(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return predictions, shape (k,), at points (k, d); absent parameters are ignored.

        A point within the cell of a value is where the value is encoded: nothing is learnt elsewhere.
        """
        vectors = np.where(self._space.present(points), points, np.nan)
        for i, middles in self._middles.items():
            cells = np.minimum((points[:, i] * _CELLS).astype(np.intp), _CELLS - 1)
            vectors[:, i] = np.where(np.isnan(vectors[:, i]), np.nan, middles[cells])
        with one_blas_thread():
            return self._model(features(vectors, self._choices))

    def total(self, free: list[int], rng: np.random.Generator) -> list[float]:
        """Return total Sobol indices of `free` parameters; the others stay in the middle."""
        d = len(free)
        most = _WORK / ((d + 2) * self._n * len(self._choices))
        n = 2 ** int(np.clip(np.log2(most), 6, 10))

        def predicted(points: NDArray[np.float64]) -> NDArray[np.float64]:
            full = np.full((points.shape[1], len(self._choices)), 0.5)
            full[:, free] = points.T
            return self(full)

        probe = predicted(rng.random((d, 64)))
        if float(probe.var()) <= _NEGLIGIBLE:
            return [0.0] * d
        if d == 1:  # all of it, and SciPy has nothing for a single one
            return [1.0]
        dists: Any = [uniform()] * d
        found = sobol_indices(func=predicted, n=n, dists=dists, rng=rng)
        clipped: list[float] = np.clip(found.total_order, 0.0, 1.0).tolist()
        return clipped

    def local(self, free: list[int], best: dict[str, Any]) -> list[float]:
        """Return the part of each parameter in the sum of variances around the best."""
        here = self._space.located(best)[1]
        grid = (np.arange(_GRID) + 0.5) / _GRID
        variances = np.full(len(free), np.nan)
        for place, i in enumerate(free):
            if np.isnan(here[i]):
                continue
            points = np.tile(np.where(np.isnan(here), 0.5, here), (_GRID, 1))
            points[:, i] = grid
            variances[place] = float(self(points).var())
        total = float(np.nansum(variances))
        shares: list[float] = (variances / max(total, _NEGLIGIBLE)).tolist()
        return shares
