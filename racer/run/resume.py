"""`racer.resume`: go on with a race that was recorded."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from racer.errors import SettingError, StoreError
from racer.evaluate.limits.limits import Limits
from racer.run.start import pool, start
from racer.store.contest import contest_from_store, decode_setting
from racer.store.reader import no_race_in
from racer.store.writer import Store

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Executor
    from os import PathLike

    from racer.core.budget import Budget
    from racer.core.events import Callback
    from racer.core.runtime import Runtime
    from racer.deciders.decider import Decider
    from racer.evaluate.objective import Objective
    from racer.results.race import RaceResult
    from racer.results.tuning import TuneResult
    from racer.run.feed import Ahead
    from racer.space.space import Space

__all__ = ["resume"]

_HOW = ("retries", *Limits._fields)


def resume(
    store: str | PathLike[str],
    evaluate: Objective,
    *,
    candidates: Sequence[Any] | None = None,
    instances: Sequence[Any] | None = None,
    test_instances: Sequence[Any] | None = None,
    space: Space | None = None,
    decider: str | Decider | None = None,
    budget: int | Budget | None = None,
    runtime: Runtime | None = None,
    n_jobs: int = 1,
    executor: Executor | None = None,
    ahead: Ahead = "auto",
    progress: bool = False,
    callbacks: Sequence[Callback] = (),
) -> RaceResult | TuneResult:
    """Go on with the race or tuning in a store; of one that has ended, return the result.

    The race is made again from its settings, what is recorded is told to it, and what it decides
    is compared with what it decided then. No recorded evaluation is repeated; for an objective
    that depends on nothing but its arguments the result is that of a race never interrupted.

    Parameters
    ----------
    store : str or path-like
        The file that `racer.race(.., store=)` or `racer.tune(.., store=)` was given.
    evaluate : callable
        The same as then: a store holds its name, to warn if that has changed, and never loads it.
    candidates, instances, test_instances, decider
        Left out, they are taken from the store. What JSON cannot hold (arrays, objects of your
        own classes, a decider of your own) must be given again, and is compared: arrays by
        content, dataclasses by their fields, other objects by their `repr`.
    space : Space, optional
        For a run of `racer.tune` whose space has a repair hook, or parameters of classes that are
        not racer's: the same as then.
    budget : int or Budget, optional
        As large as before, or larger.
    runtime : Runtime, optional
        Of a run whose runtime has a function for its utility: the same as then.
    n_jobs, executor, ahead, progress, callbacks
        As in `racer.race`. Callbacks are told of new blocks, and of the end.

    Returns
    -------
    RaceResult or TuneResult

    Raises
    ------
    StoreError
        No race there, or one that cannot be continued: damaged, written by a newer version,
        in use by another process, different from what is given (both values are named), or with
        a verdict that comes out otherwise when it is replayed.
    RaceInterrupted
        As in `racer.race`.

    Examples
    --------
    >>> import racer, tempfile
    >>> def evaluate(config, instance, seed):
    ...     return (config - 2) ** 2 + (seed >> config) % 9
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = folder + "/run.db"
    ...     first = racer.race(range(5), evaluate, budget=30, seed=1, store=path)
    ...     more = racer.resume(path, evaluate, budget=200)
    >>> first.evaluations, more.best
    (30, 2)
    """
    _check_exists(store)
    with Store(store) as file:
        if not file.holds_a_race:
            raise no_race_in(file.path)
        recorded = file.reader.setup()
        if recorded.kind == "ablation":
            raise StoreError(
                f"store {file.path!r} holds an ablation: go on with "
                f"{file.reader.how_to_resume()}, or give another store"
            )
        given = {
            "candidates": candidates,
            "instances": instances,
            "test_instances": test_instances,
            "space": space,
            "decider": decider,
            "budget": budget,
            "runtime": runtime,
        }
        given = {name: value for name, value in given.items() if value is not None}
        how = {n: decode_setting(file.path, n, recorded.settings[n]) for n in _HOW}
        contest = contest_from_store(file.reader, given)
        timed = contest.rules.runtime is not None
        result: RaceResult | TuneResult = start(
            contest,
            evaluate,
            how,
            file,
            pool(evaluate, how, n_jobs=n_jobs, executor=executor, timed=timed),
            ahead=ahead,
            progress=progress,
            callbacks=callbacks,
        )
        return result


def _check_exists(store: Any) -> None:
    if not isinstance(store, str | os.PathLike):
        raise SettingError(f"store={store!r}: give the path of a file, and after it evaluate")
    if not os.path.lexists(store):
        raise no_race_in(os.fspath(store))
