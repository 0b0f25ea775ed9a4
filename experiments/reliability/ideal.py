"""The exact posterior of who is best where the worlds are known: how often it is right in each.

Of complete tables of the four worlds whose noise is normal and independent, in units of that noise:
its variance, the shape of each world and their shares are known, and the world of a table is not.
No P(best) that is right on average over these worlds knows more of a table. What it says too much or
too little in one of them is therefore not a defect of a model, but what a table cannot tell. The same
for the searches over folds of `study.py reliability`, with widths of qualities and correlation known.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

import click
import joblib
import numpy as np
from scipy.special import logsumexp, ndtr

from experiments.options import jobs_option, number_option
from experiments.reliability import tables
from experiments.reliability.tables import BLOCKS, CANDIDATES, EDGES, MANY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["main", "posterior"]

HERE = Path(__file__).parent
WIDTHS = {"normal": 1.0, "near-equal": 0.2}  # of the uniform qualities, in noise deviations
GAP = 0.5  # of the one that is better, in the same unit
_LEVELS, _PLACES = 81, 61  # of the grids of integrals


def posterior(
    means: NDArray[np.float64],
    error: float,
    widths: Sequence[float] = tuple(WIDTHS.values()),
    gaps: Sequence[float] = (0.0, GAP),
) -> NDArray[np.float64]:
    """Return the probability of each candidate that it is the best, (m,), by means (m,) of costs.

    Means have this standard error. The worlds, uniform of these widths and with one that is better
    by these gaps, are as likely before, and so are all levels of costs.
    """
    m = len(means)
    found = [_uniform(means, error, width) for width in widths]
    for gap in gaps:  # all equal; one better, whoever it is with the same probability
        lifted = means + gap * np.eye(m)
        apart = lifted - lifted.mean(axis=1, keepdims=True)
        logs = -0.5 * (apart**2).sum(axis=1) / error**2 - (m - 1) * np.log(error)
        logs -= 0.5 * (m - 1) * np.log(2.0 * np.pi) + 0.5 * np.log(m)
        found.append((float(logsumexp(logs) - np.log(m)), np.exp(logs - logsumexp(logs))))
    weights = np.exp([log - max(log for log, _ in found) for log, _ in found])
    best = np.array([probability for _, probability in found])
    return np.asarray(weights @ best / weights.sum())


def _uniform(
    means: NDArray[np.float64], error: float, width: float
) -> tuple[float, NDArray[np.float64]]:
    """Return the log density of means (m,) with uniform qualities of a width, and P(best), (m,)."""
    low = np.linspace(means.min() - width - 5.0 * error, means.max() + 5.0 * error, _LEVELS)
    above = (means - low[:, None]) / error  # of the least possible quality
    mass = np.maximum(ndtr(above) - ndtr(above - width / error), 1e-300)
    density = np.log(mass / width).sum(axis=1)
    places = np.linspace(0.0, width, _PLACES)[:, None, None] / error
    behind = np.clip((ndtr(places - above) - ndtr(-above)) / mass, 0.0, 1.0)
    rest = np.log(np.maximum(1.0 - 0.5 * (behind[1:] + behind[:-1]), 1e-12))
    first = np.diff(behind, axis=0) * np.exp(rest.sum(axis=2, keepdims=True) - rest)
    best = first.sum(axis=0)
    best /= np.maximum(best.sum(axis=1, keepdims=True), 1e-300)
    weights = np.exp(density - logsumexp(density))
    return float(logsumexp(density) + np.log(low[1] - low[0])), weights @ best


def drawn(world: str, m: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return qualities of m candidates in a world."""
    if world in WIDTHS:
        return np.asarray(WIDTHS[world] * rng.random(m))
    return np.where(np.arange(m) > 0, GAP if world == "one better" else 0.0, 0.0)


def sampled(world: str, seed: int) -> NDArray[np.float64]:
    """Return the stated probabilities of a world's candidates, and which are the best, (2, k)."""
    rng = np.random.default_rng([seed, len(world)])
    rows = []
    for m in CANDIDATES:
        for n in BLOCKS:
            quality, error = drawn(world, m, rng), n**-0.5
            said = posterior(quality + error * rng.standard_normal(m), error)
            true = quality <= quality.min() + 1e-12
            rows.append(np.stack([said, true / true.sum()]))
    return np.concatenate(rows, axis=1)


def over_folds(width: float, seed: int) -> NDArray[np.float64]:
    """Return stated probabilities and which of ten models is best over 5, 10, 20 folds, (2, 30)."""
    rng = np.random.default_rng([seed, int(100 * width)])
    widths = [one for one in tables.WIDTHS if one]
    rows = []
    for n in (5, 10, 20):
        quality, error = width * rng.random(10), ((1.0 - 1.0 / n) / n + 1.0 / n) ** 0.5
        said = posterior(quality + error * rng.standard_normal(10), error, widths, (0.0,))
        true = quality <= quality.min() + 1e-12
        rows.append(np.stack([said, true / true.sum()]))
    return np.concatenate(rows, axis=1)


@click.command("ideal")
@number_option("--repetitions", 100, help="Draws of each world.")
@jobs_option
def main(repetitions: int, jobs: int) -> None:
    """Count how often the exact posterior is right, and write experiments/reliability/ideal.csv."""
    worlds = (*WIDTHS, "one better", "all equal")
    found = {
        world: np.concatenate(
            joblib.Parallel(n_jobs=jobs)(
                joblib.delayed(sampled)(world, seed) for seed in range(repetitions)
            ),
            axis=1,
        )
        for world in worlds
    }
    found = {"all four": np.concatenate([*found.values()], axis=1), **found}
    calls = [(width, seed) for width in tables.WIDTHS for seed in range(tables.MORE * repetitions)]
    models = joblib.Parallel(n_jobs=jobs)(joblib.delayed(over_folds)(*call) for call in calls)
    for name, is_near in {"folds": (True, False), "near": (True,), "apart": (False,)}.items():
        some = [m for m, (w, _) in zip(models, calls, strict=True) if (w <= tables.NEAR) in is_near]
        found[name if name == "folds" else f"folds, {name}"] = np.concatenate(some, axis=1)
    with (HERE / "ideal.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("world", "said", "true", "candidates"))
        for world, (said, true) in found.items():
            bins = np.digitize(said, EDGES[1:-1])
            for here in (bins == k for k in range(len(EDGES) - 1)):
                if here.sum() >= MANY:
                    row = f"{said[here].mean():.4f}", f"{true[here].mean():.4f}", int(here.sum())
                    writer.writerow((world, *row))
                    click.echo(f"{world}: {row[0]} -> {row[1]} ({row[2]})")
