import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from racer.stats import rank_biserial, signed_rank_test
from racer.stats.signed_rank import signed_levels

LAW = settings(max_examples=25, deadline=None, derandomize=True)
DIFFERENCES = st.lists(st.integers(-4, 4).map(float), min_size=1, max_size=9)
ALTERNATIVES = {"two-sided": "two-sided", "better": "greater", "worse": "less"}


def scores(differences):
    """x and y whose differences are in favour of x by this much."""
    return np.zeros(len(differences)), np.asarray(differences, float)


class TestPValue:
    @pytest.mark.parametrize("n", [1, 5, 25, 200])
    @pytest.mark.parametrize("alternative", ALTERNATIVES)
    def test_is_exact_without_ties(self, n, alternative):
        z = np.random.default_rng(n).normal(0.3, 1, n)
        result = signed_rank_test(*scores(z), alternative=alternative)
        expected = stats.wilcoxon(z, alternative=ALTERNATIVES[alternative], method="exact")
        assert result.p_value == pytest.approx(expected.pvalue, rel=1e-10)
        assert result.method == "exact"

    @pytest.mark.parametrize("alternative", ALTERNATIVES)
    @pytest.mark.parametrize("digits", [9, 1])
    def test_is_normal_beyond_200(self, alternative, digits):
        z = np.random.default_rng(3).normal(0.05, 1, 400).round(digits)
        result = signed_rank_test(*scores(z), alternative=alternative)
        expected = stats.wilcoxon(
            z, alternative=ALTERNATIVES[alternative], method="asymptotic", correction=True
        )
        assert result.p_value == pytest.approx(expected.pvalue, rel=1e-10)
        assert result.method == "normal"

    @LAW
    @given(DIFFERENCES, st.sampled_from(["drop", "rank"]))
    def test_with_ties_is_a_count_of_signs(self, z, zeros):
        """All 2^n choices of signs of the ranks there are, one by one."""
        result = signed_rank_test(*scores(z), zeros=zeros, alternative="better")
        z = np.array([d for d in z if d] if zeros == "drop" else z)
        ranks = stats.rankdata(np.abs(z))[z != 0]
        sums = [
            sum(r for r, s in zip(ranks, c, strict=True) if s)
            for c in itertools.product([0, 1], repeat=len(ranks))
        ]
        assert result.p_value == pytest.approx(np.mean([s >= result.rank_sum_better for s in sums]))
        assert result.rank_sum_better == pytest.approx(sum(ranks[z[z != 0] > 0]))

    @LAW
    @given(DIFFERENCES, st.sampled_from(["drop", "rank"]))
    def test_swapping_mirrors(self, z, zeros):
        x, y = scores(z)
        forth, back = signed_rank_test(x, y, zeros=zeros), signed_rank_test(y, x, zeros=zeros)
        assert forth.p_value == back.p_value
        assert forth.rank_sum_better == back.rank_sum_worse
        assert signed_rank_test(-x, -y, zeros=zeros, maximize=True) == forth


class TestTies:
    @pytest.mark.parametrize("zeros", ["drop", "rank"])
    @pytest.mark.parametrize("alternative", ALTERNATIVES)
    def test_all_tied(self, zeros, alternative):
        result = signed_rank_test([2.0] * 5, [2.0] * 5, zeros=zeros, alternative=alternative)
        assert result.p_value == 1.0
        assert (result.n_better, result.n_worse, result.n_ties) == (0, 0, 5)

    def test_rounding_does_not_break_ties(self):
        """0.3 - 0.2 and 0.2 - 0.1 differ in the last bit."""
        result = signed_rank_test([0.2, 0.2, 0.0], [0.3, 0.1, 0.5])
        assert (result.rank_sum_better, result.rank_sum_worse) == (4.5, 1.5)

    def test_small_differences_are_differences(self):
        levels = signed_levels(np.zeros((1, 3)), np.array([[1e-12, 3e-12, -2e-12]]))[0]
        assert levels.tolist() == [1, 3, -2]

    def test_infinities(self):
        """Two failures tie; a failure loses by more than any number."""
        result = signed_rank_test(
            [np.inf, np.inf, 1.0, 0.0, 5.0], [np.inf, 1.0, np.inf, 9.0, np.inf]
        )
        assert (result.n_better, result.n_worse, result.n_ties) == (3, 1, 1)
        assert (result.rank_sum_better, result.rank_sum_worse) == (7.0, 3.0)


def test_pairs_with_nan_are_deleted():
    result = signed_rank_test([0.0, np.nan, 0.0], [1.0, 1.0, np.nan])
    assert (result.n_better, result.n_dropped) == (1, 2)


class TestRankBiserial:
    @given(st.lists(st.integers(-9, 9), min_size=1, max_size=15))
    @settings(max_examples=20, deadline=None, derandomize=True)
    def test_is_the_share_of_ranks(self, z):
        test = signed_rank_test(np.zeros(len(z)), z)
        total = test.rank_sum_better + test.rank_sum_worse
        share = (test.rank_sum_better - test.rank_sum_worse) / total if total else 0.0
        assert rank_biserial(np.zeros(len(z)), z) == share
        assert (
            rank_biserial(z, np.zeros(len(z)))
            == rank_biserial(np.zeros(len(z)), z, maximize=True)
            == -share
        )

    def test_its_ends(self):
        assert rank_biserial([1, 2, np.nan], [2, 4, 1]) == 1.0
        assert rank_biserial([1, 1], [1, 1 + 1e-12]) == 0.0
