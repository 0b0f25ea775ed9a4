"""Gates: omnibus tests that have to reject "all equal" before candidates are compared."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np

from racer._checks import is_one_of
from racer._numerics import RowBuffer, one_blas_thread
from racer.deciders.decider import Drop, Verdict
from racer.deciders.parts.rank_tests import two_sided_sign
from racer.deciders.parts.ranking import instance_means
from racer.deciders.parts.verdicts import best_of
from racer.errors import SettingError
from racer.seeding import rng_for
from racer.stats.friedman import RankSums, friedman, gate_test
from racer.stats.sign_flips import all_alike, all_flips, flips_of, rotation_test

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from racer.deciders.parts.ranking import RunningRanks

Gate = Literal["sign-flip", "friedman"]
Evidence = dict[str, float | str]

_FLIPS = 100  # at least
_MOST = 5000
_PER_LEVEL = 5  # so many p-values at or below the level


def gated(
    gate: Omnibus | Region,
    ranks: RunningRanks,
    standing: NDArray[np.float64],
    rule: Callable[[], tuple[tuple[Drop, ...], Evidence]],
) -> Verdict:
    """Return the verdict of `rule`, asked if the gate opens; before two blocks nothing is asked."""
    best = best_of(ranks.candidates, standing)
    if ranks.n < 2 or len(standing) < 2:
        return Verdict((), best, standing)
    is_open, evidence = gate.ask(ranks)
    dropped, found = rule() if is_open else ((), {})
    return Verdict(dropped, best, standing, evidence | found)


def as_gate(gate: Any, kinds: Any) -> Any:
    """Return the name of a gate, True being the first of `kinds` (a Literal), or False for none."""
    names = get_args(kinds)
    if isinstance(gate, bool | np.bool_):
        return bool(gate) and names[0]
    if not is_one_of(gate, names):
        known = ", ".join(map(repr, names))
        raise SettingError(f"gate={gate!r}: choose {known}, or False for none")
    return gate


class Omnibus:
    """The gate of one race: a test of "all equal" at each test of the race.

    Where instances have been used again, it is about instances like these if `generalize`: one
    mean of the ranks counts for each; else about these alone, once each has been used twice.
    """

    def __init__(
        self, gate: Gate | bool, level: float, seed: int, *, generalize: bool = True
    ) -> None:
        self._gate, self._level, self._seed = gate, level, seed
        self._generalize = generalize
        self._k = min(max(_FLIPS, math.ceil(_PER_LEVEL / level)), _MOST)
        self._flips = RowBuffer(self._k, np.float64)  # a row per block

    def ask(self, ranks: RunningRanks) -> tuple[bool, Evidence]:
        """Return whether it opens, and the test; two candidates take the two-sided sign test."""
        if not self._gate:
            return True, {"gate": "none"}
        instances = ranks.repeated
        if instances is not None and self._generalize:
            return self._across(instance_means(ranks.ranks, instances))
        if instances is not None and self._gate == "sign-flip":
            counts = np.unique(instances, return_counts=True)[1]
            is_enough = 0.5 ** (ranks.n - len(counts)) <= self._level  # contrasts, as of flips
            if len(counts) > 1 and counts.min() > 1 and is_enough:
                return self._within(ranks.ranks, instances, ranks.n - len(counts) + 1)
        if len(ranks.candidates) == 2:
            p_value = two_sided_sign(ranks)
            return p_value < self._level, {"gate": "sign", "p_value": p_value}
        return self._tested(ranks.ranks, ranks.sums)

    def independent(self, ranks: RunningRanks) -> NDArray[np.float64]:
        """Return costs (k, m) of blocks that are independent evidence; of instances, by their means."""
        instances = ranks.repeated if self._generalize else None
        return ranks.costs if instances is None else instance_means(ranks.costs, instances)

    def _tested(self, rows: NDArray[np.float64], sums: RankSums) -> tuple[bool, Evidence]:
        """Ask by Friedman's statistic, or by sign flips of centred ranks (n, m).

        With too few blocks for flips, by their F as well.
        """
        if self._gate == "friedman":
            statistic, p_value = friedman(sums)
            opened = p_value < self._level
            return opened, {"gate": "friedman", "statistic": statistic, "p_value": p_value}
        found = all_alike(rows, sums, self._flips_of(len(rows)), self._level)
        rejected, gate, statistic, p_value = found
        return rejected, {"gate": gate, "statistic": statistic, "p_value": p_value}

    def _across(self, rows: NDArray[np.float64]) -> tuple[bool, Evidence]:
        """Ask about instances like these, by their means (I, m)."""
        if len(rows) == 1:
            return False, {"gate": "none", "instances": 1}
        opened, found = self._tested(rows, RankSums.of(rows))
        return opened, found | {"instances": len(rows)}

    def _within(
        self, ranks: NDArray[np.float64], instances: NDArray[np.intp], n: int
    ) -> tuple[bool, Evidence]:
        """Ask about these instances, by differences between seeds of the same: n - 1 contrasts."""
        # a row per contrast: earlier ones keep their numbers at later tests
        turns = rng_for(self._seed, "turns").standard_normal((n, self._k - 1)).T
        with one_blas_thread():
            statistic, p_value, _ = rotation_test(ranks, instances, turns)
        opened = p_value <= self._level * (1.0 + 1e-9)
        return opened, {"gate": "rotation", "statistic": statistic, "p_value": p_value}

    def _flips_of(self, n: int) -> NDArray[np.float64]:
        """Return all flips of n blocks, or k, (k, n): a block's are the same at every test."""
        if 1 << (n - 1) <= self._k:
            return all_flips(n)
        for block in range(len(self._flips), n):
            self._flips.append(flips_of(block, self._k, self._seed))
        return self._flips.rows.T


class Region(NamedTuple):
    """The gate of Benavoli et al. (2015): a credible region of the mean ranks (eq. 19)."""

    strength: float
    level: float

    def ask(self, ranks: RunningRanks) -> tuple[bool, Evidence]:
        """Return whether it opens, and the test; two candidates take none."""
        sums = ranks.sums
        if sums.m == 2:
            return True, {"gate": "none"}
        if sums.n < sums.m:
            return False, {"gate": "bayesian"}
        with one_blas_thread():
            found = gate_test(sums, ranks.ranks.T @ ranks.ranks, self.strength)
        return found.tail_probability < self.level, found._asdict()
