"""What each method of `racer.compare` says: the same as racer.stats, and what a law demands."""

from functools import partial

import numpy as np
import pandas as pd
import pytest

import racer
from racer import stats
from racer.comparison import example_scores
from racer.errors import SettingError

compare = partial(racer.compare, goal="min")  # of costs

METHODS = ("bayesian-friedman", "friedman", "signed-rank", "bradley-terry", "plackett-luce")
POSTHOCS = ("wilcoxon-holm", "wilcoxon-hochberg", "wilcoxon-shaffer", "nemenyi", "conover")
NAMES = list("ABCD")


def table(n=24, gap=0.6, seed=0, k=4):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, k)) + gap * np.arange(k)
    return pd.DataFrame(values, columns=NAMES[:k], index=[f"set {i}" for i in range(n)])


def by_pair(comparison, column):
    pairs = comparison.pairs
    return {frozenset(p): v for *p, v in pairs[["better", "worse", column]].to_numpy().tolist()}


class TestAgainstTheStatistics:
    def test_bayesian_friedman(self):
        frame = table()
        found = compare(frame, alpha=0.1, seed=5)
        gate = stats.bayesian_friedman_test(frame, confidence=0.9)
        joint = stats.joint_comparisons(frame, confidence=0.9, seed=5)
        assert gate.rejected
        assert found.omnibus.probability == gate.tail_probability
        order = np.argsort(gate.posterior_mean)
        assert found.ranking["algorithm"].tolist() == [NAMES[i] for i in order]
        said = found.pairs[found.pairs["decision"] == "better"]
        expected = [(NAMES[s.better], NAMES[s.worse]) for s in joint.accepted]
        assert list(zip(said["better"], said["worse"], strict=True)) == expected
        assert 0 < len(expected) < 6
        assert found.pairs["joint"].tolist() == [s.joint for s in joint.statements]

    @pytest.mark.parametrize("posthoc", POSTHOCS)
    def test_friedman(self, posthoc):
        frame = table(gap=0.4)
        found = compare(frame, "friedman", posthoc=posthoc)
        test = stats.friedman_test(frame)
        assert found.omnibus.probability == test.f_p_value < 0.05
        first, second = np.triu_indices(4, 1)
        if posthoc == "conover":
            expected = stats.conover_posthoc(frame, correction="holm").p_values[first, second]
        elif posthoc == "nemenyi":
            distance = np.abs(test.mean_ranks[first] - test.mean_ranks[second])
            p = by_pair(found, "p_value")
            for alpha in (0.01, 0.05, 0.2):
                cd = stats.nemenyi_critical_difference(4, 24, alpha=alpha)
                for i, j, d in zip(first, second, distance, strict=True):
                    assert (p[frozenset((NAMES[i], NAMES[j]))] <= alpha) == (d >= cd)
            return
        else:
            plain = [
                stats.signed_rank_test(frame.iloc[:, i], frame.iloc[:, j]).p_value
                for i, j in zip(first, second, strict=True)
            ]
            correct = {
                "wilcoxon-holm": stats.holm,
                "wilcoxon-hochberg": stats.hochberg,
                "wilcoxon-shaffer": lambda p: stats.shaffer(p, 4),
            }
            expected = correct[posthoc](plain)
        p = by_pair(found, "p_value")
        for i, j, value in zip(first, second, expected, strict=True):
            assert p[frozenset((NAMES[i], NAMES[j]))] == pytest.approx(value, rel=1e-12)
        better = found.pairs["decision"] == "better"
        assert (better == (found.pairs["p_value"] <= 0.05)).all()
        assert better.any()

    def test_signed_rank(self):
        frame = table(k=2)
        found = compare(frame, "signed-rank", rope=0.3, seed=2).pairs.iloc[0]
        result = stats.bayesian_signed_rank_test(frame["A"], frame["B"], rope=0.3, seed=2)
        assert found["better"] == "A"
        assert found["probability"] == result.better
        assert found["in_rope"] == result.indistinguishable
        assert found["lower"] == result.least[2] <= result.better
        assert found["upper"] == result.most[2] >= result.better
        plain = compare(frame, "signed-rank", seed=2).pairs.iloc[0]
        result = stats.bayesian_signed_rank_test(frame["A"], frame["B"], seed=2)
        assert (plain["lower"], plain["upper"]) == (result.lower, result.upper)
        assert plain["lower"] <= plain["probability"] <= plain["upper"]
        turned = compare(frame[["B", "A"]], "signed-rank", rope=0.3, seed=2).pairs.iloc[0]
        columns = ["estimate", "low", "high", "probability", "probability_worse", "lower"]
        np.testing.assert_allclose(
            turned[columns].astype(float), found[columns].astype(float), atol=1e-6
        )

    def test_bradley_terry(self):
        frame = table()
        found = compare(frame, "bradley-terry", seed=3)
        result = stats.bradley_terry(stats.win_table(frame.to_numpy(), names=NAMES), seed=3)
        assert found.ranking["algorithm"].tolist() == list(result.ranking)
        columns = ["better", "worse", "estimate", "low", "high", "probability", "in_rope"]
        pd.testing.assert_frame_equal(found.pairs[columns], result.to_frame()[columns])

    def test_plackett_luce(self):
        frame = table()
        found = compare(frame, "plackett-luce", rope=0.1, seed=3)
        result = stats.plackett_luce(frame.to_numpy(), names=NAMES, seed=3)
        columns = ["better", "worse", "estimate", "low", "high", "probability", "in_rope"]
        pd.testing.assert_frame_equal(found.pairs[columns], result.pairs(rope=(0.4, 0.6))[columns])


