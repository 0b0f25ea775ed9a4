"""`racer.resume`: the race or tuning of a store goes on."""

from __future__ import annotations

import os
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from racer._entry import entry
from racer.core.arguments import Instances, decider_settings
from racer.core.budget import Budget
from racer.core.runtime import Runtime
from racer.errors import SettingError, StoreError, warn
from racer.evaluate.limits.limits import Limits
from racer.run.job import Job
from racer.store.contest import (
    IN_SECONDS,
    contest_from_store,
    is_used_up,
    recorded_budgets,
)
from racer.store.reader import no_race_in
from racer.store.writer import Store

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from racer.core.events import Callback
    from racer.deciders.decider import Decider
    from racer.evaluate.engines import Cluster
    from racer.evaluate.objective import Objective
    from racer.evaluate.workers import Workers
    from racer.results.race import RaceResult
    from racer.results.tuning import TuneResult
    from racer.space.space import Space
    from racer.store.reader import Reader

__all__ = ["resume"]


@entry
def resume(
    store: str | PathLike[str],
    evaluate: Objective,
    *,
    space: Space | None = None,
    candidates: Sequence[Any] | None = None,
    instances: Sequence[Any] | Instances | None = None,
    budget: int | Budget | Sequence[int | Budget] | None = None,
    goal: Runtime | None = None,
    decider: str | Decider | None = None,
    n_jobs: int | Cluster | Workers = 1,
    progress: bool | None = None,
    callbacks: Sequence[Callback] = (),
) -> RaceResult | TuneResult:
    """Continue the race or tuning of a store, or return its result if it has ended.

    The race is rebuilt from its settings and the recorded outcomes, and its decisions
    are compared with the recorded ones. No recorded evaluation is repeated; for an objective
    that depends on its arguments only, the result is the same as without interruption.

    Parameters
    ----------
    store : str or path-like
        The file that `racer.race(.., store=)` or `racer.tune(.., store=)` was given.
    evaluate : callable
        The same as then: a store holds its name, to warn if that has changed, and never loads it.
    space : Space, optional
        For a run of `racer.tune` whose space has a repair hook, or parameters of classes that are
        not racer's: the same as then.
    candidates, instances
        Left out, they are taken from the store. Values beyond JSON (arrays, objects of
        your own classes) must be given again, and are compared: arrays by content, dataclasses by
        their fields, other objects by their `repr`. Held-out ones: ``Instances(held_out=..)``.
    budget : int, Budget, or list of these, optional
        As large as before, or larger. None: the recorded one. A list, for a tuning: as in
        `racer.tune`, the recorded budgets first. ``Budget(wall=..)`` counts from now on, and the
        rest stays as it is: give more seconds to a race that was begun with wall time alone, whose
        budget was what that allowed. Prices that are a function: the same as then.
    goal : Runtime, optional
        Of a run whose `racer.Runtime` has a function for its utility: the same as then.
    decider : str or Decider, optional
        As `candidates`: to be given again if it is of your own class.
    n_jobs
        As in `racer.race`.
    progress, callbacks
        As in `racer.race`. Callbacks get new blocks, and the end.

    Returns
    -------
    RaceResult or TuneResult

    Raises
    ------
    StoreError
        No race there, or a race that cannot be continued: damaged, written by a newer version,
        in use by another process, different from the given settings (with both values), or with
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
    path: Any = store
    if not isinstance(path, str | os.PathLike):
        raise SettingError(f"store={store!r}: give the path of a file, and after it evaluate")
    items = Instances.of(instances)
    if not isinstance(goal, Runtime | None):
        raise SettingError(f"goal={goal!r}: the goal is recorded; give Runtime(..), or none")
    if not os.path.lexists(store):
        raise no_race_in(os.fspath(store))
    with Store(store) as file:
        if not file.holds_a_race:
            raise no_race_in(file.path)
        bare, wall, prices = Budget.parted(budget)
        if bare is None and wall is not None:
            _warn_if_used_up(file.reader)
        recorded = file.reader.setup
        if recorded.kind == "ablation":
            raise StoreError(
                f"store {file.path!r} holds an ablation: go on with "
                f"{file.reader.how_to_resume()}, or give another store"
            )
        given = {
            "candidates": candidates,
            "instances": items.items,
            "test_instances": items.held_out,
            "space": space,
            "decider": decider_settings(decider).get("decider"),
            "budget": bare,
            "runtime": goal,
            "prices": prices,
        }
        given = {name: value for name, value in given.items() if value is not None}
        limits = {field.name: recorded.settings[field.name] for field in fields(Limits)}
        job = Job.of(evaluate, Limits(**limits), n_jobs, progress=progress, callbacks=callbacks)
        result: RaceResult | TuneResult = job.start(
            contest_from_store(file.reader, given), file, wall
        )
        return result


def _warn_if_used_up(reader: Reader) -> None:
    """Warn that a deadline adds no time to a used-up budget of seconds."""
    last = recorded_budgets(reader)[-1]
    if last.is_in_seconds and is_used_up(reader):
        warn(
            f"the race in {reader.path!r} has used up its budget of {last}, to which a deadline adds "
            f"nothing: give more seconds ({IN_SECONDS})"
        )
