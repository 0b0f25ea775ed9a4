"""Racing in inspect_ai: tasks that stop when they cannot be the best any more."""

from __future__ import annotations

import itertools
import math
import reprlib
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeAlias

from racer._checks import flag, is_real
from racer.errors import RaceStateError, SettingError
from racer.evaluate.outcome import Outcome
from racer.racing.race import Race

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from inspect_ai.dataset import Sample
    from inspect_ai.log import EvalLog, EvalSpec
    from inspect_ai.scorer import SampleScore
    from inspect_ai.util import EarlyStop

    from racer.core.rules import Rules
    from racer.deciders.decider import Decider
    from racer.results.race import RaceResult

    Recorded: TypeAlias = EvalLog | Mapping[Any, float] | float

__all__ = ["TaskManager", "TaskRace"]

_FAILED = Outcome("failed", None, message="no score")


class TaskRace:
    """A race among tasks of inspect_ai with the same samples: prompts, solvers, models, agents.

    Each task has ``early_stopping=race.manager(name)``. A race compares the tasks sample by
    sample, in the order of the dataset. Samples left of a task that is eliminated are not run, and
    neither are those of the others once the race is over. Only blocks (a sample in an epoch) that
    all tasks still in have finished count, so neither concurrency nor the speed of a model changes
    eliminations; tasks that run beside each other (``max_tasks``) save more.

    Parameters
    ----------
    names : sequence of str
        The tasks, each with a manager of its own.
    recorded : mapping of str to EvalLog, mapping or float, optional
        Candidates that are not run: a log with the same samples, scores by sample id, or one
        score for all samples (a bar, for a decider of means). One task and one of these:
        the task stops when it is known which is better.
    scorer : str, optional
        Whose score counts, where a task has several.
    to_float : callable, optional
        From the value of a score to a number; by default ``inspect_ai.scorer.value_to_float()``,
        for which "C" is 1 and "I" is 0.
    maximize : bool
        Larger scores are better.
    decider : str or Decider
        As in `racer.race`. "mean" compares mean scores from 0 to 1, with an error that holds over
        all looks; for others give `racer.deciders.MeanRace` their bounds.
    finish : bool
        Run all samples of the tasks that survive, instead of stopping when the race is over.

    Raises
    ------
    CandidateError
        A name twice.
    SettingError
        An argument of another type, fewer than two candidates, a bar with a decider that does not compare means, or recorded
        scores that are no numbers, outside the bounds or not of `scorer`. During the evaluation:
        other samples than in the first task, a recorded score that is missing, scores but none of
        `scorer`, several scorers or several values and no choice, a manager with two tasks.

    Notes
    -----
    Shuffle a sorted dataset first (``dataset.shuffle(seed)``). With several epochs the samples
    come again, and the result is about these samples. A sample without a score (it failed, and the
    evaluation went on, or its scorer gave none) counts as failed, at the latest once its task is
    over. ``inspect_ai.eval_set`` may retry a task that was interrupted.

    Examples
    --------
    >>> race = TaskRace(["terse", "polite"])
    >>> race.manager("terse").name
    'terse'

    ``Task(dataset, solver=.., scorer=match(), early_stopping=race.manager("terse"))`` and one for
    "polite" go to ``inspect_ai.eval([..], max_tasks=2)``; then `result` has the race.
    """

    def __init__(
        self,
        names: Sequence[str],
        *,
        recorded: Mapping[str, Recorded] | None = None,
        scorer: str | None = None,
        to_float: Callable[[Any], float] | None = None,
        maximize: bool = True,
        decider: str | Decider = "mean",
        finish: bool = False,
    ) -> None:
        flag(finish, "finish")
        tasks, known = _checked_names(names), _checked_recorded(recorded)
        self._scores = _Scores(scorer, to_float)
        rules = {"maximize": maximize, "decider": decider, "seed": 0}
        self._progress = _Progress((*tasks, *known), known, rules, self._scores)
        self._managers = {
            name: TaskManager(name, self._progress, self._scores, finish=finish) for name in tasks
        }

    def manager(self, name: str) -> TaskManager:
        """Return this task's argument ``early_stopping``."""
        if name not in self._managers:
            raise SettingError(f"manager({name!r}): choose from {', '.join(self._managers)}")
        return self._managers[name]

    def result(self) -> RaceResult:
        """Return the result, or the state of a race that goes on; candidates are names."""
        if self._progress.race is None:
            raise RaceStateError("no task has started: evaluate the tasks with inspect_ai first")
        return self._progress.race.result()


def _checked_names(names: Any) -> tuple[str, ...]:
    """Return the names of tasks; SettingError for one text, or anything but texts."""
    found = tuple(names) if isinstance(names, Iterable) and not isinstance(names, str) else None
    if found is None or not all(isinstance(name, str) for name in found):
        raise SettingError(f"names={reprlib.repr(names)}: give a list of texts, one for each task")
    return found


