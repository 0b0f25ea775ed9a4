"""A comparison told to others: tables, prose, references, JSON, pictures."""

import io
import json
import re
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import racer
from racer import stats
from racer.comparison import example_scores
from racer.comparison.render import cite
from racer.comparison.render.tables import figures, letters, shown
from racer.errors import SettingError
from racer.render.markup import escape_latex, latex_table, markdown
from racer.render.sections import Grid

compare = partial(racer.compare, goal="min")  # of costs

ROOT = Path(__file__).parents[2]
METHODS = ("bayesian-friedman", "friedman", "signed-rank", "bradley-terry", "plackett-luce")


def scores(n=20, k=4, seed=0):
    values = np.random.default_rng(seed).normal(size=(n, k)) + 0.7 * np.arange(k)
    return pd.DataFrame(values, columns=[f"alg_{c}" for c in "abcdefghijklmnop"[:k]])


@pytest.fixture(scope="module", params=METHODS)
def comparison(request):
    return compare(scores(), request.param)


def test_text_has_all_algorithms_pairs_and_notes(comparison):
    text = str(comparison)
    flat = " ".join(text.split())
    assert comparison.title in flat
    for row in comparison.pairs.itertuples():
        pattern = rf"^\s+{row.better}\s+{row.worse}\s.*{row.decision}$"
        assert re.search(pattern, text, re.MULTILINE)
    assert len(comparison.pairs) == 6
    assert comparison.meaning in flat


def test_a_sentence_tells_that_another_than_the_first_has_the_largest_probability():
    found = racer.compare(example_scores(), "bradley-terry", goal="max")
    assert found.ranking["algorithm"].tolist()[:2] == ["lgbm", "xgb"]
    assert found.ranking["probability_best"].idxmax() == 1
    said = f"its order is another: xgb comes first ({found.ranking['probability_best'].max():.2f})."
    for text in (str(found), found.to_markdown(), found.to_latex(), found._repr_html_()):
        assert " ".join(text.split()).count(said) == 1
    assert "P(best)" not in found.prose()  # which names no P(best)


def test_there_is_no_such_sentence_where_the_first_has_it_as_far_as_shown():
    same = np.arange(6.0)[:, None] + np.zeros(3)
    for costs in (same, same + np.arange(3.0)):
        assert "its order is another" not in str(compare(costs, "friedman"))


def test_markdown(comparison):
    text = comparison.to_markdown()
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) == (2 + 4) + (2 + 6)
    assert "4 algorithms on 20 data sets; smaller is better" in text
    assert ("The hypothesis that all perform alike is rejected" in text) == (
        comparison.omnibus is not None
    )
    assert "better: " in text
    assert r"alg\_a" in text
    for block in (rows[:6], rows[6:]):
        assert len({line.count("|") for line in block}) == 1


def test_latex(comparison):
    text = comparison.to_latex()
    for environment in ("table", "tabular"):
        assert text.count(rf"\begin{{{environment}}}") == text.count(rf"\end{{{environment}}}") == 2
    assert r"alg\_a" in text
    assert "4 algorithms on 20 data sets; smaller is better" in text
    assert not re.search(r"(?<!\\)[_#%]", text)
    assert max(line.count(" & ") for line in text.splitlines()) <= 8  # the rarest have no room
    for body in re.findall(r"\\midrule\n(.*?)\n\\bottomrule", text, re.DOTALL):
        columns = {line.count(" & ") for line in body.splitlines()}
        assert len(columns) == 1
        assert all(line.endswith(r" \\") for line in body.splitlines())


def test_a_paper_in_a_folder_can_be_compiled(comparison, tmp_path):
    comparison.report(tmp_path / "paper")
    written = {one.name: one.read_bytes() for one in (tmp_path / "paper").iterdir()}
    texts = ["paragraph.tex", "paragraph.txt"]
    for name, names in zip(texts, (r"alg\_a", "alg_a"), strict=True):
        assert names in written[name].decode()
    assert [*sorted(written)] == ["figure.pdf", *texts, "refs.bib", "table.tex"]
    comparison.report(f"{tmp_path}/paper/")
    assert written["figure.pdf"] == (tmp_path / "paper" / "figure.pdf").read_bytes()
    packages, _, table = written["table.tex"].decode().partition("\n")
    assert packages == r"% \usepackage{booktabs,graphicx}"
    assert table.rstrip() == comparison.to_latex().rstrip()


