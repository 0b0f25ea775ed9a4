"""Races of a study's trials in series, each from what is recorded of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Any

from optuna.distributions import BaseDistribution, CategoricalDistribution, IntDistribution
from optuna.trial import BaseTrial

from racer.deciders.verdicts import Protected
from racer.errors import ScoresError, SettingError, warn
from racer.evaluate.outcome import Cell, Outcome, all_failed
from racer.evaluate.workers import outcomes_of
from racer.integrations.optuna.values import is_maximized
from racer.racing.race import QuietRace
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
        with self._held, self._workers, self._record.driving(self._budget):
            while fresh := self._asked(number, elites):
                if number == 0 and not any(self._record.outcomes[n] for n in fresh):
                    self._check_first([self._config(n) for n in fresh])
                elites = self._race(number, elites, fresh)
                number += 1
                if self._record.sampler_ended(self._budget) and not self._record.in_race(number):
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
        except BaseException:
            self._record.fail(number)
            raise

    def _race(self, number: int, elites: list[int], fresh: list[int]) -> list[int]:
        """Hold a race; return the elites after it."""
        record, n = self._record, len(self._instances)
        numbers = [*elites, *fresh]
        before = sum(len(record.outcomes[e]) for e in elites)
        self._raced.update(fresh)
        race = QuietRace(
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
            for cell in cells:
                race.tell(cell, record.outcomes[cell.config][cell.instance])
            self._check_some_succeed(fresh)
            for gone in sorted(alive - {numbers[i] for i in race.alive}):
                record.end(gone)
                alive.remove(gone)
        self._evaluate([(trial, block) for trial in sorted(alive) for block in range(n)])
        for trial in fresh:
            record.end(trial)
        self._spent += sum(len(record.outcomes[i]) for i in numbers) - before
        usable = set().union(*map(record.succeeded, self._raced))
        self._warn_of(set(range(n)) - usable)
        whole = [i for i in numbers if len(record.outcomes[i]) == n]
        known = [i for i in whole if usable and record.succeeded(i) >= usable]
        known.sort(key=lambda i: record.cost(i, usable))
        return known[: self._settings["elites"]]

    def _warn_of(self, hopeless: set[int]) -> None:
        """Tell of instances on which all trials have failed, once."""
        outcomes = [self._record.outcomes[number] for number in self._raced]
        for block in sorted(hopeless - self._told_of):
            told = [of_trial[block] for of_trial in outcomes if block in of_trial]
            if len(told) > 1:
                warn(
                    f"instance {block} is set aside: {all_failed(told)}; until a trial succeeds "
                    "on it, none ends as COMPLETE: mend evaluate, or leave the instance out of a "
                    "new study",
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
            self._record.end(trial)
        raise ScoresError(f"{all_failed(told)}: mend evaluate, and race a new study")

    def _evaluate(self, wanted: list[tuple[int, int]]) -> None:
        """Evaluate what is not known of these trials on these blocks, and record it."""
        record = self._record
        missing = [(n, block) for n, block in wanted if block not in record.outcomes[n]]
        if not missing:
            return
        record.check_run({n for n, _ in missing})
        cells = [
            Cell(block, i, self._config(n), self._instances[block], block_seed(record.seed, block))
            for i, (n, block) in enumerate(missing)
        ]
        with closing(outcomes_of(self._workers, cells)) as outcomes:
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
