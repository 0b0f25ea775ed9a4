"""The improvement of a tuning over the default, the configuration in use before."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from racer._numerics import shown_probability
from racer.render.sections import number
from racer.results.base import mean_on
from racer.stats.best import best_posterior

if TYPE_CHECKING:
    from racer.core.table import Table
    from racer.results.base import Result


class Improvement(NamedTuple):
    """Improvement of the best configuration over the default.

    Attributes
    ----------
    relative : float or None
        Improvement as a share of the default's mean, negative where the best is worse. None unless
        both means are above 0.
    mean, default_mean : float
        Mean values of the best and of the default, on the same blocks.
    blocks : int
        Number of these blocks.
    held_out : bool
        The blocks are held-out instances. Otherwise they are those of the tuning, on which the best
        was chosen: the improvement is then too favourable.
    probability : float or None
        Posterior probability that the best is better on instances like these; None without
        held-out instances.
    """

    relative: float | None
    mean: float
    default_mean: float
    blocks: int
    held_out: bool
    probability: float | None


def improvement(result: Result, default: int | None) -> Improvement | None:
    """Return the improvement over the default; None without one, or without common blocks."""
    best = result.best_index
    if best is None or default is None or best == default:
        return None
    for table in (result.held_out, result.known):
        blocks = [b for b in table.common([best, default]) if table.is_usable(b)]
        mean, present = mean_on(table, best, blocks), mean_on(table, default, blocks)
        if mean is not None and present is not None:
            is_held_out = table is result.held_out
            chance = _probability(result, table, best, default) if is_held_out else None
            relative = _relative(mean, present, maximize=result.rules.maximize)
            return Improvement(relative, mean, present, len(blocks), is_held_out, chance)
    return None


def _relative(mean: float, default: float, *, maximize: bool) -> float | None:
    if min(mean, default) <= 0.0:
        return None
    return (mean - default if maximize else default - mean) / default


def _probability(result: Result, table: Table, best: int, default: int) -> float | None:
    """Return the posterior probability that the best is better, from means on held-out instances."""
    costs = table.costs([best, default])
    if len(costs) < 2:
        return None
    if result.rules.runtime is not None:
        costs = result.rules.runtime.as_costs(costs)
    return float(best_posterior(costs, by_block=False).probability_best[0])


def verdict_of_default(result: Result, default: int | None) -> str:
    """Return a sentence on the improvement over the default; empty without a default."""
    if default is None or result.best_index is None:
        return ""
    if result.best_index == default:
        return "The default is the best configuration found."
    found = improvement(result, default)
    if found is None:
        return "The default and the best configuration have no block in common."
    means = f"{number(found.mean, 4)} instead of {number(found.default_mean, 4)}"
    what, more = f"The best has a mean of {means}, that of the default,", ""
    if found.relative is not None:
        share = f"{100 * abs(found.relative):.2g} % {'better' if found.relative >= 0 else 'worse'}"
        what, more = f"{share} than the default", f": a mean of {means}"
    if not found.held_out:
        return (
            f"{what} on the {found.blocks} blocks of the tuning that both have seen; the best was "
            "chosen on these, which flatters it: give test_instances."
        )
    chance = ""
    if found.probability is not None:
        shown = shown_probability(found.probability, 2)
        chance = f" (P = {shown})" if shown[0].isdigit() else f" (P {shown[0]} {shown[1:]})"
    on = f"{found.blocks} held-out instances" if found.blocks > 1 else "one held-out instance"
    return f"{what} on {on}{chance}{more}."
