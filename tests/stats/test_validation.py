"""What every function that takes a table of scores does with gaps and bad input."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from racer.errors import RacerError, ScoresError
from racer.stats import (
    bayesian_friedman_test,
    conover_posthoc,
    friedman_test,
    joint_comparisons,
    mean_rank_posthoc,
    rank_blocks,
)

COUNTING = [
    bayesian_friedman_test,
    conover_posthoc,
    friedman_test,
    joint_comparisons,
    mean_rank_posthoc,
]
TABLE_FUNCTIONS = [*COUNTING, rank_blocks]
every_function = pytest.mark.parametrize("function", TABLE_FUNCTIONS)

SCORES = np.array(
    [[1.0, 2.0, 3.0], [1.0, 3.0, 2.0], [2.0, 1.0, 3.0], [1.0, 2.0, 2.0], [4.0, 5.0, 6.0]]
)


def same(first, second):
    """Assert that two results are equal, field by field."""
    if isinstance(first, np.ndarray):
        np.testing.assert_array_equal(first, second)
        return
    assert type(first) is type(second)
    for name, value in vars(first).items():
        np.testing.assert_array_equal(value, getattr(second, name), err_msg=name)


@every_function
@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([1.0, 2.0, 3.0], r"scores must have 2 dimension\(s\), not shape \(3,\)"),
        ([], r"not shape \(0,\)"),
        ([[1.0], [2.0]], r"scores has 1 column\(s\).*at least 2"),
        ([[1.0, np.nan], [np.nan, 2.0]], r"0 complete block\(s\) \(2 left out for NaN\)"),
        ([["a", "b"]], r"scores must hold numbers only.*'a'"),
        ([[1.0, 2.0], [3.0]], r"scores must hold numbers only"),
        ([[1.0, object()]], r"scores must hold numbers only"),
        ([[10**400, 1]], r"scores must hold numbers only"),
    ],
)
def test_bad_tables(function, scores, message):
    with pytest.raises(ScoresError, match=message) as caught:
        function(scores)
    assert isinstance(caught.value, RacerError)
    assert isinstance(caught.value, ValueError)


@every_function
@pytest.mark.parametrize("gap", [np.nan, None, pd.NA])
def test_blocks_with_a_gap_are_left_out(function, gap):
    gappy = [[1.0, gap, 3.0], *SCORES.tolist(), [gap, gap, gap], [1.0, 2.0, gap]]
    result, complete = function(gappy), function(SCORES)
    if function in COUNTING:
        assert (result.n_blocks, result.n_dropped) == (5, 3)
        assert (complete.n_blocks, complete.n_dropped) == (5, 0)
        result = type(result)(**(vars(result) | {"n_dropped": 0}))
    same(result, complete)


@every_function
@pytest.mark.parametrize("maximize", [False, True])
def test_kinds_of_table(function, maximize):
    expected = function(SCORES, maximize=maximize)
    frame = pd.DataFrame(SCORES, columns=["a", "b", "c"])
    whole = SCORES.astype(int)
    for table in (SCORES.tolist(), frame, whole, np.asfortranarray(SCORES), SCORES.astype("f4")):
        same(function(table, maximize=maximize), expected)


@every_function
@pytest.mark.parametrize("maximize", [False, True])
def test_input_is_left_alone(function, maximize):
    scores = SCORES.copy()
    scores.flags.writeable = False
    function(scores, maximize=maximize)
    np.testing.assert_array_equal(scores, SCORES)


@every_function
def test_booleans_are_numbers(function):
    flags = [[True, False, False], [False, True, False], [True, True, False]]
    same(function(flags), function(np.array(flags, dtype=float)))


@every_function
def test_infinite_scores_tie_and_rank_last(function):
    """A failed cell costs +inf: worse than any number, equal to another failure."""
    failed = [[1.0, np.inf, np.inf], [np.inf, 2.0, 3.0], [4.0, 5.0, np.inf]]
    ranked = [[1.0, 9.0, 9.0], [9.0, 2.0, 3.0], [4.0, 5.0, 9.0]]
    same(function(failed), function(ranked))
    same(function(-np.array(failed), maximize=True), function(ranked))


TIED = arrays(
    np.float64,
    st.tuples(st.integers(2, 8), st.integers(2, 5)),
    elements=st.integers(0, 3).map(float),
)
LAW = settings(max_examples=20, deadline=None, derandomize=True)


@every_function
@LAW
@given(scores=TIED)
def test_maximize_is_negation(function, scores):
    same(function(scores, maximize=True), function(-scores))


@every_function
@LAW
@given(scores=TIED, data=st.data())
def test_increasing_transforms_per_block_change_nothing(function, scores, data):
    steps = data.draw(arrays(np.float64, (len(scores), 4), elements=st.floats(0.01, 1e6)))
    moved = np.take_along_axis(np.cumsum(steps, axis=1), scores.astype(int), axis=1)
    same(function(moved), function(scores))


# what else a function takes, and how closely results agree
CORRECTIONS = [{"correction": one} for one in (None, "bonferroni", "holm", "hochberg", "shaffer")]
STRENGTHS = [{"strength": one} for one in (0.0, 0.5, 1.0, 10.0)]


@pytest.mark.parametrize(
    ("function", "given", "rtol"),
    [
        (friedman_test, [{}], 1e-12),
        (bayesian_friedman_test, STRENGTHS, 1e-6),
        (conover_posthoc, CORRECTIONS, 1e-12),
        (mean_rank_posthoc, CORRECTIONS, 1e-12),
    ],
)
@settings(LAW, max_examples=25)
@given(scores=TIED, data=st.data())
def test_permuting_candidates_and_blocks_permutes_the_result(function, given, rtol, scores, data):
    n, m = scores.shape
    rows, order = (data.draw(st.permutations(range(size))) for size in (n, m))
    chosen = data.draw(st.sampled_from(given))
    result = function(scores, **chosen)
    moved = function(scores[np.ix_(rows, order)], **chosen)
    for name, value in vars(result).items():
        found = getattr(moved, name)
        if isinstance(value, np.ndarray | float):
            expected = value[np.ix_(*[order] * value.ndim)] if np.ndim(value) else value
            np.testing.assert_allclose(found, expected, rtol=rtol, atol=1e-12, err_msg=name)
        else:
            assert found == value, name


@pytest.mark.parametrize("function", [friedman_test, conover_posthoc, mean_rank_posthoc])
@settings(LAW, max_examples=25)
@given(scores=TIED)
def test_figures_are_always_defined(function, scores):
    for name, value in vars(function(scores)).items():
        if isinstance(value, np.ndarray | float):
            assert not np.isnan(value).any(), name
            assert "p_value" not in name or np.all((value >= 0.0) & (value <= 1.0)), name


@every_function
def test_signed_zeros_tie(function):
    same(function([[0.0, -0.0, 1.0]] * 3), function([[0.0, 0.0, 1.0]] * 3))


@pytest.mark.parametrize("function", COUNTING)
def test_arrays_in_results_are_read_only(function):
    arrays = [v for v in vars(function(SCORES)).values() if isinstance(v, np.ndarray)]
    assert arrays or function is joint_comparisons
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0


@pytest.mark.parametrize("function", COUNTING)
def test_results_cannot_be_reassigned(function):
    with pytest.raises(AttributeError, match="n_blocks"):
        function(SCORES).n_blocks = 7


def test_numpy_integers_are_whole_numbers():
    same(
        joint_comparisons(SCORES, draws=np.int32(200), seed=np.uint64(3)),
        joint_comparisons(SCORES, draws=200, seed=3),
    )


def test_masked_cells_are_unknown():
    table = np.ma.array(np.arange(12.0).reshape(4, 3), mask=False)
    table[1, 2] = np.ma.masked
    assert friedman_test(table).n_dropped == 1
