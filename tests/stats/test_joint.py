import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from racer.errors import SettingError
from racer.stats import bayesian_sign_test, joint_comparisons
from racer.stats.joint import Ordered, running_joint, without_ties

LAW = settings(max_examples=25, deadline=None, derandomize=True)
TIED = arrays(
    np.float64,
    st.tuples(st.integers(1, 12), st.integers(2, 4)),
    elements=st.integers(0, 3).map(float),
)


def pairs_of(statements):
    return [(s.better, s.worse) for s in statements]


def noisy(seed, n=15, m=4, step=0.6):
    """Scores in which lower columns tend to be better, rounded so that some tie."""
    scores = np.random.default_rng(seed).normal(size=(n, m)) + step * np.arange(m)
    return scores.round(1)


def sampled_joint(scores, statements, strength, draws, rng):
    """Posterior of all statements together, from whole Dirichlet weights and theta itself."""
    n = len(scores)
    weights = rng.dirichlet([strength] * (strength > 0) + [1.0] * n, size=draws)
    together = np.ones(draws, dtype=bool)
    shares = []
    for s in statements:
        x, y = scores[:, s.better], scores[:, s.worse]
        better = np.where(x < y, 1.0, np.where(x == y, 0.5, 0.0))
        prior = [0.5] * (strength > 0)
        together &= weights @ np.concatenate([prior, better]) > 0.5
        shares.append(together.mean())
    return shares


@pytest.mark.parametrize(("seed", "n", "strength"), [(0, 15, 1.0), (1, 8, 0.0), (2, 30, 3.0)])
def test_against_sampled_weights(seed, n, strength):
    """The strength of the prior does not matter."""
    scores, draws = noisy(seed, n), 200_000
    result = joint_comparisons(scores, draws=draws)
    rng = np.random.default_rng(seed)
    shares = sampled_joint(scores, result.statements, strength, draws, rng)
    for statement, share in zip(result.statements, shares, strict=True):
        p = (share + statement.joint) / 2
        error = 4 * np.sqrt(2 * max(p * (1 - p), 1 / draws) / draws)
        assert statement.joint == pytest.approx(share, abs=error)


@pytest.mark.parametrize("seed", range(4))
def test_marginals_are_those_of_the_bayesian_sign_test(seed):
    scores = noisy(seed)
    for s in joint_comparisons(scores, draws=100).statements:
        single = bayesian_sign_test(scores[:, s.better], scores[:, s.worse])
        assert s.probability == pytest.approx(single.probability, abs=1e-12)
        counts = (single.n_better, single.n_worse, single.n_ties)
        assert (s.n_better, s.n_worse, s.n_ties) == counts


def test_always_better_is_certain():
    result = joint_comparisons([[0, 1, 2]] * 5, draws=100)
    assert pairs_of(result.accepted) == [(0, 2), (0, 1), (1, 2)]
    assert all(s.probability == s.joint == 1.0 for s in result.statements)


@pytest.mark.parametrize("shape", [(1, 2), (6, 3), (2, 10)])
@pytest.mark.parametrize("value", [0.0, np.inf])
def test_everything_tied(shape, value):
    """Nothing is more likely than its opposite, and no direction holds."""
    result = joint_comparisons(np.full(shape, value), draws=100)
    n, m = shape
    assert result.n_accepted == 0
    assert result.accepted == ()
    assert pairs_of(result.statements) == [(i, j) for i in range(m) for j in range(i + 1, m)]
    assert all(s.probability == 0.5 for s in result.statements)
    assert all((s.n_better, s.n_worse, s.n_ties) == (0, 0, n) for s in result.statements)


def test_identical_candidates_are_not_told_apart():
    result = joint_comparisons([[0, 1, 1]] * 9, draws=100)
    assert pairs_of(result.accepted) == [(0, 1), (0, 2)]
    assert result.statements[-1].probability == 0.5


def test_equal_duels_go_by_mean_rank():
    """0 and 1 win one block each; 1 has the smaller rank sum because of 2."""
    scores = [[1, 2, 3], [3, 1, 2]]
    result = joint_comparisons(scores, draws=100)
    (between,) = (s for s in result.statements if {s.better, s.worse} == {0, 1})
    assert (between.better, between.worse) == (1, 0)
    assert between.probability == 0.5


def test_equal_probabilities_go_by_the_gap_in_rank():
    result = joint_comparisons([[0, 1, 2, 3]] * 4, draws=100)
    assert pairs_of(result.statements) == [(0, 3), (0, 2), (1, 3), (0, 1), (1, 2), (2, 3)]


def test_accepted_is_the_longest_prefix_above_confidence():
    scores = noisy(5, n=12, m=5)
    for confidence in (0.5, 0.8, 0.95, 0.999):
        result = joint_comparisons(scores, confidence=confidence, draws=2000)
        joint = [s.joint for s in result.statements]
        assert all(value > confidence for value in joint[: result.n_accepted])
        assert all(value <= confidence for value in joint[result.n_accepted :])
        assert result.accepted == result.statements[: result.n_accepted]
        assert result.confidence == confidence
    assert 0 < joint_comparisons(scores, confidence=0.5, draws=2000).n_accepted < len(joint)


