"""`racer.gate`: is a change worse than the baseline, from as few evaluations as that takes."""

from __future__ import annotations

import hashlib
import inspect
import math
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from racer._checks import (
    check_fraction,
    counted,
    is_real,
    read_json,
    repeated,
    shortened,
    whole,
)
from racer._entry import entry
from racer._files import SQLITE, read_bytes
from racer.core.budget import Budget
from racer.core.objective import Metric
from racer.core.pool import as_sequence
from racer.deciders.gate import GateRace
from racer.direction import LARGER_IS_BETTER, Direction
from racer.errors import RaceInterrupted, ScoresError, SettingError
from racer.evaluate.command.command import Command
from racer.evaluate.objective import Around, is_coroutine_function
from racer.results.base import Result
from racer.results.gate import GateResult
from racer.run.job import Job
from racer.scenario.score_files import read_scores
from racer.seeding import check_seed, rng_for
from racer.store.jsonable import dumps, encode
from racer.store.load import load_record

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from os import PathLike

    from racer.evaluate.engines import Cluster
    from racer.evaluate.workers import Workers

    Baseline = Mapping[str, float] | pd.DataFrame | Result | str | PathLike[str]
    Goal = str | Mapping[str, str | Metric] | None

__all__ = ["gate"]

_CHANGE = "change"
_SHOWN = 3  # items in an error


@entry
def gate(
    baseline: Baseline,
    evaluate: Callable[..., Any],
    items: Sequence[Any] | Mapping[str, Any] | None = None,
    *,
    margin: float | str,
    goal: Goal = None,
    alpha: float = 0.05,
    budget: int | Budget | None = None,
    n_jobs: int | Cluster | Workers = 1,
    seed: int | None = None,
    store: str | PathLike[str] | None = None,
    progress: bool | None = None,
) -> GateResult:
    """Decide whether a change is worse than the baseline by more than a margin.

    The items are evaluated in random order, and compared with the baseline's recorded scores,
    until it is sure that the mean over all of them is worse by more than the margin, or is not.

    Parameters
    ----------
    baseline : mapping, DataFrame, result or path
        Scores of the baseline: ``{item: score}``, or such a JSON file; what `racer.read_scores`
        returns or reads, of one algorithm; or a result of racer, or its store, whose best counts.
    evaluate : callable or Command
        ``evaluate(item)``, or ``evaluate(item, seed)``, returns the score of the change; it may be
        a coroutine function. An evaluation that fails has the worst score.
    items : sequence or mapping, optional
        Items by name, or a list of names, of files, or of dicts with an "id". Each must have a
        score in the baseline. None: all of the baseline, by name.
    margin : float >= 0 or str
        Difference of means that does not matter, in units of the score. "2%": of the range of the
        scores, or without bounds of the baseline's mean.
    goal : {"min", "max"} or mapping, optional
        Whether smaller or larger scores are better; a mapping of the metric's name to that, or to a
        `racer.Metric` with bounds. None: as the file or the metric's name says. Scores
        from 0 to 1 of which larger are better, and scores that are all 0 or 1, have bounds.
    alpha : float in (0, 0.5)
        Probability that the answer "passes" is wrong, and that "worse" is.
    budget : int or Budget, optional
        Evaluations at most, or seconds or money. None: as many as there are items.
    n_jobs, seed, store, progress
        As in `racer.race`.

    Returns
    -------
    GateResult

    Raises
    ------
    ScoresError
        A baseline that cannot be used: other items, missing scores, several algorithms, another
        metric.
    SettingError, ObjectiveError
        Invalid settings; a score outside the bounds.
    RaceInterrupted
        Ctrl-C (it is a KeyboardInterrupt); its `result` is the result so far.

    References
    ----------
    Waudby-Smith, Ramdas: Confidence sequences for sampling without replacement (NeurIPS 2020).

    Examples
    --------
    >>> import racer
    >>> main = {f"q{i}": float(i % 5 > 0) for i in range(400)}
    >>> racer.gate(main, lambda item: float(item < "q2"), margin="2%", goal="max", seed=1).answer
    'worse'
    """
    metric, aim = _metric(goal)
    scores, named, by_format = _scores_of(baseline, metric)
    metric, values = metric or named, np.array([*scores.values()])
    maximize = None if aim is None else aim.direction == "max"
    if None not in {by_format, maximize} and by_format != maximize:
        word = "larger" if by_format else "smaller"
        raise ScoresError(f"the baseline says that {word} scores are better: give the same metric")
    larger = Direction.of(metric, maximize, by_format=by_format, values=values).maximize
    known, finite = _items(items, scores), values[np.isfinite(values)]
    bounds = None if aim is None else aim.bounds
    grades = (finite >= 0) & (finite <= 1) if larger else np.isin(finite, (0.0, 1.0))
    bounds = (0.0, 1.0) if bounds is None and grades.all() else bounds
    if bounds and len(bad := finite[(finite < bounds[0]) | (finite > bounds[1])]):
        raise ScoresError(f"the baseline has the score {bad[0]:g}, outside the bounds {bounds}")
    worst = float((-finite if larger else finite).max(initial=-math.inf))
    within, seed = _margin(margin, bounds, finite), check_seed(seed)
    names = [*known]
    order = [names[i] for i in rng_for(seed, "gate", "items").permutation(len(names)).tolist()]
    # a store refuses other candidates, and so another baseline, metric, or text of an item
    text = dumps(encode([sorted(scores.items()), metric, known]))
    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    limit: Any = budget  # the baseline's scores count as evaluations, too
    if not isinstance(budget, Budget):
        n = len(order) if budget is None else whole(budget, "budget", least=1)
        limit = 2 * min(n, len(order))
    given = {
        "candidates": [f"baseline {digest[:16]}", _CHANGE],
        "instances": order,
        "instance_order": "given",
        "decider": GateRace(check_fraction(alpha, "alpha", high=0.5), within, bounds, worst),
        "budget": limit,
        "maximize": larger,
        "seed": seed,
        "deterministic": True,
        "first_test": 1,
        "each_test": 1,
    }
    function = _later if is_coroutine_function(evaluate) else _gated
    objective = Around(function, evaluate, _takes_seed(evaluate), scores, known, metric)
    job = Job.of(objective, None, n_jobs, store=store, progress=progress, rehearses=False)
    try:
        return GateResult.of(job.run("race", given), metric or "score", within)
    except RaceInterrupted as stop:
        stop.result = GateResult.of(stop.result, metric or "score", within)
        raise


