import numpy as np
import pytest
from scipy import stats

from racer.errors import ScoresError, SettingError
from racer.stats import plackett_luce, plackett_luce_by_budget
from racer.stats._likelihoods import ChoiceModel, Ranking, gather

NAN, INF = np.nan, np.inf


def rankings(weights, n, rng):
    """Costs whose order follows the model: the first arrivals of independent clocks."""
    return rng.standard_exponential((n, len(weights))) / weights


RNG = np.random.default_rng(20)
PLAIN = rankings(np.array([4.0, 2.0, 1.0, 1.0, 0.5]), 12, RNG)
ALL = np.where(RNG.random(PLAIN.shape) < 0.2, NAN, np.where(PLAIN > 2.0, INF, PLAIN.round(1)))


@pytest.mark.parametrize(
    ("won", "lost", "alpha"), [(6, 2, (1, 1)), (0, 5, (1, 1)), (3, 3, (2, 0.5))]
)
def test_two_algorithms_are_a_beta(won, lost, alpha):
    costs = [[1, 2]] * won + [[2, 1]] * lost
    first = plackett_luce(costs, prior=np.array(alpha), draws=20_000).weights[:, 0]
    expected = stats.beta(alpha[0] + won, alpha[1] + lost)
    assert first.mean() == pytest.approx(expected.mean(), abs=0.01)
    np.testing.assert_allclose(
        np.quantile(first, [0.05, 0.95]), expected.ppf([0.05, 0.95]), atol=0.015
    )


class TestChoices:
    def test_density_is_the_product_over_places(self):
        """Calvo et al. 2019, eq. 2, up to a constant."""
        model = ChoiceModel(
            gather([Ranking([np.array([i]) for i in (2, 0, 1)], np.array([], int))], 3), np.ones(3)
        )
        points = np.random.default_rng(1).normal(size=(5, 2))
        w = np.exp(model.log_weights(points))
        w /= w.sum(axis=1, keepdims=True)
        ranking = w[:, 2] * w[:, 0] / (w[:, 0] + w[:, 1])
        gap = model.log_density(points) - np.log(ranking * w.prod(axis=1))
        np.testing.assert_allclose(gap, gap[0], atol=1e-10)

    def test_gradient(self):
        choices = gather([Ranking([np.array([1, 3]), np.array([0])], np.array([2]))], 4)
        model = ChoiceModel(choices, np.array([0.5, 1.0, 2.0, 1.0]))
        points, step = np.random.default_rng(2).normal(size=(4, 3)), 1e-6 * np.eye(3)
        numeric = [
            (model.log_density(points + h) - model.log_density(points - h)) / 2e-6 for h in step
        ]
        np.testing.assert_allclose(model.gradient(points), np.transpose(numeric), atol=1e-6)

    def test_efrons_rule(self):
        """Two tie ahead of a third: w1 w2 / (w1 + w2 + w3) / ((w1 + w2)/2 + w3)."""
        chosen, at_risk, times = gather([Ranking([np.array([0, 1])], np.array([2]))], 3)
        assert chosen.tolist() == [1, 1, 0]
        assert at_risk.tolist() == [[0.5, 0.5, 1.0], [1.0, 1.0, 1.0]]
        assert times.tolist() == [1, 1]

    def test_equal_sets_are_counted_not_repeated(self):
        one = Ranking([np.array([0]), np.array([1])], np.array([2]))
        _, at_risk, times = gather([one, one], 3)
        assert (len(at_risk), times.tolist()) == (2, [2, 2])

    def test_the_last_one_is_not_chosen_from_anybody(self):
        one = Ranking([np.array([0]), np.array([1])], np.array([], int))
        assert gather([one], 2).chosen.tolist() == [1, 0]


