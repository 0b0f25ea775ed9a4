"""The searches as scikit-learn's users know them: what GridSearchCV does, on fewer fits."""

import functools
import inspect
import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from playing import eliminated
from scipy.stats import loguniform
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import estimator_checks
from typed import typed

from racer import (
    Ended,
    RaceInterrupted,
    RacerError,
    RacerWarning,
    SettingError,
    StoreError,
    load,
)
from racer.deciders import CorrelatedTRace
from racer.integrations.sklearn import RacingSearchCV, TunedSearchCV
from racer.integrations.sklearn.results import warn_of_failures
from racer.stats import front_posterior

X, Y = make_classification(
    120, n_features=6, n_informative=3, n_classes=3, n_clusters_per_class=1, random_state=1
)
GRID = {"max_depth": [1, 3, 6, 12], "min_samples_leaf": [2, 40]}
NEVER = 10**6  # a first test that no race reaches


def raced(grid=None, estimator=None, **settings):
    """Return a search among eight trees, or others."""
    estimator = DecisionTreeClassifier(random_state=0) if estimator is None else estimator
    settings = {"random_state": 1, **settings}
    return RacingSearchCV(estimator, GRID if grid is None else grid, **settings)


def tuned(space=None, estimator=None, **settings):
    """Return a search for a ridge, or another space."""
    settings = {"budget": 40, "random_state": 1, "cv": 5, **settings}
    space = (
        {"alpha": loguniform(1e-3, 1e3), "fit_intercept": [True, False]} if space is None else space
    )
    return TunedSearchCV(RidgeClassifier() if estimator is None else estimator, space, **settings)


RACED = functools.partial(raced, {"alpha": [1e-3, 1.0, 1e3]}, RidgeClassifier(), cv=5)
TUNED = functools.partial(tuned, budget=30)
BOTH = pytest.mark.parametrize("search", [RACED, TUNED], ids=["raced", "tuned"])


@functools.cache
def searched():
    """Return a race of the grid, and the same by GridSearchCV."""
    cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0)
    whole = GridSearchCV(DecisionTreeClassifier(random_state=0), GRID, cv=cv)
    return raced(cv=cv).fit(X, Y), whole.fit(X, Y)


# -- what is found, and what is said of it


def test_the_winner_is_that_of_the_whole_grid_on_fewer_fits():
    found, whole = searched()
    assert found.best_params_ == whole.best_params_
    assert found.best_score_ == whole.best_score_
    assert found.best_index_ == whole.best_index_ == found.result_.best_index
    assert (found.predict(X) == whole.predict(X)).all()
    assert found.score(X, Y) == whole.score(X, Y)
    assert found.n_splits_ == 10
    assert found.cv_results_["race_folds"].sum() < 60 < 80


def test_folds_that_were_run_have_the_scores_of_the_grid_and_the_others_none():
    found, whole = searched()
    for fold in range(10):
        run = found.cv_results_["race_folds"] > fold
        scores = found.cv_results_[f"split{fold}_test_score"]
        assert (scores[run] == whole.cv_results_[f"split{fold}_test_score"][run]).all()
        assert np.isnan(scores[~run]).all()
    assert {*whole.cv_results_} == {key for key in found.cv_results_ if key[:5] != "race_"}
    assert found.cv_results_["params"] == whole.cv_results_["params"]
    assert (found.cv_results_["param_max_depth"] == whole.cv_results_["param_max_depth"]).all()


def test_a_mean_is_over_the_folds_that_were_run_and_ranks_are_standings():
    results = searched()[0].cv_results_
    frame = pd.DataFrame(results)
    scores = frame.filter(regex=r"^split\d+_test_score$")
    assert np.allclose(results["mean_test_score"], scores.mean(axis=1))
    assert np.allclose(results["std_test_score"], scores.std(axis=1, ddof=0))
    ordered = frame.sort_values("rank_test_score")
    assert ordered["race_folds"].is_monotonic_decreasing
    survivors = ordered["race_reason"] == ""
    assert (ordered["race_folds"][survivors] == 10).all()
    assert not survivors[survivors.sum() :].any()  # no candidate that was dropped is before one


