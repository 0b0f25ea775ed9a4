"""The Bayesian Kruskal-Wallis test, against SciPy, brute force and Dirichlet draws."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from racer.errors import ScoresError, SettingError
from racer.stats import bayesian_kruskal_wallis
from racer.stats.kruskal_wallis import permutation_test, read_samples


def samples(*sizes, seed=0, step=0.5, decimals=8):
    rng = np.random.default_rng(seed)
    return [rng.normal(k * step, 1 + k, n).round(decimals) for k, n in enumerate(sizes)]


@pytest.mark.parametrize("decimals", [8, 0])
def test_effects_are_the_mean_ranks_of_kruskal_and_wallis(decimals):
    given = samples(9, 9, 9, decimals=decimals)
    ranks = stats.rankdata(np.concatenate(given)).reshape(3, 9).mean(axis=1)
    found = bayesian_kruskal_wallis(given, draws=100, permutations=99)
    assert found.effects - 0.5 == pytest.approx(((27 + 1) / 2 - ranks) / 27)


@pytest.mark.parametrize("decimals", [8, 0])
def test_two_samples_are_those_of_brunner_and_munzel(decimals):
    x, y = samples(7, 12, decimals=decimals)
    found = bayesian_kruskal_wallis([x, y], draws=100, permutations=99)
    u = stats.mannwhitneyu(y, x).statistic
    assert found.estimate[0, 1] == pytest.approx(u / (7 * 12))
    statistic = stats.brunnermunzel(x, y).statistic
    assert found.statistic * 1.1 == pytest.approx(statistic**2)  # the covariance is shrunk by 1/1.1


def test_the_statistic_is_that_of_placements():
    given = samples(5, 8, 6, decimals=0)
    m, placed = 3, []
    for k, own in enumerate(given):
        rows = np.zeros((len(own), m))
        for j, other in enumerate(given):
            if j != k:
                lower = (other[None] < own[:, None]) + 0.5 * (other[None] == own[:, None])
                rows[:, j] += lower.mean(axis=1) / m
                rows[:, k] += (1 - lower.mean(axis=1)) / m
        placed.append(rows)
    effects = np.array([rows.mean(axis=0)[k] for k, rows in enumerate(placed)]) + 0.5 / m
    covariance = sum(np.cov(rows.T) / len(rows) for rows in placed)
    shrunk = covariance + 0.1 * np.trace(covariance) / (m - 1) * np.eye(m)
    expected = (effects - 0.5) @ np.linalg.solve(shrunk, effects - 0.5)
    found = bayesian_kruskal_wallis(given, draws=100, permutations=99)
    assert found.effects == pytest.approx(effects)
    assert found.statistic == pytest.approx(expected)


@pytest.mark.parametrize("n", [3, 50])
def test_effects_of_separated_samples_are_known_to_half_a_score(n):
    given = np.arange(3.0 * n).reshape(3, n)
    found = bayesian_kruskal_wallis(given.tolist(), draws=100, permutations=99)
    assert found.effects == pytest.approx([5 / 6, 1 / 2, 1 / 6])
    assert found.statistic == pytest.approx((2 / 9) / (0.1 * (0.5 / (3 * n)) ** 2), rel=1e-6)
    given[0, -1], given[1, 0] = given[1, 0], given[0, -1]
    overlapping = bayesian_kruskal_wallis(given.tolist(), draws=100, permutations=99)
    assert overlapping.statistic < found.statistic


def test_the_p_value_is_that_of_all_permutations():
    x, y = np.array([1.0, 2.0, 3.0, 7.0]), np.array([4.0, 5.0, 6.0, 8.0, 9.0])
    pooled = np.concatenate([x, y])
    statistics = []
    for chosen in combinations(range(9), 4):
        mine = np.isin(np.arange(9), chosen)
        split = read_samples([pooled[mine], pooled[~mine]], maximize=False)
        statistics.append(permutation_test(split, 0, 0)[0])
    observed = permutation_test(read_samples([x, y], maximize=False), 0, 0)[0]
    exact = np.mean(np.array(statistics) >= observed * (1 - 1e-9))
    found = bayesian_kruskal_wallis([x, y], draws=100, permutations=20_000)
    assert found.p_value == pytest.approx(exact, abs=0.01)
    assert not found.rejected
    assert found.accepted == ()


def test_the_posterior_is_that_of_dirichlet_weights():
    given = samples(6, 9, 4, decimals=0)
    rng = np.random.default_rng(1)
    weights = [rng.dirichlet(np.ones(len(one)), 20_000) for one in given]
    x, y = given[0][:, None], given[2][None]
    drawn = np.einsum("da,ab,db->d", weights[0], (x < y) + 0.5 * (x == y), weights[2])
    found = bayesian_kruskal_wallis(given)
    low, high = np.quantile(drawn, [0.025, 0.975])
    assert found.pair_low[0, 2] == pytest.approx(low, abs=0.01)
    assert found.pair_low[2, 0] == pytest.approx(1 - high, abs=0.01)
    assert found.in_rope[2, 0] == pytest.approx(np.mean(abs(drawn - 0.5) < 0.05), abs=0.01)
    (statement,) = (s for s in found.statements if {s.better, s.worse} == {0, 2})
    probability = np.mean(drawn > 0.5) if statement.better == 0 else np.mean(drawn < 0.5)
    assert statement.probability == pytest.approx(probability, abs=0.015)
    won = {0: np.sum(x < y), 2: np.sum(x > y)}
    assert (statement.n_better, statement.n_worse) == (won[statement.better], won[statement.worse])
    assert statement.n_ties == np.sum(x == y) > 0


def test_statements_hold_together():
    found = bayesian_kruskal_wallis(samples(20, 20, 20, step=3.0))
    joint = [statement.joint for statement in found.statements]
    assert joint == sorted(joint, reverse=True)
    assert [(s.better, s.worse) for s in found.accepted] == [(0, 2), (0, 1), (1, 2)]
    assert found.probability_best.tolist() == pytest.approx([1, 0, 0], abs=0.02)
    assert joint[-1] >= sum(s.probability for s in found.statements) - 2 - 1e-12  # Bonferroni
    frame = found.to_frame()
    assert frame["accepted"].all()
    assert ((frame["low"] <= frame["estimate"]) & (frame["estimate"] <= frame["high"])).all()


def test_larger_may_be_better_and_units_do_not_matter():
    given = samples(8, 11, 5)
    smaller = bayesian_kruskal_wallis(given, draws=1000)
    larger = bayesian_kruskal_wallis([-np.exp(one) for one in given], draws=1000, maximize=True)
    assert larger.statements == smaller.statements
    assert larger.p_value == smaller.p_value
    turned = bayesian_kruskal_wallis(given, draws=1000, maximize=True)
    assert turned.effects == pytest.approx(1 - smaller.effects)


@pytest.mark.parametrize("decimals", [8, 0])
def test_the_order_of_samples_does_not_matter(decimals):
    """Not in a single figure: draws and permutations go by what is in a sample."""
    given = samples(8, 11, 5, 5, decimals=decimals)
    first = bayesian_kruskal_wallis(given, draws=500, permutations=199)
    names = np.array(first.to_frame()[["better", "worse"]])
    for order in ([3, 2, 1, 0], [1, 3, 0, 2]):
        found = bayesian_kruskal_wallis(
            [given[k][::-1] for k in order], draws=500, permutations=199
        )
        assert (found.p_value, found.statistic) == (first.p_value, first.statistic)
        for name in ("effects", "low", "high", "probability_best", "n_scores"):
            assert np.array_equal(getattr(found, name), np.array(getattr(first, name))[order])
        for name in ("estimate", "pair_low", "in_rope"):
            assert np.array_equal(getattr(found, name), getattr(first, name)[np.ix_(order, order)])
        frame = found.to_frame()
        assert np.array_equal(np.array(order)[np.array(frame[["better", "worse"]])], names)
        for name in ("probability", "joint", "n_better", "n_worse", "n_ties"):
            assert frame[name].tolist() == first.to_frame()[name].tolist()
        by_control = bayesian_kruskal_wallis(
            [given[k] for k in order], draws=500, permutations=199, control=order.index(2)
        )
        pairs = np.array(order)[np.array(by_control.to_frame()[["better", "worse"]])]
        assert np.array_equal(pairs, names[(names == 2).any(axis=1)])


def test_many_scores_have_fewer_permutations(monkeypatch):
    used = []

    def counted(samples, permutations, seed):
        used.append(permutations)
        return 0.0, 1.0

    monkeypatch.setattr("racer.stats.kruskal_wallis.permutation_test", counted)
    for m, n in ((3, 10), (10, 100), (30, 100)):
        bayesian_kruskal_wallis(np.arange(m * n).reshape(m, n).tolist(), draws=100)
    assert used == [9999, 5000, 1999]


def test_equal_effects_share_the_probability_of_the_best_in_any_order():
    """Constant samples of one value have the same effect in each draw, whatever their size."""
    spread = [-1.0, 2.0, 0.5, -0.3, 1.0]
    given = [[0, 0, 0], spread, [0, 0], spread, [0] * 7]
    chances = bayesian_kruskal_wallis(given).probability_best
    assert chances[[0, 2, 4]] == pytest.approx(np.full(3, chances[0]), abs=1e-12)
    for order in ([1, 0, 2, 4, 3], [3, 1, 4, 2, 0]):
        moved = bayesian_kruskal_wallis([given[k] for k in order]).probability_best
        assert moved == pytest.approx(chances[order], abs=0.017)  # 4 standard errors


def test_a_control_has_its_pairs_alone():
    given = samples(8, 11, 5, 6)
    found = bayesian_kruskal_wallis(given, control=2)
    assert len(found.statements) == 3
    assert all(2 in (s.better, s.worse) for s in found.statements)


def test_all_equal_is_no_difference():
    found = bayesian_kruskal_wallis([[1.0] * 4, [1.0] * 6, [1.0 + 1e-12] * 3])
    assert found.p_value == 1.0
    assert found.probability_best == pytest.approx(np.full(3, 1 / 3))
    assert {(s.probability, s.joint) for s in found.statements} == {(0.5, 0.0)}
    assert found.in_rope.min() == 1.0


def test_gaps_are_left_out_and_failures_come_last():
    found = bayesian_kruskal_wallis([[1, 2, np.nan, 3], [2, np.inf, np.inf], [4, 5, np.inf]])
    assert found.n_dropped == 1
    assert found.n_scores == (3, 3, 3)
    assert found.estimate[1, 2] == pytest.approx((3 + 2 * 0.5) / 9)


@pytest.mark.parametrize(
    ("given", "settings", "error", "words"),
    [
        ([[1, 2]], {}, ScoresError, "at least 2, one per candidate"),
        ([[1, 2], [3, np.nan]], {}, ScoresError, r"samples\[1\] has 1 score"),
        ([[1, 2], ["a", "b"]], {}, ScoresError, "numbers only"),
        ([[1, 2], [3, 4]], {"control": 2}, SettingError, "0 to 1"),
        ([[1, 2], [3, 4]], {"permutations": 9}, SettingError, "permutations"),
    ],
)
def test_bad_input(given, settings, error, words):
    with pytest.raises(error, match=words):
        bayesian_kruskal_wallis(given, **settings)


@pytest.mark.thorough
def test_the_level_under_equal_effects_and_unequal_spread():
    rng, rejected, classical = np.random.default_rng(3), 0, 0
    for _ in range(200):
        given = [rng.normal(0, 5, 8), *rng.normal(0, 0.5, (2, 24))]
        rejected += bayesian_kruskal_wallis(given, draws=100, permutations=99).rejected
        classical += stats.kruskal(*given).pvalue <= 0.05
    assert rejected <= 20 < classical  # 10 expected