def _checked_recorded(recorded: Any) -> Mapping[str, Recorded]:
    """Return the recorded candidates by name; SettingError for anything but a dict of names."""
    if recorded is None:
        return {}
    if not isinstance(recorded, Mapping) or not all(isinstance(name, str) for name in recorded):
        raise SettingError(
            f"recorded={reprlib.repr(recorded)}: give a dict from names to logs, scores or a number"
        )
    return recorded


class TaskManager:
    """The stopping rule of one task of a `TaskRace`: inspect_ai's protocol ``EarlyStopping``."""

    def __init__(self, name: str, progress: _Progress, scores: _Scores, *, finish: bool) -> None:
        self.name = name
        self._progress, self._scores, self._finish = progress, scores, finish
        self._scorers: list[str] = []  # of the task
        self._task_id = ""  # the same when inspect_ai retries a task

    async def start_task(self, task: EvalSpec, samples: list[Sample], epochs: int) -> str:
        """Begin the race, join it, or go on in it with a task that is retried."""
        if self._task_id not in {"", task.task_id}:
            raise SettingError(
                f"manager({self.name!r}) has a second task, {task.task} of {task.model}: give each "
                "task and model a manager of its own"
            )
        self._task_id = task.task_id
        self._scorers = _scorer_names(task)
        self._progress.start([sample.id for sample in samples], epochs)
        return f"racer: {self.name}"

    async def schedule_sample(self, id: str | int, epoch: int) -> EarlyStop | None:  # noqa: A002
        """Return that a sample need not be run, or None."""
        state = self._progress.state(self.name)
        if state == "in" or (state == "survivor" and self._finish):
            return None
        from inspect_ai.util import EarlyStop  # noqa: PLC0415  (an extra)

        reason = "the race is over" if state == "survivor" else state
        return EarlyStop(id=id, epoch=epoch, reason=reason)

    async def complete_sample(
        self,
        id: str | int,  # noqa: A002
        epoch: int,
        scores: dict[str, SampleScore],
    ) -> None:
        """Record the score of a sample."""
        number = self._scores.number(scores, self._scorers, f"task {self.name!r}")
        self._progress.add(self.name, id, epoch, number)
        self._progress.advance()

    async def complete_task(self) -> dict[str, Any]:
        """Count samples without a score as failed; return the state of the race for the log."""
        self._progress.fail_rest(self.name)
        self._progress.advance()
        return {"candidate": self.name, "state": self._progress.state(self.name)}


def _scorer_names(task: EvalSpec) -> list[str]:
    """Return the names by which scores have the scorers of a task."""
    found: list[str] = []
    for scorer in task.scorers or ():
        base = scorer.name.partition("/")[2] or scorer.name  # without its package
        numbered = (f"{base}{number or ''}" for number in itertools.count())
        found.append(next(name for name in numbered if name not in found))
    return found


class _Scores:
    """Which number a score is."""

    def __init__(self, scorer: str | None, to_float: Callable[[Any], float] | None) -> None:
        given: Any = to_float
        if not isinstance(scorer, str | None):
            raise SettingError(f"scorer={scorer!r}: give the name of a scorer")
        if given is not None and not callable(given):
            raise SettingError(f"to_float={to_float!r}: give a function from a value to a number")
        self._scorer, self._to_float = scorer, to_float

    def number(self, scores: Mapping[str, Any], scorers: Sequence[str], where: str) -> float:
        """Return the score that counts, NaN if there is none though it has `scorers`."""
        if self._scorer is None and len(scores) > 1:
            raise SettingError(f"several scorers, {', '.join(scores)}: choose one, scorer=..")
        name = self._scorer or next(iter(scores), "")
        found = scores.get(name)
        if found is None:
            if scores and name not in scorers:  # else the scorer gave none, or failed
                raise SettingError(
                    f"scorer={name!r}: {where} has scores of {', '.join(scores)}; choose one of "
                    "those, which all candidates need"
                )
            return math.nan
        value = getattr(found, "score", found).value
        if self._to_float is not None:
            return float(self._to_float(value))
        if isinstance(value, dict | list):
            raise SettingError(f"a score has the value {value!r}: give to_float=.., to a number")
        from inspect_ai.scorer import value_to_float  # noqa: PLC0415  (an extra)

        return float(value_to_float()(value))