class TestLaws:
    def test_statements_that_tie_have_one_joint_probability(self):
        """In the order of the rows, one of them stood first, with the probability of it alone."""
        costs = {
            "A": [1] * 12,
            "B": [0] * 3 + [2] * 3 + [2, 3] * 3,
            "C": [2] * 3 + [0] * 3 + [3, 2] * 3,
            "D": [9] * 12,
        }
        pairs = compare(pd.DataFrame(costs)).pairs
        tied = pairs[pairs["better"].eq("A") & pairs["worse"].isin(["B", "C"])]
        assert tied["probability"].nunique() == tied["joint"].nunique() == 1
        assert tied["joint"].iloc[0] < tied["probability"].iloc[0] - 0.02
        assert pairs["joint"].is_monotonic_decreasing

    @pytest.mark.parametrize("method", METHODS)
    def test_turning_scores_round_changes_nothing(self, method):
        frame = table(12)
        first = compare(frame, method)
        second = racer.compare(-frame, method, goal="max")
        pd.testing.assert_frame_equal(first.pairs, second.pairs)
        turned = second.ranking.assign(mean=-second.ranking["mean"])
        pd.testing.assert_frame_equal(first.ranking, turned)
        assert first.maximize != second.maximize

    @pytest.mark.parametrize("method", METHODS)
    def test_the_order_of_the_data_sets_changes_no_decision(self, method):
        frame = table(30, gap=1.0)
        first = by_pair(compare(frame, method), "decision")
        second = by_pair(compare(frame.sample(frac=1, random_state=1), method), "decision")
        assert first == second

    @pytest.mark.parametrize("method", METHODS)
    def test_one_that_is_far_better_is_found(self, method):
        frame = table(30, gap=0.0)
        frame["C"] -= 5.0
        found = compare(frame, method)
        assert found.ranking["algorithm"].iloc[0] == "C"
        won = found.pairs[found.pairs["decision"] == "better"]
        assert set(won["worse"][won["better"] == "C"]) == set("ABD")

    @pytest.mark.parametrize("method", METHODS)
    def test_wins_losses_and_ties_are_counted(self, method):
        frame = table().round(0)
        for row in compare(frame, method).pairs.itertuples():
            a, b = frame[row.better], frame[row.worse]
            assert (row.wins, row.losses, row.ties) == (
                (a < b).sum(),
                (a > b).sum(),
                (a == b).sum(),
            )


