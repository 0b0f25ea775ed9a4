"""The folds of a cross-validation, handed to scikit-learn one at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

Fold = tuple[Any, Any]  # positions to train on, and to test on


class OneFold:
    """A splitter that yields one fold of another, `current`, and so makes a search fit that one."""

    def __init__(self, cv: Any) -> None:
        self._cv = cv
        self.folds: list[Fold] = []
        self.current = 0

    def get_n_splits(self, X: Any = None, y: Any = None, **params: Any) -> int:
        """Divide the data, once for all; return 1."""
        self.folds = list(self._cv.split(X, y, **params))
        promised = self._cv.get_n_splits(X, y, **params)
        if len(self.folds) != promised:
            raise ValueError(
                "cv.split and cv.get_n_splits return inconsistent results. Expected "
                f"{promised} splits, got {len(self.folds)}"
            )
        if not self.folds:
            raise ValueError(
                "No fits were performed. Was the CV iterator empty? Were there no candidates?"
            )
        return 1

    def split(self, X: Any = None, y: Any = None, **params: Any) -> Iterator[Fold]:  # noqa: ARG002
        """Yield the current fold."""
        yield self.folds[self.current]

    def test_share(self) -> float:
        """Return the mean fraction of the data of a fold that is tested on."""
        sizes = [(_size(train), _size(test)) for train, test in self.folds]
        return float(np.mean([test / max(train + test, 1) for train, test in sizes]))

    def __getattr__(self, name: str) -> Any:  # its metadata requests, say
        if name.startswith("__") or name == "_cv":
            raise AttributeError(name)
        return getattr(self._cv, name)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the folds: a worker is sent the positions that it needs."""
        return {"_cv": self._cv, "folds": [], "current": 0}


def _size(positions: Any) -> int:
    """Return how many positions these are: numbers, a slice, or a mask."""
    if isinstance(positions, slice):
        return len(range(*positions.indices(positions.stop or 0)))
    array = np.asarray(positions)
    return int(array.sum()) if array.dtype == np.bool_ else len(array)