def test_confidence_must_be_exceeded():
    """A joint probability equal to the confidence is not above it."""
    draws = 200
    result = joint_comparisons([[0, 1], [1, 0]], draws=draws, seed=0)
    at = float(result.statements[0].joint)
    assert joint_comparisons([[0, 1], [1, 0]], draws=draws, confidence=at).n_accepted == 0
    below = np.nextafter(at, 0)
    assert joint_comparisons([[0, 1], [1, 0]], draws=draws, confidence=below).n_accepted == 1


def test_plain_numbers():
    """As declared, so that a result can be written as JSON."""
    result = joint_comparisons([[0, 1, 2]] * 4 + [[0, 2, 1]], draws=100)
    assert type(result.n_accepted) is int
    for statement in result.statements:
        kinds = [type(value) for value in vars(statement).values()]
        assert kinds == [int, int, int, int, int, float, float]
        json.dumps(vars(statement))


def test_to_frame():
    result = joint_comparisons([[0, 1, 2]] * 20 + [[0, 2, 1]] * 10, draws=1000, confidence=0.99)
    frame = result.to_frame()
    names = ["better", "worse", "n_better", "n_worse", "n_ties", "probability", "joint", "accepted"]
    assert list(frame.columns) == names
    assert frame["accepted"].tolist() == [True, True, False]
    assert frame["joint"].tolist() == [s.joint for s in result.statements]


def test_running_joint():
    holds = [
        np.array([True, True, True, False]),
        np.array([True, False, True, True]),
        np.array([True, True, False, True]),
    ]
    assert running_joint(holds, 4) == [0.75, 0.5, 0.25]
    assert running_joint(holds, 4, stop_at=0.5) == [0.75, 0.5]
    assert running_joint([], 4) == []


@LAW
@given(TIED)
def test_always_defined(scores):
    result = joint_comparisons(scores, draws=100)
    m = scores.shape[1]
    assert len(result.statements) == m * (m - 1) // 2
    probabilities = [s.probability for s in result.statements]
    assert probabilities == sorted(probabilities, reverse=True)
    assert all(0.5 <= p <= 1.0 for p in probabilities)
    joint = [s.joint for s in result.statements]
    assert joint == sorted(joint, reverse=True)
    assert all(0.0 <= p <= marginal for p, marginal in zip(joint, probabilities, strict=True))


class TestControl:
    def test_only_pairs_with_it_are_stated(self):
        scores = np.random.default_rng(0).normal(size=(25, 5)) + 0.4 * np.arange(5)
        every, few = (joint_comparisons(scores, control=c) for c in (None, 2))
        pairs = {frozenset((s.better, s.worse)) for s in few.statements}
        assert pairs == {frozenset((2, j)) for j in (0, 1, 3, 4)}
        marginal = {(s.better, s.worse): s.probability for s in every.statements}
        assert all(marginal[s.better, s.worse] == s.probability for s in few.statements)
        assert few.statements[-1].joint > every.statements[-1].joint

    @pytest.mark.parametrize("control", [-1, 3, 1.5, True])
    def test_one_that_is_not_there(self, control):
        with pytest.raises(SettingError, match="control="):
            joint_comparisons(np.ones((4, 3)), control=control)


TIES = np.column_stack(
    [[1] * 12, [0] * 3 + [2] * 3 + [2, 3] * 3, [2] * 3 + [0] * 3 + [3, 2] * 3, [9] * 12]
)


@LAW
@given(
    st.integers(0, 10**6) | st.none(),
    st.permutations(range(4)),
    st.integers(0, 3) | st.none(),
    st.sampled_from([0.5, 0.9, 0.95]),
)
def test_the_order_of_the_columns_decides_nothing(seed, order, control, confidence):
    """Of ties, statements about the second and the third hold together, or not at all."""
    at = {"confidence": confidence, "draws": 2000}
    scores = TIES if seed is None else noisy(seed, 13)
    result = joint_comparisons(scores, control=control, **at)
    moved = joint_comparisons(
        scores[:, order], control=None if control is None else order.index(control), **at
    )
    assert moved.n_accepted == result.n_accepted
    back = [(order[s.better], order[s.worse], s.probability, s.joint) for s in moved.statements]
    assert back == [(s.better, s.worse, s.probability, s.joint) for s in result.statements]


def test_what_ties_is_accepted_together():
    for confidence, accepted in ((0.9, 5), (0.95, 3)):
        result = joint_comparisons(TIES, confidence=confidence)
        assert result.n_accepted == accepted
        assert {*pairs_of(result.statements[3:5])} == {(0, 1), (0, 2)}
    assert result.statements[3].joint > 0.95 > result.statements[4].joint


@pytest.mark.parametrize(
    ("pairs", "p_false", "kept"),
    [
        (((0, 3), (1, 2)), (0.1, 0.1), 1),  # other gaps of rank sums, with the same total
        (((0, 1), (2, 3)), (0.1, 0.1), 0),  # the same gap, at other totals
        (((0, 1), (2, 3)), (0.1, 0.2), 1),
    ],
)
def test_statements_tie_by_probability_and_gap(pairs, p_false, kept):
    better, worse = np.array(pairs).T
    ordered = Ordered(better, worse, np.array(p_false))
    assert without_ties(1, ordered, np.array([1.0, 2.0, 3.0, 4.0])) == kept
