"""The races of a study's trials, one after another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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


class Suggestion:
    """What makes the configuration of a trial, be it open or recorded."""

    def __init__(self, suggest: Suggest) -> None:
        self._space = dict(suggest) if isinstance(suggest, Mapping) else None
        self._suggest = suggest
        if self._space is not None:
            sound = all(isinstance(d, BaseDistribution) for d in self._space.values())
            if not self._space or not sound:
                raise SettingError("suggest is a dict: give {name: optuna distribution, ..}")
        elif not callable(suggest):
            raise SettingError(
                f"suggest is a {type(suggest).__name__}: give suggest(trial) -> config, or "
                "{name: optuna distribution, ..}"
            )

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the parameters; None if only the trials will tell."""
        return None if self._space is None else tuple(self._space)

    def config(self, trial: BaseTrial) -> Any:
        """Return the configuration that a trial suggests."""
        if self._space is not None:
            return {name: _suggested(trial, name, d) for name, d in self._space.items()}
        assert callable(self._suggest)  # noqa: S101  (for the type checker)
        config = self._suggest(trial)
        if config is None:
            raise SettingError(
                f"suggest returned None for trial {trial.number}: return the configuration that "
                "evaluate gets, a dict of what the trial suggests, say"
            )
        return config


def _suggested(trial: BaseTrial, name: str, distribution: BaseDistribution) -> Any:
    if isinstance(distribution, CategoricalDistribution):
        return trial.suggest_categorical(name, distribution.choices)
    low, high, step = (getattr(distribution, key) for key in ("low", "high", "step"))
    log = getattr(distribution, "log", False)
    if isinstance(distribution, IntDistribution):
        return trial.suggest_int(name, low, high, step=step, log=log)
    return trial.suggest_float(name, low, high, step=step, log=log)


