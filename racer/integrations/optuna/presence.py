"""Which parameters exist in a configuration, learnt from trials that decided it as they ran."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["Presence"]


class _Rule(NamedTuple):
    """A parameter exists where another, with few values, has certain ones.

    Attributes
    ----------
    about, by : int
        Positions of the two parameters.
    there : ndarray, shape (values + 1,)
        For each value of `by`, the last being that it does not exist itself: 1 if `about`
        exists, 0 if not, -1 if that has not been seen.
    """

    about: int
    by: int
    there: NDArray[np.intp]


class Presence:
    """Conditions of a define-by-run space, as far as they show.

    A parameter that some trials had and some had not is taken to depend on one with few values
    where each of these values went with all or none of the trials that had it. Of what cannot be
    explained so, the best trials say whether it exists.

    Parameters
    ----------
    vectors : ndarray, shape (n, d)
        Of trials, NaN for parameters that they do not have.
    n_values : sequence of int
        How many values each parameter can have; 0 for those with more than a few.
    """

    def __init__(self, vectors: NDArray[np.float64], n_values: Sequence[int]) -> None:
        exists = ~np.isnan(vectors)
        self._n_values = n_values
        self._rules: list[_Rule] = []
        self.optional = np.flatnonzero(~exists.all(axis=0))
        certain = [j for j in range(vectors.shape[1]) if j not in set(self.optional.tolist())]
        cells = {j: self._cells(vectors[:, j], j) for j, n in enumerate(n_values) if n}
        unexplained = self.optional.tolist()
        while True:
            found = [
                rule
                for about in unexplained
                if (rule := self._explain(about, exists[:, about], certain, cells)) is not None
            ]
            if not found:
                break
            self._rules += found
            certain += [rule.about for rule in found]
            unexplained = [j for j in unexplained if j not in set(certain)]

    def __call__(
        self, vectors: NDArray[np.float64], example: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        """Say which parameters exist at vectors without NaN, shape (k, d) both.

        Parameters
        ----------
        vectors : ndarray, shape (k, d)
        example : ndarray, shape (d,)
            A good trial: what it has exists where no rule says otherwise.
        """
        exists = np.ones(vectors.shape, dtype=bool)
        exists[:, self.optional] = ~np.isnan(example[self.optional])
        for about, by, there in self._rules:
            at = np.where(exists[:, by], vectors[:, by], np.nan)
            said = there[self._cells(at, by)]
            exists[:, about] = np.where(said >= 0, said == 1, exists[:, about])
        return exists

    def _cells(self, places: NDArray[np.float64], j: int) -> NDArray[np.intp]:
        """Return which of its values a parameter has; one more if it does not exist."""
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
        """Return the rule with the fewest values seen; None if there is none."""
        best: tuple[int, _Rule] | None = None
        for by in certain:
            if by not in cells:
                continue
            n = self._n_values[by] + 1
            have = np.bincount(cells[by][exists], minlength=n)
            have_not = np.bincount(cells[by][~exists], minlength=n)
            if (have * have_not).any():
                continue
            seen = int(((have + have_not) > 0).sum())
            if best is None or seen < best[0]:
                there = np.where(have > 0, 1, np.where(have_not > 0, 0, -1))
                best = seen, _Rule(about, by, there)
        return None if best is None else best[1]
