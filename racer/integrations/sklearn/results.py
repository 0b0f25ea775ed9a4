"""`cv_results_` of a race: scikit-learn's, of the folds that were run, with columns of the race."""

from __future__ import annotations

import warnings
from bisect import bisect_left
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from racer.stats.several import front_posterior

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from racer.integrations.sklearn.fits import Fits
    from racer.results.base import Result


def cv_results(
    format_results: Callable[..., dict[str, Any]],
    fits: Fits,
    result: Result,
) -> dict[str, Any]:
    """Return scikit-learn's results of all cells, with means over the folds that were run."""
    params = [fits.params(config) for config in result.configs]
    n_folds, known = len(fits.folds.folds), fits.known
    names = list(dict.fromkeys(name for found in known.values() for name in found))
    cells = [(candidate, fold) for candidate in range(len(params)) for fold in range(n_folds)]
    out = [_as_told(known.get(cell, {}), names) for cell in cells]
    with warnings.catch_warnings():  # that some scores are NaN, which is why there are races
        warnings.simplefilter("ignore")
        results = format_results(params, n_folds, out)
    run = np.array([cell in known for cell in cells]).reshape(len(params), n_folds)
    for name in names:
        values = np.array([known.get(cell, {}).get(name, np.nan) for cell in cells])
        table = values.reshape(run.shape)
        results[f"mean_{name}"][:] = _means(table, run)
        for candidate, is_run in enumerate(run):
            row = table[candidate, is_run]
            results[f"std_{name}"][candidate] = row.std() if len(row) else np.nan
        if name == f"test_{fits.metric}":
            results[f"rank_{name}"] = _ranks(_by_standing(result, table, run))
        elif name.startswith("test_"):
            results[f"rank_{name}"] = _ranks(_by_mean(results[f"mean_{name}"], run.sum(axis=1)))
    results["race_folds"] = run.sum(axis=1)
    _add_race(results, result)
    tested = [name for name in names if name.startswith("test_")]
    if len(tested) > 1:
        results["race_probability_front"] = _on_front(tested, known, run)
    return results


def first(result: Result, scores: NDArray[np.float64], run: NDArray[np.bool_]) -> int:
    """Return the candidate of rank 1, by scores (candidates, folds) and which of these were run."""
    return int(np.argmin(_ranks(_by_standing(result, scores, run))))


def _on_front(
    names: Sequence[str],
    known: Mapping[tuple[int, int], Mapping[str, float]],
    run: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Return P(no other candidate is better in all scores) of each; NaN without any folds."""
    scores = np.full((len(names), *run.T.shape), np.nan)
    for (candidate, fold), found in known.items():
        values = np.array([found.get(name, np.nan) for name in names])
        scores[:, fold, candidate] = np.where(np.isfinite(values), values, np.inf)  # it failed
    seen = run.any(axis=1)
    chances = np.full(len(run), np.nan)
    maximize = [True] * len(names)
    chances[seen] = front_posterior(scores[:, :, seen], maximize=maximize).probability_front
    return chances


def warn_of_failures(results: Mapping[str, Any]) -> None:
    """Warn, as scikit-learn does, where a mean of test or train scores is not finite.

    A candidate that was drawn but never fitted has no mean, and nothing of it has failed.
    """
    is_fitted = np.asarray(results["race_folds"]) > 0
    for kind, (name, means) in product(("test", "train"), results.items()):
        if name.startswith(f"mean_{kind}_") and not np.isfinite(means[is_fitted]).all():
            warnings.warn(f"One or more of the {kind} scores are non-finite: {means}", stacklevel=2)


def _as_told(found: Mapping[str, float], names: Sequence[str]) -> dict[str, Any]:
    """Return a cell as scikit-learn's loop does."""
    told: dict[str, Any] = {}
    is_single = [name for name in names if name.startswith("test_")] == ["test_score"]
    for name in names:
        kind, _, score = name.partition("_")
        value = found.get(name, np.nan)
        if kind not in ("test", "train"):
            told[name] = value
        elif is_single:
            told[f"{kind}_scores"] = value
        else:
            told.setdefault(f"{kind}_scores", {})[score] = value
    return told


def _means(scores: NDArray[np.float64], run: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the mean of each candidate over the folds that were run; NaN without any."""
    known = [row[is_run] for row, is_run in zip(scores, run, strict=True)]
    return np.array([row.mean() if len(row) else np.nan for row in known])


_WITHOUT_MEAN = (9.0,)  # behind all others


def _by_mean(means: NDArray[np.float64], folds: NDArray[np.intp]) -> list[tuple[float, ...]]:
    """Return keys to order candidates by: most folds first, then the best mean."""
    return [
        _WITHOUT_MEAN if np.isnan(mean) else (1.0, -float(n), -float(mean))
        for mean, n in zip(means, folds, strict=True)
    ]


def _by_standing(
    result: Result, scores: NDArray[np.float64], run: NDArray[np.bool_]
) -> list[tuple[float, ...]]:
    """Return keys to order candidates by: as they stand in the race, then as they left it.

    If each candidate failed on some fold, the folds on which it failed count as not run.
    """
    means = _means(scores, run)
    if np.isnan(means).all():
        run = run & ~np.isnan(scores)
        means = _means(scores, run)
    keys = _by_mean(means, run.sum(axis=1))
    values = result.known.values(len(means))
    for candidate in result.leaders:
        if keys[candidate] != _WITHOUT_MEAN:
            # who is equal on all folds shares a place, but the first row of rank 1 is the best
            same = (
                place
                for place, other in enumerate(result.leaders)
                if other <= candidate
                and np.array_equal(values[:, candidate], values[:, other], equal_nan=True)
            )
            keys[candidate] = (0.0, float(next(same)))
    return keys


def _ranks(keys: Sequence[tuple[float, ...]]) -> NDArray[np.int32]:
    """Return the rank of each key, 1 for the smallest; equal keys share the smaller one."""
    ordered = sorted(keys)
    return np.array([bisect_left(ordered, key) + 1 for key in keys], dtype=np.int32)


def _add_race(results: dict[str, Any], result: Result) -> None:
    """Add the race's columns of each candidate."""
    n = len(results["params"])
    results["race_probability_best"] = np.array(result.posterior.probability_best)
    results["race_reason"] = np.full(n, "", dtype=object)
    results["race_against"] = np.full(n, -1)
    gone = result.eliminations
    gone = gone[~gone["candidate"].isin(result.survivors)]
    results["race_reason"][gone["candidate"]] = gone["reason"]
    results["race_against"][gone["candidate"]] = gone["against"]
