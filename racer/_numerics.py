"""Numerical tools that several rooms use."""

from __future__ import annotations

import math
import sys
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import ThreadpoolController

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray


def as_costs(values: NDArray[np.float64], *, maximize: bool) -> NDArray[np.float64]:
    """Return values as costs, to be minimised; the same call turns costs into values again."""
    return 0.0 - values if maximize else values  # 0 has no sign


def range_of(worst: float, best: float) -> float:
    """Return by how much costs differ; 0 if they tie."""
    return worst - best if worst - best > TIE * max(abs(worst), abs(best)) else 0.0


def mean_of(values: Sequence[float]) -> float:
    """Return the mean of finite values, even near the largest float."""
    try:
        return math.fsum(values) / len(values)
    except OverflowError:
        small = [math.ldexp(value, _DOWN) for value in values]
        mean = math.fsum(small) / len(small)
        return math.ldexp(min(max(mean, min(small)), max(small)), -_DOWN)


def means_of(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the means over the first axis, finite where all values are."""
    with np.errstate(over="ignore", invalid="ignore"):
        means = np.asarray(np.mean(rows, axis=0))
    lost = ~np.isfinite(means) & np.isfinite(rows).all(axis=0)
    means[lost] = [mean_of(values.tolist()) for values in rows[:, lost].T]
    return means


_DOWN = -64  # binary exponent of a scale at which the largest floats have a sum
_HUGE = 1e100  # sizes up to it, and from its reciprocal on, have squares with room for their sums


def power_near(values: NDArray[np.float64]) -> float:
    """Return a power of two to divide values by, so that squares neither overflow nor vanish.

    It is near the largest finite size; 1 where that is ordinary. Quotients are exact but for
    subnormal numbers.
    """
    size = np.abs(values[np.isfinite(values)]).max(initial=0.0)
    if size == 0.0 or 1.0 / _HUGE <= size <= _HUGE:
        return 1.0
    return power_below(float(size))


def power_below(size: float) -> float:
    """Return the largest power of two that is not above a positive size."""
    return math.ldexp(1.0, math.frexp(size)[1] - 1)


_USUAL = 1e-3  # of the median size of a metric's costs: smaller costs may be differences of these
TIE = 1e-9  # of the larger of two costs: what differs by no more is a tie, wherever costs are compared


def tie_sizes(
    one: NDArray[np.float64], other: NDArray[np.float64], *, among: bool = False
) -> NDArray[np.float64]:
    """Return by how much two costs may differ and be a tie, for each pair; 0 if one is infinite.

    `among`: the larger array has all costs of a metric. Beside 0, a thousandth of their median size
    counts: so 0.1 + 0.2 - 0.3 is 0 among costs of 1.
    """
    sizes = np.maximum(np.abs(one), np.abs(other))
    costs = max((one, other), key=np.size)
    if among and np.isfinite(costs).any():
        sizes = np.maximum(sizes, _USUAL * np.median(np.abs(costs[np.isfinite(costs)])))
    return np.asarray(np.where(np.isfinite(sizes), TIE * sizes, 0.0))


def widened(limits: NDArray[np.float64], costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return limits (.., d) of d metrics plus a tie of each of costs (.., m, d) and its limit."""
    sizes = [tie_sizes(one, at, among=True) for one, at in zip(costs.T, limits.T, strict=True)]
    return np.asarray(limits + np.transpose(sizes))


def with_ties(costs: NDArray[np.float64], tolerance: float = TIE) -> NDArray[np.float64]:
    """Return costs, (n, m), after equating values of a row that differ by rounding only.

    Neighbours tie when they differ by no more than `tolerance` times the larger of their sizes,
    and with them all that are joined by such steps; they get the smallest of their costs. A row
    without such neighbours is as it was; NaN and infinities are as they are.
    """
    ordered = np.sort(costs, axis=1)  # NaN last
    if not _near(ordered, tolerance).any():
        return costs
    order = np.argsort(costs, axis=1, kind="stable")
    first = np.arange(ordered.shape[1]) * np.ones((len(ordered), 1), dtype=np.intp)
    first[:, 1:][(ordered[:, 1:] == ordered[:, :-1]) | _near(ordered, tolerance)] = 0
    first = np.maximum.accumulate(first, axis=1)
    equal = np.empty_like(ordered)
    np.put_along_axis(equal, order, np.take_along_axis(ordered, first, axis=1), axis=1)
    return equal


def _near(ordered: NDArray[np.float64], tolerance: float) -> NDArray[np.bool_]:
    """Return which neighbours in sorted rows differ, but by no more than the tolerance."""
    low, high = ordered[:, :-1], ordered[:, 1:]
    with np.errstate(invalid="ignore", over="ignore"):  # inf - inf
        gap = high - low
    near = gap <= tolerance * np.maximum(np.abs(low), np.abs(high))
    return np.asarray(near & (low != high) & np.isfinite(gap))


def shown_probability(value: float, decimals: int = 3) -> str:
    """Return a probability as text: "<0.001" or ">0.999" if it would round to 0 or 1."""
    least = 10.0**-decimals
    if value < least / 2.0:
        return f"<{least:.{decimals}f}"
    if value >= 1.0 - least / 2.0:
        return f">{1.0 - least:.{decimals}f}"
    return f"{value:.{decimals}f}"


class RowBuffer:
    """Rows of one width, appended in amortised constant time."""

    def __init__(self, width: int, dtype: type[np.floating[Any]]) -> None:
        self._rows = np.empty((16, width), dtype)
        self._n = 0

    def __len__(self) -> int:
        return self._n

    @property
    def rows(self) -> NDArray[Any]:
        """The rows so far, shape (n, width); a view."""
        return self._rows[: self._n]

    def append(self, row: NDArray[Any]) -> None:
        """Append one row, shape (width,)."""
        self.extend(row[np.newaxis])

    def extend(self, rows: NDArray[Any]) -> None:
        """Append rows, shape (k, width)."""
        needed = self._n + len(rows)
        if needed > len(self._rows):
            larger = np.empty((max(needed, 2 * self._n), self._rows.shape[1]), self._rows.dtype)
            larger[: self._n] = self.rows
            self._rows = larger
        self._rows[self._n : needed] = rows
        self._n = needed

    def keep(
        self, *, rows: NDArray[np.intp] | None = None, columns: NDArray[np.intp] | None = None
    ) -> None:
        """Forget all rows, or all columns, but the given ones."""
        kept = self.rows
        if rows is not None:
            kept = kept[rows]
        if columns is not None:
            kept = kept[:, columns]
        self._rows = np.ascontiguousarray(kept)
        self._n = len(kept)


def as_plain(value: Any) -> Any:
    """Return a value with Python's numbers in place of NumPy's, also in dicts, lists and tuples."""
    if isinstance(value, np.number | np.bool_ | np.str_):
        return value.item()
    if type(value) is dict:
        return {name: as_plain(one) for name, one in value.items()}
    return type(value)(map(as_plain, value)) if type(value) in {list, tuple} else value


def as_json(value: Any) -> Any:
    """Return a value as JSON has it, with None for each number that is not finite."""
    if isinstance(value, dict):
        return {name: as_json(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(one) for one in value]
    if hasattr(value, "item"):  # a NumPy scalar
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


@lru_cache(maxsize=32)
def index_pairs(m: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return all pairs i < j of m positions, as two arrays."""
    return np.triu_indices(m, 1)


@lru_cache(maxsize=2)
def _blas(*, with_scipy: bool) -> ThreadpoolController:  # noqa: ARG001  (SciPy has one of its own)
    return ThreadpoolController().select(user_api="blas")


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep BLAS to one thread for a while: for small products, waking other threads costs more."""
    libraries = _blas(with_scipy="scipy.linalg" in sys.modules).lib_controllers
    found = [(library, library.get_num_threads()) for library in libraries]
    limited = [(library, n) for library, n in found if n > 1]
    for library, _ in limited:
        library.set_num_threads(1)
    try:
        yield
    finally:
        for library, n in limited:
            library.set_num_threads(n)
