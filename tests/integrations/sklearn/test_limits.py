"""A fit that takes too long, or too much memory, is one that failed: the search goes on."""

from __future__ import annotations

import sys

import numpy as np
import pytest

pytest.importorskip("sklearn")

from mortal_fits import Greedy
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import KFold

from racer import Limits
from racer.errors import ObjectiveError, SettingError
from racer.integrations.sklearn import RacingSearchCV

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="limits of memory need /proc"),
    pytest.mark.thorough,  # workers have to start
]

ROWS = np.arange(8.0)[:, None]  # the training part of the last of two folds begins with row 0
CLASSES = np.tile([True, False, True, True], 2)
LIMITS = Limits(memory=200_000_000)


def searched(estimator, **more):
    search = RacingSearchCV(estimator, {"x": [1, 2]}, cv=KFold(2), refit=False, **more)
    return search.fit(ROWS, CLASSES)


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize(
    ("takes", "limits", "says"),
    [("time", Limits(10), "took more than 10 s"), ("memory", LIMITS, "more than 200000000")],
)
@pytest.mark.filterwarnings("ignore:One or more:UserWarning")
def test_a_fit_beyond_a_limit_fails_alone(takes, limits, says, n_jobs):
    with pytest.warns(FitFailedWarning, match=f"1 fits failed out of a total of 4(.|\n)*{says}"):
        search = searched(Greedy(takes=takes), n_jobs=n_jobs, limits=limits)
    assert search.best_params_ == {"x": 1}
    found = [search.cv_results_[f"split{fold}_test_score"] for fold in range(2)]
    np.testing.assert_array_equal(found, [[0.75, 0.75], [0.75, np.nan]])


def test_a_limit_is_an_error_where_errors_are_raised():
    with pytest.raises(ObjectiveError, match="more than 200000000"):
        searched(Greedy(takes="memory"), error_score="raise", limits=LIMITS)


@pytest.mark.filterwarnings("ignore:No candidate can be called:racer.RacerWarning")
def test_fits_with_limits_do_not_meet_the_threads_of_this_process():
    """A fork of a process that has used OpenMP hangs as soon as it uses that."""
    data = np.random.default_rng(1).normal(size=(400, 2))
    model = HistGradientBoostingClassifier(max_iter=2)
    model.fit(data, data[:, 0] > 0)
    search = RacingSearchCV(
        model, {"max_leaf_nodes": [3, 5]}, cv=2, refit=False, limits=Limits(100)
    )
    search.fit(data, data[:, 0] > 0)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_limits_that_cannot_be_are_refused():
    with pytest.raises(SettingError, match="limits"):
        searched(Greedy(), limits=60)