def _gated(
    evaluate: Any,
    with_seed: bool,
    scores: Any,
    items: Any,
    metric: Any,
    name: str,
    item: str,
    seed: int,
) -> Any:
    """Return the recorded score of the baseline, or the answer of the user's function."""
    if name != _CHANGE:
        return scores[item]
    if isinstance(evaluate, Command):
        return evaluate({}, items[item], seed)
    answer = evaluate(items[item], seed) if with_seed else evaluate(items[item])
    return answer.get(metric) if isinstance(answer, Mapping) else answer


async def _later(*given: Any) -> Any:
    """Return the score as `_gated` does, by a coroutine function."""
    answer = _gated(*given)
    answer = await answer if inspect.isawaitable(answer) else answer
    return answer.get(given[4]) if isinstance(answer, Mapping) else answer


def _takes_seed(evaluate: Any) -> bool:
    """Return whether it is called with an item and a seed; SettingError if with neither."""
    if isinstance(evaluate, Command):
        return True
    with suppress(TypeError):  # no function
        try:
            signature = inspect.signature(evaluate)
        except ValueError:  # some builtins have no signature
            return False
        for n in (1, 2):
            with suppress(TypeError):
                signature.bind(*range(n))
                return n == 2 or "seed" in signature.parameters
    raise SettingError("evaluate: give a function evaluate(item) or evaluate(item, seed)")


def _metric(goal: Any) -> tuple[str | None, Metric | None]:
    """Return the name of the metric and its direction, where the goal gives them."""
    if isinstance(goal, Mapping):
        if len(goal) != 1 or not all(isinstance(name, str) and name for name in goal):
            raise SettingError(f"goal={goal!r}: give one metric, {{'accuracy': 'max'}}")
        ((name, given),) = goal.items()
        return str(name), given if isinstance(given, Metric) else Metric(given)
    return None, None if goal is None else Metric(goal)


def baseline_in(path: Path, metric: str | None) -> Any:
    """Return the baseline in a file: a result, scores by item, or a frame of scores."""
    content = b"" if path.is_dir() else read_bytes(path)
    if content.startswith(SQLITE):
        return load_record(path).result
    try:
        document = read_json(content) if path.suffix == ".json" else None
    except ValueError as error:
        raise ScoresError(f"{path}: {error}") from None
    if document and isinstance(document, dict) and all(map(_is_score, document.values())):
        return document
    try:
        return read_scores(path, score=metric)
    except (ScoresError, SettingError):
        frame = read_scores(path)  # a column of scores, which has the name of the metric
        if set(frame["algorithm"]) != {metric}:
            raise
        return frame


