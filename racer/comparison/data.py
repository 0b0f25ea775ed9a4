"""The data of a comparison, for tables, prose and pictures to draw on, and its names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

Method = Literal[
    "auto", "bayesian-friedman", "friedman", "signed-rank", "bradley-terry", "plackett-luce"
]
Posthoc = Literal["wilcoxon-holm", "wilcoxon-hochberg", "wilcoxon-shaffer", "nemenyi", "conover"]
LocalRope = Literal["paired", "unpaired"]
Named = Literal["scores", "matrix"]  # sections that are shown if asked for
Decision = Literal["better", "equivalent", "undecided", "indeterminate"]


class OmnibusTest(NamedTuple):
    """The test of "all perform alike" that comes first."""

    test: str
    statistic: float
    probability: float  # p-value, or posterior probability beyond the region through "all alike"
    rejected: bool
    df: tuple[int, int]  # degrees of freedom of the statistic

    @property
    def found(self) -> str:
        """The statistic with its degrees of freedom."""
        return f"F({self.df[0]}, {self.df[1]}) = {self.statistic:.2f}"


@dataclass(frozen=True, eq=False, repr=False)
class ComparisonData:
    """The attributes of `Comparison`, which documents them."""

    method: str
    title: str
    ranking: pd.DataFrame
    order: str
    pairs: pd.DataFrame
    omnibus: OmnibusTest | None
    notes: tuple[str, ...]
    reason: str
    meaning: str
    algorithms: tuple[str, ...]
    data_sets: tuple[str, ...]
    n_folds: int
    n_missing: int
    n_ties: int
    maximize: bool
    alpha: float
    rope: float | None
    control: str | None
    posthoc: str | None
    seed: int
    references: tuple[str, ...]
    scores: pd.DataFrame
    details: Any = None

    @property
    def explained(self) -> tuple[str, ...]:
        """The notes, after the reason for the method."""
        return (self.reason, *self.notes) if self.reason else self.notes

    def matrix(self) -> pd.DataFrame:
        """Return what each pair's row of `pairs` says as a table of algorithms x algorithms.

        Returns
        -------
        DataFrame
            Rows and columns in the order of the ranking: the posterior probability that the row
            is better than the column, or the adjusted p-value; NaN where not compared.
        """
        import pandas as pd  # noqa: PLC0415

        names = self.ranking["algorithm"].tolist()
        table = pd.DataFrame(np.nan, index=names, columns=names)
        for row in self.pairs.to_dict("records"):
            if "p_value" in row:
                forth = back = row["p_value"]
            else:
                forth = row["probability"]
                back = row.get("probability_worse", 1.0 - forth)
            table.loc[row["better"], row["worse"]] = forth
            table.loc[row["worse"], row["better"]] = back
        return table
