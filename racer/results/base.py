"""Base of the results of a race and of a tuning: values and frames."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from textwrap import shorten
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from racer._checks import did_you_mean, is_whole, no_attribute
from racer._numerics import mean_of, means_of
from racer.core.contest import FOLDS, RUNS, Unused
from racer.core.table import Table, with_success
from racer.errors import CandidateError, SettingError
from racer.failures import impute_no_nearer
from racer.render.notebook import Displayed
from racer.results.metrics import Metrics
from racer.results.posterior import goes_by_means, likeliest, n_blocks_of, posterior_of, rounded
from racer.results.scores import scores_frame

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pandas as pd
    from matplotlib.axes import Axes

    from racer.core.blocks import Stream
    from racer.core.contest import Words
    from racer.core.events import Elimination, Ended
    from racer.core.rules import Rules
    from racer.results.posterior import Covariances
    from racer.stats.best import BestPosterior

    Draw = Callable[[Axes | None], Any]


class RunTimes(NamedTuple):
    """The run times of a candidate: its score on the common blocks; of all of its blocks the rest."""

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
    spent: float | None = None
    unused: Unused = field(default=Unused())
    provenance: Mapping[str, Any] = field(default_factory=dict)

    if not TYPE_CHECKING:  # it would allow any name
        __getattr__ = no_attribute


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Result(AnyResult, ABC):
    """The values of a race or a tuning; `RaceResult` and `TuneResult` document them."""

    _survivor_label: ClassVar[str]
    _is_race: ClassVar[bool] = False
    _frame_names: ClassVar[tuple[str, ...]] = (
        *("scores", "table", "eliminations", "verdicts", "failures", "blocks"),
    )

    leader: int | None
    survivors: tuple[int, ...]
    stream: Stream
    _eliminations: tuple[Elimination, ...]
    _evidence: tuple[tuple[int, Mapping[str, float | str]], ...] = ()
    instances: tuple[Any, ...] | None
    held_out: Table = field(default_factory=Table)
    correlation: float = 0.0

    @property
    @abstractmethod
    def verdict(self) -> tuple[str, ...]:
        """The result in sentences."""

    @property
    @abstractmethod
    def _pictures(self) -> dict[str, Draw]:
        """The pictures by name, the usual one first."""

    @abstractmethod
    def to_dict(self, line: Callable[[Any], str] | None = None) -> dict[str, Any]:
        """Return the answer as plain data; `line` makes a command line of a configuration."""

    @property
    def best(self) -> Any:
        """The best configuration, or None."""
        return None if self.best_index is None else self.configs[self.best_index]

    @cached_property
    def best_index(self) -> int | None:
        """The candidate that is most probably the best, None without evidence for any."""
        if self.leader is None or not self.probability_best:
            return self.leader
        return likeliest(self.posterior, self.leader)

    @cached_property
    def guess(self) -> int | None:
        """The candidate to take if one must be taken now: the best, or the likeliest best.

        None without a success, where all are equal, and in a race to a front. As weak as its
        `probability_best` says, before the first test above all.
        """
        if self.best_index is not None:
            return self.best_index
        some = {c for c in range(len(self.configs)) if self.known.mean(c) is not None}
        some -= self.known.rejected
        if not some or self.rules.is_front or self.ended == "all-equal":
            return None
        chances = rounded(self.posterior)
        return max(some, key=lambda c: (chances[c], -c))

    @cached_property
    def posterior(self) -> BestPosterior:
        """The posterior of the best of all candidates, from all that is known of them."""
        if self._metrics is not None and self.rules.goal is not None:
            return self._metrics.posterior(self.rules.goal, self.compared)
        return self._posterior_among(self._sought)

    def _posterior_among(self, some: Sequence[int]) -> BestPosterior:
        """Return the posterior of the best of some candidates, from all that is known."""
        n, more = len(self.configs), (self.correlation, self._covariances, some)
        return posterior_of(self.known, n, self.stream, self.rules, *more, by_means=self._by_means)

    @property
    def _by_means(self) -> bool:
        """Whether P(best) is about mean costs as they are, not in units of each block."""
        return goes_by_means(self.rules)

    @property
    def compared(self) -> tuple[int, ...]:
        """The candidates of which the best is sought."""
        return tuple(range(len(self.configs)))

    @property
    def _sought(self) -> tuple[int, ...]:
        """The compared candidates that did not leave because P(best) excluded them."""
        return self.compared

    @property
    def _covariances(self) -> Covariances | None:
        """Prior covariances of candidates; None where they are exchangeable."""
        return None

    @cached_property
    def _metrics(self) -> Metrics | None:
        """Results of its metrics; None where `evaluate` returns one number."""
        if self.rules.aim is None:
            return None
        n = len(self.configs)
        return Metrics(self.rules.aim, self.known, n, n_blocks_of(self.known, self.stream))

    def _of_metrics(self) -> Metrics:
        if self._metrics is None:
            raise SettingError(
                "evaluate returned one number: a front needs goal=racer.Pareto(..), and evaluate that returns "
                "them by name"
            )
        return self._metrics

    @property
    def front(self) -> pd.DataFrame:
        """One row per candidate: its probability to be on the front, and its means."""
        return self._of_metrics().frame

    @property
    def probability_front(self) -> dict[int, float]:
        """The posterior probability of each candidate that it is on the front."""
        return self._of_metrics().probability_front

    @property
    def credible_front(self) -> tuple[int, ...]:
        """The fewest candidates that hold the whole front with probability .95, likeliest first."""
        return self._of_metrics().credible_front

    def metric(self, name: str) -> pd.DataFrame:
        """Return the values of a metric, blocks x candidates; SettingError for an unknown name."""
        tables = self._of_metrics().tables
        if name not in tables:
            known = ", ".join(map(repr, tables))
            raise SettingError(f"metric({name!r}): give one of {known}{did_you_mean(name, tables)}")
        return self._wide(tables[name])

    @property
    def probability_best(self) -> dict[int, float]:
        """The posterior probability of each candidate that it is the best of all compared."""
        if self.rules.is_front:
            return {}
        return dict(enumerate(self.posterior.probability_best.tolist()))

    @property
    def _has_evidence(self) -> bool:
        """Whether its probabilities are shown: some evaluation succeeded, or none is needed."""
        return self.known.n_usable > 0 or len(self.configs) == 1

    @property
    def credible_set(self) -> tuple[int, ...]:
        """The fewest candidates that hold the best with probability .95, likeliest first."""
        if self.leader is None or not self.probability_best:
            return ()
        among, found, best = {*self.compared}, self.posterior.credible_set(), self.best_index
        chances = rounded(self.posterior)
        if best is not None and chances[best] == chances[found[0]]:  # the first of equals
            found = (best, *(c for c in found if c != best))[: len(found)]
        return tuple(c for c in found if c in among)

    @cached_property
    def leaders(self) -> tuple[int, ...]:
        """The survivors, and the best if it is not among them, by their probability of being best.

        In a race to the front, by their probability of being on it.
        """
        if self.rules.is_front:
            return self._of_metrics().likeliest_first(self.survivors)
        if self.best_index is None:
            return self.survivors
        more = () if self.best_index in self.survivors else (self.best_index,)
        chances = rounded(self.posterior)
        others = [c for c in (*self.survivors, *more) if c != self.best_index]
        return (self.best_index, *sorted(others, key=lambda c: -chances[c]))

    @cached_property
    def shared_blocks(self) -> int:
        """How many blocks all survivors have seen."""
        return len(self.known.common(self.survivors)) if self.survivors else 0

    @cached_property
    def test_means(self) -> dict[int, float]:
        """The mean value of each leader on held-out instances; empty without any."""
        if self.rules.runtime is not None:
            means = {c: self.held_out.mean(c) for c in self.leaders}
            return {c: mean for c, mean in means.items() if mean is not None}
        tested = [c for c in self.leaders if self.held_out.of(c)]
        return means_with_failures(self.held_out, tested)[1]

    @cached_property
    def _common_means(self) -> tuple[int, dict[int, float]]:
        """How many blocks all leaders have seen, and some solved, and each leader's mean there."""
        return means_with_failures(self.known, self.leaders)

    @property
    def _listed(self) -> tuple[int, ...]:
        """The leaders; in a tuning, among them others that may be the best."""
        if self._is_race or not self.credible_set:
            return self.leaders
        listed, chances = {*self.leaders, *self.credible_set}, rounded(self.posterior)
        return tuple(sorted(listed, key=lambda c: (c != self.best_index, -chances[c], c)))

    @cached_property
    def _listed_means(self) -> tuple[int, dict[int, float]]:
        """As `_common_means`, with the means there of all that are listed."""
        n_common, means = self._common_means
        for c in {*self._listed}.difference(self.leaders):
            n, found = means_with_failures(self.known, (*self.leaders, c))
            means = {**found, **means} if n == n_common else means
        return n_common, means

    @cached_property
    def test_failures(self) -> dict[int, int]:
        """How many evaluations of each leader on held-out instances failed."""
        told = {c: self.held_out.of(c).values() for c in self.leaders}
        return {c: sum(outcome.value is None for outcome in known) for c, known in told.items()}

    def _label(self, candidate: int) -> str:
        """Return how a candidate is called: its number, and itself, or its beginning, if a text."""
        config = self.configs[candidate]
        text = shorten(config, 24, placeholder=" ..") if isinstance(config, str) else ""
        return f"#{candidate} {text}".rstrip()

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
        """One row per cell: the outcome of its last evaluation."""
        names = () if self.rules.aim is None else self.rules.aim.names
        is_paid = self.known.spent is not None
        return scores_frame(self.known, self.stream.place, names, is_paid=is_paid)

    @cached_property
    def run_times(self) -> pd.DataFrame:
        """One row per survivor, where the cost is run time: its score and how it came about."""
        import pandas as pd  # noqa: PLC0415

        rows = {candidate: self._run_times(candidate) for candidate in self.survivors}
        frame = pd.DataFrame.from_dict(rows, orient="index", columns=list(RunTimes._fields))
        return frame.rename_axis(index="candidate")

    def _run_times(self, candidate: int) -> RunTimes:
        """Return the run times of a candidate; `capped` counts caps below the limit."""
        known, runtime = self.known.of(candidate), self.rules.runtime
        limit = math.inf if runtime is None else runtime.limit
        others = known.unsuccessful()
        capped = [outcome.value or 0.0 for outcome in others if outcome.status == "capped"]
        unsolved = sum(value >= limit for value in capped)
        failed = sum(outcome.value is None for outcome in others)
        capped_early = len(capped) - unsolved
        score = self.mean(candidate) if runtime is None else self._criteria.get(candidate)
        return RunTimes(score, unsolved, failed, capped_early, len(known))

    @cached_property
    def _criteria(self) -> dict[int, float]:
        """The criterion of run times of each leader, on the blocks that all leaders have seen."""
        runtime, leaders = self.rules.runtime, self.leaders
        if runtime is None or not leaders:
            return {}
        if runtime.by_ranks:
            ranks = runtime.as_costs(self.known.costs(leaders))
            return (
                dict(zip(leaders, ranks.mean(axis=0).tolist(), strict=True)) if len(ranks) else {}
            )
        return self._common_means[1]

    @property
    def _note(self) -> str:
        """A sentence on the cost."""
        return ""

    @property
    def _words(self) -> Words:
        """The words of the door that the contest came through."""
        return FOLDS if self.correlation else RUNS

    @cached_property
    def table(self) -> pd.DataFrame:
        """Values of `evaluate`, blocks x candidates."""
        return self._wide(self.known)

    def _wide(self, known: Table) -> pd.DataFrame:
        import pandas as pd  # noqa: PLC0415

        index = pd.Index(sorted({row.block for row in known.rows}), name="block")
        frame = pd.DataFrame(known.values(len(self.configs)), index=index)
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
        set_aside = {*self.known.set_aside}
        return pd.DataFrame(
            {
                "instance": pd.array([place.instance for place in places], dtype="Int64"),
                "seed": [place.seed for place in places],
                "evaluated": [evaluated[block] for block in blocks],
                "set_aside": [block in set_aside for block in blocks],
            },
            index=pd.Index(blocks, name="block", dtype="int64"),
        )

    @cached_property
    def verdicts(self) -> pd.DataFrame:
        """One row per test of the decider: the block after which it was, and its evidence."""
        import pandas as pd  # noqa: PLC0415

        rows = [{"block": block, **evidence} for block, evidence in self._evidence]
        return pd.DataFrame(rows, columns=None if rows else ["block"])

    @cached_property
    def eliminations(self) -> pd.DataFrame:
        """One row per candidate eliminated: block, candidate, reason, against.

        Where the decider goes by another number than a posterior, also that: `probability`, which
        `measure` names. Probabilities of a candidate are `probability_best`.
        """
        import pandas as pd  # noqa: PLC0415

        kinds = dict.fromkeys(("block", "candidate"), "int64") | {"reason": "str"}
        kinds |= {"against": "int64", "probability": "float64", "measure": "str"}
        frame = pd.DataFrame([vars(gone) for gone in self._eliminations], columns=list(kinds))
        own = [] if self._shows_measures else ["probability", "measure"]
        return frame.astype(kinds).drop(columns=own)

    @property
    def _shows_measures(self) -> bool:
        """Whether eliminations have numbers besides P(best), such as p-values."""
        return any(gone.measure not in {"posterior", "outcome"} for gone in self._eliminations)