def test_prose_has_the_facts(comparison):
    text = comparison.prose()
    assert text.startswith("4 algorithms were compared on 20 data sets by the ")
    order = ", ".join(comparison.ranking["algorithm"])
    assert order in text
    assert f"Better means {comparison.meaning}." in text
    assert "equivalent" not in text  # no pair is
    assert len(text.split()) < 130
    for key in comparison.references:
        assert cite.references()[key].called in text
    if comparison.omnibus is not None:
        assert "was rejected at level 0.05" in text
    assert racer.__version__ in text
    assert "seed 0" in text
    assert text.count("(") == text.count(")")


def test_references_are_bibtex(comparison):
    text = comparison.cite()
    keys = re.findall(r"^@\w+{(\w+),$", text, re.MULTILINE)
    assert keys == [*comparison.references, "racer"]
    assert text.count("{") == text.count("}")


def test_every_reference_has_author_title_and_year():
    known = dict(cite.references())
    own, facts = (
        known.pop("racer").entry.replace("{", ""),
        (ROOT / "CITATION.cff").read_text("utf-8"),
    )
    for name in ("abstract", "  - name", "version"):
        assert re.search(rf"^{name}: (.*?)\.?$", facts, re.MULTILINE)[1] in own.replace("}", "")
    assert len(known) == 22
    for key, (called, entry) in known.items():
        fields = dict(re.findall(r"^  (\w+) = {(.*)},$", entry, re.MULTILINE))
        assert {"author", "title", "year"} <= set(fields)
        assert fields["year"] in key
        assert fields["year"] in called
    with pytest.raises(SettingError, match="no reference 'nobody1900'"):
        cite.bibtex(["nobody1900"])


def test_json(comparison):
    loaded = json.loads(json.dumps(comparison.to_dict(), allow_nan=False))
    assert loaded["method"] == comparison.method
    assert loaded["pairs"][0]["better"] == comparison.pairs["better"].iloc[0]
    assert len(loaded["ranking"]) == 4
    assert "details" not in loaded


def test_what_is_not_finite_is_null_in_json():
    alike = pd.DataFrame([[1, 2, 3]] * 6, columns=list("abc"))
    comparison = compare(alike, "friedman")
    assert comparison.omnibus.statistic == np.inf
    assert comparison.to_dict()["omnibus"]["statistic"] is None


def test_the_frame_is_a_copy(comparison):
    frame = comparison.to_frame()
    frame["better"] = "changed"
    assert "changed" not in set(comparison.pairs["better"])


def test_it_shows_itself(comparison):
    assert repr(comparison) == str(comparison)
    markup = comparison._repr_html_()
    assert markup.count("<table>") == str(comparison).count("─\n")


def test_numbers_as_shown():
    assert [shown(v, "p_value") for v in (0.0, 1e-9, 0.0004, 0.04999, 1.0)] == [
        *("<0.001", "<0.001", "<0.001", "0.050", "1.000")
    ]
    assert [shown(v, "probability") for v in (0.9999, 1.0, 0.0)] == [">0.999", ">0.999", "<0.001"]
    assert shown(0.0, "strength") == "0.000"
    assert shown(12, "wins") == "12"


def test_tables_of_text():
    assert markdown(["a", "b"], [["1", "long"]]) == "| a | b    |\n|---|------|\n| 1 | long |"
    assert escape_latex(r"50% of a_b & <c\d>") == (r"50\% of a\_b \& $<$c\textbackslash{}d$>$")
    assert r"\caption{a\_b}" in latex_table(Grid.of(["x"], [["1"]]), "a_b")


def test_tables_fit_a_terminal(comparison):
    assert max(len(line) for line in _tables(comparison)) <= 80
    assert "…" not in str(comparison)


