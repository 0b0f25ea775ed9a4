"""`racer.ablation`: which of the changes to a configuration made the difference."""

from __future__ import annotations

import os
import reprlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from racer._checks import is_whole, whole
from racer._entry import entry
from racer._files import as_path
from racer.core.budget import Budget
from racer.errors import BudgetError, CandidateError, SettingError, StoreError
from racer.evaluate.outcome import bounded
from racer.racing.ablation import Ablation
from racer.results.tuning import TuneResult
from racer.run.job import Job
from racer.store.load import load_record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    from racer.core.blocks import Place
    from racer.core.events import Callback
    from racer.evaluate.engines import Cluster
    from racer.evaluate.limits.limits import Limits
    from racer.evaluate.objective import Objective
    from racer.evaluate.outcome import Outcome
    from racer.evaluate.workers import Workers
    from racer.results.ablation import AblationResult

__all__ = ["ablation"]


@entry
def ablation(
    of: TuneResult | str | PathLike[str],
    evaluate: Objective,
    *,
    source: str | int | Mapping[str, Any] = "default",
    target: str | int | Mapping[str, Any] = "best",
    budget: int | Budget | None = None,
    n_jobs: int | Cluster | Workers = 1,
    blocks: int | None = None,
    limits: Limits | None = None,
    store: str | PathLike[str] | None = None,
    progress: bool | None = None,
    callbacks: Sequence[Callback] = (),
) -> AblationResult:
    """Find the changes between two configurations that made the difference.

    In each round every parameter that still differs is set to the target's value, with changes it
    forces; the results race against each other, and the best is the next source. What the tuning has
    evaluated on the same instance with the same seed is not evaluated again.

    Parameters
    ----------
    of : TuneResult, or the path of its store
        Of instances beyond JSON, what `racer.tune` or `racer.resume` returned: a store lacks them.
    evaluate : callable
        The same as of the tuning.
    source : "default", number or configuration
        "default": the space's, or the first initial candidate.
    target : "best", number or configuration
    budget : int or Budget, optional
        None, or of wall time alone: as much as it takes. A store then has the path so far.
    n_jobs
        As in `racer.race`.
    blocks : int, optional
        On how many blocks all configurations of the path are evaluated. None: all held-out
        instances, if there are five or more; else the first 30 blocks of the tuning.
    limits, store, progress, callbacks
        As in `racer.race`. The store is the ablation's own; the same call goes on with it.

    Returns
    -------
    AblationResult

    Raises
    ------
    SettingError, CandidateError, BudgetError, ObjectiveError, StoreError
        Invalid settings, before anything is evaluated.
    RaceInterrupted
        As in `racer.race`.

    References
    ----------
    Fawcett and Hoos: Analysing differences between algorithm configurations through ablation,
    Journal of Heuristics 22 (2016).

    Examples
    --------
    >>> import racer
    >>> space = racer.Space(
    ...     {"x": racer.Real(0, 9), "y": racer.Real(0, 9)}, default={"x": 9, "y": 9})
    >>> def evaluate(config, instance, seed):
    ...     return 10 * config["x"] + config["y"] + instance + seed % 7
    >>> result = racer.tune(space, evaluate, range(10), budget=200, seed=1)
    >>> found = racer.ablation(result, evaluate)
    >>> found.steps[0].parameters
    ('x',)
    """
    result = _loaded(of)
    if not isinstance(result, TuneResult):
        raise SettingError("an ablation needs the result of a tuning: parameters, in a space")
    ends = _config(result, source, "source"), _config(result, target, "target")
    held_out, places = _places(result, blocks)
    bare, wall, _ = Budget.parted(budget)
    items = result.test_instances if held_out else result.instances
    rules = result.rules.settings()
    parameters = len(result.space.parameters)
    most = Ablation.max_evaluations(parameters, len(places))
    limit = Budget.of(most if bare is None else bare)
    least = Ablation.min_evaluations(result.space, *ends, len(places), result.rules.first_test)
    if limit.evaluations is not None and limit.evaluations < least:
        raise BudgetError(
            f"budget of {limit.evaluations} evaluations: the first step on {len(places)} blocks takes "
            f"at least {least}, those that the tuning has made included; raise the budget, or give "
            "fewer blocks="
        )
    rules |= {"budget": replace(limit, wall=wall), "deterministic": False}
    rules |= {"seed": result.seed, "block_size": 1, "min_survivors": 1}
    if result.rules.goal is not None and result.rules.aim is not None:  # by the metric of the value
        rules |= {"objective": result.rules.aim.deciding[0], "decider": "bayesian-friedman"}
    given = {
        "space": result.space,
        "source": ends[0],
        "target": ends[1],
        "instances": None if items is None else [items[place.instance or 0] for place in places],
        "seeds": [place.seed for place in places],
        **rules,
    }
    known = _known(result, held_out, len(places))
    job = Job.of(
        evaluate,
        limits,
        n_jobs,
        store=store,
        progress=progress,
        callbacks=callbacks,
        known=lambda cell: known.get((result.space.key(cell.config), cell.block)),
    )
    found: AblationResult = job.run("ablation", given)
    return found


def _loaded(of: Any) -> Any:
    """Return the result, of its store if need be; StoreError if it has numbers for instances."""
    result = load_record(as_path(of, "of")).result if isinstance(of, str | os.PathLike) else of
    if isinstance(result, TuneResult) and result._only_described:  # noqa: SLF001  (not shown)
        raise StoreError(result._only_described)  # noqa: SLF001
    return result


def _config(result: TuneResult, end: Any, name: str) -> dict[str, Any]:
    """Return the configuration that is meant."""
    if isinstance(end, str):
        found: Any = None
        if end == "best":
            found = result.best
        elif end == "default":
            first = next((c for c, o in enumerate(result.origins) if o.initial), None)
            found = result.space.default or (None if first is None else result.config(first))
        else:
            raise SettingError(f'{name}={end!r}: give "default", "best", a number or a dict')
        if found is None:
            later = ", and to the next tuning Space(default=..)" if end == "default" else ""
            raise SettingError(
                f"{name}={end!r}: there is none in this tuning; give a configuration, or the "
                f"number of a candidate{later}"
            )
        return dict(found)
    try:
        return dict(result.config(int(end)) if is_whole(end) else result.space.check(end))
    except CandidateError as error:
        raise CandidateError(f"{name}={reprlib.repr(end)}: {error}") from None


def _places(result: TuneResult, blocks: int | None) -> tuple[bool, list[Place]]:
    """Return whether instances are held-out ones, and where each block takes place."""
    if blocks is not None:
        whole(blocks, "blocks", least=2)
    tests = len(result.test_instances)
    if tests >= (blocks or 5):
        return True, [result.stream.held_out(i) for i in range(blocks or tests)]
    length = result.stream.length
    n = blocks or 30
    n = n if length is None else min(n, length)
    return False, [result.stream.place(block) for block in range(n)]


def _known(result: TuneResult, held_out: bool, blocks: int) -> dict[tuple[Any, int], Outcome]:
    """Return the tuning's outcomes on these blocks, by configuration and block."""
    table = result.held_out if held_out else result.known
    runtime = result.rules.runtime
    limit = None if runtime is None else runtime.limit
    return {
        (result.space.key(config), block): outcome
        for candidate, config in enumerate(result.configs)
        for block, outcome in table.of(candidate).items()
        if block < blocks and bounded(outcome, limit) is not None  # not one capped below the limit
    }
