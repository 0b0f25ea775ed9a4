"""Starting a race or a tuning, or going on with a recorded one: check, record, drive."""

from __future__ import annotations

import time
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from racer._checks import flag, whole
from racer.errors import RaceInterrupted
from racer.evaluate.limits.limits import Limits, limits_for
from racer.evaluate.objective import check_objective
from racer.evaluate.workers import number_of, workers_for
from racer.racing.events import check_callbacks
from racer.run.drive import drive
from racer.run.feed import check_ahead
from racer.run.signals import exit_with_code, tell
from racer.store.reader import sense_made_of
from racer.store.recorder import Recorder
from racer.store.replay import begin_or_replay
from racer.store.setup import VERSION, described_objective, refuse_differences, set_up
from racer.store.writer import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Executor
    from contextlib import AbstractContextManager
    from os import PathLike

    from racer.evaluate.objective import Objective
    from racer.evaluate.workers import Workers
    from racer.racing.contest import Contest
    from racer.racing.events import Callback
    from racer.run.feed import Ahead


def opened(store: str | PathLike[str] | None) -> AbstractContextManager[Store | None]:
    """Return the store to enter; nothing, if there is none."""
    return nullcontext() if store is None else Store(store)


def how_to_evaluate(retries: int, timeout: float | None, memory: int | None) -> dict[str, Any]:
    """Return how cells are evaluated, checked."""
    limits = limits_for(timeout, memory) or Limits()
    return {"retries": whole(retries, "retries", least=0), **limits._asdict()}


class Circumstances:
    """How a result came about, and how long it took on the wall: from now on."""

    def __init__(
        self, how: dict[str, Any], evaluate: Objective, workers: int | None, seconds: float
    ) -> None:
        self._how = {"racer": VERSION, **described_objective(evaluate), **how, "workers": workers}
        self._seconds = seconds  # of evaluation, before now
        self._begun = time.perf_counter()

    def noted_in(self, result: Any) -> Any:
        """Return a result that says it."""
        took = {
            "wall": time.perf_counter() - self._begun,
            "busy": result.seconds + result.unused.seconds - self._seconds,
        }
        return replace(result, how={**self._how, **took})


def start(
    contest: Contest,
    evaluate: Any,
    how: dict[str, Any],
    store: Store | None,
    *,
    n_jobs: int,
    executor: Executor | None,
    ahead: Ahead,
    progress: bool,
    callbacks: Sequence[Callback],
    workers: Workers | None = None,
    around: Callable[[Workers], Workers] | None = None,
) -> Any:
    """Run a contest, or continue the one in the store; `how` has retries, timeout and memory.

    With `workers`, which evaluate in their own way, `evaluate` only names what they do; `around`
    makes other workers of those that evaluate.
    """
    if workers is None:
        check_objective(evaluate, timed=contest.rules.runtime is not None)
    check_ahead(ahead)
    description = contest.description()
    watchers = list(check_callbacks(callbacks))
    display: Any = None
    if flag(progress, "progress"):
        from racer.run.progress import Progress  # noqa: PLC0415  (Rich, only where needed)

        display = Progress()
        watchers.append(display)
    if store is None:
        for watcher in watchers:
            contest.watch(watcher)
    else:
        given = set_up(description, evaluate, how)
        recorder = Recorder(store.conclude, watchers)
        if store.holds_a_race:
            refuse_differences(store.path, store.reader.setup(), given)
            recorder.expect(store.reader, given)
        contest.watch(recorder)
    with sense_made_of(store.path) if store and store.holds_a_race else nullcontext():
        contest.ask()  # a tuner samples its first candidates now
    if workers is None:
        workers = workers_for(
            evaluate,
            contest.configs,
            (*(description.instances or ()), *description.test_instances),
            n_jobs=n_jobs,
            executor=executor,
            parameters=description.parameters,
            timed=contest.rules.runtime is not None,
            **how,
        )
    if around is not None:
        workers = around(workers)
    known = {} if store is None else begin_or_replay(store, contest, recorder, given)
    circumstances = Circumstances(how, evaluate, number_of(workers), contest.result().seconds)
    try:
        with display or nullcontext():
            result = drive(contest, workers, store, display=display, ahead=ahead, known=known)
        return circumstances.noted_in(result)
    except RaceInterrupted as stop:
        stop.result = circumstances.noted_in(stop.result)
        if stop.kept:
            tell(f"racer: {stop}")  # now: the caller may not catch it
            exit_with_code()
        raise
