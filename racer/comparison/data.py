"""The data of a comparison, for tables, prose and pictures to draw on, and its names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    import pandas as pd

Method = Literal[
    "auto", "bayesian-friedman", "friedman", "signed-rank", "bradley-terry", "plackett-luce"
]
Posthoc = Literal["wilcoxon-holm", "wilcoxon-hochberg", "wilcoxon-shaffer", "nemenyi", "conover"]
LocalRope = Literal["paired", "unpaired"]
Decision = Literal["better", "equivalent", "undecided", "indeterminate"]


class Omnibus(NamedTuple):
    """The test of "all perform alike" that comes first."""

    test: str
    statistic: float
    probability: float  # p-value, or posterior probability beyond the region through "all alike"
    rejected: bool


@dataclass(frozen=True, eq=False, repr=False)
class ComparisonData:
    """The attributes of `Comparison`, which documents them."""

    method: str
    title: str
    ranking: pd.DataFrame
    order: str
    pairs: pd.DataFrame
    omnibus: Omnibus | None
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
    details: Any = None

    @property
    def explained(self) -> tuple[str, ...]:
        """The notes, after the reason for the method."""
        return (self.reason, *self.notes) if self.reason else self.notes
