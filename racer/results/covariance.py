"""How alike configurations are, for the posterior of the best."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from racer._numerics import one_blas_thread
from racer.model.effects import effects
from racer.space.vectors import choice_counts, features

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from racer.results.posterior import Covariances
    from racer.space.space import Space

_KERNELS = 6  # of the Gaussian process, the likeliest


def covariances(space: Space, configs: Sequence[dict[str, Any]]) -> Covariances:
    """Return how alike configurations are by what is known of some: of a Gaussian process."""
    from racer.model.surrogate import Surrogate  # noqa: PLC0415  (snapshots of a race need none)

    choices = choice_counts(space.parameters)

    def covariances(candidates: Sequence[int], costs: NDArray[np.float64]) -> NDArray[np.float64]:
        vectors = np.array([space.located(configs[c])[1] for c in candidates])
        seen = ~np.isnan(costs).all(axis=1)
        with one_blas_thread():
            model = Surrogate(features(vectors, choices), effects(costs[seen]))
            return model.covariances(_KERNELS)

    return covariances
