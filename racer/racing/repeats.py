"""Whether instances that are used again, with another seed, bring anything new."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from racer.core.blocks import Order, Stream
    from racer.core.rules import Rules
    from racer.core.table import Table
    from racer.evaluate.outcome import Outcome
    from racer.racing.state import State


class Repeats:
    """Detect objectives that ignore their seed, by blocks with repeated instances.

    `is_open` until that is known; meanwhile such blocks are set aside in the table. `found`: all
    values were the same, and that is not a coincidence: `message` is the warning.
    """

    def __init__(self, stream: Stream, rules: Rules) -> None:
        self._stream = stream
        self.n_instances: int = stream.n_instances or 0
        # with a single instance there is nothing else that they could be taken as evidence of, and
        # no run time comes twice
        self.is_open: bool = (
            rules.deterministic is None and self.n_instances > 1 and rules.runtime is None
        )
        self.found: bool = False
        self._blocks: dict[int, list[int]] = {}  # by instance
        self._chance = 1.0
        self._repeating: set[int] = set()  # blocks
        self._repeated = 0  # cells

    def holds(self, block: int) -> bool:
        """Return whether a block is not evidence, as far as is known."""
        return (self.is_open or self.found) and block >= self.n_instances

    def see(self, block: int, candidates: Iterable[int], table: Table) -> None:
        """Record the values of candidates on a block."""
        if self.holds(block):
            table.set_repeated(block)
        if not self.is_open:
            return
        blocks = self._blocks.setdefault(self._stream.place(block).instance or 0, [])
        if block not in blocks:
            blocks.append(block)
        if len(blocks) == 1:
            return
        values = set()
        for candidate in candidates:
            known = table.of(candidate)
            value, is_repeated = _answer(known[block]), False
            for other in blocks:
                before = _answer(known[other]) if other in known and other != block else None
                if value is None or before is None:
                    continue
                if value != before:
                    self.is_open = False
                    table.set_repeated()
                    return
                is_repeated = True
                self._repeating.add(max(block, other))
                values.add(value)
            self._repeated += is_repeated
        self._chance *= _tied(table, self.n_instances) ** len(values)
        # on five blocks, as candidates share the seed of a block, and may agree at once
        if self._chance < 1e-6 and len(self._repeating) >= 5:
            self.is_open, self.found = False, True

    @property
    def message(self) -> str:
        """The finding, for a warning."""
        return (
            f"evaluate seems to ignore its seed: {self._repeated} evaluations on instances used "
            "again, with another seed, returned exactly the same values. They do not count "
            "as evidence, and each instance is used once from here on. Give deterministic=True, "
            "which saves these evaluations, or, if the values are equal by chance, "
            "deterministic=False"
        )


def _answer(outcome: Outcome) -> float | tuple[float, ...] | None:
    """Return the values of an evaluation, all its metrics; None if it failed."""
    if outcome.metrics is None or outcome.value is None:
        return outcome.value
    return tuple(outcome.metrics.values())


def _tied(table: Table, blocks: int) -> float:
    """Return the share of pairs of values that are equal, on the first blocks; a bound if none is."""
    rows = [row for row in table.rows if row.block < blocks]
    if any(outcome.metrics is not None for row in rows for outcome in row.others.values()):
        answers = [_answer(outcome) for row in rows for outcome in row.outcomes()]
        counts = [*Counter(answer for answer in answers if answer is not None).values()]
    else:
        values = np.concatenate([row.values for row in rows])
        counts = np.unique(values[~np.isnan(values)], return_counts=True)[1].tolist()
    tied = sum(math.comb(count, 2) for count in counts)
    return (1 + tied) / (1 + math.comb(sum(counts), 2))


class Withheld:
    """Blocks of one race that may only repeat others: a filter in front of its decider.

    They are kept from it while `repeats`, which the contest shows all outcomes, does not know
    whether they are evidence; once it has found that they are not, they are discarded. None:
    nothing is withheld.
    """

    def __init__(self, repeats: Repeats | None = None) -> None:
        self.count: int = 0  # blocks
        self.repeats = repeats
        self._rows: list[tuple[int, NDArray[np.float64]]] = []  # but of blocks that are set aside
        self._is_discarded = False

    @property
    def is_in_vain(self) -> bool:
        """Whether blocks are to be discarded, as each instance counts once."""
        return self.repeats is not None and self.repeats.found and not self._is_discarded

    def released(self) -> list[tuple[int, NDArray[np.float64]]]:
        """Return the blocks that have turned out to be evidence."""
        repeats = self.repeats
        if not self.count or repeats is None or repeats.is_open or repeats.found:
            return []
        rows, self._rows, self.count = self._rows, [], 0
        return rows

    def withhold(self, block: int, costs: NDArray[np.float64] | None) -> bool:
        """Keep a block from the decider if it may be no evidence; return whether it is kept.

        The costs are None for a block that is set aside.
        """
        if self.repeats is None or not self.repeats.holds(block):
            return False
        self.count += 1
        if costs is not None:
            self._rows.append((block, costs))
        return True

    def keep(self, stay: NDArray[np.bool_]) -> None:
        """Remove the candidates that do not stay."""
        self._rows = [(block, costs[stay]) for block, costs in self._rows]

    def discard(self, state: State, order: Order) -> None:
        """Discard the blocks withheld, and end the race when each instance has been used."""
        self._rows, self._is_discarded = [], True
        if self.repeats is not None:
            state.first_test = min(state.first_test, self.repeats.n_instances)
            order.restrict(self.repeats.n_instances)
