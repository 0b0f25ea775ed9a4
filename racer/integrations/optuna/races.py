"""`race_study`: races of a study's trials, which are open at once and evaluated side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from traceback import walk_tb
from typing import TYPE_CHECKING, Any, NamedTuple

from optuna.storages import BaseStorage, InMemoryStorage

from racer._checks import flag, whole
from racer._entry import entry
from racer.core.blocks import Order
from racer.core.budget import Budget
from racer.core.pool import as_sequence
from racer.core.rules import Rules, check_goal
from racer.core.table import Row, Table
from racer.deciders.bayesian_front import BayesianFront
from racer.deciders.named import as_decider, default_decider
from racer.deciders.parts.wrappers import protected
from racer.deciders.t_race import TRace
from racer.errors import (
    BudgetError,
    RaceInterrupted,
    ScoresError,
    SettingError,
    warn,
)
from racer.evaluate.command.command import check_some
from racer.evaluate.objective import check_useful, is_no_number
from racer.evaluate.outcome import Cell, Outcome, all_failed
from racer.evaluate.process_state import process_put_back
from racer.evaluate.workers import number_of, outcomes_of, workers_for
from racer.integrations.optuna.evidence import Evidence, best_trials_by_evidence
from racer.integrations.optuna.metrics import aim_of
from racer.integrations.optuna.record import StudyRecord
from racer.integrations.optuna.reports import is_maximized
from racer.integrations.optuna.search_space import Suggest, checked_suggest
from racer.racing.capping import leader
from racer.racing.loop import advance, completed, race
from racer.racing.repeats import Withheld
from racer.racing.state import Request, State
from racer.run.rehearsal import FirstValues
from racer.run.signals import DeferredInterrupt, exit_with_code, notify
from racer.seeding import block_seed, rng_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from optuna.study import Study
    from optuna.trial import BaseTrial

    from racer.core.events import Elimination
    from racer.core.objective import Metric
    from racer.core.objective import Objective as Aims
    from racer.deciders.decider import Decider, Goal
    from racer.evaluate.limits.limits import Limits
    from racer.evaluate.objective import Objective
    from racer.evaluate.workers import Pool
    from racer.run.progress import Progress


@dataclass(eq=False)
class Races:
    """Races in series; recorded outcomes are not evaluated again."""

    record: StudyRecord
    workers: Pool
    instances: tuple[Any, ...]
    suggest: Callable[[BaseTrial], Any]
    budget: int
    settings: dict[str, Any]
    check_first: Callable[[list[Any]], None]
    values: FirstValues | None
    display: Progress | None = None

    def __post_init__(self) -> None:
        self._configs: dict[int, Any] = {}
        self._interrupts = DeferredInterrupt()
        self._spent = 0  # evaluations of the races so far, this one included
        self._raced: set[int] = set()  # trials of these races
        self._warned_of: set[int] = set()  # instances on which all failed

    def run(self) -> None:
        """Race while the budget pays for a race; Ctrl-C interrupts nothing but an evaluation."""
        elites: list[int] = []
        number = 0
        if self.display is not None:
            self.display.line(self.display.state.of.title)
        with self._interrupts, self.workers, self.record.driving(self.budget):
            while fresh := self._asked(number, elites):
                if number == 0 and not any(map(self.record.of, fresh)):
                    self.check_first([self._config(n) for n in fresh])
                elites = self._race(number, elites, fresh)
                if self.display is not None:
                    best = self._leaders(elites)
                    done = self.display.state.work.evaluations
                    self.display.line(f"race {number}: {best}; {done} of {self.budget} evaluations")
                number += 1
                if self.record.sampler_ended(self.budget) and not self.record.in_race(number):
                    break
        if self.values is not None:
            self.values.end_of_run()

    def _leaders(self, elites: list[int]) -> str:
        """Return the leader after a race, in words."""
        if not elites:
            return "no trial is complete"
        if self.record.aim is None or not self.record.aim.is_front:
            return f"best is trial #{elites[0]}"
        return f"elites are trials {', '.join(f'#{number}' for number in elites)}"

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
            with self._interrupts.let_through():  # no trial is half asked for
                pass
            record.check_driver()
            fresh.append(record.ask(race))
            self._suggest_or_fail(fresh[-1])
        return fresh

    def _suggest_or_fail(self, number: int) -> None:
        try:
            self._config(number)
            self.record.is_feasible(number)
        except BaseException as error:
            if not _is_of_storage(error):  # else the same call suggests again
                self.record.fail(number)
            raise

    def _race(self, number: int, elites: list[int], fresh: list[int]) -> list[int]:
        """Hold a race; return the elites after it."""
        record, n = self.record, len(self.instances)
        numbers = [*elites, *fresh]
        before = sum(len(record.of(e)) for e in elites)
        infeasible = [trial for trial in fresh if not record.is_feasible(trial)]
        fresh = [trial for trial in fresh if trial not in infeasible]
        # on one instance only: the value is for the sampler, and drops nobody
        self._evaluate([(trial, 0) for trial in infeasible])
        self._raced.update(fresh)
        alive = set(fresh)
        if len(elites) + len(fresh) > 1:
            alive = self._run_to_its_end(number, elites, fresh)
        self._evaluate([(trial, block) for trial in sorted(alive) for block in range(n)])
        for trial in [*infeasible, *fresh]:
            record.end(trial)
        # recorded ones included, so that a resumed study spends as if never interrupted
        self._spent += sum(len(record.of(i)) for i in numbers) - before
        usable = set().union(*map(record.succeeded, self._raced))
        self._warn_of(set(range(n)) - usable)
        return self._best(numbers, usable)

    def _rules(self, elites: list[int], fresh: list[int]) -> Rules:
        """Return the rules of a race over all instances, in which no elite can be eliminated."""
        n, aim = len(self.instances), self.record.aim
        until = (n + 1,) * len(elites) + (0,) * len(fresh)
        return Rules(
            decider=protected(self.settings["decider"], until),
            budget=Budget(evaluations=len(until) * n),
            maximize=aim is None and is_maximized(self.record.study),
            metrics=None if aim is None else aim.metrics,
            objective=None if aim is None else aim.objective,
            seed=self.record.seed,
            deterministic=True,
            first_test=self.settings["first_test"],
            each_test=1,
        )

    def _run_to_its_end(self, number: int, elites: list[int], fresh: list[int]) -> set[int]:
        """Run a race until it ends or no new trial is left in it; return the new trials left."""
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
        self,
        trials: list[int],
        state: State,
        table: Table,
        gone: tuple[Elimination, ...],
        row: Row,
    ) -> None:
        """Show a block of a race, in the numbers of the study."""
        if self.display is None:
            return
        event = completed(
            state,
            row,
            gone,
            best=leader(state, None, table),
            mean=table.mean,
            evaluations=self.display.state.work.evaluations,
            seconds=0.0,
        )
        self.display(event.renumbered(trials))

    def _best(self, numbers: list[int], usable: set[int]) -> list[int]:
        """Return the elites: the best of the trials that succeeded wherever any has."""
        record = self.record
        evaluated = [i for i in numbers if len(record.of(i)) == len(self.instances)]
        known = [
            i
            for i in evaluated
            if usable and record.succeeded(i) >= usable and record.is_feasible(i)
        ]
        return record.best_first(known, usable)[: self.settings["elites"]]

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
        known = record.outcomes
        if len(known) > 1 and all(is_no_number(outcome) for outcome in known):
            first_test = 1  # a return is missing, or the like
        if record.table.n_usable or any(len(record.of(n)) < first_test for n in fresh):
            return
        for trial in fresh:
            record.end(trial)
        raise ScoresError(f"{all_failed(known)}: mend evaluate, and race a new study")

    def _evaluate(self, wanted: list[tuple[int, int]]) -> None:
        """Evaluate, and record, the missing outcomes of these trials on these blocks."""
        record = self.record
        missing = [(n, block) for n, block in wanted if block not in record.of(n)]
        if not missing:
            return
        record.check_run({n for n, _ in missing})
        seed, names = record.seed, None if record.aim is None else record.aim.names
        cells = [
            Cell(
                *(block, n, self._config(n), self.instances[block], block_seed(seed, block)),
                metrics=names,
            )
            for n, block in missing
        ]
        outcomes = outcomes_of(self.workers, cells)
        if self.display is not None:
            self.display.asked(cells)
        while True:
            with self._interrupts.let_through():
                told = next(outcomes, None)
            if told is None:
                break
            cell, outcome = told
            if not record.table.rows:
                check_useful(outcome)
            # without what a study does not hold: a resumed race sees no more
            stored = Outcome(
                outcome.status, outcome.value, message=outcome.message, metrics=outcome.metrics
            )
            record.report(cell.candidate, cell.block, stored)
            if self.values is not None:
                self.values.see(cell, outcome)
            if self.display is not None:
                self.display.told(outcome)
        if self.values is not None and self.values.end():
            self.values = None

    def _config(self, number: int) -> Any:
        if number not in self._configs:
            config = self.suggest(self.record.as_suggested(number))
            if config is None:
                raise SettingError(
                    f"suggest returned None for trial {number}: return the configuration that "
                    "evaluate gets, such as a dict of the trial's suggestions"
                )
            self._configs[number] = config
        return self._configs[number]


def _is_of_storage(error: BaseException) -> bool:
    """Return whether the storage failed, rather than refused its input."""
    if isinstance(error, ValueError | TypeError):
        return False
    frames = (frame for frame, _ in walk_tb(error.__traceback__))
    return any(isinstance(frame.f_locals.get("self"), BaseStorage) for frame in frames)


@entry
def race_study(
    study: Study,
    evaluate: Objective,
    instances: Sequence[Any],
    *,
    suggest: Suggest,
    budget: int,
    decider: str | Decider | None = None,
    metrics: Mapping[str, str | Metric] | None = None,
    objective: Aims | None = None,
    seed: int | None = None,
    n_jobs: int = 1,
    first_test: int | None = None,
    trials: int = 1,
    elites: int | None = None,
    limits: Limits | None = None,
    progress: bool = False,
) -> Evidence:
    """Race the trials of a study, some at a time, until the budget is spent.

    In each race the study's sampler proposes `trials` configurations, and all of them are
    evaluated on one instance after another, in an order drawn anew for each race; after each
    instance the decider drops trials that cannot win. A trial that is dropped ends as PRUNED with
    its mean, a trial that stays to the last instance as COMPLETE with its mean over all: these
    values are comparable. (Of several directions Optuna takes no value of a pruned trial.) The
    trials with the best means, the elites, take part in each race with the values that they have,
    at no cost, and cannot be dropped; a race ends when only they are left.

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
        Its directions count. Its pruner is not asked. Trials that violate a constraint, by
        `Trial.set_constraint` in `suggest` or by the sampler's `constraints_func`, are evaluated
        on one instance only, drop nobody, and are never elites.
    evaluate : callable
        ``evaluate(config, instance, seed) -> float``, as in `racer.race`; a `racer.Command` too.
        Of a study with several directions, a mapping of metrics by name.
        An evaluation that raises, or returns no finite number, costs its cell: the trial ranks last
        on this instance, and does not end as COMPLETE. An instance on which all trials so far have
        failed is set aside with a warning: trials may be elites without it. The seed of an
        instance is the same for all trials.
    instances : sequence
        Each is used once per trial; their order does not matter, as each race draws its own. For
        a noisy objective without instances give ``range(20)``, for example, and use the seed.
    suggest : callable or mapping of str to optuna distribution
        ``suggest(trial) -> config``, with `trial.suggest_float` and so on; or the search space
        as in `study.ask`, and the config is the dict of parameters. A race that goes on calls it
        again on its recorded trials, which suggest the same again.
    budget : int
        Evaluations in all, recorded ones included; never exceeded. A race is made smaller
        if the budget could not pay for all its trials on all instances.
    decider : str or Decider, optional
        As in `racer.race`. None: `TRace(alpha=0.3)`, for values without outliers. It drops early,
        for many trials; "anytime" is for cases where losing a good one is expensive. With several
        directions the default of `objective`, to a front `BayesianFront(confidence=0.9)`.
    metrics : mapping of str to "min", "max" or Metric, optional
        Of a study with several directions: the metrics of `evaluate`, one for each direction,
        in their order. None: the study's `metric_names`.
    objective : str, Pareto, Within or Constrained, optional
        Of a study with several directions: the name of a metric, or `racer.Pareto`, `racer.Within` or
        `racer.Constrained` of names, whose directions are the study's.
    seed : int >= 0, optional
        Of the seeds that evaluate gets, and of the decider; the study records it. The sampler has
        its own.
    n_jobs : int
        1 evaluates in this process; more, or -1, in joblib workers, with the same result.
    first_test : int, optional
        Number of instances before the first test. None: 3 with the decider None, else 5.
    trials : int
        New trials per race; two if there are no elites yet. With one, the sampler knows of all
        trials before; but only one instance of each new trial can be evaluated at once, so
        give as many as there are workers.
    elites : int, optional
        Maximum number of elites in a race. None: 3, and for a front 3 for each metric.
    limits : Limits, optional
        Of an evaluation, as in `racer.race`.
    progress : bool
        Show where the races stand, as in `racer.race`; candidates are trials, by number.

    Returns
    -------
    Evidence
        Which trial is best: `best_trials_by_evidence(study)`.

    Raises
    ------
    SettingError, ObjectiveError, CandidateError, BudgetError
        Invalid settings, before any trial is asked for: other settings, for one, than the study
        has been raced with.
    RaceStateError
        Another process has continued the races of this study.
    ScoresError
        Every evaluation failed on the first `first_test` instances, or returned no number on the
        first one: the study stops there. Or no trial satisfies the constraints.
    RaceInterrupted
        Ctrl-C; records stay, and the same call continues. `result` has the `study`, and
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
    aim = aim_of(study, metrics, objective)
    goal = None if aim is None else aim.goal
    items = as_sequence(instances, "instances")
    if first_test is None:
        first_test = 3 if decider is None else 5
    if elites is None:
        elites = 3 if goal is None else 3 * goal.n_metrics
    judge = _usual(goal) if decider is None else as_decider(decider)
    if judge.bounds is not None:
        raise SettingError(f"decider={decider!r} is for racer.race: give another one")
    check_goal(judge, goal, objective)
    settings = {
        "trials": whole(trials, "trials", least=1),
        "elites": whole(elites, "elites", least=0),
        "decider": judge,
        "first_test": whole(first_test, "first_test", least=1),
    }
    given = Budget.of(budget)
    if given.evaluations is None or given.has_share or given.wall is not None:
        raise BudgetError("race_study counts evaluations: give budget= as a whole number")
    evaluations = given.evaluations
    if evaluations < 2 * len(items):
        raise BudgetError(
            f"budget of {evaluations} evaluations: two trials x {len(items)} instances are "
            f"{2 * len(items)}; raise the budget, or give fewer instances"
        )
    suggested = checked_suggest(suggest)
    workers = workers_for(
        evaluate,
        (),
        items,
        n_jobs=n_jobs,
        limits=limits,
        parameters=tuple(suggest) if isinstance(suggest, Mapping) else None,
    )
    record = StudyRecord(study, settings, items, seed, aim)
    check_first = partial(check_some, evaluate)
    shows = flag(progress, "progress")
    display = _display(study, record, evaluations, workers) if shows else None
    values = None
    if not record.outcomes:
        minimizes = aim is None and not is_maximized(study)
        values = FirstValues(evaluate, minimizes=minimizes, has_seeds=False)
    races = Races(
        *(record, workers, items, suggested, evaluations, settings, check_first, values, display)
    )
    try:
        with process_put_back(), display or nullcontext():
            races.run()
    except KeyboardInterrupt:
        raise _interrupted(study, record) from None
    return best_trials_by_evidence(study)


def _usual(goal: Goal | None) -> Decider:
    """Return the decider of races that are given none."""
    if goal is None:
        # losing a good trial is cheap, as others like it will follow
        return TRace(alpha=0.3)
    usual = default_decider(goal)
    return BayesianFront(0.9) if usual == "bayesian-front" else as_decider(usual)


def _display(study: Study, record: StudyRecord, budget: int, workers: Pool) -> Progress:
    """Return the progress display."""
    from racer.run.progress import Progress  # noqa: PLC0415  (Rich, only where needed)
    from racer.run.progress_state import Subject  # noqa: PLC0415

    display = Progress()
    title = (
        f"races of study {study.study_name!r}: budget of {budget} evaluations, seed {record.seed}"
    )
    subject = Subject(title, budget=Budget(evaluations=budget), workers=number_of(workers))
    display.state.watch(subject, len(record.outcomes))
    return display


class _Stopped(NamedTuple):
    """The result so far of a study's interrupted races."""

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