def _scores_of(
    baseline: Any, metric: str | None
) -> tuple[dict[str, float], str | None, bool | None]:
    """Return the scores by item, the metric's name, and whether larger ones are better, if known."""
    if isinstance(baseline, str | os.PathLike):
        baseline = baseline_in(Path(baseline), metric)
    if isinstance(baseline, Result):
        return _of_result(baseline, metric)
    larger = None
    if isinstance(baseline, pd.DataFrame):
        larger = baseline.attrs.get(LARGER_IS_BETTER)
        who = [str(name) for name in baseline["algorithm"].unique()]
        if len(who) != 1:
            raise ScoresError(
                f"the baseline has {len(who)} algorithms, {_shown(who)}: choose one, "
                "frame[frame.algorithm == ..] (--candidate NAME)"
            )
        if len(again := baseline.loc[baseline["instance"].duplicated(), "instance"]):
            raise ScoresError(f"the baseline has more than one score of {_shown([*again])}")
        baseline = dict(zip(baseline["instance"], baseline["score"], strict=True))
    if not isinstance(baseline, Mapping) or not baseline:
        raise ScoresError("baseline: give {item: score}, a file of scores, or a store of racer")
    missing = [
        item for item, x in baseline.items() if not _is_score(x) or x is None or math.isnan(x)
    ]
    if missing:
        raise ScoresError(f"the baseline has no score, a finite number, of {_shown(missing)}")
    return {str(item): float(score) for item, score in baseline.items()}, None, larger


def _is_score(value: Any) -> bool:
    return value is None or isinstance(value, bool) or is_real(value)


def _of_result(result: Any, metric: str | None) -> tuple[dict[str, float], str | None, bool]:
    """Return the mean scores by instance of the best of a race or a tuning."""
    if result.best_index is None or result.instances is None:
        raise ScoresError("baseline: that result has no best with scores by instance")
    rules, frame = result.rules, result.scores
    aim = None if rules.aim is None else rules.aim.deciding[0]
    if aim is not None and metric not in {None, aim}:
        raise ScoresError(f"the baseline has the metric {aim!r}, the goal is of {metric!r}")
    own = frame[frame["candidate"] == result.best_index]
    values = own["value"].fillna(-math.inf if rules.maximize else math.inf)
    means = values.groupby(own["instance"]).mean()
    names = [str(item) for item in result.instances]
    return {names[i]: float(means[i]) for i in means.index.tolist()}, aim, rules.maximize


def _items(items: Any, scores: Mapping[str, float]) -> dict[str, Any]:
    """Return the items by name; ScoresError unless each has a score in the baseline."""
    if not isinstance(items, Mapping):
        listed = [*scores] if items is None else as_sequence(items, "items")
        named = [_named(i.get("id", i) if isinstance(i, Mapping) else i, scores) for i in listed]
        if again := repeated(named):
            raise ScoresError(f"items: more than one is {_shown(again)}")
        items = dict(zip(named, listed, strict=True))
    found = {str(name): item for name, item in items.items()}
    if other := [name for name in found if name not in scores]:
        raise ScoresError(
            f"the baseline has no score of {counted(len(other), 'item')}, {_shown(other)}; it has "
            f"{_shown([*scores])}: give a baseline of these items"
        )
    return found


def _named(item: Any, scores: Mapping[str, float]) -> str:
    """Return the name of an item: of a file, its path or its name, as the baseline has it."""
    path = Path(name := str(item))
    names = [path.name, path.stem] if os.path.exists(name) else []  # noqa: PTH110  (no error)
    return next((known for known in (name, *names) if known in scores), name)


def _margin(given: Any, bounds: tuple[float, float] | None, values: np.ndarray[Any, Any]) -> float:
    """Return the margin in units of the score."""
    share = str(given).removesuffix("%")
    value = math.nan
    with suppress(ValueError):
        value = float(share)
    if isinstance(given, bool) or not 0.0 <= value < math.inf:
        raise SettingError(f'margin={given!r}: give a number >= 0, or a share, "2%"')
    unit = bounds[1] - bounds[0] if bounds else abs(float(values.mean())) if len(values) else 1.0
    margin = value if share == str(given) else value / 100.0 * unit
    if margin >= unit > 0.0 and (bounds or share != str(given)):
        of = "range of the scores" if bounds else "mean score"
        raise SettingError(f'margin={given!r}: give less than the {of}, {unit:g}, as "2%"')
    return margin


def _shown(names: Sequence[Any]) -> str:
    """Return the first of some names."""
    return shortened([repr(name) for name in names], _SHOWN)
