"""Racing the trials of a study: many are open at once, and evaluated instance by instance."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from optuna.distributions import BaseDistribution
from optuna.trial import BaseTrial, TrialState

from racer._checks import whole
from racer.candidates.pool import as_sequence
from racer.deciders.bayesian_best import BayesianBest
from racer.deciders.names import as_decider
from racer.errors import BudgetError, RaceStateError, SettingError
from racer.evaluate.cell import Cell, Outcome
from racer.evaluate.objective import check_objective
from racer.evaluate.workers import generators_put_back, workers_for
from racer.integrations.optuna.evidence import Evidence, best_trials_by_evidence
from racer.integrations.optuna.record import StudyRecord
from racer.integrations.optuna.values import is_maximized
from racer.racing.budget import Budget
from racer.racing.race import Race
from racer.seeding import block_seed

if TYPE_CHECKING:
    from collections.abc import Sequence

    import optuna
    from optuna.study import Study

    from racer.deciders.decider import Decider
    from racer.evaluate.objective import Objective
    from racer.evaluate.workers import Workers

__all__ = ["race_study"]

_SHARE = 0.5  # of all its cells that a race is planned to spend, by default

Suggest = Callable[[BaseTrial], Any] | Mapping[str, BaseDistribution]


def race_study(
    study: Study,
    evaluate: Objective,
    instances: Sequence[Any],
    *,
    suggest: Suggest,
    budget: int,
    trials: int = 5,
    elites: int = 3,
    decider: str | Decider | None = None,
    first_test: int | None = None,
    n_jobs: int = 1,
    seed: int | None = None,
    timeout: float | None = None,
    memory: int | None = None,
    retries: int = 0,
) -> Evidence:
    """Race the trials of a study, some at a time, until the budget is spent.

    In each race the study's sampler proposes `trials` configurations, and all of them are
    evaluated on one instance after another; after each the decider drops who is out of the
    running. Who is dropped ends as PRUNED with its mean, who stays to the last instance as
    COMPLETE with its mean over all: these values are comparable. The best of those that have
    stayed, the elites, take part in the next race with the values that they have, at no cost.

    Any sampler, any storage. Everything is recorded in the study, each outcome when it comes. So
    after a crash, a kill or Ctrl-C the same call, on the study loaded again, goes on where it
    stopped; and a larger budget goes on with a study that has ended. Trials of the study that
    were not asked for here are left alone; the sampler learns from them. One process at a time
    drives the races of a study; if another one takes over, the first one ends with an error.

    Parameters
    ----------
    study : optuna.Study
        With one objective; its direction counts. Its pruner is not asked.
    evaluate : callable
        ``evaluate(config, instance, seed) -> float``, as of `racer.race`. What raises, or returns
        anything but a finite number, costs its cell: the trial ranks last on this instance, and
        does not end as COMPLETE. The seed of an instance is the same for all trials.
    instances : sequence
        Each is used once per trial, in this order: shuffle a sorted list first. For a noisy
        objective without instances give ``range(20)``, say, and use the seed.
    suggest : callable or mapping of str to optuna distribution
        ``suggest(trial) -> config``, with `trial.suggest_float` and so on; or the search space
        as of `study.ask`, and the config is the dict of parameters. A race that goes on calls it
        again on its recorded trials, which suggest what they did.
    budget : int
        Evaluations in all, those recorded before included; never exceeded. A race is made smaller
        if the budget could not pay for all its trials on all instances.
    trials : int
        New trials per race.
    elites : int
        At most so many take part in the next race.
    decider : str or Decider, optional
        As of `racer.race`. None: `BayesianBest(by="mean")`, planned to spend half of what all
        trials on all instances would take, and to come to two trials by then. It drops early,
        for many trials; "anytime" is for when losing a good one is expensive.
    first_test : int, optional
        Drop nobody before so many instances. None: 3 with the decider None, else 5.
    n_jobs : int
        1 evaluates in this process; more, or -1, in joblib workers, with the same result.
    seed : int >= 0, optional
        Of the seeds that evaluate gets, and of the decider; the study records it. The sampler has
        its own.
    timeout, memory, retries
        Limits of an evaluation, as of `racer.race`.

    Returns
    -------
    Evidence
        Which trial is best: `best_trials_by_evidence(study)`.

    Raises
    ------
    SettingError, ObjectiveError, CandidateError, BudgetError
        What cannot work, before anything is asked for: other settings than those that the study
        has been raced with, for one.
    RaceStateError
        Another process has gone on with the races of this study.
    ScoresError
        Every evaluation failed.

    Examples
    --------
    >>> import optuna
    >>> from racer.integrations.optuna import race_study
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> def suggest(trial):
    ...     return {"x": trial.suggest_float("x", 0.0, 10.0)}
    >>> def evaluate(config, instance, seed):
    ...     return (config["x"] - 3.0) ** 2 + instance
    >>> study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=1))
    >>> evidence = race_study(study, evaluate, range(12), suggest=suggest, budget=500, seed=1)
    >>> evidence.best == study.best_trial.number
    True
    """
    if len(study.directions) > 1:
        raise SettingError("the study has several objectives: give one with a single direction")
    items = as_sequence(instances, "instances")
    settings = {
        "trials": whole(trials, "trials", least=2),
        "elites": whole(elites, "elites", least=0),
        "decider": None if decider is None else as_decider(decider),
        "first_test": whole(_first_test(decider, first_test), "first_test", least=1),
    }
    evaluations = Budget.of(budget).evaluations
    if evaluations is None:
        raise BudgetError("race_study counts evaluations: give budget= as a whole number")
    if evaluations < 2 * len(items):
        raise BudgetError(
            f"budget of {evaluations} evaluations: two trials x {len(items)} instances are "
            f"{2 * len(items)}; raise the budget, or give fewer instances"
        )
    check_objective(evaluate)
    suggestion = _Suggestion(suggest)
    workers = workers_for(
        evaluate, (), items, n_jobs=n_jobs, timeout=timeout, memory=memory, retries=retries
    )
    record = StudyRecord(study, settings, items, seed)
    races = _Races(record, workers, items, suggestion, evaluations, settings)
    with generators_put_back():
        races.run()
    return best_trials_by_evidence(study)


def _first_test(decider: str | Decider | None, first_test: int | None) -> int:
    if first_test is not None:
        return first_test
    return 3 if decider is None else 5


class _Suggestion:
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

    def ask(self, study: Study) -> optuna.Trial:
        return study.ask(self._space)

    def config(self, trial: BaseTrial) -> Any:
        if self._space is not None:
            return {name: trial.params[name] for name in self._space}
        assert callable(self._suggest)  # noqa: S101  (for the type checker)
        return self._suggest(trial)


class _Races:
    """Races in series, each from what is recorded of it."""

    def __init__(
        self,
        record: StudyRecord,
        workers: Workers,
        instances: tuple[Any, ...],
        suggestion: _Suggestion,
        budget: int,
        settings: dict[str, Any],
    ) -> None:
        self._record = record
        self._workers = workers
        self._instances = instances
        self._suggestion = suggestion
        self._budget = budget
        self._settings = settings
        self._configs: dict[int, Any] = {}
        self._spent = 0  # evaluations of the races so far, this one included

    def run(self) -> None:
        """Race until the budget cannot pay for another race."""
        elites: list[int] = []
        number = 0
        while fresh := self._asked(number, elites):
            elites = self._race(elites, fresh)
            number += 1

    def _asked(self, race: int, elites: list[int]) -> list[int]:
        """Return the trials of a race: recorded ones, and new ones unless it has begun."""
        record = self._record
        fresh = record.in_race(race)
        if any(record.outcomes[n] for n in fresh):
            return fresh
        room = (self._budget - self._spent) // len(self._instances)
        wanted = min(self._settings["trials"], room)
        if wanted + len(elites) < 2:
            return fresh if len(fresh) + len(elites) >= 2 else []
        while len(fresh) < wanted:
            record.check_driver()
            fresh.append(self._ask(race))
        return fresh

    def _ask(self, race: int) -> int:
        trial = self._suggestion.ask(self._record.study)
        try:
            config = self._suggestion.config(trial)
        except BaseException:
            self._record.study.tell(trial, state=TrialState.FAIL)
            raise
        self._configs[trial.number] = config
        self._record.add(trial, race)
        return trial.number

    def _race(self, elites: list[int], fresh: list[int]) -> list[int]:
        """Hold a race; return its elites."""
        record, n = self._record, len(self._instances)
        numbers = [*elites, *fresh]
        before = sum(len(record.outcomes[e]) for e in elites)
        race = Race(
            numbers,
            self._instances,
            decider=self._settings["decider"] or _planned(len(numbers) * n),
            budget=len(numbers) * n,
            maximize=is_maximized(record.study),
            seed=record.seed,
            deterministic=True,
            first_test=self._settings["first_test"],
        )
        while cells := race.ask():
            self._evaluate([(cell.config, cell.block) for cell in cells])
            for cell in cells:
                race.tell(cell, record.outcomes[cell.config][cell.block])
            gone = {numbers[i] for i in range(len(numbers))} - {numbers[i] for i in race.alive}
            for number in sorted(gone & set(fresh)):
                record.end(number)
        stayed = [numbers[i] for i in race.result().survivors]
        self._evaluate([(number, block) for number in stayed for block in range(n)])
        for number in fresh:
            record.end(number)
        self._spent += sum(len(record.outcomes[i]) for i in numbers) - before
        complete = [i for i in stayed if record.state(i) == TrialState.COMPLETE]
        return complete[: self._settings["elites"]]

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
        for cell, outcome in self._workers.outcomes(cells):
            number, block = missing[cell.candidate]
            record.report(number, block, _storable(outcome))

    def _config(self, number: int) -> Any:
        if number not in self._configs:
            self._configs[number] = self._suggestion.config(self._record.frozen(number))
        return self._configs[number]


def _planned(all_cells: int) -> Decider:
    """Return the default decider of a race that would have so many cells if nobody went."""
    return BayesianBest(by="mean", evaluations=math.ceil(_SHARE * all_cells))


def _storable(outcome: Outcome) -> Outcome:
    """Return the part of an outcome that a study holds, so that a race resumed sees the same."""
    return Outcome(outcome.status, outcome.value, message=outcome.message)
