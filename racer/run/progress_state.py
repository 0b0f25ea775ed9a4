"""What progress shows of a contest: candidates left, the best, evaluations, time."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from racer._checks import counted, shortened
from racer.core.events import BlockCompleted, CandidatesAdded, RaceCompleted, RaceEnded
from racer.results.base import Result
from racer.results.front import FrontOfMeans
from racer.results.tuning import TuneResult
from racer.run.deadline import Deadline

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from racer.core.budget import Budget
    from racer.core.contest import Contest, Kind
    from racer.evaluate.outcome import Cell, Outcome

_NAMED = 2  # candidates of a front
_WIDE = 76  # columns of the table


@dataclass(frozen=True)
class Subject:
    """The contest that is shown, and its workers; `before` counts evaluations known at the start."""

    title: str = ""
    kind: Kind = "race"
    budget: Budget | None = None
    before: int = 0
    workers: int | None = 1
    running: Callable[[], int] = int
    mean_label: str = "mean"
    n_held_out: int = 0  # instances
    deadline: Deadline = field(default_factory=Deadline)


@dataclass
class Work:
    """Evaluations, and the requested and finished cells of the current block."""

    evaluations: int = 0
    failures: int = 0
    seconds: float = 0.0
    asked: int = 0
    told: int = 0
    spent: float | None = None
    held_out: int = 0  # the number of the held-out instance that is evaluated, from 1


class ProgressState:
    """Candidates left, the best, evaluations, time, workers; the clock starts at `now`."""

    def __init__(self, now: float) -> None:
        self.of: Subject = Subject()
        self.work: Work = Work()
        self.candidates = self.blocks = self.race = 0
        self.left = 0
        self.best: int | None = None
        self.mean: float | None = None
        self.ended: str = ""
        self._begun = now
        self._completed = self._earlier = 0  # races of a tuning before this one, and their blocks
        self._contest: Contest[Any] | None = None  # of run times: the best is chosen at the end
        self._means: FrontOfMeans | None = None
        self.front: tuple[int, ...] = ()  # of the means, in a race to the front

    def begin(
        self,
        contest: Contest[Any],
        workers: int | None,
        running: Callable[[], int],
        deadline: Deadline | None = None,
    ) -> None:
        """Start tracking a contest."""
        result, rules = contest.result(), contest.rules
        self.candidates, self.left = len(contest.configs), len(contest.alive)
        self.blocks = contest.n_blocks
        if isinstance(result, TuneResult):
            from racer.tuner.tuner import Tuner  # noqa: PLC0415  (it is loaded)

            self.blocks = contest.race_blocks if isinstance(contest, Tuner) else 0
            self.race = self._completed = len(result.completed_races)
            self._earlier = sum(race.blocks for race in result.completed_races)
        self.best = result.best_index
        failed = len(result.known.failures)
        self.work = Work(result.evaluations, failed, result.seconds, spent=result.spent)
        if rules.is_front and rules.aim is not None:
            means = self._means = FrontOfMeans(rules.aim)
            for block, candidate, outcome in result.known.cells():
                if block not in result.known.incomplete:  # its event brings all of them
                    means.add(candidate, outcome.metrics or {})
            self.front = means.members(contest.alive)
        if rules.runtime is not None and isinstance(result, Result):
            self._contest = contest
        what = f"race of {self.candidates} candidates" if contest.kind == "race" else contest.kind
        known = f", {result.evaluations} evaluations known" if result.evaluations else ""
        hands = "" if workers is None else f", {counted(workers, 'worker')}"
        self.of = Subject(
            f"{what}: decider {type(rules.decider).__name__}, budget of {rules.budgets[-1]}, seed "
            f"{rules.seed}{hands}{known}",
            contest.kind,
            rules.budgets[-1],
            result.evaluations,
            workers,
            running,
            "mean" if rules.runtime is None else rules.runtime.score_name,
            len(contest.description().test_instances),
            deadline or Deadline(),
        )

    def watch(self, subject: Subject, evaluations: int) -> None:
        """Start tracking the races of a study."""
        self.of = replace(subject, before=evaluations)
        self.work.evaluations = evaluations

    def end(self, result: Result) -> None:
        """Take the figures of a contest that has ended from its result."""
        self._take_best(result)
        self.blocks = len(result.known) - len(result.known.incomplete)
        self.left = len(result.survivors)
        failed = len(result.known.failures)
        self.work = Work(result.evaluations, failed, result.seconds, spent=result.spent)

    def _take_best(self, result: Result) -> None:
        self.best = result.best_index
        self.mean = None if self.best is None else result.mean(self.best)

    def asked(self, cells: Sequence[Cell]) -> None:
        """Begin a block, or a held-out instance, that needs these cells."""
        self.work.asked, self.work.told = len(cells), 0
        self.work.held_out = cells[0].block + 1 if cells[0].held_out else 0

    def told(self, outcome: Outcome) -> None:
        """Count an outcome; those on held-out instances are beyond the budget."""
        self.work.told += 1
        if self.work.held_out:
            return
        self.work.evaluations += 1
        self.work.seconds += outcome.seconds
        if outcome.spend is not None:
            self.work.spent = (self.work.spent or 0.0) + outcome.spend
        self.work.failures += outcome.value is None

    def update(self, event: Any) -> None:
        """Update the figures after an event."""
        if isinstance(event, BlockCompleted):
            self.race = self._completed
            self.blocks = max(self.blocks, event.block + 1 - self._earlier)
            self.left, self.best, self.mean = len(event.alive), event.best, event.best_mean
            self.candidates = max(self.candidates, len(event.alive) + len(event.eliminated))
            self.work.evaluations, self.work.seconds = event.evaluations, event.seconds
            self.work.spent = event.spent
            if self._means is not None and event.metrics is not None:
                for place, candidate in enumerate(event.candidates):
                    self._means.add(candidate, {n: of[place] for n, of in event.metrics.items()})
                self.front = self._means.members(event.alive)
        elif isinstance(event, CandidatesAdded):
            self.candidates = event.first + len(event.configs)
            if event.race == self._completed:  # not of a race that begins later
                self.race, self.left = event.race, len(event.configs)
        elif isinstance(event, RaceCompleted):
            self.race, self.best, self.left = event.race, event.best, event.alive
            self._completed, self._earlier = event.race + 1, self._earlier + event.blocks
            if self._means is not None:
                self._means.clear()
            self.blocks = 0
        elif isinstance(event, RaceEnded):
            self.ended = event.ended.message
            if self._contest is not None:
                self._take_best(self._contest.result())

    def to_go(self, now: float) -> float | None:
        """Return how many seconds are left at this rate, if the whole budget is used."""
        budget, work = self.of.budget, self.work
        done, until = work.evaluations - self.of.before, self.of.deadline.left()
        if self.ended:
            return None
        if budget is None or done <= 0 or work.held_out:
            return until if until < math.inf else None
        left = budget.left(
            evaluations=work.evaluations, seconds=work.seconds, spent=work.spent or 0.0
        )
        pace = (now - self._begun) / done
        # the first evaluations of a resumed run do not show its pace
        if done < min(self.of.before, 20) and self.of.workers:
            pace = work.seconds / work.evaluations / self.of.workers
        found = until if left is None else min(pace * left, until)
        return found if found < math.inf else None

    def text(self, now: float, width: int = _WIDE) -> str:
        """Return all of it as a table of four lines, of eight in a narrow terminal."""
        (label, best), mean = self._best(), self._mean()
        to_go, work = self.to_go(now), self.work
        within = f"{work.told} of {work.asked} cells of it" if work.asked else "-"
        left = "-" if to_go is None else f"at most {readable(to_go)}"
        rows = [
            ("candidates left", f"{self.left} of {self.candidates}", "evaluations", self._spent()),
            (label, best, "time used", readable(now - self._begun)),
            (f"{self.of.mean_label} on common blocks", mean, "time left", left),
            (
                self._held_out() or self._where(),
                within,
                "workers busy",
                f"{self._busy()}; {work.failures} failed",
            ),
        ]
        if width < _WIDE:
            pairs = [pair for a, b, c, d in rows for pair in ((a, b), (c, d))]
            return "\n".join(f"{name:<21} {value}" for name, value in pairs)
        return "\n".join(f" {a:<23}{b:<19} {c:<13}{d}" for a, b, c, d in rows)

    def _busy(self) -> str:
        workers = self.of.workers
        busy = self.of.running()
        if workers is None:
            return f"{busy} cells"
        return f"{1 if workers == 1 and not self.ended else min(busy, workers)} of {workers}"

    def line(self, now: float) -> str:
        """Return the most of it in a line."""
        label, best = self._best()
        leader = "" if best == "-" else f", {label} {best}"
        if self.mean is not None and not self.front:
            leader += f", {self.of.mean_label} {self._mean()}"
        to_go, work = self.to_go(now), self.work
        within = f"{counted(self.blocks, 'block')} done"
        if self.of.kind == "ablation":
            within = f"{work.told} of {work.asked} cells"
        elif work.told < work.asked:
            within = f"block {self._block()}, {work.told} of {work.asked} cells"
        within = self._held_out() or within
        left = f"; at most {readable(to_go)} left" if to_go else ""
        failed = f", {work.failures} failed" if work.failures else ""
        left_in = f"{counted(self.left, 'candidate')} left"
        return (
            f"{self._race()}{within}: {left_in}{leader}; {self._spent()} evaluations{failed}{left}"
        )

    def _race(self) -> str:
        """Return the number of the race of a tuning."""
        return f"race {self.race}, " if self.of.kind == "tuning" else ""

    def _held_out(self) -> str:
        """Return which held-out instance is evaluated, if one is."""
        at = self.work.held_out
        return f"held-out {at} of {self.of.n_held_out}" if at else ""

    def _where(self) -> str:
        """Return the race and the block; of an ablation, which may evaluate several, neither."""
        return "requested" if self.of.kind == "ablation" else f"{self._race()}block {self._block()}"

    def _block(self) -> int:
        """Return the number of the block that is evaluated, or of the last one."""
        return max(self._earlier + self.blocks - (self.work.told >= self.work.asked), 0)

    def _best(self) -> tuple[str, str]:
        """Return the leader, and its meaning."""
        if not self.front:
            return "best", "-" if self.best is None else f"#{self.best}"
        return "front of means", shortened([f"#{c}" for c in self.front], _NAMED)

    def _mean(self) -> str:
        return "-" if self.mean is None else f"{self.mean:.4g}"

    def _spent(self) -> str:
        budget, work = self.of.budget, self.work
        if budget is None:
            return f"{work.evaluations}"
        if budget.evaluations is not None:
            used = f"{work.evaluations} of {budget.evaluations}"
        elif budget.seconds is not None:
            used = f"{work.evaluations} ({work.seconds:.4g} of {budget.seconds:g} s)"
        else:
            used = f"{work.evaluations}"
        if work.spent is None:
            return used
        limit = "" if budget.spend is None else f" of {budget.spend:g}"
        return f"{used} ({work.spent:.4g}{limit} spent)"


def readable(seconds: float) -> str:
    """Return seconds as h:mm:ss."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"
