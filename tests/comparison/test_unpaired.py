"""Comparisons of independent samples: `design="unpaired"`."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from scipy import stats

import racer
from racer.comparison.methods.unpaired import brunner_munzel
from racer.errors import ScoresError, SettingError
from racer.stats import bayesian_kruskal_wallis, holm

METHODS = ("bayesian-kruskal-wallis", "kruskal-wallis")
RNG = np.random.default_rng(2)
SAMPLES = {
    "slow": RNG.normal(2.0, 2.0, 12),
    "fast": RNG.normal(0.0, 0.5, 9),
    "medium": RNG.normal(1.0, 1.0, 15),
}
LONG = pd.DataFrame(
    [(name, value) for name, sample in SAMPLES.items() for value in sample],
    columns=["algorithm", "score"],
)
WIDE = pd.DataFrame({name: pd.Series(sample) for name, sample in SAMPLES.items()})


def unpaired(frame=LONG, method=None, *, maximize=False, **settings):
    return racer.compare(
        frame, method, design="unpaired", goal="max" if maximize else "min", **settings
    )


def test_it_is_the_bayesian_test_of_the_samples():
    found = unpaired()
    result = bayesian_kruskal_wallis(list(SAMPLES.values()))
    assert found.method == "bayesian-kruskal-wallis"
    assert found.ranking["algorithm"].tolist() == ["fast", "medium", "slow"]
    assert found.ranking["relative_effect"].tolist() == sorted(result.effects, reverse=True)
    assert found.ranking["n"].tolist() == [9, 15, 12]
    largest = found.ranking["probability_largest"].tolist()
    assert largest == sorted(result.probability_best, reverse=True)
    assert "P(largest effect)" in found.to_markdown()
    assert "P(best)" not in found.to_markdown()  # which knows the spread of the algorithms
    assert found.ranking["mean"].tolist() == pytest.approx(
        [SAMPLES[name].mean() for name in ("fast", "medium", "slow")]
    )
    assert found.omnibus.probability == result.p_value
    names = list(SAMPLES)
    for row, statement in zip(found.pairs.itertuples(), result.statements, strict=True):
        assert (row.better, row.worse) == (names[statement.better], names[statement.worse])
        assert row.wins == (SAMPLES[row.better][:, None] < SAMPLES[row.worse]).sum()
        assert row.effect_size == pytest.approx(2 * row.estimate - 1)
    decided = found.pairs[found.pairs["decision"] == "better"]
    assert len(decided) == len(result.accepted) > 0


def test_kruskal_and_wallis_then_brunner_and_munzel():
    found = unpaired(method="kruskal-wallis")
    classical = stats.kruskal(*SAMPLES.values())
    assert found.omnibus.statistic == pytest.approx(classical.statistic)
    assert found.omnibus.probability == pytest.approx(classical.pvalue)
    assert found.omnibus.found == f"H(2) = {classical.statistic:.2f}"
    names = list(SAMPLES)
    pairs = [(0, 1), (0, 2), (1, 2)]
    raw = [stats.brunnermunzel(SAMPLES[names[i]], SAMPLES[names[j]]).pvalue for i, j in pairs]
    adjusted = dict(zip(pairs, holm(raw), strict=True))
    for row in found.pairs.itertuples():
        key = tuple(sorted((names.index(row.better), names.index(row.worse))))
        assert row.p_value == pytest.approx(adjusted[key])
        assert row.wins >= row.losses
    assert found.pairs.iloc[0][["better", "decision"]].tolist() == ["fast", "better"]


def test_where_the_classical_test_rejects_nothing_nobody_is_better():
    samples = [[1, 2, 3, 4], [1.5, 2.5, 3.5, 4.5], [10, -10, 9, -9]]
    for method in METHODS:
        found = unpaired(pd.DataFrame(np.transpose(samples)), method)
        assert not found.omnibus.rejected
        assert set(found.pairs["decision"]) == {"undecided"}
        assert "As all may be alike" in found.notes[-1]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # SciPy's, of samples without variance
@pytest.mark.parametrize("seed", range(20))
def test_brunner_and_munzel_of_all_pairs(seed):
    """Of samples that overlap, SciPy's, but at least the chance that they would not."""
    rng = np.random.default_rng(seed)
    samples = [rng.integers(0, rng.integers(2, 12), n).astype(float) for n in rng.integers(2, 9, 6)]
    p_values, won = brunner_munzel(samples)
    for i, j in itertools.permutations(range(6), 2):
        x, y = samples[i], samples[j]
        assert won[i, j] == (x[:, None] < y).sum()
        if max(won[i, j], won[j, i]) < len(x) * len(y) and won[i, j] + won[j, i]:
            least = min(1.0, 2.0 / math.comb(len(x) + len(y), len(x)))
            expected = max(least, stats.brunnermunzel(x, y).pvalue)
            assert p_values[i, j] == pytest.approx(expected)


