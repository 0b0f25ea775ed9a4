"""Pictures: what they show, that nothing in them overlaps, and what they refuse."""

import sys
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from drawn import assert_inside, assert_readable, boxes
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import racer
from racer import plots
from racer.comparison.render.picture import pictures, together
from racer.errors import MissingExtraError, ScoresError
from racer.plots.critical_difference import groups, levels
from racer.plots.race import mean_so_far
from racer.stats import (
    bayesian_sign_test,
    bayesian_signed_rank_test,
    bradley_terry,
    conover_posthoc,
    plackett_luce,
    plackett_luce_by_budget,
    win_table,
)

NAMES = [f"algorithm-{letter}{'x' * (i % 5)}" for i, letter in enumerate("abcdefghijklmno")]


def scores(n=30, k=15, seed=3):
    return np.random.default_rng(seed).normal(size=(n, k)) + np.linspace(0, 2, k)


def rows(labels, estimate, low, high):
    return pd.DataFrame({"estimate": estimate, "low": low, "high": high}, index=labels)


def pair_plot(q, ax=None):
    return plots.intervals(
        rows(NAMES[:q], 0.7, 0.6, 0.8),
        decisions=["better"] * q,
        notes=["0.999"] * q,
        notes_title="P(better)",
        rope=(0.45, 0.55),
        caption="probability of winning",
        ax=ax,
    )


@pytest.mark.parametrize("kind", ["pairs", "evolution"])
def test_on_axes_of_a_larger_figure_each_picture_keeps_to_its_place(kind):
    figure = Figure(figsize=(13, 5), layout="constrained")
    panels = figure.subplots(1, 2)
    if kind == "pairs":
        drawn = [pair_plot(6, panels[0]), pair_plot(1, panels[1])]
    else:
        frame = pd.DataFrame(
            [(b, name, b / 9, b / 10, b / 8) for b in range(1, 6) for name in NAMES],
            columns=["budget", "algorithm", "estimate", "low", "high"],
        )
        drawn = [plots.evolution(frame, ax=ax) for ax in panels]
    assert drawn == list(panels)
    assert not figure.legends
    left, right = (list(assert_readable(ax).values()) for ax in drawn)
    assert max(box.x1 for box in left) <= min(box.x0 for box in right)
    for ax, found in zip(drawn, (left, right), strict=True):
        if kind == "pairs":  # the legend is under the label of the axis
            label = ax.xaxis.label.get_window_extent()
            assert ax.get_legend().get_window_extent().y1 <= label.y0
        assert len(found) > 4


def diagram(spread, seed):
    ranks = np.random.default_rng(seed).uniform(8 - spread, 8 + spread, 15)
    alike = np.abs(ranks[:, None] - ranks) < 2.2
    return plots.critical_difference(NAMES, ranks, alike, distance=2.2)


PICTURES = {
    "critical difference": lambda: diagram(7, 1),
    "critical difference, all close": lambda: diagram(0.4, 2),
    "critical difference, wide": lambda: plots.critical_difference(
        NAMES, np.linspace(1, 15, 15), np.eye(15)
    ),
    "post-hoc": lambda: conover_posthoc(scores(), correction="holm").plot(NAMES, alpha=0.1),
    "pairs": lambda: plots.intervals(
        rows(
            [f"{NAMES[0]} > {name}" for name in NAMES[1:]],
            *np.linspace([0.9, 0.8, 0.99], [0.48, 0.38, 0.58], 14).T,
        ),
        decisions=["better"] * 6 + ["equivalent"] * 3 + ["undecided"] * 3 + ["indeterminate"] * 2,
        notes=["0.999"] * 14,
        notes_title="P(better)",
        reference=0.5,
        rope=(0.45, 0.55),
        caption="probability of winning",
    ),
    "winning": lambda: plackett_luce(scores(), names=NAMES, draws=500).plot(),
    "Bradley-Terry": lambda: bradley_terry(
        win_table(scores(k=6), names=NAMES[:6]), draws=500
    ).plot(),
    "predictive check": lambda: bradley_terry(
        win_table(scores(k=6)), draws=1000
    ).plot_predictive_check(),
    "predictive check with ties": lambda: bradley_terry(
        win_table(scores(k=6).round(0)), ties="davidson", draws=1000
    ).plot_predictive_check(),
    "simplex": lambda: bayesian_signed_rank_test(*scores(k=2).T, rope=0.5, draws=5000).plot(
        ("a rather long name", "another one")
    ),
    "simplex of signs": lambda: bayesian_sign_test(*scores(k=2).T.round(0)).plot(),
    "posterior": lambda: bayesian_signed_rank_test(*scores(k=2).T, draws=5000).plot(),
    "evolution": lambda: plots.evolution(
        plackett_luce_by_budget(
            {100: scores(8), 1000: scores(8, seed=1), 30_000: scores(8, seed=2)},
            names=NAMES,
            draws=200,
        )
    ),
}


