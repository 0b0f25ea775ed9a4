"""Small contests of every kind, whose results are functions of their seed, to be killed and resumed.

Each runs on a folder of its own, in which it records, and returns its result as text.
"""

from __future__ import annotations

import io
import json
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stderr, redirect_stdout, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import racer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

__all__ = ["CONTESTS", "ENDS", "SPACE", "text_of"]

PAUSE = 0.002  # seconds that an evaluation takes
SPACE = racer.Space({"x": racer.Real(0, 1), "k": racer.Categorical(["a", "b", "c"])})
ENDS: dict[str, Any] = {"source": {"x": 1.0, "k": "b"}, "target": {"x": 0.1, "k": "a"}}
POOL = [{"x": x / 6, "k": "a"} for x in range(6)]


def _number(config: Mapping[str, Any], instance: int, seed: int) -> float:
    rng = np.random.default_rng([seed, instance, round(config["x"] * 1e6), ord(config["k"])])
    time.sleep(PAUSE * float(rng.uniform(0.5, 1.5)))
    if rng.random() < 0.03:
        raise ValueError(f"no luck at {config['x']}")
    return float(config["x"] + 0.3 * (config["k"] == "b") + 0.2 * rng.normal())


def _metrics(config: Mapping[str, Any], instance: int, seed: int) -> dict[str, float]:
    value = _number(config, instance, seed)
    return {"error": value, "size": 1.0 - config["x"], "spend": 0.5}


def _seconds(config: Mapping[str, Any], instance: int, seed: int) -> float:
    return 4.0 * float(np.exp(_number(config, instance, seed)))


def text_of(result: Any) -> str:
    """Return what a result says, as text."""
    values = result.known.values(len(result.configs)).tolist()
    said = [repr(result.configs), repr(values), str(result.ended)]
    said += [repr(sorted(result.known.failures))]
    if isinstance(result, racer.AblationResult):
        return json.dumps([*said, result.path])
    eliminations = result.eliminations.to_dict("records")
    said += [result.best_index, result.survivors, result.evaluations, eliminations]
    return json.dumps([*said, list(result.probability_best.values())], default=str)


def _race(folder: Path, seed: int, **more: Any) -> str:
    settings: dict[str, Any] = {"decider": "f-race-sign", "budget": 90, **more}
    evaluate = settings.pop("evaluate", _number)
    store = folder / "run.db"
    return text_of(racer.race(POOL, evaluate, range(8), seed=seed, store=store, **settings))


def _executor(folder: Path, seed: int) -> str:
    with ProcessPoolExecutor(2) as executor:
        return _race(folder, seed, n_jobs=executor)


def _tune(folder: Path, seed: int, n_jobs: int) -> str:
    how: dict[str, Any] = {"budget": 150, "n_jobs": n_jobs, "store": folder / "run.db"}
    return text_of(racer.tune(SPACE, _number, range(8), seed=seed, **how))


def _ablation(folder: Path, seed: int, n_jobs: int) -> str:
    tuned = racer.tune(SPACE, _quick, range(8), budget=60, seed=seed)
    how: dict[str, Any] = {"blocks": 20, "n_jobs": n_jobs, "store": folder / "run.db"}
    return text_of(racer.ablation(tuned, _number, **ENDS, **how))


def _quick(config: Mapping[str, Any], instance: int, seed: int) -> float:
    return float(config["x"] + seed % 7 + instance)


def _study(folder: Path, seed: int, n_jobs: int) -> str:
    import optuna  # noqa: PLC0415
    from optuna.storages import journal  # noqa: PLC0415

    from racer.integrations.optuna import RacingSampler, race_study  # noqa: PLC0415

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    storage = journal.JournalStorage(journal.JournalFileBackend(str(folder / "journal")))
    study = optuna.create_study(
        study_name="s", storage=storage, sampler=RacingSampler(seed=seed), load_if_exists=True
    )
    suggest = {
        "x": optuna.distributions.FloatDistribution(0, 1),
        "k": optuna.distributions.CategoricalDistribution(["a", "b", "c"]),
    }
    settings: dict[str, Any] = {"suggest": suggest, "budget": 90, "seed": seed, "n_jobs": n_jobs}
    found = race_study(study, _number, range(8), **settings)
    trials = [
        (trial.params, sorted(trial.intermediate_values.items()), trial.state.name)
        for trial in study.get_trials()
    ]
    return json.dumps([study.trials[found.best].params, repr(trials)])


