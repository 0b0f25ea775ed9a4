"""One fold at a time, and what is needed to import any of it."""

import pickle

import numpy as np
import pytest
from processes import python
from sklearn.model_selection import GroupKFold, KFold

from racer.integrations.sklearn.fits import OneFold

X = np.zeros((12, 1))


def test_folds_are_those_of_the_splitter_one_at_a_time():
    folds = OneFold(KFold(4, shuffle=True, random_state=None))
    assert folds.get_n_splits(X) == 1
    first = list(folds.split(X))
    assert len(first) == 1
    folds.current = 3
    assert {*first[0][1].tolist()}.isdisjoint(next(folds.split(X))[1].tolist())
    assert folds.test_share() == 0.25


@pytest.mark.parametrize(
    ("fold", "share"),
    [
        ((np.arange(6), [7, 8]), 0.25),
        ((slice(0, 6), slice(6, 8)), 0.25),
        ((np.arange(8) < 6, np.arange(8) >= 6), 0.25),
    ],
)
def test_positions_may_be_numbers_slices_or_masks(fold, share):
    folds = OneFold(None)
    folds.folds = [fold]
    assert folds.test_share() == share


def test_a_worker_is_not_sent_the_folds_but_what_the_splitter_asks_for_is_known():
    folds = OneFold(GroupKFold(3))
    folds.get_n_splits(X, groups=np.arange(12))
    assert folds.get_metadata_routing().split.requests == {"groups": True}
    again = pickle.loads(pickle.dumps(folds))
    assert again.folds == []
    assert again.n_splits == 3


def test_without_scikit_learn_the_error_names_the_extra():
    code = "import sys; sys.modules['sklearn'] = None; import racer.integrations.sklearn"
    done = python("-c", code, exits=None)
    assert "racer.integrations.sklearn needs scikit-learn" in done.stderr
    assert "pip install 'racer-tuning[sklearn]'" in done.stderr
