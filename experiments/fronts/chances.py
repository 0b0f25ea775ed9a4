"""Whether P(on the front) is true as often as it says.

Tables of two metrics of 8 to 80 candidates on 5 to 30 blocks. Expected costs are uniform, over 1, 3, 10
or 30 standard deviations of the noise. Noise is equal in all blocks; or it differs, by factors whose
logarithm has standard deviation .7; or so do noise and costs, as in blocks of another unit. In half of
the tables three in five candidates are pruned after three blocks in random order, the ones with the
larger sums in each metric.
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
NOISE = ("equal", "differs", "in other units")
SPREADS = (1.0, 3.0, 10.0, 30.0)
SIZES, BLOCKS = (8, 20, 40, 80), (5, 10, 15, 30)
BINS = ((0.05, 0.35), (0.35, 0.65), (0.65, 0.95), (0.95, 1.0))
FIRST_SEED = 1000
KEPT = 0.4  # of the candidates, in each metric
LEAST = 1e-3  # of a probability whose logarithm is taken


class Table(NamedTuple):
    """Costs (d, n, m), and the expected costs (d, m)."""

    costs: Floats
    means: Floats


def table(noise: str, *, is_pruned: bool, spread: float, seed: int) -> Table:
    """Return a table of two metrics."""
    rng = np.random.default_rng([seed, NOISE.index(noise), is_pruned, int(spread)])
    m, n = int(rng.choice(SIZES)), int(rng.choice(BLOCKS))
    means = spread * rng.random((2, m))
    scale = np.exp(0.7 * rng.standard_normal((2, n, 1)))
    apart, own = means[:, None], rng.standard_normal((2, n, m))
    costs = {
        "equal": apart + own,
        "differs": apart + scale * own,
        "in other units": scale * (apart + own),
    }[noise] + 3.0 * rng.standard_normal((2, n, 1))
    if is_pruned:
        orders = [rng.permutation(n) for _ in range(m)]
        sums = np.array([costs[:, order[:3], j].sum(axis=1) for j, order in enumerate(orders)])
        stay = (sums <= np.quantile(sums, KEPT, axis=0)).any(axis=1)
        for j in np.flatnonzero(~stay).tolist():
            costs[:, orders[j][3:], j] = np.nan
    return Table(costs, means)


def measured(noise: str, *, is_pruned: bool, spread: float, seed: int) -> tuple[Floats, Floats]:
    """Return what is said of each candidate of a table, and whether it is true."""
    found = table(noise, is_pruned=is_pruned, spread=spread, seed=seed)
    worse = (found.means[:, :, None] > found.means[:, None]).all(axis=0).any(axis=1)
    return np.asarray(front_posterior(found.costs).probability_front), (~worse).astype(np.float64)


@click.command("front-chances")
@number_option("--repetitions", 40, help="Tables of each kind.")
@jobs_option
def main(repetitions: int, jobs: int) -> None:
    """Count how often P(on the front) is true; write experiments/fronts/chances.csv."""
    kinds = [
        (noise, is_pruned, spread)
        for noise in NOISE
        for is_pruned in (False, True)
        for spread in SPREADS
    ]
    with (HERE / "chances.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("noise", "pruned", "spread", "low", "candidates", "said", "true", "log"))
        for noise, is_pruned, spread in kinds:
            pairs = joblib.Parallel(n_jobs=jobs)(
                joblib.delayed(measured)(noise, is_pruned=is_pruned, spread=spread, seed=seed)
                for seed in range(FIRST_SEED, FIRST_SEED + repetitions)
            )
            said, true = (np.concatenate(part) for part in zip(*pairs, strict=True))
            logs = np.log(np.clip(np.where(true > 0.0, said, 1.0 - said), LEAST, 1.0))
            for low, high in ((0.0, BINS[0][0]), *BINS):
                here = (said >= low) & ((said < high) | (high == 1.0))
                sums = (float(part[here].sum()) for part in (said, true, logs))
                cells = (f"{value:.4f}" for value in sums)
                writer.writerow(
                    (noise, int(is_pruned), f"{spread:g}", low, int(here.sum()), *cells)
                )
    click.echo("\n".join(lines(pd.read_csv(HERE / "chances.csv"))))


def lines(found: pd.DataFrame) -> list[str]:
    """Return the table of the page: tables of candidates that are close, and far apart."""
    rows = []
    for noise in NOISE:
        for is_pruned in (0, 1):
            for name, spreads in (("1 or 3", SPREADS[:2]), ("10 or 30", SPREADS[2:])):
                some = found[(found["noise"] == noise) & (found["pruned"] == is_pruned)]
                some = some[some["spread"].isin(spreads)]
                by_bin = some.groupby("low")[["candidates", "said", "true"]].sum()
                cells = [
                    f"{said / n:.2f}, {true / n:.2f} ({n:.0f})" if n else "-"
                    for n, said, true in by_bin.loc[[low for low, _ in BINS]].to_numpy()
                ]
                log = some["log"].sum() / some["candidates"].sum()
                rows.append((noise, "pruned" if is_pruned else "all", name, *cells, f"{log:.4f}"))
    bins = [f"{low:g} to {high:g}" for low, high in BINS]
    return markdown(("noise", "blocks", "spread", *bins, "log"), rows).splitlines()