class TestResult:
    RESULT = plackett_luce(
        rankings(np.array([5.0, 2.0, 1.0, 1.0]), 60, np.random.default_rng(4)), names="abcd"
    )

    def test_frame(self):
        frame = self.RESULT.to_frame()
        assert list(frame.columns) == [
            *("algorithm", "estimate", "low", "high", "probability", "expected_rank", "top_3")
        ]
        assert frame.algorithm[0] == "a"
        assert frame.estimate.is_monotonic_decreasing
        assert frame.estimate.sum() == pytest.approx(1.0)
        assert frame.probability.sum() == pytest.approx(1.0)
        assert frame.expected_rank.sum() == pytest.approx(10.0)
        assert frame.top_3.sum() == pytest.approx(3.0)
        assert (frame.low < frame.estimate).all()
        assert (frame.estimate < frame.high).all()

    def test_rank_probabilities(self):
        found = self.RESULT.rank_probabilities()
        np.testing.assert_allclose(found.sum(axis=0), 1.0)
        np.testing.assert_allclose(found.sum(axis=1), 1.0)
        np.testing.assert_allclose(found[:, 0], self.RESULT.weights.mean(axis=0), atol=0.015)
        np.testing.assert_allclose(found @ np.arange(1, 5), self.RESULT.expected_ranks(), atol=0.03)

    def test_pairs(self):
        frame = self.RESULT.pairs()
        w = self.RESULT.weights
        p = w[:, 0] / (w[:, 0] + w[:, 1])
        row = frame[(frame.better == "a") & (frame.worse == "b")].iloc[0]
        assert row.estimate == pytest.approx(p.mean())
        assert row.probability == pytest.approx((p > 0.5).mean())
        assert len(frame) == 6

    def test_an_earlier_posterior_as_prior(self):
        """A second half after the first is nearly the whole at once."""
        costs = rankings(np.array([5.0, 2.0, 1.0, 1.0]), 60, np.random.default_rng(4))
        first = plackett_luce(costs[:30], draws=20_000)
        both = plackett_luce(costs[30:], prior=first.as_prior(), draws=20_000)
        whole = plackett_luce(costs, draws=20_000)
        np.testing.assert_allclose(both.weights.mean(axis=0), whole.weights.mean(axis=0), atol=0.03)
        np.testing.assert_allclose(both.weights.std(axis=0), whole.weights.std(axis=0), rtol=0.25)

    def test_as_prior_of_a_dirichlet(self):
        alpha = np.array([3.0, 1.0, 2.0])
        tied = plackett_luce([[INF] * 3], prior=alpha, draws=20_000)
        np.testing.assert_allclose(tied.as_prior(), alpha, rtol=0.06)


class TestTiesAndRuns:
    def test_random_ties_have_a_seed(self):
        costs = [[1.0, 1.0, 2.0]] * 9
        one, same, other = (plackett_luce(costs, ties="random", seed=s).weights for s in (1, 1, 2))
        np.testing.assert_array_equal(one, same)
        assert (one != other).any()
        assert plackett_luce(costs, ties="random").ties == "random"

    def test_efron_is_near_the_mean_over_random_orders(self):
        costs = np.random.default_rng(5).integers(0, 4, (30, 4)).astype(float)
        costs[:, 0] -= 0.6
        efron = plackett_luce(costs).weights.mean(axis=0)
        broken = [
            plackett_luce(costs, ties="random", seed=s).weights.mean(axis=0) for s in range(8)
        ]
        np.testing.assert_allclose(efron, np.mean(broken, axis=0), atol=0.04)

    def test_runs_pooled_or_by_median(self):
        runs = np.array([[[1.0, 2.0], [1.0, 2.0], [9.0, 2.0]]] * 4)
        pooled, median = plackett_luce(runs), plackett_luce(runs, runs="median")
        assert (pooled.n_rankings, median.n_rankings) == (12, 4)
        np.testing.assert_array_equal(median.weights, plackett_luce([[1.0, 2.0]] * 4).weights)
        assert (pooled.runs, median.runs) == ("pooled", "median")

    def test_median_of_failures_and_gaps(self):
        runs = np.array([[[1.0, 2.0, NAN], [INF, 2.0, NAN], [INF, NAN, NAN]]])
        result = plackett_luce(runs, runs="median", prior=np.ones(3))
        assert (result.n_absent, result.n_failed) == (1, 1)

    def test_absent_and_failed_differ(self):
        """Who fails has lost to all others; who is absent has not."""
        absent = plackett_luce([[1.0, 2.0, 3.0], [1.0, 2.0, NAN], [2.0, 1.0, NAN]])
        failed = plackett_luce([[1.0, 2.0, 3.0], [1.0, 2.0, INF], [2.0, 1.0, INF]])
        assert (absent.n_absent, failed.n_failed) == (2, 2)
        assert failed.weights[:, 2].mean() < absent.weights[:, 2].mean() - 0.05

    def test_failures_with_maximize(self):
        up = plackett_luce([[3.0, 2.0, -INF]] * 3, maximize=True)
        down = plackett_luce([[-3.0, -2.0, INF]] * 3)
        np.testing.assert_array_equal(up.weights, down.weights)
        assert up.n_failed == 3