def test_the_race_says_who_was_dropped_by_whom_and_how_sure_it_is_of_the_best():
    found = searched()[0]
    results, result = found.cv_results_, found.result_
    for drop in eliminated(result):
        assert results["race_reason"][drop.candidate] == drop.reason == "inferior"
        assert results["race_against"][drop.candidate] == drop.against
        assert results["race_folds"][drop.candidate] == drop.block + 1
    known = results["race_probability_best"]
    assert np.nansum(known) == pytest.approx(1.0)
    assert result.probability_best == dict(enumerate(known))
    assert found.best_index_ == result.best_index
    assert result.evaluations <= results["race_folds"].sum()


def test_without_a_test_it_is_grid_search():
    found = raced(first_test=NEVER, cv=4, return_train_score=True).fit(X, Y)
    whole = GridSearchCV(
        DecisionTreeClassifier(random_state=0), GRID, cv=4, return_train_score=True
    ).fit(X, Y)
    for key, column in whole.cv_results_.items():
        if "time" not in key and key != "rank_test_score":
            assert np.array_equal(np.asarray(found.cv_results_[key]), np.asarray(column)), key
    best = whole.cv_results_["rank_test_score"] == 1
    assert best[found.cv_results_["rank_test_score"].argmin()]


@pytest.mark.parametrize(("depths", "blocks"), [([6, 1], 9), ([6], 0)])
def test_the_best_is_fitted_on_all_folds_though_the_race_is_decided_before(depths, blocks):
    found = raced({"max_depth": depths}, cv=10).fit(X, Y)
    assert len(found.result_.blocks) <= blocks
    assert found.cv_results_["race_folds"][found.best_index_] == 10
    scores = cross_val_score(DecisionTreeClassifier(max_depth=6, random_state=0), X, Y, cv=10)
    assert found.best_score_ == pytest.approx(scores.mean())


# -- what the folds are to prove


def test_by_default_there_are_five_folds_four_times():
    found = raced({"max_depth": [1, 2]}, random_state=None).fit(X, Y)
    assert found.n_splits_ == 20
    cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=4, random_state=0)
    again = raced({"max_depth": [1, 2]}, cv=cv).fit(X, Y)
    assert again.best_score_ == found.best_score_


@pytest.mark.parametrize("cv", [8, ShuffleSplit(8, test_size=0.125, random_state=0)])
def test_folds_are_correlated_by_the_share_that_is_tested_on(cv):
    chances = [
        raced({"max_depth": [3, 4]}, cv=cv, confidence=0.999, correlation=correlation)
        .fit(X, Y)
        .result_.probability_best
        for correlation in ("folds", 0.125, None, 0.0)
    ]
    assert chances[0] == chances[1]
    assert chances[2] == chances[3]
    assert max(chances[0].values()) < max(chances[2].values())


def test_a_rope_drops_what_is_no_better_by_more_than_that():
    grid = {"alpha": [1.0, 1.1, 1.2, 1e4]}
    found = raced(grid, RidgeClassifier(), rope=0.2, cv=5).fit(X, Y)
    assert found.result_.ended == Ended.DECIDED
    assert "indistinguishable" in {*found.result_.eliminations["reason"]}


def test_another_decider_may_race():
    given = searched()[0]
    assert eliminated(clone(given).set_params(decider="t-race").fit(X, Y).result_)
    own = clone(given).set_params(decider=CorrelatedTRace(0.2, 0.8))
    assert eliminated(own.fit(X, Y).result_) == eliminated(given.result_)


# -- candidates


def test_candidates_are_drawn_from_distributions_or_a_grid_or_listed():
    drawn = RacingSearchCV(
        RidgeClassifier(),
        param_distributions={"alpha": loguniform(1e-3, 1e3)},
        n_candidates=4,
        random_state=3,
        cv=3,
    )
    again = clone(drawn)
    assert len(drawn.fit(X, Y).cv_results_["params"]) == 4
    assert drawn.cv_results_["params"] == again.fit(X, Y).cv_results_["params"]
    assert len(raced(n_candidates=3, cv=3).fit(X, Y).cv_results_["params"]) == 3
    listed = [{"max_depth": 5}, {"max_depth": 5, "splitter": "random"}, {"max_depth": 5}]
    found = raced(listed, cv=3).fit(X, Y).cv_results_
    assert found["params"] == listed[:2]  # each once
    assert found["param_splitter"].mask.tolist() == [True, False]


