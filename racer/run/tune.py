"""`racer.tune`: the best configuration of a space, by races in series."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from racer.run.start import how_to_evaluate, opened, pool, start
from racer.store.contest import contest_for
from racer.store.load import load_record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from concurrent.futures import Executor
    from os import PathLike

    from racer.core.blocks import InstanceOrder
    from racer.core.budget import Budget
    from racer.core.events import Callback
    from racer.core.runtime import Runtime
    from racer.deciders.decider import Decider, Schedule
    from racer.evaluate.objective import Objective
    from racer.results.base import Result
    from racer.results.tuning import TuneResult
    from racer.run.feed import Ahead
    from racer.space.space import Space

    Known = Result | str | PathLike[str]  # an earlier result, or its store

__all__ = ["tune"]


def tune(
    space: Space,
    evaluate: Objective,
    instances: Sequence[Any] | None = None,
    *,
    budget: int | Budget | Sequence[int | Budget],
    decider: str | Decider | None = None,
    initial: Sequence[Mapping[str, Any] | Known] | Known = (),
    maximize: bool = False,
    n_jobs: int = 1,
    executor: Executor | None = None,
    ahead: Ahead = "auto",
    seed: int | None = None,
    deterministic: bool | None = None,
    first_test: int = 5,
    each_test: Schedule | None = None,
    block_size: int = 1,
    elites: int | None = None,
    runtime: Runtime | None = None,
    instance_order: InstanceOrder = "shuffled",
    test_instances: Sequence[Any] | None = None,
    timeout: float | None = None,
    memory: int | None = None,
    retries: int = 0,
    store: str | PathLike[str] | None = None,
    progress: bool = False,
    callbacks: Sequence[Callback] = (),
) -> TuneResult:
    """Find the best configuration of a space, by races in series (iterated racing).

    The first race is among configurations from the whole space. Those that survive it, the
    elites, race against new ones sampled around them, in a neighbourhood that narrows from race
    to race; of several drafts of each, a surrogate of the costs known so far takes the most
    promising. Elites keep what is known of them, and are safe until the others have seen the same
    instances. What is left of the budget at the end goes to a race among the last elites.

    Parameters
    ----------
    space : Space
        What may be tuned.
    evaluate : callable
        ``evaluate(config, instance, seed) -> float``, as in `racer.race`; `config` is a dict of
        the parameters that exist in it.
    instances : sequence or None
        Objects of any type that the configurations are to be good at. None: a noisy objective
        without instances.
    budget : int, Budget, or list of these
        An int means evaluations. It is never exceeded, and used up (with `deterministic`, but for
        less than a configuration takes on all instances). With `racer.Budget` in seconds, the
        cost of an evaluation is estimated from those made. A list, each larger than the one
        before: a tuning with the first, which goes on from its end with what the next adds.
    decider : str or Decider, optional
        Decides in each race; as in `racer.race`. None: "best-for-budget" ("bayesian-friedman" for
        run times that are capped), or, with a store, the recorded one.
    initial : sequence of configurations, a result, or a store
        Candidates of the first race, beside those sampled: the default configuration, say. Of a
        result, or of the path of a store (or several of either, in the sequence): the best, then
        each survivor that improves the mean over instances of the best so far most. Results that
        share instances are taken together, on those that all of them have seen. What the space
        does not allow is left out, with a `RacerWarning`.
    maximize : bool
        Larger is better.
    n_jobs : int
        As in `racer.race`; the result is the same.
    executor, ahead
        As in `racer.race`.
    seed : int >= 0, optional
        Repeats the run; None draws one, which the result names.
    deterministic : bool, optional
        `evaluate` ignores its seed: a configuration is evaluated once on each instance. There
        may be fewer instances than `first_test`. None: not known, and found out as in `racer.race`.
    first_test : int
        In each race test first after so many blocks.
    each_test : int or "growing", optional
        Then again after every so many (None: each), or as in `racer.race`.
    block_size : int
        So many instances in a row make a group, with one of every kind, say: groups are kept
        together, `first_test` and `each_test` count groups, and no test falls within one.
    elites : int, optional
        Configurations that survive a race; 2 + log2 of the number of parameters if not given.
    instance_order : {"shuffled", "given"}
        Whether instances are taken in a random order (anew each time they begin again), or as
        they stand.
    test_instances : sequence, optional
        Held out: at the end each elite is evaluated once on each of them, beyond the budget.
    runtime : Runtime, optional
        The cost is run time, with an adaptive cap: as in `racer.race`.
    timeout, memory, retries
        As in `racer.race`.
    store : str or path-like, optional
        As in `racer.race`: what is recorded is not evaluated again, and the tuning goes on where it
        stopped. With a larger budget, it goes on from its end with what was added.
    progress : bool
        As in `racer.race`; a line for each race.
    callbacks : sequence of callable
        Called with each `racer.BlockCompleted` (whose block counts on through all races),
        `racer.tuner.RaceCompleted`, `racer.tuner.CandidatesAdded`, and `racer.RaceEnded` when
        the whole tuning is over.

    Returns
    -------
    TuneResult
        With `best` None where nothing speaks for one configuration rather than another.

    Raises
    ------
    CandidateError, ObjectiveError, BudgetError, SettingError
        What cannot work, before anything is evaluated: initial candidates outside the space, a
        budget that is too small (the smallest that makes sense is named). All are `RacerError`.
        Later: as in `racer.race`.
    StoreError
        The store cannot be used, or holds something else.
    RaceInterrupted
        As in `racer.race`.

    References
    ----------
    Balaprakash, Birattari and Stützle (HM 2007); López-Ibáñez et al., Operations Research
    Perspectives 3 (2016).

    Examples
    --------
    >>> import racer
    >>> space = racer.Space({"x": racer.Real(-5, 5), "y": racer.Integer(0, 9)})
    >>> def evaluate(config, instance, seed):
    ...     return (config["x"] - 1) ** 2 + abs(config["y"] - 3) + instance + seed % 7
    >>> result = racer.tune(space, evaluate, [0.5, 0.1, 0.9], budget=500, seed=1)
    >>> result.best["y"], abs(result.best["x"] - 1) < 0.2, result.evaluations
    (3, True, 500)
    """
    given = {
        "space": space,
        "instances": instances,
        "test_instances": test_instances,
        "elites": elites,
        "instance_order": instance_order,
        "decider": decider,
        "budget": budget,
        "maximize": maximize,
        "seed": seed,
        "deterministic": deterministic,
        "first_test": first_test,
        "each_test": each_test,
        "block_size": block_size,
        "runtime": runtime,
    }
    how = how_to_evaluate(retries, timeout, memory)
    timed = runtime is not None
    workers = pool(evaluate, how, n_jobs=n_jobs, executor=executor, timed=timed)
    with opened(store) as file:
        result: TuneResult = start(
            contest_for(file, "tuning", {**given, "initial": _loaded(initial)}),
            evaluate,
            how,
            file,
            workers,
            ahead=ahead,
            progress=progress,
            callbacks=callbacks,
        )
    return result


def _loaded(initial: Any) -> Any:
    """Return initial configurations, paths of stores among them replaced by their results."""
    if isinstance(initial, str | os.PathLike):
        return load_record(initial).result
    if isinstance(initial, list | tuple):
        return [load_record(i).result if isinstance(i, str | os.PathLike) else i for i in initial]
    return initial
