"""Starting a race or a tuning, or going on with a recorded one: check, record, drive."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, TypeVar

from racer._checks import flag, whole
from racer.core.contest import ContestResult
from racer.core.events import check_callbacks
from racer.errors import RaceInterrupted
from racer.evaluate.limits.limits import Limits, limits_for
from racer.evaluate.objective import check_objective
from racer.evaluate.workers import workers_for
from racer.run.drive import drive
from racer.run.feed import check_ahead
from racer.run.signals import exit_with_code, notify
from racer.store.reader import sense_made_of
from racer.store.replay import Recording
from racer.store.setup import VERSION, described_objective
from racer.store.writer import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Executor
    from contextlib import AbstractContextManager
    from os import PathLike

    from racer.core.contest import Contest
    from racer.core.events import Callback
    from racer.evaluate.objective import Objective
    from racer.evaluate.workers import Workers
    from racer.run.feed import Ahead

    MakeWorkers = Callable[[Contest[Any]], Workers]

R = TypeVar("R", bound=ContestResult)


def opened(store: str | PathLike[str] | None) -> AbstractContextManager[Store | None]:
    """Return the store to enter; nothing, if there is none."""
    return nullcontext() if store is None else Store(store)


def how_to_evaluate(retries: int, timeout: float | None, memory: int | None) -> dict[str, Any]:
    """Return how cells are evaluated, checked."""
    limits = limits_for(timeout, memory) or Limits()
    return {"retries": whole(retries, "retries", least=0), **limits._asdict()}


def pool(
    evaluate: Objective,
    how: Mapping[str, Any],
    *,
    n_jobs: int,
    executor: Executor | None,
    timed: bool,
) -> MakeWorkers:
    """Return what makes workers for a contest; ObjectiveError if `evaluate` cannot be called.

    `how` has retries, timeout and memory; `timed`: the cost is run time.
    """
    check_objective(evaluate, timed=timed)

    def workers(contest: Contest[Any]) -> Workers:
        description = contest.description()
        return workers_for(
            evaluate,
            contest.configs,
            (*(description.instances or ()), *description.test_instances),
            n_jobs=n_jobs,
            executor=executor,
            parameters=description.parameters,
            timed=timed,
            **how,
        )

    return workers


def start(
    contest: Contest[R],
    evaluate: Any,
    how: Mapping[str, Any],
    store: Store | None,
    workers: MakeWorkers,
    *,
    ahead: Ahead,
    progress: bool,
    callbacks: Sequence[Callback],
) -> R:
    """Run a contest, or continue the one in the store; `evaluate` and `how` name what workers do."""
    check_ahead(ahead)
    watchers = list(check_callbacks(callbacks))
    display: Any = None
    if flag(progress, "progress"):
        from racer.run.progress import Progress  # noqa: PLC0415  (Rich, only where needed)

        display = Progress()
        watchers.append(display)
    recording = None
    if store is None:
        for watcher in watchers:
            contest.watch(watcher)
    else:
        recording = Recording(store, contest, evaluate, how, watchers)
    with sense_made_of(store.path) if store and store.holds_a_race else nullcontext():
        contest.ask()  # a tuner samples its first candidates now
    made = workers(contest)
    prefetched = None if recording is None else recording.begin()
    provenance = {"racer": VERSION, **described_objective(evaluate), **how}
    try:
        with display or nullcontext():
            return drive(
                contest,
                made,
                store,
                display=display,
                ahead=ahead,
                prefetched=prefetched,
                provenance=provenance,
            )
    except RaceInterrupted as stop:
        if stop.kept:
            notify(f"racer: {stop}")  # now: the caller may not catch it
            exit_with_code()
        raise
