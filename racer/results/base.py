"""What the results of a race and of a tuning have in common: their values and frames."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from racer._checks import is_whole
from racer._numerics import shown_probability
from racer.core.contest import Unused
from racer.core.table import Table
from racer.errors import CandidateError
from racer.render.notebook import Displayed
from racer.results.scores import scores_frame
from racer.seeding import seed_for
from racer.stats.friedman import probability_best

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    import pandas as pd
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from racer.core.blocks import Stream
    from racer.core.events import Elimination, Ended
    from racer.core.rules import Rules

    Draw = Callable[[Axes | None], Any]

__all__ = ["AnyResult", "BestPosterior", "Result", "RunTimes", "mean_on"]


class BestPosterior(NamedTuple):
    """Another posterior of the best than that by ranks."""

    probability_best: dict[int, float]  # of each survivor
    label: str  # what the best has: "mean score is the best"


class RunTimes(NamedTuple):
    """The run times of a candidate: their mean score, and how many were not run to their end."""

    score: float | None
    unsolved: int
    failed: int
    capped: int
    blocks: int


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class AnyResult(Displayed):
    """The values that every result has; `RaceResult` documents them."""

    configs: tuple[Any, ...]
    ended: Ended
    evaluations: int
    seconds: float
    seed: int
    known: Table
    rules: Rules
    unused: Unused = field(default=Unused())
    provenance: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Result(AnyResult, ABC):
    """The values of a race or a tuning; `RaceResult` and `TuneResult` document them."""

    _best_by: ClassVar[str]
    _survivor_label: ClassVar[str]
    _frame_names: ClassVar[tuple[str, ...]]

    best_index: int | None
    survivors: tuple[int, ...]
    stream: Stream
    _eliminations: tuple[Elimination, ...]
    instances: tuple[Any, ...] | None
    held_out: Table = field(default_factory=Table)
    posterior: BestPosterior | None = None

    @property
    @abstractmethod
    def verdict(self) -> tuple[str, ...]:
        """The result in sentences."""

    @property
    @abstractmethod
    def _pictures(self) -> dict[str, Draw]:
        """The pictures by name, the usual one first."""

    @property
    @abstractmethod
    def _shared_costs(self) -> NDArray[np.float64]:
        """Costs (blocks, survivors) on the blocks by which P(best) goes."""

    @abstractmethod
    def to_dict(self, line: Callable[[Any], str] | None = None) -> dict[str, Any]:
        """Return the answer as plain data; `line` makes a command line of a configuration."""

    @property
    def best(self) -> Any:
        """The best configuration, or None."""
        return None if self.best_index is None else self.configs[self.best_index]

    @cached_property
    def probability_best(self) -> dict[int, float]:
        """Posterior probability of being the best survivor, by ranks."""
        if self.posterior is not None:
            return self.posterior.probability_best
        m = len(self.survivors)
        costs = None if m < 2 or self.best_index is None else self._shared_costs
        if costs is None or not len(costs):  # alone, none is best, or all failed wherever all were
            return dict.fromkeys(self.survivors, 1.0 / max(m, 1))
        found = probability_best(costs, seed=seed_for(self.seed, "probability-best"))
        return dict(zip(self.survivors, found.tolist(), strict=True))

    @property
    def _best_label(self) -> str:
        """What the best has, of which P(best) is the probability."""
        return "expected rank is the smallest" if self.posterior is None else self.posterior.label

    @cached_property
    def caveat(self) -> str:
        """A sentence where `best` is not the best survivor by ranks, or else not by its mean."""
        best, chances = self.best_index, self.probability_best
        if best not in chances or self.posterior is not None:
            return ""
        other = max(chances, key=lambda candidate: chances[candidate])
        if chances[other] <= chances[best]:
            return self._mean_caveat()
        runtime, mean, others = self.rules.runtime, self.mean(best), self.mean(other)
        values = (
            f" (mean values, each over all its blocks: {mean:.4g} and {others:.4g})"
            if mean is not None and others is not None and runtime is None
            else ""
        )
        return (
            f"#{best} is the best by {self._best_by if runtime is None else runtime.criterion}. By "
            f"ranks, on the blocks that all {self._survivor_label} have seen, #{other} is more "
            f"probably so: {shown_probability(chances[other])} against "
            f"{shown_probability(chances[best])}{values}. Ranks count how often one is ahead, not "
            "by how much."
        )

    def _mean_caveat(self) -> str:
        """Return a sentence if a survivor has a better mean than `best` on common blocks."""
        best, common = self.best_index, self.known.common(self.survivors)
        known = {c: mean_on(self.known, c, common) for c in self.survivors}
        means = {c: mean for c, mean in known.items() if mean is not None}
        if best not in means or self.rules.runtime is not None:
            return ""
        best_mean = max if self.rules.maximize else min
        other = best_mean(means, key=lambda candidate: means[candidate])
        mean, others = f"{means[best]:.4g}", f"{means[other]:.4g}"
        if mean == others:
            return ""
        return (
            f"On these blocks #{other} has a better mean value than #{best}, {others} against "
            f"{mean}, but no better ranks: a few extreme blocks can dominate a mean."
        )

    @cached_property
    def shared_blocks(self) -> int:
        """How many blocks all survivors have seen."""
        return len(self.known.common(self.survivors)) if self.survivors else 0

    @cached_property
    def test_means(self) -> dict[int, float]:
        """The mean value of each survivor on held-out instances; empty without any."""
        means = {c: self.held_out.mean(c) for c in self.survivors}
        return {c: mean for c, mean in means.items() if mean is not None}

    def config(self, candidate: int) -> Any:
        """Return the configuration of a candidate; CandidateError if there is none."""
        return self.configs[self._checked(candidate)]

    def mean(self, candidate: int) -> float | None:
        """Return the mean value of a candidate over its successful evaluations, None without."""
        return self.known.mean(self._checked(candidate))

    def _checked(self, candidate: int) -> int:
        n = len(self.configs)
        if not is_whole(candidate) or not 0 <= candidate < n:
            raise CandidateError(f"candidate {candidate!r}: give a number from 0 to {n - 1}")
        return int(candidate)

    @property
    def frames(self) -> dict[str, pd.DataFrame]:
        """Its data frames, by name."""
        return {name: getattr(self, name) for name in self._frame_names}

    @cached_property
    def scores(self) -> pd.DataFrame:
        """One row per evaluation."""
        return scores_frame(self.known, self.stream.place)

    @cached_property
    def run_times(self) -> pd.DataFrame:
        """One row per survivor, where the cost is run time: its score and how it came about."""
        import pandas as pd  # noqa: PLC0415

        rows = {candidate: self._run_times(candidate) for candidate in self.survivors}
        frame = pd.DataFrame.from_dict(rows, orient="index", columns=list(RunTimes._fields))
        return frame.rename_axis(index="candidate")

    def _run_times(self, candidate: int) -> RunTimes:
        """Return the run times of a candidate; `capped` are those below the limit."""
        outcomes, runtime = list(self.known.of(candidate).values()), self.rules.runtime
        limit = math.inf if runtime is None else runtime.limit
        capped = [outcome.value or 0.0 for outcome in outcomes if outcome.status == "capped"]
        unsolved = sum(value >= limit for value in capped)
        failed = sum(outcome.value is None for outcome in outcomes)
        capped_early = len(capped) - unsolved
        return RunTimes(self.mean(candidate), unsolved, failed, capped_early, len(outcomes))

    @cached_property
    def table(self) -> pd.DataFrame:
        """What `evaluate` returned, blocks x candidates."""
        import pandas as pd  # noqa: PLC0415

        index = pd.Index(sorted({row.block for row in self.known.rows}), name="block")
        frame = pd.DataFrame(self.known.values(len(self.configs)), index=index)
        return frame.rename_axis(columns="candidate")

    @cached_property
    def failures(self) -> pd.DataFrame:
        """The rows of `scores` whose evaluation failed."""
        return self.scores[~self.scores["status"].isin(["ok", "capped"])]

    @cached_property
    def blocks(self) -> pd.DataFrame:
        """One row per block."""
        import pandas as pd  # noqa: PLC0415

        evaluated: dict[int, int] = {}
        for row in self.known.rows:
            evaluated[row.block] = evaluated.get(row.block, 0) + len(row.candidates)
        blocks = sorted(evaluated)
        places = [self.stream.place(block) for block in blocks]
        return pd.DataFrame(
            {
                "instance": pd.array([place.instance for place in places], dtype="Int64"),
                "seed": [place.seed for place in places],
                "evaluated": [evaluated[block] for block in blocks],
                "set_aside": [not self.known.is_usable(block) for block in blocks],
            },
            index=pd.Index(blocks, name="block", dtype="int64"),
        )

    @cached_property
    def eliminations(self) -> pd.DataFrame:
        """One row per candidate eliminated."""
        import pandas as pd  # noqa: PLC0415

        kinds = dict.fromkeys(("block", "candidate"), "int64") | {"reason": "str"}
        kinds |= {"against": "int64", "probability": "float64", "measure": "str"}
        frame = pd.DataFrame([vars(gone) for gone in self._eliminations], columns=list(kinds))
        return frame.astype(kinds)


def mean_on(known: Table, candidate: int, blocks: Sequence[int]) -> float | None:
    """Return the mean value on some blocks, over the successes; None without any.

    Of run times it is the mean score, failures included.
    """
    column = known.of(candidate)
    if known.runtime is not None:
        scores = [known.runtime.score(column[block]) for block in blocks if block in column]
        return math.fsum(scores) / len(scores) if scores else None
    values = [v for b in blocks if b in column and (v := column[b].value) is not None]
    return math.fsum(v / len(values) for v in values) if values else None
