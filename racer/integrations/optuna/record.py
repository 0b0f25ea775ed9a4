"""The races of a study as the study itself records them: each outcome in its trial.

A trial of a race carries the number of its race in the user attribute "racer:race". Its outcome
on block b is its intermediate value at step b, NaN where it failed, with the reason in
"racer:failed:b". All that is decided follows from these.
"""

from __future__ import annotations

import math
import zlib
from typing import TYPE_CHECKING, Any

import optuna
from optuna.trial import TrialState

from racer.errors import RaceStateError, SettingError
from racer.evaluate.cell import Outcome
from racer.integrations.optuna.finish import report_mean
from racer.integrations.optuna.values import MEAN_STEP, is_maximized, mean, usable
from racer.run.jsonable import dumps, encode, same
from racer.seeding import check_seed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from optuna.study import Study
    from optuna.trial import FrozenTrial

__all__ = ["StudyRecord"]

_RACE = "racer:race"
_SETTINGS = "racer:race_study"
_DRIVER = "racer:driver"
_FAILED = "racer:failed:"


class StudyRecord:
    """What a study holds of its races.

    Parameters
    ----------
    study : optuna.Study
    settings : mapping
        What must be the same when a race goes on.
    instances : sequence
    seed : int, optional
        None: the recorded one, or a fresh one.

    Raises
    ------
    SettingError
        The study has been raced with other settings.
    """

    def __init__(
        self,
        study: Study,
        settings: Mapping[str, Any],
        instances: Sequence[Any],
        seed: int | None,
    ) -> None:
        self.study = study
        self.n_blocks = len(instances)
        recorded = study.user_attrs.get(_SETTINGS, {})
        if seed is None and "seed" in recorded:
            seed = recorded["seed"]
        self.seed = check_seed(seed)
        encoded = {name: encode(value) for name, value in settings.items()}
        told = dumps([encode(instance) for instance in instances])
        encoded["instances"] = [self.n_blocks, zlib.crc32(told.encode())]
        encoded["seed"] = self.seed
        for name, value in encoded.items():
            if recorded and not same(value, recorded.get(name)):
                raise SettingError(
                    f"study {study.study_name!r} has been raced with another {name} "
                    f"({recorded.get(name)}, not {value}): give the same again, or a new study"
                )
        if not recorded:
            study.set_user_attr(_SETTINGS, encoded)
        self._driver = str(check_seed(None))
        study.set_user_attr(_DRIVER, self._driver)
        self._handles: dict[int, optuna.Trial] = {}
        trials = study.get_trials(deepcopy=False)
        self._trials = {t.number: t for t in trials if _RACE in t.user_attrs}
        self.outcomes = {number: _outcomes(t) for number, t in self._trials.items()}

    def check_driver(self) -> None:
        """Raise unless this is still the process that drives the races of the study.

        Raises
        ------
        RaceStateError
            Another one has taken over.
        """
        if self.study.user_attrs.get(_DRIVER) != self._driver:
            raise RaceStateError(
                f"another process has gone on with the races of study {self.study.study_name!r}: "
                "this one stops, and nothing is lost; let one process at a time drive them"
            )

    @property
    def evaluations(self) -> int:
        """Outcomes recorded so far."""
        return sum(map(len, self.outcomes.values()))

    def in_race(self, race: int) -> list[int]:
        """Return the trials that were asked for a race, by number."""
        return [n for n, t in self._trials.items() if t.user_attrs[_RACE] == race]

    def state(self, number: int) -> TrialState:
        """Return the state of a trial."""
        return self._trials[number].state

    def cost(self, number: int) -> float:
        """Return the value of a complete trial, to be minimised."""
        value = self._trials[number].value
        assert value is not None  # noqa: S101  (for the type checker)
        return -value if is_maximized(self.study) else value

    def frozen(self, number: int) -> FrozenTrial:
        """Return a trial as the study knows it: its suggestions return what was suggested."""
        return self._trials[number]

    def add(self, trial: optuna.Trial, race: int) -> None:
        """Take a new trial, whose parameters have been suggested, into a race."""
        trial.set_user_attr(_RACE, race)
        self._handles[trial.number] = trial
        self.outcomes[trial.number] = {}
        self._refresh(trial.number)

    def report(self, number: int, block: int, outcome: Outcome) -> None:
        """Record an outcome."""
        trial = self._handle(number)
        if outcome.value is None:  # first the reason: the value says that there is an outcome
            trial.set_user_attr(f"{_FAILED}{block}", [outcome.status, outcome.message])
        trial.report(math.nan if outcome.value is None else outcome.value, block)
        self.outcomes[number][block] = outcome

    def end(self, number: int) -> None:
        """Tell the study that a trial is over, if it has not been told.

        Who has a value on every block is complete, who has none has failed; the others are
        pruned, with their mean.
        """
        if self.state(number) != TrialState.RUNNING:
            return
        self._refresh(number)
        known = self._trials[number]
        values = list(usable(known).values())
        if len(values) == self.n_blocks:
            self.study.tell(number, mean(values), state=TrialState.COMPLETE)
        elif values:
            report_mean(self._handle(number), known, self.n_blocks + len(known.intermediate_values))
            self.study.tell(number, state=TrialState.PRUNED)
        else:
            self.study.tell(number, state=TrialState.FAIL)
        self._refresh(number)

    def _handle(self, number: int) -> optuna.Trial:
        if number not in self._handles:
            trial_id = self._trials[number]._trial_id  # noqa: SLF001  (nothing else names it)
            self._handles[number] = optuna.Trial(self.study, trial_id)
        return self._handles[number]

    def _refresh(self, number: int) -> None:
        self._trials[number] = self.study.get_trials(deepcopy=False)[number]


def _outcomes(trial: FrozenTrial) -> dict[int, Outcome]:
    """Return the outcomes that a trial holds, by block."""
    outcomes = {}
    mean_at = trial.user_attrs.get(MEAN_STEP)
    for block, value in trial.intermediate_values.items():
        if block == mean_at:
            continue
        if math.isnan(value):
            status, message = trial.user_attrs[f"{_FAILED}{block}"]
            outcomes[block] = Outcome(status, None, message=message)
        else:
            outcomes[block] = Outcome("ok", value)
    return outcomes
