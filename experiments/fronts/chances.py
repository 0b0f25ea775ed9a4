"""Calibration of P(on the front): how often it is true.

Tables of two metrics of 8 to 80 candidates on 5 to 30 blocks. Expected costs are spread over 1, 3, 10 or
30 standard deviations of the noise: independent, or a trade-off, where a candidate that is better in one
metric is mostly worse in the other.
"""

from __future__ import annotations

from itertools import pairwise, product
from pathlib import Path
from typing import TYPE_CHECKING

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

__all__ = ["lines", "main"]

HERE = Path(__file__).parent
EFFECTS = ("independent", "trade-off")
SPREADS = (1.0, 3.0, 10.0, 30.0)
SIZES, BLOCKS = (8, 20, 40, 80), (5, 10, 15, 30)
EDGES = (0.0, 0.05, 0.35, 0.65, 0.95, 1.0)
FIRST_SEED = 1000
TOGETHER = 0.8  # of a candidate's second effect: it is tied to the first
LEVEL = 3.0  # standard deviation of blocks
LEAST = 1e-3  # of a probability whose logarithm is taken


def table(effects: str, spread: float, seed: int) -> tuple[Floats, Floats]:
    """Return costs (2, n, m) of two metrics, and the expected costs (2, m)."""
    rng = np.random.default_rng([seed, EFFECTS.index(effects), int(spread)])
    m, n = int(rng.choice(SIZES)), int(rng.choice(BLOCKS))
    one, own = rng.random((2, m))
    if effects == "trade-off":
        own = TOGETHER * (1.0 - one) + (1.0 - TOGETHER) * own
    means = spread * np.array([one, own])
    costs = means[:, None] + rng.standard_normal((2, n, m))
    return costs + LEVEL * rng.standard_normal((2, n, 1)), means


def counted(effects: str, spread: float, seed: int) -> pd.DataFrame:
    """Return a row for each candidate of a table: what is said, and whether it is on the front."""
    costs, means = table(effects, spread, seed)
    is_above = np.all(means[:, :, None] > means[:, None], axis=0)
    said = front_posterior(costs).probability_front
    true = np.where(np.any(is_above, axis=1), 0.0, 1.0)
    low = np.array(EDGES)[np.digitize(said, EDGES[1:-1])]
    log = np.log(np.clip(np.where(true > 0.0, said, 1.0 - said), LEAST, 1.0))
    kind = {"effects": effects, "spread": spread, "low": low, "candidates": 1}
    return pd.DataFrame({**kind, "said": said, "true": true, "log": log})


@click.command("front-chances")
@number_option("--repetitions", 30, help="Tables of each kind.")
@jobs_option
def main(repetitions: int, jobs: int) -> None:
    """Count how often P(on the front) is true; write experiments/fronts/chances.csv."""
    calls = product(EFFECTS, SPREADS, range(FIRST_SEED, FIRST_SEED + repetitions))
    found = joblib.Parallel(n_jobs=jobs)(joblib.delayed(counted)(*call) for call in calls)
    rows = pd.concat(found).groupby(["effects", "spread", "low"]).sum().reset_index()
    rows.to_csv(HERE / "chances.csv", index=False, float_format="%.4f")
    click.echo(lines(rows))


def lines(found: pd.DataFrame) -> str:
    """Return the table of the page: of candidates that are close, and far apart."""
    rows = []
    for effects in EFFECTS:
        for name, spreads in (("1 or 3", SPREADS[:2]), ("10 or 30", SPREADS[2:])):
            some = found[(found["effects"] == effects) & found["spread"].isin(spreads)]
            by_bin = some.groupby("low")[["candidates", "said", "true"]].sum()
            cells = [
                f"{said / n:.2f}, {true / n:.2f} ({n:.0f})"
                for n, said, true in by_bin.reindex(EDGES[1:-1]).to_numpy()
            ]
            rows.append((effects, name, *cells))
    bins = [f"{low:g} to {high:g}" for low, high in pairwise(EDGES[1:])]
    return markdown(("effects", "spread", *bins), rows)