class TestControl:
    @pytest.mark.parametrize("method", METHODS)
    def test_only_pairs_with_the_control(self, method):
        found = compare(table(), method, control="B")
        assert len(found.pairs) == 3
        assert all(
            "B" in pair for pair in zip(found.pairs["better"], found.pairs["worse"], strict=True)
        )
        assert sorted(found.ranking["algorithm"]) == NAMES

    def test_fewer_tests_need_less_correction(self):
        frame = table(gap=0.3)
        few = by_pair(compare(frame, "friedman", control="A"), "p_value")
        all_pairs = by_pair(compare(frame, "friedman"), "p_value")
        assert all(few[pair] <= all_pairs[pair] for pair in few)
        assert any(few[pair] < all_pairs[pair] for pair in few)

    def test_fewer_statements_hold_together_more_easily(self):
        frame = table(gap=0.3)
        few, every = (compare(frame, control=c).pairs for c in ("A", None))
        assert few["joint"].iloc[-1] > every["joint"].iloc[-1]

    @pytest.mark.parametrize("posthoc", ["nemenyi", "wilcoxon-shaffer"])
    def test_procedures_for_all_pairs_refuse_one(self, posthoc):
        with pytest.raises(SettingError, match="with a control choose 'wilcoxon-holm'"):
            compare(table(), "friedman", posthoc=posthoc, control="A")


class TestGates:
    @pytest.mark.parametrize("method", ["friedman", "bayesian-friedman"])
    def test_nothing_is_claimed_when_all_may_be_alike(self, method):
        found = [compare(table(10, 0.0, seed), method) for seed in range(20)]
        closed = [c for c in found if not c.omnibus.rejected]
        assert len(closed) > 10
        for comparison in closed:
            assert (comparison.pairs["decision"] != "better").all()
            assert any("all may be alike" in note for note in comparison.notes)

    def test_two_algorithms_need_no_gate(self):
        frame = table(30, gap=0.7, k=2, seed=3)
        found = compare(frame, "friedman")
        p = stats.signed_rank_test(frame["A"], frame["B"]).p_value
        assert found.pairs["p_value"].tolist() == [p]
        assert (found.pairs["decision"].iloc[0] == "better") == (p <= 0.05)


class TestRope:
    @pytest.mark.parametrize("method", ["bayesian-friedman", "bradley-terry", "plackett-luce"])
    def test_equals_are_equivalent_given_enough_data_sets(self, method):
        frame = table(400, gap=0.0, k=2)
        assert compare(frame, method, rope=0.15).pairs["decision"].iloc[0] == "equivalent"
        assert compare(frame, method, rope=0.0).pairs["decision"].iloc[0] != "equivalent"

    def test_a_rope_in_units_of_the_scores(self):
        frame = pd.DataFrame({"A": np.linspace(0, 1, 30)})
        frame["B"] = frame["A"] + 0.01 * np.where(np.arange(30) % 3, 1, -1)
        found = compare(frame, "signed-rank", rope=0.05).pairs.iloc[0]
        assert found["decision"] == "equivalent"

    @pytest.mark.parametrize("n", [1, 2, 4])
    def test_few_ties_do_not_prove_equality(self, n):
        frame = pd.DataFrame(np.ones((n, 3)), columns=list("ABC"))
        for method in METHODS:
            rope = {} if method == "friedman" else {"rope": 0.05}
            assert "equivalent" not in set(compare(frame, method, **rope).pairs["decision"])

    def test_what_the_prior_would_decide_is_indeterminate(self):
        frame = pd.DataFrame({"A": [1.0, 2.0, 3.0], "B": [2.0, 3.0, 4.5]})
        found = compare(frame, "signed-rank")
        assert found.pairs["probability"].iloc[0] > 0.95 > found.pairs["lower"].iloc[0]
        assert found.pairs["decision"].tolist() == ["indeterminate"]
        assert "1 pair would be decided by the prior." in found.notes

    def test_what_only_a_favourable_prior_would_decide_is_indeterminate_too(self):
        frame = pd.DataFrame({"A": [1.0, 2.0, 3.0, 4.0, 5.0], "B": [2.0, 3.1, 4.4, 2.95, 5.6]})
        found = compare(frame, "signed-rank").pairs.iloc[0]
        assert found["lower"] < found["probability"] < 0.95 < found["upper"]
        assert (found["decision"], found["depends_on"]) == ("indeterminate", "prior")


