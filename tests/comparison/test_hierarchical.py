"""The hierarchical model of folds on data sets, as a method of `racer.compare`."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import racer
from racer.cli.compare import compare_command
from racer.errors import ScoresError, SettingError
from racer.stats import hierarchical_t_test

compare = partial(racer.compare, goal="min")  # of costs

NAMES, SHIFTS = ("a", "b", "c"), (0.0, 0.05, 0.3)


def costs(n=8, folds=5, k=3, seed=2):
    """Return costs (data sets, folds, algorithms); the later, the larger."""
    rng = np.random.default_rng(seed)
    level = rng.normal(size=(n, 1, 1)) + 0.05 * rng.normal(size=(n, 1, k))
    return level + 0.1 * rng.normal(size=(n, folds, k)) + np.array(SHIFTS[:k])


def long(values):
    """Return scores as a long table."""
    rows = [(f"d{i}", f, NAMES[k], value) for (i, f, k), value in np.ndenumerate(values)]
    return pd.DataFrame(rows, columns=["dataset", "fold", "algorithm", "score"])


def test_pairs_have_the_figures_of_the_model():
    values = costs()
    found = compare(long(values), "hierarchical", rope=0.02, correlation=0.1)
    assert found.ranking["algorithm"].tolist()[2] == "c"
    assert found.omnibus is not None
    assert found.omnibus.rejected
    pairs = found.pairs.set_index(["better", "worse"]).sort_index()
    alone = hierarchical_t_test(values[:, :, 0], values[:, :, 2], correlation=0.1, rope=0.02)
    row = pairs.loc[("a", "c")]
    assert (row["estimate"], row["low"], row["high"]) == (alone.estimate, alone.low, alone.high)
    assert (row["probability_worse"], row["in_rope"], row["probability"]) == alone.largest
    assert row["next"] == alone.next_data_set.better
    assert row["decision"] == "better"
    assert found.pairs.iloc[2]["decision"] == "undecided"
    text = " ".join(str(found).split())
    assert "(folds correlated by 0.1)" in text
    assert "give correlation=" not in text
    assert "Corani et al., 2017" in found.prose()


def test_the_one_that_leads_comes_first_whatever_the_order_and_the_direction():
    values = costs(k=2)
    accuracy = long(values[:, :, ::-1] * -1.0)
    found = racer.compare(accuracy, "hierarchical", goal="max")
    row = found.pairs.iloc[0]
    assert (row["better"], row["worse"]) == ("b", "a")
    assert row["low"] < row["estimate"] < row["high"]
    assert row["estimate"] > 0.0
    assert row["probability"] > 0.5
    assert found.omnibus is None
    assert "correlated by 1/5" in " ".join(found.notes)
    advantage = found.ranking.set_index("algorithm")["advantage"]
    assert advantage["b"] == -advantage["a"] == row["estimate"]


@pytest.mark.parametrize(("unit", "power"), [(1e-12, "e-14"), (1e100, "e+98")])
def test_differences_of_any_size_have_four_digits(unit, power):
    found = compare(long(unit * costs(k=2)), "hierarchical")
    text = found.to_markdown()
    for value in found.pairs[["estimate", "low", "high"]].iloc[0]:
        assert f"{value:.3e}" in text
    assert f"{found.ranking['advantage'].iloc[0]:.3e}" in text
    assert power in text


def test_practical_equivalence_is_a_decision():
    found = compare(long(costs(n=20, k=2)), "hierarchical", rope=0.5)
    assert found.pairs["decision"].tolist() == ["equivalent"]
    assert "practically equivalent" in found.prose()


def test_pictures_have_no_difference_in_the_middle():
    pytest.importorskip("matplotlib")
    found = compare(long(costs(k=2)), "hierarchical", rope=0.02)
    ax = found.plot()
    assert 0.0 in [line.get_xdata()[0] for line in ax.lines if len(set(line.get_xdata())) == 1]


def test_the_command_has_the_correlation(tmp_path):
    long(costs(k=2)).to_csv(tmp_path / "scores.csv", index=False)
    arguments = [
        *f"{tmp_path}/scores.csv --minimize --method hierarchical --correlation 0.3".split()
    ]
    result = CliRunner().invoke(compare_command, arguments)
    assert result.exit_code == 0, result.output
    assert "folds correlated by 0.3" in result.output


@pytest.mark.parametrize(
    ("change", "settings", "error", "message"),
    [
        (lambda v: v[:, :1], {}, ScoresError, "needs the scores of folds"),
        (lambda v: np.where(v > 1.0, np.inf, v), {}, ScoresError, "'c' has infinite|'a' has"),
        (lambda v: np.tile(v, (1, 5, 1)), {}, SettingError, "with 25 folds: give correlation="),
        (lambda v: v, {"correlation": 1.0}, SettingError, "correlation=1.0"),
        (lambda v: v, {"posthoc": "nemenyi"}, SettingError, "posthoc"),
        (lambda v: v, {"method": "signed-rank", "correlation": 0.1}, SettingError, "correlation="),
    ],
)
def test_what_it_cannot_use_is_refused(change, settings, error, message):
    with pytest.raises(error, match=message):
        compare(long(change(costs())), **{"method": "hierarchical"} | settings)