class _Progress:
    """The race of all tasks, and the scores that it has not asked for yet."""

    def __init__(
        self,
        names: tuple[str, ...],
        recorded: Mapping[str, Recorded],
        rules: dict[str, Any],
        scores: _Scores,
    ) -> None:
        self._names, self._rules, self._scores = names, rules, scores
        self._places: dict[Any, int] = {}  # of samples in the dataset
        self._epochs = 0
        self._known: dict[tuple[int, int], Outcome] = {}  # by instance and candidate
        self.race: Race | None = None
        if len(names) < 2:
            raise SettingError("one candidate is no race: give more names, or recorded=..")
        checked = Race.of(names, **rules, budget=10**9).rules
        self._recorded = {name: self._checked(name, recorded[name], checked) for name in recorded}

    def start(self, ids: list[Any], epochs: int) -> None:
        """Begin with the samples of the first task; check those of others."""
        if self.race is not None:
            if set(ids) != set(self._places) or epochs != self._epochs:
                raise SettingError("the tasks of a race need the same samples and epochs")
            return
        self._places, self._epochs = {sample: at for at, sample in enumerate(ids)}, epochs
        for name in self._recorded:
            for epoch in range(1, epochs + 1):
                for sample, number in self._recorded_scores(name, epoch).items():
                    self.add(name, sample, epoch, number)
        instances = [(sample, epoch) for epoch in range(1, epochs + 1) for sample in ids]
        self.race = Race.of(
            self._names,
            instances,
            deterministic=True,
            instance_order="given",
            budget=len(self._names) * len(instances),
            **self._rules,
        )

    def _checked(self, name: str, given: Any, rules: Rules) -> float | dict[Any, dict[Any, float]]:
        """Return a bar, or recorded scores by epoch (None: all) and sample, once they are right."""
        where = f"recorded {name!r}"
        scores: dict[Any, dict[Any, Any]] = {}
        if hasattr(given, "samples"):
            if not given.samples:
                raise SettingError(
                    f"{where} is a log without samples: read it with read_eval_log(..), not only "
                    "its header"
                )
            names = list({scorer for sample in given.samples for scorer in sample.scores or ()})
            for s in given.samples:
                number = self._scores.number(s.scores or {}, names, where)
                scores.setdefault(s.epoch, {})[s.id] = number
        elif isinstance(given, Mapping):
            scores[None] = dict(given)  # of all epochs
        elif not is_real(given) or not math.isfinite(given):
            raise SettingError(
                f"{where} is {reprlib.repr(given)}: give a log, scores by sample id, or a number"
            )
        elif not rules.decider.by_means:
            raise SettingError(f"{where} is one number for all samples: give a decider of means")
        low, high = rules.bounds or (-math.inf, math.inf)
        entries: list[tuple[Any, Any]] = [item for of in scores.values() for item in of.items()]
        for sample, value in entries or [("all", given)]:
            if not isinstance(value, Real):
                raise SettingError(
                    f"{where} has {reprlib.repr(value)} for sample {sample!r}: give a number, NaN "
                    "if it failed"
                )
            if not math.isnan(value) and not low <= float(value) <= high:
                raise SettingError(
                    f"{where} has {value:g} for sample {sample!r}, outside the bounds of scores "
                    f"({low:g}, {high:g}): give MeanRace(bounds=..) as decider, or to_float=.."
                )
        return scores or float(given)

    def _recorded_scores(self, name: str, epoch: int) -> dict[Any, float]:
        """Return the recorded scores of all samples in an epoch."""
        given = self._recorded[name]
        if isinstance(given, float):
            return dict.fromkeys(self._places, given)
        scores = given.get(None, given.get(epoch, {}))
        for sample in self._places:
            if sample not in scores:
                raise SettingError(
                    f"recorded {name!r} has no sample {sample!r} in epoch {epoch}: give a log of "
                    "the same samples and epochs"
                )
        return {sample: float(scores[sample]) for sample in self._places}

    def add(self, name: str, sample: Any, epoch: int, number: float) -> None:
        """Record a score; NaN is a failure."""
        outcome = Outcome("ok", number) if math.isfinite(number) else _FAILED
        instance = (epoch - 1) * len(self._places) + self._places[sample]
        self._known[instance, self._names.index(name)] = outcome

    def fail_rest(self, name: str) -> None:
        """Record all samples of a task without a score as failed."""
        candidate = self._names.index(name)
        for instance in range(len(self._places) * self._epochs):
            self._known.setdefault((instance, candidate), _FAILED)

    def advance(self) -> None:
        """Pass the known requested outcomes to the race."""
        race, known = self.race, self._known
        while race is not None:
            keys = [(cell, (cell.instance_index or 0, cell.candidate)) for cell in race.ask()]
            told = [(cell, known[key]) for cell, key in keys if key in known]
            if not told:
                return
            for cell, outcome in told:
                race.tell(cell, outcome)

    def state(self, name: str) -> str:
        """Return "in", or "survivor" when the race is over, or that the candidate was eliminated."""
        race = self.race
        if race is None or self._names.index(name) in race.alive:
            return "in" if race is None or race.ended is None else "survivor"
        return f"eliminated by the time of {race.n_blocks} samples"
