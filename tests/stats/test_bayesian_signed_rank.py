import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from racer.errors import SettingError
from racer.stats import bayesian_signed_rank_test

LAW = settings(max_examples=20, deadline=None, derandomize=True)
S = (np.sqrt(17) - 3) / 2
FIGURES = ("probability", "lower", "upper", "worse", "indistinguishable", "better", "estimate")


def run(differences, **settings):
    z = np.asarray(differences, float)
    return bayesian_signed_rank_test(np.zeros(len(z)), z, **settings)


def by_definition(z, rope=0.0, s=S, draws=100_000):
    """Every pair of differences with its own entry in an n x n matrix (eq. 8)."""
    rng = np.random.default_rng(7)
    n = len(z)
    sums = np.add.outer(z, z)

    def share(weights, of):
        return np.einsum("ki,ij,kj->k", weights, of.astype(float), weights, optimize=True)

    w = rng.dirichlet(np.ones(n), draws)
    theta = share(w, np.heaviside(sums, 0.5))
    bound = 2 * rope + 1e-9
    parts = [share(w, part) for part in (sums < -bound, np.abs(sums) <= bound, sums > bound)]
    worse, within, better = np.bincount(np.argmax(parts, axis=0), minlength=3) / draws
    w = rng.dirichlet(np.append(s, np.ones(n)), draws)
    low = share(w[:, 1:], np.heaviside(sums, 0.5))
    return {
        "probability": (theta > 0.5).mean(),
        "estimate": theta.mean(),
        "lower": (low > 0.5).mean(),
        "upper": (low + w[:, 0] * (2 - w[:, 0]) > 0.5).mean(),
        "interval": np.quantile(theta, [0.025, 0.975]),
        "worse": worse,
        "indistinguishable": within,
        "better": better,
    }


@pytest.mark.parametrize(
    ("n", "rope", "digits"),
    [(4, 0.3, 6), (4, 0.3, 1), (4, 0.3, 0), (17, 0.1, 6), (17, 0.1, 0), (30, 0.5, 1)],
)
def test_is_the_definition(n, rope, digits):
    z = np.random.default_rng([n, digits]).normal(0.3, 1, n).round(digits)
    expected, result = by_definition(z, rope), run(z, rope=rope, draws=100_000)
    for figure in FIGURES:
        assert getattr(result, figure) == pytest.approx(expected[figure], abs=0.008), figure
    assert result.interval() == pytest.approx(expected["interval"], abs=0.01)


def test_estimate_is_wilcoxons_statistic():
    """Theorem 2, eq. 4: T+ / (n (n + 1) / 2)."""
    assert run([1, 2, 3, -4, 5], draws=100).estimate == pytest.approx(11 / 15)
    assert run([0, 1, -1], draws=100).estimate == 0.5


def test_ignorance_widens_and_its_default_halves():
    """Section 3.1: (s^2 + 3 s) / ((s + 1) (s + 2)) = 1/2 at the default."""
    assert pytest.approx(0.5) == (S**2 + 3 * S) / ((S + 1) * (S + 2))
    z = np.random.default_rng(1).normal(0.3, 1, 12)
    ranges = [run(z, ignorance=s) for s in (0.0, 0.5, 1.0, 3.0)]
    assert ranges[0].lower == ranges[0].probability == ranges[0].upper
    widths = [r.upper - r.lower for r in ranges]
    assert widths == sorted(widths)
    assert all(r.lower <= r.probability <= r.upper for r in ranges)


def test_one_block():
    """w0 ~ Beta(s, 1) must be below 1 - sqrt(1/2): probability (1 - sqrt(1/2))^s."""
    result = run([3.0], draws=200_000)
    assert (result.probability, result.upper) == (1.0, 1.0)
    assert result.lower == pytest.approx((1 - np.sqrt(0.5)) ** S, abs=0.004)


def test_all_tied():
    result = run([0.0] * 6, rope=0.1)
    assert (result.probability, result.lower, result.upper) == (0.5, 0.0, 1.0)
    assert (result.worse, result.indistinguishable, result.better) == (0.0, 1.0, 0.0)
    assert result.interval() == (0.5, 0.5)
    assert result.prefer(l0=1, l1=1) == "indeterminate"


