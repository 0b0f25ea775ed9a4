"""`cv_results_` of a search that has raced: NaN for the folds that were not run."""

from __future__ import annotations

import warnings
from bisect import bisect_left
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from racer.stats.correlated_t import correlated_t_test

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from racer.integrations.sklearn.fits import Fits
    from racer.results.base import Result


def cv_results(
    format_results: Callable[..., dict[str, Any]],
    fits: Fits,
    result: Result,
    probability_best: Mapping[int, float],
) -> dict[str, Any]:
    """Return what scikit-learn makes of all cells, with means over the folds that were run."""
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
        for candidate, is_run in enumerate(run):
            row = table[candidate, is_run]
            results[f"mean_{name}"][candidate] = row.mean() if len(row) else np.nan
            results[f"std_{name}"][candidate] = row.std() if len(row) else np.nan
        if name.startswith("test_"):
            results[f"rank_{name}"] = _ranks(_by_mean(results[f"mean_{name}"], run.sum(axis=1)))
    results["race_folds"] = run.sum(axis=1)
    results[f"rank_test_{fits.metric}"] = _ranks(_by_standing(result, results, fits.metric))
    _add_race(results, result, probability_best)
    return results


def warn_of_failures(results: Mapping[str, Any]) -> None:
    """Warn, as scikit-learn does, where a mean of test or train scores is not finite."""
    for kind, (name, means) in product(("test", "train"), results.items()):
        if name.startswith(f"mean_{kind}_") and not np.isfinite(means).all():
            warnings.warn(f"One or more of the {kind} scores are non-finite: {means}", stacklevel=2)


def _as_told(found: Mapping[str, float], names: Sequence[str]) -> dict[str, Any]:
    """Return a cell as scikit-learn's loop does."""
    told: dict[str, Any] = {}
    for name in names:
        kind, _, score = name.partition("_")
        value = found.get(name, np.nan)
        if kind not in ("test", "train"):
            told[name] = value
        elif score == "score":
            told[f"{kind}_scores"] = value
        else:
            told.setdefault(f"{kind}_scores", {})[score] = value
    return told


_WITHOUT_MEAN = (9.0,)  # behind all others


def _by_mean(means: NDArray[np.float64], folds: NDArray[np.intp]) -> list[tuple[float, ...]]:
    """Return keys to order candidates by: most folds first, then the best mean."""
    return [
        _WITHOUT_MEAN if np.isnan(mean) else (1.0, -float(n), -float(mean))
        for mean, n in zip(means, folds, strict=True)
    ]


def _by_standing(
    result: Result, results: Mapping[str, Any], metric: str
) -> list[tuple[float, ...]]:
    """Return keys to order candidates by: as they stand in the race, then as they left it."""
    means = results[f"mean_test_{metric}"]
    keys = _by_mean(means, results["race_folds"])
    scores = result.known.values(len(means))
    for candidate in result.survivors:
        if keys[candidate] != _WITHOUT_MEAN:
            # who is equal on all folds shares a place, but the first row of rank 1 is the best
            same = (
                place
                for place, other in enumerate(result.survivors)
                if other <= candidate
                and np.array_equal(scores[:, candidate], scores[:, other], equal_nan=True)
            )
            keys[candidate] = (0.0, float(next(same)))
    return keys


def _ranks(keys: Sequence[tuple[float, ...]]) -> NDArray[np.int32]:
    """Return the rank of each key, 1 for the smallest; equal keys share the smaller one."""
    ordered = sorted(keys)
    return np.array([bisect_left(ordered, key) + 1 for key in keys], dtype=np.int32)


def chances(result: Result, correlation: float) -> dict[int, float]:
    """Return the probability that each survivor has the best mean of them, on correlated folds."""
    survivors = result.survivors
    costs = result.known.costs(survivors) if survivors else np.empty((0, 0))
    costs = costs[np.isfinite(costs).all(axis=1)]
    if len(survivors) < 2 or len(costs) < 2:
        return dict.fromkeys(survivors, 1.0 / max(len(survivors), 1))
    best = correlated_t_test(costs, correlation=correlation, seed=result.seed).best
    return dict(zip(survivors, best.tolist(), strict=True))


def _add_race(
    results: dict[str, Any], result: Result, probability_best: Mapping[int, float]
) -> None:
    """Add what the race says of each candidate."""
    n = len(results["params"])
    results["race_probability_best"] = np.full(n, np.nan)
    results["race_reason"] = np.full(n, "", dtype=object)
    results["race_against"] = np.full(n, -1)
    for candidate, chance in probability_best.items():
        results["race_probability_best"][candidate] = chance
    gone = result.eliminations
    gone = gone[~gone["candidate"].isin(result.survivors)]
    results["race_reason"][gone["candidate"]] = gone["reason"]
    results["race_against"][gone["candidate"]] = gone["against"]
