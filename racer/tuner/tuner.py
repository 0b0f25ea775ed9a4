"""Races in series: new candidates around the elites of the races before."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from racer._checks import flag, whole
from racer.deciders.names import as_decider
from racer.errors import BudgetError, CandidateError, RaceStateError, SettingError, warn
from racer.evaluate.cell import Cell, Outcome, check_outcome
from racer.racing.budget import Budget
from racer.racing.events import Callback, Ended, check_callbacks
from racer.racing.pool import as_sequence
from racer.seeding import check_seed
from racer.space.space import Space
from racer.tuner.result import TuneResult
from racer.tuner.series import Plan, Series
from racer.tuner.stream import InstanceOrder, Stream

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from racer.deciders.decider import Decider

__all__ = ["SETTINGS", "Tuner"]

SETTINGS = (
    *("decider", "budget", "initial", "maximize", "seed", "deterministic"),
    *("first_test", "each_test", "elites", "instance_order"),
)


class Tuner:
    """A run of races as ask and tell: no clock, no files, no processes.

    Ask for the cells that must be known next, evaluate them in any order, tell each outcome.
    Blocks and candidates are numbered through the whole run; no cell is asked for twice, and
    elites take what is known of them from race to race.

    Parameters
    ----------
    space : Space
    instances : sequence or None
        Used again with new seeds when they run out. None: a noisy objective without instances.
    budget : int, Budget, or list of these
        An int means evaluations. A list, each larger than the one before: the run is that of
        the first, and goes on from its end with what the next adds.
    decider : str or Decider
    initial : sequence of configurations
        Candidates of the first race, beside those sampled.
    maximize, deterministic, first_test, each_test
        As of `Race`.
    seed : int, optional
        None draws a fresh one; `TuneResult.seed` tells which.
    elites : int, optional
        Candidates that survive a race; 2 + log2 of the number of parameters if not given.
    instance_order : {"shuffled", "given"}
    test_instances : sequence, optional
        Held out: at the end the elites are evaluated on each of them once, beyond the budget.
    callbacks : sequence of callable
        Each is called with every `BlockCompleted`, `RaceCompleted`, `CandidatesAdded`, and the
        `RaceEnded` of the whole run.

    Raises
    ------
    CandidateError, SettingError, BudgetError
        Settings that cannot work, before anything is asked for.

    References
    ----------
    López-Ibáñez, Dubois-Lacoste, Pérez Cáceres, Birattari, Stützle, The irace package: Iterated
    racing for automatic algorithm configuration, Operations Research Perspectives 3 (2016).
    """

    def __init__(
        self,
        space: Space,
        instances: Sequence[Any] | None = None,
        *,
        budget: int | Budget | Sequence[int | Budget],
        decider: str | Decider = "bayesian-friedman",
        initial: Sequence[Mapping[str, Any]] = (),
        maximize: bool = False,
        seed: int | None = None,
        deterministic: bool = False,
        first_test: int = 5,
        each_test: int = 1,
        elites: int | None = None,
        instance_order: InstanceOrder = "shuffled",
        test_instances: Sequence[Any] | None = None,
        callbacks: Sequence[Callback] = (),
    ) -> None:
        if not isinstance(space, Space):
            raise SettingError(f"space={space!r}: give a racer.Space")
        self.space = space
        self.instances = None if instances is None else as_sequence(instances, "instances")
        self.test_instances = (
            () if test_instances is None else as_sequence(test_instances, "test_instances")
        )
        self.seed = check_seed(seed)
        n_instances = None if self.instances is None else len(self.instances)
        stream = Stream(
            n_instances, self.seed, flag(deterministic, "deterministic"), instance_order
        )
        self._asked_first_test = whole(first_test, "first_test", least=1)
        self._plan = Plan(
            space=space,
            instances=self.instances,
            test_instances=self.test_instances,
            budgets=Budget.each(budget),
            decider=as_decider(decider),
            initial=_checked(space, initial),
            maximize=flag(maximize, "maximize"),
            seed=self.seed,
            first_test=min(self._asked_first_test, stream.length or self._asked_first_test),
            each_test=whole(each_test, "each_test", least=1),
            elites=None if elites is None else whole(elites, "elites", least=1),
            stream=stream,
        )
        self._check_budget()
        self._told: dict[tuple[int, int], Outcome] = {}
        self._asked: dict[tuple[int, int], Cell] = {}
        self._callbacks = check_callbacks(callbacks)
        self._series = Series(self._plan, watched=bool(self._callbacks))
        self._flow = self._series.run()
        self._advance()

    def _check_budget(self) -> None:
        """Refuse a budget with which no race makes sense."""
        budget = self._plan.budgets[0].evaluations
        if budget is None:
            return
        schedule = self._plan.schedule(budget)
        least = max(schedule.minimum, len(self._plan.initial) * self._plan.first_test)
        if budget < least:
            raise BudgetError(
                f"budget of {budget} evaluations: at least {least} are needed for "
                f"{schedule.races} races, with {schedule.elites} elites and {len(self._plan.initial)} "
                f"initial candidates, the first test after {self._plan.first_test} blocks; raise the "
                "budget, or lower elites or first_test"
            )

    @property
    def settings(self) -> dict[str, Any]:
        """What makes this run, beside the instances."""
        return {
            "space": self.space.to_json(),
            "test_instances": list(self.test_instances),
            **dict(zip(SETTINGS, self._settings(), strict=True)),
        }

    def _settings(self) -> tuple[Any, ...]:
        return (
            self._plan.decider,
            self._plan.budgets[0] if len(self._plan.budgets) == 1 else list(self._plan.budgets),
            list(self._plan.initial),
            self._plan.maximize,
            self.seed,
            self._plan.stream.deterministic,
            self._asked_first_test,
            self._plan.each_test,
            self._plan.elites,
            self._plan.stream.order,
        )

    @property
    def configs(self) -> tuple[dict[str, Any], ...]:
        """All candidates so far, by number."""
        return tuple(self._series.configs)

    @property
    def blocks_held(self) -> int:
        """How many blocks have been used."""
        return self._series.blocks_used

    @property
    def given_candidates(self) -> tuple[Any, ...]:
        """None: candidates come from the space."""
        return ()

    @property
    def all_instances(self) -> tuple[Any, ...]:
        """The instances that evaluations may get, held-out ones included."""
        return (*(self.instances or ()), *self.test_instances)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names that candidates may have, now or later."""
        return tuple(self.space.parameters)

    @property
    def ended(self) -> Ended | None:
        """Why the run ended; None while it goes on."""
        return self._series.ended

    def ask(self) -> tuple[Cell, ...]:
        """Return the cells that must be known next and have not been told; empty when over."""
        return tuple(cell for place, cell in self._asked.items() if place not in self._told)

    def tell(self, cell: Cell, outcome: Outcome) -> None:
        """Record what came of a cell that was asked for.

        Raises
        ------
        RaceStateError
            The cell was not asked for, or has been told before, or this is no outcome.
        """
        if not isinstance(cell, Cell):
            raise RaceStateError(f"{cell!r} is not a cell: tell only cells that ask() returned")
        check_outcome(outcome)
        place = (cell.block, cell.candidate)
        if place not in self._asked:
            raise RaceStateError(
                f"candidate {cell.candidate} on block {cell.block} was not asked for: tell only "
                "cells that ask() returned"
            )
        if place in self._told:
            raise RaceStateError(
                f"candidate {cell.candidate} on block {cell.block} has been told before"
            )
        self._told[place] = outcome
        if len(self._told) == len(self._asked):
            self._take_in()
            self._advance()

    def result(self) -> TuneResult:
        """Return what is known: the result of a run that has ended, or the state of one."""
        series = self._series
        for (block, candidate), outcome in self._told.items():
            series.known.add(candidate, block, outcome)
        pending = [outcome for (block, _), outcome in self._told.items() if block >= 0]
        return TuneResult(
            configs=tuple(series.configs),
            best_index=series.best,
            elites=series.elite,
            ended=series.ended or Ended.INTERRUPTED,
            evaluations=series.evaluations + len(pending),
            seconds=series.seconds + math.fsum(outcome.seconds for outcome in pending),
            seed=self.seed,
            races_held=tuple(series.races),
            origins=tuple(series.origins),
            known=series.known.copy(),
            stream=self._plan.stream,
        )

    def _take_in(self) -> None:
        """Note what has been told, in the order in which it was asked for."""
        for place in self._asked:
            self._series.take_in(*place, self._told[place])
        self._told, self._asked = {}, {}

    def _advance(self) -> None:
        """Go on until there is something to ask for, and then tell what has happened."""
        for cells in self._flow:
            if cells:
                self._asked = {(cell.block, cell.candidate): cell for cell in cells}
                break
        events, self._series.events = self._series.events, []
        for event in events:
            for callback in self._callbacks:
                callback(event)
        if self._series.fell_short:
            warn(
                f"the budget ended after {self._series.evaluations} evaluations, before the first "
                f"test of a race ({self._plan.first_test} blocks): there is no best; give more "
                "seconds, or a lower first_test",
            )


def _checked(space: Space, initial: Any) -> tuple[dict[str, Any], ...]:
    """Return the initial candidates as the space writes them, each once."""
    if not isinstance(initial, list | tuple):
        raise CandidateError(f"initial is a {type(initial).__name__}: give a list of dicts")
    checked: dict[Any, dict[str, Any]] = {}
    for index, config in enumerate(initial):
        try:
            clean = space.check(config)
        except CandidateError as error:
            raise CandidateError(f"initial[{index}]: {error}") from error
        if checked.setdefault(space.key(clean), clean) is not clean:
            raise CandidateError(f"initial[{index}]={config!r} stands there before: give it once")
    return tuple(checked.values())
