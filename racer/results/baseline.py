"""The improvement of a tuning over the default, the configuration in use before."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from racer._numerics import shown_probability
from racer.render.sections import number
from racer.results.base import mean_on
from racer.results.posterior import as_compared
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
        Mean values of the best and of the default, on the same blocks: wherever both have
        a value.
    blocks : int
        Number of these blocks.
    held_out : bool
        The blocks are held-out instances. Otherwise they are the tuning's blocks, on which the best
        was chosen: the improvement is then too favourable.
    probability : float or None
        Posterior probability that the best is better on instances like these; None without
        held-out instances. A failure is worse than any value.
    failed, default_failed : int
        On how many shared blocks the best failed, and the default: these are left out.
    """

    relative: float | None
    mean: float
    default_mean: float
    blocks: int
    held_out: bool
    probability: float | None
    failed: int = 0
    default_failed: int = 0


class _Shared(NamedTuple):
    """The usable blocks of both: all, blocks with two values, and how many failed of each."""

    blocks: list[int]
    solved: list[int]
    failed: int
    default_failed: int

    @classmethod
    def of(cls, table: Table, best: int, default: int) -> _Shared:
        blocks = [b for b in table.common([best, default]) if table.is_usable(b)]
        if table.runtime is not None:  # a failed run has a score
            return cls(blocks, blocks, 0, 0)
        failed, missing = (
            {b for b in blocks if column[b].value is None}
            for column in (table.of(best), table.of(default))
        )
        solved = [b for b in blocks if b not in failed | missing]
        return cls(blocks, solved, len(failed), len(missing))

    def failures(self, block: str) -> str:
        """Return a sentence on failures, "" without any."""
        n = len(self.blocks)
        of = f"the only shared {block}" if n == 1 else f"{n} shared {block}s"
        failed = {"best": self.failed, "default": self.default_failed}
        parts = [
            f"the {who} failed on {of if n == 1 else f'all {of}' if k == n else f'{k} of {of}'}"
            for who, k in failed.items()
            if k
        ]
        return f"{', '.join(parts).capitalize()}." if parts else ""


def improvement(result: Result, default: int | None) -> Improvement | None:
    """Return the improvement over the default; None without one, or without common blocks."""
    best = result.best_index
    if best is None or default is None or best == default:
        return None
    for table in (result.held_out, result.known):
        _, solved, *failed = _Shared.of(table, best, default)
        mean, present = mean_on(table, best, solved), mean_on(table, default, solved)
        if mean is not None and present is not None:
            is_held_out = table is result.held_out
            chance = _probability(result, table, best, default) if is_held_out else None
            relative = _relative(mean, present, maximize=result.rules.is_more_better)
            return Improvement(relative, mean, present, len(solved), is_held_out, chance, *failed)
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
    costs, measure = as_compared(costs, result.rules)
    return float(best_posterior(costs, measure=measure).probability_best[0])


def verdict_of_default(result: Result, default: int | None) -> str:
    """Return sentences on the improvement over the default; empty without a default."""
    best = result.best_index
    if default is None or best is None:
        return ""
    if best == default:
        return "The default is the best configuration found."
    found = improvement(result, default)
    tested = _Shared.of(result.held_out, best, default)
    known = _Shared.of(result.known, best, default)
    if found is None:
        where, shared = ("held-out instance", tested) if tested.blocks else ("block", known)
        if not shared.blocks:
            return "The default and the best configuration have no block in common."
        return shared.failures(where)
    means = f"{number(found.mean)} instead of {number(found.default_mean)}"
    what, more = f"The best has a mean of {means}, that of the default,", ""
    if found.relative is not None:
        share = 100 * abs(found.relative)
        shown = f"{share:.0f}" if share >= 10.0 else f"{share:.2g}"
        what = f"{shown} % {'better' if found.relative >= 0 else 'worse'} than the default"
        more = f": a mean of {means}"
    has = "solved" if found.failed or found.default_failed else "seen"
    if not found.held_out:
        hint = "" if len(result.held_out) else ": give Instances(.., held_out=..)"
        sentence = (
            f"{what} on the {found.blocks} runs of the tuning that both have {has}; the best was "
            f"chosen on these, which flatters it{hint}."
        )
        failures = known.failures("block"), tested.failures("held-out instance")
        return " ".join(filter(None, (sentence, *failures)))
    chance = ""
    if found.probability is not None:
        chance = f"probability {shown_probability(found.probability, 2).replace('>', '> ')}"
        chance = f" ({chance}{', failures counted as worst' if has == 'solved' else ''})"
    on = f"{found.blocks} held-out instances" if found.blocks > 1 else "one held-out instance"
    if has == "solved":
        on += " that both solved"
    sentence = f"{what} on {on}{chance}{more}."
    return " ".join(filter(None, (sentence, tested.failures("held-out instance"))))
