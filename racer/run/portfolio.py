"""`racer.portfolio`: a few configurations, each good where those before it are not."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from racer._checks import flag, suggests, whole
from racer.core.pool import as_instances, as_sequence
from racer.errors import SettingError
from racer.evaluate.objective import check_objective, is_coroutine_function
from racer.run.calls import tune
from racer.run.job import how_to_evaluate
from racer.run.members import Members, share_of_member
from racer.seeding import check_seed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from racer.core.budget import Budget
    from racer.core.events import Callback
    from racer.deciders.decider import Decider
    from racer.evaluate.engines import Cluster
    from racer.evaluate.objective import Objective
    from racer.results.portfolio import PortfolioResult
    from racer.space.space import Space

__all__ = ["portfolio"]


@suggests
def portfolio(
    space: Space,
    evaluate: Objective,
    instances: Sequence[Any],
    *,
    size: int = 3,
    repeats: int | None = None,
    budget: int | Budget,
    decider: str | Decider | None = None,
    maximize: bool = False,
    n_jobs: int = 1,
    executor: Cluster | None = None,
    seed: int | None = None,
    deterministic: bool | None = None,
    test_instances: Sequence[Any] | None = None,
    timeout: float | None = None,
    memory: int | None = None,
    retries: int = 0,
    progress: bool = False,
    callbacks: Sequence[Callback] = (),
) -> PortfolioResult:
    """Find a few configurations of which one is good on each instance.

    The first member is tuned as by `racer.tune`. Each further one is tuned on the minimum of its
    cost and that of the members before it, so that it is good where they are not. Then each
    member is evaluated on all instances. An equal share of the budget goes to each member.

    Parameters
    ----------
    space, evaluate, instances
        As in `racer.tune`; `evaluate` is a function or a program, of one number.
    size : int >= 1
        Members; fewer, with a note, where all that a further tuning finds are members, or fail.
    repeats : int >= 1, optional
        Evaluations of a member on each instance, with other seeds; 2, or 1 if `deterministic`.
    budget : int
        Evaluations, those of members on all instances included.
    decider, maximize, n_jobs, executor, seed, deterministic
        As in `racer.tune`.
    test_instances : sequence, optional
        Held out: the table is about these, evaluated beyond the budget. Without them the gain is
        on instances that the members were tuned on; so it is, with a warning, if all evaluations
        on these fail.
    timeout, memory, retries
        As in `racer.tune`.
    progress, callbacks
        As in `racer.tune`, of each member's tuning.

    Returns
    -------
    PortfolioResult

    Raises
    ------
    BudgetError, SettingError, ObjectiveError
        What cannot work, before anything is evaluated; else as in `racer.tune`. Of an error after
        the first tuning, `result` is as below.
    RaceInterrupted
        Ctrl-C; its `result` has the members so far. Before the first is in the table, it is that of
        its tuning.

    References
    ----------
    Xu, Hoos, Leyton-Brown, Hydra: Automatically configuring algorithms for portfolio-based
    selection, AAAI 2010.

    Examples
    --------
    >>> import racer
    >>> space = racer.Space({"x": racer.Integer(0, 9)})
    >>> def evaluate(config, instance, seed):
    ...     return abs(config["x"] - instance)
    >>> found = racer.portfolio(
    ...     space, evaluate, [1, 2, 8, 9], size=2, budget=100, deterministic=True, seed=1
    ... )
    >>> found.single_best_value - found.oracle_value == found.gain > 0
    True
    """
    check_objective(evaluate)
    if is_coroutine_function(evaluate):
        raise SettingError("evaluate is a coroutine function: give a function, or a program")
    size, seed = whole(size, "size", least=1), check_seed(seed)
    flag(maximize, "maximize")
    places = as_sequence(instances, "instances")
    shown = as_instances(test_instances, "test_instances")
    times = 1 if deterministic else 2
    times = times if repeats is None else whole(repeats, "repeats", least=1)
    how = how_to_evaluate(retries, timeout, memory) | {"n_jobs": n_jobs, "executor": executor}
    member = partial(
        tune,
        space,
        budget=share_of_member(budget, size, len(places), times),
        decider=decider,
        maximize=maximize,
        deterministic=deterministic,
        progress=progress,
        callbacks=callbacks,
        **how,
    )
    return Members(member, evaluate, places, size, times, seed, maximize, how).found(shown)
