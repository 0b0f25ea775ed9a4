"""Tables of scores on folds and on held-out rows, of which all searches but halving are replays."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import (
    HalvingGridSearchCV,
    RepeatedStratifiedKFold,
    StratifiedKFold,
)

from experiments.sklearn_folds.data import GRIDS, estimator, grid, halves

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Recorded", "record"]


class Recorded(NamedTuple):
    """One data set, halved once, and one kind of classifier."""

    ten: NDArray[np.float64]  # (10, 24) scores on ten folds
    twenty: NDArray[np.float64]  # (20, 24) scores on five folds, repeated four times
    held_out: NDArray[np.float64]  # (24,)
    seconds: NDArray[np.float64]  # (24,) of a fit with its score, on ten folds
    halving: NDArray[np.float64]  # its choice, fits, CPU seconds


def record(data: str, name: str, seed: int) -> Recorded:
    """Fit all candidates on all folds, and on all rows that are not held out."""
    rows, held_rows, target, held_target = halves(data, seed)
    ten = StratifiedKFold(10, shuffle=True, random_state=seed)
    twenty = RepeatedStratifiedKFold(n_splits=5, n_repeats=4, random_state=seed)
    candidates = grid(name)
    models = [estimator(name).set_params(**params) for params in candidates]
    scores, seconds = scores_on(models, rows, target, ten)
    return Recorded(
        scores,
        scores_on(models, rows, target, twenty)[0],
        np.array([model.fit(rows, target).score(held_rows, held_target) for model in models]),
        seconds,
        _halving(name, rows, target, candidates, seed),
    )


def scores_on(
    models: list[Any], rows: NDArray[Any], target: NDArray[Any], cv: Any
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    folds = list(cv.split(rows, target))
    scores = np.empty((len(folds), len(models)))
    spent = np.zeros(len(models))
    for i, (train, test) in enumerate(folds):
        for j, model in enumerate(models):
            start = time.process_time()
            fitted = clone(model).fit(rows[train], target[train])
            scores[i, j] = fitted.score(rows[test], target[test])
            spent[j] += time.process_time() - start
    return scores, spent / len(folds)


def _halving(
    name: str, rows: NDArray[Any], target: NDArray[Any], candidates: list[Any], seed: int
) -> NDArray[np.float64]:
    start = time.process_time()
    search = HalvingGridSearchCV(
        estimator(name), GRIDS[name], cv=StratifiedKFold(5, shuffle=True, random_state=seed),
        factor=3, random_state=seed, refit=False, error_score=0.0,
    ).fit(rows, target)  # fmt: skip
    spent = time.process_time() - start
    fits = len(search.cv_results_["params"]) * search.n_splits_
    return np.array([candidates.index(search.best_params_), fits, spent])
