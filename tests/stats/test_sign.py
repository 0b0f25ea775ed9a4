import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from racer.errors import ScoresError
from racer.stats import bayesian_sign_test, sign_test, signed_rank_test
from racer.stats.sign import probability_indistinguishable

LAW = settings(max_examples=25, deadline=None, derandomize=True)
both_tests = pytest.mark.parametrize("test", [sign_test, bayesian_sign_test])
COUNT = st.integers(0, 12)


def pairs(better, worse, ties=0):
    """Scores x and y with these counts for x."""
    x = [0.0] * better + [2.0] * worse + [1.0] * ties
    return x, [1.0] * len(x)


@st.composite
def samples(draw):
    values = st.lists(st.integers(0, 3).map(float), min_size=1, max_size=12)
    x = draw(values)
    return x, draw(st.lists(st.integers(0, 3).map(float), min_size=len(x), max_size=len(x)))


class TestSignTest:
    @pytest.mark.parametrize(
        ("better", "worse"), [(20, 10), (15, 15), (0, 7), (7, 0), (1, 0), (3, 2), (600, 500)]
    )
    @pytest.mark.parametrize(
        ("alternative", "binomial"),
        [("two-sided", "two-sided"), ("better", "greater"), ("worse", "less")],
    )
    def test_is_the_binomial_test(self, better, worse, alternative, binomial):
        result = sign_test(*pairs(better, worse, ties=4), alternative=alternative)
        expected = stats.binomtest(better, better + worse, alternative=binomial).pvalue
        assert result.p_value == pytest.approx(expected, rel=1e-10)
        assert result.alternative == alternative

    @pytest.mark.parametrize("alternative", ["two-sided", "better", "worse"])
    def test_all_tied(self, alternative):
        result = sign_test([3.0] * 4, [3.0] * 4, alternative=alternative)
        assert result.p_value == 1.0
        assert (result.n_better, result.n_worse, result.n_ties) == (0, 0, 4)


class TestCounts:
    @both_tests
    def test_counts(self, test):
        result = test([1.0, 2.0, 3.0, 3.0, 0.0], [2.0, 1.0, 3.0, 4.0, 9.0])
        counts = (result.n_better, result.n_worse, result.n_ties, result.n_dropped)
        assert counts == (3, 1, 1, 0)

    @both_tests
    def test_pairs_with_nan_are_deleted(self, test):
        x = [1.0, np.nan, 3.0, np.nan, 5.0]
        y = [2.0, 1.0, np.nan, np.nan, 4.0]
        result = test(x, y)
        counts = (result.n_better, result.n_worse, result.n_ties, result.n_dropped)
        assert counts == (1, 1, 0, 3)

    @both_tests
    def test_infinities(self, test):
        """Two failures tie, a failure loses against any number."""
        result = test([np.inf, np.inf, 1.0, -np.inf], [np.inf, 1.0, np.inf, -np.inf])
        assert (result.n_better, result.n_worse, result.n_ties) == (1, 1, 2)

    @pytest.mark.parametrize("test", [sign_test, bayesian_sign_test, signed_rank_test])
    @pytest.mark.parametrize(
        ("x", "y", "message"),
        [
            ([1.0], [1.0, 2.0], "x has 1 scores and y 2"),
            ([1.0, np.nan], [np.nan, 1.0], "x and y have no pair without NaN"),
            ([1.0], ["b"], "y must hold numbers only"),
            ([[1.0]], [1.0], r"x must have 1 dimension\(s\), not shape \(1, 1\)"),
            ([1.0], 1.0, r"y must have 1 dimension\(s\), not shape \(\)"),
        ],
    )
    def test_bad_scores(self, test, x, y, message):
        with pytest.raises(ScoresError, match=message):
            test(x, y)

    @both_tests
    @LAW
    @given(xy=samples())
    def test_maximize_is_negation(self, test, xy):
        x, y = map(np.array, xy)
        assert test(x, y, maximize=True) == test(-x, -y)

    @both_tests
    @LAW
    @given(xy=samples(), data=st.data())
    def test_increasing_transforms_per_pair_change_nothing(self, test, xy, data):
        x, y = xy
        slopes = data.draw(st.lists(st.floats(0.01, 100), min_size=len(x), max_size=len(x)))
        moved = [[np.arctan(v * a) - a for v, a in zip(s, slopes, strict=True)] for s in (x, y)]
        assert test(*moved) == test(x, y)


