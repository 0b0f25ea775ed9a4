"""Cells of a race, fitted and scored by scikit-learn's own loop fold by fold; `cv_results_`."""

from __future__ import annotations

import math
import sys
import warnings
from bisect import bisect_left
from collections import deque
from itertools import groupby, product
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib.externals.loky.process_executor import TerminatedWorkerError

from racer.errors import SettingError
from racer.evaluate.executor import never
from racer.evaluate.outcome import Cell, Outcome
from racer.evaluate.workers import InProcess
from racer.stats.several import front_posterior

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from racer.results.base import Result

Fold = tuple[Any, Any]  # positions to train on, and to test on

_TIMES = {"mean_fit_time": "fit_time", "mean_score_time": "score_time"}
_RECORDED = {"test_score", *_TIMES.values()}
ONE_SCORE_ONLY = (
    "a store keeps one score per fit: give one in `scoring`, and return_train_score=False, or "
    "leave the store out"
)
_FAILED = "the fit failed, or its score is not finite: see scikit-learn's FitFailedWarning"


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


class Fits(InProcess):
    """Workers that fit all cells of a fold at once, by the `evaluate_candidates` of a search."""

    capacity = sys.maxsize

    def __init__(
        self,
        evaluate_candidates: Callable[..., dict[str, Any]],
        folds: OneFold,
        refit: Any,
        *,
        is_recorded: bool = False,
    ) -> None:
        super().__init__(evaluate_candidates)
        self._evaluate_candidates = evaluate_candidates
        self.folds = folds
        self.params: Callable[[Any], dict[str, Any]] = dict  # of a configuration
        self.is_recorded = is_recorded
        self._refit = refit
        self._ended: deque[tuple[Cell, Outcome]] = deque()
        self.known: dict[tuple[int, int], dict[str, float]] = {}  # by candidate and fold
        self.results: dict[str, Any] = {}  # as scikit-learn has them: the same object to its end
        self.error: ValueError | None = None  # why all fits of a fold failed

    def next(self, stopping: Callable[[], bool] = never) -> tuple[Cell, Outcome]:  # noqa: ARG002
        """Return a cell with its outcome; the first time, fit all that have been submitted."""
        if not self._ended:
            cells = list(self._cells)
            self._cells.clear()
            for fold, group in groupby(cells, key=lambda cell: cell.instance_index or 0):
                listed = list(group)
                told = self.fit([(cell.candidate, cell.config) for cell in listed], fold)
                self._ended.extend(zip(listed, told, strict=True))
        return self._ended.popleft()

    def fit(self, candidates: list[tuple[int, Any]], fold: int) -> list[Outcome]:
        """Fit candidates, with their numbers, on a fold.

        If a worker dies, each is fitted by itself: so the one whose fit it was is known, and tried
        again.
        """
        try:
            return self._fit(candidates, fold)
        except TerminatedWorkerError:
            return [self._fit_alone(candidate, fold) for candidate in candidates]

    def _fit_alone(self, candidate: tuple[int, Any], fold: int) -> Outcome:
        try:
            (outcome,) = self._fit([candidate], fold)
        except TerminatedWorkerError as error:
            self.known[candidate[0], fold] = {}
            return Outcome("killed", None, message=f"the worker that fitted it died ({error})")
        return outcome

    def _fit(self, candidates: list[tuple[int, Any]], fold: int) -> list[Outcome]:
        self.folds.current = fold
        try:
            with warnings.catch_warnings():  # scores that are not finite are named at the end
                warnings.filterwarnings("ignore", "One or more of the ", UserWarning)
                params = [self.params(config) for _, config in candidates]
                self.results = self._evaluate_candidates(params)
        except ValueError as error:
            if "fits failed" not in str(error):
                raise
            self.error = error
            for number, _ in candidates:
                self.known[number, fold] = {}
            return [Outcome("failed", None, message=_FAILED)] * len(candidates)
        rows = zip(candidates, range(-len(candidates), 0), strict=True)
        return [self._outcome(number, fold, row) for (number, _), row in rows]

    def _outcome(self, candidate: int, fold: int, row: int) -> Outcome:
        names = {key: _TIMES.get(key, key.removeprefix("split0_")) for key in self.results}
        found = {name: float(self.results[key][row]) for key, name in names.items() if name != key}
        if self.is_recorded and not found.keys() <= _RECORDED:
            raise SettingError(ONE_SCORE_ONLY)
        self.known[candidate, fold] = found
        value = found[f"test_{self.metric}"]
        seconds = found["fit_time"] + found["score_time"]
        if math.isfinite(value):
            return Outcome("ok", value, seconds=seconds)
        return Outcome("failed", None, seconds=seconds, message=_FAILED)

    @property
    def metric(self) -> str:
        """The score that is raced by: the only one, that of `refit`, or the first."""
        tested = [key for key in self.results if key.startswith("split0_test_")]
        names = [key.removeprefix("split0_test_") for key in tested]
        return self._refit if self._refit in names else names[0]


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
        for candidate, is_run in enumerate(run):
            row = table[candidate, is_run]
            results[f"mean_{name}"][candidate] = row.mean() if len(row) else np.nan
            results[f"std_{name}"][candidate] = row.std() if len(row) else np.nan
        if name.startswith("test_"):
            results[f"rank_{name}"] = _ranks(_by_mean(results[f"mean_{name}"], run.sum(axis=1)))
    results["race_folds"] = run.sum(axis=1)
    results[f"rank_test_{fits.metric}"] = _ranks(_by_standing(result, results, fits.metric))
    _add_race(results, result)
    tested = [name for name in names if name.startswith("test_")]
    if len(tested) > 1:
        results["race_probability_front"] = _on_front(tested, known, run)
    return results


def _on_front(
    names: Sequence[str],
    known: Mapping[tuple[int, int], Mapping[str, float]],
    run: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Return P(no other candidate is better in all scores) of each; NaN of those without folds."""
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
    for candidate in result.leaders:
        if keys[candidate] != _WITHOUT_MEAN:
            # who is equal on all folds shares a place, but the first row of rank 1 is the best
            same = (
                place
                for place, other in enumerate(result.leaders)
                if other <= candidate
                and np.array_equal(scores[:, candidate], scores[:, other], equal_nan=True)
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
