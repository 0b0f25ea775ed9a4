"""Which algorithm is better? A table of scores in, a comparison out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import pandas as pd

from racer._checks import check_fraction, check_strength, choice, counted, is_one_of
from racer._entry import entry
from racer._numerics import as_costs
from racer.comparison.columns import Columns
from racer.comparison.data import Decisions, Method, Posthoc
from racer.comparison.methods.base import Analysis, Settings
from racer.comparison.methods.bayesian_friedman import bayesian_friedman
from racer.comparison.methods.friedman import friedman
from racer.comparison.methods.gate import gated
from racer.comparison.methods.hierarchical import hierarchical
from racer.comparison.methods.signed_rank import signed_rank
from racer.comparison.methods.strengths import by_bradley_terry, by_plackett_luce
from racer.comparison.render.cite import EFFECT_SIZE
from racer.comparison.result import Comparison
from racer.comparison.scores import Scores, read_scores
from racer.direction import maximizes
from racer.errors import SettingError
from racer.seeding import check_seed
from racer.stats.best import best_posterior
from racer.stats.correlated_t import check_correlation

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from racer.stats.wins import LocalRope

__all__ = ["METHODS", "compare"]

METHODS: dict[str, Callable[[Scores, Settings], Analysis]] = {
    "bayesian-friedman": bayesian_friedman,
    "friedman": friedman,
    "signed-rank": gated(signed_rank),
    "bradley-terry": gated(by_bradley_terry, of_two=True),
    "plackett-luce": gated(by_plackett_luce, of_two=True),
    "hierarchical": gated(hierarchical),
}
_OF_METHODS: dict[str, tuple[str, ...]] = {  # settings that some methods have
    "rope": tuple(name for name in METHODS if name != "friedman"),
    "posthoc": ("friedman",),
    "local_rope": ("bradley-terry",),
    "correlation": ("hierarchical",),
    "decisions": ("bradley-terry", "plackett-luce"),
}


@entry
def compare(
    scores: pd.DataFrame | ArrayLike,
    method: Method | None = None,
    *,
    goal: Literal["min", "max", "minimize", "maximize"] | None = None,
    control: str | None = None,
    rope: float | None = None,
    alpha: float = 0.05,
    posthoc: Posthoc | None = None,
    local_rope: LocalRope | None = None,
    correlation: float | None = None,
    decisions: Decisions = "gated",
    data_set: str | None = None,
    algorithm: str | None = None,
    fold: str | None = None,
    score: str | None = None,
    seed: int = 0,
) -> Comparison:
    """Compare algorithms by their scores on common data sets.

    Parameters
    ----------
    scores : DataFrame, or array_like of shape (data sets, algorithms)
        Or votes on pairs: columns such as model_a and model_b, and winner (a name of these, or tie;
        or g1_winner and g2_winner, of both orders), optionally of items. Votes of a pair on one
        item, by several judges or in both orders, count as one. Or as follows. Wide: a row per data
        set and a column per algorithm; a first column of text, or an index (but 0, 1, 2, .. without
        a name), names the data sets. Or long: columns, or levels of the index, of data sets,
        algorithms and scores. Either may have a column of folds (runs), which are averaged;
        "plackett-luce" takes their medians, and a local rope uses all. Missing scores (NaN, or
        masked) are allowed and counted; an infinite one is worse (better) than all finite ones.
    method : str, optional
        "bayesian-friedman" (default): mean ranks, and statements that hold jointly. "friedman":
        Iman and Davenport's F, then `posthoc`. "signed-rank": the Bayesian signed-rank test of each
        pair. "bradley-terry" and "plackett-luce": models of pairwise wins, and of whole rankings.
        "hierarchical": the differences of each pair on the folds of all data sets. "auto" chooses,
        and `Comparison.reason` has the reason.
    goal : {"min", "max"}, optional
        Whether smaller or larger scores are better. By default as the name of the metric implies,
        such as accuracy, or all columns of a wide table, or the format that `racer.read_scores`
        read.
    control : str, optional
        Compare this algorithm with each other one, instead of all pairs.
    rope : float >= 0, optional
        Half-width of the region of practical equivalence. For "signed-rank" and "hierarchical" in
        units of the scores, by default none; for the other Bayesian methods around a probability of 1/2, by
        default 0.05. 0: none.
    alpha : float in (0, 1)
        A statement is made when its posterior probability exceeds 1 - alpha, or its adjusted
        p-value is at most alpha.
    posthoc : str, optional
        For "friedman": "wilcoxon-holm" (default), "wilcoxon-hochberg", "wilcoxon-shaffer",
        "nemenyi", "conover" (with Holm's correction).
    local_rope : {"paired", "unpaired"}, optional
        For "bradley-terry" with folds: two algorithms tie on a data set when their folds differ
        by less than 0.4 of Cohen's d.
    correlation : float in [0, 1), optional
        For "hierarchical": of two folds, the fraction of the data that is tested on. By default 1
        over the number of folds, if these are at most 20; with ten folds repeated ten times give
        1/10.
    decisions : {"gated", "published", "strong"}
        For "bradley-terry" and "plackett-luce". "gated": see Notes. "published": each pair by its own
        probabilities alone, equivalent where `in_rope` is at least 1 - alpha, else better where
        `probability` is (Wainer 2023, section 9.2); among equals some pair is called better in
        most tables. "strong", for "bradley-terry": by the mean probability of winning, equivalent
        below 0.5 + rope, better above 0.70 (section 9.3).
    data_set, algorithm, fold, score : str, optional
        Names of columns; by default found by usual names.
    seed : int >= 0
        Same seed, same answer.

    Returns
    -------
    Comparison

    Raises
    ------
    ScoresError
        The table cannot be read (text among scores, duplicates, fewer than two algorithms, an
        algorithm without any score; the column is named), or the method cannot use it: no
        complete data set, no common one, or algorithms never compared. The message has the remedy.
    SettingError
        A setting out of range, or unknown to the method.

    References
    ----------
    `Comparison.cite` has the method's.

    Notes
    -----
    Scores that differ by no more than one part in 1e9 tie. In the decisions, "equivalent" comes
    before "better": practically equal although probably not the same. Of three algorithms or more
    none is called better unless "all alike" is rejected: by the method's own test, or for the
    others of each pair on its own by `racer.stats.sign_flip_test`, whose flips then have to
    tell each pair apart as well (step-down over all pairs).

    Examples
    --------
    The accuracies of three of the classifiers in Wainer (2023), Table 2, on eight data sets:

    >>> import pandas as pd
    >>> accuracy = pd.DataFrame({
    ...     "tree": [0.837, 0.931, 0.940, 0.790, 0.702, 0.812, 0.955, 0.622],
    ...     "boosting": [0.890, 0.961, 0.961, 0.867, 0.741, 0.850, 0.971, 0.660],
    ...     "svm": [0.886, 0.957, 0.961, 0.861, 0.752, 0.841, 0.968, 0.671],
    ... })
    >>> comparison = compare(accuracy, goal="max")
    >>> comparison.ranking["algorithm"].tolist()
    ['boosting', 'svm', 'tree']
    >>> comparison.pairs[["better", "worse", "decision"]].values.tolist()
    [['boosting', 'tree', 'better'], ['svm', 'tree', 'better'], ['boosting', 'svm', 'undecided']]
    """
    said = None if goal is None else maximizes(goal)
    table = read_scores(scores, Columns(data_set, algorithm, fold, score), maximize=said)
    if method is None or (method == "auto" and table.votes):
        method = "bradley-terry" if table.votes else "bayesian-friedman"
    choice(method, "method", get_args(Method))
    choice(decisions, "decisions", get_args(Decisions))
    settings = Settings(
        alpha=check_fraction(alpha, "alpha"),
        rope=_rope(rope, method),
        control=_control(control, table),
        posthoc=posthoc,
        local_rope=local_rope,
        seed=check_seed(seed),
        correlation=None if correlation is None else check_correlation(correlation),
        decisions=None if decisions == "gated" else decisions,
    )
    chosen, reason = _choose(table) if method == "auto" else (method, "")
    _check_settings(settings, chosen)
    if chosen == "plackett-luce":
        table = table.by_medians()
    analysis = METHODS[chosen](table, settings)
    tied = _ties(table) if analysis.tied is None else analysis.tied
    known_as = {name: place for place, name in enumerate(table.algorithms)}
    values = as_costs(table.costs, maximize=table.direction.maximize)
    best = best_posterior(table.costs).probability_best
    chances = best[[known_as[name] for name in analysis.ranking["algorithm"]]]
    ranking = analysis.ranking.assign(probability_best=chances)
    return Comparison(
        method=chosen,
        title=analysis.title,
        ranking=_with_means(ranking, values, known_as),
        order=analysis.order,
        pairs=analysis.pairs,
        omnibus=analysis.omnibus,
        notes=(*_counted(table, *tied), *analysis.notes),
        reason=reason,
        meaning=analysis.meaning,
        algorithms=table.algorithms,
        data_sets=table.data_sets,
        n_folds=table.n_folds,
        n_missing=table.n_missing,
        n_ties=tied[0],
        maximize=table.direction.maximize,
        direction=table.direction.words,
        alpha=settings.alpha,
        rope=analysis.rope,
        control=control,
        posthoc=(posthoc or "wilcoxon-holm") if chosen == "friedman" else None,
        seed=settings.seed,
        references=(*analysis.references, EFFECT_SIZE),
        scores=pd.DataFrame(values, index=table.data_sets, columns=table.algorithms),
        details=analysis.details,
        decisions=decisions,
    )


def _rope(rope: float | None, method: Method) -> float | None:
    """Return the half-width given, checked as far as it is the same for all methods."""
    if rope is None:
        return None
    if method == "auto":
        raise SettingError(
            "rope with method='auto': name the method, as the rope is in units of the scores for "
            "'signed-rank' and 'hierarchical', and of probability for the others"
        )
    return check_strength(rope, "rope")


def _check_settings(settings: Settings, method: str) -> None:
    """Refuse a setting that the method does not have."""
    for name, methods in _OF_METHODS.items():
        value = getattr(settings, name)
        if value is not None and method not in methods:
            needed = " or ".join(f'"{each}" (--method {each})' for each in methods)
            raise SettingError(f"{name}={value!r} needs method={needed}, not {method!r}")


def _control(control: Any, table: Scores) -> int | None:
    """Return the column of the control."""
    if control is None:
        return None
    if not is_one_of(control, table.algorithms):
        raise SettingError(
            f"control={control!r}: no such algorithm; there are {', '.join(table.algorithms)}"
        )
    return table.algorithms.index(control)


def _choose(table: Scores) -> tuple[str, str]:
    """Return the method for ``method="auto"``, and why."""
    cells = table.costs.size
    if table.n_failed:
        last = table.by_medians().n_failed
        return "plackett-luce", (
            f"Plackett-Luce was chosen because {last} of {cells} results failed: the "
            "model lets them come last, in no order."
            if last
            else f"Plackett-Luce was chosen because {table.n_failed} of {cells} results have a fold "
            "that failed, and so no mean: the model takes medians over folds."
        )
    if table.n_missing:
        return "bradley-terry", (
            f"Bradley-Terry was chosen because {table.n_missing} of {cells} scores are missing: "
            "the model uses all that there are, where a Friedman test would leave out data sets."
        )
    if len(table.algorithms) == 2:
        return "signed-rank", (
            "The signed-rank test was chosen because there are two algorithms: it uses the sizes "
            "of the differences as well as their signs."
        )
    return "bayesian-friedman", (
        f"The Bayesian Friedman test was chosen because all {len(table.algorithms)} algorithms "
        "have a score on every data set: it asks first whether all are alike, and its statements "
        "hold together."
    )


def _with_means(
    ranking: pd.DataFrame, values: NDArray[np.float64], known_as: dict[str, int]
) -> pd.DataFrame:
    """Add mean and sd over the data sets with a score; how many, `n`, where any is missing."""
    order = [known_as[name] for name in ranking["algorithm"]]
    known = [column[~np.isnan(column)] for column in values.T[order]]
    if np.isnan(values).any():
        ranking = ranking.assign(n=[len(column) for column in known])
    with np.errstate(all="ignore"):
        return ranking.assign(
            mean=[float((column / len(column)).sum()) for column in known],
            sd=[_sd(column) if len(column) > 1 else np.nan for column in known],
        )


def _sd(values: NDArray[np.float64]) -> float:
    """Return the standard deviation; squares of values as they are could over- or underflow."""
    _, exponent = np.frexp(np.abs(values).max())
    return float(np.ldexp(np.ldexp(values, -exponent).std(ddof=1), exponent))


def _ties(table: Scores) -> tuple[int, int]:
    """Return how many comparisons of two algorithms on a data set tie, of how many."""
    ordered, sizes = np.sort(table.costs, axis=1), table.known.sum(axis=1)  # NaN last
    ties = sum(int((ordered[:, d:] == ordered[:, :-d]).sum()) for d in range(1, ordered.shape[1]))
    return ties, int((sizes * (sizes - 1) // 2).sum())


def _counted(table: Scores, ties: int, met: int) -> list[str]:
    """Return notes on how the table was read, missing scores, folds, and ties of comparisons met."""
    notes = list(table.notes)
    if table.n_missing and not table.votes:
        are = "is" if table.n_missing == 1 else "are"
        notes.append(f"{table.n_missing} of {table.costs.size} scores {are} missing.")
    if table.n_folds > 1:
        notes.append(f"Scores are {table.over_folds}s over up to {counted(table.n_folds, 'fold')}.")
    if table.n_uneven:
        notes.append(
            f"{counted(table.n_uneven, 'score')} {'is' if table.n_uneven == 1 else 'are'} "
            "over fewer folds than another algorithm has on the same data set."
        )
    if ties:
        notes.append(
            f"{ties} of {met} comparisons of two algorithms on a data set "
            f"{'is a tie' if ties == 1 else 'are ties'}."
        )
    return notes
