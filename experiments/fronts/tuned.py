"""Tuning to a front of two metrics, beside Optuna's samplers at the same number of evaluations.

Eight problems on which nothing of racer was chosen, over 50 instances: each metric has a level and a
taste of the instance, and noise. Optuna evaluates each configuration on 5 or 10 instances, the same
ones, and is told the means; what it returns are its best trials. Of racer's tuning the elites count and
those that no other is better than by posterior means. Measured is the hypervolume of the true means,
up to the medians of random configurations, relative to the largest of all ways.
"""

from __future__ import annotations

import csv
import math
import warnings
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import joblib
import numpy as np

import racer
from experiments.options import jobs_option, number_option, words_option
from racer.stats.hypervolume import hypervolume
from racer.stats.several import on_front

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Config = Mapping[str, Any]

__all__ = ["main"]

HERE = Path(__file__).parent
INSTANCES = 50
FIRST_SEED = 100
UNIT = racer.Real(0, 1)


class Problem(NamedTuple):
    """Parameters, two metrics of a configuration, and the standard deviation of the noise."""

    parameters: dict[str, Any]
    metrics: Callable[[Config], tuple[float, float]]
    noise: float


def _vector(config: Config, low: float, high: float) -> Floats:
    return low + (high - low) * np.array([config[name] for name in sorted(config)])


def _fonseca(c: Config) -> tuple[float, float]:
    x = _vector(c, -2.0, 2.0)
    a = 1.0 / math.sqrt(len(x))
    return 1.0 - math.exp(-float(((x - a) ** 2).sum())), 1.0 - math.exp(
        -float(((x + a) ** 2).sum())
    )


def _kursawe(c: Config) -> tuple[float, float]:
    x = _vector(c, -5.0, 5.0)
    first = float((-np.exp(-0.2 * np.sqrt(x[:-1] ** 2 + x[1:] ** 2))).sum())
    return first, 0.1 * float((np.abs(x) ** 0.8 + 5.0 * np.sin(x**3)).sum())


def _zdt3(c: Config) -> tuple[float, float]:
    x = _vector(c, 0.0, 1.0)
    g = 1.0 + 4.0 * float(x[1:].mean())
    q = x[0] / g
    return float(x[0]), g * (1.0 - math.sqrt(q) - q * math.sin(10.0 * math.pi * q)) / 3.0


def _zdt6(c: Config) -> tuple[float, float]:
    x = _vector(c, 0.0, 1.0)
    first = 1.0 - math.exp(-4.0 * x[0]) * math.sin(6.0 * math.pi * x[0]) ** 6
    g = 1.0 + 3.0 * float(x[1:].mean()) ** 0.25
    return first, g * (1.0 - (first / g) ** 2) / 3.0


def _dtlz2(c: Config) -> tuple[float, float]:
    x = _vector(c, 0.0, 1.0)
    g = 1.0 + float(((x[1:] - 0.5) ** 2).sum())
    return g * math.cos(0.5 * math.pi * x[0]), g * math.sin(0.5 * math.pi * x[0])


def _poloni(c: Config) -> tuple[float, float]:
    x, y = _vector(c, -math.pi, math.pi)
    a = 0.5 * math.sin(1) - 2 * math.cos(1) + math.sin(2) - 1.5 * math.cos(2)
    b = 1.5 * math.sin(1) - math.cos(1) + 2 * math.sin(2) - 0.5 * math.cos(2)
    p = 0.5 * math.sin(x) - 2 * math.cos(x) + math.sin(y) - 1.5 * math.cos(y)
    q = 1.5 * math.sin(x) - math.cos(x) + 2 * math.sin(y) - 0.5 * math.cos(y)
    return (1 + (a - p) ** 2 + (b - q) ** 2) / 30.0, ((x + 3) ** 2 + (y + 1) ** 2) / 20.0


_MODELS = {"linear": (0.5, 0.1), "forest": (0.25, 0.4), "boosting": (0.15, 0.6), "net": (0.1, 1.0)}


def _models(c: Config) -> tuple[float, float]:
    error, seconds = _MODELS[c["model"]]
    miss = 0.8 * abs(c["rate"] - 0.4) if c["model"] in ("boosting", "net") else 0.1 * c["rate"]
    return error + miss + 0.2 / (1.0 + 9.0 * c["effort"]), seconds * (0.3 + c["effort"])


def _sizes(c: Config) -> tuple[float, float]:
    size = c["layers"] * c["width"] / 100.0
    fit = 0.6 / (1.0 + size) + 0.15 * abs(c["layers"] - 3) / 3.0
    return fit + 0.5 * (c["dropout"] - 0.3) ** 2, 0.15 * size + 0.05 * c["layers"]


PROBLEMS: dict[str, Problem] = {
    "Fonseca": Problem(dict.fromkeys("abc", UNIT), _fonseca, 0.1),
    "Kursawe": Problem(dict.fromkeys("abc", UNIT), _kursawe, 0.2),
    "ZDT3": Problem(dict.fromkeys("abcde", UNIT), _zdt3, 0.1),
    "ZDT6": Problem(dict.fromkeys("abcd", UNIT), _zdt6, 0.1),
    "DTLZ2": Problem(dict.fromkeys("abcdef", UNIT), _dtlz2, 0.3),
    "Poloni": Problem(dict.fromkeys("ab", UNIT), _poloni, 0.1),
    "models": Problem(
        {"model": racer.Categorical(list(_MODELS)), "rate": UNIT, "effort": UNIT}, _models, 0.1
    ),
    "sizes": Problem(
        {"layers": racer.Integer(1, 8), "width": racer.Integer(8, 512), "dropout": UNIT},
        _sizes,
        0.1,
    ),
}


