"""The races of a study as recorded in the study itself: each outcome in its trial.

A trial of a race carries the number of its race in the user attribute "racer:race", from before
its first parameter is suggested. Its outcome on block b is its intermediate value at step b, NaN
where it failed, with the reason in "racer:failed:b". In a study with several directions, which
takes no intermediate values, it is the user attribute "racer:values:b", metrics by name. All
decisions follow from these.
"""

from __future__ import annotations

import math
import zlib
from contextlib import contextmanager, suppress
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
import optuna
from optuna.exceptions import UpdateFinishedTrialError
from optuna.trial import TrialState

from racer._numerics import as_costs, mean_of
from racer.core.table import Row, Table
from racer.deciders.parts.several import best_first
from racer.errors import RaceStateError, SettingError
from racer.integrations.optuna.attributes import (
    ASKED,
    DRIVER,
    ENDED,
    FAILED,
    RACE,
    SETTINGS,
    VALUES,
    recorded,
)
from racer.integrations.optuna.metrics import outcomes_of_trial, settings_of
from racer.integrations.optuna.reports import is_feasible, is_maximized, report_mean
from racer.seeding import check_seed
from racer.store.jsonable import dumps, encode, same, shown_apart

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from optuna.study import Study
    from optuna.trial import FrozenTrial

    from racer.core.objective import Aim
    from racer.evaluate.outcome import Outcome


