"""Searches that race candidates over the folds of a cross-validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import joblib
import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import (
    GroupShuffleSplit,
    ParameterGrid,
    ParameterSampler,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    check_cv,
)
from sklearn.model_selection._search import BaseSearchCV
from sklearn.utils import check_random_state

from racer._checks import is_one_of, whole
from racer._entry import own_mode
from racer.core.budget import Budget
from racer.core.contest import FOLDS
from racer.core.pool import canonical_key
from racer.core.rules import Rules
from racer.deciders.correlated_t import CorrelatedTRace
from racer.deciders.named import as_decider
from racer.errors import SettingError, warn
from racer.evaluate.limits.limits import Limits
from racer.evaluate.workers import Workers
from racer.integrations.sklearn.calls import Desk
from racer.integrations.sklearn.fits import ONE_SCORE_ONLY, Fits, OneFold
from racer.integrations.sklearn.recorded import fold_names, warn_of_new_folds
from racer.integrations.sklearn.results import cv_results, first, warn_of_failures
from racer.racing.race import Race
from racer.run.job import Job, opened
from racer.space.scikit import Named, arguments_of
from racer.space.space import Space
from racer.stats.correlated_t import check_correlation
from racer.store.contest import contest_for
from racer.tuner.tuner import Tuner

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from numpy.random import RandomState

    from racer.deciders.decider import Decider
    from racer.results.base import Result


Correlation = float | Literal["folds"] | None


class RacedSearchCV(BaseSearchCV):  # type: ignore[misc]
    """Base class: a scikit-learn search that changes only the order of the fits."""

    cv: Any
    verbose: int

    def _keep(self, arguments: dict[str, Any]) -> None:
        """Keep the arguments of `__init__` as they are, as scikit-learn wants it."""
        for name, value in arguments.items():
            if name != "self":
                setattr(self, name, value)

    def fit(self, X: Any, y: Any = None, **params: Any) -> Any:
        """Race the candidates over the folds, then fit the best on all data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
        y : array-like of shape (n_samples, n_output) or (n_samples,), optional
        **params
            As in `GridSearchCV.fit`: `groups` (without `cv=`, folds keep them together),
            `sample_weight`, other parameters of the estimator's `fit`, and with metadata routing
            parameters of splitter and scorers.

        Returns
        -------
        self

        Raises
        ------
        SettingError
            A setting that cannot work; it is a ValueError.
        RaceInterrupted
            Ctrl-C, which it is; its `result` is the result so far.
        """
        if self.refit == "front" and "front" not in (self.scoring or ()):
            raise SettingError(
                "refit='front': a front is several models, and one is refitted: give the name of a "
                "score, and read cv_results_['race_probability_front']; racer.race on instances(..) "
                "with evaluator(model, scoring=[..]) races to the front"
            )
        self._validate_params()  # as they are now
        given = {name: getattr(self, name) for name in ("cv", "verbose", "pre_dispatch")}
        folds = OneFold(self._splitter(y, params.get("groups")))
        self._data = (X, y), params
        # scikit-learn sees a single split: one call of joblib is then one fit
        self.cv, self.pre_dispatch = folds, "all"
        self._shows = self.verbose >= 1
        # 1 shows the race; from 2 on scikit-learn shows its fits as well
        self.verbose = self.verbose if self.verbose > 1 else 0
        try:
            with ExitStack() as self._at_first:  # until scikit-learn has chosen its backend
                self._desk = Desk()
                self._at_first.enter_context(joblib.parallel_config(backend=self._desk))
                super().fit(X, y, **params)
        finally:
            self._keep(given)
            del self._shows
            for name in ("_at_first", "_desk", "_data"):
                self.__dict__.pop(name, None)
            self.__dict__.pop("_checked_cv_orig", None)  # which would keep the folds
        self.n_splits_: int = len(folds.folds)
        return self

    def _splitter(self, y: Any, groups: Any) -> Any:
        """Return the splitter of the data: into twenty folds, unless it is given."""
        given = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        if self.cv is not None:
            return given
        if groups is not None:  # none is on both sides of a fold
            return GroupShuffleSplit(20, test_size=0.2, random_state=self._seed())
        stratified = isinstance(given, StratifiedKFold)
        repeated = RepeatedStratifiedKFold if stratified else RepeatedKFold
        # docs/sklearn.md has what was measured
        return repeated(n_splits=5, n_repeats=4, random_state=self._seed())

    @own_mode
    def _run_search(
        self, evaluate_candidates: Callable[..., dict[str, Any]], *, callback_ctx: Any = None
    ) -> None:
        if callback_ctx is None:
            self._search(evaluate_candidates)
            return
        task = callback_ctx.subcontext(
            task_name="search", max_subtasks=None, sequential_subtasks=False
        )
        task.call_on_fit_task_begin(estimator=self)
        self._search(evaluate_candidates, task)
        task.call_on_fit_task_end(estimator=self)

    def _search(self, evaluate_candidates: Callable[..., dict[str, Any]], task: Any = None) -> None:
        self.__dict__.pop("_at_first").close()  # fits see the user's backend
        desk: Desk = self.__dict__.pop("_desk")
        folds: OneFold = self.cv
        self.verbose = 0  # or a search of one fold would be announced
        is_recorded = self.store is not None
        if is_recorded and (
            self.return_train_score or isinstance(self.scoring, list | tuple | set | dict)
        ):
            raise SettingError(ONE_SCORE_ONLY)
        limits = Limits.of(self.limits)
        n_jobs = joblib.effective_n_jobs(self.n_jobs)
        correlation = self._correlation(folds)
        listed = self._fold_names(folds, *self.__dict__.pop("_data"))  # workers need no copy
        fit = desk.take(evaluate_candidates)
        fits = Fits(fit, folds, self.refit, n_jobs, limits, is_recorded=is_recorded, context=task)
        with fit.mapped() if fits.are_elsewhere else nullcontext():
            # P(best) is that of means on folds, which are correlated, wherever it is shown
            result = replace(self._run_contest(fits, listed, correlation), correlation=correlation)
            self._complete(fits, result)
        found = fits.hand_over(desk, evaluate_candidates, result.configs)
        results = cv_results(super()._format_results, fits, result)
        self.result_ = result
        warn_of_failures(results)
        if result.best is None and len(result.configs) > 1:
            warn(f"{result.verdict[0]} best_params_ is the first of those that rank first")
        # in place: scikit-learn goes on with this very dictionary
        found.clear()
        found.update(results)

    def _fold_names(
        self, folds: OneFold, data: tuple[Any, Any], parameters: Mapping[str, Any]
    ) -> list[str]:
        """Return the instances of the race; in a store, named by all that decides a score."""
        if self.store is None:
            return [f"fold {number}" for number in range(len(folds.folds))]
        return fold_names(
            folds.folds,
            data,
            parameters,
            estimator=self.estimator,
            scoring=self.scoring,
            error_score=self.error_score,
        )

    def _run_contest(self, fits: Fits, folds: Sequence[str], correlation: float) -> Result:
        """Hold the contest, and return its result."""
        raise NotImplementedError

    def _raced(
        self, fits: Fits, make: type[Race | Tuner], correlation: float, budget: int, **given: Any
    ) -> Any:
        """Run a contest, in the store if there is one."""
        if self.decider is None:
            decider: Decider = CorrelatedTRace(correlation, self.confidence, self.rope)
        elif self.rope:
            raise SettingError("rope is for the default decider: give it to your own")
        else:
            decider = as_decider(self.decider)
        rules = Rules(
            decider=decider,
            budget=Budget.of(budget),
            maximize=True,
            seed=self._seed(),
            deterministic=True,
            first_test=self.first_test,
        )
        settings = rules.settings()
        if make is Tuner:
            del settings["min_survivors"]
        job = Job(
            fits.fit,
            fits.limits,
            workers=Workers(ahead=0),
            progress=self._shows,
            employ=lambda contest: fits.employ(contest.configs),
            rehearses=False,
            words=FOLDS,
        )
        with opened(self.store) as file:
            if file is not None:
                warn_of_new_folds(file, self.cv)
            contest = contest_for(file, make.kind, {**given, **settings})
            if isinstance(contest, Race):
                contest.warns_of_failed_blocks = False  # scikit-learn warns of failed fits
            return job.start(contest, file)

    def _seed(self) -> int:
        """Return the seed: for the same random_state the same, and always the same for none."""
        if self.random_state is None:
            return 0
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _correlation(self, folds: OneFold) -> float:
        if is_one_of(self.correlation, ("folds",)):
            return folds.test_share()
        if isinstance(self.correlation, str):
            raise SettingError(
                f"correlation={self.correlation!r}: give 'folds', None, or a number from 0 to below 1"
            )
        return 0.0 if self.correlation is None else check_correlation(self.correlation)

    def _complete(self, fits: Fits, result: Result) -> None:
        """Fit the candidate of rank 1 on the folds that it lacks; if it fails there, the next one."""
        scores = np.full((len(result.configs), len(fits.folds.folds)), np.nan)
        run = np.zeros(scores.shape, np.bool_)
        for block, candidate, outcome in result.known.cells():
            at = candidate, result.stream.place(block).instance or 0
            scores[at], run[at] = np.nan if outcome.value is None else outcome.value, True
            if at not in fits.measured:  # recorded: one score, without times
                fits.known[at] = {"test_score": float(scores[at])}
        while True:
            best = first(result, scores, run)
            lacking = np.flatnonzero(~run[best]).tolist()
            if not lacking and not fits.measured:
                lacking = [0]  # all was in the store, and scikit-learn wants one fit at least
            if not lacking:
                return
            for fold, value in fits.complete(best, result.configs[best], lacking):
                scores[best, fold], run[best, fold] = value, True


class RacingSearchCV(RacedSearchCV):
    """Search that drops candidates fold by fold, as soon as the folds prove them no better.

    A drop-in for `GridSearchCV` and `RandomizedSearchCV`: all candidates are fitted on the first
    folds; after each, candidates shown to be no better than the best so far are dropped, and
    the others go on. The best is fitted on all folds.

    Parameters
    ----------
    estimator : estimator object
    param_grid : dict, list of dicts, optional
        A grid, or several, as in `GridSearchCV`; or a list of candidates, each a dict of
        parameters.
    param_distributions : dict or list of dicts, optional
        Instead: lists and distributions to draw from, as in `RandomizedSearchCV`.
    n_candidates : int, optional
        How many to draw; 30 from distributions and all of a grid by default.
    decider : str or Decider, optional
        `racer.deciders.CorrelatedTRace` by default.
    correlation : "folds", float or None
        The claim. "folds": which candidate is best on data like these; two
        folds are taken to be correlated by the fraction of the data that is tested on. A number:
        by that. None: which is best on these data, on the mean of more such folds. It counts for
        `race_probability_best`, and for the default decider.
    confidence : float in (0.5, 1)
        Drop candidates jointly no better with a posterior probability above this, at each test.
        The larger, the more fits, and the more often the winner is as with all fits. Of the
        default decider.
    rope : float >= 0
        A difference of mean scores that does not matter to you: candidates that are no better
        than the best by more than that are dropped. Of the default decider.
    first_test : int
        Number of folds before the first test.
    budget : int, optional
        Fits of the race, if these are to be fewer than candidates times folds.
    cv : int, cross-validation generator or iterable
        As in `GridSearchCV`, except None: five folds, four times, in random order by
        `random_state` (stratified for classifiers), as a race needs folds; with `groups` in `fit`
        as many, each of which tests on a fifth of the groups.
    scoring, n_jobs, refit, error_score, return_train_score
        As in `GridSearchCV`. Workers share the fits of one fold. With several scores the race is
        by the score that `refit` names, else by the first.
    pre_dispatch : int or str
        Has no effect: a worker gets a fit when it is free.
    limits : Limits, optional
        Seconds that a fit and its scoring may take, and bytes beyond its worker's (Linux);
        then it is ended, and has failed.
    verbose : int
        1 shows the progress of the race on standard error, as `racer.race(.., progress=True)`
        does: which candidate is dropped after which fold, and why. 2 or more shows each fit as
        well, as `GridSearchCV` does.
    random_state : int, RandomState instance or None
        For the draws of candidates and of the decider; the latter are the same for None, too.
    store : str or path-like, optional
        A file in which each score is recorded, so that a search that was interrupted goes on where
        it stopped. For one score, without train scores.

    Attributes
    ----------
    cv_results_ : dict
        As in `GridSearchCV`, with NaN for folds that were not run, and means over the others.
        `rank_test_score` is 1 for the most probably best, then survivors, then candidates
        dropped last. Besides: `race_folds` (how many were run), `race_reason` ("" for survivors)
        and `race_against` (opponent: a row, or -1), `race_probability_best`. With several scores
        `race_probability_front`: that no other candidate is better in all of them, on the mean of
        more such folds of these data (as with ``correlation=None``).
    result_ : RaceResult
        The race: eliminations, scores, P(best).
    best_estimator_, best_score_, best_params_, best_index_, scorer_, n_splits_, refit_time_, multimetric_
        As in `GridSearchCV`; `best_score_` is over all folds.

    References
    ----------
    Maron and Moore: Hoeffding races (NIPS 1993); Nadeau and Bengio (Machine Learning 52, 2003).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from racer.integrations.sklearn import RacingSearchCV
    >>> X, y = load_wine(return_X_y=True)
    >>> grid = {"n_neighbors": [1, 5, 15, 45], "p": [1, 2]}
    >>> search = RacingSearchCV(KNeighborsClassifier(), grid).fit(X, y)
    >>> fits = int(search.cv_results_["race_folds"].sum())
    >>> search.best_params_, fits < 8 * search.n_splits_
    ({'n_neighbors': 1, 'p': 1}, True)
    """

    def __init__(
        self,
        estimator: Any,
        param_grid: Any = None,
        *,
        param_distributions: Any = None,
        n_candidates: int | None = None,
        decider: str | Decider | None = None,
        correlation: Correlation = "folds",
        confidence: float = 0.8,
        rope: float = 0.0,
        first_test: int = 3,
        budget: int | None = None,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: Any = True,
        cv: Any = None,
        verbose: int = 0,
        pre_dispatch: int | str = "2*n_jobs",
        limits: Limits | None = None,
        random_state: Any = None,
        error_score: Any = np.nan,
        return_train_score: bool = False,
        store: str | PathLike[str] | None = None,
    ) -> None:
        self._keep(locals())

    def _run_contest(self, fits: Fits, folds: Sequence[str], correlation: float) -> Any:
        named = Named()
        candidates = _candidates(
            self.param_grid,
            self.param_distributions,
            self.n_candidates,
            check_random_state(self.random_state),
            named,
        )
        fits.params = named.params
        every = max(len(candidates) * len(folds), 1)
        budget = every if self.budget is None else self.budget
        return self._raced(fits, Race, correlation, budget, candidates=candidates, instances=folds)


class TunedSearchCV(RacedSearchCV):
    """Search of a space by races in series, with new candidates around the best so far.

    `racer.tune` on the folds of a cross-validation, as a drop-in for `RandomizedSearchCV`: the
    first race is among candidates from the whole space; survivors race against new ones
    around them, until the fits are spent. The best is then fitted on all folds.

    Parameters
    ----------
    estimator : estimator object
    space : Space, dict, or list of dicts
        A `racer.Space`, or arguments of `racer.Space.from_sklearn`: lists and distributions,
        as in `RandomizedSearchCV`. Lists may hold objects, such as estimators.
    budget : int
        Fits of all races together.
    elites : int, optional
        Candidates that survive a race.
    decider, correlation, confidence, rope, first_test, cv, random_state, store
        As in `RacingSearchCV`.
    scoring, n_jobs, refit, verbose, pre_dispatch, limits, error_score, return_train_score
        As in `RacingSearchCV`.

    Attributes
    ----------
    cv_results_ : dict
        As in `RacingSearchCV`, of all candidates that were tried. First come the elites of the
        last race, then candidates fitted on most folds.
    result_ : TuneResult
        The tuning: elites, P(best), where each candidate came from.
    best_estimator_, best_score_, best_params_, best_index_, scorer_, n_splits_, refit_time_, multimetric_
        As in `GridSearchCV`.

    References
    ----------
    López-Ibáñez et al., Operations Research Perspectives 3 (2016).

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from racer.integrations.sklearn import TunedSearchCV
    >>> X, y = load_wine(return_X_y=True)
    >>> space = {"alpha": loguniform(1e-4, 1e4), "fit_intercept": [True, False]}
    >>> search = TunedSearchCV(RidgeClassifier(), space, budget=150).fit(X, y)
    >>> bool(search.best_score_ > 0.98), search.result_.evaluations <= 150
    (True, True)
    """

    def __init__(
        self,
        estimator: Any,
        space: Any,
        *,
        budget: int,
        elites: int | None = None,
        decider: str | Decider | None = None,
        correlation: Correlation = "folds",
        confidence: float = 0.8,
        rope: float = 0.0,
        first_test: int = 3,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: Any = True,
        cv: Any = None,
        verbose: int = 0,
        pre_dispatch: int | str = "2*n_jobs",
        limits: Limits | None = None,
        random_state: Any = None,
        error_score: Any = np.nan,
        return_train_score: bool = False,
        store: str | PathLike[str] | None = None,
    ) -> None:
        self._keep(locals())

    def _run_contest(self, fits: Fits, folds: Sequence[str], correlation: float) -> Any:
        if isinstance(self.space, Space):
            space = self.space
        else:
            arguments, named = arguments_of(self.space)
            space = Space(**arguments)
            fits.params = named.params
        given = {"space": space, "instances": folds, "elites": self.elites}
        return self._raced(fits, Tuner, correlation, self.budget, **given, instance_order="given")


def _candidates(
    param_grid: Any,
    param_distributions: Any,
    n_candidates: int | None,
    random: RandomState,
    named: Named,
) -> list[dict[str, Any]]:
    """Return the candidates, each once, with names where a race would take 1.0 for 1."""
    if (param_grid is None) is (param_distributions is None):
        raise SettingError("give one of param_grid and param_distributions")
    if n_candidates is not None:
        whole(n_candidates, "n_candidates", least=1)
    if _is_listed(param_grid):
        listed = [dict(params) for params in param_grid]
        if n_candidates is not None:
            raise SettingError("n_candidates does not go with a list of candidates: shorten that")
    elif param_grid is not None and n_candidates is None:
        listed = list(ParameterGrid(param_grid))
    else:
        space = param_grid if param_distributions is None else param_distributions
        listed = list(ParameterSampler(space, n_candidates or 30, random_state=random))
    once: dict[Any, dict[str, Any]] = {}
    for params in listed:
        config = {
            name: named.told_apart(name, _plain(value), canonical_key(value))
            for name, value in params.items()
        }
        once.setdefault(canonical_key(config), config)
    return list(once.values())


def _plain(value: Any) -> Any:
    """Return a number of NumPy as Python's, which prints as a number, and all else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def _is_listed(param_grid: Any) -> bool:
    """Return whether these are candidates: no value is a list or an array, and not all are tuples."""
    listed = param_grid if isinstance(param_grid, list | tuple) else ()
    if not listed or not all(isinstance(params, Mapping) for params in listed):
        return False
    values = [value for params in param_grid for value in params.values()]
    return not any(isinstance(value, list | np.ndarray) for value in values) and not all(
        isinstance(value, Sequence) and not isinstance(value, str) for value in values
    )
