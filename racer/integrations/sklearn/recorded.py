"""Folds in a store: named by all that decides a score, so that no others are mixed with them."""

from __future__ import annotations

from numbers import Real
from types import FunctionType
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np
from sklearn import get_config

from racer.errors import SettingError, warn
from racer.store.jsonable import encode, qualified_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from racer.integrations.sklearn.fits import Fold
    from racer.store.writer import Store


def fold_names(
    folds: Sequence[Fold],
    data: tuple[Any, Any],
    parameters: Mapping[str, Any],
    *,
    estimator: Any,
    scoring: Any,
    error_score: Any,
) -> list[str]:
    """Return the name of each fold; SettingError for objects a store cannot compare."""
    routes = get_config()["enable_metadata_routing"]
    # without routing, groups decide the rows only
    used = {name: value for name, value in parameters.items() if routes or name != "groups"}
    search = (
        f"data {_digest(data, 'the data')}, parameters {_digest(used, 'a parameter of fit')}, "
        f"estimator {_digest(estimator, 'the estimator')}"
    )
    failed = float(error_score) if isinstance(error_score, Real) else error_score
    scored = f"scoring {_scoring_name(scoring)}, error_score {failed}"
    rows = [_digest([*map(_positions, fold)], "a fold") for fold in folds]
    return [f"fold {at} ({scored}, rows {of}, {search})" for at, of in enumerate(rows)]


def warn_of_new_folds(store: Store, cv: Any) -> None:
    """Warn, in a new store, of a splitter whose folds no later call can repeat."""
    # a splitter that shuffles without a seed
    if (
        not store.holds_a_race
        and getattr(cv, "random_state", 0) is None
        and getattr(cv, "shuffle", True)
    ):
        warn(
            f"cv={cv} divides the data anew in each call, so that no other call can go on with "
            f"store {store.path!r}: give it a random_state"
        )


def _positions(rows: Any) -> Any:
    """Return the positions of a fold, the same for equal lists and arrays."""
    if isinstance(rows, slice):
        return rows
    array = np.asarray(rows)
    return array.astype(np.int64) if array.dtype.kind in "iu" else array


def _scoring_name(scoring: Any) -> str:
    """Return a scorer as text: the name of a function, with a digest of any other object."""
    if scoring is None or isinstance(scoring, str):
        return str(scoring)
    name = qualified_name(scoring)
    if isinstance(scoring, FunctionType):
        return name
    try:
        return f"{name} {joblib.hash(scoring)[:12]}"
    except Exception:  # noqa: BLE001  (pickling may raise anything)
        return f"{name} {joblib.hash(encode(scoring))[:12]}"


def _digest(value: Any, what: str) -> str:
    """Return joblib's digest of a value; SettingError if it has none."""
    try:
        return str(joblib.hash(value))[:12]  # a name that a message shows whole
    except Exception as error:
        raise SettingError(
            f"store=..: {what} cannot be compared with a store, as it cannot be pickled ({error}): "
            "leave the store out, or use functions that can be imported"
        ) from error
