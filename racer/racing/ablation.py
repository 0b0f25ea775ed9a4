"""Ablation: which of the changes from one configuration to another made the difference."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from racer.core.blocks import Order, Place
from racer.core.budget import Budget
from racer.core.contest import Description
from racer.core.events import Callback, Ended, RaceEnded
from racer.core.pool import as_instances
from racer.core.rules import Rules
from racer.core.table import Row, Table
from racer.errors import BudgetError, SettingError
from racer.failures import impute_failed
from racer.racing.asktell import Asked, AskTell, Flow
from racer.racing.loop import advance, race
from racer.racing.repeats import Withheld
from racer.racing.state import Request, State
from racer.results.ablation import AblationResult, Step
from racer.seeding import seed_for
from racer.space.structure import toward

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Iterator, Mapping, Sequence

    from racer.core.contest import Kind
    from racer.evaluate.outcome import Cell
    from racer.racing.asktell import Ahead
    from racer.space.space import Space

__all__ = ["Ablation"]

Config = dict[str, Any]


class Ablation(AskTell):
    """An ablation by `ask` and `tell`: no clock, no files, no processes.

    From `source` to `target`: in each round every parameter that still differs is set to the
    target's value, the results are raced against each other, and the best one is the next
    configuration of the path. All configurations of the path are evaluated on all blocks, so that
    gains can be compared and added.

    Parameters
    ----------
    space : Space
    source, target : configuration
    instances : sequence or None
        One per block.
    seeds : sequence of int
        One per block.
    callbacks : sequence of callable
    **rules
        As of `racer.Race`, the budget among them: `max_evaluations` returns the most it takes.
        Of run times all evaluations may take `limit`: gains of the mean score need times that
        are not capped.

    Raises
    ------
    CandidateError, SettingError, BudgetError
        Settings that cannot work.

    References
    ----------
    Fawcett and Hoos: Analysing differences between algorithm configurations through ablation,
    Journal of Heuristics 22 (2016).
    """

    kind: ClassVar[Kind] = "ablation"

    def __init__(
        self,
        space: Space,
        source: Mapping[str, Any],
        target: Mapping[str, Any],
        instances: Sequence[Any] | None,
        seeds: Sequence[int],
        *,
        callbacks: Sequence[Callback] = (),
        **rules: Any,
    ) -> None:
        super().__init__(callbacks)
        self.space = space
        self._ends = space.check(source), space.check(target)
        if space.key(self._ends[0]) == space.key(self._ends[1]):
            raise SettingError("source and target are the same configuration: nothing to ablate")
        self._seeds = list(seeds)
        self.instances: tuple[Any, ...] | None = as_instances(instances)
        if not self._seeds or len(self.instances or self._seeds) != len(self._seeds):
            raise SettingError(f"{len(self._seeds)} seeds: give one per instance")
        self.rules: Rules = Rules.given(rules)
        if (times := self.rules.runtime) is not None:
            # gains are of means: not capped, not of ranks
            times = replace(times, slack=math.inf, par=times.par or 1.0)
            self.rules = replace(self.rules, runtime=times)
        if self.rules.one_budget.spend is not None:
            raise BudgetError("an ablation has no budget of money: give evaluations or seconds")
        self._table = Table(maximize=self.rules.maximize, runtime=self.rules.runtime)
        self._configs: list[Config] = []
        self._at: dict[Any, int] = {}
        self._path: list[int] = []
        self._ended: Ended | None = None
        self._seconds = 0.0

    @staticmethod
    def max_evaluations(parameters: int, blocks: int) -> int:
        """Return how many evaluations an ablation of this number of parameters takes at most."""
        return blocks * (2 + parameters * (parameters + 1) // 2)

    @staticmethod
    def min_evaluations(
        space: Space, source: Config, target: Config, blocks: int, first_test: int
    ) -> int:
        """Return how many evaluations the first step takes at least, if nothing is rejected.

        Of both ends and the next of the path on all blocks, of other options until the first test.
        """
        changes = [name for name in target if source.get(name, space) != target[name]]
        options = (toward(space, source, target, name) for name in changes)
        keys = {space.key(option) for option in options if option is not None}
        keys -= {space.key(source)}
        is_at_once = not keys or space.key(target) in keys
        others = max(len(keys) - 1, 0) * min(first_test, blocks)
        return blocks * (2 if is_at_once else 3) + others

    def description(self) -> Description:
        """Return its settings."""
        settings = {
            "space": self.space.to_json(),
            "source": self._ends[0],
            "target": self._ends[1],
            "seeds": self._seeds,
            **self.rules.settings(),
        }
        return Description(
            self.kind, settings, (), self.instances, (), tuple(self.space.parameters)
        )

    @property
    def configs(self) -> tuple[Config, ...]:
        """All configurations so far, by number."""
        return tuple(self._configs)

    @property
    def n_blocks(self) -> int:
        """How many blocks have been used."""
        return len(self._table)

    @property
    def ended(self) -> Ended | None:
        """Why it ended; None while it goes on."""
        return self._ended

    @property
    def alive(self) -> Collection[int]:
        """The configurations of which cells may still be asked for."""
        return range(len(self._configs))

    def result(self) -> AblationResult:
        """Return the result if it has ended, else its state."""
        steps = [
            self._step(one, other) for one, other in zip(self._path, self._path[1:], strict=False)
        ]
        known = self._table.copy()
        pending = self._asked.add_told(known)
        return AblationResult(
            space=self.space,
            source=self._ends[0],
            target=self._ends[1],
            steps=tuple(steps),
            path=tuple(self._path),
            configs=self.configs,
            ended=self._ended or Ended.INTERRUPTED,
            evaluations=len(self._table.rows) + len(pending),
            seconds=self._seconds + math.fsum(outcome.seconds for outcome in pending),
            spent=known.spent,
            seed=self.rules.seed or 0,
            known=known,
            rules=self.rules,
            blocks=len(self._seeds),
        )

    def _step(self, one: int, other: int) -> Step:
        before, after = self._configs[one], self._configs[other]
        names = [n for n in self.space.parameters if before.get(n, self) != after.get(n, self)]
        return Step(one, other, tuple(names))

    def _number(self, config: Config) -> int:
        """Return the number of a configuration, a new one if it is new."""
        key = self.space.key(config)
        if key not in self._at:
            self._at[key] = len(self._configs)
            self._configs.append(config)
        return self._at[key]

    def _missing(self, candidates: Sequence[int], blocks: Sequence[int]) -> list[Cell]:
        """Return the cells of candidates on blocks that have no outcome."""
        times, found = self.rules.runtime, []
        for block in blocks:
            place = Place(None if self.instances is None else block, self._seeds[block])
            missing = [c for c in candidates if block not in self._table.of(c)]
            found += place.cells(
                *(block, missing, lambda c: dict(self._configs[c]), self.instances),
                bound=None if times is None else times.limit,
                metrics=self.rules.metric_names,
            )
        return found

    def _flow(self) -> Flow:
        """Evaluate both ends, then race the changes of each round until the target is reached."""
        source, target = map(self._number, self._ends)
        every = range(len(self._seeds))
        self._path = [source]
        is_paid = yield from self._evaluate([source, target], every)
        while is_paid and self._path[-1] != target:
            options = self._options(self._path[-1], target)
            leading = (yield from self._race(options)) if len(options) > 1 else options[0]
            is_paid = leading is not None and (yield from self._evaluate([leading], every))
            if is_paid and leading is not None:
                self._path.append(leading)
        self._ended = Ended.DECIDED if is_paid else Ended.BUDGET
        self._notes.append(RaceEnded(self._ended, eliminated=()))

    def _evaluate(
        self, candidates: Sequence[int], blocks: Sequence[int], later: Ahead = tuple
    ) -> Generator[Asked, Any, bool]:
        """Evaluate the missing cells of candidates on blocks; return False if the budget is short."""
        cells = self._missing(candidates, blocks)
        spent, seconds = len(self._table.rows), self._seconds
        if not self.rules.one_budget.pays(len(cells), evaluations=spent, seconds=seconds):
            return False
        if cells:
            outcomes = yield Asked(cells.copy, later)
            for cell, outcome in zip(cells, outcomes, strict=True):
                self._table.add(cell.block, [cell.candidate], [outcome])
                self._seconds += outcome.seconds
        return True

    def _options(self, here: int, target: int) -> list[int]:
        """Return configurations one change closer to the target, itself if none is feasible."""
        config, end = self._configs[here], self._configs[target]
        found: list[int] = []
        for name in end:
            if config.get(name, self) != end[name]:
                new = toward(self.space, config, end, name)
                if new is not None and (number := self._number(new)) not in (*self._path, *found):
                    found.append(number)
        return found or [target]

    def _race(self, options: list[int]) -> Generator[Asked, Any, int | None]:
        """Race the changes of a round; return the best one, None if the budget is short."""
        m, n = len(options), len(self._seeds)
        rules = replace(
            self.rules,
            budget=Budget(evaluations=n * m),
            seed=seed_for(self.rules.seed or 0, "ablation", len(self._path)),
            deterministic=True,
            min_survivors=1,
            first_test=min(self.rules.first_test, n),
            block_size=1,
        )
        state = State.new(rules, m, n_instances=n, n_blocks=n)
        flow = race(
            rules,
            state,
            Order(range(n), None if self.instances is None else int),
            Withheld(),
            lambda _: True,
        )
        row: Row | None = None
        while isinstance(asked := advance(flow, row), Request):
            block = asked.block
            alive = [options[i] for i in state.alive.tolist()]
            later = partial(self._later, alive, block + 1)
            if not (yield from self._evaluate(alive, [block], later)):
                return None
            row = Row.of(block, state.alive, [self._table.of(c)[block] for c in alive])
        return self._best([options[i] for i in state.ranked])

    def _later(self, candidates: Sequence[int], first: int) -> Iterator[list[Cell]]:
        """Yield the missing cells of candidates block by block."""
        for block in range(first, len(self._seeds)):
            yield self._missing(candidates, [block])

    def _best(self, ranked: list[int]) -> int:
        """Return the survivor of the race with the best mean."""
        costs = self._table.costs(ranked)
        if self.rules.runtime is not None:
            costs = self.rules.runtime.as_costs(costs)
        if not np.isfinite(costs).any():
            return ranked[0]
        return ranked[int(np.argmin(impute_failed(costs).mean(axis=0)))]