@pytest.mark.parametrize("picture", PICTURES)
def test_nothing_overlaps_or_is_cut_off_with_fifteen_algorithms(picture):
    assert_readable(PICTURES[picture]())


@pytest.mark.parametrize(
    ("method", "rope", "k", "control"),
    [
        ("friedman", None, 9, False),
        ("friedman", None, 4, True),
        ("bayesian-friedman", None, 9, False),
        ("bayesian-friedman", None, 4, True),
        ("bayesian-friedman", None, 2, False),
        ("signed-rank", None, 2, False),
        ("signed-rank", None, 2, True),
        ("signed-rank", 0.5, 9, False),
        ("signed-rank", 0.5, 4, True),
        ("signed-rank", 0.5, 2, False),
    ],
)
def test_names_longer_than_there_is_room_for_are_readable(method, rope, k, control):
    names = [f"HistGradientBoostingClassifier(learning_rate=0.{i})" for i in range(k)]
    frame = pd.DataFrame(scores(12, k), columns=names)
    comparison = racer.compare(
        frame, method, rope=rope, control=names[0] if control else None, goal="min"
    )
    drawn = {kind: draw(None) for kind, draw in pictures(comparison).items()}
    assert_inside(drawn.pop("matrix"))  # its names are slanted, and no boxes
    if k == 4:  # of two there is one without being asked for
        drawn["pair"] = comparison.plot(pair=names[:2])
    for ax in drawn.values():
        assert_readable(ax)


def test_a_histogram_ends_where_its_draws_do():
    draws = np.linspace(0.3, 1.0, 57)  # no bin ends at 1 that begins at the reference
    bars = plots.posterior(draws).patches
    assert max(bar.get_x() + bar.get_width() for bar in bars) == pytest.approx(1.0)
    assert min(bar.get_x() for bar in bars) == pytest.approx(0.3)
    assert sum(bar.get_height() for bar in bars) == pytest.approx(1.0)
    assert len(plots.posterior([0.5]).patches) >= 60


def ranked(m):
    return st.tuples(
        st.lists(st.sampled_from([1.0, 1.5, 2.0, 3.0, 4.5]), min_size=m, max_size=m),
        st.lists(st.booleans(), min_size=m * m, max_size=m * m),
    )


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.integers(2, 8).flatmap(ranked))
def test_each_pair_alike_is_under_one_bar_and_no_other(given_ranks):
    ranks, flat = np.array(given_ranks[0]), np.array(given_ranks[1])
    m = len(ranks)
    alike = flat.reshape(m, m)
    alike = alike & alike.T
    found = groups(ranks, alike)
    under = np.zeros((m, m), dtype=bool)
    for group in found:
        assert len(set(group)) == len(group) > 1
        under[np.ix_(group, group)] = True
    off = ~np.eye(m, dtype=bool)
    np.testing.assert_array_equal(under[off], alike[off])
    assert not any(set(a) < set(b) for a in found for b in found)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)).map(sorted).map(tuple)))
def test_bars_of_one_level_do_not_touch(spans):
    chosen = levels(spans, 0.5)
    assert sorted(set(chosen)) == list(range(len(set(chosen))))
    for level in set(chosen):
        mine = sorted(span for span, one in zip(spans, chosen, strict=True) if one == level)
        for (_, end), (start, _) in pairwise(mine):
            assert start >= end + 0.5


def test_the_simplex_has_its_corners_where_the_labels_are():
    ax = plots.simplex(np.eye(3), ["left", "top", "right"])
    at = {text.get_text(): text.get_position() for text in ax.texts}
    drawn = np.concatenate([line.get_xydata() for line in ax.lines[:3]])
    assert drawn[0][0] < drawn[1][0] < drawn[2][0]
    assert drawn[1][1] > 0.8
    assert at["left"][0] < at["top"][0] < at["right"][0]


