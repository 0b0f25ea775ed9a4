"""Pictures of races, tunings and pairs: legible at any size, shown by notebooks, right."""

from __future__ import annotations

import functools
import io
import sys
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from drawn import assert_inside
from playing import eliminated, play

import racer
from racer import Outcome, plots
from racer.plots.tuning import sampling
from racer.results.pictures import gap

LONG = "a name of eighty characters, as it may occur, with $x_1$ in it, and more words  "


def noisy(config, instance, seed):
    number = int(str(config).split()[0])
    if number == 2 and seed % 7 == 0:
        raise ValueError(number)
    return number / 8 + np.random.default_rng([seed, number]).normal()


@functools.cache
def race(m):
    names = [f"{i} {LONG}" for i in range(m)]
    return racer.race(names, noisy, budget=m * 12, decider="f-race", seed=1)


def tuned(d, budget=180):
    kinds = [racer.Real(1e-3, 1, log=True), racer.Categorical(["a", LONG]), racer.Integer(0, 9)]
    space = racer.Space({f"p{i} {LONG}": kinds[i % 3] for i in range(d)})
    rng = np.random.default_rng
    return racer.tune(
        space,
        lambda c, i, s: next(iter(c.values())) + rng(s).normal(0, 0.01),
        racer.Instances(range(6), held_out=range(3)),
        budget=budget,
        seed=1,
        search=racer.Search(elites=2),
    )


@pytest.fixture(scope="module", name="tuning")
def _tuning():
    return tuned(3, budget=700)


def assert_legible(ax):
    for one in ax.figure.axes:
        assert_inside(one)


@pytest.mark.parametrize("m", [3, 60])
@pytest.mark.parametrize("kind", ["race", "posterior", "costs"])
def test_races_of_few_and_many_with_long_names(m, kind):
    assert_legible(race(m).plot(kind))


def test_a_race_shows_each_elimination_with_its_reason():
    result = race(12)
    ax = result.plot()
    words = [text.get_text() for text in ax.texts]
    assert len(words) == len(eliminated(result)) > 3
    assert words[0].startswith(f"inferior to #{eliminated(result)[0].against}")
    assert ax.get_yticklabels()[0].get_text().split()[0] == f"#{result.survivors[0]}"


def test_the_best_is_drawn_first_also_if_it_was_eliminated():
    result = race(9)
    best, other = result.best_index, next(c for c in range(9) if c not in result.survivors)
    result = replace(result, survivors=(other,))
    assert result.leaders == (best, other)
    costs = [text.get_text().split()[0] for text in result.plot("costs").get_yticklabels()]
    assert costs[:2] == [f"#{best}", f"#{other}"]


@pytest.mark.parametrize(("n", "words"), [(1, "on 1 run that"), (2, "on the 2 runs that")])
def test_the_number_of_common_blocks(n, words):
    contest = racer.Race.of(["1", "3"], range(n), budget=9, deterministic=True)
    caption = play(contest, lambda cell: float(cell.config)).plot("costs").get_xlabel()
    assert words in caption
    assert "cap" not in caption


@pytest.mark.parametrize("kind", ["quality", "sampling", "parallel", "test", "posterior", "costs"])
def test_a_tuning(tuning, kind):
    drawn = tuning.plot(kind)
    assert_legible(drawn.axes[0] if kind == "sampling" else drawn)


@pytest.mark.parametrize("kind", ["quality", "sampling"])
def test_a_notebook_shows_axes_and_figures(tuning, kind):
    drawn = tuning.plot(kind)
    picture, size = drawn._repr_png_()
    assert picture.startswith(b"\x89PNG")
    assert int.from_bytes(picture[16:20]) > 2 * size["width"]  # twice the pixels


def test_the_quality_of_leaders_is_that_against_the_best(tuning):
    (line,) = [x for x in tuning.plot().lines if x.get_marker() == "o"]
    x, y = line.get_data()
    assert list(x) == [race.evaluations for race in tuning.completed_races if race.best is not None]
    assert abs(y[-1]) < 0.1
    assert (np.asarray(y) > -0.1).all()


