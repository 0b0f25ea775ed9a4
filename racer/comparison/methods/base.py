"""The settings and the result of a method of `racer.compare`, and helpers for all methods."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from racer._checks import counted
from racer.errors import ScoresError, SettingError
from racer.stats.pairs import pair_ranks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from racer.comparison.data import Decision, Decisions, OmnibusTest, Posthoc
    from racer.comparison.scores import Scores
    from racer.stats.pairs import PairRanks
    from racer.stats.wins import LocalRope

ALIKE = "As all may be alike, no algorithm is called better than another."


class Settings(NamedTuple):
    """The arguments of `racer.compare` that methods use, checked."""

    alpha: float
    rope: float | None
    control: int | None
    posthoc: Posthoc | None
    local_rope: LocalRope | None
    seed: int
    correlation: float | None = None
    decisions: Decisions | None = None  # None: "gated"


@dataclass(frozen=True, eq=False)
class Analysis:
    """The result of a method."""

    title: str  # the method in words
    ranking: pd.DataFrame  # a row per algorithm, the best first, with the column `algorithm`
    order: str  # what the ranking is by, in words
    pairs: pd.DataFrame  # a row per pair, with the columns `better`, `worse` and `decision`
    meaning: str  # of the decision "better"
    references: tuple[str, ...]  # keys of `racer.comparison.render.cite`
    notes: list[str] = field(default_factory=list)  # sentences on what was done with the scores
    omnibus: OmnibusTest | None = None
    rope: float | None = None  # half-width used
    tied: tuple[int, int] | None = None  # comparisons that tie, of how many; None: where costs do
    details: Any = None  # the result of racer.stats behind it


def half_width(settings: Settings) -> float:
    """Return the half-width of the rope around a probability of 1/2, checked."""
    rope = 0.05 if settings.rope is None else settings.rope
    if not 0.0 <= rope < 0.5:
        raise SettingError(
            f"rope={rope!r}: give the half-width of a region around a probability of 1/2, from 0 "
            "to below 0.5"
        )
    return rope


def compared(k: int, control: int | None) -> list[tuple[int, int]]:
    """Return the pairs of k algorithms to compare: all, or the control with each other one."""
    if control is not None:
        return [(control, other) for other in range(k) if other != control]
    return [(i, j) for i in range(k) for j in range(i + 1, k)]


def complete_costs(scores: Scores, method: str) -> NDArray[np.float64]:
    """Return the costs on complete data sets; ScoresError if there are none."""
    if not scores.complete.any():
        raise ScoresError(
            f"no data set has a score of all {len(scores.algorithms)} algorithms, as {method} "
            "needs: use method='bradley-terry' or 'plackett-luce', which take gaps as they are, "
            "or leave algorithms out"
        )
    return np.asarray(scores.costs[scores.complete])


def left_out(scores: Scores) -> list[str]:
    """Return a note on data sets left out because scores are missing."""
    dropped = int((~scores.complete).sum())
    if not dropped:
        return []
    one = dropped == 1
    left, rest = counted(dropped, "data set"), int(scores.complete.sum())
    verb = "was" if one else "were"
    return [f"{left} with missing scores {verb} left out; the ranking rests on the other {rest}."]


def encounters(
    names: tuple[str, ...],
    costs: NDArray[np.float64],
    first: NDArray[np.intp],
    second: NDArray[np.intp],
    ranks: PairRanks | None = None,
) -> pd.DataFrame:
    """Return on how many data sets each `first` won, lost and tied with `second`, and effect sizes.

    A row per pair, with their names; NaN: no data set in common. `ranks` are theirs, where they are known.
    """
    known, columns = ~np.isnan(costs), np.ascontiguousarray(costs.T)
    sides = list(zip(first.tolist(), second.tolist(), strict=True))
    wins = np.array([(columns[i] < columns[j]).sum() for i, j in sides])
    losses = np.array([(columns[i] > columns[j]).sum() for i, j in sides])
    met = (known.T.astype(np.float64) @ known.astype(np.float64))[first, second].astype(int)
    ranks = pair_ranks(costs, first, second) if ranks is None else ranks
    effects = ranks.effect_sizes()
    found = {"wins": wins, "losses": losses, "ties": met - wins - losses, "effect_size": effects}
    better, worse = ([names[place] for place in side] for side in zip(*sides, strict=True))
    return pd.DataFrame({"better": better, "worse": worse, **found})


def places(pairs: Sequence[tuple[int, int]]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first and the second of each pair."""
    first, second = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    return first, second


