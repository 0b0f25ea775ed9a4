"""Scores to try a comparison on."""

from __future__ import annotations

from importlib.resources import files

import pandas as pd


def example_scores() -> pd.DataFrame:
    """Return accuracies of five classifiers on 20 data sets (Wainer 2023, Table 2).

    Returns
    -------
    DataFrame
        A row per data set, its name in `db`; a column per classifier. Larger is better.

    Examples
    --------
    >>> from racer.comparison import example_scores
    >>> example_scores().columns.tolist()
    ['db', 'dt', 'lda', 'lgbm', 'xgb', 'svm']
    """
    with (files("racer.comparison") / "example.csv").open(encoding="utf-8") as file:
        return pd.read_csv(file)
