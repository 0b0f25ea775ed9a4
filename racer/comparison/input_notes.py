"""Notes on tables of scores that may not be meant as they are read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

_SUMMARIES = re.compile(r"(mean|average|avg|median|std|sd|sum|total)( ranks?| scores?)?")


def input_notes(
    runs: NDArray[np.float64],
    data_sets: Iterable[str],
    *,
    maximize: bool,
    paired: bool = True,
) -> list[str]:
    """Return notes on costs (n, r, K)."""
    notes = [
        f"Row {name!r} counts as a data set: leave it out if it sums up others."
        for name in data_sets
        if _SUMMARIES.fullmatch(re.sub(r"[\W_]+", " ", name).strip().casefold())
    ]
    if n_best := int(np.isneginf(runs).sum()):
        notes.append(_best_of_all(n_best, maximize=maximize))
    n, _, k = runs.shape
    if k > n and paired:
        notes.append(
            f"There are more algorithms ({k}) than data sets ({n}): rows count as data sets; "
            "transpose the table if they are the algorithms."
        )
    return notes


def _best_of_all(n: int, *, maximize: bool) -> str:
    """Return the note on infinite scores that are better than all others."""
    score, failed, setting = ("inf", "-inf", "True") if maximize else ("-inf", "inf", "False")
    many = f"1 score is {score}" if n == 1 else f"{n} scores are {score}"
    return (
        f"{many}, with maximize={setting} better than all others: if that is a failure, as in a "
        f"race, give {failed} or leave it out."
    )
