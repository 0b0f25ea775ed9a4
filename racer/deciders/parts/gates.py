"""Gates: omnibus tests that have to reject "all equal" before candidates are compared."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np

from racer._numerics import RowBuffer, one_blas_thread
from racer.deciders.decider import Drop, Verdict
from racer.deciders.parts.rank_tests import two_sided_sign
from racer.deciders.parts.verdicts import best_of
from racer.errors import SettingError
from racer.stats.friedman import chi_square, friedman, gate_test, iman_davenport
from racer.stats.sign_flips import all_flips, flip_test, flips_of

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
    if gate not in names:
        known = ", ".join(map(repr, names))
        raise SettingError(f"gate={gate!r}: choose {known}, or False for none")
    return gate


class Omnibus:
    """The gate of one race: a test of "all equal" at each test of the race."""

    def __init__(self, gate: Gate | bool, level: float, seed: int) -> None:
        self._gate, self._level, self._seed = gate, level, seed
        self._k = min(max(_FLIPS, math.ceil(_PER_LEVEL / level)), _MOST)
        self._flips = RowBuffer(self._k, np.float64)  # a row per block

    def ask(self, ranks: RunningRanks) -> tuple[bool, Evidence]:
        """Return whether it opens, and the test; two candidates take the two-sided sign test."""
        if not self._gate:
            return True, {"gate": "none"}
        if len(ranks.candidates) == 2:
            p_value = two_sided_sign(ranks)
            return p_value < self._level, {"gate": "sign", "p_value": p_value}
        if self._gate == "friedman":
            statistic, p_value = friedman(ranks.sums)
            opened = p_value < self._level
            return opened, {"gate": "friedman", "statistic": statistic, "p_value": p_value}
        with one_blas_thread():
            statistic, p_value, largest = flip_test(ranks.ranks, self._flips_of(ranks.n))
        opened = p_value <= self._level * (1.0 + 1e-9)
        gate = "sign-flip"
        if 0.5 ** (ranks.n - 1) > self._level:  # too few blocks for flips to say so alone
            gate, sums = "iman-davenport", ranks.sums
            statistic, p_value = iman_davenport(chi_square(sums), sums.n, sums.m)
            opened = largest and p_value < self._level
        return opened, {"gate": gate, "statistic": statistic, "p_value": p_value}

    def _flips_of(self, n: int) -> NDArray[np.float64]:
        """Return all flips of n blocks, or k, (k, n): a block's are the same at every test."""
        if 1 << (n - 1) <= self._k:
            return all_flips(n)
        for block in range(len(self._flips), n):
            self._flips.append(flips_of(block, self._k, self._seed))
        return self._flips.rows.T


class Region(NamedTuple):
    """The gate of Benavoli et al. (2015), eq. 19: a credible region of the mean ranks."""

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
            gram = ranks.ranks.T @ ranks.ranks
        found = gate_test(sums, gram, self.strength)
        return found.tail_probability < self.level, found._asdict()
