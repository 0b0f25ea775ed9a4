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
)
from racer.comparison.render.tables import DECIMALS
from racer.errors import SettingError
from racer.stats import bradley_terry, plackett_luce, win_table
from racer.stats._sampling.summary import highest_density, logistic
from racer.stats.bradley_terry_model import strengths_of_votes

if TYPE_CHECKING:
    from racer.comparison.scores import Scores
    from racer.stats import BradleyTerryResult
    from racer.stats._sampling import Posterior

# what 4000 draws support: the Monte Carlo error of a strength is 0.004
_BY_STRENGTH = {"strength": 2, "low": 2, "high": 2}
_BY_WEIGHT = {"expected_rank": 2, "top_1": 2, "top_2": 2, "top_3": 2}
_STRONG = 0.70  # Wainer 2023, section 9.3
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
    frame["decision"] = _decisions(frame, settings, rope)
    if settings.control is not None:
        name = scores.algorithms[settings.control]
        frame = frame[(frame["better"] == name) | (frame["worse"] == name)]
    frame = frame.reset_index(drop=True)
    frame.attrs[DECIMALS] = _OF_PAIRS
    return frame


def _decisions(frame: pd.DataFrame, settings: Settings, rope: float) -> list[str]:
    """Return the decision of each pair, behind no gate yet; equivalent comes first."""
    if settings.decisions == "strong":
        better, alike = frame["estimate"] > _STRONG, frame["estimate"] < 0.5 + rope
        return list(np.select([alike, better], ["equivalent", "better"], "undecided"))
    # published: at least so probable, not more
    alpha = settings.alpha * (1.0 + 1e-9 * (settings.decisions == "published"))
    columns = frame[["probability", "in_rope"]].to_numpy().tolist()
    return [decide(better, in_rope if rope else 0.0, alpha) for better, in_rope in columns]


def _trust(posterior: Posterior) -> list[str]:
    """Return a warning where the chains have not converged."""
    if posterior.converged:
        return []
    broken = counted(posterior.divergences, "divergence")
    found = f"R-hat {posterior.r_hat:.3f}, {broken}"
    return [f"The chains have not met ({found}): do not rely on these figures."]


def _meaning(what: str, settings: Settings) -> str:
    """Return the meaning of "better", of how probably an algorithm is before another."""
    of, is_strong = settings.decisions, settings.decisions == "strong"
    least = f"{'of at least' if of else 'above'} {1.0 - settings.alpha:g}"
    how = f"posterior probability {least} that {what} is above one half"
    if is_strong:
        how = f"posterior mean above {_STRONG:g} of {what}"
    where = f' and without a test of "all alike" (Wainer 2023, section 9.{2 + is_strong})'
    return f"a {how}, each pair on its own{where * bool(of)}"


def by_bradley_terry(scores: Scores, settings: Settings) -> Analysis:
    """Rank by mean strength; ties are half a win for either."""
    rope, names = half_width(settings), scores.algorithms
    tied = None
    if settings.local_rope is None:
        table = win_table(scores.costs, names=names)
    else:
        table = win_table(scores.runs, names=names, local_rope=settings.local_rope)
        ties = int(table.ties.sum()) // 2  # either way round
        tied = ties, int(table.wins.sum()) + ties
    if votes := scores.votes:
        result = strengths_of_votes(votes, names, seed=settings.seed)
    else:
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
    notes: list[str] = _on_votes(result, scores) if votes else []
    if table.ties.any() and not votes:
        notes.append("A tie counts as half a win for either, rounded up.")
    if settings.local_rope is not None:
        notes.append(
            f"Two algorithms tie on a data set when their folds differ by less than 0.4 of Cohen's "
            f"d ({settings.local_rope}); effect sizes ignore this."
        )
    if scores.n_missing and not votes:
        notes.append("A missing score is neither won nor lost; all other scores are used.")
    return Analysis(
        title="Bayesian Bradley-Terry model",
        ranking=ranking,
        order="mean strength",
        pairs=_pairs(frame, scores, settings, rope, met),
        meaning=_meaning("the probability of winning on a data set", settings),
        references=("wainer2023", "bradley1952", *(("davidson1970",) if votes else ())),
        notes=notes + _trust(result.posterior),
        rope=rope or None,
        tied=tied,
        details=result,
    )


def _on_votes(result: BradleyTerryResult, scores: Scores) -> list[str]:
    """Return notes on votes: repeats, ties and the effect of the first place."""
    items = f"{len(scores.votes)} votes on {len(scores.data_sets)} items and pairs"
    counted_as = f"{items}; votes of a pair on one item count as one. Ties are Davidson's."
    if result.position is None:
        return [counted_as, "Each pair was asked in one order: position would not show."]
    first = logistic(result.position)
    low, high = highest_density(first[:, None], 0.89)
    won = f"{first.mean():.2f} ({low[0]:.2f} to {high[0]:.2f}) of the votes that decide"
    return [counted_as, f"Position is a term: of two equals the one shown first wins {won}."]


def by_plackett_luce(scores: Scores, settings: Settings) -> Analysis:
    """Rank by the probability of winning."""
    if settings.decisions == "strong":
        raise SettingError('decisions="strong" needs method="bradley-terry", not "plackett-luce"')
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
        meaning=_meaning("the probability of coming before the other", settings),
        references=("calvo2019", "plackett1975", "luce1959")
        + (("efron1977",) if _tied(scores) else ())
        + (("wainer2023",) if settings.decisions == "published" else ()),
        notes=notes + _trust(result.posterior),
        rope=rope or None,
        details=result,
    )


def _tied(scores: Scores) -> bool:
    """Return whether finite costs tie on a data set."""
    finite = np.where(np.isfinite(scores.costs), scores.costs, np.nan)
    ordered = np.sort(finite, axis=1)
    return bool((ordered[:, 1:] == ordered[:, :-1]).any())
