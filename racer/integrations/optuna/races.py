"""The races of a study's trials, one after another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from traceback import walk_tb
from typing import TYPE_CHECKING, Any

from optuna.distributions import BaseDistribution, CategoricalDistribution, IntDistribution
from optuna.storages import BaseStorage
from optuna.trial import BaseTrial

from racer.core.blocks import Order
from racer.core.budget import Budget
from racer.core.rules import Rules
from racer.core.table import Row, Table
from racer.deciders.parts.wrappers import protected
from racer.errors import ScoresError, SettingError, warn
from racer.evaluate.outcome import Cell, Outcome, all_failed
from racer.evaluate.workers import outcomes_of
from racer.integrations.optuna.reports import is_maximized
from racer.racing.loop import advance, completed, leads, race
from racer.racing.repeats import Withheld
from racer.racing.state import Request, State
from racer.run.signals import DeferredInterrupt
from racer.seeding import block_seed, rng_for

if TYPE_CHECKING:
    from racer.core.events import Elimination
    from racer.evaluate.workers import Workers
    from racer.integrations.optuna.record import StudyRecord
    from racer.run.progress import Progress

Suggest = Callable[[BaseTrial], Any] | Mapping[str, BaseDistribution]


def checked(suggest: Suggest) -> Callable[[BaseTrial], Any]:
    """Return what makes the configuration of a trial, be it open or recorded."""
    if isinstance(suggest, Mapping):
        space = dict(suggest)
        if not space or not all(isinstance(d, BaseDistribution) for d in space.values()):
            raise SettingError("suggest is a dict: give {name: optuna distribution, ..}")
        return lambda trial: {name: _suggested(trial, name, d) for name, d in space.items()}
    if not callable(suggest):
        raise SettingError(
            f"suggest is a {type(suggest).__name__}: give suggest(trial) -> config, or "
            "{name: optuna distribution, ..}"
        )
    return suggest


def _suggested(trial: BaseTrial, name: str, distribution: Any) -> Any:
    if isinstance(distribution, CategoricalDistribution):
        return trial.suggest_categorical(name, distribution.choices)
    is_whole = isinstance(distribution, IntDistribution)
    suggest: Any = trial.suggest_int if is_whole else trial.suggest_float
    low, high = distribution.low, distribution.high
    return suggest(name, low, high, step=distribution.step, log=distribution.log)


@dataclass(eq=False)
class Races:
    """Races in series; what is recorded of one is not evaluated again."""

    record: StudyRecord
    workers: Workers
    instances: tuple[Any, ...]
    suggest: Callable[[BaseTrial], Any]
    budget: int
    settings: dict[str, Any]
    check_first: Callable[[list[Any]], None]
    display: Progress | None = None

    def __post_init__(self) -> None:
        self._configs: dict[int, Any] = {}
        self._held = DeferredInterrupt()
        self._spent = 0  # evaluations of the races so far, this one included
        self._raced: set[int] = set()  # trials of these races
        self._warned_of: set[int] = set()  # instances on which all failed

    def run(self) -> None:
        """Race while the budget pays for a race; Ctrl-C interrupts nothing but an evaluation."""
        elites: list[int] = []
        number = 0
        if self.display is not None:
            self.display.line(self.display.state.of.title)
        with self._held, self.workers, self.record.driving(self.budget):
            while fresh := self._asked(number, elites):
                if number == 0 and not any(map(self.record.of, fresh)):
                    self.check_first([self._config(n) for n in fresh])
                elites = self._race(number, elites, fresh)
                if self.display is not None:
                    best = f"best is trial #{elites[0]}" if elites else "no trial is complete"
                    done = self.display.state.work.evaluations
                    self.display.line(f"race {number}: {best}; {done} of {self.budget} evaluations")
                number += 1
                if self.record.sampler_ended(self.budget) and not self.record.in_race(number):
                    break

    def _asked(self, race: int, elites: list[int]) -> list[int]:
        """Return the trials of a race: recorded ones, and new ones unless it has begun."""
        record = self.record
        fresh = record.in_race(race)
        if any(map(record.of, fresh)):
            return fresh
        room = (self.budget - self._spent) // len(self.instances)
        wanted = min(max(self.settings["trials"], 2 - len(elites)), room)
        if wanted + len(elites) < 2:
            return fresh if len(fresh) + len(elites) >= 2 else []
        for recorded in fresh:  # which may have been suggested in part
            self._suggest_or_fail(recorded)
        while len(fresh) < wanted:
            with self._held.let_through():  # no trial is half asked for
                pass
            record.check_driver()
            fresh.append(record.ask(race))
            self._suggest_or_fail(fresh[-1])
        return fresh

    def _suggest_or_fail(self, number: int) -> None:
        try:
            self._config(number)
        except BaseException as error:
            if not _is_of_storage(error):  # else the same call suggests again
                self.record.fail(number)
            raise

    def _race(self, number: int, elites: list[int], fresh: list[int]) -> list[int]:
        """Hold a race; return the elites after it."""
        record, n = self.record, len(self.instances)
        numbers = [*elites, *fresh]
        before = sum(len(record.of(e)) for e in elites)
        self._raced.update(fresh)
        alive = self._run_to_its_end(number, elites, fresh)
        self._evaluate([(trial, block) for trial in sorted(alive) for block in range(n)])
        for trial in fresh:
            record.end(trial)
        self._spent += sum(len(record.of(i)) for i in numbers) - before
        usable = set().union(*map(record.succeeded, self._raced))
        self._warn_of(set(range(n)) - usable)
        return self._best(numbers, usable)

    def _rules(self, elites: list[int], fresh: list[int]) -> Rules:
        """Return the rules of a race over all instances, in which no elite can be eliminated."""
        n = len(self.instances)
        until = (n + 1,) * len(elites) + (0,) * len(fresh)
        return Rules(
            decider=protected(self.settings["decider"], until),
            budget=Budget(evaluations=len(until) * n),
            maximize=is_maximized(self.record.study),
            seed=self.record.seed,
            deterministic=True,
            first_test=self.settings["first_test"],
            each_test=1,
        )

    def _run_to_its_end(self, number: int, elites: list[int], fresh: list[int]) -> set[int]:
        """Run a race until it ends or all new trials are dropped; return those that are not."""
        record, n = self.record, len(self.instances)
        trials, alive, rules = [*elites, *fresh], set(fresh), self._rules(elites, fresh)
        state = State.new(rules, len(trials), n_instances=n, n_blocks=n)
        order = Order(rng_for(record.seed, "order", number).permutation(n).tolist(), int)
        table = Table(maximize=rules.maximize)
        watch = None if self.display is None else partial(self._show, trials, state, table)
        flow = race(rules, state, order, Withheld(), lambda _: True, watch=watch)
        asked = advance(flow, None)
        while alive and isinstance(asked, Request):
            raced = [trials[i] for i in state.alive.tolist()]
            self._evaluate([(trial, asked.block) for trial in raced])
            outcomes = [record.of(trial)[asked.block] for trial in raced]
            asked = advance(flow, table.add(asked.block, state.alive, outcomes))
            self._check_some_succeed(fresh)
            for dropped in sorted(alive - {trials[i] for i in state.alive.tolist()}):
                record.end(dropped)
                alive.remove(dropped)
        return alive

    def _show(
        self, trials: list[int], state: State, table: Table, gone: tuple[Elimination, ...], row: Row
    ) -> None:
        """Show a block of a race, in the numbers of the study."""
        if self.display is None:
            return
        first = state.ranked[0] if leads(state) else None
        event = completed(
            state,
            row,
            gone,
            best=first,
            best_mean=None if first is None else table.mean(first),
            evaluations=self.display.state.work.evaluations,
            seconds=0.0,
        )
        self.display(event.renumbered(trials))

    def _best(self, numbers: list[int], usable: set[int]) -> list[int]:
        """Return the elites: the best of the trials that succeeded wherever any has."""
        record = self.record
        evaluated = [i for i in numbers if len(record.of(i)) == len(self.instances)]
        known = [i for i in evaluated if usable and record.succeeded(i) >= usable]
        known.sort(key=lambda i: record.cost(i, usable))
        return known[: self.settings["elites"]]

    def _warn_of(self, hopeless: set[int]) -> None:
        """Warn of instances on which all trials have failed, once."""
        outcomes = [self.record.of(number) for number in self._raced]
        for block in sorted(hopeless - self._warned_of):
            told = [of_trial[block] for of_trial in outcomes if block in of_trial]
            if len(told) > 1:
                warn(
                    f"instance {block} is set aside: {all_failed(told)}; until a trial succeeds "
                    "on it, none ends as COMPLETE: mend evaluate, or leave the instance out of a "
                    "new study"
                )
                self._warned_of.add(block)

    def _check_some_succeed(self, fresh: list[int]) -> None:
        """End these trials, and raise, if nothing has succeeded since the study began."""
        record = self.record
        first_test = min(self.settings["first_test"], len(self.instances))  # as in a race
        if record.any_succeeded or any(len(record.of(n)) < first_test for n in fresh):
            return
        for trial in fresh:
            record.end(trial)
        raise ScoresError(f"{all_failed(record.outcomes)}: mend evaluate, and race a new study")

    def _evaluate(self, wanted: list[tuple[int, int]]) -> None:
        """Evaluate, and record, what is not known of these trials on these blocks."""
        record = self.record
        missing = [(n, block) for n, block in wanted if block not in record.of(n)]
        if not missing:
            return
        record.check_run({n for n, _ in missing})
        cells = [
            Cell(block, n, self._config(n), self.instances[block], block_seed(record.seed, block))
            for n, block in missing
        ]
        outcomes = outcomes_of(self.workers, cells)
        if self.display is not None:
            self.display.asked(len(cells))
        while True:
            with self._held.let_through():
                told = next(outcomes, None)
            if told is None:
                break
            cell, outcome = told
            # without what a study does not hold: a resumed race sees no more
            stored = Outcome(outcome.status, outcome.value, message=outcome.message)
            record.report(cell.candidate, cell.block, stored)
            if self.display is not None:
                self.display.told(outcome)

    def _config(self, number: int) -> Any:
        if number not in self._configs:
            config = self.suggest(self.record.as_suggested(number))
            if config is None:
                raise SettingError(
                    f"suggest returned None for trial {number}: return the configuration that "
                    "evaluate gets, a dict of what the trial suggests, say"
                )
            self._configs[number] = config
        return self._configs[number]


def _is_of_storage(error: BaseException) -> bool:
    """Say whether the storage failed, rather than refused what it was given."""
    if isinstance(error, ValueError | TypeError):
        return False
    frames = (frame for frame, _ in walk_tb(error.__traceback__))
    return any(isinstance(frame.f_locals.get("self"), BaseStorage) for frame in frames)