def means_with_failures(known: Table, candidates: Sequence[int]) -> tuple[int, dict[int, float]]:
    """Return how many blocks all candidates have seen, and some solved, and their means there.

    A failure is a range of its block behind the worst, or more: see `impute_no_nearer`. Of run
    times, the blocks are all, and the means are scores.
    """
    if not candidates:
        return 0, {}
    if known.runtime is not None:
        common = known.common(candidates)
        scores = {c: mean_on(known, c, common) for c in candidates}
        return len(common), {c: score for c, score in scores.items() if score is not None}
    costs = impute_no_nearer(with_success(known.costs(candidates)))
    if not len(costs):
        return 0, {}
    values = (-1.0 if known.maximize else 1.0) * means_of(costs) + 0.0  # not -0
    return len(costs), dict(zip(candidates, values.tolist(), strict=True))


def mean_on(known: Table, candidate: int, blocks: Sequence[int]) -> float | None:
    """Return the mean value on some blocks, over the successes; None without any.

    Of run times it is the mean score, failures included.
    """
    column = known.of(candidate)
    if known.runtime is not None:
        scores = [known.runtime.score(column[block]) for block in blocks if block in column]
        return math.fsum(scores) / len(scores) if scores else None
    values = column.values_on(blocks)
    return mean_of(values) if values else None
