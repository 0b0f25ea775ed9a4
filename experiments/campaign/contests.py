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
from typing import TYPE_CHECKING, Any

import numpy as np

import racer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

__all__ = ["CONTESTS"]

PAUSE = 0.002  # seconds that an evaluation takes
SPACE = racer.Space({"x": racer.Real(0, 1), "k": racer.Categorical(["a", "b", "c"])})
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


def _race_text(result: Any) -> str:
    values = result.known.values(len(result.configs)).tolist()
    said = [
        repr(result.configs),
        [result.best_index, result.survivors, str(result.ended), result.evaluations],
        repr(values),
        result.eliminations.to_dict("records"),
        repr(sorted(result.known.failures)),
        list(result.probability_best.values()),
    ]
    return json.dumps(said, default=str)


def _race(folder: Path | None, seed: int, **more: Any) -> str:
    settings: dict[str, Any] = {"decider": "f-race-sign", "budget": 90, **more}
    evaluate = settings.pop("evaluate", _number)
    store = None if folder is None else folder / "run.db"
    return _race_text(racer.race(POOL, evaluate, range(8), seed=seed, store=store, **settings))


def _executor(folder: Path | None, seed: int) -> str:
    with ProcessPoolExecutor(2) as executor:
        return _race(folder, seed, executor=executor)


def _runtime(folder: Path | None, seed: int, n_jobs: int = 1) -> str:
    times = racer.Runtime(20.0, slack=1.0)
    return _race(folder, seed, evaluate=_seconds, runtime=times, timeout=60.0, n_jobs=n_jobs)


def _fronts(folder: Path | None, seed: int, n_jobs: int = 1) -> str:
    aims = {"metrics": {"error": "min", "size": "min"}, "objective": racer.Pareto("error", "size")}
    return _race(folder, seed, evaluate=_metrics, decider=None, n_jobs=n_jobs, **aims)


def _money(folder: Path | None, seed: int) -> str:
    budget = racer.Budget(spend=45.0)
    return _race(folder, seed, evaluate=_metrics, metrics={"error": "min"}, budget=budget)


def _tune(folder: Path | None, seed: int, n_jobs: int = 1) -> str:
    store = None if folder is None else folder / "run.db"
    return _race_text(_tuned(store, seed, n_jobs))


def _tuned(store: Path | None, seed: int, n_jobs: int) -> Any:
    return racer.tune(SPACE, _number, range(8), budget=150, seed=seed, n_jobs=n_jobs, store=store)


def _ablation(folder: Path | None, seed: int, n_jobs: int = 1) -> str:
    tuned = racer.tune(SPACE, _quick, range(8), budget=60, seed=seed)
    store = None if folder is None else folder / "run.db"
    ends: dict[str, Any] = {"source": {"x": 1.0, "k": "b"}, "target": {"x": 0.1, "k": "a"}}
    found = racer.ablation(tuned, _number, **ends, blocks=20, n_jobs=n_jobs, store=store)
    values = found.known.values(len(found.configs)).tolist()
    return json.dumps([repr(found.configs), found.path, repr(values), str(found.ended)])


def _quick(config: Mapping[str, Any], instance: int, seed: int) -> float:
    return float(config["x"] + seed % 7 + instance)


def _study(folder: Path | None, seed: int, n_jobs: int = 1) -> str:
    import optuna  # noqa: PLC0415

    from racer.integrations.optuna import RacingSampler, race_study  # noqa: PLC0415

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    from optuna.storages import journal  # noqa: PLC0415

    storage = None
    if folder is not None:
        storage = optuna.storages.JournalStorage(
            journal.JournalFileBackend(str(folder / "journal"))
        )
    sampler = RacingSampler(seed=seed)
    study = optuna.create_study(
        study_name="s", storage=storage, sampler=sampler, load_if_exists=True
    )
    suggest = {
        "x": optuna.distributions.FloatDistribution(0, 1),
        "k": optuna.distributions.CategoricalDistribution(["a", "b", "c"]),
    }
    settings = {"budget": 90, "seed": seed, "n_jobs": n_jobs}
    found = race_study(study, _number, range(8), suggest=suggest, **settings)  # type: ignore[arg-type]
    trials = [
        (trial.params, sorted(trial.intermediate_values.items()), trial.state.name)
        for trial in study.get_trials()
    ]
    return json.dumps([study.trials[found.best].params, repr(trials)])