def test_long_names_are_folded_and_wide_tables_lose_no_figure():
    frame = scores(k=8).rename(columns=lambda name: f"a_long_name_{name}_that_goes_on_and_on")
    comparison = compare(frame).with_section("matrix").with_section("scores")
    assert max(len(line) for line in _tables(comparison)) <= 80
    text = str(comparison)
    assert "…" not in text
    assert all(f"{value:.3f}" in text for value in comparison.scores.iloc[0])


def _tables(comparison):
    """The lines of the tables: those of text begin at the left."""
    return [line for line in str(comparison).splitlines() if line.startswith(" ")]


def test_what_has_no_room_is_said():
    text = str(compare(scores()))
    assert "(no room for interval: see `pairs`)" in text
    assert re.search(r"^ better +worse +/tied +size +estimate", text, re.MULTILINE)


def test_figures_have_the_decimals_that_they_need():
    assert figures([0.5, 0.25, 12.0]) == ["0.50", "0.25", "12.00"]
    assert figures([0.5], among=[0.125]) == ["0.500"]
    assert figures([1 / 3, 2 / 3]) == ["0.3333", "0.6667"]
    assert figures([12345.678, 2.0]) == ["12346", "2"]
    assert figures([1e-9, np.inf, np.nan]) == ["1.000e-09", "inf", "-"]
    assert figures([3.0, 4.0]) == ["3", "4"]
    assert figures([]) == []


def test_means_and_standard_deviations(comparison):
    frame = scores()
    ranking = comparison.ranking.set_index("algorithm")
    np.testing.assert_allclose(ranking["mean"][frame.columns], frame.mean())
    np.testing.assert_allclose(ranking["sd"][frame.columns], frame.std())
    assert "n" not in ranking


@pytest.mark.parametrize("method", METHODS)
def test_where_scores_are_missing_the_ranking_says_how_many_there_are(method):
    frame = scores()
    frame.iloc[3, 1] = frame.iloc[5, 1] = np.nan
    comparison = compare(frame, method)
    n = comparison.ranking.set_index("algorithm")["n"]
    assert n.to_dict() == frame.count().to_dict()
    assert max(map(len, str(comparison).splitlines())) <= 80
    assert " n " in str(comparison)


def test_effect_sizes_are_on_the_data_sets_of_both(comparison):
    frame = scores()
    for row in comparison.pairs.itertuples():
        assert row.effect_size == stats.rank_biserial(frame[row.better], frame[row.worse])


def test_the_example_is_the_published_table():
    published = ROOT / "experiments" / "wainer2023" / "data" / "table2_accuracy.csv"
    pd.testing.assert_frame_equal(example_scores(), pd.read_csv(published))


def test_the_degrees_of_freedom_are_told():
    assert "F(3, 57) = " in compare(scores(), "friedman").prose()
    comparison = compare(scores())
    assert "F(3, 17) = " in comparison.prose()
    assert "F(3, 17) = " in " ".join(str(comparison).split())


def test_latex_tables_have_labels_of_their_own(comparison):
    more = comparison.with_section("scores").with_section("matrix")
    labels = re.findall(r"\\label{(.*)}", more.to_latex())
    assert len(labels) == len(set(labels)) == 4
    assert labels[1:3] == ["tab:pairs-of-algorithms", "tab:scores"]


class TestTheScores:
    frame = pd.DataFrame(
        {"a": [1.0, 2.0, np.nan], "b": [2.0, 2.0 + 1e-12, 5.0]}, index=["x", "y", "z"]
    )

    def test_the_best_is_marked_and_mean_ranks_come_last(self):
        more = compare(self.frame, "bradley-terry").with_section("scores")
        assert str(more).endswith(
            "Scores\n\n"
            " data set       a      b\n"
            " ────────────────────────\n"
            " x             1*      2\n"
            " y             2*     2*\n"
            " z              -     5*\n"
            " mean rank  1.25*   1.75\n\n"
            "- *: the best of its row.\n"
            "- Mean ranks over the 2 complete data sets."
        )
        assert "| mean rank | **1.25** | 1.75  |" in more.to_markdown()
        assert r"y & \textbf{2} & \textbf{2} \\" in more.to_latex()
        assert "- In bold: the best of its row." in more.to_markdown()

    def test_larger_can_be_better(self):
        more = racer.compare(self.frame, "bradley-terry", goal="max").with_section("scores")
        assert re.search(r"^ x +2\* +1$", str(more), re.MULTILINE)
        pd.testing.assert_frame_equal(more.scores.isna(), self.frame.isna())

    def test_algorithms_may_be_called_like_columns(self):
        names = ["data set", "algorithm", "interval", "estimate", "p_value", "decision", "better"]
        frame = scores(k=7).set_axis(names, axis=1).rename(lambda n: f"a rather long name {n}")
        text = str(compare(frame).with_section("scores").with_section("matrix"))
        heads = [line for line in text.splitlines() if all(name in line for name in names[1:4])]
        assert len(heads) == 2

    def test_without_a_complete_data_set_there_are_no_ranks(self):
        frame = pd.DataFrame([[1, 2, np.nan], [np.nan, 1, 2], [3, np.nan, 1]])
        text = str(compare(frame, "bradley-terry").with_section("scores"))
        assert "mean rank" not in text


