"""scikit-learn's callbacks are told of each fit of a search."""

from collections import Counter

import numpy as np
import pytest

pytest.importorskip("sklearn.callback")  # 1.9

from sklearn.linear_model import Ridge

from racer import Categorical, Space
from racer.integrations.sklearn import RacingSearchCV, TunedSearchCV


class Told:
    """Counts the tasks that begin and end, by name."""

    def __init__(self):
        self.begun, self.ended = Counter(), Counter()

    def setup(self, estimator, context):
        """Nothing is to be set up."""

    def teardown(self, estimator, context):
        """Nothing is left."""

    def on_fit_task_begin(self, estimator, context, **more):
        self.begun[context.task_name] += 1

    def on_fit_task_end(self, estimator, context, **more):
        self.ended[context.task_name] += 1


ALPHAS = [0.1, 1.0, 10.0, 1000.0]


@pytest.mark.parametrize(
    "search",
    [
        RacingSearchCV(Ridge(), {"alpha": ALPHAS}, cv=6),
        TunedSearchCV(Ridge(), Space({"alpha": Categorical(ALPHAS)}), budget=40, cv=6),
    ],
    ids=["race", "tuning"],
)
def test_callbacks_are_told_of_each_fit(search):
    rng, told = np.random.default_rng(1), Told()
    data = rng.normal(size=(60, 3))
    search.set_callbacks(told).fit(data, data[:, 0] + rng.normal(size=60) / 9)
    folds = search.cv_results_["race_folds"]
    fits = {name for name in told.begun if "evaluation" in name}
    assert sum(told.begun[name] for name in fits) == folds.sum()
    assert told.begun["search"] == 1
    assert told.begun == told.ended
