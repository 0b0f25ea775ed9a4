"""Notes on tables of scores that may not be meant as they are read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

_SUMMARIES = re.compile(r"(mean|average|avg|median|std|sd|sum|total)( ranks?| scores?)?")
_LARGER = {
    *("accuracy", "acc", "auc", "auroc", "auprc", "f1", "precision", "recall", "sensitivity"),
    *("specificity", "r2", "mcc", "kappa", "ndcg", "bleu", "iou", "dice", "reward"),
}
_SMALLER = {
    *("error", "errors", "err", "loss", "losses", "mse", "rmse", "mae", "mape", "cost", "costs"),
    *("time", "runtime", "seconds", "regret", "perplexity"),
}


_WITHIN_ONE = (
    "All scores lie between 0 and 1, and smaller ones are taken as better: if they are accuracies "
    "or the like, give maximize=True (--maximize)."
)


def input_notes(
    runs: NDArray[np.float64],
    data_sets: Iterable[str],
    names: Iterable[str],
    *,
    maximize: bool,
    paired: bool = True,
) -> list[str]:
    """Return notes on costs (n, r, K); `names` are those of the columns that hold the scores."""
    notes = _direction(runs, list(names), maximize=maximize)
    for name in data_sets:
        if _SUMMARIES.fullmatch(re.sub(r"[\W_]+", " ", name).strip().casefold()):
            notes.append(f"Row {name!r} counts as a data set: leave it out if it sums up others.")
    if n_best := int(np.isneginf(runs).sum()):
        notes.append(_best_of_all(n_best, maximize=maximize))
    n, _, k = runs.shape
    if k > n and paired:
        notes.append(
            f"There are more algorithms ({k}) than data sets ({n}): rows count as data sets; "
            "transpose the table if they are the algorithms."
        )
    return notes


def _direction(runs: NDArray[np.float64], names: list[str], *, maximize: bool) -> list[str]:
    """Return a note where the names or the values suggest the other direction."""
    words = {name: set(re.findall(r"[a-z]+\d?", name.casefold())) for name in names}
    larger = [name for name in names if words[name] & _LARGER]
    smaller = [name for name in names if words[name] & _SMALLER]
    if maximize:
        return [] if larger or not smaller else [_unlike(smaller[0], "Larger", "smaller", "False")]
    if smaller:
        return []
    if larger:
        return [_unlike(larger[0], "Smaller", "larger", "True")]
    known = runs[~np.isnan(runs)]
    if ((known >= 0.0) & (known <= 1.0)).all():
        return [_WITHIN_ONE]
    return []


def _best_of_all(n: int, *, maximize: bool) -> str:
    """Return the note on infinite scores that are better than all others."""
    score, failed, setting = ("inf", "-inf", "True") if maximize else ("-inf", "inf", "False")
    many = f"1 score is {score}" if n == 1 else f"{n} scores are {score}"
    return (
        f"{many}, with maximize={setting} better than all others: if that is a failure, as in a "
        f"race, give {failed} or leave it out."
    )


def _unlike(name: str, taken: str, other: str, setting: str) -> str:
    flag = {"True": "--maximize", "False": "without --maximize"}[setting]
    return (
        f"{taken} scores are taken as better: if {other} are, as {name!r} sounds, give "
        f"maximize={setting} ({flag})."
    )
