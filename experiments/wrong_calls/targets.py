"""Public calls, with arguments that work, and the verdict on a wrong call.

The signature says which arguments there are. One at a time is replaced by each of its wrong values;
None is not wrong where it is the default.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import re
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import click
import numpy as np
import pandas as pd

import racer
from experiments.wrong_calls.arguments import (
    ARGUMENTS,
    ARRAY,
    CALLED,
    EVALUATIONS,
    INF,
    INSTANCES,
    LIMITS,
    LIST,
    NAN,
    PATHS,
    THING,
    Evaluated,
    never,
    real,
    whole,
)
from racer import Integer, Outcome, Param, Real, deciders, simulate, stats

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

__all__ = ["Call", "calls", "judged"]

SCORES = np.random.default_rng(1).random((12, 3))
OUTCOMES = [
    *(None, 3.0, "ok", THING, ("ok", 1.0), Outcome, Outcome("okay", 1.0), Outcome("ok", NAN)),  # type: ignore[arg-type]
    *(Outcome("ok"), Outcome("ok", "1"), Outcome("ok", value=True), Outcome("ok", INF)),  # type: ignore[arg-type]
    *(Outcome("ok", 1.0, seconds=-1.0), Outcome("ok", 1.0, seconds=NAN), Outcome("failed", 1.0)),
    *(Outcome("failed", None, attempts=0), Outcome("ok", 1.0, spend=-1.0)),
    *(Outcome("ok", 1.0, spend=NAN), Outcome("failed", None, message=3)),  # type: ignore[arg-type]
]
CELLS = [3, "cell", THING, racer.Cell(0, 7, 7, None, 1), racer.Cell(9, 0, 1, None, 1), (0, 0)]
_OF_SKLEARN = ("param_distributions", "refit", "verbose", "pre_dispatch", "return_train_score")
TOLD: list[Any] = [
    *(None, 3.0, [1.0], [1.0, NAN, 2.0], ["a", "b", "c"], THING, [[1.0, 2.0, 3.0]], {}, 1j),
    *([True, None, 1.0], [Outcome("ok", 1.0)], [Outcome("ok", 1.0), 1.0, 2.0]),
]


class Target(NamedTuple):
    """A call that works; `own` has wrong values by argument, [] for one that is left out."""

    name: str
    call: Callable[..., object]
    base: dict[str, Any] = {}  # noqa: RUF012  (none is changed)
    own: dict[str, list[Any]] = {}  # noqa: RUF012


class Call(NamedTuple):
    """One wrong call; `names` is a pattern of what its message has to name."""

    target: str
    argument: str
    value: str
    run: Callable[[], object]
    names: str


def calls(folder: Path) -> Iterator[Call]:
    """Yield all wrong calls; files that they need are made in `folder`."""
    with contextlib.chdir(folder):
        for target in targets(folder):
            yield from calls_of(target)


def calls_of(target: Target) -> Iterator[Call]:
    """Yield the wrong calls of a target; an argument without wrong values is an error."""
    for name, parameter in inspect.signature(target.call).parameters.items():
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            continue
        for value in target.own[name] if name in target.own else ARGUMENTS[name]:
            if value is None and parameter.default is None:
                continue
            shown = f"{type(value).__name__} {str(value)[:90]!r}"
            names = "|".join(filter(None, (re.escape(name), CALLED.get(name))))
            run = partial(target.call, **{**target.base, name: value})
            yield Call(target.name, name, shown, run, names)


def judged(call: Call) -> tuple[str, str]:
    """Return the verdict on a call, "refused" or a fault, and its message."""
    EVALUATIONS.clear()
    how, said = _made(call)
    return ("evaluated" if EVALUATIONS else how), said


def _made(call: Call) -> tuple[str, str]:
    out = io.StringIO()
    try:
        with (
            warnings.catch_warnings(action="ignore"),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(out),
            np.errstate(all="ignore"),
        ):
            found = call.run()
    except Evaluated:
        return "evaluated", ""
    except (racer.RacerError, click.ClickException) as error:
        said = str(error) if isinstance(error, racer.RacerError) else error.format_message()
    except BaseException as error:  # noqa: BLE001
        return "raw", f"{type(error).__name__}: {error}"
    else:
        return "accepted", repr(found)[:80]
    return ("refused" if re.search(call.names, said, re.IGNORECASE) else "unnamed"), said


def _within(make: Callable[..., Any], **base: Any) -> Callable[..., object]:
    """Return a call that passes its arguments to a parameter of a space, 'p'."""

    def call(**given: Any) -> object:
        return racer.Space({"p": make(**{**base, **given})})

    return _signed(call, inspect.signature(make))


def _signed(call: Callable[..., object], signature: inspect.Signature) -> Callable[..., object]:
    call.__signature__ = signature  # type: ignore[attr-defined]
    return call


def _one(make: Callable[..., object]) -> Callable[..., object]:
    return lambda metric="a", limit=None: make(metric, b=limit)


def _tell(cell: Any = None, outcome: Any = None) -> None:
    race = racer.Race([1, 2, 3], budget=60, seed=1)
    race.tell(race.ask()[0] if cell is None else cell, outcome)


def _tell_block(told: Any = (1.0, 2.0, 3.0), seconds: Any = None) -> None:
    racer.Race([1, 2, 3], budget=60, seed=1).tell_block(told, seconds=seconds)


def _program(instance: Any) -> None:
    never(None, instance, None)


async def _never_async(config: Any, instance: Any, seed: Any) -> float:
    never(config, instance, seed)


def targets(folder: Path) -> Iterator[Target]:
    """Yield the public functions, classes and methods, each with arguments that work."""
    space = racer.Space({"x": Real(0, 1), "y": Integer(1, 5)})
    run = folder / "run.db"
    racer.race([1, 2, 3], lambda x, _, seed: x + seed % 7, range(20), budget=30, seed=1, store=run)
    tuned = racer.tune(space, lambda c, *_: float(c["x"]), [1, 2, 3], budget=60, seed=1)
    eight, doing = {"instances": [*range(8)]}, {"evaluate": never}
    raced, asked = (
        {"candidates": [1, 2, 3], **eight, "budget": 60},
        {"space": space, **eight, "budget": 120},
    )
    of_tune: dict[str, list[Any]] = {
        "prices": [3, "1", [], [1.0, 2.0], THING, {}, -1.0],
        "parallel_races": whole(1),
        "test_elites": whole(0),
    }
    yield Target("race", racer.race, {**raced, **doing})
    yield Target("Race", racer.Race, raced)
    yield Target(
        "Race.tell", _tell, {"outcome": Outcome("ok", 1.0)}, {"cell": CELLS, "outcome": OUTCOMES}
    )
    yield Target("Race.tell_block", _tell_block, {}, {"told": TOLD, "seconds": real(-1, INF)})
    yield Target("tune", racer.tune, {**asked, **doing}, of_tune)
    yield Target("Tuner", racer.Tuner, asked, of_tune)
    yield Target("resume", racer.resume, {"store": run, **doing, "budget": 90})
    yield Target("load", racer.load)
    yield Target("ablation", racer.ablation, {"of": tuned, **doing, "source": {"x": 0.0, "y": 1}})
    programs = {"programs": {"a": _program, "b": _program}, **eight, "rounds": 2}
    yield Target("bench", racer.bench, programs)
    yield Target("compare", racer.compare, {"scores": pd.DataFrame(SCORES), "maximize": False})
    tables = {"path": [*PATHS, None, "", "nowhere.csv", "/dev/null", "a\0b"]}  # not a folder
    yield Target("read_scores", lambda path: racer.read_scores(path), {}, tables)  # noqa: PLW0108
    yield from _values(folder)
    for name in deciders.__all__:
        made = getattr(deciders, name)
        if inspect.isclass(made) and hasattr(made, "start") and name != "Decider":
            yield Target(name, made)
    yield Target("as_decider", deciders.as_decider)
    yield from _statistics()
    for name in simulate.__all__:
        if name.endswith("World") and name not in ("World", "RecordedWorld"):
            yield Target(name, getattr(simulate, name), {"q": 3, "rho": 0.5})
    yield Target("RecordedWorld", simulate.RecordedWorld, {"table": pd.DataFrame(SCORES)})
    played = {"decider": "f-race", "world": simulate.NormalWorld(3, 0.5), "repetitions": 2}
    yield Target("play", simulate.play, {**played, "blocks": 10}, {"blocks": whole(1)})
    yield Target("answers", simulate.answers)
    with contextlib.suppress(ImportError):
        yield from _optuna()
    with contextlib.suppress(ImportError):
        yield from _sklearn()


def _values(folder: Path) -> Iterator[Target]:
    space = racer.Space({"x": Real(0, 1), "y": Integer(1, 5)})
    yield Target("Budget", racer.Budget, {"evaluations": 5})
    yield Target("Metric", racer.Metric)
    yield Target("Runtime", racer.Runtime, {"limit": 5.0})
    yield Target("Throttled", racer.Throttled, {"evaluate": _never_async, "calls_per_minute": 60})
    yield Target("Command", racer.Command, {"argv": ["true", "{instance}"]})
    yield Target("Pareto", lambda metric: racer.Pareto("a", metric), {}, {"metric": [3, None, "a"]})
    yield Target("Within", _one(racer.Within), {}, {"limit": real(-0.1, INF)})
    yield Target("Constrained", _one(racer.Constrained), {"limit": ("<=", 0.1)}, {"limit": LIMITS})
    for kind in (Real, Integer):
        yield Target(kind.__name__, _within(kind), {"low": 1, "high": 9})
    yield Target("Categorical", _within(racer.Categorical))
    yield Target("Ordinal", _within(racer.Ordinal))
    yield Target("Param", Param)
    yield Target("Space", racer.Space, {"parameters": {"x": Real(0, 1), "y": Integer(1, 5)}})
    yield Target("Space.sample", space.sample, {"n": 2})
    yield Target("Space.encode", space.encode)
    yield Target("Space.decode", space.decode)
    yield Target("Space.from_json", racer.Space.from_json, {"data": space.to_json()})
    yield Target("Space.from_irace", racer.Space.from_irace, {"text": 'x "" r (0, 1)'})
    written = folder / "space.txt"
    written.write_text('x "" r (0, 1)\ny "" i (1, 5)\n')
    for name in ("read_irace", "read_pcs", "read_configspace"):
        yield Target(
            f"Space.{name}", getattr(racer.Space, name), {"path": written}, {"forbidden": []}
        )
    yield Target("Space.from_sklearn", racer.Space.from_sklearn)


def _statistics() -> Iterator[Target]:
    bases: dict[str, Any] = {"scores": SCORES, "x": SCORES[:, 0], "y": SCORES[:, 1]}
    bases |= {"samples": [SCORES[:, 0], SCORES[:, 1]], "table": SCORES, "n_candidates": 3}
    bases |= {"p_values": [0.1, 0.2, 0.3], "n_blocks": 12}
    given: dict[str, dict[str, Any]] = {
        "front_posterior": {"scores": np.random.default_rng(1).random((12, 3, 2))},
        "correlated_t_test": {"correlation": 0.1},
        "hierarchical_t_test": {"x": SCORES, "y": SCORES, "correlation": 0.1},
        "plackett_luce_by_budget": {"scores": {1.0: SCORES, 2.0: SCORES}},
    }
    own: dict[str, dict[str, list[Any]]] = {
        "front_posterior": {
            "maximize": [True, 3, [True], ["a", "b"]],
            "exact": [3, [True], ["a", "b"], THING],
        },
        "best_posterior": {"instances": [3, [1], [1.5] * 12, ["a"] * 12, THING, np.zeros((12, 2))]},
        "win_table": {"threshold": real(-1, INF)},
    }
    for name in stats.__all__:
        function = getattr(stats, name)
        if inspect.isfunction(function):
            parameters = inspect.signature(function).parameters.values()
            needed = [p.name for p in parameters if p.default is p.empty and p.name in bases]
            base = {**{key: bases[key] for key in needed}, **given.get(name, {})}
            yield Target(name, function, base, own.get(name, {}))


def _optuna() -> Iterator[Target]:
    import optuna  # noqa: PLC0415

    from racer.integrations import optuna as ours  # noqa: PLC0415

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1))
    yield Target("RacingPruner", ours.RacingPruner, {}, {"instances": whole(1)})
    yield Target("RacingSampler", ours.RacingSampler)
    yield Target("best_trials_by_evidence", ours.best_trials_by_evidence, {"study": study})
    base: dict[str, Any] = {"study": study, "evaluate": never, "instances": [*range(8)]}
    base |= {"suggest": {"x": optuna.distributions.FloatDistribution(0, 1)}, "budget": 60}
    own = {"elites": whole(0), "instances": [*INSTANCES, None]}
    yield Target("race_study", ours.race_study, {**base, "seed": 1}, own)


def _sklearn() -> Iterator[Target]:
    from sklearn.dummy import DummyClassifier  # noqa: PLC0415

    from racer.integrations import sklearn as ours  # noqa: PLC0415

    class Never(DummyClassifier):  # type: ignore[misc]
        """A model that may not be fitted."""

        def __init__(self, depth: int = 1) -> None:
            super().__init__()
            self.depth = depth

        def fit(self, X: Any, y: Any) -> NoReturn:  # noqa: N803
            never(X, y, None)

    data, target = np.arange(40.0).reshape(20, 2), np.arange(20) % 2

    def fits(kind: Callable[..., Any]) -> Callable[..., object]:
        def call(**settings: Any) -> object:
            try:
                return kind(Never(), **{"random_state": 1, **settings}).fit(data, target)
            except (ValueError, TypeError) as error:  # as scikit-learn raises
                raise racer.SettingError(str(error)) from None

        parameters = [*inspect.signature(kind).parameters.values()][1:]
        return _signed(call, inspect.Signature(parameters))

    own: dict[str, list[Any]] = {
        "correlation": ["nonesuch", -0.1, 1, NAN, THING, ARRAY, True, LIST],
        "n_jobs": [0, 1.5, "2", THING, LIST],
        "n_candidates": whole(1),
        "space": [None, 3, {}, "x", THING, {"nope": Integer(1, 3)}],
        **{name: [] for name in _OF_SKLEARN},
    }
    yield Target(
        "RacingSearchCV", fits(ours.RacingSearchCV), {"param_grid": {"depth": [1, 2]}}, own
    )
    tuned = {"space": racer.Space({"depth": Integer(1, 9)}), "budget": 60}
    yield Target("TunedSearchCV", fits(ours.TunedSearchCV), tuned, own)
