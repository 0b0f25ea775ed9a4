"""The cheapest candidate within a tolerance of the best: how often it is found, and at what cost.

Fifteen models answer 1 000 items right or wrong; their prices grow with their accuracy, and are known.
Right is who is cheapest among those within the tolerance of the best mean over all items.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

import click
import joblib
import numpy as np

import racer
from experiments.options import jobs_option, number_option

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["main"]

HERE = Path(__file__).parent
M, N = 15, 1000
TOLERANCES = (0.02, 0.05)
PARTS = (0.1, 0.2, 0.4)
FIRST_SEED = 1000


def drawn(seed: int) -> tuple[Floats, Floats]:
    """Return prices (m,) and who is wrong on each item, (n, m)."""
    rng = np.random.default_rng(seed)
    skill = rng.uniform(0.6, 0.85, M)
    price = np.exp(rng.uniform(0.0, np.log(30.0), M) + 4.0 * (skill - 0.7))
    shared, own = rng.random((N, 1)), rng.random((N, M))
    right = np.where(rng.random((N, M)) < 0.6, shared, own) < skill
    return np.asarray(price, dtype=np.float64), np.asarray(1.0 - right)


def sought(wrong: Floats, price: Floats, tolerance: float) -> int:
    """Return the cheapest candidate within a tolerance of the best mean."""
    means = wrong.mean(axis=0)
    fits = np.flatnonzero(means <= means.min() + tolerance + 1e-12)
    return int(fits[price[fits].argmin()])


def raced(wrong: Floats, price: Floats, tolerance: float) -> tuple[int | None, float]:
    """Return who is found by a race, and the share of the calls that it used."""
    race = racer.Race(
        range(M),
        range(N),
        deterministic=True,
        budget=N * M,
        seed=1,
        metrics={"wrong": racer.Metric(bounds=(0, 1)), "price": racer.Metric(exact=True)},
        objective=racer.Within("price", wrong=tolerance),
    )
    race.ask()
    while race.ended is None:
        row = wrong[race.n_blocks]
        found = [{"price": float(price[c]), "wrong": float(row[c])} for c in race.alive]
        race.tell_block([racer.Outcome("ok", one["price"], metrics=one) for one in found])
    result = race.result()
    return result.best_index, result.evaluations / (N * M)


def measured(tolerance: float, seed: int) -> dict[str, tuple[bool, float]]:
    """Return whether each way finds who is sought, and the share of the calls that it uses."""
    price, wrong = drawn(seed)
    right = sought(wrong, price, tolerance)
    best, used = raced(wrong, price, tolerance)
    found = {"race": (best == right, used)}
    for part in PARTS:
        some = wrong[: int(part * N)]
        found[f"the first {part:.0%}"] = (sought(some, price, tolerance) == right, part)
    return found


@click.command("within")
@number_option("--repetitions", 300, help="Races for each tolerance.")
@jobs_option
def main(repetitions: int, jobs: int) -> None:
    """Race for the cheapest within .02 and .05; write experiments/fronts/within.csv."""
    seeds = range(FIRST_SEED, FIRST_SEED + repetitions)
    click.echo("| tolerance | way | right | used |\n|---|---|---|---|")
    with (HERE / "within.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("tolerance", "way", "races", "right", "used"))
        for tolerance in TOLERANCES:
            rows = joblib.Parallel(n_jobs=jobs)(
                joblib.delayed(measured)(tolerance, seed) for seed in seeds
            )
            for way in rows[0]:
                right, used = np.mean([row[way] for row in rows], axis=0).tolist()
                writer.writerow((tolerance, way, repetitions, f"{right:.4f}", f"{used:.4f}"))
                click.echo(f"| {tolerance:g} | {way} | {100 * right:.1f} | {100 * used:.1f} |")
