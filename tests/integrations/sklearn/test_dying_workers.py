"""A worker of scikit-learn's that dies costs one cell: the rest of the search goes on."""

import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("sklearn")

import joblib
from mortal_fits import Mortal
from processes import TOOLS, alive, noted, wait_for
from sklearn.exceptions import FitFailedWarning

from racer.integrations.sklearn import RacingSearchCV

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kills by a signal")


def searched(flag, values=(0, 1, 2, 3), folds=3, n_jobs=2):
    rng = np.random.default_rng(1)
    data = rng.normal(size=(60, 2))
    search = RacingSearchCV(
        Mortal(flag=flag), {"x": list(values)}, cv=folds, n_jobs=n_jobs, refit=False, random_state=1
    )
    return search.fit(data, (data[:, 0] > 0).astype(int))


@pytest.mark.thorough
def test_a_worker_that_dies_once_changes_nothing(tmp_path):
    plain, again = searched("", n_jobs=1), searched(str(tmp_path / "flag"))
    assert (tmp_path / "flag").exists()
    for name in ("mean_test_score", "race_folds", "race_reason"):
        np.testing.assert_array_equal(plain.cv_results_[name], again.cv_results_[name])


HALF = [(np.arange(30), np.arange(30, 60))]


@pytest.mark.thorough  # each death costs the start of a worker
@pytest.mark.filterwarnings("ignore:One or more:UserWarning")
def test_a_fit_that_always_kills_its_worker_is_one_that_failed():
    with pytest.warns(FitFailedWarning, match="1 fits failed(.|\n)*killed: TerminatedWorkerError"):
        search = searched("always", values=(1, 2, 3), folds=HALF)
    assert search.best_params_ == {"x": 3}
    means = search.cv_results_["mean_test_score"]
    assert np.isfinite(means).tolist() == [True, False, True]


FIT = """
import sys
import numpy as np
from mortal_fits import Sleeper
from racer.integrations.sklearn import RacingSearchCV
search = RacingSearchCV(Sleeper(marks=sys.argv[1]), {"x": [1, 2, 3]}, cv=3, n_jobs=2)
search.fit(np.zeros((12, 1)), np.arange(12) % 2)
"""


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of a parent's end")
def test_after_sigkill_of_the_driver_no_fit_goes_on(tmp_path):
    driver = subprocess.Popen([sys.executable, "-c", FIT, tmp_path], env=TOOLS)
    try:
        assert wait_for(lambda: len(noted(tmp_path)) == 2, 200)
    finally:
        driver.kill()
        driver.wait(120)
    assert wait_for(lambda: not any(map(alive, noted(tmp_path))))


class Seen:
    """A score that records the backend of the fits, and what is left of it for estimators."""

    def __init__(self):
        self.backends = []

    def __call__(self, estimator, X, y):
        self.backends.append(type(joblib.parallel.get_active_backend()[0]).__name__)
        return float(estimator.x)


def test_a_backend_that_the_user_chose_is_used():
    data = np.zeros((12, 1)), np.arange(12) % 2
    found = []
    for name, n_jobs in (("threading", 2), ("loky", 1)):
        score = Seen()
        search = RacingSearchCV(
            Mortal(), {"x": [1, 2]}, cv=3, scoring=score, n_jobs=n_jobs, refit=False
        )
        with joblib.parallel_config(name):
            search.fit(*data)
            found.append(type(joblib.parallel.get_active_backend()[0]).__name__)
        assert score.backends
        found += sorted({*score.backends})
    assert found == ["ThreadingBackend", "ThreadingBackend", "LokyBackend", "LokyBackend"]
