"""Pipelines of scikit-learn with a choice of model, on small data."""

from __future__ import annotations

import warnings
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import sklearn
from sklearn import datasets
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from experiments.tuner.problem import Problem
from racer import Categorical, Integer, Real, Space
from racer.seeding import rng_for

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Config = Mapping[str, Any]
    Data = tuple[NDArray[np.float64], NDArray[Any]]

__all__ = ["classifier", "regressor"]

TUNING, HELD_OUT = 30, 60
TRAIN, TEST = 80, 100  # rows


def _scaled(train: Any, test: Any, how: str) -> tuple[Any, Any]:
    if how == "standard":
        middle, spread = train.mean(axis=0), train.std(axis=0)
        return (train - middle) / (spread + 1e-9), (test - middle) / (spread + 1e-9)
    if how == "unit":
        return tuple(x / (np.linalg.norm(x, axis=1, keepdims=True) + 1e-9) for x in (train, test))
    return train, test


@lru_cache(maxsize=8)
def _data(name: str) -> Data:
    if name == "friedman":
        rows, target = datasets.make_friedman1(600, 10, noise=1.0, random_state=0)
    elif name == "friedman3":
        rows, target = datasets.make_friedman3(600, noise=0.1, random_state=0)
    else:
        rows, target = getattr(datasets, f"load_{name}")(return_X_y=True)
    return rows, target


def _divided(seed: int, names: tuple[str, ...], instance: int) -> Any:
    """Return rows and target to train on and to test on; held-out instances have other rows."""
    rows, target = _data(names[instance % len(names)])
    order = rng_for(seed, "halves").permutation(len(target))
    half = order[: len(order) // 2] if instance < TUNING else order[len(order) // 2 :]
    half = rng_for(seed, "division", instance).permutation(half)
    train = half[: min(TRAIN, len(half) // 2)]
    test = half[len(train) : len(train) + TEST]
    return rows[train], target[train], rows[test], target[test]


def _by_model(**parameters: tuple[str, ...]) -> dict[str, dict[str, str]]:
    """Return the conditions of parameters that one model each has."""
    return {name: {"model": model} for model, names in parameters.items() for name in names}


def classifier(seed: int) -> Problem:
    """Return a scaler and one of five classifiers on three data sets; the error rate."""
    space = Space(
        {
            "scaler": Categorical(["none", "standard", "unit"]),
            "model": Categorical(["svm", "neighbours", "tree", "bayes", "ridge"]),
            "C": Real(1e-4, 1e4, log=True),
            "gamma": Real(1e-5, 1e2, log=True),
            "neighbours": Integer(1, 30),
            "weights": Categorical(["uniform", "distance"]),
            "p": Categorical([1, 2]),
            "depth": Integer(1, 15),
            "leaf": Integer(1, 20),
            "criterion": Categorical(["gini", "entropy"]),
            "smoothing": Real(1e-6, 1.0, log=True),
            "alpha": Real(1e-4, 1e4, log=True),
        },
        conditions=_by_model(
            svm=("C", "gamma"),
            neighbours=("neighbours", "weights", "p"),
            tree=("depth", "leaf", "criterion"),
            bayes=("smoothing",),
            ridge=("alpha",),
        ),
    )
    divided = [
        _divided(seed, ("digits", "breast_cancer", "wine"), i) for i in range(TUNING + HELD_OUT)
    ]

    def model(config: Config, seed: int) -> Any:
        if config["model"] == "svm":
            return SVC(C=config["C"], gamma=config["gamma"], max_iter=5_000)
        if config["model"] == "neighbours":
            return KNeighborsClassifier(
                config["neighbours"], weights=config["weights"], p=config["p"], algorithm="kd_tree"
            )
        if config["model"] == "tree":
            return DecisionTreeClassifier(
                max_depth=config["depth"],
                min_samples_leaf=config["leaf"],
                criterion=config["criterion"],
                random_state=seed % 2**31,
            )
        if config["model"] == "bayes":
            return GaussianNB(var_smoothing=config["smoothing"])
        return RidgeClassifier(config["alpha"])

    def cost(config: Config, instance: int, seed: int) -> float:
        train, labels, test, truth = divided[instance]
        train, test = _scaled(train, test, config["scaler"])
        fitted = _fitted(model(config, seed), train, labels, test)
        return float(np.mean(fitted != truth))

    return Problem(space, cost, TUNING, HELD_OUT)


def regressor(seed: int) -> Problem:
    """Return a scaler and one of four models on three data sets; root mean square error over the sd."""
    space = Space(
        {
            "scaler": Categorical(["none", "standard", "unit"]),
            "model": Categorical(["ridge", "neighbours", "tree", "svr"]),
            "alpha": Real(1e-5, 1e4, log=True),
            "neighbours": Integer(1, 30),
            "weights": Categorical(["uniform", "distance"]),
            "depth": Integer(1, 15),
            "leaf": Integer(1, 20),
            "C": Real(1e-3, 1e3, log=True),
            "gamma": Real(1e-5, 1e2, log=True),
            "epsilon": Real(1e-3, 1.0, log=True),
        },
        conditions=_by_model(
            ridge=("alpha",),
            neighbours=("neighbours", "weights"),
            tree=("depth", "leaf"),
            svr=("C", "gamma", "epsilon"),
        ),
    )
    divided = [
        _divided(seed, ("friedman", "diabetes", "friedman3"), i) for i in range(TUNING + HELD_OUT)
    ]

    def model(config: Config, seed: int) -> Any:
        if config["model"] == "ridge":
            return Ridge(config["alpha"])
        if config["model"] == "neighbours":
            return KNeighborsRegressor(
                config["neighbours"], weights=config["weights"], algorithm="kd_tree"
            )
        if config["model"] == "tree":
            return DecisionTreeRegressor(
                max_depth=config["depth"],
                min_samples_leaf=config["leaf"],
                random_state=seed % 2**31,
            )
        return SVR(C=config["C"], gamma=config["gamma"], epsilon=config["epsilon"], max_iter=5_000)

    def cost(config: Config, instance: int, seed: int) -> float:
        train, values, test, truth = divided[instance]
        train, test = _scaled(train, test, config["scaler"])
        middle, spread = values.mean(), values.std()
        fitted = _fitted(model(config, seed), train, (values - middle) / spread, test)
        return float(np.sqrt(np.mean((fitted - (truth - middle) / spread) ** 2)))

    return Problem(space, cost, TUNING, HELD_OUT)


def _fitted(model: Any, train: Any, target: Any, test: Any) -> Any:
    with (
        sklearn.config_context(assume_finite=True, skip_parameter_validation=True),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        return model.fit(train, target).predict(test)