@BOTH
def test_verbose_shows_the_race_and_then_each_fit(search, capsys):
    fitted = search(verbose=1).fit(X, Y)
    said = capsys.readouterr()
    assert fitted.verbose == 1
    assert said.out == ""
    assert " candidates" in said.err
    assert " fits: " in said.err
    search(verbose=2).fit(X, Y)
    more = capsys.readouterr()
    assert more.out.count("[CV] END") == sum(fitted.cv_results_["race_folds"])
    assert "Fitting" not in more.out
    assert more.err.count("dropped") == said.err.count("dropped")


@pytest.mark.thorough
@pytest.mark.skipif(
    "on_fail" not in inspect.signature(estimator_checks.check_estimator).parameters,
    reason="check_estimator of scikit-learn before 1.6 tells no results",
)
@pytest.mark.filterwarnings("ignore")
def test_what_scikit_learn_checks_of_an_estimator_holds_where_grid_search_does():
    def failing(search):
        found = estimator_checks.check_estimator(search, on_fail=None, on_skip=None)
        return {one["check_name"] for one in found if one["status"] == "failed"}

    grid = {"alpha": [0.1, 1.0]}
    space = {"alpha": loguniform(0.01, 10.0)}
    failed = failing(RacingSearchCV(Ridge(), grid, cv=2))
    failed |= failing(TunedSearchCV(Ridge(), space, budget=4, cv=2))
    checks = estimator_checks.estimator_checks_generator(GridSearchCV(Ridge(), grid, cv=2))
    for search, check in checks:
        if check.func.__name__ in failed:
            with pytest.raises((AssertionError, TypeError, ValueError)):
                check(search)
            failed.remove(check.func.__name__)
    assert not failed


def test_estimators_may_be_values():
    scalers = [StandardScaler(), MinMaxScaler(), "passthrough"]
    pipeline = Pipeline([("scale", None), ("model", RidgeClassifier())])
    found = raced({"scale": scalers, "model__alpha": [1.0, 1e6]}, pipeline, cv=4).fit(X, Y)
    assert found.best_params_["model__alpha"] == 1.0
    assert len(found.cv_results_["params"]) == 6
    space = [
        {"model": [RidgeClassifier()], "model__alpha": loguniform(1e-2, 1e2), "scale": scalers},
        {"model": [GaussianNB()], "model__var_smoothing": [1e-9, 1e-6, 1e-3, 1.0]},
    ]
    search = tuned(space, pipeline, budget=60).fit(X, Y)
    kinds = {type(params["model"]) for params in search.cv_results_["params"]}
    assert kinds == {RidgeClassifier, GaussianNB}
    assert search.best_params_ in search.cv_results_["params"]
    assert search.best_index_ == search.result_.best_index


def test_one_feature_and_all_features_are_two_candidates():
    """An int and a float that are equal mean different things to scikit-learn."""
    values = [1, 1.0]
    model = DecisionTreeClassifier(random_state=0)
    grid = GridSearchCV(model, {"max_features": values}, cv=4).fit(X, Y)
    found = raced({"max_features": [*values, 1]}, cv=4, first_test=4).fit(X, Y)
    assert list(map(repr, found.cv_results_["params"])) == [
        repr({"max_features": value}) for value in values
    ]
    means = [search.cv_results_["mean_test_score"].tolist() for search in (found, grid)]
    assert means[0] == pytest.approx(means[1])
    assert means[1][0] != means[1][1]
    space = {"max_features": values, "criterion": ["gini", "entropy"]}
    search = TunedSearchCV(model, space, budget=40, cv=4, random_state=1).fit(X, Y)
    drawn = {repr(params["max_features"]) for params in search.cv_results_["params"]}
    assert drawn == {"1", "1.0"}


