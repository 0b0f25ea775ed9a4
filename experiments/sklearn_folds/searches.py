"""Searches replayed on recorded tables: the same decisions as if their fits were made."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import optuna

from experiments.sklearn_folds.data import grid
from racer import Race
from racer.deciders import CorrelatedTRace
from racer.stats import correlated_t_test

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from experiments.sklearn_folds.record import Recorded
    from racer.deciders import Decider

__all__ = ["SEARCHES", "Found", "OneSearch"]


class OneSearch(NamedTuple):
    """What a search is given: a recorded table, the kind of classifier, and a seed."""

    recorded: Recorded
    estimator: str
    seed: int


class Found(NamedTuple):
    """What a search has found.

    Attributes
    ----------
    best : int
        The candidate.
    fits : float
    seconds : float
        Of CPU time, for the fits and their scores.
    chance : float
        P(best); NaN where it says none.
    is_best : float
        1 if it has the best held-out score of the survivors, NaN where it says none.
    """

    best: int
    fits: float
    seconds: float
    chance: float = float("nan")
    is_best: float = float("nan")


def _grid(scores: NDArray[np.float64], given: OneSearch) -> Found:
    """Fit all candidates on all folds."""
    n, m = scores.shape
    return Found(int(scores.mean(axis=0).argmax()), n * m, n * given.recorded.seconds.sum())


def _random(scores: NDArray[np.float64], given: OneSearch, share: float) -> Found:
    """Fit some candidates on all folds."""
    n, m = scores.shape
    drawn = np.random.default_rng(given.seed).choice(m, max(round(share * m), 1), replace=False)
    best = drawn[scores[:, drawn].mean(axis=0).argmax()]
    return Found(int(best), n * len(drawn), n * given.recorded.seconds[drawn].sum())


def _optuna(scores: NDArray[np.float64], given: OneSearch, share: float) -> Found:
    """Let Optuna's TPE choose candidates, fitted on all folds: as OptunaSearchCV does."""
    n, m = scores.shape
    candidates = grid(given.estimator)
    values = {name: list(dict.fromkeys(c[name] for c in candidates)) for name in candidates[0]}
    study = optuna.create_study(
        direction="maximize", sampler=optuna.samplers.TPESampler(seed=given.seed)
    )
    tried: list[int] = []

    def objective(trial: optuna.Trial) -> float:
        config = {name: trial.suggest_categorical(name, of) for name, of in values.items()}
        tried.append(candidates.index(config))
        return float(scores[:, tried[-1]].mean())

    study.optimize(objective, n_trials=max(round(share * m), 1))
    best = max(tried, key=lambda candidate: float(scores[:, candidate].mean()))
    return Found(best, n * len(tried), n * given.recorded.seconds[tried].sum())


def _halving(scores: NDArray[np.float64], given: OneSearch) -> Found:  # noqa: ARG001
    """Return what HalvingGridSearchCV found when it was run."""
    best, fits, seconds = given.recorded.halving.tolist()
    return Found(int(best), fits, seconds)


def _race(
    scores: NDArray[np.float64], given: OneSearch, decider: str | Decider, first_test: int = 3
) -> Found:
    """Race, as RacingSearchCV does; the best is fitted on all folds."""
    n, m = scores.shape
    race = Race(
        range(m),
        range(n),
        decider=decider,
        budget=n * m,
        maximize=True,
        deterministic=True,
        each_test=1,
        first_test=first_test,
        seed=0,
    )
    fits = np.zeros(m)
    while cells := race.ask():
        alive = list(race.alive)
        fits[alive] += 1
        race.tell_block(scores[cells[0].block, alive])
    result = race.result()
    best = result.survivors[0]
    fits[best] = n
    told = Found(best, float(fits.sum()), float(fits @ given.recorded.seconds))
    survivors = list(result.survivors)
    if len(survivors) < 2:
        return told._replace(chance=1.0, is_best=1.0)
    share = _TEST_SHARE[n]
    seen = scores[: race.n_blocks, survivors]
    chance = correlated_t_test(seen, correlation=share, maximize=True).best[0]
    held_out = given.recorded.held_out[survivors]
    return told._replace(chance=float(chance), is_best=float(held_out[0] == held_out.max()))


_TEST_SHARE = {5: 0.2, 10: 0.1, 20: 0.2}
_Search = "Callable[[NDArray[np.float64], OneSearch], Found]"


def _races(n: int) -> dict[str, Callable[[NDArray[np.float64], OneSearch], Found]]:
    def race(decider: str | Decider, first_test: int = 3) -> Callable[..., Found]:
        return lambda scores, given: _race(scores, given, decider, first_test)

    share = _TEST_SHARE[n]
    return {
        **{
            f"race, folds, {confidence}": race(CorrelatedTRace(share, confidence))
            for confidence in (0.95, 0.9, 0.8)
        },
        **{
            f"race, independent, {confidence}": race(CorrelatedTRace(0.0, confidence))
            for confidence in (0.95, 0.8)
        },
        "race, folds, 0.8, rope 0.005": race(CorrelatedTRace(share, 0.8, 0.005)),
        "race, f-race": race("f-race"),
        "race, t-race": race("t-race"),
        "race, bayesian-friedman": race("bayesian-friedman"),
    }


SEARCHES: Mapping[str, Callable[[NDArray[np.float64], OneSearch], Found]] = {
    "grid": _grid,
    "random, 40 %": lambda scores, given: _random(scores, given, 0.4),
    "TPE, 40 %": lambda scores, given: _optuna(scores, given, 0.4),
    "halving": _halving,
}


def searches(n: int) -> Mapping[str, Callable[[NDArray[np.float64], OneSearch], Found]]:
    """Return the searches on n folds, by name; halving has folds of its own."""
    only = {name: search for name, search in SEARCHES.items() if name != "halving" or n == 5}
    return {**only, **_races(n)}
