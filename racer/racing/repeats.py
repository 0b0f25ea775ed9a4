"""Whether instances that are used again, with another seed, bring anything new."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from racer.racing.rules import Rules
    from racer.racing.stream import Stream
    from racer.racing.table import Table

_BLOCKS = (
    5  # that repeat others: a block's seed is that of all candidates, so they may agree at once
)
_CHANCE = 1e-6  # of a coincidence of values


class Repeats:
    """Watch blocks that use an instance again for values other than with the seed before.

    `is_open` until that is known; meanwhile such blocks are set aside in the table. `found`: all
    values were the same, and that is no coincidence: `message` says so.
    """

    def __init__(self, stream: Stream, rules: Rules) -> None:
        self._stream = stream
        self._n = stream.n_instances or 0
        # with a single instance there is nothing else that they could be taken as evidence of, and
        # no run time comes twice
        self.is_open = rules.deterministic is None and self._n > 1 and rules.runtime is None
        self.found = False
        self._blocks: dict[int, list[int]] = {}  # by instance
        self._chance = 1.0
        self._repeating: set[int] = set()  # blocks
        self._repeated = 0  # cells

    def holds(self, block: int) -> bool:
        """Say whether a block is no evidence, as far as is known."""
        return (self.is_open or self.found) and block >= self._n

    def see(self, block: int, candidates: Iterable[int], table: Table) -> None:
        """Take in what candidates have brought on a block."""
        if not self.is_open:
            return
        blocks = self._blocks.setdefault(self._stream.place(block).instance or 0, [])
        if block not in blocks:
            blocks.append(block)
        if block >= self._n:
            table.set_repeated(block)
        if len(blocks) == 1:
            return
        values = set()
        for candidate in candidates:
            known = table.of(candidate)
            value = known[block].value
            for other in blocks:
                before = known[other].value if other in known and other != block else None
                if value is None or before is None:
                    continue
                if value != before:
                    self.is_open = False
                    table.set_repeated()
                    return
                self._repeated += 1
                self._repeating.add(max(block, other))
                values.add(value)
        self._chance *= _tied(table, self._n) ** len(values)
        if self._chance < _CHANCE and len(self._repeating) >= _BLOCKS:
            self.is_open, self.found = False, True

    @property
    def message(self) -> str:
        """What was found, for a warning."""
        return (
            f"evaluate seems to ignore its seed: {self._repeated} evaluations on instances used "
            "again, with another seed, have brought exactly the values of before. They do not count "
            "as evidence, and each instance is used once from here on. Give deterministic=True, "
            "which saves these evaluations, or, if the values are equal by chance, "
            "deterministic=False"
        )


def _tied(table: Table, blocks: int) -> float:
    """Return the share of pairs of values that are equal, on the first blocks; a bound if none is."""
    rows = [row.values for row in table.rows if row.block < blocks]
    values = np.concatenate(rows)
    counts = np.unique(values[~np.isnan(values)], return_counts=True)[1].tolist()
    tied = sum(math.comb(count, 2) for count in counts)
    return (1 + tied) / (1 + math.comb(sum(counts), 2))
