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
    runs: NDArray[np.float64], data_sets: Iterable[str], *, maximize: bool
) -> list[str]:
    """Return notes on costs (n, r, K)."""
    notes = [
        f"Row {name!r} counts as a data set: leave it out if it sums up others."
        for name in data_sets
        if _SUMMARIES.fullmatch(re.sub(r"[\W_]+", " ", name).strip().casefold())
    ]
    if n_best := int(np.isneginf(runs).sum()):
        score, failed = ("inf", "-inf") if maximize else ("-inf", "inf")
        many = f"1 score is {score}" if n_best == 1 else f"{n_best} scores are {score}"
        notes.append(
            f"{many}, better than all others: if that is a failure, as in a race, give {failed} or "
            "leave it out."
        )
    n, _, k = runs.shape
    if k > n:
        notes.append(
            f"There are more algorithms ({k}) than data sets ({n}): rows count as data sets; "
            "transpose the table if they are the algorithms."
        )
    return notes
