"""What came of a race."""

from __future__ import annotations

import reprlib
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from racer.seeding import seed_for
from racer.stats.bayesian_friedman import probability_best

if TYPE_CHECKING:
    import pandas as pd

    from racer.racing.events import Elimination, Ended
    from racer.racing.table import Table

__all__ = ["RaceResult"]


@dataclass(frozen=True, eq=False)
class RaceResult:
    """What came of a race.

    Attributes
    ----------
    best : object or None
        The best configuration; None where nothing speaks for one survivor rather than another
        (every evaluation failed, nobody went and all survivors tie, or the race ended before
        its first look).
    best_index : int or None
        Its place among the candidates.
    survivors : tuple of int
        Who was still in at the end, best standing first.
    ended : Ended
        Why the race ended; `ended.message` says it in a sentence.
    scores : DataFrame, blocks x candidates
        What `evaluate` returned; NaN where a candidate was out or its evaluation failed.
    eliminations : DataFrame
        block, candidate, reason, against, probability, measure: one row per candidate dropped.
        `measure` says what `probability` is; an e-value is none, and may exceed 1.
    failures : DataFrame
        block, candidate, status, message: one row per failed evaluation.
    blocks : DataFrame
        instance (its index; <NA> without instances), seed, evaluated, set_aside: one row per
        block.
    evaluations : int
        Cells evaluated, failed ones included.
    seconds : float
        Sum of the wall times of all evaluations (not of the race: `n_jobs` shortens only that).
    seed : int
        The seed that repeats this race.
    probability_best : dict of int to float
        For each survivor, the posterior probability that its expected rank among the survivors
        is the smallest (Benavoli et al. 2015, eq. 15), on the blocks of this race; equal shares
        where `best` is None. It says nothing of those that went: with one survivor it is 1.
    evaluations_saved : int
        Evaluations that every candidate on every block of this race would have taken beyond
        those made.
    """

    configs: tuple[Any, ...]
    best_index: int | None
    survivors: tuple[int, ...]
    ended: Ended
    evaluations: int
    seconds: float
    seed: int
    table: Table
    dropped: tuple[Elimination, ...]

    @property
    def best(self) -> Any:
        """The best configuration, or None."""
        return None if self.best_index is None else self.configs[self.best_index]

    def config(self, candidate: int) -> Any:
        """Return the configuration of a candidate."""
        return self.configs[candidate]

    @cached_property
    def scores(self) -> pd.DataFrame:
        """What `evaluate` returned, blocks x candidates."""
        import pandas as pd  # noqa: PLC0415

        frame = pd.DataFrame(self.table.scores())
        return frame.rename_axis(index="block", columns="candidate")

    @cached_property
    def eliminations(self) -> pd.DataFrame:
        """One row per candidate dropped."""
        import pandas as pd  # noqa: PLC0415

        names = ["block", "candidate", "reason", "against", "probability", "measure"]
        return pd.DataFrame([vars(e) for e in self.dropped], columns=names)

    @cached_property
    def failures(self) -> pd.DataFrame:
        """One row per failed evaluation."""
        import pandas as pd  # noqa: PLC0415

        names = ["block", "candidate", "status", "message"]
        return pd.DataFrame(self.table.failures, columns=names)

    @cached_property
    def blocks(self) -> pd.DataFrame:
        """One row per block."""
        import pandas as pd  # noqa: PLC0415

        rows = self.table.rows
        aside = set(self.table.set_aside)
        return pd.DataFrame(
            {
                "instance": pd.array([row.instance for row in rows], dtype="Int64"),
                "seed": [row.seed for row in rows],
                "evaluated": [len(row.candidates) for row in rows],
                "set_aside": [block in aside for block in range(len(rows))],
            }
        ).rename_axis(index="block")

    @cached_property
    def probability_best(self) -> dict[int, float]:
        """Posterior probability of being the best survivor."""
        m = len(self.survivors)
        if m == 1 or self.best_index is None:
            return dict.fromkeys(self.survivors, 1.0 / m)
        costs = self.table.costs(np.array(self.survivors, dtype=np.intp))
        shares = probability_best(costs, seed=seed_for(self.seed, "probability-best"))
        return dict(zip(self.survivors, shares.tolist(), strict=True))

    @property
    def evaluations_saved(self) -> int:
        """Evaluations not made, against every candidate on every block of this race."""
        return len(self.configs) * len(self.table.rows) - self.evaluations

    def mean(self, candidate: int) -> float | None:
        """Return the mean score of a candidate over its successful evaluations, None without."""
        return self.table.mean(candidate)

    def __repr__(self) -> str:
        return (
            f"RaceResult(best={reprlib.repr(self.best)}, best_index={self.best_index}, survivors={reprlib.repr(self.survivors)}, "
            f"ended={self.ended.value!r}, blocks={len(self.table.rows)}, "
            f"evaluations={self.evaluations}, seed={self.seed})"
        )
