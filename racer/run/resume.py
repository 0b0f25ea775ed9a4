"""`racer.resume`: go on with a race that was recorded."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from racer.evaluate.limits import Limits
from racer.racing.budget import Budget
from racer.racing.race import SETTINGS
from racer.run.race import hold
from racer.run.reading import no_race_in
from racer.run.setup import rebuilt
from racer.run.store import Store

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from racer.deciders.decider import Decider
    from racer.evaluate.objective import Objective
    from racer.racing.events import Callback
    from racer.racing.result import RaceResult

__all__ = ["resume"]

_HOW = ("retries", *Limits._fields)


def resume(
    store: str | PathLike[str],
    evaluate: Objective,
    *,
    candidates: Sequence[Any] | None = None,
    instances: Sequence[Any] | None = None,
    decider: str | Decider | None = None,
    budget: int | Budget | None = None,
    n_jobs: int = 1,
    progress: bool = False,
    callbacks: Sequence[Callback] = (),
) -> RaceResult:
    """Go on with the race in a store, or return the result of one that has ended.

    The race is made again from its settings, what is recorded is told to it, and what it decides
    is compared with what it decided then. No recorded evaluation is repeated; for an objective
    that depends on nothing but its arguments the result is that of a race never interrupted.

    Parameters
    ----------
    store : str or path-like
        The file that `racer.race(.., store=)` was given.
    evaluate : callable
        The same as then: a store holds its name, to warn if that has changed, and never loads it.
    candidates, instances, decider
        Left out, they are taken from the store. What JSON cannot hold (arrays, objects of your
        own classes, a decider of your own) must be given again, and is compared: arrays by
        content, dataclasses by their fields, other objects by their `repr`.
    budget : int or Budget, optional
        As large as before, or larger.
    n_jobs, progress, callbacks
        As of `racer.race`. Callbacks are told of new blocks, and of the end.

    Returns
    -------
    RaceResult

    Raises
    ------
    StoreError
        No race there, or one that cannot be gone on with: damaged, written by a newer version,
        in use by another process, different from what is given (both values are named), or with
        a verdict that comes out otherwise when it is replayed.
    RaceInterrupted
        As of `racer.race`.

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
    if not os.path.lexists(store):
        raise no_race_in(os.fspath(store))
    with Store(store) as file:
        if not file.holds_a_race:
            raise no_race_in(file.path)
        recorded = file.reader.setup()
        values = recorded.settings

        def kept(name: str) -> Any:
            return rebuilt(file.path, name, values.get(name))

        given = {
            "decider": decider,
            "budget": None if budget is None else Budget.of(budget),
        }
        settings = {
            name: kept(name) if given.get(name) is None else given[name] for name in SETTINGS
        }
        if candidates is None:
            candidates = rebuilt(file.path, "candidates", recorded.candidates)
        if instances is None and recorded.instances is not None:
            instances = rebuilt(file.path, "instances", recorded.instances)
        return hold(
            candidates,
            evaluate,
            instances,
            settings,
            {name: kept(name) for name in _HOW},
            file,
            n_jobs=n_jobs,
            progress=progress,
            callbacks=callbacks,
        )
