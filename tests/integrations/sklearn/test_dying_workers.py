"""A worker of scikit-learn's that dies costs one cell: the rest of the search goes on."""

from __future__ import annotations

import sys

import numpy as np
import pytest

pytest.importorskip("sklearn")

from mortal_fits import Mortal

from racer.integrations.sklearn import RacingSearchCV

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kills by a signal")


def searched(flag, values=(0, 1, 2, 3), folds=3):
    rng = np.random.default_rng(1)
    data = rng.normal(size=(60, 2))
    search = RacingSearchCV(
        Mortal(flag=flag), {"x": list(values)}, cv=folds, n_jobs=2, refit=False, random_state=1
    )
    return search.fit(data, (data[:, 0] > 0).astype(int))


def test_a_worker_that_dies_once_changes_nothing(tmp_path):
    plain, again = searched(""), searched(str(tmp_path / "flag"))
    assert (tmp_path / "flag").exists()
    for name in ("mean_test_score", "race_folds", "race_reason"):
        np.testing.assert_array_equal(plain.cv_results_[name], again.cv_results_[name])


@pytest.mark.slow  # each death costs the start of a worker
@pytest.mark.filterwarnings("ignore:One or more:UserWarning")
def test_a_fit_that_always_kills_its_worker_is_one_that_failed():
    search = searched("always", values=(1, 2, 3), folds=2)
    assert search.best_params_ == {"x": 3}
    means = search.cv_results_["mean_test_score"]
    assert np.isfinite(means).tolist() == [True, False, True]
