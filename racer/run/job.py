"""A contest of one call: made or continued, then evaluated, recorded and shown until it ends."""

from __future__ import annotations

import math
import sys
from collections.abc import Sized
from contextlib import nullcontext
from dataclasses import KW_ONLY, asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from racer._checks import flag
from racer.core.budget import Budget
from racer.core.contest import RUNS, ContestResult
from racer.core.events import check_callbacks
from racer.errors import ObjectiveError, RaceInterrupted, SettingError
from racer.evaluate.batches import Batched
from racer.evaluate.command.command import Command
from racer.evaluate.limits.limits import Limits
from racer.evaluate.objective import WithFidelity, check_objective, is_coroutine_function
from racer.evaluate.pace import Throttled
from racer.evaluate.workers import Workers, number_of, workers_for
from racer.run.deadline import Deadline, budget_within
from racer.run.drive import Feed, drive, nothing
from racer.run.rehearsal import FirstValues
from racer.run.signals import at_terminal, exit_with_code, notify
from racer.store.contest import VERSION, contest_for, described_objective, may_grow_to
from racer.store.reader import sense_made_of
from racer.store.replay import Recording
from racer.store.writer import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from os import PathLike

    from racer.core.contest import Contest, Kind, Words
    from racer.core.events import Callback
    from racer.evaluate.engines import Cluster
    from racer.evaluate.objective import Objective
    from racer.evaluate.workers import Pool
    from racer.run.drive import Lookup
    from racer.run.progress import Progress

R = TypeVar("R", bound=ContestResult)


@dataclass(frozen=True)
class Job:
    """How a contest is evaluated, recorded and shown: the arguments that all calls share.

    `employ` makes the pool instead of `workers`;
    `rehearses`: the values of the first blocks are looked at.
    """

    evaluate: Any
    limits: Limits
    _: KW_ONLY
    workers: Workers
    store: str | PathLike[str] | None = None
    progress: bool | None = None
    callbacks: Sequence[Callback] = ()
    employ: Callable[[Contest[Any]], Pool] | None = None
    known: Lookup = nothing
    rehearses: bool = True
    words: Words = RUNS

    @classmethod
    def of(
        cls, evaluate: Any, limits: Limits | None, n_jobs: int | Cluster | Workers, **how: Any
    ) -> Job:
        """Return the job of the arguments of a call."""
        return cls(evaluate, Limits.of(limits), workers=Workers.of(n_jobs), **how)

    def run(self, kind: Kind, given: Mapping[str, Any]) -> Any:
        """Run the contest of these arguments, or continue the contest in the store.

        A new contest without a budget gets all that the workers can do until the deadline, or what
        it takes to use each instance once; a recorded budget may grow with a longer deadline.
        """
        with opened(self.store) as file:
            held = file.reader if file is not None and file.holds_a_race else None
            budget, wall, prices = Budget.parted(given["budget"])
            if budget is None and (
                held is None or (wall is not None and self.workers.executor is None)
            ):
                found = budget_within(wall, self.workers, _all_cells(kind, given))
                if held is None or may_grow_to(held, found):
                    budget = found
            given = {**given, "budget": budget} | ({} if prices is None else {"prices": prices})
            return self.start(contest_for(file, kind, given), file, wall)

    def start(self, contest: Contest[R], store: Store | None, wall: float | None = None) -> R:
        """Run a contest, recorded in an open store, or continue the store's contest.

        `wall`: seconds of wall time after which nothing begins.
        """
        self._check(contest)
        until, watchers = Deadline(wall), list(check_callbacks(self.callbacks))
        display: Progress | None = None
        if is_seen() if self.progress is None else flag(self.progress, "progress"):
            from racer.run.progress import Progress  # noqa: PLC0415  (Rich, only where needed)

            display = Progress()
            display.state.of = replace(display.state.of, words=self.words)
            display.hold()
            watchers.append(display)
        provenance = {"racer": VERSION, **described_objective(self.evaluate), **asdict(self.limits)}
        recording = None
        if store is None:
            for watcher in watchers:
                contest.watch(watcher)
        else:
            recording = Recording(store, contest, self.evaluate, self._recorded(), watchers)
            if (concluded := recording.concluded()) is not None:
                if display is not None:
                    display.release()
                took = {"wall": 0.0, "busy": concluded.unused.seconds}
                provenance |= {"workers": number_of(self._pool(contest)), **took}
                found: R = replace(concluded, provenance=provenance)
                return found
        with sense_made_of(store.path) if store and store.holds_a_race else nullcontext():
            contest.ask()  # a tuner samples its first candidates now
        workers, ahead = self._pool(contest), self.workers.ahead
        if ahead == "auto" and is_coroutine_function(self.evaluate):
            # a coroutine that hangs takes as long as many others
            ahead = 4 * workers.capacity
        prefetched = None if recording is None else recording.begin()
        try:
            with display or nullcontext():
                return drive(
                    Feed(contest, workers, ahead, prefetched, self.known),
                    store,
                    display=display,
                    watchers=watchers,
                    provenance=provenance,
                    values=FirstValues.of(contest, self.evaluate) if self.rehearses else None,
                    deadline=until,
                )
        except RaceInterrupted as stop:
            if stop.kept:
                notify(f"racer: {stop}")  # now: the caller may not catch it
                exit_with_code()
            raise

    def _recorded(self) -> Mapping[str, Any]:
        """Return how a contest is evaluated, for the store: the jobs of a program, too."""
        jobs = self.workers.n
        has_jobs = isinstance(self.evaluate, Command) and jobs != 1
        return asdict(self.limits) | ({"jobs": jobs} if has_jobs else {})

    def _check(self, contest: Contest[Any]) -> None:
        """Raise an error for settings that cannot work here, before anything is recorded."""
        runtime, timeout = contest.rules.runtime, self.limits.timeout
        fidelity = contest.description().settings.get("fidelity")
        if fidelity is not None and isinstance(self.evaluate, Command | Batched | Throttled):
            raise ObjectiveError(
                f"evaluate is a racer.{type(self.evaluate).__name__}, which takes no fidelity: call it "
                f"within a function evaluate(config, instance, seed, {fidelity.name})"
            )
        check_objective(self.evaluate, timed=runtime is not None, fidelity=fidelity)
        if isinstance(self.evaluate, Command) and not self.evaluate.reads_objects:
            _check_output(contest)
        if runtime is not None and timeout is not None and timeout < runtime.limit:
            raise SettingError(
                f"timeout={timeout:g} ends evaluations before the limit of run times, "
                f"{runtime.limit:g} s, is reached: leave it out, or give a larger one"
            )

    def _pool(self, contest: Contest[Any]) -> Pool:
        if self.employ is not None:
            return self.employ(contest)
        evaluate = self.evaluate
        if isinstance(evaluate, Batched) and self.store is not None:
            evaluate = evaluate.beside(self.store)
        return pool(contest, evaluate, self.limits, n_jobs=self.workers)