class TestTheMatrix:
    def test_it_says_what_the_pairs_say(self, comparison):
        table = comparison.matrix()
        assert table.index.tolist() == comparison.ranking["algorithm"].tolist()
        for row in comparison.pairs.itertuples():
            forth, back = table.loc[row.better, row.worse], table.loc[row.worse, row.better]
            if comparison.method == "friedman":
                assert forth == back == row.p_value
            else:
                assert (forth, back) == (row.probability, 1.0 - row.probability)

    def test_with_a_rope_both_directions_have_their_own(self):
        comparison = compare(scores(), "signed-rank", rope=0.5)
        row = comparison.pairs.iloc[-1]
        assert comparison.matrix().loc[row["worse"], row["better"]] == row["probability_worse"]

    def test_what_is_decided_is_marked(self, comparison):
        more = comparison.with_section("matrix")
        decided = int((comparison.pairs["decision"] == "better").sum())
        assert len(re.findall(r"\d\*", str(more).removeprefix(str(comparison)))) == decided > 0


def test_sections_stand_in_the_order_in_which_they_are_added(comparison):
    more = comparison.with_section("matrix").with_section("scores")
    assert str(more).startswith(f"{comparison}\n\n")
    assert str(more).index("algorithm  ") < str(more).index("Scores\n\n")
    assert more.to_dict() == comparison.to_dict()
    with pytest.raises(SettingError, match="name='Seconds': choose 'scores'"):
        comparison.with_section("Seconds")


