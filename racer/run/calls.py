"""`racer.race` and `racer.tune`: the main jobs in one call each."""

from __future__ import annotations

import os
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any, TypedDict

from racer._checks import suggests
from racer._entry import entry, own_mode
from racer.core.arguments import settings_of
from racer.run.job import Job
from racer.store.load import load_record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike
    from typing import Unpack

    from racer.core.arguments import Goal, Instances
    from racer.core.budget import Budget
    from racer.core.events import Callback
    from racer.deciders.decider import Decider
    from racer.evaluate.engines import Cluster
    from racer.evaluate.fidelity import Fidelity
    from racer.evaluate.limits.limits import Limits
    from racer.evaluate.objective import Objective
    from racer.evaluate.workers import Workers
    from racer.results.base import Result
    from racer.results.race import RaceResult
    from racer.results.tuning import TuneResult
    from racer.space.space import Space
    from racer.tuner.plan import Search

    Earlier = Result | str | PathLike[str]  # an earlier result, or its store

__all__ = ["race", "tune"]


class OfTuning(TypedDict, total=False):
    """Arguments of `racer.tune` that a race does not have, beside `initial`."""

    search: Search | None
    fidelity: Fidelity | None


@entry
def race(
    candidates: Sequence[Any],
    evaluate: Objective,
    instances: Sequence[Any] | Instances | None = None,
    *,
    budget: int | Budget | None = None,
    goal: Goal = "min",
    decider: str | Decider | None = None,
    seed: int | None = None,
    n_jobs: int | Cluster | Workers = 1,
    limits: Limits | None = None,
    store: str | PathLike[str] | None = None,
    progress: bool | None = None,
    callbacks: Sequence[Callback] = (),
) -> RaceResult:
    """Find the best of many candidates, and drop the losers early.

    All candidates are evaluated on one block after another (an instance with a seed, the same
    for all); at each test the decider drops candidates that are inferior, or indistinguishable
    from a better one, and the budget is spent on the rest.

    Parameters
    ----------
    candidates : sequence
        Configurations of any type (such as dicts), each once.
    evaluate : callable
        ``evaluate(config, instance, seed) -> float``, or a mapping of several metrics (a
        function of ``(config, instance)`` is called without the seed); beside either,
        ``"spend"`` is the price of the evaluation: ``{"score": 0.7, "spend": 0.002}``. Plain, or a
        coroutine function, of which calls that a server refuses (429) or that take too long are
        tried again. An evaluation without finite numbers costs its cell: it ranks
        last in its block and is listed in `RaceResult.failures`. Called with an int seed, equal
        for all candidates of a block; `random` and `np.random` are seeded with it before each call
        (except coroutines, which run side by side: draw from the seed). It must not change its
        arguments: in this process the next call gets the same objects.
    instances : sequence, Instances or None
        Objects of any type, taken in the order given, and again with new seeds when they run out
        (not with decider "mean"); `racer.Instances` says more of them. None: a noisy objective
        without instances.
    budget : int or Budget
        An int means evaluations. It is never exceeded, and must reach to the first test. Or
        `racer.Budget`: ``Budget(wall=3600)`` of seconds on the clock, ``Budget(seconds=..)`` of
        evaluation, ``Budget(spend=20.0)`` of money. None: where each instance is used once (decider
        "mean", or deterministic ones), all candidates on all of them; of a race that the store
        holds, the recorded one. One that wall time alone has made becomes larger by more of it (if the decider
        plans by it, once it is used up).
    goal : {"min", "max"}, mapping, Pareto, Within, Constrained or Runtime
        Whether smaller or larger values are better. Where `evaluate` returns several metrics by
        name, their directions (or `racer.Metric`, to give exactness, bounds or a
        margin): ``{"accuracy": "max", "latency": "min"}`` is a race to the front, as `racer.Pareto`;
        `racer.Within` (the best in one metric among candidates nearly the best in others) and
        `racer.Constrained` (among candidates good enough in others) are over such a mapping. All
        are recorded. ``racer.Runtime(60)``: the cost is run time, with an adaptive cap; `evaluate`
        returns seconds, or None: then CPU time is measured (of it and of all processes that it
        waits for; wall time but on Linux). It may have a keyword `bound`, the seconds after which it
        is stopped in any case. Each evaluation runs in a process of its own (not on Windows).
        "min" beside a `store` that has metrics: the store's metrics, with a `RacerWarning`.
    decider : str or Decider, optional
        None: "bayesian-friedman"; with a goal of several metrics "bayesian-front" (with margins
        "front"), "within" or "constrained"; with a store, the recorded one. Or one of
        "best-for-budget", "f-race", "f-race-sign", "f-race-mean-rank", "t-race", "halving",
        "anytime", "fixed-confidence", "mean" (scores that have bounds: answers right or wrong,
        grades), .., or an object from `racer.deciders`, which also says when it tests and how many
        candidates it leaves: ``FRace(first_test=8, min_survivors=3)``.
    seed : int >= 0, optional
        Repeats the race; None draws one, which the result names.
    n_jobs : int, executor, Dask client, the module ray, or Workers
        1 evaluates in this process; more, or -1 (all cores), in joblib workers: loky, unless
        `joblib.parallel_config` names another backend. Of a coroutine function, that many calls run
        at a time, in an event loop. A `concurrent.futures.Executor` or a cluster evaluates
        instead, and stays open. `racer.Workers` says more. The result is the same.
    limits : Limits, optional
        Seconds and bytes that an evaluation may take, and further attempts if it fails:
        ``racer.Limits(timeout=60, retries=1)``.
    store : str or path-like, optional
        A file (SQLite) in which each outcome is recorded before it counts. If it holds a race
        already, it must be this one (a larger budget is allowed, and seed=None takes the
        recorded seed): the race goes on where it stopped, as `racer.resume` does.
    progress : bool, optional
        Show the race from its beginning (None: in a terminal and in a notebook): live in a terminal (on standard error) or a notebook,
        elsewhere a line with the time for each event, and for ten seconds without one.
    callbacks : sequence of callable
        Called with each `racer.BlockCompleted` (not of blocks that were recorded before), and
        with `racer.RaceEnded`, unless an error or an interrupt ends the race.

    Returns
    -------
    RaceResult
        With `best` None, and the reason in `ended`, if no statement is possible.

    Raises
    ------
    CandidateError, ObjectiveError, BudgetError, SettingError
        Invalid settings, before anything is evaluated. All are `RacerError`. Later: an
        ObjectiveError where all of the first block fail by the same error at the same line, or
        return no value that can be used, a SettingError for a verdict that cannot be used, or an
        executor that takes no more.
    StoreError
        The store cannot be used, or holds another race.
    RaceInterrupted
        Ctrl-C (it is a KeyboardInterrupt); its `result` is the result so far. With a store,
        SIGTERM and SIGHUP as well; the first signal lets running evaluations finish.

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
    shared = {"budget": budget, "goal": goal, "decider": decider, "seed": seed}
    given = {"candidates": candidates, **settings_of("race", instances, shared)}
    job = Job.of(evaluate, limits, n_jobs, store=store, progress=progress, callbacks=callbacks)
    result: RaceResult = job.run("race", given)
    return result


@own_mode
@partial(suggests, more=OfTuning.__annotations__)
def tune(
    space: Space,
    evaluate: Objective,
    instances: Sequence[Any] | Instances | None = None,
    *,
    initial: Sequence[Mapping[str, Any] | Earlier] | Earlier = (),
    budget: int | Budget | Sequence[int | Budget] | None = None,
    goal: Goal = "min",
    decider: str | Decider | None = None,
    seed: int | None = None,
    n_jobs: int | Cluster | Workers = 1,
    limits: Limits | None = None,
    store: str | PathLike[str] | None = None,
    progress: bool | None = None,
    callbacks: Sequence[Callback] = (),
    **more: Unpack[OfTuning],
) -> TuneResult:
    """Find the best configuration of a space, by races in series (iterated racing).

    The first race is among configurations from the whole space. Its survivors, the
    elites, race against new ones sampled around them, in a neighbourhood that narrows from race
    to race; of several drafts of each, a surrogate of the costs known so far takes the most
    promising. Elites keep their outcomes, and are safe until the others have seen the same
    instances. The rest of the budget goes to the candidates that the surrogate expects to be best.

    With fewer than 600 evaluations (of deterministic instances, fewer than the smallest races in series
    take), many candidates are evaluated on few instances each, and the promising ones on more; the
    last 10 to 25 %, the more the larger the noise, are a race among the best four (or so many as
    `search` says).

    Parameters
    ----------
    space : Space
        The space to be tuned.
    evaluate : callable
        ``evaluate(config, instance, seed) -> float``, as in `racer.race`; `config` is a dict of
        the parameters that exist in it.
    instances : sequence, Instances or None
        Objects of any type that the configurations are to be good at; `racer.Instances` has
        options for them, such as held-out instances. None: a noisy objective without instances.
    initial : sequence of configurations, a result, or a store
        Candidates of the first race, beside sampled ones and the default of the space. Of a
        result, or of the path of a store (or several of either, in the sequence): its survivors,
        the best first; of a Pareto front up to 6 for each metric, the best spread first. Any
        outside the space are left out, with a `RacerWarning`.
    budget : int, Budget, or list of these
        An int means evaluations, at least two candidates' to the first test (10 by default), and
        one for each of `initial` beyond two; with a goal of several metrics, at
        least `racer.Tuner.least_budget`. It is never exceeded, and used up (of deterministic instances, but for
        less than a configuration takes on all instances). With `racer.Budget` in seconds, the
        cost of an evaluation is estimated from past evaluations, and likewise in money. A list of
        growing budgets: a tuning with the first, which goes on from its end with the next one's
        additions. Of wall time: evaluations on held-out instances come at the end, and are left out
        if it passes before; if there is no other limit, the tuning in a store goes on from its end
        with the added time. None: as in `racer.race`.
    goal
        As in `racer.race`. To the front, the elites of a race are the members of its front that
        cover it best.
    decider : str or Decider, optional
        Decides in each race; as in `racer.race`, except `min_survivors`: the elites take its part.
        None: "best-for-budget" ("bayesian-friedman" for run times that are capped; of several metrics
        "front" or "goal-for-budget"), or, with a store, the recorded one.
    seed : int >= 0, optional
        Repeats the run; None draws one, which the result names.
    n_jobs
        As in `racer.race`; the result is the same.
    limits : Limits, optional
        As in `racer.race`.
    store : str or path-like, optional
        As in `racer.race`: recorded cells are not evaluated again, and the tuning goes on where it
        stopped. With a larger budget, it goes on from its end with the addition.
    progress : bool, optional
        As in `racer.race`; a line for each race.
    callbacks : sequence of callable
        Called with each `racer.BlockCompleted` (whose block counts on through all races),
        `racer.tuner.RaceCompleted`, `racer.tuner.CandidatesAdded`, and `racer.RaceEnded` when
        the whole tuning is over.
    search : Search, optional
        What only a tuning has: how many elites survive, and how many are tested.
    fidelity : Fidelity, optional
        ``racer.Fidelity("epochs", (1, 3, 9, 27))``: `evaluate` takes one of these values as its
        fourth argument, and cheap evaluations choose which new configurations are evaluated in
        full (the last value). Elites, and all that is said of candidates, rest on full ones. The
        budget counts each evaluation as its share of a full one.

    Returns
    -------
    TuneResult
        With `best` None without evidence for any configuration.

    Raises
    ------
    CandidateError, ObjectiveError, BudgetError, SettingError
        Invalid settings, before anything is evaluated: initial candidates outside the space, a
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
    from racer.tuner.plan import Search  # noqa: PLC0415  (a race needs no tuner)

    shared = {"budget": budget, "goal": goal, "decider": decider, "seed": seed}
    given = {
        "space": space,
        "initial": _loaded(initial),
        **asdict(Search.of(more.get("search"))),
        "fidelity": more.get("fidelity"),
        **settings_of("tuning", instances, shared),
    }
    job = Job.of(evaluate, limits, n_jobs, store=store, progress=progress, callbacks=callbacks)
    result: TuneResult = job.run("tuning", given)
    return result


def _loaded(initial: Any) -> Any:
    """Return initial configurations, paths of stores among them replaced by their results."""
    if isinstance(initial, str | os.PathLike):
        return load_record(initial).result
    if isinstance(initial, list | tuple):
        return [load_record(i).result if isinstance(i, str | os.PathLike) else i for i in initial]
    return initial