def _all_cells(kind: Kind, given: Mapping[str, Any]) -> int | None:
    """Return how many cells a race has that uses each instance once; None without an end."""
    is_once, decider = given.get("deterministic"), given.get("decider")
    if is_once is None:
        is_once = decider is not None and decider.bounds is not None
    if kind != "race" or not is_once:
        return None
    some = given["candidates"], given["instances"]
    return math.prod(map(len, some)) or None if all(isinstance(s, Sized) for s in some) else None


def is_seen() -> bool:
    """Return whether somebody looks: at a terminal (standard error may be closed), or a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell" or at_terminal()


def _check_output(contest: Contest[Any]) -> None:
    """Refuse settings that a program which prints one number, or nothing, cannot serve."""
    rules = contest.rules
    names = [] if rules.metrics is None else [*rules.metrics]
    if names or rules.needs_spend:
        what = "a budget of money (spend) was given" if rules.needs_spend else "metrics were given"
        names = [*(names or ["cost"]), *(["spend"] if rules.needs_spend else [])]
        shown = ", ".join(f'"{name}": ..' for name in names)
        raise SettingError(
            f'{what}, but the program is read for its cost alone: give reads = "json", and '
            f"let it print {{{shown}}} as its last line"
            + ("; or give Budget(.., prices=..), or another limit" if rules.needs_spend else "")
        )


def opened(store: str | PathLike[str] | None) -> AbstractContextManager[Store | None]:
    """Return the store to enter, or an empty context without one."""
    return nullcontext() if store is None else Store(store)


def pool(
    contest: Contest[Any],
    evaluate: Objective,
    limits: Limits,
    *,
    n_jobs: int | Workers,
) -> Pool:
    """Return the workers for a contest; ObjectiveError if `evaluate` cannot be called."""
    description = contest.description()
    fidelity = description.settings.get("fidelity")
    return workers_for(
        evaluate if fidelity is None else WithFidelity(evaluate, fidelity.values[-1]),
        contest.configs,
        (*(description.instances or ()), *description.test_instances),
        n_jobs=n_jobs,
        parameters=description.parameters,
        timed=contest.rules.runtime is not None,
        limits=limits,
    )
