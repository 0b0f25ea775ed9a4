"""`racer.tune`: the best configuration of a space, by races in series."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from racer.racing.budget import Budget
from racer.run.hold import hold
from racer.run.race import how_to_evaluate
from racer.store.jsonable import encode, same
from racer.store.setup import rebuilt, refuse_other_kind
from racer.store.writer import Store
from racer.tuner.tuner import Tuner

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from os import PathLike

    from racer.deciders.decider import Decider
    from racer.evaluate.objective import Objective
    from racer.racing.events import Callback
    from racer.run.tuner_progress import TunerProgress
    from racer.space.space import Space
    from racer.store.reader import Reader
    from racer.tuner.result import TuneResult
    from racer.tuner.stream import InstanceOrder

__all__ = ["budgets_so_far", "made_in", "show_tuner", "tune"]


def tune(
    space: Space,
    evaluate: Objective,
    instances: Sequence[Any] | None = None,
    *,
    budget: int | Budget | Sequence[int | Budget],
    decider: str | Decider = "bayesian-friedman",
    initial: Sequence[Mapping[str, Any]] = (),
    maximize: bool = False,
    n_jobs: int = 1,
    seed: int | None = None,
    deterministic: bool = False,
    first_test: int = 5,
    each_test: int = 1,
    elites: int | None = None,
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
        ``evaluate(config, instance, seed) -> float``, as of `racer.race`; `config` is a dict of
        the parameters that exist in it.
    instances : sequence or None
        Objects of any type that the configurations are to be good at. None: a noisy objective
        without instances.
    budget : int, Budget, or list of these
        An int means evaluations. It is never exceeded, and used up (with `deterministic`, but for
        less than a configuration takes on all instances). With `racer.Budget` in seconds, the
        cost of an evaluation is estimated from those made. A list, each larger than the one
        before: a run with the first, which goes on from its end with what the next adds.
    decider : str or Decider
        Who decides in each race; as of `racer.race`.
    initial : sequence of configurations
        Candidates of the first race, beside those sampled: the default configuration, say.
    maximize : bool
        Larger is better.
    n_jobs : int
        As of `racer.race`; the result is the same.
    seed : int >= 0, optional
        Repeats the run; None draws one, which the result names.
    deterministic : bool
        `evaluate` ignores its seed: a configuration is evaluated once on each instance. There
        may be fewer instances than `first_test`.
    first_test, each_test : int
        In each race look first after so many blocks, then again after every so many.
    elites : int, optional
        Configurations that survive a race; 2 + log2 of the number of parameters if not given.
    instance_order : {"shuffled", "given"}
        Whether instances are taken in a random order (anew each time they begin again), or as
        they stand.
    test_instances : sequence, optional
        Held out: at the end each elite is evaluated once on each of them, beyond the budget.
    timeout, memory, retries
        As of `racer.race`.
    store : str or path-like, optional
        As of `racer.race`: what is recorded is not evaluated again, and the run goes on where it
        stopped. With a larger budget, it goes on from its end with what was added.
    progress : bool
        Show a line for each race on standard error and how the present one stands, if that is a
        terminal.
    callbacks : sequence of callable
        Called with each `racer.BlockCompleted` (whose block counts on through all races),
        `racer.tuner.RaceCompleted`, `racer.tuner.CandidatesAdded`, and `racer.RaceEnded` when
        the whole run is over.

    Returns
    -------
    TuneResult
        With `best` None where nothing speaks for one configuration rather than another.

    Raises
    ------
    CandidateError, ObjectiveError, BudgetError, SettingError
        What cannot work, before anything is evaluated: initial candidates outside the space, a
        budget that is too small (the smallest that makes sense is named). All are `RacerError`.
    StoreError
        The store cannot be used, or holds something else.
    RaceInterrupted
        As of `racer.race`.

    References
    ----------
    Balaprakash, Birattari and Stützle (HM 2007); López-Ibáñez et al., Operations Research
    Perspectives 3 (2016).

    Examples
    --------
    >>> import racer
    >>> space = racer.Space({"x": racer.Real(-5, 5), "y": racer.Integer(0, 9)})
    >>> def evaluate(config, instance, seed):
    ...     return (config["x"] - 1) ** 2 + abs(config["y"] - 3) + instance
    >>> result = racer.tune(space, evaluate, [0.5, 0.1, 0.9], budget=500, seed=1)
    >>> result.best["y"], abs(result.best["x"] - 1) < 0.2, result.evaluations
    (3, True, 500)
    """
    settings: dict[str, Any] = {
        "budget": budget,
        "decider": decider,
        "initial": initial,
        "maximize": maximize,
        "seed": seed,
        "deterministic": deterministic,
        "first_test": first_test,
        "each_test": each_test,
        "elites": elites,
        "instance_order": instance_order,
    }
    how = how_to_evaluate(retries, timeout, memory)
    with ExitStack() as stack:
        file = None if store is None else stack.enter_context(Store(store))
        if file is not None and file.holds_a_race:
            settings["budget"] = budgets_so_far(file.reader, budget)
        result: TuneResult = hold(
            made_in(space, instances, test_instances),
            show_tuner,
            evaluate,
            settings,
            how,
            file,
            n_jobs=n_jobs,
            progress=progress,
            callbacks=callbacks,
        )
        return result


def made_in(
    space: Space, instances: Sequence[Any] | None, test_instances: Sequence[Any] | None
) -> Callable[[dict[str, Any], Sequence[Callback]], Tuner]:
    """Return what makes the run of settings and callbacks."""

    def make(settings: dict[str, Any], callbacks: Sequence[Callback]) -> Tuner:
        return Tuner(
            space, instances, test_instances=test_instances, **settings, callbacks=callbacks
        )

    return make


def show_tuner() -> TunerProgress:
    """Return the display of a run of races."""
    from racer.run.tuner_progress import TunerProgress  # noqa: PLC0415  (Rich, as for a race)

    return TunerProgress()


def budgets_so_far(reader: Reader, budget: Any) -> Any:
    """Return the budgets of a recorded run, and after them `budget` if that is larger."""
    setup = reader.setup()
    refuse_other_kind(reader.path, setup, tuned=True)
    recorded = rebuilt(reader.path, "budget", setup.settings.get("budget"))
    if budget is None:
        return recorded
    if isinstance(budget, list | tuple):
        return budget
    budgets = recorded if isinstance(recorded, list) else [recorded]
    new = Budget.of(budget)
    if not isinstance(budgets[-1], Budget) or not new.is_larger(budgets[-1]):
        return recorded if same(encode(budgets[-1]), encode(new)) else budget
    return [*budgets, new]
