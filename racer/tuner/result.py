"""What came of a run of races."""

from __future__ import annotations

import reprlib
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from racer._checks import is_whole
from racer.errors import CandidateError
from racer.seeding import seed_for
from racer.stats.bayesian_friedman import probability_best
from racer.stats.joint import joint_comparisons

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from racer.racing.events import Ended, RaceCompleted
    from racer.tuner.knowledge import Knowledge
    from racer.tuner.stream import Stream

__all__ = ["Origin", "TuneResult"]

_COLUMNS = ("race", "parent", "initial", "blocks", "mean")  # of `configurations`


@dataclass(frozen=True)
class Origin:
    """Where a candidate came from.

    Attributes
    ----------
    race : int
        The race that it entered first.
    parent : int or None
        The candidate around which it was sampled; None: initial, or from the whole space.
    initial : bool
        Given by the user.
    """

    race: int
    parent: int | None
    initial: bool = False


@dataclass(frozen=True, eq=False)
class TuneResult:
    """What came of a run of races.

    Attributes
    ----------
    best : dict or None
        The elite that is expected to be best: by the Gaussian process over all that is known,
        which trusts a mean less the less its neighbours bear it out. None where nothing speaks
        for one rather than another.
    best_index : int or None
        Its number among all candidates of the run.
    elites : tuple of int
        Who was still in after the last race with new candidates, best first. Those that the race
        among them dropped, with what was left of the budget, come last.
    ended : Ended
        Why the run ended; `ended.message` says it in a sentence.
    probability_best : dict of int to float
        For each elite, the posterior probability that its expected rank among them is the
        smallest (Benavoli et al. 2015, eq. 15), on the blocks that all of them have seen. It
        knows nothing of neighbours, so that it may be larger for another than `best`.
    indistinguishable : tuple of int
        The elites that the joint multiple comparisons on those blocks do not show to be worse
        than `best`, itself included.
    blocks : int
        How many blocks all elites have seen.
    scores : DataFrame
        One row per evaluation, in the order of blocks: block, instance, seed, candidate, value,
        status, seconds, message.
    failures : DataFrame
        The rows of `scores` whose evaluation failed, with the reason in `message`.
    configurations : DataFrame
        One row per candidate: race, parent, initial, blocks, mean, and its parameters (one of
        these names is followed by " (parameter)").
    races : DataFrame
        One row per race; the columns are the attributes of `RaceCompleted`.
    tests : DataFrame, held-out instances x elites
        What `evaluate` returned.
    evaluations : int
        Cells evaluated, failed ones included, without those of held-out instances.
    seconds : float
        Sum of their wall times.
    seed : int
        The seed that repeats this run.
    """

    configs: tuple[dict[str, Any], ...]
    best_index: int | None
    elites: tuple[int, ...]
    ended: Ended
    evaluations: int
    seconds: float
    seed: int
    races_held: tuple[RaceCompleted, ...]
    origins: tuple[Origin, ...]
    known: Knowledge
    stream: Stream

    @property
    def survivors(self) -> tuple[int, ...]:
        """The elites, by the name that a race has for those still in at its end."""
        return self.elites

    @property
    def best(self) -> dict[str, Any] | None:
        """The best configuration, or None."""
        return None if self.best_index is None else self.configs[self.best_index]

    def config(self, candidate: int) -> dict[str, Any]:
        """Return the configuration of a candidate; CandidateError if there is none."""
        return self.configs[self._checked(candidate)]

    def mean(self, candidate: int) -> float | None:
        """Return the mean value of a candidate over its successful evaluations, None without."""
        return self.known.mean(self._checked(candidate))

    def lineage(self, candidate: int) -> tuple[int, ...]:
        """Return a candidate, the one around which it was sampled, and so on back.

        Raises
        ------
        CandidateError
            There is no such candidate.
        """
        line = [self._checked(candidate)]
        while (parent := self.origins[line[-1]].parent) is not None:
            line.append(parent)
        return tuple(line)

    def _checked(self, candidate: int) -> int:
        n = len(self.configs)
        if not is_whole(candidate) or not 0 <= candidate < n:
            raise CandidateError(f"candidate {candidate!r}: give a number from 0 to {n - 1}")
        return int(candidate)

    @cached_property
    def blocks(self) -> int:
        """How many blocks all elites have seen."""
        return len(self.known.common(self.elites)) if self.elites else 0

    @cached_property
    def probability_best(self) -> dict[int, float]:
        """Posterior probability of being the best elite."""
        m = len(self.elites)
        if m < 2 or self.best_index is None:
            return dict.fromkeys(self.elites, 1.0 / max(m, 1))
        costs = self.known.costs(self.elites)
        if not len(costs):  # on what they share, all of them failed
            return dict.fromkeys(self.elites, 1.0 / m)
        shares = probability_best(costs, seed=seed_for(self.seed, "probability-best"))
        return dict(zip(self.elites, shares.tolist(), strict=True))

    @cached_property
    def indistinguishable(self) -> tuple[int, ...]:
        """The elites not shown to be worse than the best."""
        if self.best_index not in self.elites or len(self.elites) < 2:
            return self.elites
        costs = self.known.costs(self.elites)
        if not len(costs):
            return self.elites
        found = joint_comparisons(costs, seed=seed_for(self.seed, "indistinguishable"))
        best = self.elites.index(self.best_index)
        worse = {said.worse for said in found.accepted if said.better == best}
        return tuple(c for i, c in enumerate(self.elites) if i not in worse)

    @cached_property
    def scores(self) -> pd.DataFrame:
        """One row per evaluation."""
        return self._frame([b for b in self.known.blocks() if b >= 0])

    @cached_property
    def failures(self) -> pd.DataFrame:
        """The rows of `scores` whose evaluation failed."""
        return self.scores[self.scores["status"] != "ok"]

    @cached_property
    def tests(self) -> pd.DataFrame:
        """Values on held-out instances."""
        import pandas as pd  # noqa: PLC0415

        rows = self._frame([b for b in self.known.blocks() if b < 0][::-1])
        rows = rows[rows["candidate"].isin(self.elites)]
        if rows.empty:
            return pd.DataFrame(columns=pd.Index(self.elites, name="candidate"))
        return rows.pivot_table(
            index="instance", columns="candidate", values="value", dropna=False
        ).reindex(columns=pd.Index(self.elites, name="candidate"))

    @cached_property
    def configurations(self) -> pd.DataFrame:
        """One row per candidate."""
        import pandas as pd  # noqa: PLC0415

        rows = [
            {
                "race": origin.race,
                "parent": origin.parent,
                "initial": origin.initial,
                "blocks": sum(block >= 0 for block in self.known.of(candidate)),
                "mean": self.known.mean(candidate),
                **{_column(name): value for name, value in config.items()},
            }
            for candidate, (origin, config) in enumerate(
                zip(self.origins, self.configs, strict=True)
            )
        ]
        frame = pd.DataFrame(rows).rename_axis(index="candidate")
        return frame.astype({"parent": "Int64"}) if rows else frame

    @cached_property
    def races(self) -> pd.DataFrame:
        """One row per race."""
        import pandas as pd  # noqa: PLC0415

        return pd.DataFrame([vars(race) for race in self.races_held])

    def _frame(self, blocks: Sequence[int]) -> pd.DataFrame:
        import pandas as pd  # noqa: PLC0415

        by_block = self.known.by_block()
        rows = [
            {
                "block": block,
                "instance": place.instance,
                "seed": place.seed,
                "candidate": candidate,
                "value": outcome.value,
                "status": outcome.status,
                "seconds": outcome.seconds,
                "message": outcome.message,
            }
            for block in blocks
            for place in [self.stream.place(block)]
            for candidate, outcome in by_block[block]
        ]
        names = ["block", "instance", "seed", "candidate", "value", "status", "seconds", "message"]
        frame = pd.DataFrame(rows, columns=names)
        return frame.astype({"instance": "Int64", "value": "float64"})

    def __repr__(self) -> str:
        return (
            f"TuneResult(best={reprlib.repr(self.best)}, best_index={self.best_index}, "
            f"elites={self.elites}, ended={self.ended.value!r}, races={len(self.races_held)}, "
            f"candidates={len(self.configs)}, evaluations={self.evaluations}, seed={self.seed})"
        )


def _column(name: str) -> str:
    """Return the column of a parameter: its name, unless another column has that."""
    return f"{name} (parameter)" if name in _COLUMNS else name
