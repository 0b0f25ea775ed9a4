"""Calibration of P(on the front): how often it is true.

Tables of two metrics of 8 to 80 candidates on 5 to 30 blocks. Expected costs are spread over 1, 3, 10 or
30 standard deviations of the noise: independent; or a trade-off, where a candidate that is better in
one metric is mostly worse in the other; or aligned. Noise is equal in all blocks; or it differs, by
factors whose logarithm has standard deviation .7; or costs and noise have such a factor, as in blocks of
another unit. In half of the tables candidates are pruned after three blocks in random order, if they are
not among the best two in five in either metric there.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click
import joblib
import numpy as np
import pandas as pd

from experiments.options import jobs_option, number_option
from experiments.report import markdown
from racer.stats import front_posterior

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["main"]

HERE = Path(__file__).parent
WORLDS = (  # effects, noise
    ("independent", "equal"),
    ("independent", "differs"),
    ("independent", "in other units"),
    ("trade-off", "equal"),
    ("aligned", "equal"),
)
SPREADS = (1.0, 3.0, 10.0, 30.0)
SIZES, BLOCKS = (8, 20, 40, 80), (5, 10, 15, 30)
BINS = ((0.05, 0.35), (0.35, 0.65), (0.65, 0.95), (0.95, 1.0))
FIRST_SEED = 1000
KEPT = 0.4  # of the candidates, in each metric
TOGETHER = 0.8  # of a candidate's second effect: it is tied to the first
LEVEL = 3.0  # standard deviation of blocks
LEAST = 1e-3  # of a probability whose logarithm is taken


class Table(NamedTuple):
    """Costs (d, n, m), and the expected costs (d, m)."""

    costs: Floats
    means: Floats


def table(world: tuple[str, str], *, is_pruned: bool, spread: float, seed: int) -> Table:
    """Return a table of two metrics."""
    effects, noise = world
    rng = np.random.default_rng([seed, WORLDS.index(world), is_pruned, int(spread)])
    m, n = int(rng.choice(SIZES)), int(rng.choice(BLOCKS))
    one, own = rng.random((2, m))
    other = {
        "independent": own,
        "trade-off": TOGETHER * (1.0 - one) + (1.0 - TOGETHER) * own,
        "aligned": TOGETHER * one + (1.0 - TOGETHER) * own,
    }[effects]
    means = spread * np.array([one, other])
    scale = np.exp(0.7 * rng.standard_normal((2, n, 1)))
    apart, error = means[:, None], rng.standard_normal((2, n, m))
    costs = {
        "equal": apart + error,
        "differs": apart + scale * error,
        "in other units": scale * (apart + error),
    }[noise]
    if is_pruned:
        orders = [rng.permutation(n) for _ in range(m)]
        sums = np.array([costs[:, order[:3], j].sum(axis=1) for j, order in enumerate(orders)])
        stay = np.any(sums <= np.quantile(sums, KEPT, axis=0), axis=1)
        for j in np.flatnonzero(~stay).tolist():
            costs[:, orders[j][3:], j] = np.nan
    return Table(costs + LEVEL * rng.standard_normal((2, n, 1)), means)


def measured(
    world: tuple[str, str], *, is_pruned: bool, spread: float, seed: int
) -> tuple[Floats, Floats]:
    """Return the probability of each candidate of a table, and whether it is on the front."""
    found = table(world, is_pruned=is_pruned, spread=spread, seed=seed)
    is_above = np.all(found.means[:, :, None] > found.means[:, None], axis=0)
    worse = np.any(is_above, axis=1)
    return front_posterior(found.costs).probability_front, np.where(worse, 0.0, 1.0)


@click.command("front-chances")
@number_option("--repetitions", 30, help="Tables of each kind.")
@jobs_option
def main(repetitions: int, jobs: int) -> None:
    """Count how often P(on the front) is true; write experiments/fronts/chances.csv."""
    kinds = [
        (world, is_pruned, spread)
        for world in WORLDS
        for is_pruned in (False, True)
        for spread in SPREADS
    ]
    with (HERE / "chances.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(
            ("effects", "noise", "pruned", "spread", "low", "candidates", "said", "true", "log")
        )
        for world, is_pruned, spread in kinds:
            pairs = joblib.Parallel(n_jobs=jobs)(
                joblib.delayed(measured)(world, is_pruned=is_pruned, spread=spread, seed=seed)
                for seed in range(FIRST_SEED, FIRST_SEED + repetitions)
            )
            said, true = (np.concatenate(part) for part in zip(*pairs, strict=True))
            logs = np.log(np.clip(np.where(true > 0.0, said, 1.0 - said), LEAST, 1.0))
            for low, high in ((0.0, BINS[0][0]), *BINS):
                here = (said >= low) & ((said < high) | (high == 1.0))
                cells = (f"{float(part[here].sum()):.4f}" for part in (said, true, logs))
                row = (*world, int(is_pruned), f"{spread:g}", low, int(here.sum()))
                writer.writerow((*row, *cells))
    click.echo("\n".join(lines(pd.read_csv(HERE / "chances.csv"))))


def lines(found: pd.DataFrame) -> list[str]:
    """Return the table of the page: of candidates that are close, and far apart."""
    rows = []
    for effects, noise in WORLDS:
        for is_pruned in (0, 1):
            for name, spreads in (("1 or 3", SPREADS[:2]), ("10 or 30", SPREADS[2:])):
                some = found[(found["effects"] == effects) & (found["noise"] == noise)]
                some = some[(some["pruned"] == is_pruned) & some["spread"].isin(spreads)]
                by_bin = some.groupby("low")[["candidates", "said", "true"]].sum()
                cells = [
                    f"{said / n:.2f}, {true / n:.2f} ({n:.0f})" if n else "-"
                    for n, said, true in by_bin.loc[[low for low, _ in BINS]].to_numpy()
                ]
                log = some["log"].sum() / some["candidates"].sum()
                blocks = "pruned" if is_pruned else "all"
                rows.append((effects, noise, blocks, name, *cells, f"{log:.3f}"))
    bins = [f"{low:g} to {high:g}" for low, high in BINS]
    return markdown(("effects", "noise", "blocks", "spread", *bins, "log"), rows).splitlines()
