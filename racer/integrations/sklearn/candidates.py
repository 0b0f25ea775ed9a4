"""The candidates of a search: a grid, draws from distributions, or a list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.model_selection import ParameterGrid, ParameterSampler

from racer._checks import whole
from racer.core.pool import canonical_key
from racer.errors import SettingError

if TYPE_CHECKING:
    from numpy.random import RandomState

_DRAWN = 30


def candidates_of(
    param_grid: Any, param_distributions: Any, n_candidates: int | None, random: RandomState
) -> list[dict[str, Any]]:
    """Return the candidates, each once."""
    if (param_grid is None) is (param_distributions is None):
        raise SettingError("give one of param_grid and param_distributions")
    if n_candidates is not None:
        whole(n_candidates, "n_candidates", least=1)
    if is_listed(param_grid):
        listed = [dict(params) for params in param_grid]
        if n_candidates is not None:
            raise SettingError("n_candidates does not go with a list of candidates: shorten that")
    elif param_grid is not None and n_candidates is None:
        listed = list(ParameterGrid(param_grid))
    else:
        space = param_grid if param_distributions is None else param_distributions
        drawn = ParameterSampler(space, n_candidates or _DRAWN, random_state=random)
        listed = list(drawn)
    once: dict[Any, dict[str, Any]] = {}
    for params in listed:
        once.setdefault(canonical_key(params), {n: _plain(value) for n, value in params.items()})
    return list(once.values())


def _plain(value: Any) -> Any:
    """Return a number of NumPy as Python's, which prints as a number, and all else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def is_listed(param_grid: Any) -> bool:
    """Say whether these are candidates, one by one, rather than a grid or several.

    The values of a grid are lists, arrays or tuples; if no value is a list or an array, and not
    all are tuples, these are candidates.
    """
    if not isinstance(param_grid, list | tuple) or not param_grid:
        return False
    if not all(isinstance(params, Mapping) for params in param_grid):
        return False
    values = [value for params in param_grid for value in params.values()]
    return not any(isinstance(value, list | np.ndarray) for value in values) and not all(
        isinstance(value, Sequence) and not isinstance(value, str) for value in values
    )