class TestGapsAndFolds:
    def test_gaps_are_counted_and_told(self):
        frame = table(12)
        frame.iloc[0, 0] = frame.iloc[3, 2] = np.nan
        for method in METHODS:
            found = compare(frame, method)
            assert found.n_missing == 2
            assert "2 of 48 scores are missing." in found.notes
        dropped = (
            "2 data sets with missing scores were left out; the ranking rests on the other 10."
        )
        assert dropped in compare(frame).notes
        assert dropped in compare(frame, "friedman").notes
        row = compare(frame, "signed-rank").pairs.iloc[0]
        assert row["wins"] + row["losses"] + row["ties"] <= 12

    def test_bayesian_friedman_is_that_of_the_complete_data_sets(self):
        frame = table(12)
        gaps = pd.concat([frame, table(3, seed=9).assign(A=np.nan)])
        gaps.index = range(15)
        first, second = compare(frame.reset_index(drop=True)), compare(gaps)
        pd.testing.assert_frame_equal(first.pairs, second.pairs)

    def test_counts_are_those_of_what_the_model_ranks(self):
        values = {"a": [0, 0, 10], "b": [1, 1, 1]}
        rows = [
            (d, name, f, v) for d in range(4) for name in values for f, v in enumerate(values[name])
        ]
        long = pd.DataFrame(rows, columns=["data_set", "algorithm", "fold", "score"])
        (pair,) = compare(long, "plackett-luce").pairs.to_dict("records")
        assert (pair["better"], pair["wins"], pair["losses"], pair["ties"]) == ("a", 4, 0, 0)
        (pair,) = compare(long, "bradley-terry").pairs.to_dict("records")
        assert (pair["better"], pair["wins"], pair["losses"], pair["ties"]) == ("b", 4, 0, 0)

    def test_folds_are_averaged(self):
        rng = np.random.default_rng(1)
        runs = rng.normal(size=(10, 5, 3)) + np.arange(3)
        rows = [(f"d{d}", f, "ABC"[a], runs[d, f, a]) for d, f, a in np.ndindex(10, 5, 3)]
        long = pd.DataFrame(rows, columns=["data_set", "fold", "algorithm", "score"])
        averages = pd.DataFrame(runs.mean(axis=1), columns=list("ABC"))
        for method in ("bayesian-friedman", "friedman", "signed-rank", "bradley-terry"):
            pd.testing.assert_frame_equal(
                compare(long, method).pairs, compare(averages, method).pairs
            )
        medians = compare(
            pd.DataFrame(np.median(runs, axis=1), columns=list("ABC")), "plackett-luce"
        )
        found = compare(long, "plackett-luce")
        pd.testing.assert_frame_equal(found.pairs, medians.pairs)
        assert found.n_folds == 5
        assert found.notes[0] == "Scores are medians over up to 5 folds."

        local = compare(long, "bradley-terry", local_rope="paired")
        wins = stats.win_table(runs, names="ABC", local_rope="paired")
        ties = {
            frozenset((a, b)): int(wins.ties["ABC".index(a), "ABC".index(b)])
            for a, b in ("AB", "AC", "BC")
        }
        assert by_pair(local, "ties") == ties
        n_ties = sum(ties.values())
        assert n_ties > 0
        assert local.n_ties == local.to_dict()["n_ties"] == n_ties
        counted = f"{n_ties} of 30 comparisons of two algorithms on a data set are ties."
        assert counted in local.notes
        of_a = compare(long, "bradley-terry", local_rope="paired", control="A")
        assert of_a.n_ties == n_ties  # of all pairs, as without a local rope
        assert by_pair(local, "effect_size") == by_pair(
            compare(averages, "bradley-terry"), "effect_size"
        )