class StudyRecord:
    """The record of a study's races; SettingError if it was raced with other settings."""

    def __init__(
        self,
        study: Study,
        settings: Mapping[str, Any],
        instances: Sequence[Any],
        seed: int | None,
        aim: Aim | None = None,
    ) -> None:
        # a study of our own: it is driven without a change to the user's
        self.study: optuna.Study = copy(study)
        self.n_blocks: int = len(instances)
        known = recorded(study, SETTINGS, {})
        if seed is None and "seed" in known:  # else a fresh one
            seed = known["seed"]
        self.seed: int = check_seed(seed)
        self.aim = aim
        encoded = {name: encode(value) for name, value in settings.items()}
        encoded |= {} if aim is None else settings_of(aim)
        told = dumps([encode(instance) for instance in instances])
        encoded["instances"] = [self.n_blocks, zlib.crc32(told.encode())]
        encoded["seed"] = self.seed
        for name, value in encoded.items():
            if known and not same(value, known.get(name)):
                raise SettingError(
                    f"study {study.study_name!r} has been raced with "
                    f"{_difference(name, known.get(name), value)}: give the same again, or a "
                    "new study"
                )
        if not known:
            study.set_user_attr(SETTINGS, encoded)
        self._driver = str(check_seed(None))
        # the last process that wrote its mark drives; an older one sees that, and stops
        study.set_user_attr(DRIVER, self._driver)
        self._handles: dict[int, optuna.Trial] = {}
        self._feasible: dict[int, bool] = {}
        trials = study.get_trials(deepcopy=False)
        self._trials = {t.number: t for t in trials if RACE in t.user_attrs}
        self.table: Table = Table(maximize=is_maximized(study) if aim is None else aim.maximize)
        for number, trial in self._trials.items():
            for block, outcome in outcomes_of_trial(trial, aim).items():
                self.table.add(block, [number], [outcome])
        self._half_asked = _half_asked(trials, recorded(study, ASKED))
        # the process that drove before may still report on these
        self._inherited = {n for n in self._trials if self.state(n) == TrialState.RUNNING}

    def check_driver(self) -> None:
        """Raise RaceStateError if another process has taken over the races of the study."""
        if recorded(self.study, DRIVER) != self._driver:
            raise RaceStateError(
                f"another process has continued the races of study {self.study.study_name!r}: "
                "this one stops, and nothing is lost; let one process at a time drive them"
            )

    def of(self, number: int) -> Mapping[int, Outcome]:
        """Return the outcomes of a trial, by block."""
        return self.table.of(number)

    @property
    def outcomes(self) -> list[Outcome]:
        """All outcomes, in the order of the trials."""
        return [outcome for number in self._trials for outcome in self.of(number).values()]

    def sampler_ended(self, budget: int) -> bool:
        """Return whether this sampler has ended the study, within a budget at least as large."""
        name, within = recorded(self.study, ENDED, ("", 0))
        return bool(name == type(self.study.sampler).__name__ and budget <= within)

    def in_race(self, race: int) -> list[int]:
        """Return the numbers of the trials of a race, without trials that failed before it."""
        return [
            n
            for n, t in self._trials.items()
            if recorded(t, RACE) == race and (self.of(n) or not t.state.is_finished())
        ]

    def state(self, number: int) -> TrialState:
        """Return the state of a trial."""
        return self._trials[number].state

    def succeeded(self, number: int) -> set[int]:
        """Return the blocks on which a trial has a value."""
        return {block for block, o in self.of(number).items() if o.value is not None}

    def best_first(self, numbers: Sequence[int], blocks: Iterable[int]) -> list[int]:
        """Return trials by their mean costs over blocks on which all of them succeeded."""
        costs = [self._costs(number, sorted(blocks)) for number in numbers]
        goal = None if self.aim is None else self.aim.goal
        if goal is None or not costs:
            order = sorted(range(len(costs)), key=lambda place: costs[place][0])
        else:
            order = best_first(goal, np.array(costs))
        return [numbers[place] for place in order]

    def _costs(self, number: int, blocks: Sequence[int]) -> list[float]:
        """Return the mean costs of a trial, of each metric that decides."""
        told = [self.of(number)[block] for block in blocks]
        values = np.array([outcome.value for outcome in told], dtype=np.float64)
        if self.aim is None:
            return [mean_of(as_costs(values, maximize=self.table.maximize).tolist())]
        row = Row.of(0, list(range(len(told))), told)
        return [mean_of(column.tolist()) for column in np.atleast_2d(self.aim.costs(row).T)]

    def is_feasible(self, number: int) -> bool:
        """Return whether a trial violates no constraint, even if it has not ended.

        SettingError if the sampler's `constraints_func` needs values.
        """
        trial = self._trials[number]
        if not is_feasible(trial) or trial.state.is_finished():
            return is_feasible(trial)
        if number not in self._feasible:
            self._refresh(number)
            trial = self._trials[number]
            constraints = getattr(self.study.sampler, "_constraints_func", None)
            try:
                told = () if constraints is None else constraints(trial)
            except Exception as error:
                raise SettingError(
                    f"constraints_func(trial) of the sampler raised {type(error).__name__}: "
                    f"{error}; race_study asks it as soon as a trial is suggested, so that who is "
                    "infeasible drops nobody: let it depend on parameters, or on user attributes "
                    "that suggest sets; or call trial.set_constraint in suggest"
                ) from error
            self._feasible[number] = is_feasible(trial) and all(value <= 0.0 for value in told)
        return self._feasible[number]

    def as_suggested(self, number: int) -> optuna.trial.BaseTrial:
        """Return a trial that suggests its recorded values; new ones only if nothing is evaluated."""
        # frozen: what was evaluated may not get another value by a new suggestion
        return self._trials[number] if self.of(number) else self._handle(number)

    def ask(self, race: int) -> int:
        """Return the number of a new trial of a race, a half-asked one if there is any."""
        number, self._half_asked = self._half_asked, None
        if number is not None:
            self._refresh(number)
        if number is None or self.state(number) != TrialState.RUNNING:
            number = self._ask_anew()
        self._handle(number).set_user_attr(RACE, race)
        self._refresh(number)
        return number

    def _ask_anew(self) -> int:
        bare = [t.number for t in _bare(self.study.get_trials(deepcopy=False))]
        # before the ask: after a kill, a bare trial that is new is known to be ours
        self.study.set_user_attr(ASKED, [len(self._trials), bare])
        try:
            trial = self.study.ask()
        except Exception:
            with suppress(Exception):
                if all(t.number in bare for t in _bare(self.study.get_trials(deepcopy=False))):
                    self.study.set_user_attr(ASKED, None)  # it failed before there was a trial
            raise
        self._refresh(trial.number)
        try:
            self.check_driver()  # a process that has taken over may not know of this trial
        except RaceStateError:
            if _bare([self._trials[trial.number]]):
                self.fail(trial.number)
            raise
        self._handles[trial.number] = trial
        return trial.number

    def report(self, number: int, block: int, outcome: Outcome) -> None:
        """Record an outcome."""
        told = {}
        # its old process may have reported this block by now; Optuna ignores a second report
        if number in self._inherited:
            self._refresh(number)
            told = outcomes_of_trial(self._trials[number], self.aim)
        if block not in told:
            trial = self._handle(number)
            if outcome.value is None:  # the reason first: the value completes the outcome
                trial.set_user_attr(f"{FAILED}{block}", [outcome.status, outcome.message])
            elif outcome.metrics is not None:
                trial.set_user_attr(f"{VALUES}{block}", dict(outcome.metrics))
            if self.aim is None:
                trial.report(math.nan if outcome.value is None else outcome.value, block)
        self.table.add(block, [number], [told.get(block, outcome)])

    def check_run(self, numbers: Iterable[int]) -> None:
        """Raise RaceStateError if one of these trials has ended, by another process."""
        self.check_driver()
        for number in numbers:
            if self.state(number) != TrialState.RUNNING:
                raise RaceStateError(
                    f"trial {number} has ended as {self.state(number).name}, but this race would "
                    "go on with it: was it ended elsewhere, or raced by another version of "
                    "racer?"
                )

    def end(self, number: int) -> None:
        """End a trial: complete with all values, failed without any, else pruned with a mean."""
        if self.state(number) == TrialState.RUNNING:
            self._refresh(number)  # another process may have told it, before it stops
        if self.state(number) != TrialState.RUNNING:
            return
        known = self._trials[number]
        told = outcomes_of_trial(known, self.aim).values()
        values = [outcome for outcome in told if outcome.value is not None]
        if len(values) == self.n_blocks:
            self._tell(number, TrialState.COMPLETE, self._means(values))
        elif values:
            if self.aim is None:
                # above all instances, higher with more values: samplers order pruned trials by it
                step = self.n_blocks + len(known.intermediate_values)
                with suppress(UpdateFinishedTrialError):
                    report_mean(self._handle(number), known, step)
            self._tell(number, TrialState.PRUNED)
        else:
            self._tell(number, TrialState.FAIL)

    def _means(self, told: Sequence[Outcome]) -> list[float]:
        """Return the mean of each direction's values."""
        if self.aim is None:
            return [mean_of([o.value for o in told if o.value is not None])]
        names = self.aim.metrics
        return [mean_of([o.metrics[name] for o in told if o.metrics is not None]) for name in names]

    def fail(self, number: int) -> None:
        """Record a trial without outcomes as failed."""
        self._tell(number, TrialState.FAIL)

    def _tell(self, number: int, state: TrialState, values: list[float] | None = None) -> None:
        try:
            self.study.tell(number, values, state=state)
        except (UpdateFinishedTrialError, ValueError):
            self._refresh(number)
            # another process has ended it meanwhile: nothing is left to tell
            if not self.state(number).is_finished():
                raise
        self._refresh(number)

    @contextmanager
    def driving(self, budget: int) -> Iterator[None]:
        """Record that a sampler ends the study; RaceStateError if a trial ends from elsewhere."""
        name = type(self.study.sampler).__name__
        # Optuna's own works within `Study.optimize` only
        vars(self.study)["stop"] = lambda: self.study.set_user_attr(ENDED, [name, budget])
        try:
            yield
        except UpdateFinishedTrialError as error:
            self.check_driver()
            raise RaceStateError(
                f"a trial has ended with which this race would go on ({error}): was it ended from "
                "elsewhere?"
            ) from error

    def _handle(self, number: int) -> optuna.Trial:
        if number not in self._handles:
            trial_id = self._trials[number]._trial_id  # noqa: SLF001  (nothing else names it)
            self._handles[number] = optuna.Trial(self.study, trial_id)
        return self._handles[number]

    def _refresh(self, number: int) -> None:
        self._trials[number] = self.study.get_trials(deepcopy=False)[number]


def _difference(name: str, recorded: Any, given: Any) -> str:
    if name != "instances":
        return f"another {name} ({', not '.join(shown_apart(recorded, given))})"
    count, n = recorded[0], given[0]
    what = f"{count}, not {n}" if count != n else f"{n} too, but others or in another order"
    return f"other instances ({what})"


def _half_asked(trials: Sequence[FrozenTrial], asked: list[Any] | None) -> int | None:
    """Return the first trial begun since the last ask that is still bare, if that was cut short."""
    if asked is None:
        return None
    n_raced, before = asked
    if sum(RACE in t.user_attrs for t in trials) > n_raced:
        return None
    since = [t for t in _bare(trials) if t.number not in before]
    begun = [(t.datetime_start, t.number) for t in since if t.datetime_start is not None]
    return min(begun)[1] if begun else None


def _bare(trials: Sequence[FrozenTrial]) -> list[FrozenTrial]:
    """Return the running trials that have no parameters, values or attributes."""
    return [
        t
        for t in trials
        if t.state == TrialState.RUNNING and not (t.params or t.intermediate_values or t.user_attrs)
    ]