@pytest.mark.parametrize(
    ("z", "l1", "preferred"),
    [
        ([1, 2, 3] * 5, 19, "x"),
        ([-1, -2, -3] * 5, 1, "y"),
        ([1, -1.1, 2, -2.1], 1, "indeterminate"),
    ],
)
def test_losses(z, l1, preferred):
    assert run(z).prefer(l0=1, l1=l1) == preferred


def test_infinities_outweigh_everything():
    """x fails in one block of three, y in two."""
    x, y = [np.inf, 0.0, 0.0, np.inf], [1.0, np.inf, np.inf, np.inf]
    result = bayesian_signed_rank_test(x, y, rope=1.0)
    assert (result.n_better, result.n_worse, result.n_ties) == (2, 1, 1)
    assert 0.5 < result.probability < 1.0


@LAW
@given(st.lists(st.integers(-5, 5).map(float), min_size=1, max_size=20))
def test_swapping_mirrors_exactly(z):
    forth, back = run(z, rope=2.0, draws=500), run(-np.array(z), rope=2.0, draws=500)
    assert back.lower == pytest.approx(1 - forth.upper, abs=1e-12)
    assert back.better == pytest.approx(forth.worse, abs=1e-12)
    assert back.probability == pytest.approx(1 - forth.probability, abs=1e-12)
    assert back.estimate == pytest.approx(1 - forth.estimate, abs=1e-12)


@LAW
@given(st.permutations([-7.0, -3.0, -2.5, -1.0, 0.5, 1.0, 1.0, 4.0, 9.0]))
def test_order_of_blocks_does_not_matter(z):
    assert run(z, draws=500).lower == run(sorted(z), draws=500).lower


def test_maximize_and_nan():
    x, y = [1.0, 2.0, np.nan, 4.0], [2.0, 1.5, 1.0, 6.0]
    up = bayesian_signed_rank_test(x, y, maximize=True)
    down = bayesian_signed_rank_test(-np.array(x), -np.array(y))
    assert up.probability == down.probability
    assert (up.n_better, up.n_worse, up.n_ties, up.n_dropped) == (1, 2, 0, 1)


def test_frame():
    result = run([1.0, 2.0, -0.5, 3.0], rope=0.2)
    (row,) = result.to_frame().to_dict("records")
    assert row["estimate"] == result.estimate
    assert row["low"] < row["estimate"] < row["high"]
    assert row["lower"] <= row["probability"] <= row["upper"]
    assert row["in_rope"] == result.indistinguishable


def test_bad_losses():
    with pytest.raises(SettingError, match=r"l1=0.*> 0"):
        run([1.0]).prefer(l1=0)


@pytest.mark.thorough
@pytest.mark.parametrize("mean", [-0.4, 0.0, 0.4])
def test_calibration(mean):
    """With the prior at zero weight, P(theta > 1/2) is near uniform when theta is 1/2."""
    rng = np.random.default_rng(11)
    found = [run(rng.normal(mean, 1, 40), draws=400).probability for _ in range(120)]
    below = np.mean(np.array(found) < 0.25)
    assert {-0.4: below > 0.9, 0.0: abs(below - 0.25) < 0.08, 0.4: below < 0.02}[mean]


