"""Section 4.2, evolution over budgets, and section 4.3, impact of the prior distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.calvo2019.runs import NAMES, fixed_budget, fixed_target
from racer.stats import plackett_luce, plackett_luce_by_budget, rank_blocks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd
    from numpy.typing import NDArray

__all__ = ["COLUMNS", "LEVEL", "budget_evolution", "largest_shift", "prior_sensitivity", "priors"]

LEVEL = 0.9  # the paper's 5 % and 95 % quantiles
TOLERANCE = 1e-6  # values that local optimisers found at the same optimum tie
COLUMNS = ("algorithm", "estimate", "low", "high", "probability", "expected_rank")


def budget_evolution(
    rows: Sequence[dict[str, Any]], functions: Sequence[str], draws: int, seed: int
) -> pd.DataFrame:
    """Return for each budget and optimiser how probably it finds the best value (Figure 5)."""
    frame = plackett_luce_by_budget(
        fixed_budget(rows, functions),
        level=LEVEL,
        names=NAMES,
        tolerance=TOLERANCE,
        draws=draws,
        seed=seed,
    )
    return frame[["budget", *COLUMNS]]


def priors(costs: NDArray[np.float64], strength: float) -> Mapping[str, NDArray[np.float64]]:
    """Return the three priors of section 4.3, each with a total of `strength` times K.

    "uniform" treats all alike; "empirical" gives the one with the best mean rank in the data K
    parts, the next one K - 1, .. the last one 1; "deceptive" the other way round. (The paper
    says that its last two use the results, and not how.)
    """
    k = costs.shape[1]
    places = rank_blocks(rank_blocks(costs).mean(axis=0)[None])[0]
    parts = {"uniform": np.ones(k), "empirical": k + 1.0 - places, "deceptive": places}
    return {name: strength * k * part / part.sum() for name, part in parts.items()}


def prior_sensitivity(
    rows: Sequence[dict[str, Any]],
    function: str,
    target: float,
    strengths: Sequence[float],
    draws: int,
    seed: int,
) -> pd.DataFrame:
    """Return how probably each optimiser reaches a target first, by each prior (Figure 6).

    Beside the priors of `priors`, at each strength: "earlier", the posterior from the first half
    of the instances as prior of the other half, which should tell what all of them tell.
    """
    import pandas as pd  # noqa: PLC0415

    costs = fixed_target(rows, function, target)
    settings: dict[str, Any] = {"names": NAMES, "draws": draws, "seed": seed}
    half = len(costs) // 2
    earlier = plackett_luce(costs[:half], **settings).as_prior()
    analyses: list[tuple[str, float, NDArray[np.float64], NDArray[np.float64]]] = [
        (name, strength, costs, alpha)
        for strength in strengths
        for name, alpha in priors(costs, strength).items()
    ]
    analyses.append(("earlier", float(earlier.sum()) / len(NAMES), costs[half:], earlier))
    parts = [
        plackett_luce(part, prior=alpha, **settings)
        .to_frame(level=LEVEL)[list(COLUMNS)]
        .assign(prior=name, strength=strength)
        for name, strength, part, alpha in analyses
    ]
    return pd.concat(parts, ignore_index=True)[["prior", "strength", *COLUMNS]]


def largest_shift(frame: pd.DataFrame, prior: str, strength: float) -> tuple[str, float]:
    """Return whose estimate a prior moves most against the uniform one of strength 1, and how."""

    def estimates(name: str, weight: float) -> pd.Series[float]:
        found = frame[(frame["prior"] == name) & (frame["strength"] == weight)]
        return found.set_index("algorithm")["estimate"]

    shift = estimates(prior, strength) - estimates("uniform", 1.0)
    name = str(shift.abs().idxmax())
    return name, float(shift[name])