def test_within_the_first_race_the_leader_is_the_most_evaluated_so_far():
    result = tuned(1)
    (line,) = [x for x in result.plot().lines if x.get_marker() == "o"]
    x, y = line.get_data()
    assert len(result.completed_races) == 1 < len(set(x))
    assert list(x) == sorted(x)
    assert (x[-1], y[-1]) == (result.evaluations, 0.0)


def test_pyplot_knows_a_picture_where_it_is_in_use_and_none_of_a_report(
    tuning, tmp_path, monkeypatch
):
    plt = pytest.importorskip("matplotlib.pyplot")
    ax = tuning.plot()
    assert plt.gca() is ax
    monkeypatch.setattr(plt, "get_backend", lambda: "inline")
    assert ax._repr_png_() is None  # the notebook shows open figures by itself
    plt.close(ax.figure)
    assert ax._repr_png_() is not None
    tuning.report(tmp_path / "report.html")
    assert plt.get_fignums() == []
    del sys.modules["matplotlib.pyplot"]
    tuning.plot()
    assert plt.get_fignums() == []


def test_one_and_very_many_parameters():
    assert_legible(tuned(1).plot("parallel"))
    many = tuned(31)
    figure = many.plot("sampling")
    assert len(figure.axes) == 30
    assert "the first 30 of 31" in figure.get_supxlabel()
    ax = many.plot("parallel")
    assert len(ax.get_xticks()) == 30
    assert "the first 30 of 31" in ax.get_xlabel()


def test_of_many_candidates_some_are_drawn_and_all_elites():
    where = np.linspace(0.0, 1.0, 1001)[:, None]
    figure = sampling([0] * 1001, where, [("x", (0, 1), ("0", "1"))], elites=[500, 7, 8])
    grey, others, best = (line.get_ydata() for line in figure.axes[0].lines)
    assert 300 < len(grey) <= 400
    assert "1 of 3 others" in figure.get_supxlabel()
    assert [*best, *others] == list(where[[500, 7, 8], 0])


def test_no_best_no_quality():
    result = racer.tune(
        racer.Space({"x": racer.Real(0, 1)}),
        lambda c, i, s: 1.0,
        budget=60,
        seed=1,
        search=racer.Search(elites=2),
    )
    assert result.best is None
    assert "Without a best" in result.plot().texts[0].get_text()
    for kind in result._pictures:
        result.plot(kind)


def test_an_unknown_picture_is_refused():
    with pytest.raises(racer.SettingError, match="give one of race, posterior, costs"):
        race(3).plot("rank")


def test_names_in_svg_are_text_and_not_markup():
    result = racer.race(["<script>", "b"], lambda c, i, s: len(c), budget=40, seed=1)
    file = io.StringIO()
    with __import__("matplotlib").rc_context({"svg.fonttype": "none"}):
        result.plot().figure.savefig(file, format="svg")
    assert "&lt;script&gt;" in file.getvalue()
    assert "<script" not in file.getvalue()


@pytest.mark.parametrize("method", ["friedman", "bayesian-friedman"])
def test_a_matrix_of_pairs_and_the_posterior_of_any(method):
    names = [LONG + str(i) for i in range(4)]
    scores = pd.DataFrame(
        np.random.default_rng(1).normal(np.arange(4), size=(12, 4)), columns=names
    )
    comparison = racer.compare(scores, method, goal="min")
    ax = comparison.plot("matrix")
    assert_legible(ax)
    assert len(ax.texts) == 12
    pair = comparison.plot(pair=(names[0], names[3]))
    assert any(">0.9" in text.get_text() or "0.9" in text.get_text() for text in pair.texts)
    with pytest.raises(racer.SettingError, match="two algorithms, of"):
        comparison.plot(pair=("a", names[0]))
    with pytest.raises(racer.SettingError, match="is for"):
        comparison.plot("matrix", pair=tuple(names[:2]))