class TestProbability:
    @pytest.mark.parametrize(("better", "worse"), [(20, 10), (1, 2), (7, 3), (3, 7), (55, 45)])
    @pytest.mark.parametrize("ties", [0, 1, 30])
    @pytest.mark.parametrize("strength", [0.0, 1.0, 2.5])
    def test_is_the_tail_of_a_beta(self, better, worse, ties, strength):
        """Theorem 2: whatever the ties and the strength of the prior."""
        result = bayesian_sign_test(*pairs(better, worse, ties), strength=strength)
        assert result.probability == pytest.approx(stats.beta.sf(0.5, better, worse), rel=1e-10)

    @pytest.mark.parametrize(
        ("better", "worse", "ties", "probability"),
        [(3, 0, 0, 1.0), (0, 3, 0, 0.0), (1, 0, 9, 1.0), (0, 0, 5, 0.5), (4, 4, 1, 0.5)],
    )
    def test_limits(self, better, worse, ties, probability):
        assert bayesian_sign_test(*pairs(better, worse, ties)).probability == probability


class TestThreeWay:
    @pytest.mark.parametrize(
        ("better", "worse", "ties", "epsilon"),
        [
            (10, 3, 40, 0.05),
            (3, 2, 5, 0.2),
            (2, 10, 7, 0.05),
            (1, 1, 40, 0.01),
            (1, 100, 1000, 0.05),
        ],
    )
    def test_against_integration(self, better, worse, ties, epsilon):
        """To the four decimals that such tables are printed with."""
        decided = stats.beta(better + worse, ties)
        won = stats.beta(better, worse)

        def integral(tail):
            value, _ = integrate.quad(
                lambda v: tail(epsilon / v) * decided.pdf(v),
                2 * epsilon,
                1,
                points=[min(0.99, max(2 * epsilon + 1e-6, decided.mean()))],
                epsabs=1e-10,
                limit=400,
            )
            return value

        below = integral(lambda half: won.cdf(0.5 - half))
        above = integral(lambda half: won.sf(0.5 + half))
        result = bayesian_sign_test(*pairs(better, worse, ties), epsilon=epsilon)
        assert result.worse == pytest.approx(below, abs=5e-5)
        assert result.better == pytest.approx(above, abs=5e-5)
        assert result.indistinguishable == pytest.approx(1 - below - above, abs=5e-5)

    @pytest.mark.parametrize(("better", "worse"), [(20, 10), (3, 7), (1, 1)])
    @pytest.mark.parametrize("epsilon", [0.01, 0.05, 0.3])
    def test_without_ties_is_a_beta(self, better, worse, epsilon):
        result = bayesian_sign_test(*pairs(better, worse), epsilon=epsilon)
        beta = stats.beta(better, worse)
        assert result.worse == pytest.approx(beta.cdf(0.5 - epsilon), abs=1e-12)
        assert result.better == pytest.approx(beta.sf(0.5 + epsilon), abs=1e-12)

    @pytest.mark.parametrize(("ties", "strength"), [(0, 3.0), (1, 2.0), (3, 0.0)])
    def test_the_prior_is_so_many_ties(self, ties, strength):
        counted = bayesian_sign_test(*pairs(6, 2, 3))
        result = bayesian_sign_test(*pairs(6, 2, ties), strength=strength)
        for name in ("worse", "indistinguishable", "better"):
            assert getattr(result, name) == getattr(counted, name)

    @pytest.mark.parametrize(
        ("counts", "epsilon", "parts"),
        [
            ((0, 0, 5), 0.05, (0.0, 1.0, 0.0)),
            ((0, 0, 5), 0.0, (0.5, 0.0, 0.5)),
            ((4, 0, 0), 0.05, (0.0, 0.0, 1.0)),
            ((0, 4, 0), 0.05, (1.0, 0.0, 0.0)),
            ((4, 4, 7), 0.0, (0.5, 0.0, 0.5)),
        ],
    )
    def test_limits(self, counts, epsilon, parts):
        result = bayesian_sign_test(*pairs(*counts), epsilon=epsilon)
        assert (result.worse, result.indistinguishable, result.better) == parts
        assert result.epsilon == epsilon

    @LAW
    @given(COUNT, COUNT, COUNT, st.floats(0.0, 0.49), st.sampled_from([0.0, 1e-9, 0.3, 1.0, 1e9]))
    def test_sums_to_one(self, better, worse, ties, epsilon, strength):
        ties += better + worse + ties == 0
        result = bayesian_sign_test(*pairs(better, worse, ties), epsilon=epsilon, strength=strength)
        parts = (result.worse, result.indistinguishable, result.better)
        assert all(0.0 <= part <= 1.0 for part in parts)
        assert sum(parts) == pytest.approx(1.0, abs=1e-12)
        assert result.better <= result.probability + 1e-9


