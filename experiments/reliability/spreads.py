"""How far models of real searches differ, in standard deviations of a fold's noise."""

from __future__ import annotations

import click
import numpy as np
from sklearn.model_selection import StratifiedKFold

from experiments.sklearn_folds.data import ESTIMATORS, estimator, grid, halves
from experiments.sklearn_folds.record import scores_on

__all__ = ["main"]

DATA = ("breast_cancer", "digits", "wine", "diabetes")


@click.command("fold-spreads")
def main() -> None:
    """Print by data set and classifier how far the means of 24 models over ten folds differ."""
    for data in DATA:
        rows, _, target, _ = halves(data, 0)
        for name in ESTIMATORS:
            models = [estimator(name).set_params(**params) for params in grid(name)]
            folds = StratifiedKFold(10, shuffle=True, random_state=0)
            scores, _ = scores_on(models, rows, target, folds)
            n, m = scores.shape
            means = scores.mean(axis=0)
            left = scores - scores.mean(axis=1, keepdims=True) - means + scores.mean()
            noise = np.sqrt((left**2).sum() / ((n - 1) * (m - 1)))
            click.echo(f"{data}, {name}: {means.std(ddof=1) / noise:.2f}")