# -- scikit-learn's contract


@BOTH
def test_clones_workers_pickles_pipelines_and_nested_cross_validation_change_nothing(search):
    found = search().fit(X, Y)
    with joblib.parallel_config("threading"):
        twin = clone(found).set_params(n_jobs=2).fit(X, Y)
    assert twin.best_params_ == found.best_params_
    assert eliminated(twin.result_) == eliminated(found.result_)
    assert len(cross_val_score(search(cv=3), X, Y, cv=2)) == 2
    assert not {"_data", "_checked_cv_orig"} & vars(found).keys()
    assert found.cv == 5
    again = pickle.loads(pickle.dumps(found))
    assert (again.predict(X) == found.predict(X)).all()
    assert again.result_.probability_best == found.result_.probability_best
    outside = make_pipeline(StandardScaler().set_output(transform="pandas"), search())
    assert outside.fit(X, Y).score(X, Y) > 0.6


class Weighed(RidgeClassifier):
    """A ridge that insists on weights, and counts them."""

    def fit(self, X, y, sample_weight=None):
        assert len(sample_weight) == len(X)
        return super().fit(X, y, sample_weight)


@BOTH
def test_groups_go_to_the_splitter_and_metadata_is_routed(search):
    weights = np.ones(120)
    groups = np.arange(120) % 6
    assert search(cv=GroupKFold(3)).fit(X, Y, groups=groups).n_splits_ == 3
    with sklearn.config_context(enable_metadata_routing=True):
        model = Weighed().set_fit_request(sample_weight=True)
        model = model.set_score_request(sample_weight=False)
        found = search(cv=GroupKFold(3)).set_params(estimator=model)
        found.fit(X, Y, sample_weight=weights, groups=groups)
    assert found.n_splits_ == 3
    again = search().set_params(estimator=Weighed()).fit(X, Y, sample_weight=weights)
    assert again.best_score_ > 0.5


def test_without_cv_groups_stay_together():
    """Ten near copies of each of 30 samples, whose classes are drawn: folds of samples say > 0.9."""
    rng, groups = np.random.default_rng(1), np.repeat(np.arange(30), 10)
    near = rng.normal(size=(30, 3))[groups] + 1e-3 * rng.normal(size=(300, 3))
    found = RacingSearchCV(KNeighborsClassifier(), {"n_neighbors": [1]}).fit(
        near, groups % 2, groups=groups
    )
    assert found.best_score_ < 0.7
    assert found.n_splits_ == 20


@BOTH
def test_several_scores(search):
    scoring = ["accuracy", "balanced_accuracy"]
    found = search(scoring=scoring, refit="balanced_accuracy").fit(X, Y)
    results = found.cv_results_
    assert found.best_score_ == results["mean_test_balanced_accuracy"][found.best_index_]
    assert results["rank_test_balanced_accuracy"][found.best_index_] == 1
    assert found.result_.mean(found.best_index_) == pytest.approx(found.best_score_)
    assert {"rank_test_accuracy", "std_test_accuracy", "split0_test_accuracy"} <= results.keys()
    assert set(found.scorer_) == set(scoring)
    chances = results["race_probability_front"]
    n = len(results["params"])
    table = [
        [results[f"split{fold}_test_{name}"] for fold in range(found.n_splits_)] for name in scoring
    ]
    expected = front_posterior(table, maximize=[True, True]).probability_front
    assert chances.tolist() == expected.tolist()
    assert chances.shape == (n,)
    no_refit = search(scoring=scoring, refit=False).fit(X, Y)
    assert not hasattr(no_refit, "best_estimator_")