class TestIndistinguishable:
    """What a race asks of many pairs at once, with the prior against the claim."""

    COUNTS = ((0, 0, 5), (3, 0, 0), (0, 3, 4), (5, 5, 0), (9, 2, 0), (2, 9, 6), (1, 1, 30))

    @pytest.mark.parametrize("epsilon", [0.05, 0.2])
    def test_is_the_three_way_result_with_the_prior_on_the_leader(self, epsilon):
        better, worse, ties = np.array(self.COUNTS).T
        found = probability_indistinguishable(better, worse, ties, epsilon=epsilon, strength=1.0)
        for share, (b, w, t) in zip(found, self.COUNTS, strict=True):
            single = bayesian_sign_test(*pairs(max(b, w) + 1, min(b, w), t), epsilon=epsilon)
            assert share == pytest.approx(single.indistinguishable, abs=1e-12)

    def test_all_tied_needs_blocks(self):
        """n ties against a prior of weight 1: v ~ Beta(1, n), so 1 - (1 - 2 epsilon)^n."""
        n = np.array([1, 10, 30, 100])
        none = np.zeros_like(n)
        found = probability_indistinguishable(none, none, n, epsilon=0.05, strength=1.0)
        np.testing.assert_allclose(found, 1 - 0.9**n, rtol=1e-12)


class TestIgnorance:
    @pytest.mark.parametrize(("better", "worse", "ties"), [(5, 3, 0), (12, 4, 6), (2, 9, 1)])
    @pytest.mark.parametrize("s", [0.0, 0.5, 1.0, 3.0])
    def test_against_sampled_weights(self, better, worse, ties, s):
        """theta = w_better + w_ties / 2, plus w_0 for the upper probability."""
        rng = np.random.default_rng([better, int(10 * s)])
        alpha = np.array([s, better, worse, ties])
        gammas = [rng.standard_gamma(a, 200_000) if a else np.zeros(200_000) for a in alpha]
        prior, won, _, tied = gammas / sum(gammas)
        theta = won + tied / 2
        result = bayesian_sign_test(*pairs(better, worse, ties), ignorance=s)
        assert result.lower == pytest.approx((theta > 0.5).mean(), abs=0.006)
        assert result.upper == pytest.approx((theta + prior > 0.5).mean(), abs=0.006)
        assert result.lower <= result.probability <= result.upper

    @pytest.mark.parametrize(
        ("counts", "bounds"),
        [((0, 0, 4), (0.0, 1.0)), ((1, 0, 0), (0.5, 1.0)), ((0, 1, 2), (0.0, 0.5))],
    )
    def test_limits(self, counts, bounds):
        result = bayesian_sign_test(*pairs(*counts))
        assert (result.lower, result.upper) == bounds

    @pytest.mark.parametrize(
        ("better", "worse", "l1", "preferred"),
        [(20, 2, 19, "x"), (2, 20, 1, "y"), (6, 5, 1, "indeterminate")],
    )
    def test_losses(self, better, worse, l1, preferred):
        assert bayesian_sign_test(*pairs(better, worse)).prefer(l0=1, l1=l1) == preferred


class TestInterval:
    @pytest.mark.parametrize(
        ("better", "worse", "ties"), [(5, 3, 4), (12, 1, 6), (0, 4, 3), (5, 0, 1)]
    )
    def test_against_sampled_weights(self, better, worse, ties):
        rng = np.random.default_rng([better, worse])
        gammas = [
            rng.standard_gamma(a, 400_000) if a else np.zeros(400_000)
            for a in (better, worse, ties)
        ]
        theta = (gammas[0] + gammas[2] / 2) / sum(gammas)
        result = bayesian_sign_test(*pairs(better, worse, ties))
        assert result.interval(0.9) == pytest.approx(np.quantile(theta, [0.05, 0.95]), abs=0.003)
        assert result.estimate == pytest.approx(theta.mean(), abs=0.002)

    @pytest.mark.parametrize(
        ("counts", "point"), [((0, 0, 3), 0.5), ((3, 0, 0), 1.0), ((0, 3, 0), 0.0)]
    )
    def test_a_point(self, counts, point):
        result = bayesian_sign_test(*pairs(*counts))
        assert result.interval() == (point, point)
        assert result.estimate == point

    def test_frame(self):
        result = bayesian_sign_test(*pairs(6, 2, 1))
        (row,) = result.to_frame().to_dict("records")
        assert row["low"] < row["estimate"] < row["high"]
        assert row["lower"] < row["probability"] < row["upper"]
        assert row["in_rope"] == result.indistinguishable
