"""Searches replayed on scores of all fits: the same decisions as if their fits were made."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import optuna
from sklearn.base import clone
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import HalvingGridSearchCV, RepeatedStratifiedKFold, StratifiedKFold

from experiments.sklearn_folds.data import GRIDS, estimator, grid, halves
from experiments.sklearn_folds.worlds import race_over_folds
from racer.deciders import CorrelatedTRace

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from racer.deciders import Decider

    Scores = NDArray[np.float64]  # (folds, candidates)

__all__ = ["SEARCHES", "Found", "Recorded", "record", "replayed"]

TEST_SHARE = {5: 0.2, 10: 0.1, 20: 0.2}
DEFAULT = "race, folds, 0.8"


@dataclass(frozen=True)
class Recorded:
    """All fits of the 24 candidates of a classifier on a data set, halved once."""

    estimator: str
    seed: int
    ten: Scores  # on ten folds
    twenty: Scores  # on five folds, repeated four times
    held_out: NDArray[np.float64]
    seconds: NDArray[np.float64]  # CPU time of a fit with its score, on ten folds
    halving: Found


class Found(NamedTuple):
    """What a search has found: the candidate, its fits, and their CPU seconds with the scores."""

    best: int
    fits: float
    seconds: float


def record(data: str, name: str, seed: int) -> Recorded:
    """Fit all candidates on all folds, and on all rows that are not held out."""
    rows, held_rows, target, held_target = halves(data, seed)
    models = [estimator(name).set_params(**params) for params in grid(name)]
    twenty = RepeatedStratifiedKFold(n_splits=5, n_repeats=4, random_state=seed)
    ten = StratifiedKFold(10, shuffle=True, random_state=seed)
    scores, seconds = scores_on(models, rows, target, ten)
    return Recorded(
        *(name, seed, scores, scores_on(models, rows, target, twenty)[0]),
        np.array([model.fit(rows, target).score(held_rows, held_target) for model in models]),
        seconds,
        halved(name, rows, target, seed),
    )


def scores_on(
    models: list[Any], rows: NDArray[Any], target: NDArray[Any], cv: Any
) -> tuple[Scores, NDArray[np.float64]]:
    """Return the scores of models on folds, and the mean CPU seconds of a fit with its score."""
    folds = list(cv.split(rows, target))
    scores, spent = np.empty((len(folds), len(models))), np.zeros(len(models))
    for i, (train, test) in enumerate(folds):
        for j, model in enumerate(models):
            start = time.process_time()
            fitted = clone(model).fit(rows[train], target[train])
            scores[i, j] = fitted.score(rows[test], target[test])
            spent[j] += time.process_time() - start
    return scores, spent / len(folds)


def halved(name: str, rows: NDArray[Any], target: NDArray[Any], seed: int) -> Found:
    """Run scikit-learn's halving on folds of its own."""
    start = time.process_time()
    search = HalvingGridSearchCV(
        estimator(name), GRIDS[name], cv=StratifiedKFold(5, shuffle=True, random_state=seed),
        factor=3, random_state=seed, refit=False, error_score=0.0,
    ).fit(rows, target)  # fmt: skip
    spent = time.process_time() - start
    fits = len(search.cv_results_["params"]) * search.n_splits_
    return Found(grid(name).index(search.best_params_), fits, spent)


def whole_grid(scores: Scores, given: Recorded) -> Found:
    """Fit all candidates on all folds."""
    n, m = scores.shape
    return Found(int(scores.mean(axis=0).argmax()), n * m, n * given.seconds.sum())


def at_random(scores: Scores, given: Recorded) -> Found:
    """Fit four tenths of the candidates on all folds."""
    n, m = scores.shape
    drawn = np.random.default_rng(given.seed).choice(m, round(0.4 * m), replace=False)
    best = drawn[scores[:, drawn].mean(axis=0).argmax()]
    return Found(int(best), n * len(drawn), n * given.seconds[drawn].sum())


def by_tpe(scores: Scores, given: Recorded) -> Found:
    """Let Optuna's TPE choose as many candidates, fitted on all folds: as OptunaSearchCV does."""
    n, m = scores.shape
    candidates = grid(given.estimator)
    values = {name: list(dict.fromkeys(c[name] for c in candidates)) for name in candidates[0]}
    sampler = optuna.samplers.TPESampler(seed=given.seed)
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    tried: list[int] = []

    def objective(trial: optuna.Trial) -> float:
        config = {name: trial.suggest_categorical(name, of) for name, of in values.items()}
        tried.append(candidates.index(config))
        return float(scores[:, tried[-1]].mean())

    study.optimize(objective, n_trials=round(0.4 * m))
    best = max(tried, key=lambda candidate: float(scores[:, candidate].mean()))
    return Found(best, n * len(tried), n * given.seconds[tried].sum())


def by_race(decider: str | Decider | None, scores: Scores, given: Recorded) -> Found:
    """Race, as RacingSearchCV does (None: by its default); the best is fitted on all folds."""
    n, m = scores.shape
    race = race_over_folds(decider or CorrelatedTRace(TEST_SHARE[n], 0.8), -scores, 0)
    fits = np.sum([np.isin(range(m), row.candidates) for row in race.known.rows], axis=0)
    best = race.survivors[0]
    fits[best] = n
    return Found(best, float(fits.sum()), float(fits @ given.seconds))


DEFAULT_RACE = partial(by_race, None)
SEARCHES: Mapping[str, Mapping[str, Callable[[Scores, Recorded], Found]]] = {
    "5 folds": {"grid": whole_grid, DEFAULT: DEFAULT_RACE},
    "its own 5": {"halving": lambda _, given: given.halving},
    "10 folds": {"grid": whole_grid, DEFAULT: DEFAULT_RACE},
    "5 folds, 4 times": {
        "grid": whole_grid,
        "random, 40 %": at_random,
        "TPE, 40 %": by_tpe,
        "race, folds, 0.95": partial(by_race, CorrelatedTRace(TEST_SHARE[20], 0.95)),
        DEFAULT: DEFAULT_RACE,
        "race, independent, 0.95": partial(by_race, CorrelatedTRace(0.0, 0.95)),
        "race, folds, 0.8, rope 0.005": partial(
            by_race, CorrelatedTRace(TEST_SHARE[20], 0.8, 0.005)
        ),
        "race, f-race": partial(by_race, "f-race"),
    },
}


def replayed(data: str, name: str, seed: int) -> dict[tuple[str, str], dict[str, float]]:
    """Return what each search finds on a data set, halved once, by folds and search.

    `share` is its part of the fits of the grid on the same folds, `same` 1 if it has the grid's
    winner, `vs_grid_20` how much more its choice scores on held-out rows than the winner of the
    grid on 20 folds.
    """
    given, found = record(data, name, seed), {}
    reference = given.held_out[whole_grid(given.twenty, given).best]
    for folds, searches in SEARCHES.items():
        scores = {"5 folds": given.twenty[:5], "10 folds": given.ten}.get(folds, given.twenty)
        grid_found = whole_grid(scores, given)
        for search, run in searches.items():
            best, fits, seconds = run(scores, given)
            found[folds, search] = {
                "fits": fits,
                "share": fits / grid_found.fits,
                "cpu_seconds": seconds,
                "same": float(best == grid_found.best),
                "vs_grid_20": given.held_out[best] - reference,
            }
    return found
