"""Where a race or a tuning stands, as the figures that progress shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from racer.racing.events import BlockCompleted, CandidatesAdded, RaceEnded
from racer.tuner.events import RaceCompleted

if TYPE_CHECKING:
    from collections.abc import Callable

    from racer.evaluate.outcome import Outcome
    from racer.racing.budget import Budget
    from racer.racing.contest import Contest


class Standing:
    """Candidates left, the best, evaluations, time, workers: what is known since `now`."""

    def __init__(self, now: float) -> None:
        self.title = ""
        self.is_tuning = False
        self.candidates = self.left = self.blocks = 0
        self.race = 0
        self._held = self._earlier = 0  # races of a tuning before this one, and their blocks
        self.best: int | None = None
        self.mean: float | None = None
        self.mean_is = "mean"
        self.evaluations = self.failures = 0
        self.seconds = 0.0
        self.cells = self.cells_told = 0
        self.budget: Budget | None = None
        self.workers: int | None = 1
        self.running: Callable[[], int] = int
        self.ended = ""
        self._begun = now
        self._contest: Contest | None = None  # of run times: the best is chosen at the end
        self._before = 0  # evaluations before `begun`
        self._is_watched = False  # by another process, which does not know when it began

    def begin(self, contest: Contest, workers: int | None, running: Callable[[], int]) -> None:
        """Take in what is raced, and what is known of it."""
        result = contest.result()
        rules = contest.rules
        self.is_tuning = "space" in contest.description().settings
        self.budget = rules.budgets[-1]
        self.candidates, self.left = len(contest.configs), len(contest.alive)
        held = getattr(result, "races_held", ())
        self.race = self._held = len(held)
        self._earlier = sum(race.blocks for race in held)
        self.blocks = 0 if self.is_tuning else contest.n_blocks
        self.best = result.best_index
        self.evaluations = self._before = result.evaluations
        self.failures = len(result.known.failures)
        self.seconds = result.seconds
        self.workers, self.running = workers, running
        if rules.runtime is not None:
            self.mean_is = rules.runtime.score_is
            self._contest = contest if hasattr(result, "mean") else None
        what = "tuning" if self.is_tuning else f"race of {self.candidates} candidates"
        if "ablation" in contest.description().settings:
            what = "ablation"
        known = f", {self.evaluations} evaluations known" if self.evaluations else ""
        hands = "" if workers is None else f", {workers} worker{'s' * (workers != 1)}"
        self.title = (
            f"{what}: decider {type(rules.decider).__name__}, {_budget(self.budget)}, seed "
            f"{rules.seed}{hands}{known}"
        )

    def go_on(self, title: str, budget: Budget, evaluations: int) -> None:
        """Take in what is known of races that are not one contest."""
        self.title, self.budget = title, budget
        self.evaluations = self._before = evaluations

    def watch(self, budget: Budget, evaluations: int) -> None:
        """Take in what is known where another process runs it."""
        self.go_on("", budget, evaluations)
        self._is_watched = True

    def end(self, result: Any) -> None:
        """Take in the result of one that has ended."""
        self.best, self.left = result.best_index, len(result.survivors)
        self.mean = None if self.best is None else result.mean(self.best)
        self.blocks, self.cells = len(result.known), 0

    def asked(self, cells: int) -> None:
        """Take in how many cells must be known next."""
        self.cells, self.cells_told = cells, 0

    def told(self, outcome: Outcome) -> None:
        """Take in an outcome."""
        self.cells_told += 1
        self.evaluations += 1
        self.seconds += outcome.seconds
        if outcome.value is None:
            self.failures += 1

    def take(self, event: Any) -> None:
        """Take in an event."""
        if isinstance(event, BlockCompleted):
            self.race = self._held
            self.blocks = max(self.blocks, event.block + 1 - self._earlier)
            self.left, self.best, self.mean = len(event.alive), event.best, event.best_mean
            self.candidates = max(self.candidates, self.left + len(event.eliminated))
            self.evaluations, self.seconds = event.evaluations, event.seconds
        elif isinstance(event, CandidatesAdded):
            self.is_tuning, self.race = True, event.race
            self.candidates = event.first + len(event.configs)
            self.left = len(event.configs)
        elif isinstance(event, RaceCompleted):
            self.is_tuning, self.race = True, event.race
            self.best, self.left = event.best, event.alive
            self._held, self._earlier = event.race + 1, self._earlier + event.blocks
            self.blocks = 0
        elif isinstance(event, RaceEnded):
            self.ended = event.ended.message
            if self._contest is not None:
                result = self._contest.result()
                self.best = result.best_index
                self.mean = None if self.best is None else result.mean(self.best)

    def to_go(self, now: float) -> float | None:
        """Return how many seconds are left at this rate, if the whole budget is used."""
        done = self.evaluations - self._before
        if self.budget is None or done <= 0 or self.ended:
            return None
        left = self.budget.left(evaluations=self.evaluations, seconds=self.seconds)
        return None if left is None else (now - self._begun) / done * left

    def text(self, now: float) -> str:
        """Return all of it as a table of four lines."""
        best, mean = self._best()
        to_go = self.to_go(now)
        within = f"{self.cells_told} of {self.cells} cells of it" if self.cells else "-"
        race = self._race()
        rows = [
            ("candidates left", f"{self.left} of {self.candidates}", "evaluations", self._spent()),
            (
                "best",
                best,
                "watched for" if self._is_watched else "time used",
                clock(now - self._begun),
            ),
            (f"{self.mean_is} on common blocks", mean, "time left", _at_most(to_go)),
            (
                f"{race}block {self._block()}",
                within,
                "workers" if self._is_watched else "workers busy",
                f"{self._busy()}; {self.failures} failed",
            ),
        ]
        return "\n".join(f" {a:<22}{b:<19} {c:<13}{d}" for a, b, c, d in rows)

    def _busy(self) -> str:
        if self._is_watched:
            return str(self.workers or 0)
        busy = self.running()
        if self.workers is None:
            return f"{busy} cells"
        at_it = 1 if self.workers == 1 and not self.ended else min(busy, self.workers)
        return f"{at_it} of {self.workers}"

    def line(self, now: float) -> str:
        """Return the most of it in a line."""
        best, mean = self._best()
        to_go = self.to_go(now)
        within = (
            f"block {self._block()}, {self.cells_told} of {self.cells} cells"
            if self.cells_told < self.cells
            else f"{self.blocks} blocks done"
        )
        race = self._race()
        left = f"; at most {clock(to_go)} left" if to_go else ""
        failed = f", {self.failures} failed" if self.failures else ""
        return (
            f"{race}{within}: {self.left} candidates left, best {best}, "
            f"{self.mean_is} {mean}; {self._spent()} evaluations{failed}{left}"
        )

    def _race(self) -> str:
        """Return the number of the race of a tuning; a store does not tell it."""
        return f"race {self.race}, " if self.is_tuning and not self._is_watched else ""

    def _block(self) -> int:
        """Return the number, from 1, of the block that is evaluated, or of the last one."""
        return self.blocks + (self.cells_told < self.cells)

    def _best(self) -> tuple[str, str]:
        return (
            "-" if self.best is None else f"#{self.best}",
            "-" if self.mean is None else f"{self.mean:.4g}",
        )

    def _spent(self) -> str:
        of = None if self.budget is None else self.budget.evaluations
        if of is None:
            seconds = None if self.budget is None else self.budget.seconds
            return f"{self.evaluations}" + (
                "" if seconds is None else f" ({self.seconds:.4g} of {seconds:g} s)"
            )
        return f"{self.evaluations} of {of}"


def _budget(budget: Budget) -> str:
    parts = [
        *([f"{budget.evaluations} evaluations"] if budget.evaluations is not None else []),
        *([f"{budget.seconds:g} s"] if budget.seconds is not None else []),
    ]
    return f"budget of {' and '.join(parts)}"


def _at_most(seconds: float | None) -> str:
    return "-" if seconds is None else f"at most {clock(seconds)}"


def clock(seconds: float) -> str:
    """Return seconds as h:mm:ss."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"
