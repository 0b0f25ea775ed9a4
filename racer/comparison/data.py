"""The data of a comparison, for tables, prose and pictures to draw on, and its names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from racer._checks import counted

Method = Literal[
    "auto",
    "bayesian-friedman",
    "friedman",
    "signed-rank",
    "bradley-terry",
    "plackett-luce",
    "hierarchical",
]
Posthoc = Literal["wilcoxon-holm", "wilcoxon-hochberg", "wilcoxon-shaffer", "nemenyi", "conover"]
Decisions = Literal["gated", "published", "strong"]
Named = Literal["scores", "matrix", "pairs"]  # sections that are shown if asked for
KINDS = ("critical-difference", "pairs", "winning", "posterior", "matrix")  # of pictures
Decision = Literal["better", "equivalent", "undecided", "indeterminate"]


class OmnibusTest(NamedTuple):
    """The test of "all perform alike" that comes first."""

    test: str
    statistic: float
    probability: float  # p-value, or posterior probability beyond the region through "all alike"
    rejected: bool
    df: tuple[int, ...]  # degrees of freedom: two of an F, else none

    @property
    def found(self) -> str:
        """The statistic with its degrees of freedom."""
        df = f"({', '.join(map(str, self.df))})" if self.df else ""
        return f"{'F' if self.df else 'Q'}{df} = {self.statistic:.2f}"


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
    direction: str
    alpha: float
    rope: float | None
    control: str | None
    posthoc: str | None
    seed: int
    references: tuple[str, ...]
    scores: pd.DataFrame
    details: Any = None
    decisions: str = "gated"

    @property
    def basis(self) -> str:
        """The basis of the comparison."""
        return counted(len(self.data_sets), "data set")

    @property
    def explained(self) -> tuple[str, ...]:
        """The notes, after the reason for the method; last, how many probable pairs are undecided."""
        notes = (self.reason, *self.notes) if self.reason else self.notes
        gated = int((self.pairs["depends_on"] == "gate").sum())
        if not gated or self.omnibus is None or not self.omnibus.rejected:
            return notes
        pairs = counted(gated, "pair")
        said = f'Sign flips do not reject "both alike" for {pairs}: undecided, however probable.'
        return (*notes, said)

    def matrix(self) -> pd.DataFrame:
        """Return the rows of `pairs` as a table of algorithms x algorithms.

        Returns
        -------
        DataFrame
            Rows and columns in the order of the ranking: the posterior probability that the row
            is better than the column, or the adjusted p-value; NaN where not compared.
        """
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
