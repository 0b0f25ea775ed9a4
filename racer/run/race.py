"""`racer.race`: the main job in one call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from racer.core.rules import Rules
from racer.run.start import how_to_evaluate, opened, pool, start
from racer.store.contest import contest_for

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Executor
    from os import PathLike

    from racer.core.budget import Budget
    from racer.core.events import Callback
    from racer.core.runtime import Runtime
    from racer.deciders.decider import Decider, Schedule
    from racer.evaluate.objective import Objective
    from racer.results.race import RaceResult
    from racer.run.feed import Ahead

__all__ = ["race"]


def race(
    candidates: Sequence[Any],
    evaluate: Objective,
    instances: Sequence[Any] | None = None,
    *,
    decider: str | Decider = "bayesian-friedman",
    budget: int | Budget,
    maximize: bool = False,
    n_jobs: int = 1,
    executor: Executor | None = None,
    ahead: Ahead = "auto",
    seed: int | None = None,
    deterministic: bool | None = None,
    first_test: int = 5,
    each_test: Schedule | None = None,
    min_survivors: int = 1,
    block_size: int = 1,
    runtime: Runtime | None = None,
    timeout: float | None = None,
    memory: int | None = None,
    retries: int = 0,
    store: str | PathLike[str] | None = None,
    progress: bool = False,
    callbacks: Sequence[Callback] = (),
) -> RaceResult:
    """Find the best of many candidates, dropping those that are out of the running on the way.

    All candidates are evaluated on one block after another (an instance with a seed, the same
    for all); at each test the decider drops those that are inferior, or indistinguishable from a
    better one, and the budget is spent on those that remain.

    Parameters
    ----------
    candidates : sequence
        Configurations of any type (dicts, say), each once.
    evaluate : callable
        ``evaluate(config, instance, seed) -> float``. What raises, or returns anything but a
        finite number, costs its cell: it ranks last in its block and is listed in
        `RaceResult.failures`. Called with an int seed, equal for all candidates of a block;
        `random` and `np.random` are seeded with it before each call. It must not change its
        arguments: in this process they are the ones that the next call gets.
    instances : sequence or None
        Objects of any type, taken in the order given (shuffle a sorted list first), and again
        with new seeds when they run out. None: a noisy objective without instances.
    decider : str or Decider
        "bayesian-friedman", "best-for-budget", "f-race", "f-race-sign", "f-race-mean-rank",
        "t-race", "correlated-t", "halving", "anytime", "bradley-terry", "plackett-luce",
        "signed-rank", .., or an object from `racer.deciders`.
    budget : int or Budget
        An int means evaluations. It is never exceeded, and must reach to the first test.
    maximize : bool
        Larger is better.
    n_jobs : int
        1 evaluates in this process; more, or -1 (all cores), in joblib workers: loky, unless
        `joblib.parallel_config` names another backend. The result is the same.
    executor : concurrent.futures.Executor, optional
        Evaluates instead, and stays open: Dask's, or one of your own. Cells go to it one by one.
    ahead : "auto" or int
        How many blocks free workers go ahead of the one that is waited for ("auto": 8, or as
        many as there are workers). What they evaluate is kept until it is needed, so the result
        is the same; what never is costs workers' time, not budget: see `RaceResult.unused`.
        0 for evaluations that cost money.
    seed : int >= 0, optional
        Repeats the race; None draws one, which the result names.
    deterministic : bool, optional
        `evaluate` ignores its seed: each instance is used once, then the race ends. With fewer
        instances than `first_test` the only test is at the end. None: not known. Instances that
        are used again then have to bring another value with another seed, for one candidate at
        least; while they bring the same they are no evidence, and once that is no coincidence the
        race warns and goes on as with True. False: they are always evidence.
    first_test : int
        Test first after so many blocks.
    each_test : int or "growing", optional
        Then again after every so many; "growing": at a quarter more each time (5, 6, 8, 10, 13,
        16, 20, 25, ..) and at the end, since most deciders spend their error at each test. None: as
        the decider asks; that is "growing" but for those whose error does not grow with the
        number of tests ("anytime") and those that plan with the budget.
    block_size : int
        So many instances in a row make a group, with one of every kind, say: `first_test` and
        `each_test` count groups, and no test falls within one.
    min_survivors : int
        Stop when no more candidates than this are left.
    runtime : Runtime, optional
        The cost is run time, with an adaptive cap. `evaluate` returns seconds, or None: then CPU
        time is measured (of it and of all processes that it waits for; wall time but on Linux). It
        may have a keyword `bound`, the seconds after which it is stopped, whatever it does. Each
        evaluation runs in a process of its own (not on Windows).
    timeout : float, optional
        Seconds of wall time that an evaluation may take. With this or `memory` each runs in a
        process of its own (not on Windows), which is killed with all that it started.
    memory : int, optional
        Bytes that an evaluation may hold beyond what it finds when it starts (on Linux).
    retries : int
        Evaluate a cell that fails up to so many times again, within the same evaluation; what
        reached a limit is not tried again.
    store : str or path-like, optional
        A file (SQLite) in which each outcome is recorded before it counts. If it holds a race
        already, it must be this one (a larger budget is allowed, and seed=None takes the
        recorded seed): the race goes on where it stopped, as `racer.resume` does.
    progress : bool
        Show the race from its beginning: live in a terminal (on standard error) or a notebook,
        elsewhere a line with the time for each event, and for ten seconds without one.
    callbacks : sequence of callable
        Called with each `racer.BlockCompleted` (not of blocks that were recorded before), and
        with `racer.RaceEnded`.

    Returns
    -------
    RaceResult
        With `best` None, and `ended` saying why, where nothing can be said.

    Raises
    ------
    CandidateError, ObjectiveError, BudgetError, SettingError
        What cannot work, before anything is evaluated. All are `RacerError`. Later: an
        ObjectiveError where all of the first block fail by the same error at the same line, a
        SettingError for a verdict that cannot be used, or an executor that takes no more.
    StoreError
        The store cannot be used, or holds another race.
    RaceInterrupted
        Ctrl-C (it is a KeyboardInterrupt); its `result` is what was known by then. With a store,
        SIGTERM and SIGHUP as well; the first signal lets what is being evaluated finish.

    References
    ----------
    Birattari et al. (GECCO 2002); Benavoli et al. (ICML 2015), section 7.1.

    Examples
    --------
    >>> import racer
    >>> def evaluate(config, instance, seed):
    ...     return abs(config["x"] - 3) + instance + seed % 7
    >>> result = racer.race([{"x": x} for x in range(6)], evaluate, [0.5, 0.1, 0.9], budget=200)
    >>> result.best, result.ended.value
    ({'x': 3}, 'decided')
    """
    rules = Rules(
        decider=decider,  # type: ignore[arg-type]
        budget=budget,  # type: ignore[arg-type]
        maximize=maximize,
        seed=seed,
        deterministic=deterministic,
        first_test=first_test,
        each_test=each_test,
        block_size=block_size,
        runtime=runtime,
        min_survivors=min_survivors,
    )
    how = how_to_evaluate(retries, timeout, memory)
    timed = runtime is not None
    workers = pool(evaluate, how, n_jobs=n_jobs, executor=executor, timed=timed)
    with opened(store) as file:
        given = {"candidates": candidates, "instances": instances, **rules.settings()}
        result: RaceResult = start(
            contest_for(file, "race", given),
            evaluate,
            how,
            file,
            workers,
            ahead=ahead,
            progress=progress,
            callbacks=callbacks,
        )
    return result