def test_brunner_and_munzel_of_samples_that_do_not_overlap():
    p_values, won = brunner_munzel([np.arange(3.0), np.arange(3.0) + 3, np.ones(3), np.ones(4)])
    assert p_values[0, 1] == p_values[1, 0] == pytest.approx(2 / 20)
    assert won[0, 1] == 9
    assert p_values[2, 3] == 1.0


def test_large_samples_have_a_p_value():
    """There are more ways to divide 1200 scores than a float can count."""
    x, y = np.random.default_rng(1).normal(size=(2, 600))
    p_values, _ = brunner_munzel([x, y, y + 20.0])
    assert p_values[0, 1] == pytest.approx(stats.brunnermunzel(x, y).pvalue)
    assert p_values[0, 2] == pytest.approx(0.0, abs=1e-300)


def test_the_order_of_columns_does_not_matter():
    """Of these samples another order made another decision, by other draws."""
    rows = [
        [-0.8, 1.6, 0.2, 0.6, 0.0, -1.5, -1.0, -0.9, -0.8, 0.2, 1.4],
        [1.1, 0.6, 1.5, 2.7, 0.1, -2.4, 2.4, -0.5, 0.1, 0.8, 2.4],
        [0.2, 0.1, 0.5, 2.1, 1.8, 0.6, 1.4, 1.8, 1.2, 1.4, -0.4],
    ]
    frame = pd.DataFrame(dict(zip("abc", rows, strict=True)))
    found, other = unpaired(frame), unpaired(frame[["c", "a", "b"]])
    assert other.omnibus == found.omnibus
    assert other.pairs.equals(found.pairs)
    assert other.ranking.equals(found.ranking)


@pytest.mark.parametrize("method", METHODS)
def test_wide_long_and_other_names_are_the_same(method):
    expected = unpaired(method=method).to_dict()
    renamed = LONG.rename(columns={"algorithm": "a", "score": "b"}).assign(c="x", d=range(36))
    assert unpaired(WIDE, method).to_dict() == expected
    assert unpaired(WIDE.reset_index(), method).to_dict() == expected
    found = unpaired(renamed, method, algorithm="a", score="b")
    assert found.to_dict() == expected


@pytest.mark.parametrize("method", METHODS)
def test_larger_is_better(method):
    found = unpaired(-WIDE, method, maximize=True)
    assert found.pairs.equals(unpaired(WIDE, method).pairs)
    assert found.scores["fast"].max() == pytest.approx(-SAMPLES["fast"].min())


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("control", [None, "slow"])
def test_it_is_told_in_every_form(method, control):
    found = unpaired(method=method, control=control)
    assert len(found.pairs) == (3 if control is None else 2)
    facts = "independent samples of 9 to 15 scores"
    for text in (found.prose(), found.to_markdown(), found.to_latex(), found._repr_html_()):
        assert facts in text
        assert "data set" not in text
    assert facts in " ".join(str(found).split())
    assert max(map(len, str(found).splitlines())) <= 80
    assert "r is the effect size" in found.prose()
    assert "matched" not in found.prose()
    assert "kruskal1952" in found.cite() or "brunner2021" in found.cite()
    assert found.matrix().shape == (3, 3)
    for kind in (None, "matrix") if control is None else ():
        FigureCanvasAgg(found.plot(kind).figure).draw()
    assert "Posterior" in found.with_section("matrix").to_markdown() or "p-values" in str(
        found.with_section("matrix")
    )


