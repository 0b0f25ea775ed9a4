"""What is known of a comparison, for tables, prose and pictures to draw on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from racer.comparison.methods.base import Omnibus

__all__ = ["Record"]


@dataclass(frozen=True, eq=False, repr=False)
class Record:
    """The attributes of `Comparison`, which says what they are."""

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
    details: Any = field(default=None)

    @property
    def explained(self) -> tuple[str, ...]:
        """The notes, after the reason for the method."""
        return (self.reason, *self.notes) if self.reason else self.notes