@pytest.mark.parametrize(
    ("search", "names"),
    [(RACED, ("a", "score")), (TUNED, ("score", "b")), (RACED, ("b",)), (TUNED, ("score",))],
)
def test_a_score_may_be_named_score(search, names):
    scoring = dict(zip(names, ("accuracy", "f1_macro"), strict=False))
    results = search(scoring=scoring, refit=names[0]).fit(X, Y).cv_results_
    whole = GridSearchCV(RidgeClassifier(), {"alpha": [1]}, scoring=scoring, refit=False)
    kinds = ("mean_test_", "std_test_", "rank_test_", "split0_test_")
    tested = {key for key in whole.fit(X, Y).cv_results_ if key.startswith(kinds)}
    assert {key for key in results if key.startswith(kinds)} == tested
    for name in names:  # of folds that were run; each score has values of its own
        rows = [row for row in range(len(results["params"])) if results["race_folds"][row]]
        folds = np.array([results[f"split{i}_test_{name}"] for i in range(5)])[:, rows]
        assert np.nanmean(folds, axis=0) == pytest.approx(results[f"mean_test_{name}"][rows])


@BOTH
def test_a_front_cannot_be_refitted(search):
    with pytest.raises(SettingError, match="race_probability_front"):
        search(scoring=["accuracy", "balanced_accuracy"], refit="front").fit(X, Y)
    assert "race_probability_front" not in search().fit(X, Y).cv_results_


@BOTH
def test_scores_and_refits_by_functions(search):
    found = search(
        scoring=lambda model, X, y: model.score(X, y),
        refit=lambda results: int(results["rank_test_score"].argmax()),
    ).fit(X, Y)
    assert found.best_index_ == found.cv_results_["rank_test_score"].argmax()


# -- what fails


class Moody(ClassifierMixin, BaseEstimator):
    """Fails as it is told: never, always, or where the first row is among those to learn from."""

    def __init__(self, mood="calm", share=0.5):
        self.mood = mood
        self.share = share

    def fit(self, X, y):
        if self.mood == "always" or (self.mood == "first" and (X[:, 0] == X.max()).any()):
            raise ValueError("in a mood")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.where(np.arange(len(X)) < self.share * len(X), 0, 1)


ROWS = np.arange(40.0)[:, None]
HALVES = np.tile([0] * 4 + [1] * 4, 5)  # in each of five folds
SIXTY = np.arange(60.0)[:, None]


def test_a_candidate_that_fails_is_last_and_warned_of_unless_it_has_a_score_then():
    grid = {"mood": ["always", "first", "calm"]}
    with pytest.warns(FitFailedWarning), pytest.warns(UserWarning, match="scores are non-finite"):
        found = raced(grid, Moody(), cv=KFold(5)).fit(ROWS, HALVES)
    assert found.best_params_ == {"mood": "calm"}
    assert found.cv_results_["rank_test_score"].tolist() == [2, 2, 1]
    assert np.isnan(found.cv_results_["mean_test_score"][:2]).all()
    with pytest.warns(FitFailedWarning):
        found = raced(grid, Moody(), cv=KFold(5), error_score=-1.0).fit(ROWS, HALVES)
    assert found.cv_results_["mean_test_score"][0] == -1.0


class FailsOn(BaseEstimator):
    """Scores its level with noise; cannot be scored with these rows, all or by level."""

    def __init__(self, level=0, rows=()):
        self.level = level
        self.rows = rows

    def fit(self, X, y):
        return self

    def score(self, X, y):
        rows = self.rows[self.level] if isinstance(self.rows, dict) else self.rows
        if np.isin(rows, X).any():
            raise ValueError("no score here")
        return self.level + 0.1 * np.random.default_rng(int(X[:, 0].sum())).normal()


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::RuntimeWarning")
def test_the_best_score_is_over_all_folds_though_the_leader_fails_on_one():
    """On the last one, which the race does not need."""
    estimator, grid = FailsOn(rows={0: (), 9: (57,)}), {"level": [0, 9]}
    found = raced(grid, estimator, cv=KFold(10)).fit(SIXTY, np.zeros(60))
    whole = GridSearchCV(estimator, grid, cv=KFold(10)).fit(SIXTY, np.zeros(60))
    assert len(found.result_.blocks) < 10
    assert found.best_params_ == whole.best_params_ == {"level": 0}
    assert found.cv_results_["race_folds"].tolist() == [10, 10]
    assert found.best_score_ == pytest.approx(whole.best_score_)