def test_ties_gaps_and_shared_labels_are_noted():
    frame = pd.DataFrame(
        {
            "solver": ["a"] * 3 + ["b"] * 4,
            "instance": [1, 2, 3, 3, 4, 5, 6],
            "value": [1.0, 2.0, 2.0, 2.0, 1.0 + 1e-12, 3.0, np.nan],
        }
    )
    found = unpaired(frame)
    assert found.n_ties == 3
    assert "3 of 9 comparisons of a score with another algorithm's are ties." in found.notes
    assert "Of 7 scores, 1 are missing." in found.notes
    assert any("'instance' in common" in note for note in found.notes)
    own = unpaired(frame.assign(instance=range(7)))
    assert not any("in common" in note for note in own.notes)


def test_a_wide_table_of_shared_data_sets_is_noted():
    full = WIDE.dropna()
    named = full.assign(problem=[f"p{i}" for i in range(len(full))])
    said = "Algorithms have values of 'problem' in common"
    for frame in (named, named.set_index("problem"), full.set_index(named.index + 3)):
        notes = unpaired(frame.rename_axis(index="problem") if frame is not named else frame).notes
        assert any(said in note for note in notes)
    for frame in (full, full.reset_index(drop=True).rename_axis(index="row")):
        assert not any("in common" in note for note in unpaired(frame).notes)
    alone = pd.DataFrame(
        {"problem": list("abcd"), "x": [1, 2, None, None], "y": [None, None, 3, 4]}
    )
    assert not any("in common" in note for note in unpaired(alone).notes)


def test_the_method_is_chosen_with_its_reason():
    found = unpaired(method="auto")
    assert found.method == "bayesian-kruskal-wallis"
    assert "samples are independent" in found.reason
    assert found.reason in " ".join(str(found).split())


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        (
            {"method": "friedman"},
            SettingError,
            "is not for design='unpaired': choose from bayesian-k",
        ),
        ({"method": "kruskal-wallis", "rope": 0.1}, SettingError, "rope=0.1"),
        ({"posthoc": "conover"}, SettingError, "posthoc"),
        ({"local_rope": "paired"}, SettingError, "local_rope"),
        ({"rope": 0.7}, SettingError, "^rope=0.7"),
        ({"control": "none"}, SettingError, "no such algorithm"),
        ({"frame": WIDE[["slow"]]}, ScoresError, "at least 2 to compare"),
        ({"frame": LONG.iloc[11:]}, ScoresError, "'slow' has 1 score"),
        ({"frame": LONG.assign(other=1.0)}, ScoresError, "name the column of scores"),
        ({"frame": LONG.replace({"algorithm": {"slow": None}})}, ScoresError, "no value in row 0"),
        ({"frame": LONG.astype(str)}, ScoresError, "not a number"),
    ],
)
def test_bad_input(settings, error, words):
    with pytest.raises(error, match=words):
        unpaired(**settings)


def test_what_needs_data_sets_says_so():
    with pytest.raises(SettingError, match="is not for design='paired'"):
        racer.compare(WIDE.dropna(), "kruskal-wallis", goal="min")
    with pytest.raises(SettingError, match="design='both'"):
        racer.compare(WIDE, design="both", goal="min")
    with pytest.raises(ScoresError, match="or compare independent samples, design='unpaired'"):
        racer.compare(LONG, goal="min")
    found = unpaired()
    with pytest.raises(SettingError, match="table of data sets"):
        found.with_section("scores")
    with pytest.raises(SettingError, match="common data sets"):
        found.plot(pair=("slow", "fast"))
