"""Bradley-Terry and Plackett-Luce, as methods of `racer.compare`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from racer._checks import counted
from racer.comparison.methods.base import (
    Analysis,
    Settings,
    as_index,
    decide,
    encounters,
    half_width,
    refuse,
)
from racer.comparison.render.tables import DECIMALS
from racer.errors import ScoresError
from racer.stats import bradley_terry, plackett_luce, win_table
from racer.stats._sampling.summary import highest_density

if TYPE_CHECKING:
    from racer.comparison.scores import Scores
    from racer.stats._sampling import Posterior

# what 4000 draws support: the Monte Carlo error of a strength is 0.004
_BY_STRENGTH = {"strength": 2, "low": 2, "high": 2}
_BY_WEIGHT = {"expected_rank": 2, "top_1": 2, "top_2": 2, "top_3": 2}
_OF_PAIRS = {"estimate": 2, "low": 2, "high": 2}


def _pairs(
    frame: pd.DataFrame,
    scores: Scores,
    settings: Settings,
    rope: float,
    met: pd.DataFrame,
) -> pd.DataFrame:
    """Return the pairs asked for, with counts and decisions."""
    frame = pd.concat([met, frame.drop(columns=["better", "worse", "delta"])], axis=1)
    frame["decision"] = [
        decide(probability, in_rope if rope else 0.0, settings.alpha)
        for probability, in_rope in frame[["probability", "in_rope"]].to_numpy().tolist()
    ]
    if settings.control is not None:
        name = scores.algorithms[settings.control]
        frame = frame[(frame["better"] == name) | (frame["worse"] == name)]
    frame = frame.reset_index(drop=True)
    frame.attrs[DECIMALS] = _OF_PAIRS
    return frame


def _trust(posterior: Posterior) -> list[str]:
    """Return a warning where the chains have not converged."""
    if posterior.converged:
        return []
    broken = counted(posterior.divergences, "divergence")
    found = f"R-hat {posterior.r_hat:.3f}, {broken}"
    return [f"The chains have not met ({found}): do not rely on these figures."]


def _meaning(what: str, settings: Settings) -> str:
    return f"a posterior probability above {1.0 - settings.alpha:g} that {what} above one half, each pair on its own"


def by_bradley_terry(scores: Scores, settings: Settings) -> Analysis:
    """Rank by mean strength; ties are half a win for either."""
    refuse(settings, "bradley-terry", "posthoc")
    rope, names = half_width(settings), scores.algorithms
    tied = None
    if settings.local_rope is None:
        table = win_table(scores.costs, names=names)
    else:
        if scores.n_folds < 2:
            raise ScoresError(
                f"local_rope={settings.local_rope!r} needs the scores of folds: name their column, "
                "fold=.., or leave out local_rope"
            )
        table = win_table(scores.runs, names=names, local_rope=settings.local_rope)
        ties = int(table.ties.sum()) // 2  # either way round
        tied = ties, int(table.wins.sum()) + ties
    result = bradley_terry(table, seed=settings.seed)
    frame = result.to_frame(rope=(0.5 - rope, 0.5 + rope))
    i, j = as_index(frame, names)
    met = encounters(names, scores.costs, i, j)
    for name, count in (("wins", table.wins[i, j]), ("losses", table.wins[j, i])):
        met[name] = count.astype(int)
    met["ties"] = table.ties[i, j].astype(int)
    low, high = highest_density(result.strengths, 0.89)
    ranking = pd.DataFrame(
        {
            "algorithm": list(names),
            "strength": result.strengths.mean(axis=0),
            "low": low,
            "high": high,
        }
    )
    ranking = ranking.iloc[[names.index(name) for name in result.ranking]].reset_index(drop=True)
    ranking.attrs[DECIMALS] = _BY_STRENGTH
    notes: list[str] = []
    if table.ties.any():
        notes.append("A tie counts as half a win for either, rounded up.")
    if settings.local_rope is not None:
        notes.append(
            f"Two algorithms tie on a data set when their folds differ by less than 0.4 of Cohen's "
            f"d ({settings.local_rope}); effect sizes ignore this."
        )
    if scores.n_missing:
        notes.append("A missing score is neither won nor lost; all other scores are used.")
    return Analysis(
        title="Bayesian Bradley-Terry model",
        ranking=ranking,
        order="mean strength",
        pairs=_pairs(frame, scores, settings, rope, met),
        meaning=_meaning("the probability of winning on a data set is", settings),
        references=("wainer2023", "bradley1952"),
        notes=notes + _trust(result.posterior),
        rope=rope or None,
        tied=tied,
        details=result,
    )


def by_plackett_luce(scores: Scores, settings: Settings) -> Analysis:
    """Rank by the probability of winning."""
    refuse(settings, "plackett-luce", "posthoc", "local_rope")
    rope, names = half_width(settings), scores.algorithms
    result = plackett_luce(scores.costs, names=names, seed=settings.seed)
    frame = result.pairs(rope=(0.5 - rope, 0.5 + rope))
    met = encounters(names, scores.costs, *as_index(frame, names))
    top = min(3, len(names) - 1)
    ranking = result.to_frame(top=top).drop(columns="probability")
    ranking.attrs[DECIMALS] = _BY_WEIGHT
    notes: list[str] = []
    if result.n_failed:
        notes.append(
            f"{counted(result.n_failed, 'result')} that failed {'comes' if result.n_failed == 1 else 'come'} "
            "after all others, in no order."
        )
    if scores.n_missing:
        notes.append("Where an algorithm has no score, the others are ranked without it.")
    if _tied(scores):
        notes.append("Ties in a ranking are treated by Efron's rule.")
    return Analysis(
        title="Bayesian Plackett-Luce model",
        ranking=ranking,
        order="expected probability of winning",
        pairs=_pairs(frame, scores, settings, rope, met),
        meaning=_meaning("the probability of coming before the other is", settings),
        references=("calvo2019", "plackett1975", "luce1959")
        + (("efron1977",) if _tied(scores) else ()),
        notes=notes + _trust(result.posterior),
        rope=rope or None,
        details=result,
    )


def _tied(scores: Scores) -> bool:
    """Return whether finite costs tie on a data set."""
    finite = np.where(np.isfinite(scores.costs), scores.costs, np.nan)
    ordered = np.sort(finite, axis=1)
    return bool((ordered[:, 1:] == ordered[:, :-1]).any())