def test_by_budget():
    frame = plackett_luce_by_budget(
        {10: [[1.0, 2.0]] * 5, 100: [[2.0, 1.0]] * 5}, names=["quick", "slow"]
    )
    assert frame.columns[0] == "budget"
    best = frame.loc[frame.groupby("budget").estimate.idxmax()]
    assert best.algorithm.tolist() == ["quick", "slow"]
    with pytest.raises(ScoresError, match="no budgets"):
        plackett_luce_by_budget({})


class TestHardInput:
    @pytest.mark.parametrize("costs", [[[1.0] * 4] * 5, [[INF] * 4] * 5, [[2.0] * 4]])
    def test_all_tied_or_all_failed(self, costs):
        frame = plackett_luce(costs).to_frame()
        np.testing.assert_allclose(frame.estimate, 0.25, atol=0.02)
        np.testing.assert_allclose(frame.expected_rank, 2.5, atol=0.06)

    def test_undefeated(self):
        frame = plackett_luce([[0.0, 1.0, 2.0, 3.0]] * 20).to_frame()
        assert frame.algorithm.tolist() == list("0123")
        assert frame.estimate[0] > 0.8

    @pytest.mark.parametrize("alpha", [0.05, 1000.0])
    def test_extreme_priors(self, alpha):
        result = plackett_luce([[1.0, 2.0, 3.0]] * 4, prior=alpha)
        assert np.isfinite(result.weights).all()
        np.testing.assert_allclose(result.weights.sum(axis=1), 1.0)

    @pytest.mark.parametrize(
        ("scores", "message"),
        [
            ([["a", 1.0]], "numbers only"),
            ([[1.0], [2.0]], r"1 algorithm\(s\)"),
            (np.full((3, 2), NAN), "no two algorithms have a result"),
            ([[1.0, 2.0, NAN, NAN], [NAN, NAN, 1.0, 2.0]], "never compared with 0.*: 2, 3"),
        ],
    )
    def test_bad_scores(self, scores, message):
        with pytest.raises(ScoresError, match=message):
            plackett_luce(scores)

    def test_a_prior_for_each_may_compare_what_was_never_compared(self):
        costs = [[1.0, 2.0, NAN], [1.0, 2.0, NAN]]
        result = plackett_luce(costs, prior=[1.0, 1.0, 8.0])
        assert result.weights[:, 2].mean() == pytest.approx(0.8, abs=0.02)

    def test_names(self):
        with pytest.raises(ScoresError, match="names repeat: a"):
            plackett_luce([[1.0, 2.0]], names="aa")

    def test_priors_of_others(self):
        with pytest.raises(SettingError, match=r"prior=.*each of 2"):
            plackett_luce([[1.0, 2.0]], prior=[1.0, 2.0, 3.0])


@pytest.mark.parametrize(("k", "n"), [(8, 300), (100, 30)])
def test_many_items_are_drawn_well(k, n):
    rng = np.random.default_rng(7)
    result = plackett_luce(rankings(np.exp(rng.normal(size=k)), n, rng))
    assert result.posterior.r_hat <= 1.01


def test_permuting_algorithms_permutes_the_answer():
    order = [3, 1, 4, 0, 2]
    straight, moved = plackett_luce(ALL, draws=20_000), plackett_luce(ALL[:, order], draws=20_000)
    np.testing.assert_allclose(
        straight.weights.mean(axis=0)[order], moved.weights.mean(axis=0), atol=0.012
    )
