"""The algorithm that is tuned: scaling, reduction and a support vector machine."""

from __future__ import annotations

import warnings
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn import datasets
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, Normalizer, StandardScaler
from sklearn.svm import SVC

from racer import Categorical, Integer, Real, Space

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["DATA", "DEFAULT", "Instance", "error_rate", "held_out", "instances", "space"]

DATA = ("breast_cancer", "digits", "iris", "wine")
MOST_ROWS = 600  # of each data set
SCALERS = {"standard": StandardScaler, "min-max": MinMaxScaler, "unit": Normalizer}
DEFAULT = {  # those of scikit-learn's SVC, nothing before it
    "scaler": "none",
    "reduce": False,
    "kernel": "rbf",
    "C": 1.0,
    "gamma": 1.0,
    "shrinking": True,
    "balanced": False,
    "tolerance": 1e-3,
}


class Instance(NamedTuple):
    """One way to divide a data set.

    Attributes
    ----------
    data : str
    split : int or None
        How the half for tuning is divided; None: train on all of it, test on the other half.
    """

    data: str
    split: int | None


def space() -> Space:
    """Return the eleven parameters; the ranges of four depend on nothing, but they may be absent."""
    return Space(
        {
            "scaler": Categorical(["none", *SCALERS]),
            "reduce": Categorical([False, True]),
            "components": Real(0.3, 0.999),  # fraction of the variance
            "kernel": Categorical(["rbf", "poly", "sigmoid", "linear"]),
            "C": Real(1e-3, 1e4, log=True),
            "gamma": Real(1e-3, 1e2, log=True),  # times that of scikit-learn's "scale"
            "degree": Integer(2, 5),
            "coef0": Real(-1.0, 1.0),
            "shrinking": Categorical([True, False]),
            "balanced": Categorical([False, True]),
            "tolerance": Real(1e-5, 1e-1, log=True),
        },
        conditions={
            "components": {"reduce": True},
            "gamma": {"kernel": ["rbf", "poly", "sigmoid"]},
            "degree": {"kernel": "poly"},
            "coef0": {"kernel": ["poly", "sigmoid"]},
        },
    )


def instances(splits: int) -> list[Instance]:
    """Return `splits` divisions of the half for tuning of each data set."""
    return [Instance(data, split) for split in range(splits) for data in DATA]


def held_out() -> list[Instance]:
    """Return the held-out half of each data set."""
    return [Instance(data, None) for data in DATA]


def error_rate(config: dict[str, Any], instance: Instance, seed: int) -> float:  # noqa: ARG001
    """Return the fraction of the tested rows that is classified wrongly; the seed is not used."""
    train, test = _rows(instance)
    rows, labels = _data(instance.data)
    model = _model(config, rows[train])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(rows[train], labels[train])
    return float(np.mean(model.predict(rows[test]) != labels[test]))


def _model(config: dict[str, Any], rows: NDArray[np.float64]) -> Pipeline:
    steps: list[Any] = []
    if config["scaler"] != "none":
        steps.append(SCALERS[config["scaler"]]())
    if config["reduce"]:
        steps.append(PCA(config["components"], svd_solver="full"))
    seen = make_pipeline(*steps).fit_transform(rows) if steps else rows
    gamma = config.get("gamma", 1.0) / max(seen.shape[1] * float(seen.var()), 1e-12)
    machine = SVC(
        C=config["C"],
        kernel=config["kernel"],
        gamma=gamma,
        degree=config.get("degree", 3),
        coef0=config.get("coef0", 0.0),
        shrinking=config["shrinking"],
        class_weight="balanced" if config["balanced"] else None,
        tol=config["tolerance"],
        max_iter=100_000,
    )
    return make_pipeline(*steps, machine)


@lru_cache(maxsize=len(DATA))
def _data(name: str) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    rows, labels = getattr(datasets, f"load_{name}")(return_X_y=True)
    chosen = np.random.default_rng(0).permutation(len(labels))[:MOST_ROWS]
    return rows[chosen], labels[chosen]


def _rows(instance: Instance) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the rows to train on and those to test on."""
    n = len(_data(instance.data)[1])
    half = n // 2
    if instance.split is None:
        return np.arange(half), np.arange(half, n)
    order = np.random.default_rng([instance.split, half]).permutation(half)
    return order[: 2 * half // 3], order[2 * half // 3 :]
