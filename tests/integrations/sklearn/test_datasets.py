"""Folds of several data sets as instances, and what is evaluated on them."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold, cross_val_score
from sklearn.tree import DecisionTreeClassifier

import racer
from racer import CandidateError
from racer.integrations.sklearn import evaluator, instances

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
DATA = {"array": (X, (X[:, 0] > 0).astype(int)), "frame": (pd.DataFrame(X), X[:, 1] > 0)}
TREE = DecisionTreeClassifier(random_state=0)


def test_each_data_set_comes_once_in_every_round():
    found = instances(DATA, cv=KFold(4))
    assert [(fold.name, fold.number) for fold in found[:4]] == [
        *(("array", 0), ("frame", 0)),
        *(("array", 1), ("frame", 1)),
    ]
    assert len(found) == 8


@pytest.mark.parametrize("scoring", [["accuracy", "f1"], {"accuracy": "accuracy", "f1": "f1"}])
def test_of_several_scores_it_gives_metrics_by_name(scoring):
    evaluate = pickle.loads(pickle.dumps(evaluator(TREE, scoring)))
    fold = instances(DATA, cv=4)[0]
    for name, value in evaluate({"max_depth": 1}, fold, 0).items():
        assert value == evaluator(TREE, name)({"max_depth": 1}, fold, 0)
    result = racer.race(
        [{"max_depth": 1}, {"max_depth": 3}],
        evaluate,
        racer.Instances(instances(DATA, cv=4), block_size=2, deterministic=True),
        budget=16,
        decider=racer.deciders.BayesianFront(first_test=1),
        seed=1,
        goal=racer.Pareto({"accuracy": "max", "f1": "max"}),
    )
    assert result.metric("f1").shape == (8, 2)


def test_the_evaluator_gives_the_scores_of_scikit_learn():
    evaluate = pickle.loads(pickle.dumps(evaluator(TREE, "balanced_accuracy")))
    for name, (rows, target) in DATA.items():
        model = DecisionTreeClassifier(max_depth=2, random_state=0)
        scores = cross_val_score(model, rows, target, cv=4, scoring="balanced_accuracy")
        folds = [fold for fold in instances(DATA, cv=4) if fold.name == name]
        assert [evaluate({"max_depth": 2}, fold, 0) for fold in folds] == scores.tolist()
    assert TREE.max_depth is None


CLASSES = np.repeat([0, 1, 2], [10, 14, 16])  # sorted: plain folds would miss some


@pytest.mark.parametrize("cv", [4, None])
@pytest.mark.parametrize("kind", [int, float, str, "float32", "category"])
def test_folds_are_stratified_by_classes_of_any_type(kind, cv):
    labels = pd.Series(CLASSES).astype(kind)
    for fold in instances({"sorted": (X, labels)}, cv):
        shares = labels.iloc[fold.test].value_counts(normalize=True)[list(pd.unique(labels))]
        np.testing.assert_allclose(shares, [0.25, 0.35, 0.4], atol=0.1)


@pytest.mark.parametrize(
    "target",
    [
        np.arange(40),
        RNG.permutation(40) // 2,
        np.append(np.zeros(38), [7.0, 8.0]),  # counts
        RNG.normal(size=40),
        CLASSES + 0.5,
        np.where(CLASSES == 0, np.nan, CLASSES),
    ],
)
def test_folds_are_plain_for_numbers_to_predict(target):
    folds = instances({"regression": (X, target)}, cv=5)
    assert [fold.test.tolist() for fold in folds] == np.arange(40).reshape(5, 8).tolist()


@pytest.mark.parametrize("datasets", [{}, [X], None])
def test_what_is_no_data_is_refused(datasets):
    with pytest.raises(CandidateError, match="give a dict from names"):
        instances(datasets)
