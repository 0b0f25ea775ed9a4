"""Folds of several data sets as the instances of a race."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing, indexable

from racer.errors import CandidateError

if TYPE_CHECKING:
    from collections.abc import Callable


class DataFold(NamedTuple):
    """A fold of a data set.

    Attributes
    ----------
    name : str
        Of the data set.
    number : int
        Of the fold.
    X, y : array-like
        All of its rows.
    train, test : ndarray
        Positions of the rows to fit, and to score on.
    """

    name: str
    number: int
    X: Any
    y: Any
    train: Any
    test: Any

    def __repr__(self) -> str:
        return f"<fold {self.number} of {self.name}>"


def instances(datasets: Mapping[str, tuple[Any, Any]], cv: Any = 5) -> list[DataFold]:
    """Return folds of several data sets, in such an order that each comes once in every round.

    Give `racer.Instances` ``block_size=len(datasets)``: then each test is of whole
    rounds.

    Parameters
    ----------
    datasets : mapping
        From names to (X, y).
    cv : int, cross-validation generator or iterable
        As in scikit-learn; a number of folds is stratified where y holds classes: no numbers, or
        whole ones, of which one (of floats: each) is there as often as there are folds.

    Returns
    -------
    list of DataFold

    Raises
    ------
    CandidateError
        No data sets, or not as many folds of each.

    Examples
    --------
    >>> import numpy as np
    >>> from racer.integrations.sklearn import instances
    >>> X, y = np.zeros((6, 1)), np.array([0, 1] * 3)
    >>> instances({"one": (X, y), "other": (X, y)}, cv=2)
    [<fold 0 of one>, <fold 0 of other>, <fold 1 of one>, <fold 1 of other>]
    """
    given: Any = datasets
    if not isinstance(given, Mapping) or not given:
        raise CandidateError(f"datasets={datasets!r}: give a dict from names to (X, y)")
    columns = []
    for name, both in datasets.items():
        X, y = indexable(*both)
        splits = check_cv(cv, y, classifier=_holds_classes(y, cv)).split(X, y)
        columns.append([DataFold(name, i, X, y, *fold) for i, fold in enumerate(splits)])
    counts = {column[0].name: len(column) for column in columns}
    if len({*counts.values()}) > 1:
        raise CandidateError(f"the data sets have {counts} folds: give as many of each")
    return [fold for row in zip(*columns, strict=True) for fold in row]


def _holds_classes(y: Any, cv: Any) -> bool:
    """Return whether y holds classes, which `cv` folds can be stratified by."""
    labels = np.asarray(y)
    if labels.dtype.kind not in "iuf" or not isinstance(cv, Integral | None):
        return True
    values, sizes = np.unique(labels, return_counts=True)
    fill = sizes >= (5 if cv is None else int(cv))
    if labels.dtype.kind == "f":
        return bool(fill.all() and np.array_equal(values, np.trunc(values)))
    return bool(fill.any())


def evaluator(model: Any, scoring: Any = None) -> Callable[[Mapping[str, Any], DataFold, int], Any]:
    """Return ``evaluate(params, fold, seed)``: the score on a fold of a model with parameters.

    Larger is better, for every score: race with ``goal="max"``, on deterministic instances. The
    seed is for `random` and `np.random`, as always; the model's own `random_state` is left.

    Parameters
    ----------
    model : estimator object
    scoring : str, callable, or list or dict of several, optional
        As in scikit-learn; by default the model's own score. Of several, `evaluate` returns a
        mapping, for ``goal={"accuracy": "max", ..}``.

    Examples
    --------
    >>> import racer
    >>> from sklearn.datasets import load_iris, load_wine
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from racer.integrations.sklearn import evaluator, instances
    >>> data = {"iris": load_iris(return_X_y=True), "wine": load_wine(return_X_y=True)}
    >>> items = racer.Instances(instances(data, cv=5), block_size=len(data), deterministic=True)
    >>> result = racer.race(
    ...     [{"max_depth": depth} for depth in (1, 3)],
    ...     evaluator(DecisionTreeClassifier(random_state=0)),
    ...     items,
    ...     budget=20,
    ...     goal="max",
    ... )
    >>> result.best
    {'max_depth': 3}
    """
    if isinstance(scoring, Mapping):
        return _Evaluator(model, {name: check_scoring(model, of) for name, of in scoring.items()})
    if isinstance(scoring, list | tuple | set):
        return _Evaluator(model, {name: check_scoring(model, name) for name in scoring})
    return _Evaluator(model, check_scoring(model, scoring))


class _Evaluator:
    """The objective of `evaluator`, which can be sent to workers."""

    def __init__(self, model: Any, scorer: Any) -> None:
        self._model = model
        self._scorer = scorer

    def __call__(self, params: Mapping[str, Any], fold: DataFold, seed: int) -> Any:  # noqa: ARG002
        model = clone(self._model).set_params(**clone(dict(params), safe=False))
        rows, target = (
            [_safe_indexing(of, places) for places in (fold.train, fold.test)]
            for of in (fold.X, fold.y)
        )
        model.fit(rows[0], target[0])
        if isinstance(self._scorer, dict):
            scored = {name: of(model, rows[1], target[1]) for name, of in self._scorer.items()}
            return {name: float(value) for name, value in scored.items()}
        return float(self._scorer(model, rows[1], target[1]))
