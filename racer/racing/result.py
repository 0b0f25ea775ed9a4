"""The result of a race, and what it shares with that of a tuning."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from racer._checks import is_whole
from racer._numerics import shown_probability
from racer.errors import CandidateError
from racer.racing.page import command_line, data_of, subtitle
from racer.racing.page import of_race as of_page
from racer.racing.pictures import drawn, of_race
from racer.racing.said import RunTimes, as_dict, mean_on, summary, times_of, verdict
from racer.report.notebook import as_html
from racer.report.page import as_page, write_page
from racer.report.text import as_text
from racer.seeding import seed_for
from racer.stats.bayesian_friedman import probability_best

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import pandas as pd
    from _typeshed import StrPath
    from matplotlib.axes import Axes

    from racer.evaluate.outcome import Outcome
    from racer.racing.events import Elimination, Ended
    from racer.racing.pictures import Draw
    from racer.racing.rules import Rules
    from racer.racing.stream import Place, Stream
    from racer.racing.table import Table
    from racer.report.sections import Section

__all__ = ["RaceResult", "Result", "Unused", "cells_frame"]

_CELLS = ("block", "instance", "seed", "candidate", "value", "status", "seconds", "message")


class Unused(NamedTuple):
    """What was evaluated, and not needed."""

    cells: int
    seconds: float

    @classmethod
    def of(cls, outcomes: Iterable[Outcome]) -> Unused:
        """Count outcomes, and add up their seconds."""
        seconds = [outcome.seconds for outcome in outcomes]
        return cls(len(seconds), math.fsum(seconds))

    def plus(self, other: Unused) -> Unused:
        """Return both together."""
        return Unused(self.cells + other.cells, self.seconds + other.seconds)


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """What the results of a race and of a tuning have in common.

    Attributes
    ----------
    configs : tuple
        Of all candidates, by number.
    best : object or None
        The best configuration, or None.
    best_index : int or None
        Its number among the candidates.
    survivors : tuple of int
        The candidates that were not eliminated, best first.
    ended : Ended
        Why it ended; `ended.message` says it in a sentence.
    scores : DataFrame
        One row per evaluation, in the order of blocks: block, instance, seed, candidate, value,
        status, seconds, message.
    table : DataFrame, blocks x candidates
        What `evaluate` returned; NaN where a candidate was not evaluated, or failed.
    failures : DataFrame
        The rows of `scores` whose evaluation failed, with the reason in `message`.
    blocks : DataFrame
        instance (its index; <NA> without instances), seed, evaluated, set_aside: one row per
        block.
    eliminations : DataFrame
        block, candidate, reason, against, probability, measure: one row per candidate
        eliminated. `measure` says what `probability` is; an e-value is none, and may exceed 1.
    probability_best : dict of int to float
        For each survivor, the posterior probability of being the best of them, by ranks.
    caveat : str
        Where that is larger for another than for `best`, or another has a better mean on the
        common blocks: a sentence that says so, and why.
    evaluations : int
        Cells evaluated, failed ones included, held-out ones not.
    seconds : float
        Sum of their wall times (`n_jobs` does not shorten it).
    seed : int
        The seed that repeats it.
    rules : racer.racing.Rules
        Its budget, decider, and all else that makes it.
    instances : tuple or None
        As they were given.
    shared_blocks : int
        How many blocks all survivors have seen.
    verdict : tuple of str
        The result in sentences.
    run_times : DataFrame
        With `runtime`, one row per survivor: score (mean, by the criterion: PAR10, say), unsolved
        (evaluations that reached the limit), failed, capped (below the limit; the score has their
        cap, a lower bound), blocks. Empty without.
    unused : Unused
        What free workers evaluated ahead, and nobody asked for: cells and their seconds, which
        are in none of the above, and not charged to the budget.
    how : mapping
        How it was evaluated, as far as that is known: the name of `evaluate` or its command,
        limits, the version of racer, the number of workers, the wall time.
    """

    _best_by: ClassVar[str]
    survivors_are: ClassVar[str] = "survivors"
    best_has: ClassVar[str] = "expected rank is the smallest"

    configs: tuple[Any, ...]
    best_index: int | None
    survivors: tuple[int, ...]
    ended: Ended
    evaluations: int
    seconds: float
    seed: int
    known: Table
    stream: Stream
    dropped: tuple[Elimination, ...]
    rules: Rules
    instances: tuple[Any, ...] | None
    unused: Unused = field(default=Unused(0, 0.0), kw_only=True)
    how: Mapping[str, Any] = field(default_factory=dict, kw_only=True)

    @property
    def best(self) -> Any:
        """The best configuration, or None."""
        return None if self.best_index is None else self.configs[self.best_index]

    @cached_property
    def probability_best(self) -> dict[int, float]:
        """Posterior probability of being the best survivor, by ranks."""
        raise NotImplementedError

    @cached_property
    def caveat(self) -> str:
        """Where `best` is not the best survivor by ranks, or else not by its mean: a sentence."""
        best, chances = self.best_index, self.probability_best
        if best not in chances:
            return ""
        other = max(chances, key=lambda candidate: chances[candidate])
        if chances[other] <= chances[best]:
            return self._not_by_mean()
        mean, others = self.mean(best), self.mean(other)
        known = mean is not None and others is not None and self.rules.runtime is None
        values = (
            f" (mean values, each over all its blocks: {mean:.4g} and {others:.4g})"
            if known
            else ""
        )
        return (
            f"#{best} is the best by {self._criterion()}. By ranks, on the blocks that all "
            f"{self.survivors_are} have seen, #{other} is more probably so: {shown_probability(chances[other])} against "
            f"{shown_probability(chances[best])}{values}. Ranks count how often one is ahead, not "
            "by how much."
        )

    def _not_by_mean(self) -> str:
        """Return which survivor has a better mean than `best` on common blocks; empty if none."""
        best, common = self.best_index, self.known.common(self.survivors)
        known = {c: mean_on(self.known, c, common) for c in self.survivors}
        means = {
            c: -mean if self.rules.maximize else mean
            for c, mean in known.items()
            if mean is not None
        }
        if best not in means or self.rules.runtime is not None:
            return ""
        other = min(means, key=lambda candidate: means[candidate])
        mean, others = f"{known[best]:.4g}", f"{known[other]:.4g}"
        if means[other] >= means[best] or mean == others:
            return ""
        return (
            f"On these blocks #{other} has a better mean value than #{best}, {others} against "
            f"{mean}, but no better ranks: a few blocks can rule a mean."
        )

    def _criterion(self) -> str:
        """Return by what the best is the best."""
        runtime = self.rules.runtime
        return self._best_by if runtime is None else runtime.criterion

    @cached_property
    def shared_blocks(self) -> int:
        """How many blocks all survivors have seen."""
        return len(self.known.common(self.survivors)) if self.survivors else 0

    @property
    def test_means(self) -> dict[int, float]:
        """The mean value of each survivor on held-out instances; empty without any."""
        return {}

    @property
    def history(self) -> tuple[Section, ...]:
        """What it came through, in tables; empty for a single race."""
        return ()

    @property
    def verdict(self) -> tuple[str, ...]:
        """The result in sentences."""
        return verdict(self)

    def __repr__(self) -> str:
        return as_text(summary(self))

    def _repr_html_(self) -> str:
        return as_html(summary(self))

    @property
    def pictures(self) -> dict[str, Draw]:
        """What can be drawn, by name, the usual one first."""
        return of_race(self)

    def plot(self, kind: str | None = None, *, ax: Axes | None = None) -> Any:
        """Draw the result; a notebook shows what is returned.

        Parameters
        ----------
        kind : {"race", "ranks", "posterior", "costs"}, optional
            Who was where on each block, and who was eliminated when, why and against whom (the
            default); mean ranks so far; P(best) of the survivors; their values on common blocks.
        ax : matplotlib Axes, optional
            By default on a figure of its own: ``.plot().figure.savefig("picture.png")``.

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        SettingError
            There is no such picture.
        MissingExtraError
            Without matplotlib (``pip install 'racer-tuning[plot]'``).
        """
        return drawn(self.pictures, kind, ax)

    @property
    def frames(self) -> dict[str, pd.DataFrame]:
        """Its data frames, by name."""
        names = ("scores", "table", "eliminations", "failures", "blocks")
        return {name: getattr(self, name) for name in names}

    def to_dict(self, line: Callable[[Any], str] | None = None) -> dict[str, Any]:
        """Return the answer as plain data; `line` makes a command line of a configuration."""
        return as_dict(self, line)

    def report(self, path: StrPath) -> None:
        """Write one HTML page with all of it, which needs no network; it replaces what is there.

        Parameters
        ----------
        path : str or path-like

        Raises
        ------
        MissingExtraError
            Without Jinja or matplotlib (``pip install 'racer-tuning[report]'``).
        OSError
            The file cannot be written.
        """
        write_page(path, self.to_page())

    def to_page(self) -> str:
        """Return the page that `report` writes."""
        return as_page(
            "Report of a race",
            subtitle(self),
            self.verdict,
            of_page(self),
            data_of(self, self.to_dict(command_line(self.how))),
        )

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

    @cached_property
    def scores(self) -> pd.DataFrame:
        """One row per evaluation."""
        return cells_frame(self.known, self.stream.place)

    @cached_property
    def run_times(self) -> pd.DataFrame:
        """One row per survivor, where the cost is run time: its score and how it came about."""
        import pandas as pd  # noqa: PLC0415

        rows = {candidate: times_of(self, candidate) for candidate in self.survivors}
        frame = pd.DataFrame.from_dict(rows, orient="index", columns=list(RunTimes._fields))
        return frame.rename_axis(index="candidate")

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

        names = ["block", "candidate", "reason", "against", "probability", "measure"]
        frame = pd.DataFrame([vars(gone) for gone in self.dropped], columns=names)
        words = {"reason", "measure"}
        kinds = {name: "str" if name in words else "int64" for name in names}
        return frame.astype(kinds | {"probability": "float64"})


class RaceResult(Result):
    """The result of a race.

    Attributes
    ----------
    best : object or None
        The best configuration; None where nothing speaks for one survivor rather than another
        (every evaluation failed, no candidate was eliminated and all survivors tie, or the race ended
        before its first test).
    best_index : int or None
        Its place among the candidates.
    survivors : tuple of int
        The candidates that were not eliminated, best standing first.
    ended : Ended
        Why the race ended; `ended.message` says it in a sentence.
    scores : DataFrame
        One row per evaluation, in the order of blocks: block, instance, seed, candidate, value,
        status, seconds, message.
    table : DataFrame, blocks x candidates
        What `evaluate` returned; NaN where a candidate was out or its evaluation failed.
    eliminations : DataFrame
        block, candidate, reason, against, probability, measure: one row per candidate
        eliminated. `measure` says what `probability` is; an e-value is none, and may exceed 1.
    failures : DataFrame
        The rows of `scores` whose evaluation failed, with the reason in `message`.
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
        is the smallest (Benavoli et al. 2015, eq. 15), on the blocks of this race; equal parts
        where `best` is None. It says nothing of the candidates that were eliminated: with one
        survivor it is 1.
    caveat : str
        Where that is larger for another survivor than for `best`, by whose standing the decider
        goes, or another has a better mean on the common blocks: a sentence that says so, and why.

    Examples
    --------
    >>> import racer
    >>> result = racer.race(["a", "bb", "ccc"], lambda *cell: len(cell[0]), budget=60)
    >>> result.best, result.survivors, result.ended.value
    ('a', (0,), 'decided')
    >>> list(result.eliminations.columns)
    ['block', 'candidate', 'reason', 'against', 'probability', 'measure']
    """

    _best_by = "the standing that its decider goes by"

    @cached_property
    def probability_best(self) -> dict[int, float]:
        """Posterior probability of being the best survivor."""
        m = len(self.survivors)
        if m == 1 or self.best_index is None:
            return dict.fromkeys(self.survivors, 1.0 / max(m, 1))
        costs = self.known.costs(self.survivors)
        found = probability_best(costs, seed=seed_for(self.seed, "probability-best"))
        return dict(zip(self.survivors, found.tolist(), strict=True))


def cells_frame(known: Table, place: Callable[[int], Place]) -> pd.DataFrame:
    """Return one row per outcome; `place` says where a block takes place."""
    import pandas as pd  # noqa: PLC0415

    places = {row.block: place(row.block) for row in known.rows}
    rows = [
        (
            *(block, *places[block], candidate),
            *(outcome.value, outcome.status, outcome.seconds, outcome.message),
        )
        for block, candidate, outcome in known.cells()
    ]
    frame = pd.DataFrame(rows, columns=_CELLS)
    return frame.astype({"instance": "Int64", "value": "float64"})