def test_errors_are_raised_where_that_is_asked_for_or_where_nothing_succeeds():
    with pytest.raises(ValueError, match="in a mood"):
        raced({"mood": ["calm", "always"]}, Moody(), error_score="raise").fit(ROWS, HALVES)
    with pytest.raises(ValueError, match="fits failed"):
        raced({"mood": ["always"], "share": [0.1, 0.2]}, Moody()).fit(ROWS, HALVES)


def test_a_candidate_that_was_never_fitted_is_no_failure():
    results = {"race_folds": np.array([2, 0]), "mean_test_score": np.array([0.5, np.nan])}
    warn_of_failures(results)
    with pytest.warns(UserWarning, match="One or more of the test scores are non-finite"):
        warn_of_failures(results | {"race_folds": np.array([2, 1])})


def test_a_fold_on_which_all_fail_is_set_aside():
    """Its training part has no second class, which a classifier needs."""
    target = np.repeat([0, 1], [30, 10])
    with (
        pytest.warns(FitFailedWarning, match="2 fits failed out of a total of 8"),
        pytest.warns(UserWarning, match="non-finite"),
    ):
        found = raced({"C": [1e-4, 1.0]}, LogisticRegression(), cv=KFold(4)).fit(ROWS, target)
    assert np.isnan(found.cv_results_["split3_test_score"]).all()
    assert found.result_.blocks["set_aside"].tolist() == [False] * 3 + [True]


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "rows",
    [(7,), (57,), {0: (1,), 1: (2,), 2: (7,), 3: (57,)}],
    ids=["all in the race", "all after it", "each on its own fold"],
)
def test_where_each_candidate_fails_somewhere_the_best_is_that_of_the_race(rows):
    estimator = FailsOn(rows=rows)
    found = raced({"level": [0, 1, 2, 3]}, estimator, cv=KFold(10)).fit(SIXTY, np.zeros(60))
    results = found.cv_results_
    assert found.best_params_ == found.result_.best == {"level": 3}
    assert results["rank_test_score"][3] == 1
    assert results["race_reason"].tolist() == ["inferior"] * 3 + [""]
    assert results["race_folds"][3] == 10
    assert np.isnan(results["mean_test_score"]).all()


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"param_grid": None}, "give one of param_grid and param_distributions"),
        ({"param_distributions": {"max_depth": [1]}}, "give one of"),
        ({"decider": "f-race", "rope": 0.1}, "rope is for the default decider"),
        ({"budget": 3}, "raise the budget"),
        ({"budget": 0}, "budget of 0"),
    ],
)
def test_settings_that_cannot_work_are_refused_before_a_fit(settings, says):
    search = raced(GRID, Moody("always"), cv=KFold(5)).set_params(**settings)
    with pytest.raises(RacerError, match=says):
        search.fit(ROWS, HALVES)


# -- stores and interrupts


@BOTH
def test_a_search_goes_on_where_it_was_interrupted(search, tmp_path, path, monkeypatch):
    whole = search(store=tmp_path / "whole.db").fit(X, Y)
    kept = load(tmp_path / "whole.db")
    assert kept.probability_best == whole.result_.probability_best
    monkeypatch.setattr(RidgeClassifier, "fit", counted([], RidgeClassifier.fit, last=8))
    with pytest.raises(RaceInterrupted, match="call its fit with the same data again, store='"):
        search(store=path).fit(X, Y)
    shown = typed("resume", path)
    assert "call its fit with the same data again" in " ".join(shown.output.split())
    monkeypatch.undo()
    done = []
    monkeypatch.setattr(RidgeClassifier, "fit", counted(done, RidgeClassifier.fit))
    found = search(store=path).fit(X, Y)
    assert found.best_params_ == whole.best_params_
    assert eliminated(found.result_) == eliminated(whole.result_)
    for key in ("mean_test_score", "rank_test_score", "race_folds"):
        assert np.array_equal(found.cv_results_[key], whole.cv_results_[key], equal_nan=True)
    assert 0 < len(done) <= whole.cv_results_["race_folds"].sum() - 5
    with pytest.raises(StoreError, match=other("data")):
        search(store=path).fit(X + 1.0, Y)


