"""Outcomes of cheap evaluations, apart from the full ones on which all decisions rest."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy  # its parts are imported when they are used

from racer._checks import counted
from racer.stats.ranks import ranks_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from racer.core.table import Table
    from racer.evaluate.fidelity import Fidelity
    from racer.evaluate.outcome import Cell, CellKey, Outcome


class Rung(NamedTuple):
    """How well evaluations at a fidelity tell the order of full ones.

    Attributes
    ----------
    fidelity : float
    evaluations : int
        Cheap evaluations at it.
    pairs : int
        Evaluations at it of which the full one, of the same candidate on the same block, is known.
    correlation, low, high : float
        Spearman's rank correlation within blocks over these, with its interval of .95 (Fisher's z);
        NaN, -1 and 1 while there are too few.
    """

    fidelity: float
    evaluations: int
    pairs: int
    correlation: float = math.nan
    low: float = -1.0
    high: float = 1.0

    def __str__(self) -> str:
        if math.isnan(self.correlation):
            return f"not known ({counted(self.pairs, 'pair')})"
        return f"{self.correlation:.2f} (95 %: {self.low:.2f} to {self.high:.2f})"


class Cheap:
    """Outcomes of cheap evaluations by fidelity, block and candidate, and their cost."""

    def __init__(self, fidelity: Fidelity) -> None:
        self.fidelity = fidelity
        self._told: dict[float, dict[int, dict[int, Outcome]]] = {v: {} for v in fidelity.rungs}
        self._used = Fraction(0)  # full evaluations
        self.again: dict[float, int] = {}  # rungs left out; evaluations after which they are tried

    @property
    def evaluations(self) -> int:
        """How many full evaluations they cost, rounded up."""
        return math.ceil(self._used)

    def of(self, value: float, block: int) -> dict[int, Outcome]:
        """Return the outcomes at a fidelity on a block, by candidate."""
        return self._told[value].get(block, {})

    def add(self, pairs: Iterable[tuple[Cell, Outcome]]) -> None:
        """Add the outcomes of cheap cells."""
        for cell, outcome in pairs:
            assert cell.fidelity is not None  # noqa: S101  (for the type checker)
            self._told[cell.fidelity].setdefault(cell.block, {})[cell.candidate] = outcome
            self._used += self.fidelity.share(cell.fidelity)

    def copy(self) -> Cheap:
        """Return a copy, to which more can be added."""
        twin = Cheap(self.fidelity)
        twin._told = {v: {b: {**o} for b, o in by.items()} for v, by in self._told.items()}
        twin._used = self._used
        return twin

    def cells(self) -> Iterator[tuple[CellKey, Outcome]]:
        """Yield the keys of all cells with their outcomes."""
        for value, by_block in self._told.items():
            for block, told in by_block.items():
                yield from (((False, block, c, value), one) for c, one in told.items())

    def rung(self, value: float, known: Table, latest: int = 0) -> Rung:
        """Return how well evaluations at a fidelity order candidates as full ones do.

        With `latest`, only the pairs of so many candidates with the largest numbers count.

        Ranks are centred within each block, as blocks differ; the number of pairs is less by one for
        each block after the first. The variance of z is 1.06 / (n - 3) (Fieller, Hartley and Pearson,
        Biometrika 1957).
        """
        cheap, full, n, pairs = [np.zeros(0)], [np.zeros(0)], 1, 0
        sign = -1.0 if known.maximize else 1.0
        by_block = self._told[value].items()
        seen = sorted(c for block, told in by_block for c in told if block in known.of(c))
        first = seen[-latest:][0] if seen else 0
        for block, told in by_block:
            some = {c: o for c, o in told.items() if c >= first and block in known.of(c)}
            both = [(o, known.of(c)[block]) for c, o in some.items()]
            pairs += len(both)
            if len(both) < 2:
                continue
            costs = [[math.inf if o.value is None else sign * o.value for o in p] for p in both]
            ranks = ranks_of(np.array(costs).T) / len(both)
            ranks -= ranks.mean(axis=1, keepdims=True)
            cheap.append(ranks[0])
            full.append(ranks[1])
            n += len(both) - 1
        x, y = np.concatenate(cheap), np.concatenate(full)
        found = Rung(value, sum(map(len, self._told[value].values())), pairs)
        spread = math.sqrt(float(x @ x) * float(y @ y))
        if n <= 3 or not spread:
            return found
        r = float(x @ y) / spread
        # a few pairs in one order are no proof
        z = math.atanh(math.copysign(min(abs(r), 1.0 - 1.0 / n), r))
        half = float(scipy.special.ndtri(0.975)) * math.sqrt(1.06 / (n - 3))
        low, high = min(math.tanh(z - half), r), max(math.tanh(z + half), r)
        return found._replace(correlation=r, low=low, high=high)

    def rungs(self, known: Table) -> list[Rung]:
        """Return how well each fidelity tells."""
        return [self.rung(value, known) for value in self.fidelity.rungs]

    def note(self, known: Table) -> str:
        """Return how many cheap evaluations there are, and how well each rung tells, in sentences."""
        rungs = self.rungs(known)
        n = sum(rung.evaluations for rung in rungs)
        told = "; ".join(f"{self.fidelity.label(rung.fidelity)} {rung}" for rung in rungs)
        return (
            f"{counted(n, 'cheap evaluation')} among new candidates, as much as {self.evaluations} full "
            f"ones. Rank correlation with full ones: {told}."
        )
