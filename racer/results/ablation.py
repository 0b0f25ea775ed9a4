"""The result of an ablation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from racer._checks import counted
from racer._numerics import as_json, mean_of, shown_probability
from racer.failures import impute_failed
from racer.plots import bars
from racer.plots._canvas import empty
from racer.render.sections import Drawing, Grid, Section, number, parameters
from racer.results.base import AnyResult, mean_on
from racer.results.covariance import covariances
from racer.results.posterior import as_compared
from racer.stats.best import best_posterior, plausible

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from racer.render.sections import Piece
    from racer.space.space import Space

__all__ = ["AblationResult", "Step"]


class Step(NamedTuple):
    """From one configuration of the path to the next, by number, and which parameters change."""

    before: int
    after: int
    parameters: tuple[str, ...]


class _Gain(NamedTuple):
    parameters: Any
    gain: float
    share: float
    probability: float
    mean: float | None


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class AblationResult(AnyResult):
    """The result of an ablation: which changes made the difference.

    Attributes
    ----------
    source, target : dict
        The configurations from which, and to which, it went.
    path : tuple of int
        The numbers of the configurations from the source on; it reaches the target unless the
        budget ended it.
    steps : tuple of Step
        `before`, `after` (numbers), and the `parameters` that change.
    frame : DataFrame
        One row per step: parameters, gain (of the mean value, or of PAR10 or the utility, as
        `racer.Runtime` decides; in the direction of better; a failure is one range of all values of the
        path and the target behind the worst, so that gains add up), share (of the gain from source
        to target), probability (posterior, that the step helps in the mean), mean (of the blocks
        that did not fail).
    frames : dict of str to DataFrame
        "steps": `frame`.
    best : dict
        The configuration of the path with the best mean, in which a failure is as bad as in gains.
        It may beat the target.
    best_index : int
    beats_target : float
        The posterior probability that it is better than the target; NaN where it is the target.
        Like the steps' probabilities, by the model of P(best), `racer.stats.best_posterior`, over
        all that were evaluated: it pulls a lucky leader back.
    configs : tuple of dict
        All configurations that were evaluated, by number.
    blocks : int
        On how many blocks the path's configurations were evaluated, all on the same.
    ended : Ended
    evaluations, seconds, spent, seed, unused, provenance
        As of `RaceResult`.

    Examples
    --------
    >>> import racer
    >>> space = racer.Space({"x": racer.Real(0, 9), "y": racer.Real(0, 9)}, default={"x": 9, "y": 9})
    >>> def evaluate(config, instance, seed):
    ...     return 10 * config["x"] + config["y"] + instance + seed % 7
    >>> result = racer.tune(space, evaluate, range(10), budget=200, seed=1)
    >>> found = racer.ablation(result, evaluate)
    >>> [step.parameters for step in found.steps]
    [('x',), ('y',)]
    >>> bool(found.frame["gain"].iloc[0] > found.frame["gain"].iloc[1])
    True
    """

    space: Space
    source: dict[str, Any]
    target: dict[str, Any]
    steps: tuple[Step, ...]
    path: tuple[int, ...]
    blocks: int

    @cached_property
    def _cost_of_failure(self) -> float:
        """What a failed evaluation costs in all gains: a range of values behind the worst.

        Of the path and the target, so that gains of steps add up to the gain of the whole path.
        """
        ends = (self.configs.index(self.target),) if self.target in self.configs else ()
        costs = self.known.costs(tuple(dict.fromkeys((*self.path, *ends))))
        finite = costs[np.isfinite(costs)]
        return float(impute_failed(np.append(finite, np.inf))[-1]) if finite.size else 0.0

    def _costs(self, *numbers: int) -> NDArray[np.float64]:
        """Return costs (blocks, configurations); run times by their score, as a failure of one."""
        costs = self.known.costs(numbers)
        if self.rules.runtime is not None:
            return self.rules.runtime.as_costs(costs)
        return np.where(np.isfinite(costs), costs, self._cost_of_failure)

    def gain(self, one: int, other: int) -> float:
        """Return by how much the second is better in the mean, on the blocks of both."""
        costs = self._costs(one, other)
        return float((costs[:, 0] - costs[:, 1]).mean()) if len(costs) else math.nan

    def probability(self, one: int, other: int) -> float:
        """Return the posterior probability that the second is better in the mean.

        The other configurations show how much changes usually gain; their failures do not.
        """
        pair = self._costs(one, other)
        if len(pair) < 2:
            return math.nan
        everyone = range(len(self.configs))
        costs, measure = as_compared(self.known.all_costs(everyone), self.rules)
        costs[np.isinf(costs)] = np.nan
        is_shared = np.isin(self.known.counted(everyone), self.known.common([one, other]))
        costs[is_shared, one], costs[is_shared, other] = pair.T
        some = plausible(costs, np.isin(everyone, [one, other]))
        costs, at = costs[:, some], np.flatnonzero(np.isin(some, [one, other]))
        kernels = covariances(self.space, self.configs)(some.tolist(), costs)
        found = best_posterior(costs, measure=measure, covariances=kernels, among=at)
        return float(found.probability_best[np.searchsorted(some, other)])

    @cached_property
    def _gains(self) -> list[_Gain]:
        total = math.nan
        if self.path and self.target in self.configs:
            total = self.gain(self.path[0], self.configs.index(self.target))
        found = []
        for step in self.steps:
            gain = self.gain(step.before, step.after)
            share = gain / total if total else math.nan
            chance = self.probability(step.before, step.after)
            mean = mean_on(self.known, step.after, range(self.blocks))
            found.append(_Gain(step.parameters, gain, share, chance, mean))
        return found

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row per step."""
        import pandas as pd  # noqa: PLC0415

        rows = [gain._replace(parameters=", ".join(gain.parameters)) for gain in self._gains]
        return pd.DataFrame(rows, columns=list(_Gain._fields))

    @property
    def frames(self) -> dict[str, pd.DataFrame]:
        """Its data frames, by name."""
        return {"steps": self.frame}

    @cached_property
    def best_index(self) -> int | None:
        """The configuration of the path with the best mean, by number."""
        if self.rules.runtime is not None:  # a failed run has a score
            sign = -1.0 if self.rules.is_more_better else 1.0
            means = {c: mean_on(self.known, c, range(self.blocks)) for c in self.path}
            known = {c: sign * mean for c, mean in means.items() if mean is not None}
        elif self.path and any(self.known.mean(c) is not None for c in self.path):
            costs = self._costs(*self.path)
            means_of = [mean_of(column.tolist()) for column in costs.T]
            known = dict(zip(self.path, means_of, strict=True))
        else:
            known = {}
        return min(known, key=lambda c: (known[c], -self.path.index(c)), default=None)

    @property
    def _mean_label(self) -> str:
        return "mean" if self.rules.runtime is None else self.rules.runtime.score_name

    @property
    def best(self) -> dict[str, Any] | None:
        """The configuration of the path with the best mean."""
        return None if self.best_index is None else self.configs[self.best_index]

    @cached_property
    def beats_target(self) -> float:
        """The posterior probability that the best of the path is better than the target."""
        if self.best is None or self.best == self.target or self.target not in self.configs:
            return math.nan
        return self.probability(self.configs.index(self.target), self.best_index or 0)

    @property
    def _place_of_best(self) -> str:
        """Where on the path the best is; its number is not the tuning's number of it."""
        step = self.path.index(self.best_index or 0)
        return f"The configuration after step {step}" if step else "The source"

    @property
    def verdict(self) -> tuple[str, ...]:
        """The result in sentences."""
        if not self.steps:
            return (f"No step was made. {self.ended.message}", *self._failures)
        known = [row for row in self._gains if not math.isnan(row.gain)]
        if not known:
            return ("No gain is known.", *self._failures)
        names, gain, share, chance, _ = max(known, key=lambda row: row.gain)
        of = "" if math.isnan(share) else f", {share:z.0%} of the whole difference"
        blocks = counted(self.blocks, "run")
        helps = (
            "" if math.isnan(chance) else f"; it helps with probability {shown_probability(chance)}"
        )
        steps, most = f"Of {len(self.steps)} steps", "gained most:"
        if len(self.steps) == 1:
            steps, most = "In one step", "gained"
        first = (
            f"{steps} from source to target on {blocks}, the change of {', '.join(names)} {most} "
            f"{number(gain)}{of}{helps}."
        )
        sentences = [first, *self._failures]
        if self.configs[self.path[-1]] != self.target:
            sentences.append(f"The path does not reach the target: {self.ended.message}")
        if not math.isnan(self.beats_target):
            sentences.append(
                f"{self._place_of_best} has a better {self._mean_label} than the target; it is "
                f"better with probability {shown_probability(self.beats_target)}."
            )
        return tuple(sentences)

    @property
    def _failures(self) -> list[str]:
        """How many evaluations failed, why the first did, and what they cost, in a sentence."""
        if not self.known.failures:
            return []
        n, why = len(self.known.failures), self.known.failures[0].message.splitlines()[:1]
        first = f", the first with {why[0]!r}" if why else ""
        costs = ": in gains each is worse than all values" if self.known.n_usable else ""
        what = counted(n, "evaluation")
        return [f"{what} failed{first}{costs if self.rules.runtime is None else ''}."]

    def _pieces(self) -> list[Piece]:
        """Return the steps in a table, and the result in sentences."""
        rows = [
            (
                *(i, ", ".join(names), number(gain)),
                "-" if math.isnan(share) else f"{share:z.0%}",
                "-" if math.isnan(chance) else shown_probability(chance),
                number(mean),
            )
            for i, (names, gain, share, chance, mean) in enumerate(self._gains, 1)
        ]
        head = ("step", "changed", "gain", "share", "P(helps)", self._mean_label)
        pieces: list[Piece] = [*self.verdict, Grid.of(head, rows, left=["changed"])]
        if not math.isnan(self.beats_target) and self.best is not None:
            pieces.append(Section(self._place_of_best, (parameters(self.best),)))
        return [*pieces, f"{counted(self.evaluations, 'evaluation')}."]

    def _section(self) -> Section:
        """Return the sentences of a report."""
        words = "The gain of each step of the ablation, with the probability that it helps."
        pieces: tuple[Piece, ...] = (*self._pieces(), Drawing(self.plot, words))
        return Section("Ablation", pieces)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        steps = as_json([gain._asdict() for gain in self._gains])
        return {
            "source": self.source,
            "target": self.target,
            "steps": steps,
            "best": self.best,
            "beats_target": as_json(self.beats_target),
            "blocks": self.blocks,
            "ended": self.ended.value,
            "evaluations": self.evaluations,
            "seed": self.seed,
        }

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the gain of each step; a notebook shows the axes."""
        if not self.steps:
            return empty("No step was made.", ax=ax)
        gains = [row.gain for row in self._gains]
        notes = [
            ("" if math.isnan(share) else f"{share:z.0%}   ")
            + ("" if math.isnan(chance) else f"P(helps) {shown_probability(chance)}")
            for _, _, share, chance, _ in self._gains
        ]
        low, high = min(0.0, *gains), max(0.0, *gains)
        room = (high - low) or 1.0
        return bars(
            gains,
            [f"{i}. {', '.join(row.parameters)}" for i, row in enumerate(self._gains, 1)],
            f"gain of the {self._mean_label} value on {self.blocks} runs",
            notes=notes,
            limits=(low - 0.03 * room, high + 0.42 * room),
            ax=ax,
        )
