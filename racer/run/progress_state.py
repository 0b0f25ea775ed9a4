"""What progress shows of a contest: candidates left, the best, evaluations, time."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from racer._checks import counted, shortened
from racer._numerics import mean_of
from racer.core.budget import Budget
from racer.core.contest import RUNS
from racer.core.events import BlockCompleted, CandidatesAdded, RaceCompleted, RaceEnded
from racer.render.sections import in_line, number
from racer.results.front import FrontOfMeans
from racer.results.summary import why
from racer.results.tuning import TuneResult
from racer.run.deadline import BUSY, Deadline

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from racer.core.contest import Contest, Kind, Words
    from racer.core.events import Elimination
    from racer.evaluate.outcome import Cell, Outcome

_NAMED = 2  # candidates of a front
_WIDE = 76  # columns of the table
_MANY = 5  # candidates that leave at once, a line each


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
    words: Words = RUNS


@dataclass
class Work:
    """Evaluations, their values before the first test, and the cells of the current block."""

    evaluations: int = 0
    failures: int = 0
    seconds: float = 0.0
    asked: int = 0
    told: int = 0
    spent: float | None = None
    held_out: int = 0  # the number of the held-out instance that is evaluated, from 1
    values: dict[int, list[float]] = field(default_factory=dict)  # by candidate


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
        self._contest: Contest[Any] | None = None
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
        self._contest = contest
        what = f"race of {self.candidates} candidates" if contest.kind == "race" else contest.kind
        unit = f"{self.of.words.evaluation}s"
        known = f", {result.evaluations} {unit} known" if result.evaluations else ""
        hands = "" if workers is None else f", {counted(workers, 'worker')}"
        budget, deadline = rules.budgets[-1], deadline or Deadline()
        if budget.is_in_seconds and BUSY * (workers or 1) * deadline.seconds <= (
            budget.seconds or 0
        ):
            budget = Budget(wall=deadline.seconds)  # which comes first
        self.of = Subject(
            f"{what}: at most {str(budget).replace('evaluations', unit)}, "
            f"seed {rules.seed}{hands}{known}",
            contest.kind,
            budget,
            result.evaluations,
            workers,
            running,
            "mean" if rules.runtime is None else rules.runtime.score_name,
            len(contest.description().test_instances),
            deadline,
            self.of.words,
        )

    def watch(self, subject: Subject, evaluations: int) -> None:
        """Start tracking the races of a study."""
        self.of = replace(subject, before=evaluations)
        self.work.evaluations = evaluations

    def asked(self, cells: Sequence[Cell]) -> None:
        """Begin a block, or a held-out instance, that needs these cells."""
        self.work.asked, self.work.told = len(cells), 0
        self.work.held_out = cells[0].block + 1 if cells[0].held_out else 0

    def told(self, outcome: Outcome) -> None:
        """Count an outcome; outcomes on held-out instances are beyond the budget."""
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
            self._lead(event)
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
            self.work.values.clear()
            self.blocks = 0
        elif isinstance(event, RaceEnded):
            self.ended = event.ended.message.replace("instances", f"{self.of.words.instance}s")
            if self._contest is not None and not self._contest.rules.is_front:
                result = self._contest.result()  # it is chosen at the end
                self.best = result.best_index
                self.mean = None if self.best is None else result.known.mean(self.best)

    def _lead(self, event: BlockCompleted) -> None:
        """Take the best mean so far, while the decider names no best: not in a race to the front."""
        if event.best is not None or self._contest is None or self._contest.rules.is_front:
            return
        values = self.work.values
        for candidate, value in zip(event.candidates, event.values, strict=True):
            values.setdefault(candidate, []).append(value)
        sign = -1.0 if self._contest.rules.is_more_better else 1.0
        means = {c: mean_of(values[c]) for c in event.alive if c in values}
        known = [c for c, mean in means.items() if not math.isnan(mean)]
        if known:
            self.best = min(known, key=lambda c: sign * means[c])
            self.mean = means[self.best]

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
        """Return all of it as a table of at most five lines, of nine in a narrow terminal."""
        (label, best), work, to_go = self._best(), self.work, self.to_go(now)
        within = f"{work.told} of {work.asked} {self.of.words.evaluation}s" if work.asked else "-"
        left = "-" if to_go is None else f"at most {readable(to_go)}"
        pairs = [
            ("candidates left", f"{self.left} of {self.candidates}"),
            (f"{self.of.words.evaluation}s", self._spent()),
            (f"{self.of.mean_label} of the best", number(self.mean)),
            ("time used", readable(now - self._begun)),
            (self._held_out() or self._where(), within),
            ("time left", left),
            ("failed", str(work.failures or "-")),
            ("workers busy", self._busy()),
        ]
        shown = [pair for pair in pairs if pair[1] != "-"]
        last = [] if best == "-" else [f" {label:<23}{best}"]
        if width < _WIDE:
            narrow = [f"{name:<21} {value}" for name, value in shown]
            return "\n".join([*narrow, *(line[1:] for line in last)])
        halves = zip(shown[::2], [*shown[1::2], ("", "")], strict=False)
        table = [f" {a:<23}{b:<19} {c:<13}{d}".rstrip() for (a, b), (c, d) in halves]
        return "\n".join([*table, *last])

    def _busy(self) -> str:
        workers = self.of.workers
        busy = self.of.running()
        if workers is None:
            return f"{busy} running"
        return f"{1 if workers == 1 and not self.ended else min(busy, workers)} of {workers}"

    def line(self, now: float) -> str:
        """Return the most of it in a line."""
        (label, best), work, to_go = self._best(), self.work, self.to_go(now)
        within = f"{work.told} of {work.asked} evaluated"
        if self.of.kind != "ablation":
            where = f"{self._where()}{f', {within}' * (work.told < work.asked)}"
            left = f"{self.left} of {self.candidates} candidates left"
            within = f"{left}, {self._held_out() or where}"
        parts = [f"{self._spent(f' {self.of.words.evaluation}s')}: {within}"]
        if best != "-":
            parts.append(f"{label}{self._mean_of(None if self.front else self.mean)} {best}")
        if work.failures:
            parts.append(f"{work.failures} failed")
        if to_go:
            parts.append(f"at most {readable(to_go)} left")
        return "; ".join(parts)

    def left_lines(self, eliminated: Sequence[Elimination]) -> list[str]:
        """Return a line for each candidate that left after a run, one for all if they are many."""
        if len(eliminated) > _MANY:
            reasons = Counter(gone.reason for gone in eliminated)
            counts = ", ".join(f"{count} {reason}" for reason, count in reasons.most_common())
            run = f"{self.of.words.run} {eliminated[0].block + 1}"
            return [f"{run}: dropped {len(eliminated)} candidates: {counts}"]
        return [
            f"{self.of.words.run} {gone.block + 1}: dropped #{gone.candidate}, {why(gone)}"
            for gone in eliminated
        ]

    def race_line(self, event: RaceCompleted) -> str:
        """Return how a race of a tuning has ended."""
        of = "" if event.left is None else f" of {event.evaluations + event.left}"
        text = (
            f"{event.evaluations}{of} {self.of.words.evaluation}s: {event.kind} {event.race + 1} left "
            f"{event.alive} of {event.candidates} candidates"
        )
        if event.blocks:
            text += f" after {counted(event.blocks, self.of.words.run)}"
        if event.kind == "race" and (note := self._note_of_rungs()):
            text += f" ({note})"
        if event.best is None:
            return text
        return f"{text}; best{self._mean_of(event.best_mean)} {self._named(event.best)}"

    def _note_of_rungs(self) -> str:
        """Return how well cheap evaluations tell the order of full ones; "" without any."""
        contest = self._contest
        fidelity = None if contest is None else contest.description().settings.get("fidelity")
        if contest is None or fidelity is None:
            return ""
        rungs = contest.result().fidelities["correlation"]
        told = ", ".join(f"{value:g} {found:.2f}" for value, found in rungs.items())
        return f"rank correlation of {fidelity.name} {told}"

    def _mean_of(self, mean: float | None) -> str:
        """Return a leader's mean with its label, before the leader; "" without any."""
        return "" if mean is None else f" {self.of.mean_label} {number(mean)}:"

    def _held_out(self) -> str:
        """Return which held-out instance is evaluated, if one is."""
        at = self.work.held_out
        return f"held-out {at} of {self.of.n_held_out}" if at else ""

    def _where(self) -> str:
        """Return the race and the run; of an ablation, which may evaluate several, neither."""
        race = f"race {self.race + 1}, " if self.of.kind == "tuning" else ""
        block = self._earlier + self.blocks - (self.work.told >= self.work.asked)
        run = f"{race}{self.of.words.run} {max(block, 0) + 1}"  # evaluated now, or the last one
        return "now" if self.of.kind == "ablation" else run

    def _best(self) -> tuple[str, str]:
        """Return the leader, and its meaning."""
        if not self.front:
            return "best", "-" if self.best is None else self._named(self.best)
        return "front of means", shortened([f"#{c}" for c in self.front], _NAMED)

    def _named(self, candidate: int) -> str:
        """Return a configuration in a line, and its number."""
        configs: Sequence[Any] = () if self._contest is None else self._contest.configs
        return f"{in_line(configs[candidate])} (#{candidate})" if configs else f"#{candidate}"

    def _spent(self, unit: str = "") -> str:
        budget, work = self.of.budget, self.work
        limit = None if budget is None else budget.evaluations
        used = f"{work.evaluations}{'' if limit is None else f' of {limit}'}{unit}"
        if limit is None and budget is not None and (of := budget.seconds or budget.wall):
            gone = work.seconds if budget.seconds else of - self.of.deadline.left()
            used += f" ({gone:.4g} of {of:g} s)"
        if budget is None or work.spent is None:
            return used
        money = "" if budget.spend is None else f" of {budget.spend:g}"
        return f"{used} ({work.spent:.4g}{money} spent)"


def readable(seconds: float) -> str:
    """Return seconds as h:mm:ss."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"