class TestSharesAndLeast:
    @staticmethod
    def pair(n=12, seed=1):
        return np.random.default_rng(seed).normal(size=(2, n)) + np.array([[0.0], [0.4]])

    def test_shares_are_those_of_pairs_and_decide(self):
        x, y = self.pair()
        result = bayesian_signed_rank_test(x, y, rope=0.3, draws=2000)
        assert result.shares.shape == (2000, 3)
        np.testing.assert_allclose(result.shares.sum(axis=1), 1.0, atol=1e-5)
        votes = np.bincount(result.shares.argmax(axis=1), minlength=3) / 2000
        assert votes.tolist() == [result.worse, result.indistinguishable, result.better]
        z = y - x
        half = (
            z[:, None] + z
        ) / 2.0  # the mean of Dirichlet weights w_i w_j is (1 + [i=j]) / n(n+1)
        weight = (1.0 + np.eye(12)) / (12 * 13)
        expected = [weight[half < -0.3].sum(), weight[abs(half) <= 0.3].sum()]
        np.testing.assert_allclose(result.shares.mean(axis=0)[:2], expected, atol=0.01)

    def test_without_a_rope(self):
        result = bayesian_signed_rank_test(*self.pair(), draws=500)
        assert result.shares is None
        assert result.least == (1.0 - result.upper, 0.0, result.lower)

    def test_least_is_what_a_prior_atom_far_out_leaves(self):
        """The prior's atom as one more block of weight s, drawn here by the n^2 definition."""
        x, y = self.pair(6)
        z, s = y - x, 0.6
        result = bayesian_signed_rank_test(x, y, rope=0.3, ignorance=s, draws=40_000)
        rng = np.random.default_rng(3)
        for atom, places in ((-1e6, (1, 2)), (1e6, (0, 1))):
            g = rng.standard_gamma([s, *[1.0] * 6], (20_000, 7))
            w = g / g.sum(axis=1, keepdims=True)
            half = np.add.outer([atom, *z], [atom, *z]) / 2.0
            regions = [half < -0.3, abs(half) <= 0.3, half > 0.3]
            shares = np.stack([np.einsum("ki,ij,kj->k", w, r, w) for r in regions], axis=1)
            votes = np.bincount(shares.argmax(axis=1), minlength=3) / 20_000
            for place in places:
                assert result.least[place] <= votes[place] + 0.02
            outer = 2 if atom < 0 else 0
            assert result.least[outer] == pytest.approx(votes[outer], abs=0.015)

    def test_a_single_tie_proves_nothing(self):
        result = bayesian_signed_rank_test([1.0], [1.0], rope=0.1, draws=2000)
        assert result.indistinguishable == 1.0
        assert result.least[1] < 0.7

    def test_differences_well_within_the_rope_leave_no_doubt_of_it(self):
        result = run(np.linspace(-0.1, 0.1, 30), rope=1.0)
        assert result.least[1] > 0.9
        assert max(result.least[0], result.least[2]) < 0.1

    def test_least_is_at_most_the_probability(self):
        for seed in range(5):
            result = bayesian_signed_rank_test(*self.pair(9, seed), rope=0.4, draws=1000)
            three = (result.worse, result.indistinguishable, result.better)
            assert all(low <= p for low, p in zip(result.least, three, strict=True))


@pytest.mark.parametrize("ignorance", [0.0, 0.56, 2.0])
def test_bounds_of_the_estimate_against_an_atom_beyond_all(ignorance):
    """Eq. 5 to 7: the mean of sum w_i w_j H(Z_i + Z_j) with an atom, from the Dirichlet moments."""
    z = np.array([3.0, -1.0, 1.0, 0.0, 2.0, -2.0])
    found = bayesian_signed_rank_test(-z, np.zeros(6), ignorance=ignorance, draws=100)
    weights, total = np.array([ignorance, *np.ones(6)]), ignorance + 6.0
    products = np.outer(weights, weights) + np.diag(weights)  # times 1 / (a0 (a0 + 1))
    means = []
    for atom in (-9.0, 9.0):
        sums = np.add.outer(np.array([atom, *z]), np.array([atom, *z]))
        halves = np.heaviside(sums, 0.5)
        means.append((products * halves).sum() / (total * (total + 1.0)))
    assert [found.lower_estimate, found.upper_estimate] == pytest.approx(means)
    assert found.lower_estimate <= found.estimate <= found.upper_estimate


def test_draws_with_the_extreme_priors_are_outlined():
    """Figure 1: the area above 1/2 of the lower and the upper distribution is the probability."""
    pytest.importorskip("matplotlib")
    z = np.random.default_rng(0).normal(0.3, 1.0, 20)
    found = bayesian_signed_rank_test(-z, np.zeros(20))
    assert (found.theta_bounds > 0.5).mean(axis=1).tolist() == [found.lower, found.upper]
    means = found.theta_bounds.mean(axis=1)
    assert means == pytest.approx([found.lower_estimate, found.upper_estimate], abs=0.005)
    outlines = [patch for patch in found.plot().patches if hasattr(patch, "get_data")]
    tops = [float(np.sum(outline.get_data().values)) for outline in outlines]
    assert tops == pytest.approx([1.0, 1.0])