def _search(folder: Path, seed: int, n_jobs: int, *, is_tuned: bool) -> str:
    from sklearn.tree import DecisionTreeClassifier  # noqa: PLC0415

    from racer.integrations.sklearn import RacingSearchCV, TunedSearchCV  # noqa: PLC0415

    rng = np.random.default_rng(1)
    x = rng.normal(size=(60, 4))
    y = (x[:, 0] + rng.normal(size=60) > 0).astype(int)
    model = DecisionTreeClassifier(random_state=0)
    how: dict[str, Any] = {"cv": 8, "random_state": seed, "n_jobs": n_jobs}
    how["store"] = folder / "run.db"
    grid = {"max_depth": [1, 2, 3], "min_samples_leaf": [1, 5]}
    space = racer.Space(dict.fromkeys(grid, racer.Integer(1, 9)))
    search: Any = RacingSearchCV(model, grid, first_test=3, **how)
    if is_tuned:
        search = TunedSearchCV(model, space, budget=60, **how)
    found = search.fit(x, y).cv_results_
    keys = sorted(k for k in found if k.startswith(("split", "param_", "race")))
    told = {k: [str(v) for v in found[k]] for k in keys}
    return json.dumps([repr(search.best_params_), told])


_PROGRAM = """#!/bin/sh
echo $(( 1${1#*.} % 1009 + ${2##*/} * 7 + $3 % 101 ))
"""


def _command(folder: Path, seed: int, n_jobs: int) -> str:
    """Run `racer tune` on a program."""
    from racer.cli.commands import main  # noqa: PLC0415

    program, part = folder / "run.sh", folder / "run.part"
    if not program.exists():
        part.write_text(_PROGRAM)
        part.chmod(0o755)
        part.rename(program)
        (folder / "space.txt").write_text('x "" r (0, 1)\n')
        (folder / "list.txt").write_text("1\n2\n3\n4\n")
    options = {
        "--space": folder / "space.txt",
        "--instances": folder / "list.txt",
        "--instances-folder": "",
        "--budget": 60,
        "--seed": seed,
        "--n-jobs": n_jobs,
        "--store": folder / "run.db",
        "--command": f"{program} {{x}} {{instance}} {{seed}}",
    }
    words = [str(word) for option in options.items() for word in option]
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(out), suppress(SystemExit):
        main.main(["tune", *words], prog_name="racer")
    try:
        return text_of(racer.load(folder / "run.db"))
    except racer.StoreError:
        raise RuntimeError(out.getvalue()) from None


def _silent(contest: Callable[..., str], folder: Path, seed: int) -> str:
    with warnings.catch_warnings(action="ignore"):
        return contest(folder, seed)


_CAPPED: dict[str, Any] = {
    "goal": racer.Runtime(20.0, slack=1.0),
    "limits": racer.Limits(timeout=60.0),
}
_AIMS: dict[str, Any] = {"goal": {"error": "min", "size": "min"}, "decider": None}
_MONEY: dict[str, Any] = {"goal": {"error": "min"}, "budget": racer.Budget(spend=45.0)}
_KINDS: dict[str, Callable[..., str]] = {
    "race": _race,
    "race of run times": partial(_race, evaluate=_seconds, **_CAPPED),
    "race of two metrics": partial(_race, evaluate=_metrics, **_AIMS),
    "tune": _tune,
    "ablation": _ablation,
    "race_study": _study,
    "RacingSearchCV": partial(_search, is_tuned=False),
    "TunedSearchCV": partial(_search, is_tuned=True),
    "racer tune": _command,
}
CONTESTS: dict[str, Callable[[Path, int], str]] = {
    **{
        f"{name}, n_jobs={n}": partial(_silent, partial(contest, n_jobs=n))
        for name, contest in _KINDS.items()
        for n in (1, 2)
    },
    "race on a budget of money": partial(_silent, partial(_race, evaluate=_metrics, **_MONEY)),
    "race, executor": partial(_silent, _executor),
}
