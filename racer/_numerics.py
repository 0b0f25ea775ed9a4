"""Numerical tools that several rooms use."""

from __future__ import annotations

from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import ThreadpoolController

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


def as_costs(values: NDArray[np.float64], *, maximize: bool) -> NDArray[np.float64]:
    """Return values as costs, to be minimised; the same call turns costs into values again."""
    return -values if maximize else values


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
        if self._n == len(self._rows):
            self._grow(self._n + 1)
        self._rows[self._n] = row
        self._n += 1

    def extend(self, rows: NDArray[Any]) -> None:
        """Append rows, shape (k, width)."""
        needed = self._n + len(rows)
        if needed > len(self._rows):
            self._grow(needed)
        self._rows[self._n : needed] = rows
        self._n = needed

    def _grow(self, needed: int) -> None:
        larger = np.empty((max(needed, 2 * self._n), self._rows.shape[1]), self._rows.dtype)
        larger[: self._n] = self.rows
        self._rows = larger

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


@lru_cache(maxsize=32)
def index_pairs(m: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return all pairs i < j of m positions, as two arrays."""
    return np.triu_indices(m, 1)


@lru_cache(maxsize=1)
def _blas() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep BLAS to one thread for a while: for small products, waking other threads costs more."""
    found = [(library, library.get_num_threads()) for library in _blas().lib_controllers]
    limited = [(library, n) for library, n in found if n > 1]
    for library, _ in limited:
        library.set_num_threads(1)
    try:
        yield
    finally:
        for library, n in limited:
            library.set_num_threads(n)
