"""The progress of a race, and its requests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from racer.core.events import Ended
from racer.deciders.decider import Setting
from racer.seeding import rng_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from racer.core.events import Elimination
    from racer.core.prices import Prices
    from racer.core.rules import Rules
    from racer.deciders.decider import Verdict

Evidence = Mapping[str, float | str]  # what a verdict says of its omnibus test
Pays = Callable[[int, float], bool]  # for so many cells, and so many seconds besides


class Request(NamedTuple):
    """Cells that a race needs: `candidates` on a block, or the (block, candidate) of `again`."""

    block: int
    candidates: NDArray[np.intp]
    again: tuple[tuple[int, int], ...] = ()


@dataclass(slots=True)
class State:
    """The progress of a race; candidates are positions 0 to m - 1, blocks are counted from 0."""

    setting: Setting
    first_test: int  # usable blocks
    decided: Any  # state of the decider
    alive: NDArray[np.intp]
    judged: tuple[NDArray[np.intp], Verdict | None]  # candidates of the last verdict, and it
    evidence: list[tuple[int, Evidence]] = field(default_factory=list)  # and after which block
    pending: list[tuple[int, NDArray[np.float64]]] = field(default_factory=list)  # not tested
    block: int = 0  # complete blocks
    used: int = 0  # evaluations
    succeeded: set[int] = field(default_factory=set)  # on any block, but for the rejected
    tested: int = 0  # usable blocks that the decider has seen
    eliminations: list[Elimination] = field(default_factory=list)
    used_share: float | None = None  # of a budget in money or in seconds
    has_difference: bool = False  # a block tells two candidates apart
    ended: Ended | None = None

    @classmethod
    def new(
        cls,
        rules: Rules,
        n_candidates: int,
        *,
        n_instances: int | None,
        n_blocks: int | None,
        prices: Prices | None = None,
    ) -> State:
        """Return the state of a race in which nothing is known; `n_blocks` is its length."""
        setting = Setting(
            n_candidates,
            rng_for(rules.seed or 0, "decider"),
            objective=rules.goal or "cost",
            budget=rules.one_budget.evaluations,
            n_blocks=n_blocks,
            n_instances=n_instances,
            prices=None if prices is None else prices.given(),
            has_share=rules.one_budget.has_share,
            bounds=rules.cost_bounds,
            generalize=rules.generalizes(n_instances),
        )
        alive = np.arange(n_candidates)
        alive.setflags(write=False)  # deciders are shown it
        first_test = rules.least_blocks(n_instances)
        return cls(setting, first_test, rules.decider.start(setting), alive, (alive, None))

    @property
    def n_candidates(self) -> int:
        """How many candidates began the race."""
        return self.setting.n_candidates

    @property
    def verdict(self) -> Verdict | None:
        """The last verdict."""
        return self.judged[1]

    @property
    def ranked(self) -> tuple[int, ...]:
        """The candidates that have not been eliminated, best standing first."""
        if self.verdict is None:
            return tuple(self.alive.tolist())
        ranked = self.judged[0][np.argsort(self.verdict.standing, kind="stable")]
        if len(ranked) > len(self.alive):
            is_alive = np.zeros(self.n_candidates, dtype=np.bool_)
            is_alive[self.alive] = True
            ranked = ranked[is_alive[ranked]]
        return tuple(ranked.tolist())

    @property
    def stopped(self) -> Ended | None:
        """Why the decider ends the race: nothing is open, or no elimination can follow."""
        verdict = self.verdict
        if verdict is None or verdict.dropped:
            return None
        if verdict.settled:
            return Ended.SETTLED
        return Ended.UNDECIDED if verdict.undecided else None

    @property
    def n_rejected(self) -> int:
        """How many candidates have been rejected by an evaluation, not against another."""
        return sum(gone.against == gone.candidate for gone in self.eliminations)

    @property
    def is_left_alone(self) -> bool:
        """Whether all candidates but one have been rejected."""
        return self.n_rejected == self.n_candidates - 1

    def eliminate(self, gone: Sequence[Elimination]) -> NDArray[np.bool_]:
        """Remove candidates, also from the blocks that have not been tested; return the others."""
        stay = np.ones(len(self.alive), dtype=np.bool_)
        stay[np.searchsorted(self.alive, [elimination.candidate for elimination in gone])] = False
        self.alive = self.alive[stay]
        self.alive.setflags(write=False)
        self.pending = [(block, costs[stay]) for block, costs in self.pending]
        self.eliminations += gone
        return stay


def started(rules: Rules, setting: Setting) -> Any:
    """Return the state of the decider at the beginning of the same race."""
    return rules.decider.start(replace(setting, rng=rng_for(rules.seed or 0, "decider")))
