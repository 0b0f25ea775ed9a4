"""`race_study`: races of a study's trials, which are open at once and evaluated side by side."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from optuna.storages import InMemoryStorage

from racer._checks import flag, whole
from racer.core.budget import Budget
from racer.core.pool import as_sequence
from racer.deciders.named import as_decider
from racer.deciders.t_race import TRace
from racer.errors import BudgetError, RaceInterrupted
from racer.evaluate.attempt import generators_put_back
from racer.evaluate.command.command import check_some
from racer.evaluate.objective import check_objective
from racer.evaluate.workers import number_of, workers_for
from racer.integrations.optuna.evidence import Evidence, best_trials_by_evidence
from racer.integrations.optuna.races import Races, Suggestion
from racer.integrations.optuna.record import StudyRecord
from racer.integrations.optuna.reports import check_study
from racer.run.signals import exit_with_code, notify

if TYPE_CHECKING:
    from collections.abc import Sequence

    from optuna.study import Study

    from racer.deciders.decider import Decider
    from racer.evaluate.objective import Objective
    from racer.evaluate.workers import Workers
    from racer.integrations.optuna.races import Suggest
    from racer.run.progress import Progress

_ALPHA = 0.3  # of the default decider: losing a good trial is cheap, as others like it will follow


def race_study(
    study: Study,
    evaluate: Objective,
    instances: Sequence[Any],
    *,
    suggest: Suggest,
    budget: int,
    trials: int = 1,
    elites: int = 3,
    decider: str | Decider | None = None,
    first_test: int | None = None,
    n_jobs: int = 1,
    seed: int | None = None,
    timeout: float | None = None,
    memory: int | None = None,
    retries: int = 0,
    progress: bool = False,
) -> Evidence:
    """Race the trials of a study, some at a time, until the budget is spent.

    In each race the study's sampler proposes `trials` configurations, and all of them are
    evaluated on one instance after another, in an order drawn anew for each race; after each
    instance the decider drops those that cannot win. A trial that is dropped ends as PRUNED with
    its mean, one that stays to the last instance as COMPLETE with its mean over all: these values
    are comparable. Those with the best means, the elites, take part in each race with
    the values that they have, at no cost, and cannot be dropped; a race ends when only they are
    left.

    Any sampler, any storage. A sampler that ends a study when it has no more to propose, as
    `GridSampler` does, ends the races, until the budget is larger or the sampler another.
    Everything is recorded in the study, each outcome when it comes. So after a crash, a kill or
    Ctrl-C the same call, on the study loaded again, goes on where it stopped; and a larger budget
    goes on with a study that has ended. Trials of the study that were not asked for here are left
    alone; the sampler learns from them. One process at a time drives the races of a study; if
    another one takes over, the first one ends with an error.

    Parameters
    ----------
    study : optuna.Study
        With one objective; its direction counts. Its pruner is not asked.
    evaluate : callable
        ``evaluate(config, instance, seed) -> float``, as in `racer.race`; a `racer.Command` too.
        What raises, or returns anything but a finite number, costs its cell: the trial ranks last
        on this instance, and does not end as COMPLETE. An instance on which all trials so far have
        failed is set aside with a warning: trials may be elites without it. The seed of an
        instance is the same for all trials.
    instances : sequence
        Each is used once per trial; their order does not matter, as each race draws its own. For
        a noisy objective without instances give ``range(20)``, say, and use the seed.
    suggest : callable or mapping of str to optuna distribution
        ``suggest(trial) -> config``, with `trial.suggest_float` and so on; or the search space
        as in `study.ask`, and the config is the dict of parameters. A race that goes on calls it
        again on its recorded trials, which suggest what they did.
    budget : int
        Evaluations in all, those recorded before included; never exceeded. A race is made smaller
        if the budget could not pay for all its trials on all instances.
    trials : int
        New trials per race; two if there are no elites yet. With one, the sampler knows of all
        trials before; but what can be evaluated at once is one instance of each new trial, so
        give as many as there are workers.
    elites : int
        At most so many take part in a race.
    decider : str or Decider, optional
        As in `racer.race`. None: `TRace(alpha=0.3)`, for values without outliers. It drops early,
        for many trials; "anytime" is for cases where losing a good one is expensive.
    first_test : int, optional
        Drop no trial before so many instances. None: 3 with the decider None, else 5.
    n_jobs : int
        1 evaluates in this process; more, or -1, in joblib workers, with the same result.
    seed : int >= 0, optional
        Of the seeds that evaluate gets, and of the decider; the study records it. The sampler has
        its own.
    timeout, memory, retries
        Limits of an evaluation, as in `racer.race`.
    progress : bool
        Show where the races stand, as in `racer.race`; candidates are trials, by number.

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
        Every evaluation failed on the first `first_test` instances: the study stops there.
    RaceInterrupted
        Ctrl-C; what is recorded stays, and the same call goes on. `result` has the `study`, and
        the `evaluations` and `seed` of its races.

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
    check_study(study)
    items = as_sequence(instances, "instances")
    settings = {
        "trials": whole(trials, "trials", least=1),
        "elites": whole(elites, "elites", least=0),
        "decider": TRace(alpha=_ALPHA) if decider is None else as_decider(decider),
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
    suggestion = Suggestion(suggest)
    workers = workers_for(
        evaluate,
        (),
        items,
        n_jobs=n_jobs,
        timeout=timeout,
        memory=memory,
        retries=retries,
        parameters=suggestion.names,
    )
    record = StudyRecord(study, settings, items, seed)
    check_first = partial(check_some, evaluate)
    display = _display(flag(progress, "progress"), study, record, evaluations, workers)
    races = Races(record, workers, items, suggestion, evaluations, settings, check_first, display)
    try:
        with generators_put_back(), display or nullcontext():
            races.run()
    except KeyboardInterrupt:
        raise _interrupted(study, record) from None
    return best_trials_by_evidence(study)


def _display(
    wanted: bool, study: Study, record: StudyRecord, budget: int, workers: Workers
) -> Progress | None:
    """Return what shows progress, if it is wanted."""
    if not wanted:
        return None
    from racer.run.progress import Progress, Subject  # noqa: PLC0415  (Rich, only where needed)

    display = Progress()
    title = (
        f"races of study {study.study_name!r}: budget of {budget} evaluations, seed {record.seed}"
    )
    subject = Subject(title, budget=Budget(evaluations=budget), workers=number_of(workers))
    display.state.watch(subject, len(record.outcomes))
    return display


class _Stopped(NamedTuple):
    """What is known when the races of a study are interrupted."""

    study: Study
    evaluations: int
    seed: int
    ended: str = "interrupted"


def _interrupted(study: Study, record: StudyRecord) -> RaceInterrupted:
    in_memory = isinstance(study._storage, InMemoryStorage)  # noqa: SLF001  (nothing else says it)
    where = ", which is in memory and ends with this program" if in_memory else ""
    stop = RaceInterrupted(
        _Stopped(study, len(record.outcomes), record.seed),
        kept=f"all of them are recorded in study {study.study_name!r}{where}; go on with the same "
        "call of race_study on it",
    )
    notify(f"racer: {stop}")  # now: the caller may not
    exit_with_code()
    return stop


def _first_test(decider: str | Decider | None, first_test: int | None) -> int:
    if first_test is not None:
        return first_test
    return 3 if decider is None else 5
