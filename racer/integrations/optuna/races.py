"""Races of a study's trials in series, each from what is recorded of it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Any

from optuna.distributions import BaseDistribution, CategoricalDistribution, IntDistribution
from optuna.trial import BaseTrial, TrialState

from racer.deciders.guards import Protected
from racer.errors import RacerWarning, RaceStateError, ScoresError, SettingError
from racer.evaluate.cell import Cell, Outcome, all_failed
from racer.integrations.optuna.values import is_maximized
from racer.racing.race import Race
from racer.run.signals import HeldBack
from racer.seeding import block_seed, rng_for

if TYPE_CHECKING:
    from racer.evaluate.workers import Workers
    from racer.integrations.optuna.record import StudyRecord

__all__ = ["Races", "Suggest", "Suggestion"]

Suggest = Callable[[BaseTrial], Any] | Mapping[str, BaseDistribution]


class Suggestion:
    """What asks for a trial, and makes a config of one, be it open or recorded."""

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
        """Names of what a configuration has, None if only the trials will tell."""
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
    """Races in series, each from what is recorded of it."""

    def __init__(
        self,
        record: StudyRecord,
        workers: Workers,
        instances: tuple[Any, ...],
        suggestion: Suggestion,
        budget: int,
        settings: dict[str, Any],
        check_first: Callable[[list[Any]], None],
    ) -> None:
        self._check_first = check_first
        self._record = record
        self._workers = workers
        self._instances = instances
        self._suggestion = suggestion
        self._budget = budget
        self._settings = settings
        self._configs: dict[int, Any] = {}
        self._held = HeldBack()
        self._spent = 0  # evaluations of the races so far, this one included
        self._raced: set[int] = set()  # trials of these races
        self._told_of: set[int] = set()  # instances on which all failed

    def run(self) -> None:
        """Race until the budget cannot pay for another race.

        Ctrl-C interrupts an evaluation, but nothing that the study is asked or told.
        """
        elites: list[int] = []
        number = 0
        with self._held:
            while fresh := self._asked(number, elites):
                if number == 0 and not any(self._record.outcomes[n] for n in fresh):
                    self._check_first([self._config(n) for n in fresh])
                elites = self._race(number, elites, fresh)
                number += 1
                if self._record.sampler_ended and not self._record.in_race(number):
                    break

    def _asked(self, race: int, elites: list[int]) -> list[int]:
        """Return the trials of a race: recorded ones, and new ones unless it has begun."""
        record = self._record
        fresh = record.in_race(race)
        if any(record.outcomes[n] for n in fresh):
            return fresh
        room = (self._budget - self._spent) // len(self._instances)
        wanted = min(max(self._settings["trials"], 2 - len(elites)), room)
        if wanted + len(elites) < 2:
            return fresh if len(fresh) + len(elites) >= 2 else []
        for recorded in fresh:  # of which something may not have been suggested yet
            self._config(recorded)
        while len(fresh) < wanted:
            with self._held.let_through():  # no trial is half asked for
                pass
            record.check_driver()
            fresh.append(self._ask(race))
        return fresh

    def _ask(self, race: int) -> int:
        number = self._record.ask(race)
        try:
            self._config(number)
        except BaseException:
            self._record.fail(number)
            raise
        return number

    def _race(self, number: int, elites: list[int], fresh: list[int]) -> list[int]:
        """Hold a race; return the elites after it."""
        record, n = self._record, len(self._instances)
        numbers = [*elites, *fresh]
        before = sum(len(record.outcomes[e]) for e in elites)
        self._raced.update(fresh)
        race = Race(
            numbers,
            rng_for(record.seed, "order", number).permutation(n).tolist(),
            decider=Protected(
                self._settings["decider"], (n + 1,) * len(elites) + (0,) * len(fresh)
            ),
            budget=len(numbers) * n,
            maximize=is_maximized(record.study),
            seed=record.seed,
            deterministic=True,
            first_test=self._settings["first_test"],
        )
        alive = set(fresh)
        while alive and (cells := race.ask()):
            self._evaluate([(cell.config, cell.instance) for cell in cells])
            with warnings.catch_warnings():  # it would tell the place in its order
                warnings.simplefilter("ignore", RacerWarning)
                for cell in cells:
                    race.tell(cell, record.outcomes[cell.config][cell.instance])
            self._check_some_succeed(fresh)
            for gone in sorted(alive - {numbers[i] for i in race.alive}):
                record.end(gone, self._usable())
                alive.remove(gone)
        self._evaluate([(trial, block) for trial in sorted(alive) for block in range(n)])
        usable = self._usable()
        self._warn_of(set(range(n)) - usable)
        for trial in fresh:
            record.end(trial, usable)
        self._spent += sum(len(record.outcomes[i]) for i in numbers) - before
        complete = [
            i
            for i in numbers
            if record.state(i) == TrialState.COMPLETE and record.succeeded(i) >= usable
        ]
        return sorted(complete, key=record.cost)[: self._settings["elites"]]

    def _usable(self) -> set[int]:
        """Return the blocks on which a trial of the races so far has succeeded."""
        return set().union(*map(self._record.succeeded, self._raced))

    def _warn_of(self, hopeless: set[int]) -> None:
        """Tell of instances on which all trials have failed, once."""
        for block in sorted(hopeless - self._told_of):
            outcomes = (self._record.outcomes[number].get(block) for number in self._raced)
            told = [outcome for outcome in outcomes if outcome is not None]
            if told:
                warnings.warn(
                    f"instance {block} is set aside until a trial succeeds on it: "
                    f"{all_failed(told)}",
                    RacerWarning,
                    stacklevel=5,
                )
                self._told_of.add(block)

    def _check_some_succeed(self, fresh: list[int]) -> None:
        """End these trials, and raise, if nothing has succeeded since the study began."""
        outcomes = self._record.outcomes
        patience = min(self._settings["first_test"], len(self._instances))  # as a race has it
        if any(len(outcomes[n]) < patience for n in fresh):
            return
        told = [outcome for of_trial in outcomes.values() for outcome in of_trial.values()]
        if any(outcome.value is not None for outcome in told):
            return
        for trial in fresh:
            self._record.end(trial, ())
        raise ScoresError(f"{all_failed(told)}: mend evaluate, and race a new study")

    def _evaluate(self, wanted: list[tuple[int, int]]) -> None:
        """Evaluate what is not known of these trials on these blocks, and record it."""
        record = self._record
        missing = [(n, block) for n, block in wanted if block not in record.outcomes[n]]
        if not missing:
            return
        record.check_driver()
        for number in {n for n, _ in missing if record.state(n) != TrialState.RUNNING}:
            raise RaceStateError(
                f"trial {number} has ended as {record.state(number).name}, but this race would go "
                "on with it: was it told from elsewhere, or raced by another version of racer?"
            )
        cells = [
            Cell(block, i, self._config(n), self._instances[block], block_seed(record.seed, block))
            for i, (n, block) in enumerate(missing)
        ]
        with closing(self._workers.outcomes(cells)) as outcomes:
            while True:
                with self._held.let_through():
                    told = next(outcomes, None)
                if told is None:
                    break
                cell, outcome = told
                number, block = missing[cell.candidate]
                record.report(number, block, _storable(outcome))

    def _config(self, number: int) -> Any:
        if number not in self._configs:
            self._configs[number] = self._suggestion.config(self._record.as_suggested(number))
        return self._configs[number]


def _storable(outcome: Outcome) -> Outcome:
    """Return the part of an outcome that a study holds, so that a race resumed sees the same."""
    return Outcome(outcome.status, outcome.value, message=outcome.message)