class TestAuto:
    def choose(self, frame):
        comparison = compare(frame, "auto")
        assert comparison.reason
        assert comparison.explained[0] == comparison.reason
        return comparison.method

    def test_it_looks_at_the_data_and_says_why(self):
        gaps, failed = table(9), table(9)
        gaps.iloc[2, 1], failed.iloc[2, 1] = np.nan, np.inf
        assert self.choose(table(9)) == "bayesian-friedman"
        assert self.choose(table(9, k=2)) == "signed-rank"
        assert self.choose(gaps) == "bradley-terry"
        assert self.choose(failed) == "plackett-luce"

    def test_a_fold_that_failed_is_no_failure_of_the_median(self):
        folds = [table(9, seed=seed).assign(fold=seed) for seed in range(3)]
        runs = pd.concat([frame.rename_axis("data_set").reset_index() for frame in folds])
        runs.iloc[2, runs.columns.get_loc("B")] = np.inf
        comparison = compare(runs, "auto")
        assert comparison.method == "plackett-luce"
        assert "1 of 36 results have a fold that failed" in comparison.reason
        assert np.isfinite(comparison.scores.to_numpy()).all()

    def test_a_method_named_has_no_reason(self):
        assert compare(table(9)).reason == ""


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"method": "t-test"}, "method='t-test': choose 'auto', 'bayesian-friedman'"),
        ({"control": "Z"}, "control='Z': no such algorithm; there are A, B, C, D"),
        ({"rope": 0.7}, "^rope=0.7: give the half-width"),
        ({"method": "auto", "rope": 0.1}, "name the method"),
        ({"method": "bradley-terry", "rope": 0.5}, "rope=0.5"),
        ({"method": "friedman", "rope": 0.1}, 'rope=0.1 needs method="bayesian-friedman"'),
        ({"method": "friedman", "posthoc": "tukey"}, "posthoc='tukey': choose from wilcoxon-holm"),
        ({"posthoc": "nemenyi"}, "posthoc='nemenyi' needs method=\"friedman\""),
        ({"method": "signed-rank", "local_rope": "paired"}, "local_rope='paired' needs"),
        ({"method": "bradley-terry", "local_rope": "both"}, "local_rope='both'"),
    ],
)
def test_settings_that_cannot_work(settings, message):
    with pytest.raises(SettingError, match=message):
        compare(table(6), **settings)


@pytest.mark.parametrize("exponent", [1020, -1060])
def test_standard_deviations_of_very_large_and_very_small_scores(exponent):
    scores = np.array([[1.0, 3.0], [2.0, 1.0], [3.0, 8.0], [2.0, 4.0]])
    given = np.ldexp(scores, exponent)
    frame = compare(given, "friedman").ranking.set_index("algorithm")
    expected = np.ldexp(scores.std(axis=0, ddof=1), exponent)
    assert frame.loc[["0", "1"], "sd"].tolist() == pytest.approx(expected.tolist(), rel=1e-4, abs=0)


@pytest.mark.parametrize(
    ("method", "decisions", "better"),
    [
        ("bradley-terry", "gated", 3),
        ("bradley-terry", "published", 7),
        ("bradley-terry", "strong", 5),
        ("plackett-luce", "published", 6),
    ],
)
def test_decisions_as_published(method, decisions, better):
    """Wainer (2023), sections 9.2 and 9.3, on his own example."""
    found = racer.compare(example_scores(), method, goal="max", decisions=decisions)
    columns = ["estimate", "probability", "in_rope", "decision"]
    for estimate, probability, in_rope, decision in found.pairs[columns].to_numpy().tolist():
        if decisions == "strong":
            expected = "equivalent" if estimate < 0.55 else "better" if estimate > 0.7 else None
        else:
            expected = (
                "equivalent" if in_rope >= 0.95 else "better" if probability >= 0.95 else None
            )
        assert decision == (expected or "undecided") or decisions == "gated"
    assert (found.pairs["decision"] == "better").sum() == better
    if decisions != "gated":
        assert found.omnibus is None
        section = "9.3" if decisions == "strong" else "9.2"
        for text in (found.prose(), found.to_latex(), str(found)):
            assert f"(Wainer 2023, section {section})" in " ".join(text.split())
        assert "wainer2023" in found.references
        assert found.to_dict()["decisions"] == decisions
    assert ("equivalent a posterior mean below 0.55" in found.prose()) == (decisions == "strong")


@pytest.mark.parametrize(
    ("method", "decisions"),
    [("friedman", "published"), ("plackett-luce", "strong"), ("bradley-terry", "weak")],
)
def test_decisions_that_a_method_does_not_have(method, decisions):
    with pytest.raises(SettingError, match=r'decisions=."?.*(needs method=|choose)'):
        racer.compare(example_scores(), method, goal="max", decisions=decisions)


def test_many_weights_are_drawn_less_often_and_that_is_said(monkeypatch):
    scores = np.random.default_rng(1).normal([0.0, 0.3, 0.9], size=(20, 3))
    whole = racer.compare(scores, "signed-rank", goal="min")
    monkeypatch.setattr("racer.comparison.methods.signed_rank._WEIGHTS", 5e5)
    part = racer.compare(scores, "signed-rank", goal="min")
    assert "8333 draws" in str(part)
    assert "draws" not in str(whole)
    assert np.allclose(part.pairs["probability"], whole.pairs["probability"], atol=0.02)
