"""Wrong arguments of what racer is inside of Optuna and scikit-learn."""

# ruff: noqa: ARG002  (functions of which it counts whether they are called)

from __future__ import annotations

import contextlib
import inspect
import io
from typing import TYPE_CHECKING, Any

import numpy as np

import racer
from experiments.wrong_calls.kinds import (
    ARRAY,
    EVALUATE,
    FLAG,
    FRACTION,
    HOW,
    INF,
    INSTANCES,
    LIST,
    NAN,
    PATHS,
    RULES,
    SEEDS,
    THING,
    Target,
    evaluated,
    never,
    real,
    whole,
)

if TYPE_CHECKING:
    from collections.abc import Iterator


def plugin_targets() -> Iterator[Target]:
    """Yield what is installed of the searches and of what Optuna takes."""
    with contextlib.suppress(ImportError):
        yield from _optuna()
    with contextlib.suppress(ImportError):
        yield from _sklearn()


def _optuna() -> Iterator[Target]:
    import optuna  # noqa: PLC0415

    from racer.integrations import optuna as ours  # noqa: PLC0415

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    pruner: dict[str, list[Any]] = {
        "decider": RULES["decider"],
        "instances": [v for v in whole(1) if v is not None],
        "first_test": [v for v in whole(1) if v is not None],
        "epsilon": real(-0.1, 0.5, 1, INF),
        "confidence": FRACTION,
        "seed": SEEDS,
    }
    yield Target("RacingPruner", ours.RacingPruner, pruner)
    sampler: dict[str, list[Any]] = {
        "n_startup_trials": whole(0),
        "by_instance": [*FLAG, None],
        "constraints_func": [3, "f", THING, LIST],
        "seed": SEEDS,
    }
    yield Target("RacingSampler", ours.RacingSampler, sampler)
    study = optuna.create_study()
    floats = optuna.distributions.FloatDistribution
    names = {"study": "study"}
    evidence = {"study": [None, 3, THING, "study"], "confidence": FRACTION}
    yield Target(
        "best_trials_by_evidence", ours.best_trials_by_evidence, evidence, {"study": study}, names
    )

    def race(**given: Any) -> object:
        fresh = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1))
        return ours.race_study(given.pop("study", fresh), **given)

    wrong: dict[str, list[Any]] = {
        "study": [None, 3, THING, "study"],
        "evaluate": EVALUATE,
        "instances": [*INSTANCES, None],
        "suggest": [None, 3, "x", {}, {"x": 3}, THING, {"x": racer.Real(0, 1)}, lambda: 1],
        "budget": [*whole(1), 3],
        "trials": whole(1),
        "elites": [v for v in whole(0) if v is not None],
        "decider": RULES["decider"],
        "first_test": [v for v in whole(1) if v is not None],
        "metrics": RULES["metrics"],
        "objective": RULES["objective"],
        **{name: HOW[name] for name in ("n_jobs", "timeout", "memory", "retries", "progress")},
        "seed": SEEDS,
    }
    base = {"evaluate": never, "instances": [*range(8)], "suggest": {"x": floats(0, 1)}}
    base |= {"budget": 60, "seed": 1}
    yield Target("race_study", race, wrong, base)


def _model() -> None:
    """Stand for a model, where a checksum of one is taken."""


def _sklearn() -> Iterator[Target]:
    from sklearn.base import BaseEstimator, ClassifierMixin  # noqa: PLC0415

    from racer.integrations import sklearn as ours  # noqa: PLC0415

    class Never(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
        """A model that may not be fitted."""

        def __reduce__(self) -> Any:
            return _model, ()

        def __init__(self, depth: int = 1) -> None:
            self.depth = depth

        def fit(self, X: Any, y: Any) -> Any:  # noqa: N803
            evaluated()

        def predict(self, X: Any) -> Any:  # noqa: N803
            evaluated()

    data = np.arange(40.0).reshape(20, 2)
    target = np.arange(20) % 2
    common: dict[str, list[Any]] = {
        "decider": RULES["decider"],
        "correlation": ["nonesuch", -0.1, 1, NAN, THING, ARRAY, True, LIST],
        "confidence": FRACTION,
        "rope": real(-0.1, INF),
        "first_test": whole(1),
        "elites": [v for v in whole(1) if v is not None],
        "budget": [v for v in whole(1) if v is not None] + [1],
        "n_candidates": [v for v in whole(1) if v is not None],
        "store": [*PATHS, "", "a\0b", "nowhere/run.db", "/"],
        "random_state": ["x", THING, LIST, -1],
        "cv": [1, "x", THING, 1.5],
        "scoring": ["nonesuch", 3, THING],
        "space": [None, 3, {}, "x", THING, {"nope": racer.Integer(1, 3)}],
        "param_grid": [3, "x", {"depth": 3}, {"depth": []}, {"nope": [1, 2]}, THING],
        "error_score": ["x", THING, None],
        "n_jobs": [0, 1.5, "2", THING, LIST],
    }
    for name, given in (
        ("RacingSearchCV", {"param_grid": {"depth": [1, 2, 3]}}),
        ("TunedSearchCV", {"space": racer.Space({"depth": racer.Integer(1, 9)}), "budget": 60}),
    ):
        kind = getattr(ours, name)
        parameters = inspect.signature(kind).parameters

        def fit(kind: Any = kind, **settings: Any) -> object:
            with contextlib.redirect_stderr(io.StringIO()):
                try:
                    return kind(Never(), **{"random_state": 1, **settings}).fit(data, target)
                except (ValueError, TypeError) as error:  # as scikit-learn raises
                    raise racer.SettingError(str(error)) from None

        wrong = {n: v for n, v in common.items() if n in parameters}
        names = {"cv": "cv|split|cross-valid|fold", "param_grid": "grid|depth|nope|param"}
        names |= {"space": "space|param|nope", "random_state": "seed|random_state"}
        names |= {"scoring": "scor", "n_candidates": "n_candidates|grid"}
        yield Target(name, fit, wrong, given, names)
