"""P(best) of tunings of four other formulas: what changes if one thing in its model does.

A development study: by it, and not by `study.py reliability`, are choices in the model made. Blocks
are equally noisy, or have scales of their own, which their noise has with what configurations cost.
"""

from __future__ import annotations

import csv
import math
import warnings
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import click
import joblib
import numpy as np

import racer
from experiments.options import jobs_option, number_option
from experiments.reliability.tables import BUDGETS, noisy, said, summary
from racer.results import base
from racer.stats import best_posterior, locations, units

if TYPE_CHECKING:
    from collections.abc import Callable

    from experiments.reliability.tables import Said
    from racer.stats import BestPosterior

__all__ = ["main"]

HERE = Path(__file__).parent
NOISE = (0.06, 0.25)
SCALES = {"equally noisy blocks": 0.0, "blocks with scales": 0.8}  # deviation of their logarithms
LEAST = 0.4  # what is said above it is counted


def formulas() -> dict[str, tuple[racer.Space, Callable[[Any], float]]]:
    """Return formulas to be tuned, by name."""
    unit = racer.Real(0, 1)
    offsets = {"a": 0.0, "b": 0.05, "c": 0.2}
    kinds = racer.Categorical(list(offsets))
    return {
        "ellipsoid": (
            racer.Space({f"x{i}": unit for i in range(5)}),
            lambda c: sum((c[f"x{i}"] - 0.6) ** 2 / (i + 1) for i in range(5)),
        ),
        "valley": (
            racer.Space(dict.fromkeys("abc", unit)),
            lambda c: 2 * (c["b"] - c["a"] ** 2) ** 2 + 0.3 * (c["a"] - 0.8) ** 2 + 0.1 * c["c"],
        ),
        "mixed": (
            racer.Space({"kind": kinds, "n": racer.Integer(1, 16), "x": unit}),
            lambda c: offsets[c["kind"]] + 0.02 * abs(c["n"] - 5) + abs(c["x"] - 0.3),
        ),
        "step": (racer.Space({"x": unit, "y": unit}), lambda c: 0.1 * (c["x"] > 0.5)),
    }


def scaled(
    formula: Any, noise: float, apart: float, config: Any, instance: int, seed: int
) -> float:
    """Return what a formula says with noise, both in the unit of the instance."""
    drawn = np.random.default_rng([instance, 77]).standard_normal()
    unit = math.exp(apart * float(drawn))
    return noisy(lambda given: unit * formula(given), unit * noise, config, instance, seed)


def variants(costs: Any, given: dict[str, Any]) -> dict[str, BestPosterior]:
    """Return posteriors of the best in a tuning with one thing changed, by what is changed."""
    some = given["among"]
    part = given | {"covariances": given["covariances"][:, some][:, :, some], "among": None}
    changed: dict[str, dict[str, Any]] = {
        "costs as they are": {"by_block": False},
        "blocks do not know their instance": {"instances": None},
        "no Gaussian process": {"covariances": None},
    }
    found = {name: best_posterior(costs, **given | change) for name, change in changed.items()}
    alone = best_posterior(costs[:, some], **part)
    found["only candidates that are compared"] = alone.among(some.tolist(), costs.shape[1])
    with mock.patch.object(units, "_TAILS", (math.inf, 0.0)):
        found["nothing is clipped"] = best_posterior(costs, **given)
    with mock.patch.object(locations, "_GUESSED", 1.0):
        found["noise variance as in races"] = best_posterior(costs, **given)
    return {"as it is": best_posterior(costs, **given), **found}


def in_tuning(world: str, name: str, noise: float, budget: int, seed: int) -> list[Said]:
    """Return what is said of the candidates of a tuning that are compared, by variant."""
    warnings.simplefilter("ignore", racer.RacerWarning)
    space, formula = formulas()[name]
    evaluate = partial(scaled, formula, noise, SCALES[world])
    result = racer.tune(space, evaluate, range(30), budget=budget, seed=seed)
    with mock.patch.object(base, "best_posterior", wraps=best_posterior) as call:
        candidates = np.flatnonzero(np.isfinite(result.posterior.mean))
    quality = np.array([formula(result.configs[c]) for c in candidates])
    given = dict(call.call_args.kwargs)
    found = variants(call.call_args.args[0], given)
    return [said(key, world, quality, one, among=given["among"]) for key, one in found.items()]


def row(rows: list[Said]) -> tuple[str, ...]:
    """Return the mean log probability of the best, coverage, and what is said above `LEAST`."""
    logs = [float((r.truth * np.log(np.maximum(r.probability, 1e-6))).sum()) for r in rows]
    probability = np.concatenate([r.probability for r in rows])
    truth = np.concatenate([r.truth for r in rows])
    high = probability > LEAST
    means = (float(one[high].mean()) if high.any() else math.nan for one in (probability, truth))
    return (
        f"{np.mean(logs):.3f}",
        f"{summary(rows).covered:.2f}",
        *(f"{mean:.2f}" for mean in means),
        f"{high.sum()}",
        f"{np.mean([r.regret for r in rows]):.4f}",
    )


@click.command("units")
@number_option(
    "--repetitions", 19, help="Tunings of each formula, noise, budget; with scales, half."
)
@jobs_option
def main(repetitions: int, jobs: int) -> None:
    """Count what P(best) of tunings is worth, and write experiments/reliability/units.csv."""
    calls = [
        (world, *call, seed)
        for world, apart in SCALES.items()
        for call in product(formulas(), NOISE, BUDGETS)
        for seed in range(max(repetitions // 2, 1) if apart else repetitions)
    ]
    found = joblib.Parallel(n_jobs=jobs)(joblib.delayed(in_tuning)(*call) for call in calls)
    write([one for some in found for one in some])


def write(rows: list[Said]) -> None:
    """Write a line for each world and variant, and print it."""
    with (HERE / "units.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        head = ("log_probability", "covered", "said", "true", "candidates", "regret")
        writer.writerow(("world", "changed", "tunings", *head))
        for world, source in product(SCALES, dict.fromkeys(r.source for r in rows)):
            some = [r for r in rows if (r.world, r.source) == (world, source)]
            line = (world, source, len(some), *row(some))
            writer.writerow(line)
            click.echo("  ".join(map(str, line)))