def test_regions_of_the_simplex_agree_with_the_probabilities():
    result = bayesian_signed_rank_test(
        *np.random.default_rng(2).normal(size=(2, 8)), rope=0.6, draws=4000
    )
    ax = result.plot()
    drawn = [len(line.get_xydata()) / 4000 for line in ax.lines[:3]]
    expected = [result.worse, result.indistinguishable, result.better]
    assert min(expected) > 0.001
    np.testing.assert_allclose(drawn, expected, atol=1e-12)


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: plots.critical_difference("ab", [1, 2, 3], np.eye(2)), "sizes differ"),
        (lambda: plots.race([[0.0, 1.0]], [0], "ab"), "sizes differ"),
        (lambda: plots.matrix([[0.5]], "ab", [[""]]), "sizes differ"),
        (lambda: plots.intervals(rows(["a", "b"], 1, 0, 2), notes=["c"]), "2 rows"),
        (lambda: plots.intervals(pd.DataFrame({"estimate": [1]})), "no column 'low'"),
        (lambda: plots.intervals(rows(["a"], 1, 0, 2), decisions=["good"]), "'good'"),
        (lambda: plots.simplex([[1, 2]], "abc"), "three labels"),
        (lambda: plots.posterior([]), "draws of shape"),
        (lambda: plots.evolution(pd.DataFrame({"budget": [1]})), "'algorithm'"),
        (lambda: plots.predictive_check(pd.DataFrame({"level": [1]})), "'wins'"),
    ],
)
def test_what_cannot_be_drawn_is_said(draw, message):
    with pytest.raises(ScoresError, match=message):
        draw()


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    for name in list(sys.modules):
        if name.partition(".")[0] == "matplotlib":
            monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = bayesian_signed_rank_test([1, 2, 3], [2, 2, 4], draws=100)
    with pytest.raises(MissingExtraError, match=r"pip install 'racer-tuning\[plot\]'") as caught:
        result.plot()
    assert isinstance(caught.value, ImportError)


def test_names_that_differ_in_the_middle_are_told_apart():
    long = "HistGradientBoosting(lr=0.1, depth={}, leaf=20, l2=0.0, bins=255)"
    ax = plots.critical_difference([long.format(3), long.format(5), 7], [1, 2, 3], np.eye(3))
    words = {text.get_text() for text in ax.texts}
    labels = [one for one in words if "HistGradient" in one]
    assert len(labels) == 2
    assert sum("depth=3" in label for label in labels) == 1
    assert "3.00  7" in words


@pytest.mark.parametrize("n", [1, 2, 3, 40])
def test_races_and_blocks_have_whole_numbers(n):
    panel = plots.sampling(range(n), np.zeros((n, 1)), [("x", (0, 1), "ab")]).axes[0]
    blocks = plots.race(np.zeros((n, 1)), [0], ["a"])
    for ax in (panel, blocks):
        low, high = ax.get_xlim()
        ticks = [tick for tick in ax.get_xticks() if low <= tick <= high]
        assert ticks
        assert all(tick == round(tick) for tick in ticks)


SCALES = [("x", (0, 1), "ab"), ("y", (0, 1), "ab")]


@pytest.mark.parametrize(
    ("draw", "shown"),
    [
        (
            lambda: plots.race([[0, np.inf]], [0, 1], "ab", [(1, 0, "_$1", "_$1")]),
            ["failed", r"_\$1"],
        ),
        (lambda: plots.parallel([[0, 1]] * 2, SCALES, ["_a", "b"]), ["_a", "b"]),
    ],
)
def test_legends_have_names_that_begin_with_an_underscore(draw, shown):
    assert [text.get_text() for text in draw().get_legend().get_texts()] == shown


def test_a_block_on_which_all_failed_leaves_mean_ranks_as_they_were():
    inf, nan = np.inf, np.nan
    ranks = [[inf, inf, inf], [0, 0.5, inf], [inf, inf, nan], [1, 0, nan], [inf, 0, nan]]
    shown = [[nan, nan, nan], [0, 0.5, 1], [0, 0.5, nan], [0.5, 0.25, nan], [2 / 3, 1 / 6, nan]]
    np.testing.assert_allclose(mean_so_far(np.array(ranks)), shown)
    crosses = plots.race(ranks, [0, 1, 2], "abc").lines[0].get_xdata()
    assert sorted(crosses) == [1, 1, 1, 2, 3, 3, 5]


@pytest.mark.parametrize(
    "draw",
    [
        lambda s: racer.compare(s, "bayesian-friedman", goal="min").plot("pairs"),
        lambda s: racer.compare(s, "plackett-luce", goal="min").plot("winning"),
        lambda s: bradley_terry(win_table(s, names=list(s)), draws=100).plot(),
    ],
)
def test_long_names_of_two_lines_leave_room_for_intervals(draw):
    long = "with a line\nbreak and " + "many words " * 6
    names = [long + "a", long + "b", "short\none"]
    ax = draw(pd.DataFrame(scores(12, 3), columns=names))
    assert_readable(ax)
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert len(set(labels)) == 3
    assert max(map(len, labels)) <= 59
    assert sum("short one" in label for label in labels) >= 1
    assert sum("…" in label for label in labels) >= 2