def test_the_last_two_of_a_race_can_be_told_apart():
    ranks = np.array([[0.0, 0.5, 1.0]] * 4 + [[0.0, 1.0, np.nan], [1.0, 0.0, np.nan]] * 10)
    ranks[10:, :2] = [0.0, 1.0]
    ax = racer.plots.race(ranks, [0, 1, 2], ["a", "b", "c"], [(2, 3, "inferior", "so")])
    assert ax.get_xscale() == "linear"
    (mesh,) = ax.collections[:1]
    shown = mesh.get_array().reshape(3, -1)
    assert shown[0, -1] == pytest.approx(ranks[:, 0].mean())
    assert shown[1, -1] == pytest.approx(ranks[:, 1].mean())
    colours = mesh.cmap(mesh.norm([shown[0, -1], shown[1, -1]]))
    assert np.abs(colours[0] - colours[1]).max() > 0.3


def test_three_values_have_no_box():
    ax = racer.plots.boxes([[1.0, 2.0, 4.0], list(range(9))], ["few", "some"], "value")
    boxes = [line for line in ax.lines if len(line.get_xdata()) == 5]
    assert [line.get_ydata().mean().round() for line in boxes] == [1.0]
    assert ax.collections[0].get_segments()[0][0][0] == 2.0  # the median of the few


def test_a_gap_of_costs_of_both_signs_near_the_largest_float_is_known():
    most = sys.float_info.max

    def evaluate(candidate, item, seed):
        return most if (candidate + item) % 2 else -most

    result = racer.race(range(2), evaluate, range(8), budget=16, seed=1)
    assert gap(result.known, 0, 1)[0] == 0.0


def test_capped_run_times_are_not_drawn_as_if_solved():
    names = [f"{i} {LONG}" for i in range(3)]
    rules = {"budget": 15, "runtime": racer.Runtime(3.0), "deterministic": True}
    contest = racer.Race.of(names, range(5), **rules)
    while cells := contest.ask():
        for cell in cells:
            time = (0.5, 2.0, 50.0)[cell.candidate] + 2 * (cell.block == 1)
            status, value = ("ok", time) if time < cell.bound else ("capped", cell.bound)
            contest.tell(cell, Outcome(status, value, seconds=value))
    ax = contest.result().plot("costs")
    notes = [label.get_text().rpartition("…")[2] for label in ax.get_yticklabels()]
    assert [note.partition(", ")[2] for note in notes] == ["", "1 capped", "5 capped"]
    assert ax.get_xlabel().endswith("have seen\ncapped runs are drawn at their cap")
    assert_legible(ax)


def test_costs_near_the_largest_float_are_not_drawn():
    """Matplotlib cannot: a report of them was not written."""
    result = racer.race(
        [1.0, -1.0], lambda c, i, s: c * (1e308 + 1e300 * i), range(9), budget=18, seed=1
    )
    ax = result.plot("costs")
    ax.figure.savefig(io.BytesIO())
    words = [text.get_text() for text in ax.texts]
    assert words == ["Some values are beyond 1e+300, too large to be drawn."]
    assert not plots.boxes([[1e300], [-1e300] * 9], "ab", "cost").texts


def test_the_values_of_elites_lose_no_blocks_to_candidates_beside_them():
    def evaluate(config, instance, seed):
        return seed % 7 + (9 * config if config > 1 else 0)

    found = racer.race(range(8), evaluate, budget=80, decider="f-race", seed=1)
    assert sorted(found.leaders) == [0, 1]
    blocks = len(found.known.common(found.leaders))
    assert len(found.known.of(2)) < 8 < blocks
    ax = found.plot("costs")
    assert len(ax.get_yticklabels()) == 2
    assert f"the {blocks} runs" in ax.get_xlabel()


def test_labels_of_a_front_hide_no_other():
    near = np.array([[0.1, 0.5], [0.14, 0.45], [0.18, 0.4], [0.2, 0.45], [0.22, 0.38], [1.0, 5.0]])
    names = [f"#{i}" for i in range(10, 16)]
    ax = plots.front(near, near, near, [1.0] * 6, [True] * 6, names, {"x": "min", "y": "min"})
    ax.figure.draw_without_rendering()
    labels = [text.get_window_extent() for text in ax.texts]
    assert len(labels) > 3
    assert not any(one.overlaps(two) for one, two in combinations(labels, 2))