def decide(probability: float, in_rope: float, alpha: float) -> Decision:
    """Return the decision more probable than 1 - alpha; equivalent, the finer claim, comes first."""
    if in_rope > 1.0 - alpha:
        return "equivalent"
    return "better" if probability > 1.0 - alpha else "undecided"


def behind(
    analysis: Analysis,
    alpha: float,
    *,
    is_open: bool,
    differ: NDArray[np.bool_] | None = None,
) -> Analysis:
    """Return a result that calls no pair better unless its gates are open, and says which was not.

    The first gate is about all algorithms, the second about a pair, open if it is to `differ` (k,).
    Pairs that a prior of little weight would decide stay indeterminate, where gates are open.
    """
    pairs, notes = analysis.pairs, [*analysis.notes]
    decision, chance = pairs["decision"], pairs.get("probability", 1.0)
    by_prior = decision == "indeterminate"
    closed = (decision == "better") | (by_prior & (chance > pairs.get("in_rope", 0.0)))
    if is_open:
        closed &= False if differ is None else ~differ
    by_prior &= ~closed
    by_gate = closed & (chance > 1.0 - alpha)
    if n_prior := int(by_prior.sum()):
        notes.append(f"{counted(n_prior, 'pair')} would be decided by the prior.")
    if not is_open:
        notes.append(ALIKE)
    depends_on = np.select([by_gate, by_prior], ["gate", "prior"], "")
    pairs = pairs.assign(decision=decision.mask(closed, "undecided"))
    pairs.insert(list(pairs).index("decision"), "depends_on", depends_on.tolist())
    return replace(analysis, pairs=pairs, notes=notes)


def one_by_one(
    scores: Scores,
    settings: Settings,
    test: Callable[[int, int], Any],
    row: Callable[..., dict[str, Any]],
    middle: float,
) -> tuple[pd.DataFrame, NDArray[np.float64], Any]:
    """Return the pairs, surest first, each algorithm's standing, (K,), and the result of the last pair.

    Of the `test` of two places, whose estimate is `middle` where none is better; `row` has its figures.
    """
    k, control = len(scores.algorithms), settings.control
    estimates, rows, sides, result = np.zeros((k, k)), [], [], None
    for i, j in compared(k, control):
        result = test(i, j)
        estimates[i, j], estimates[j, i] = result.estimate, 2.0 * middle - result.estimate
        turned = result.estimate < middle
        sides.append((j, i) if turned else (i, j))
        rows.append(row(result, settings.alpha, turned=turned))
    met = encounters(scores.algorithms, scores.costs, *places(sides))
    frame = pd.concat([met, pd.DataFrame(rows)], axis=1)
    frame = frame.sort_values("estimate", ascending=False, kind="stable", ignore_index=True)
    if control is None:
        return frame, estimates.sum(axis=1) / (k - 1), result
    estimates[control, control] = middle
    return frame, estimates[:, control], result


def against(scores: Scores, settings: Settings) -> str:
    """Return the opponent in all comparisons, in words."""
    return "the others" if settings.control is None else scores.algorithms[settings.control]


def rank_frame(names: tuple[str, ...], **columns: NDArray[np.float64]) -> pd.DataFrame:
    """Return a row per algorithm, by the first column, the smallest first."""
    frame = pd.DataFrame({"algorithm": list(names), **columns})
    return frame.sort_values(next(iter(columns)), kind="stable", ignore_index=True)


def as_index(
    frame: pd.DataFrame, names: tuple[str, ...]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the pairs of a frame as places in `names`."""
    at = {name: place for place, name in enumerate(names)}
    return places([(at[a], at[b]) for a, b in zip(frame["better"], frame["worse"], strict=True)])
