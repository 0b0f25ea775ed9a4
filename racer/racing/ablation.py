"""Ablation: which of the changes from one configuration to another made the difference."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from racer.errors import CandidateError, RaceStateError, SettingError
from racer.evaluate.outcome import Cell, Outcome, check_outcome
from racer.racing.ablation_result import AblationResult, Step
from racer.racing.budget import Budget
from racer.racing.contest import Description
from racer.racing.events import Callback, Ended, RaceEnded
from racer.racing.pool import as_sequence
from racer.racing.race import QuietRace
from racer.racing.rules import Rules
from racer.racing.table import Table
from racer.seeding import seed_for

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from typing import Unpack

    from racer.evaluate.outcome import CellKey
    from racer.racing.rules import RulesGiven
    from racer.space.space import Space

__all__ = ["Ablation", "toward"]

Config = dict[str, Any]


def toward(space: Space, here: Config, target: Config, name: str) -> Config | None:
    """Return a configuration with one parameter as in the target, and what that forces.

    Children that begin to exist take the target's value, those that no longer do vanish, and a
    value outside its new bounds becomes the target's. None if that is not allowed, or changes
    nothing.
    """

    def choose(parameter: str, domain: Any) -> Any:
        known = [c[parameter] for c in (here, target) if parameter in c]
        wanted = [target[parameter]] if parameter == name else known
        for value in wanted:
            try:
                return domain.clean(value)
            except ValueError:
                continue
        return domain.decode(0.5)

    try:
        built = space.build(choose)
        config = None if built is None else space.check(built)
    except CandidateError:
        return None
    return None if config is None or space.key(config) == space.key(here) else config


class Ablation:
    """An ablation as ask and tell: no clock, no files, no processes.

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
        As of `racer.Race`; without a budget, as much as it takes. With `runtime` all evaluations
        may take `limit`: gains of the mean score need times that are not capped.

    Raises
    ------
    CandidateError, SettingError, BudgetError
        Settings that cannot work.

    References
    ----------
    Fawcett and Hoos: Analysing differences between algorithm configurations through ablation,
    Journal of Heuristics 22 (2016).
    """

    def __init__(
        self,
        space: Space,
        source: Mapping[str, Any],
        target: Mapping[str, Any],
        instances: Sequence[Any] | None,
        seeds: Sequence[int],
        *,
        callbacks: Sequence[Callback] = (),
        **rules: Unpack[RulesGiven],
    ) -> None:
        self.space = space
        self._ends = space.check(source), space.check(target)
        if space.key(self._ends[0]) == space.key(self._ends[1]):
            raise SettingError("source and target are the same configuration: nothing to ablate")
        self._seeds = list(seeds)
        self.instances = None if instances is None else as_sequence(instances, "instances")
        if not self._seeds or len(self.instances or self._seeds) != len(self._seeds):
            raise SettingError(f"{len(self._seeds)} seeds: give one per instance")
        self.rules = Rules.given(rules)
        if (
            times := self.rules.runtime
        ) is not None:  # gains are of means: not capped, not of ranks
            times = replace(times, slack=math.inf, par=times.par or 1.0)
            self.rules = replace(self.rules, runtime=times)
        self._budget = self.rules.one_budget
        self._table = Table(maximize=self.rules.maximize, runtime=self.rules.runtime)
        self._configs: list[Config] = []
        self._at: dict[Any, int] = {}
        self._callbacks = list(callbacks)
        self._told: dict[CellKey, Outcome] = {}
        self._asked: dict[CellKey, Cell] = {}
        self._later: tuple[Sequence[int], int] = ((), 0)  # candidates, and from which block on
        self._path: list[int] = []
        self._leading = 0  # the best of a round; never the source
        self._ended: Ended | None = None
        self._evaluations, self._seconds = 0, 0.0
        self._flow = self._run()
        self._has_begun = False

    @staticmethod
    def most_evaluations(parameters: int, blocks: int) -> int:
        """Return how many evaluations an ablation of so many parameters takes at most."""
        return blocks * (2 + parameters * (parameters + 1) // 2)

    def description(self) -> Description:
        """Return what it is made of."""
        settings = {
            "ablation": {
                "space": self.space.to_json(),
                "source": self._ends[0],
                "target": self._ends[1],
                "seeds": self._seeds,
            },
            **self.rules.settings(),
        }
        return Description(settings, (), self.instances, (), tuple(self.space.parameters))

    def watch(self, callback: Callback) -> None:
        """Call `callback` with each event from now on."""
        self._callbacks.append(callback)

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

    def ask(self) -> tuple[Cell, ...]:
        """Return the cells that must be known next and have not been told; empty when over."""
        if not self._has_begun:
            self._has_begun = True
            self._advance()
        return tuple(cell for key, cell in self._asked.items() if key not in self._told)

    def ahead(self, blocks: int) -> Iterator[Cell]:
        """Yield cells of the next blocks for those in the race of this round."""
        candidates, first = self._later
        for block in islice(range(first, len(self._seeds)), blocks) if self._asked else ():
            for candidate in candidates:
                if block not in self._table.of(candidate):
                    yield self._cell(candidate, block)

    def tell(self, cell: Cell, outcome: Outcome) -> None:
        """Record the outcome of a cell that was asked for.

        Raises
        ------
        RaceStateError
            The cell was not asked for, or has been told before, or this is not an outcome.
        """
        check_outcome(outcome)
        if cell.key not in self._asked or cell.key in self._told:
            raise RaceStateError(
                f"candidate {cell.candidate} on block {cell.block} was not asked for, or has been "
                "told before: tell only cells that ask() returned, each once"
            )
        self._told[cell.key] = outcome
        if len(self._told) == len(self._asked):
            for key, asked in self._asked.items():  # in this order, whatever came first
                self._table.add(asked.block, [asked.candidate], [self._told[key]])
                self._evaluations += 1
                self._seconds += self._told[key].seconds
            self._told, self._asked = {}, {}
            self._advance()

    def result(self) -> AblationResult:
        """Return what is known: the result if it has ended, else its state."""
        steps = [
            self._step(one, other) for one, other in zip(self._path, self._path[1:], strict=False)
        ]
        return AblationResult(
            space=self.space,
            source=self._ends[0],
            target=self._ends[1],
            steps=tuple(steps),
            path=tuple(self._path),
            configs=self.configs,
            ended=self._ended or Ended.INTERRUPTED,
            evaluations=self._evaluations + len(self._told),
            seconds=self._seconds + math.fsum(o.seconds for o in self._told.values()),
            seed=self.rules.seed or 0,
            known=self._table.copy(),
            rules=self.rules,
            blocks=len(self._seeds),
        )

    def _step(self, one: int, other: int) -> Step:
        before, after = self._configs[one], self._configs[other]
        names = [n for n in self.space.parameters if before.get(n, self) != after.get(n, self)]
        return Step(one, other, tuple(names))

    def _advance(self) -> None:
        for cells in self._flow:
            if cells:
                self._asked = {cell.key: cell for cell in cells}
                return
        for callback in self._callbacks:
            callback(RaceEnded(self._ended or Ended.DECIDED, ()))

    def _number(self, config: Config) -> int:
        """Return the number of a configuration, a new one if it is new."""
        key = self.space.key(config)
        if key not in self._at:
            self._at[key] = len(self._configs)
            self._configs.append(config)
        return self._at[key]

    def _cell(self, candidate: int, block: int) -> Cell:
        instance = None if self.instances is None else self.instances[block]
        index = None if self.instances is None else block
        config = dict(self._configs[candidate])
        times = self.rules.runtime
        return Cell(
            *(block, candidate, config, instance, self._seeds[block]),
            instance_index=index,
            bound=None if times is None else times.limit,
        )

    def _missing(self, candidates: Sequence[int], blocks: Sequence[int]) -> list[Cell]:
        known = self._table.of
        return [self._cell(c, b) for b in blocks for c in candidates if b not in known(c)]

    def _pays(self, cells: list[Cell]) -> bool:
        return self._budget.pays(len(cells), evaluations=self._evaluations, seconds=self._seconds)

    def _run(self) -> Iterator[list[Cell]]:
        source, target = map(self._number, self._ends)
        every = range(len(self._seeds))
        self._path = [source]
        cells = self._missing([source, target], every)
        if not self._pays(cells):
            self._ended = Ended.BUDGET
            return
        yield cells
        while self._path[-1] != target:
            options = self._options(self._path[-1], target)
            for cells in self._race(options) if len(options) > 1 else ():
                if not self._pays(cells):
                    self._ended = Ended.BUDGET
                    return
                yield cells
            cells = self._missing([self._leading or options[0]], every)
            if not self._pays(cells):
                self._ended = Ended.BUDGET
                return
            yield cells
            self._path.append(self._leading or options[0])
            self._leading = 0
        self._ended = Ended.DECIDED

    def _options(self, here: int, target: int) -> list[int]:
        """Return what is one step nearer to the target; itself if nothing between is allowed."""
        config, end = self._configs[here], self._configs[target]
        found: list[int] = []
        for name in end:
            if config.get(name, self) != end[name]:
                new = toward(self.space, config, end, name)
                if new is not None and (number := self._number(new)) not in (*self._path, *found):
                    found.append(number)
        return found or [target]

    def _race(self, options: list[int]) -> Iterator[list[Cell]]:
        """Yield the cells of each block of a race; its best is `_leading` in the end."""
        n = len(self._seeds)
        rules = replace(
            self.rules,
            budget=Budget(n * len(options)),
            seed=seed_for(self.rules.seed or 0, "ablation", len(self._path)),
            deterministic=True,
            min_survivors=1,
            first_test=min(self.rules.first_test, n),
            block_size=1,
        )
        race = QuietRace(range(len(options)), range(n), **rules.settings())
        if rules.runtime is not None:
            race.set_cap(rules.runtime.limit, rules.runtime.limit)
        race.ask()
        while race.ended is None:
            block = race.n_blocks
            alive = [options[i] for i in race.alive]
            self._later = alive, block + 1
            yield self._missing(alive, [block])
            race.tell_block([self._table.of(c)[block] for c in alive])
        self._later = (), 0
        self._leading = self._best([options[i] for i in race.ranked])

    def _best(self, ranked: list[int]) -> int:
        """Return the one with the best mean of those that the race could not tell apart."""
        costs = self._table.costs(ranked)
        if self.rules.runtime is not None:
            costs = self.rules.runtime.as_costs(costs)
        finite = costs[np.isfinite(costs)]
        if len(ranked) == 1 or not len(finite):
            return ranked[0]
        means = np.where(np.isfinite(costs), costs, 2.0 * finite.max() - finite.min()).mean(axis=0)
        return ranked[int(np.argmin(means))]