def labels_of_a_front(points, chance):
    names = [f"#{i}" for i in range(len(points))]
    alive, d = np.array(chance) > 0.2, np.shape(points)[1]
    goal = dict.fromkeys("abc"[:d], "min")
    ax = plots.front(points, points, points, chance, alive, names, goal)
    return [text.get_text() for text in ax.texts if "#" in text.get_text()]


def test_candidates_at_one_place_share_a_label():
    points = np.array([[1.0, 2.0]] * 7 + [[2.0, 1.0]] * 2 + [[9.0, 9.0]])
    points[2] += 1e-4
    chance = [0.6] * 7 + [0.8, 0.9, 0.1]
    assert labels_of_a_front(points, chance) == ["#8, #7", "#0, #1, #2, #3, 3 more"]
    lines = np.column_stack([points, points[:, 0]])
    assert labels_of_a_front(lines, chance) == ["#0, #1, #2, #3, 3 more", "#7, #8"]
    assert labels_of_a_front(np.zeros((30, 2)), [1.0] * 30) == ["#0, #1, #2, #3, 26 more"]
    assert len(labels_of_a_front(np.arange(60).reshape(30, 2), [1.0] * 30)) == 20


@pytest.mark.parametrize("n_places", [25, 5])
def test_long_names_leave_the_plane_of_a_front_wide(n_places):
    x = np.repeat(np.linspace(0.0, 1.0, n_places), 25 // n_places)
    points, sure = np.column_stack([x, 1.0 - x]), np.ones(25)
    names = [f"#{i}, a name of a candidate" for i in range(25)]
    goal = dict.fromkeys("ab", "min")
    ax = plots.front(points, points, points, sure, sure, names, goal)
    ax.figure.draw_without_rendering()
    assert ax.get_position().width > 0.8
    assert len(ax.texts) >= 5


@pytest.mark.parametrize(
    "draw",
    [
        lambda names: plots.race([[0, 1]], [0, 1], names, [(1, 0, names[0], names[0])]),
        lambda names: plots.boxes([[1], [2]], names, "value"),
        lambda names: plots.bars([1, 2], names, "value", notes=names),
        lambda names: plots.parallel([[0, 1]] * 2, [(n, (0, 1), names) for n in names], names),
        lambda names: plots.intervals(rows(names, [1, 2], [0, 1], [2, 3])),
        lambda names: plots.matrix([[0, 1], [1, 0]], names, [["0", "1"]] * 2),
        lambda names: plots.critical_difference(names, [1, 2], np.eye(2)),
        lambda names: plots.front(
            *([[0, 1], [1, 0]], *[[[0, 0]] * 2] * 2, [1] * 2, [1] * 2, names),
            dict.fromkeys(names, "min"),
        ),
        lambda names: plots.simplex([[0.2, 0.3, 0.5]], [*names, "c"]),
        lambda names: plots.posterior([0.4], below=names[0], above=names[1]),
    ],
)
def test_what_is_not_seen_in_names_is_escaped(draw):
    """A letter without a picture makes matplotlib warn, and U+202E turns the rest round."""
    ax = draw(["a\x1bb\tc", "\u202ed"])
    shown = [text for _, text in boxes(ax)]
    assert any(r"a\x1bb c" in text for text in shown)
    assert any(r"\u202ed" in text for text in shown)


def test_a_control_that_no_one_ties_with_has_no_bar_in_the_caption():
    values = np.random.default_rng(1).normal(size=(20, 3)) * 0.1 + [0.0, 0.1, 9.0]
    scores = pd.DataFrame(values, columns=list("abc"))
    ax = racer.compare(scores, "friedman", control="c", goal="min").plot()
    words = " ".join(text.get_text() for text in ax.texts)
    assert "all separated" in words
    assert "bar:" not in words


def test_pairs_and_a_small_matrix_in_one_figure_are_legible():
    values = np.where(np.eye(3) > 0, np.nan, 0.5)
    ends = [-0.0035, 0.001, -0.0015], [0.0175, 0.027, 0.0215]
    given = {"rope": (-0.01, 0.01), "notes": ["0.50"] * 3, "caption": "mean difference"}
    decisions = ["undecided"] * 3
    ax, _ = together(
        [
            lambda ax: plots.intervals(
                rows(["b > a"] * 3, 0.01, *ends), decisions=decisions, **given, ax=ax
            ),
            lambda ax: plots.matrix(values, list("abc"), [["0.5"] * 3] * 3, ax=ax),
        ]
    )
    figure = ax.figure
    FigureCanvasAgg(figure).draw()
    label = figure.axes[-1].yaxis.label.get_window_extent()
    assert figure.bbox.y0 <= label.y0
    assert label.y1 <= figure.bbox.y1
    shown = [t.get_window_extent() for t in ax.get_xticklabels() if t.get_text()]
    assert all(one.x1 + 2 < two.x0 for one, two in pairwise(shown))
