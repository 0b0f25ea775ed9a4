"""F-Race against its formulas, written down a second time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from racer.deciders import FRace

LAWS = settings(max_examples=20, deadline=None, derandomize=True)

seeds = st.integers(0, 2**32 - 1)


def tied_costs(seed, n=15):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(3, 7))
    return (rng.integers(0, 6, size=(n, m)) + np.arange(m) * rng.integers(0, 3)).astype(float)


def conover(costs, alpha):
    """Return who is further than the critical difference behind the best rank sum."""
    ranks = stats.rankdata(costs, axis=1)
    n, k = ranks.shape
    sums, squares = ranks.sum(axis=0), (ranks**2).sum()
    freedom = (n - 1) * (k - 1)
    difference = stats.t.ppf(1 - alpha / 2, freedom) * np.sqrt(
        2 * (n * squares - (sums**2).sum()) / freedom
    )
    return set(np.flatnonzero(sums - sums.min() > difference).tolist())


def who(verdict):
    return {drop.candidate for drop in verdict.dropped}


@LAWS
@given(seeds, st.sampled_from([0.01, 0.05, 0.2]))
def test_who_is_beyond_the_critical_difference_goes(table, seed, alpha):
    costs = tied_costs(seed)
    verdict = table.decide(FRace(alpha=alpha, gate=False), costs)
    assert who(verdict) == conover(costs, alpha)
    assert verdict.evidence == {"gate": "none"}


@LAWS
@given(seeds)
def test_the_gate_is_friedmans_test(table, seed):
    costs = tied_costs(seed)
    expected = stats.friedmanchisquare(*costs.T)
    verdict = table.decide(FRace(gate="friedman"), costs)
    assert verdict.evidence["gate"] == "friedman"
    assert verdict.evidence["statistic"] == pytest.approx(expected.statistic)
    assert verdict.evidence["p_value"] == pytest.approx(expected.pvalue)
    opened = expected.pvalue < 0.05
    assert who(verdict) == (conover(costs, 0.05) if opened else set())


@LAWS
@given(seeds, st.booleans())
def test_the_sign_post_hoc_is_the_binomial_test_of_each_pair(table, seed, gate):
    costs = tied_costs(seed)
    _n, m = costs.shape
    p_values = {}
    for better in range(m):
        for worse in range(m):
            won = int((costs[:, better] < costs[:, worse]).sum())
            lost = int((costs[:, better] > costs[:, worse]).sum())
            if won > lost:
                test = stats.binomtest(won, won + lost, alternative="greater")
                p_values[worse, better] = test.pvalue
    verdict = table.decide(FRace(posthoc="sign", gate=gate and "friedman"), costs)
    opened = not gate or stats.friedmanchisquare(*costs.T).pvalue < 0.05
    assert who(verdict) == {worse for (worse, _), p in p_values.items() if opened and p < 0.05}
    for drop in verdict.dropped:
        assert drop.probability == pytest.approx(p_values[drop.candidate, drop.against])


@LAWS
@given(seeds)
def test_the_mean_rank_post_hoc_is_a_normal_test_of_each_pair(table, seed):
    costs = tied_costs(seed)
    n, m = costs.shape
    mean = stats.rankdata(costs, axis=1).mean(axis=0)
    z = (mean[:, None] - mean[None, :]) / np.sqrt(m * (m + 1) / (6 * n))
    p_values = stats.norm.sf(z)  # row worse than column
    verdict = table.decide(FRace(posthoc="mean-rank", gate=False), costs)
    assert who(verdict) == set(np.flatnonzero((p_values < 0.05).any(axis=1)).tolist())
    for drop in verdict.dropped:
        assert drop.probability == pytest.approx(p_values[drop.candidate, drop.against])


@pytest.mark.parametrize("posthoc", ["conover", "sign", "mean-rank"])
def test_two_candidates_pass_the_gate_of_a_two_sided_sign_test(table, posthoc):
    for won in range(13):
        costs = np.array([[0.0, 1.0]] * won + [[1.0, 0.0]] * (12 - won) + [[2.0, 2.0]] * 3)
        p_value = stats.binomtest(won, 12).pvalue
        verdict = table.decide(FRace(posthoc=posthoc, last_two="sign"), costs)
        assert verdict.evidence["gate"] == "sign"
        assert verdict.evidence["p_value"] == pytest.approx(p_value)
        assert who(verdict) == (set() if p_value >= 0.05 else {1 if won > 6 else 0})
        if posthoc == "conover" and verdict.dropped:
            assert verdict.dropped[0].probability == pytest.approx(p_value)


@pytest.mark.parametrize(
    ("decider", "blocks"),
    [
        (FRace(), 5),
        (FRace(alpha=0.01), 7),
        (FRace(last_two="sign"), 6),
        (FRace(posthoc="sign"), 6),
        (FRace(posthoc="sign", gate=False), 5),
    ],
)
def test_how_many_blocks_one_of_two_must_win(table, decider, blocks):
    result, _ = table.race_over(decider, np.array([[0.0, 1.0]] * 20), first_test=2)
    assert len(result.blocks) == blocks
    assert result.best_index == 0


@pytest.mark.parametrize("posthoc", ["conover", "sign", "mean-rank"])
@LAWS
@given(seed=seeds)
def test_corrections_drop_no_more_than_their_weaker_ones(table, posthoc, seed):
    costs = tied_costs(seed)

    def dropped(correction):
        decider = FRace(posthoc=posthoc, gate=False, correction=correction, alpha=0.1)
        return who(table.decide(decider, costs))

    assert dropped("bonferroni") <= dropped("holm") <= dropped("hochberg") <= dropped(None)
    if posthoc != "conover":
        assert dropped("holm") <= dropped("shaffer") <= dropped(None)


def test_a_correction_counts_all_comparisons_of_a_look(table):
    costs = np.array([[1.0, 2.0, 3.0]] * 5)  # each pair: 0.5**5 = 0.031
    assert who(table.decide(FRace(posthoc="sign"), costs)) == {1, 2}
    assert who(table.decide(FRace(posthoc="sign", correction="holm"), costs)) == set()
    verdict = table.decide(FRace(posthoc="sign", correction="holm", alpha=0.1), costs)
    assert [drop.probability for drop in verdict.dropped] == pytest.approx([3 / 32] * 2)


def test_a_decided_order_has_p_value_zero(table):
    verdict = table.decide(FRace(), [[1.0, 2.0, 3.0]] * 6)
    assert [(d.candidate, d.probability) for d in verdict.dropped] == [(1, 0.0), (2, 0.0)]


@LAWS
@given(seeds)
def test_the_last_two_are_compared_by_the_signed_rank_test_of_their_costs(table, seed):
    rng = np.random.default_rng(seed)
    costs = np.array([0.0, rng.choice([0.0, 0.8])]) + rng.normal(size=(15, 2))
    expected = stats.wilcoxon(*costs.T, method="exact").pvalue
    verdict = table.decide(FRace(), costs)
    wins = (costs[:, 0] < costs[:, 1]).sum()
    if wins in (0, 15):
        expected = 0.5**15
    assert verdict.evidence == {"gate": "signed-rank", "p_value": pytest.approx(expected)}
    worse = int(stats.rankdata(costs, axis=1).mean(axis=0).argmax())
    agree = worse == int(costs[:, 1].sum() > costs[:, 0].sum())
    if expected >= 0.05 or agree:
        assert who(verdict) == (set() if expected >= 0.05 else {worse})


def test_of_the_last_two_the_one_with_the_better_mean_rank_stays(table):
    """More wins, but all of them small: the signed-rank test finds it worse."""
    costs = np.column_stack([np.zeros(15), [0.1] * 8 + [-9.0] * 7])
    verdict = table.decide(FRace(alpha=0.4), costs)
    assert verdict.evidence["p_value"] < 0.4
    assert (verdict.best, verdict.dropped) == (0, ())


def test_a_tie_is_no_block_lost(table):
    costs = np.array([[0.0, 1.0]] * 5 + [[1.0, 1.0]])
    assert table.decide(FRace(), costs[:5]).evidence["p_value"] == 0.5**5
    assert table.decide(FRace(), costs).evidence["p_value"] == 2 * 0.5**5
    assert table.decide(FRace(), np.zeros((6, 2))).evidence["p_value"] == 1.0


def test_failures_lose_by_more_than_any_difference(table):
    costs = np.array([[1.0, 0.0]] * 4 + [[0.0, np.inf]] * 8)
    assert who(table.decide(FRace(), costs)) == {1}