class TestPictures:
    kinds = {  # noqa: RUF012
        "bayesian-friedman": ["critical-difference", "pairs"],
        "friedman": ["critical-difference"],
        "signed-rank": ["pairs"],
        "bradley-terry": ["pairs"],
        "plackett-luce": ["winning", "pairs"],
    }

    def test_each_that_there_is(self, comparison):
        for kind in self.kinds[comparison.method]:
            comparison.plot(kind).figure.savefig(io.BytesIO(), dpi=40)
        assert comparison.plot().get_xlabel() in {
            comparison.plot(kind).get_xlabel() for kind in self.kinds[comparison.method]
        }

    def test_others_are_refused_with_those_that_there_are(self, comparison):
        possible = self.kinds[comparison.method]
        for kind in {"critical-difference", "pairs", "winning", "posterior", "pie"} - {*possible}:
            with pytest.raises(SettingError, match=f"has {', '.join(possible)}"):
                comparison.plot(kind)

    def test_several_in_one_figure(self, comparison):
        kinds = [*self.kinds[comparison.method], "matrix"]
        alone = [comparison.plot(kind) for kind in kinds]
        drawn = comparison.plot(kinds)
        assert len({id(ax.figure) for ax in drawn}) == 1
        assert [ax.get_xlabel() for ax in drawn] == [ax.get_xlabel() for ax in alone]
        heights = [ax.figure.get_size_inches()[1] for ax in alone]
        assert drawn[0].figure.get_size_inches()[1] == pytest.approx(sum(heights))
        drawn[0].figure.savefig(io.BytesIO(), dpi=40)
        for wrong in ([], ["matrix", "pie"], {"matrix"}):
            with pytest.raises(SettingError, match="kind="):
                comparison.plot(wrong)
        for wrong in (5, ("A",), ({}, "B")):
            with pytest.raises(SettingError, match="pair="):
                comparison.plot(pair=wrong)

    def test_the_posterior_of_one_pair(self):
        comparison = compare(scores(k=2), "signed-rank", rope=0.3, control="alg_b")
        texts = [text.get_text() for text in comparison.plot().texts]
        result = comparison.details
        assert f"alg_b better\n{shown(result.better, 'probability')}" in texts
        assert f"alg_a better\n{shown(result.worse, 'probability')}" in texts
        assert comparison.plot("pairs").get_yticklabels()[0].get_text() == "alg_a > alg_b"

    def test_of_many_pairs_those_with_the_first(self):
        comparison = compare(scores(k=15), "bradley-terry")
        ax = comparison.plot()
        first = comparison.ranking["algorithm"].iloc[0]
        assert len(ax.get_yticklabels()) == 14
        assert f"(pairs with {first} only)" in ax.get_xlabel()

    def test_bars_over_those_not_told_apart_from_a_control(self):
        comparison = compare(scores(n=8), "friedman", control="alg_b")
        names = comparison.ranking["algorithm"].tolist()
        open_pairs = comparison.pairs[comparison.pairs["decision"] != "better"]
        alike = {"alg_b", *open_pairs["better"], *open_pairs["worse"]}
        assert 1 < len(alike) < 4
        dots = [line for line in comparison.plot().lines if line.get_marker() == "o"]
        assert len(dots) == 1
        ranks = comparison.ranking["mean_rank"].tolist()
        assert sorted(dots[0].get_xdata()) == sorted(
            rank for name, rank in zip(names, ranks, strict=True) if name in alike
        )


def test_of_many_pairs_the_first_are_printed():
    rng = np.random.default_rng(1)
    few, many = (rng.normal(size=(12, m)) + np.arange(m) * 0.1 for m in (45, 46))
    few, many = (compare(scores, "friedman", posthoc="conover") for scores in (few, many))
    assert len(few.pairs) == 990
    assert "see `pairs`" not in str(few)
    assert "(the first 30 of 1035: see `pairs`)" in str(many)
    shown = str(many).split("Pairs")[1].split("(the first")[0].strip().splitlines()
    assert [line.split()[:2] for line in shown[-30:]] == many.pairs[["better", "worse"]][
        :30
    ].to_numpy().tolist()
    assert "see `pairs`" in many._repr_html_()
    assert len(many.to_markdown()) > 2 * len(str(many))


def many_algorithms(control=None):
    rng = np.random.default_rng(1)
    table = rng.normal(np.arange(9) * 0.3, 1.0, (30, 9))
    return compare(pd.DataFrame(table).add_prefix("a"), "friedman", control=control)


def test_letters_are_shared_by_those_not_told_apart():
    comparison = many_algorithms()
    names = comparison.ranking["algorithm"].tolist()
    of = dict(zip(names, map(set, letters(comparison)), strict=True))
    assert {row.decision for row in comparison.pairs.itertuples()} == {"better", "undecided"}
    for row in comparison.pairs.itertuples():
        assert bool(of[row.better] & of[row.worse]) == (row.decision != "better")
    first = [min(of[name]) for name in names]
    assert first == sorted(first)
    assert first[0] == "a"


def test_an_algorithm_told_apart_from_all_has_a_letter_of_its_own():
    table = np.arange(3.0) * 10 + np.random.default_rng(0).normal(size=(30, 3))
    assert letters(compare(table, "friedman")) == ["a", "b", "c"]


def test_above_fifteen_pairs_letters_stand_for_the_pairs():
    comparison = many_algorithms()
    for text in (str(comparison), comparison.to_markdown(), comparison.to_latex()):
        assert "letters" in text
        assert "Algorithms that share a letter" in text
        assert "effect" not in text
        assert "an adjusted p-value of at most" in text
    assert "effect" in str(comparison.with_section("pairs"))
    for few in (many_algorithms("a0"), compare(scores(k=6), "friedman")):
        assert "letters" not in str(few)
        assert "effect" in str(few)
