"""Whatever the numbers: a finite answer or an error of this package, and never a NumPy warning."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from racer.errors import RacerWarning, ScoresError
from racer.stats import (
    bayesian_sign_test,
    bayesian_signed_rank_test,
    bradley_terry,
    plackett_luce,
    signed_rank_test,
    win_table,
)

VALUES = st.sampled_from(
    [0.0, 1.0, 2.0, -1.0, 0.3, 0.1 + 0.2, 1e-308, 1e308, -1e308, np.nan, np.inf, -np.inf]
)
LAW = settings(max_examples=20, deadline=None, derandomize=True)


@st.composite
def tables(draw):
    """Runs x algorithms of three data sets at most, often all alike."""
    shape = (draw(st.integers(1, 3)), draw(st.sampled_from([1, 3])), draw(st.integers(2, 4)))
    pool = draw(st.lists(VALUES, min_size=1, max_size=6))
    size = math.prod(shape)
    cells = st.lists(st.sampled_from(pool), min_size=size, max_size=size)
    return np.reshape(draw(cells), shape)


def frames(runs, maximize):
    """Every frame that the functions of this room make of scores."""
    x, y = runs[:, 0, 0], runs[:, 0, 1]
    yield lambda: bayesian_sign_test(x, y, maximize=maximize).to_frame()
    for rope in (0.0, 0.5, 1e308):
        yield lambda rope=rope: bayesian_signed_rank_test(
            x, y, rope=rope, draws=100, maximize=maximize
        ).to_frame()
    for ties in ("spread", "forget", "davidson"):
        yield lambda ties=ties: bradley_terry(
            win_table(runs, maximize=maximize), ties=ties, draws=100
        ).to_frame()
    for how in ("pooled", "median"):
        yield lambda how=how: plackett_luce(runs, runs=how, draws=100, maximize=maximize).to_frame()


@LAW
@given(tables(), st.booleans())
def test_frames_are_finite(runs, maximize):
    for make in frames(runs, maximize):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RacerWarning)  # NumPy's are errors here
            try:
                frame = make()
            except ScoresError as error:
                assert str(error)  # noqa: PT017
                continue
        assert np.isfinite(frame.select_dtypes("number").to_numpy()).all()


@LAW
@given(tables(), st.booleans(), st.sampled_from(["drop", "rank"]))
def test_signed_ranks(runs, maximize, zeros):
    x, y = runs[:, 0, 0], runs[:, 0, 1]
    try:
        result = signed_rank_test(x, y, zeros=zeros, maximize=maximize)
    except ScoresError:
        assert (np.isnan(x) | np.isnan(y)).all()
    else:
        assert 0.0 <= result.p_value <= 1.0


@LAW
@given(tables(), st.sampled_from(["paired", "unpaired"]))
def test_local_ropes_only_add_ties(runs, kind):
    if runs.shape[1] == 1:
        with pytest.raises(ScoresError, match="needs the scores of folds or runs"):
            win_table(runs, local_rope=kind)
        return
    plain, local = win_table(runs), win_table(runs, local_rope=kind)
    assert (local.wins <= plain.wins).all()
    np.testing.assert_array_equal(
        local.wins + local.wins.T + local.ties, plain.wins + plain.wins.T + plain.ties
    )
