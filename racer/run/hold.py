"""Holding a race or a run of races: made, recorded or replayed, driven."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from racer._checks import flag
from racer.errors import RaceInterrupted
from racer.evaluate.objective import check_objective
from racer.evaluate.workers import workers_for
from racer.racing.events import check_callbacks
from racer.run.drive import drive
from racer.run.signals import exit_with_code, tell
from racer.store.recorder import Recorder
from racer.store.replay import begin_or_replay
from racer.store.setup import set_up

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from racer.evaluate.objective import Objective
    from racer.racing.race import Race
    from racer.run.progress import Display
    from racer.store.writer import Store
    from racer.tuner.tuner import Tuner

__all__ = ["hold"]


def hold(
    make: Callable[[dict[str, Any], Sequence[Any]], Race | Tuner],
    show: Callable[[], Display],
    evaluate: Objective,
    settings: dict[str, Any],
    how: dict[str, Any],
    store: Store | None,
    *,
    n_jobs: int,
    progress: bool,
    callbacks: Sequence[Any],
) -> Any:
    """Hold a contest, or go on with the one in the store, and return its result.

    Parameters
    ----------
    make : callable
        Returns the contest of settings and callbacks.
    show : callable
        Returns the display, if there is to be progress.
    settings : dict
        Of the contest.
    how : dict
        How a cell is evaluated: retries, timeout, memory.
    store : Store, optional
        Entered.
    evaluate, n_jobs, progress, callbacks
        As of `racer.race`.
    """
    check_objective(evaluate)
    watchers = list(check_callbacks(callbacks))
    display = show() if flag(progress, "progress") else None
    if display is not None:
        watchers.append(display)
    if store is None:
        contest = make(settings, watchers)
    else:
        recorder = Recorder(store.conclude, watchers)
        if store.holds_a_race:
            settings = recorder.expect(store.reader, settings)
        contest = make(settings, [recorder])
    workers = workers_for(
        evaluate,
        contest.configs,
        contest.all_instances,
        n_jobs=n_jobs,
        parameters=contest.parameters,
        **how,
    )
    if store is not None:
        begin_or_replay(store, contest, recorder, set_up(contest, evaluate, how))
    try:
        if display is None:
            return drive(contest, workers, store)
        with display:
            return drive(contest, workers, store, display.announce)
    except RaceInterrupted as stop:
        if stop.kept:
            tell(f"racer: {stop}")  # now: who catches it may not
            exit_with_code()
        raise
