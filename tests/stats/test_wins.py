import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from racer.errors import ScoresError, SettingError
from racer.stats import WinTable, win_table

LAW = settings(max_examples=20, deadline=None, derandomize=True)
TABLES = arrays(
    float,
    st.tuples(st.integers(1, 8), st.integers(2, 5)),
    elements=st.sampled_from([0.0, 1.0, 2.0, np.nan, np.inf]),
)


@LAW
@given(TABLES)
def test_by_definition(scores):
    table = win_table(scores)
    for i in range(scores.shape[1]):
        for j in range(scores.shape[1]):
            a, b = scores[:, i], scores[:, j]
            assert table.wins[i, j] == sum(a < b)
            assert table.ties[i, j] == (sum(a == b) if i != j else 0)
    assert table.n_missing == np.isnan(scores).sum()


@LAW
@given(TABLES)
def test_maximize_is_negation(scores):
    up, down = win_table(scores, maximize=True), win_table(-scores)
    assert (up.wins == down.wins).all()
    assert (up.ties == down.ties).all()


def test_rounding_ties_and_more_does_not():
    scores = [[0.1 + 0.2, 0.3, 0.3000001]]
    assert win_table(scores).ties[0, 1] == 1
    assert win_table(scores).wins[0, 2] == 1
    assert win_table(scores, tolerance=1e-5).ties.sum() == 6
    assert win_table([[0.0, 1e-300]]).wins[0, 1] == 1


def test_tolerance_is_relative():
    scores = [[1e6, 1e6 + 1.0], [1.0, 2.0]]
    assert win_table(scores, tolerance=1e-5).to_frame().iloc[0].tolist() == ["0", "1", 1, 0, 1]


class TestRuns:
    FOLDS = np.array([[0.547, 0.531], [0.522, 0.538], [0.503, 0.481], [0.527, 0.546]])

    def test_mean_decides(self):
        """Wainer 2023, Table 9: lgbm and xgb on cmc, 0.525 against 0.524."""
        table = win_table(self.FOLDS[None], maximize=True)
        assert (table.wins[0, 1], table.ties[0, 1]) == (1, 0)

    @pytest.mark.parametrize(("threshold", "tied"), [(0.6, 0), (0.65, 1)])
    def test_unpaired_by_hand(self, threshold, tied):
        """Means 2 and 3, variances 1 and 4: d = 1 / sqrt(2.5) = 0.632."""
        runs = np.array([[1.0, 1.0], [2.0, 3.0], [3.0, 5.0]])
        table = win_table(runs[None], local_rope="unpaired", threshold=threshold)
        assert table.ties[0, 1] == tied

    @pytest.mark.parametrize(("threshold", "tied"), [(0.9, 0), (1.1, 1)])
    def test_paired_by_hand(self, threshold, tied):
        """Differences 0, 1, 2: mean 1, standard deviation 1."""
        runs = np.array([[1.0, 1.0], [2.0, 3.0], [3.0, 5.0]])
        table = win_table(runs[None], local_rope="paired", threshold=threshold)
        assert table.ties[0, 1] == tied

    def test_no_noise_no_rope(self):
        runs = np.array([[1.0, 1.1], [1.0, 1.1]])
        for kind in ("paired", "unpaired"):
            assert win_table(runs[None], local_rope=kind).wins[0, 1] == 1

    def test_missing_runs(self):
        runs = np.array([[1.0, np.nan, 2.0], [3.0, np.nan, 2.5], [np.nan, np.nan, 2.5]])
        table = win_table(runs[None])
        assert table.n_missing == 1
        assert (table.wins[0, 2], table.wins[:, 1].sum()) == (1, 0)


class TestPolicies:
    TABLE = WinTable([[0, 6], [13, 0]], [[0, 3], [3, 0]], "ab")

    @pytest.mark.parametrize(
        ("policy", "wins"), [("spread", (8, 15)), ("add", (9, 16)), ("forget", (6, 13))]
    )
    def test_wins(self, policy, wins):
        counted, ties = self.TABLE.counted(policy)
        assert (counted[0, 1], counted[1, 0]) == wins
        assert not ties.any()

    def test_davidson_keeps_ties(self):
        wins, ties = self.TABLE.counted("davidson")
        assert (wins[0, 1], ties[0, 1]) == (6, 3)

    def test_unknown(self):
        with pytest.raises(SettingError, match=r"ties='half'.*'spread'"):
            self.TABLE.counted("half")


class TestBadInput:
    @pytest.mark.parametrize(
        ("scores", "message"),
        [
            ([["a", 1.0]], "scores must hold numbers only"),
            ([[1.0], [2.0]], r"1 algorithm\(s\): give at least 2"),
        ],
    )
    def test_scores(self, scores, message):
        with pytest.raises(ScoresError, match=message):
            win_table(scores)

    @pytest.mark.parametrize(
        ("names", "message"), [("aa", "names repeat: a"), ("abc", "3 names for 2")]
    )
    def test_names(self, names, message):
        with pytest.raises(ScoresError, match=message):
            win_table([[1.0, 2.0]], names=names)

    @pytest.mark.parametrize(
        ("wins", "ties", "message"),
        [
            ([[0, 1]], None, "must both be"),
            ([[0, 0.5], [1, 0]], None, "whole counts"),
            ([[0, -1], [1, 0]], None, "whole counts"),
            ([[1, 1], [1, 0]], None, "none meets itself"),
            ([[0, 1], [1, 0]], [[0, 1], [2, 0]], "symmetric"),
        ],
    )
    def test_counts(self, wins, ties, message):
        with pytest.raises(ScoresError, match=message):
            WinTable(wins, ties)