def score_of(model, X, y):
    return model.score(X, y)


def other(part):
    """Return the pattern of a refusal in which a digest differs."""
    return rf"{part} (\w{{12}})\b.* has .*{part} (?!\1)\w{{12}}\b"


def recorded_search(path, *, parameters=None, **settings):
    settings = {"scoring": "accuracy", "cv": KFold(3, shuffle=True, random_state=1)} | settings
    return raced({"max_depth": [1, 3]}, store=path, **settings).fit(X, Y, **(parameters or {}))


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"scoring": "f1_macro"}, r"\(scoring f1_macro, .* has 'fold 0 \(scoring accuracy, "),
        ({"scoring": make_scorer(f1_score, average="macro")}, r"\(scoring .*Scorer \w{12}, "),
        ({"scoring": score_of}, r"\(scoring .*test_search\.score_of, "),
        ({"error_score": 0}, r"error_score 0.0, .*error_score nan, "),
        ({"cv": KFold(3, shuffle=True, random_state=2)}, other("rows")),
        ({"cv": KFold(3, shuffle=True)}, other("rows")),
        ({"cv": KFold(4)}, r"correlation=0\.25, .* has .*correlation=0\.33"),
        ({"parameters": {"sample_weight": Y + 1.0}}, other("parameters")),
        ({"estimator": DecisionTreeClassifier(random_state=1)}, other("estimator")),
    ],
)
def test_a_store_refuses_what_would_mix_scores(changed, says, path):
    recorded_search(path)
    with pytest.raises(StoreError, match=says):
        recorded_search(path, **changed)


def test_scorers_without_a_digest_are_told_apart_by_their_text(path):

    def loss(y, found):
        return (y != found).mean()

    for _ in range(2):
        recorded_search(path, scoring=make_scorer(loss, greater_is_better=False))
    with pytest.raises(StoreError, match=r"\(scoring "):
        recorded_search(path, scoring=make_scorer(loss))


def test_equal_folds_and_unused_groups_go_on(tmp_path):
    folds = [*KFold(3).split(X)]
    recorded_search(tmp_path / "run.db", cv=folds)
    as_lists = [(train.tolist(), test.astype(np.int32)) for train, test in folds]
    recorded_search(tmp_path / "run.db", cv=as_lists, parameters={"groups": np.arange(len(X))})


def test_folds_that_no_call_makes_again_are_warned_of_at_the_start(tmp_path):
    with pytest.warns(RacerWarning, match="no other call can go on with store .* random_state"):
        recorded_search(tmp_path / "run.db", cv=KFold(3, shuffle=True))
    with pytest.raises(StoreError, match="give that, or another store"):
        recorded_search(tmp_path / "run.db", cv=KFold(3, shuffle=True))


def test_what_has_no_digest_is_refused_with_a_store_only(tmp_path):
    model = make_pipeline(FunctionTransformer(lambda X: X), DecisionTreeClassifier())
    grid = {"decisiontreeclassifier__max_depth": [1, 3]}
    raced(grid, model, cv=3).fit(X, Y)
    with pytest.raises(SettingError, match="the estimator cannot be compared with a store"):
        raced(grid, model, cv=3, store=tmp_path / "run.db").fit(X, Y)


@pytest.mark.parametrize(
    "settings",
    [
        {"return_train_score": True},
        {"scoring": ["accuracy", "f1_macro"], "refit": False},
        {"scoring": lambda model, X, y: {"one": 1.0, "two": 2.0}, "refit": False},
    ],
)
def test_a_store_keeps_one_score(settings, tmp_path):
    with pytest.raises(SettingError, match="a store keeps one score per fit"):
        raced(store=tmp_path / "run.db", cv=3, **settings).fit(X, Y)


def counted(done, fit, last=None):
    """Return a fit that is counted, and interrupted after the last one."""

    def counting(self, *args, **kwargs):
        if len(done) == last:
            raise KeyboardInterrupt
        done.append(1)
        return fit(self, *args, **kwargs)

    return counting
