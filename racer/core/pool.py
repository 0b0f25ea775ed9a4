"""The pool of candidates: checked once, before anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from numbers import Number
from typing import Any

import numpy as np

from racer._checks import with_article
from racer.errors import CandidateError
from racer.space.space import Space


def canonical_key(config: Any) -> Any:  # noqa: PLR0911  (a case per type)
    """Return a hashable key, equal for equal configurations: 1 is 1.0, but True is not 1."""
    if isinstance(config, Mapping):
        items = [(canonical_key(name), canonical_key(value)) for name, value in config.items()]
        return ("mapping", frozenset(items))
    if isinstance(config, str):
        return ("str", str(config))
    if isinstance(config, bool | np.bool_):
        return ("bool", bool(config))
    if isinstance(config, Number):
        return ("number", config if config == config else "nan")  # noqa: PLR0124  (NaN)
    if isinstance(config, np.ndarray):
        return canonical_key(config.tolist())
    if isinstance(config, list | tuple):
        return ("sequence", tuple(canonical_key(value) for value in config))
    if isinstance(config, AbstractSet):
        return ("set", frozenset(canonical_key(value) for value in config))
    try:
        hash(config)
    except TypeError:
        return ("identity", id(config))
    return ("object", config)


def as_sequence(items: Any, name: str) -> tuple[Any, ...]:
    """Return `items` as a tuple, if it is a non-empty sequence with a fixed order."""
    if isinstance(items, str | bytes | Mapping | AbstractSet):
        raise CandidateError(
            f"{name} is {with_article(items)}: give a list, whose order and length are plain"
        )
    if hasattr(items, "to_dict") and hasattr(items, "columns"):  # a DataFrame, unimported
        raise CandidateError(f"{name} is a DataFrame: give {name}.to_dict('records')")
    if callable(items):
        raise CandidateError(
            f"{name} is {with_article(items)}: the order is (candidates, evaluate, instances)"
        )
    if not isinstance(items, Sequence | np.ndarray) or (
        isinstance(items, np.ndarray) and items.ndim == 0
    ):
        how = f"list({name})" if isinstance(items, Iterable) else "a list"
        raise CandidateError(f"{name} is {with_article(items)}: give {how}")
    if len(items) == 0:
        raise CandidateError(f"{name} is empty: give at least one")
    return tuple(items)


def as_instances(items: Any, name: str = "instances") -> tuple[Any, ...] | None:
    """Return instances as a tuple; None without any."""
    return None if items is None else as_sequence(items, name)


def as_pool(candidates: Any) -> tuple[Any, ...]:
    """Return the candidates, a non-empty sequence without duplicates, or raise CandidateError."""
    if isinstance(candidates, Space):
        raise CandidateError(
            "candidates is a Space, of which racer.tune(space, evaluate, ..) finds the best; to race "
            "some of its configurations, give space.sample(20, seed=1)"
        )
    pool = as_sequence(candidates, "candidates")
    first_at: dict[Any, int] = {}
    for index, config in enumerate(pool):
        earlier = first_at.setdefault(canonical_key(config), index)
        if earlier != index:
            raise CandidateError(
                f"candidates {earlier} and {index} are the same configuration, {config!r}: "
                "give each once"
            )
    return pool