def evaluated(problem: str, config: Config, instance: int, seed: int) -> dict[str, float]:
    """Return both metrics of a configuration on an instance."""
    own = PROBLEMS[problem]
    key = zlib.crc32(repr(sorted(config.items())).encode())
    rng = np.random.default_rng([seed, instance, key])
    of_instance = np.random.default_rng([instance, 77]).standard_normal(2)
    taste = 0.1 * np.random.default_rng([instance, key % 7]).standard_normal(2)
    noise = own.noise * rng.standard_normal(2)
    found = np.array(own.metrics(config)) + 0.5 * of_instance + taste + noise
    return {"a": float(found[0]), "b": float(found[1])}


def by_racer(problem: str, budget: int, seed: int) -> list[Config]:
    """Return the front that a tuning finds."""
    result = racer.tune(
        racer.Space(PROBLEMS[problem].parameters),
        lambda config, instance, s: evaluated(problem, config, instance, s),
        range(INSTANCES),
        budget=budget,
        seed=seed,
        metrics={"a": "min", "b": "min"},
        objective=racer.Pareto("a", "b"),
    )
    means = result.front[["metric:a", "metric:b"]].to_numpy()
    stays = on_front(np.asarray(means, dtype=np.float64)[None])[0]
    known = result.front.index.to_numpy()
    chosen = {*result.survivors, *known[stays].tolist()}
    return [result.config(c) for c in sorted(chosen)]


def by_optuna(kind: str, each: int, problem: str, budget: int, seed: int) -> list[Config]:
    """Return the best trials of a study in which each configuration is evaluated `each` times."""
    import optuna  # noqa: PLC0415  (an extra)

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    samplers: dict[str, Any] = {
        "TPE": optuna.samplers.TPESampler(seed=seed),
        "NSGA-II": optuna.samplers.NSGAIISampler(seed=seed, population_size=20),
    }
    chosen = np.random.default_rng(seed).permutation(INSTANCES)[:each].tolist()
    study = optuna.create_study(directions=["minimize"] * 2, sampler=samplers[kind])

    def objective(trial: Any) -> tuple[float, ...]:
        config = {
            name: _suggested(trial, name, p) for name, p in PROBLEMS[problem].parameters.items()
        }
        rows = [[*evaluated(problem, config, i, seed + i).values()] for i in chosen]
        return tuple(np.mean(rows, axis=0).tolist())

    study.optimize(objective, n_trials=budget // each)
    return [trial.params for trial in study.best_trials]


def _suggested(trial: Any, name: str, parameter: Any) -> Any:
    if isinstance(parameter, racer.Categorical):
        return trial.suggest_categorical(name, list(parameter.choices))
    if isinstance(parameter, racer.Integer):
        return trial.suggest_int(name, parameter.low, parameter.high)
    return trial.suggest_float(name, parameter.low, parameter.high)


WAYS: dict[str, Any] = {
    "racer": by_racer,
    **{
        f"{kind}, {each} instances": (
            lambda *given, kind=kind, each=each: by_optuna(kind, each, *given)
        )
        for kind in ("TPE", "NSGA-II")
        for each in (5, 10)
    },
}


def reference(problem: str) -> Floats:
    """Return the medians of the metrics of random configurations."""
    drawn = racer.Space(PROBLEMS[problem].parameters).sample(2000, seed=0, method="uniform")
    return np.median([PROBLEMS[problem].metrics(config) for config in drawn], axis=0)


def volume(way: str, problem: str, budget: int, seed: int) -> float:
    """Return the true hypervolume of what a way finds."""
    warnings.simplefilter("ignore")
    found = WAYS[way](problem, budget, seed)
    points = np.array([PROBLEMS[problem].metrics(config) for config in found])
    return hypervolume(points, reference(problem))


@click.command("fronts-tuned")
@words_option("--budgets", (1000, 3000), click.INT)
@number_option("--repetitions", 6, help="Seeds of each problem.")
@jobs_option
def main(budgets: tuple[int, ...], repetitions: int, jobs: int) -> None:
    """Tune to fronts beside Optuna; write experiments/fronts/tuned.csv."""
    seeds = range(FIRST_SEED, FIRST_SEED + repetitions)
    with (HERE / "tuned.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("evaluations", "problem", "way", "seeds", "hypervolume", "error"))
        for budget in budgets:
            click.echo(f"\n| {budget} | {' | '.join(WAYS)} |")
            click.echo("|---" * (len(WAYS) + 1) + "|")
            for problem in PROBLEMS:
                calls = [(way, problem, budget, seed) for way in WAYS for seed in seeds]
                found = joblib.Parallel(n_jobs=jobs)(joblib.delayed(volume)(*c) for c in calls)
                table = np.array(found).reshape(len(WAYS), -1)
                means = table.mean(axis=1)
                errors = table.std(axis=1, ddof=1) / math.sqrt(repetitions)
                for way, mean, error in zip(WAYS, means, errors, strict=True):
                    writer.writerow(
                        (budget, problem, way, repetitions, f"{mean:.5f}", f"{error:.5f}")
                    )
                file.flush()
                shown = " | ".join(f"{mean / means.max():.3f}" for mean in means)
                click.echo(f"| {problem} | {shown} |")
