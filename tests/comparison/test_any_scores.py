"""Whatever the numbers: a finite comparison or an error of this package, never a NumPy warning."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import racer
from racer.errors import RacerError, RacerWarning

VALUES = st.sampled_from(
    [0.0, 1.0, 2.0, -1.0, 0.3, 0.1 + 0.2, 1e-308, 1e308, -1e308, np.nan, np.inf, -np.inf]
)
METHODS = ("bayesian-friedman", "friedman", "signed-rank", "bradley-terry", "plackett-luce")


@st.composite
def tables(draw):
    """Long tables of a few data sets, folds and algorithms, with gaps, often all alike."""
    shape = (draw(st.integers(1, 4)), draw(st.sampled_from([1, 2])), draw(st.integers(2, 4)))
    pool = draw(st.lists(VALUES, min_size=1, max_size=5))
    rows = [
        (f"d{d}", f, "abcd"[a], draw(st.sampled_from(pool)))
        for d, f, a in np.ndindex(*shape)
        if draw(st.integers(0, 9))
    ]
    return pd.DataFrame(rows, columns=["data set", "fold", "algorithm", "score"])


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=10, deadline=None, derandomize=True)
@given(frame=tables(), maximize=st.booleans())
def test_a_finite_answer_or_an_error_of_this_package(method, frame, maximize):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RacerWarning)  # NumPy's are errors here
        try:
            found = racer.compare(frame, method, goal="max" if maximize else "min")
        except RacerError as error:
            assert str(error)  # noqa: PT017
            return
    for part in (found.pairs, found.ranking.drop(columns=["mean", "sd"])):
        assert np.isfinite(
            part.drop(columns="effect_size", errors="ignore")
            .select_dtypes("number")
            .to_numpy(dtype=float)
        ).all()
    assert "nan" not in (str(found) + found.prose() + found.to_latex()).lower()
    k = len(found.algorithms)
    assert len(found.pairs) == k * (k - 1) // 2