class Races:
    """Races in series; what is recorded of one is not evaluated again."""

    def __init__(
        self,
        record: StudyRecord,
        workers: Workers,
        instances: tuple[Any, ...],
        suggestion: Suggestion,
        budget: int,
        settings: dict[str, Any],
        check_first: Callable[[list[Any]], None],
        display: Progress | None = None,
    ) -> None:
        self._display = display
        self._check_first = check_first
        self._record = record
        self._workers = workers
        self._instances = instances
        self._suggestion = suggestion
        self._budget = budget
        self._settings = settings
        self._configs: dict[int, Any] = {}
        self._held = DeferredInterrupt()
        self._spent = 0  # evaluations of the races so far, this one included
        self._raced: set[int] = set()  # trials of these races
        self._warned_of: set[int] = set()  # instances on which all failed

    def run(self) -> None:
        """Race until the budget cannot pay for another race.

        Ctrl-C interrupts an evaluation, but nothing that the study is asked or told.
        """
        elites: list[int] = []
        number = 0
        if self._display is not None:
            self._display.line(self._display.state.of.title)
        with self._held, self._workers, self._record.driving(self._budget):
            while fresh := self._asked(number, elites):
                if number == 0 and not any(map(self._record.of, fresh)):
                    self._check_first([self._config(n) for n in fresh])
                elites = self._race(number, elites, fresh)
                if self._display is not None:
                    best = f"best is trial #{elites[0]}" if elites else "no trial is complete"
                    done = self._display.state.work.evaluations
                    self._display.line(
                        f"race {number}: {best}; {done} of {self._budget} evaluations"
                    )
                number += 1
                if self._record.sampler_ended(self._budget) and not self._record.in_race(number):
                    break

    def _asked(self, race: int, elites: list[int]) -> list[int]:
        """Return the trials of a race: recorded ones, and new ones unless it has begun."""
        record = self._record
        fresh = record.in_race(race)
        if any(map(record.of, fresh)):
            return fresh
        room = (self._budget - self._spent) // len(self._instances)
        wanted = min(max(self._settings["trials"], 2 - len(elites)), room)
        if wanted + len(elites) < 2:
            return fresh if len(fresh) + len(elites) >= 2 else []
        for recorded in fresh:  # which may have been suggested in part
            self._suggest(recorded)
        while len(fresh) < wanted:
            with self._held.let_through():  # no trial is half asked for
                pass
            record.check_driver()
            fresh.append(record.ask(race))
            self._suggest(fresh[-1])
        return fresh

    def _suggest(self, number: int) -> None:
        try:
            self._config(number)
        except BaseException as error:
            if not _is_of_storage(error):  # else the same call suggests again
                self._record.fail(number)
            raise

    def _race(self, number: int, elites: list[int], fresh: list[int]) -> list[int]:
        """Hold a race; return the elites after it."""
        record, n = self._record, len(self._instances)
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
        n = len(self._instances)
        until = (n + 1,) * len(elites) + (0,) * len(fresh)
        return Rules(
            decider=protected(self._settings["decider"], until),
            budget=Budget(evaluations=len(until) * n),
            maximize=is_maximized(self._record.study),
            seed=self._record.seed,
            deterministic=True,
            first_test=self._settings["first_test"],
            each_test=1,
        )

    def _run_to_its_end(self, number: int, elites: list[int], fresh: list[int]) -> set[int]:
        """Run a race until it ends or all new trials are dropped; return those that are not."""
        record, n = self._record, len(self._instances)
        trials, alive, rules = [*elites, *fresh], set(fresh), self._rules(elites, fresh)
        state = State.new(rules, len(trials), n_instances=n, n_blocks=n)
        order = Order(rng_for(record.seed, "order", number).permutation(n).tolist(), int)
        table = Table(maximize=rules.maximize)
        watch = None if self._display is None else partial(self._show, trials, state, table)
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
        self,
        trials: list[int],
        state: State,
        table: Table,
        eliminated: tuple[Elimination, ...],
        row: Row,
    ) -> None:
        """Show a block of a race, in the numbers of the study."""
        if self._display is None:
            return
        first = state.ranked[0] if leads(state) else None
        event = completed(
            state,
            row,
            eliminated,
            best=first,
            best_mean=None if first is None else table.mean(first),
            evaluations=self._display.state.work.evaluations,
            seconds=0.0,
        )
        self._display(event.renumbered(trials))

    def _best(self, numbers: list[int], usable: set[int]) -> list[int]:
        """Return the elites: the best of the trials that succeeded wherever any has."""
        record = self._record
        evaluated = [i for i in numbers if len(record.of(i)) == len(self._instances)]
        known = [i for i in evaluated if usable and record.succeeded(i) >= usable]
        known.sort(key=lambda i: record.cost(i, usable))
        return known[: self._settings["elites"]]

    def _warn_of(self, hopeless: set[int]) -> None:
        """Warn of instances on which all trials have failed, once."""
        outcomes = [self._record.of(number) for number in self._raced]
        for block in sorted(hopeless - self._warned_of):
            told = [of_trial[block] for of_trial in outcomes if block in of_trial]
            if len(told) > 1:
                warn(
                    f"instance {block} is set aside: {all_failed(told)}; until a trial succeeds "
                    "on it, none ends as COMPLETE: mend evaluate, or leave the instance out of a "
                    "new study",
                )
                self._warned_of.add(block)

    def _check_some_succeed(self, fresh: list[int]) -> None:
        """End these trials, and raise, if nothing has succeeded since the study began."""
        record = self._record
        first_test = min(self._settings["first_test"], len(self._instances))  # as in a race
        if record.any_succeeded or any(len(record.of(n)) < first_test for n in fresh):
            return
        for trial in fresh:
            record.end(trial)
        raise ScoresError(f"{all_failed(record.outcomes)}: mend evaluate, and race a new study")

    def _evaluate(self, wanted: list[tuple[int, int]]) -> None:
        """Evaluate, and record, what is not known of these trials on these blocks."""
        record = self._record
        missing = [(n, block) for n, block in wanted if block not in record.of(n)]
        if not missing:
            return
        record.check_run({n for n, _ in missing})
        cells = [self._cell(n, block) for n, block in missing]
        outcomes = outcomes_of(self._workers, cells)
        if self._display is not None:
            self._display.asked(len(cells))
        while True:
            with self._held.let_through():
                told = next(outcomes, None)
            if told is None:
                break
            cell, outcome = told
            record.report(cell.candidate, cell.block, _storable(outcome))
            if self._display is not None:
                self._display.told(outcome)

    def _cell(self, number: int, block: int) -> Cell:
        seed = block_seed(self._record.seed, block)
        return Cell(block, number, self._config(number), self._instances[block], seed)

    def _config(self, number: int) -> Any:
        if number not in self._configs:
            self._configs[number] = self._suggestion.config(self._record.as_suggested(number))
        return self._configs[number]


def _storable(outcome: Outcome) -> Outcome:
    """Return the part of an outcome that a study holds: a resumed race sees no more."""
    return Outcome(outcome.status, outcome.value, message=outcome.message)


def _is_of_storage(error: BaseException) -> bool:
    """Say whether the storage failed, rather than refused what it was given."""
    if isinstance(error, ValueError | TypeError):
        return False
    frames = (frame for frame, _ in walk_tb(error.__traceback__))
    return any(isinstance(frame.f_locals.get("self"), BaseStorage) for frame in frames)
