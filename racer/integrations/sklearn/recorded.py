"""Folds in a store: named by whatever decides a score, so that no others are mixed with them."""

from __future__ import annotations

import re
from numbers import Real
from types import FunctionType
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np
from sklearn import get_config

from racer.errors import SettingError, warn
from racer.store.jsonable import encode, qualified_name
from racer.store.reader import OtherStoreError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from racer.integrations.sklearn.fits import Fold
    from racer.store.writer import Store

_DIGESTS = {
    "data": "data (X, y)",
    "parameters": "parameters of fit",
    "estimator": "estimator",
}
_NAME = re.compile(
    r"fold \d+ \(scoring (?P<scoring>.+), error_score (?P<error_score>.+), rows (?P<rows>\w+), "
    r"data (?P<data>\w+), parameters (?P<parameters>\w+), estimator (?P<estimator>\w+)\)",
    re.DOTALL,
)


def fold_names(
    folds: Sequence[Fold],
    data: tuple[Any, Any],
    parameters: Mapping[str, Any],
    *,
    estimator: Any,
    scoring: Any,
    error_score: Any,
) -> list[str]:
    """Return the name of each fold; SettingError for what cannot be compared with a store."""
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


def check_folds(store: Store, names: Sequence[str], cv: Any) -> None:
    """Raise OtherStoreError if the search in a store has other folds or scorers.

    In a new store, warn of a splitter whose folds no later call can repeat.
    """
    if not store.holds_a_race:
        if _divides_anew(cv):
            warn(
                f"cv={cv} divides the data anew in each call, so that no other call can go on with "
                f"store {store.path!r}: give it a random_state"
            )
        return
    recorded = [_NAME.fullmatch(str(name)) for name in store.reader.setup.instances or ()]
    if not all(recorded):
        return  # not of a search
    if len(recorded) != len(names):
        raise OtherStoreError(
            f"cv makes {len(names)} folds, but the search in {store.path!r} has {len(recorded)}: "
            "give the same cv, or"
        )
    for name, old in zip(names, recorded, strict=True):
        new = _NAME.fullmatch(name)
        if new and old and name != old.string:
            _refuse(store.path, new.groupdict(), old.groupdict(), cv)


def _refuse(path: str, new: Mapping[str, str], old: Mapping[str, str], cv: Any) -> None:
    """Raise OtherStoreError for the first part that differs."""
    there = f"the search in {path!r}"
    for part, what in _DIGESTS.items():
        if new[part] != old[part]:
            raise OtherStoreError(f"{what}: not the same as in {there}: give the same, or")
    # these stand in the name as they are; of the others only digests
    for part in ("scoring", "error_score"):
        if new[part] != old[part]:
            raise OtherStoreError(
                f"{part} is {new[part]}, but {there} has {old[part]}: give that, or"
            )
    if _divides_anew(cv):
        raise OtherStoreError(
            f"the folds are not those of {there}, as cv={cv} divides the data anew in each call, "
            "and scores of different folds cannot be compared: give it a random_state, and begin"
        )
    raise OtherStoreError(
        f"the folds are not those of {there}, and scores of different folds cannot be compared: "
        "give the same cv, or"
    )


def _divides_anew(cv: Any) -> bool:
    """Return True for a splitter that shuffles without a seed."""
    return getattr(cv, "random_state", 0) is None and bool(getattr(cv, "shuffle", True))


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
        return f"{name} {joblib.hash(scoring)}"
    except Exception:  # noqa: BLE001  (pickling may raise anything)
        return f"{name} {joblib.hash(encode(scoring))}"


def _digest(value: Any, what: str) -> str:
    """Return joblib's digest of a value; SettingError if it has none."""
    try:
        return str(joblib.hash(value))
    except Exception as error:
        raise SettingError(
            f"store=..: {what} cannot be compared with a store, as it cannot be pickled ({error}): "
            "leave the store out, or use functions that can be imported"
        ) from error