def _data() -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(60, 4))
    return x, (x[:, 0] + rng.normal(size=60) > 0).astype(int)


def _search_text(search: Any) -> str:
    keys = [k for k in search.cv_results_ if k.startswith(("split", "param_", "race"))]
    told = {k: [str(v) for v in search.cv_results_[k]] for k in sorted(keys)}
    return json.dumps([repr(search.best_params_), told])


def _racing_search(folder: Path | None, seed: int, n_jobs: int = 1) -> str:
    from sklearn.tree import DecisionTreeClassifier  # noqa: PLC0415

    from racer.integrations.sklearn import RacingSearchCV  # noqa: PLC0415

    grid = {"max_depth": [1, 2, 3], "min_samples_leaf": [1, 5]}
    store = None if folder is None else folder / "run.db"
    model = DecisionTreeClassifier(random_state=0)
    search = RacingSearchCV(
        model, grid, cv=8, random_state=seed, store=store, n_jobs=n_jobs, first_test=3
    )
    return _search_text(search.fit(*_data()))


def _tuned_search(folder: Path | None, seed: int, n_jobs: int = 1) -> str:
    from sklearn.tree import DecisionTreeClassifier  # noqa: PLC0415

    from racer.integrations.sklearn import TunedSearchCV  # noqa: PLC0415

    space = racer.Space({"max_depth": racer.Integer(1, 9), "min_samples_leaf": racer.Integer(1, 9)})
    store = None if folder is None else folder / "run.db"
    model = DecisionTreeClassifier(random_state=0)
    search = TunedSearchCV(
        model, space, cv=8, budget=60, random_state=seed, store=store, n_jobs=n_jobs
    )
    return _search_text(search.fit(*_data()))


_PROGRAM = """#!/bin/sh
echo $(( 1${1#*.} % 1009 + ${2##*/} * 7 + $3 % 101 ))
"""


def _command(folder: Path | None, seed: int, n_jobs: int = 1) -> str:
    """Run `racer tune` on a scenario; without a folder on a new one."""
    import tempfile  # noqa: PLC0415
    from pathlib import Path  # noqa: PLC0415

    from racer.cli.commands import main  # noqa: PLC0415

    if folder is None:
        with tempfile.TemporaryDirectory() as new:
            return _command(Path(new), seed, n_jobs)
    program = folder / "run.sh"
    if not program.exists():
        part = folder / "run.part"
        part.write_text(_PROGRAM)
        part.chmod(0o755)
        part.rename(program)
        (folder / "space.txt").write_text('x "" r (0, 1)\n')
        (folder / "list.txt").write_text("1\n2\n3\n4\n")
    words = ["tune", "--space", str(folder / "space.txt"), "--instances", str(folder / "list.txt")]
    words += [
        "--instances-folder",
        "",
        "--budget",
        "60",
        "--seed",
        str(seed),
        "--jobs",
        str(n_jobs),
    ]
    words += [
        "--store",
        str(folder / "run.db"),
        "--command",
        f"{program} {{x}} {{instance}} {{seed}}",
    ]
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(out), suppress(SystemExit):
        main.main(words, prog_name="racer")
    try:
        return _race_text(racer.load(folder / "run.db"))
    except racer.StoreError:
        raise RuntimeError(out.getvalue()) from None


def _jobs(contest: Callable[..., str], n_jobs: int) -> Callable[..., str]:
    def run(folder: Path | None, seed: int) -> str:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return contest(folder, seed, n_jobs=n_jobs) if n_jobs else contest(folder, seed)

    return run


CONTESTS: dict[str, Callable[[Path | None, int], str]] = {
    **{
        f"{name}, n_jobs={n}": _jobs(contest, n)
        for name, contest in (
            ("race", _race),
            ("race of run times", _runtime),
            ("race of two metrics", _fronts),
            ("tune", _tune),
            ("ablation", _ablation),
            ("race_study", _study),
            ("RacingSearchCV", _racing_search),
            ("TunedSearchCV", _tuned_search),
            ("racer tune", _command),
        )
        for n in (1, 2)
    },
    "race on a budget of money": _jobs(_money, 0),
    "race, executor": _jobs(_executor, 0),
}
