"""Simulated answers of prompts to questions: right or wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from racer._checks import whole
from racer.seeding import check_seed

if TYPE_CHECKING:
    import pandas as pd


_PROMPTS = (
    *("plain", "terse", "polite", "expert", "step by step", "two examples", "five examples"),
    *("checklist", "quotes first", "answer first", "answer, then check", "vote of three"),
)
_PER_PASSAGE = 4


def answers(n_items: int = 400, *, seed: int = 8) -> pd.DataFrame:
    """Return which of twelve simulated prompts answer which questions right.

    The logit of being right is an ability, .25 apart from prompt to prompt in a random order, less the
    difficulty of the question: half of its variance comes from the passage that it is about.

    Parameters
    ----------
    n_items : int >= 1
        Questions; four in a row are about the same passage.
    seed : int >= 0
        Repeats the table.

    Returns
    -------
    DataFrame of bool, n_items x 12
        A column per prompt.

    Examples
    --------
    >>> from racer.simulate import answers
    >>> table = answers()
    >>> table.shape, table.mean().idxmax()
    ((400, 12), 'checklist')
    """
    import pandas as pd  # noqa: PLC0415

    n = whole(n_items, "n_items", least=1)
    rng = np.random.default_rng(check_seed(seed))
    ability = rng.permutation(0.25 * np.arange(len(_PROMPTS))) - 0.5
    passage = np.repeat(rng.standard_normal(-(-n // _PER_PASSAGE)), _PER_PASSAGE)[:n]
    difficulty = passage + rng.standard_normal(n)
    chance = 1.0 / (1.0 + np.exp(difficulty[:, None] - ability))
    right = rng.random(chance.shape) < chance
    return pd.DataFrame(right, columns=list(_PROMPTS)).rename_axis(index="item")
