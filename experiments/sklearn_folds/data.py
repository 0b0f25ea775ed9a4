"""Nine real data sets, of scikit-learn and statsmodels, and three kinds of classifiers."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn import datasets
from sklearn.model_selection import ParameterGrid, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

__all__ = ["DATA", "ESTIMATORS", "estimator", "grid", "halves"]

DATA = (
    *("breast_cancer", "digits", "wine", "diabetes"),  # of scikit-learn
    *("anes96", "fair", "modechoice", "randhie", "star98"),  # of statsmodels
)
MOST_TRAINED_ON = 300  # rows
MOST_HELD_OUT = 4000
GRIDS: Mapping[str, dict[str, list[Any]]] = {
    "svm": {
        "svc__C": [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0],
        "svc__gamma": [0.001, 0.01, 0.1, 1.0],
    },
    "neighbours": {
        "kneighborsclassifier__n_neighbors": [1, 3, 7, 15, 31, 63],
        "kneighborsclassifier__p": [1, 2],
        "kneighborsclassifier__weights": ["uniform", "distance"],
    },
    "tree": {
        "max_depth": [2, 4, 8, None],
        "min_samples_leaf": [1, 5, 20],
        "criterion": ["gini", "entropy"],
    },
}
ESTIMATORS = tuple(GRIDS)


def estimator(name: str) -> Any:
    """Return a classifier."""
    if name == "svm":
        return make_pipeline(StandardScaler(), SVC())
    if name == "neighbours":
        return make_pipeline(StandardScaler(), KNeighborsClassifier())
    return DecisionTreeClassifier(random_state=0)


def grid(name: str) -> list[dict[str, Any]]:
    """Return the 24 candidates of a classifier."""
    return list(ParameterGrid(GRIDS[name]))


@cache
def _data(name: str) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return rows and classes; numbers are turned into two classes."""
    if name in ("breast_cancer", "digits", "wine", "diabetes"):
        rows, target = getattr(datasets, f"load_{name}")(return_X_y=True)
        return rows, (target > np.median(target)).astype(int) if name == "diabetes" else target
    from statsmodels import datasets as more  # noqa: PLC0415

    frame = getattr(more, name).load_pandas().data
    left_out: tuple[str, ...]
    if name == "star98":  # more pupils above the national median than below
        target, left_out = frame["NABOVE"] > frame["NBELOW"], ("NABOVE", "NBELOW")
    elif name == "modechoice":
        target, left_out = frame["choice"] > 0, ("choice", "individual")
    else:
        column = {"anes96": "vote", "fair": "affairs", "randhie": "mdvis"}[name]
        target, left_out = frame[column] > 0, (column,)
    rows = frame.drop(columns=list(left_out)).to_numpy(dtype=np.float64)
    return rows, target.to_numpy().astype(int)


def halves(name: str, seed: int) -> tuple[NDArray[Any], ...]:
    """Return the rows to search with and those held out, then their classes."""
    rows, target = _data(name)
    trained_on = min(MOST_TRAINED_ON, len(target) // 2)
    return tuple(
        train_test_split(
            rows,
            target,
            train_size=trained_on,
            test_size=min(len(target) - trained_on, MOST_HELD_OUT),
            stratify=target,
            random_state=seed,
        )
    )
