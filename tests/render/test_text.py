"""Sections as text and in a notebook: all of it, in 80 columns, and nothing of it markup."""

import math
import os
import random
import re

import numpy as np
import pytest

import racer
from racer.comparison.example import example_scores
from racer.render import text
from racer.render.notebook import as_html
from racer.render.sections import Bold, Code, Grid, Section, parameters, value_shown
from racer.render.text import as_text
from racer.results.summary import eliminations

LONG = "a name of eighty characters, which is more than most parameters have, but it occurs"


@pytest.mark.parametrize("n", [1, 3, 100])
def test_all_of_a_configuration_is_shown_in_its_order(n):
    names = [f"{LONG} {i}" for i in reversed(range(n))]
    text = as_text([parameters(dict.fromkeys(names, f"[b]{LONG}[/b]"))])
    assert max(map(len, text.splitlines())) <= 80
    places = [" ".join(text.split()).find(f" {i} ") for i in reversed(range(n))]
    assert places == sorted(places)
    assert text.replace("\n", "").replace(" ", "").count("[/b]") == n


def test_values_that_look_like_something_else_are_quoted():
    assert [value_shown(v) for v in (1.0, "1.0", "a b", "", "None", None, " a", "a\nb")] == [
        *("1.0", "'1.0'", "a b", "''", "'None'", "None", "' a'", "'a\\nb'")
    ]


def test_no_value_is_cut_off_where_configurations_stand_side_by_side():
    values = [f"0.{digit * 17}" for digit in "1234567"]
    grid = Grid.of(("parameter", *"abcdefg"), [(LONG, *values)], left=["parameter"])
    assert grid.right == (False, *[True] * 7)  # a is no part of a name
    text = as_text([grid])
    assert max(map(len, text.splitlines())) <= 80
    shown = "".join(text.split())
    assert all(shown.count(digit) == 17 for digit in "1234567")


def test_nothing_becomes_markup():
    pieces = [
        "<script>alert(1)</script>",
        Grid.of(("<i>",), [("<b>&",)]),
        Section("<h1>", (Code("</pre><script>"),)),
    ]
    shown = as_html(pieces)
    for tag in ("<script", "<i>", "<b>", "<h1>", "</pre>&", "</pre><s"):
        assert tag not in shown
    assert "&lt;b&gt;&amp;" in shown


@pytest.mark.filterwarnings("ignore:block .* is set aside:racer.RacerWarning")
def test_every_end_of_a_race_says_what_it_is():
    def fails(config, instance, seed):
        raise (ValueError if config == 1 else TypeError)(config)

    def noisy(config, instance, seed):
        return config * 0.1 + np.random.default_rng([seed, config]).normal()

    failed = " ".join(repr(racer.race([1, 2], fails, budget=100)).split())
    assert "Nothing succeeded in 10 evaluations: 10 failed." in failed
    assert "Stopped after 10 of 100 evaluations, at most 5 of each candidate." in failed
    assert re.search(r"\bnan\b", failed) is None  # a folder may be called so
    assert "Failures 10 failed, the first, of #0: ValueError: 1 " in failed
    one = racer.race([1, 2], lambda c, i, s: math.nan if c == 1 else s % 7, budget=60, seed=1)
    found = re.search(
        r"Failures (\d+) invalid, all of #0: .*nan.*; result.failures has them all",
        " ".join(repr(one).split()),
    )
    assert int(found[1]) == len(one.failures)
    assert "The only candidate is #0." in repr(racer.race([1], fails, budget=1))
    many = racer.race(
        range(100), noisy, budget=500, decider=racer.deciders.FRace(first_test=5), seed=1
    )
    assert len(many.survivors) > 12
    assert f"and {len(many.survivors) - 12} more" in repr(many)
    assert repr(many).count("\n") < 40


def test_an_interrupted_race_shows_what_is_known_in_a_notebook():
    def stops(config, instance, seed):
        if instance == 2:
            raise KeyboardInterrupt
        return config

    with pytest.raises(racer.RaceInterrupted) as caught:
        racer.race([1, 2], stops, range(5), budget=100, seed=1)
    shown = "\n".join(caught.value._render_traceback_())
    assert "the run was interrupted" in shown
    assert repr(caught.value.result) in shown


@pytest.mark.parametrize("wrap", [None, lambda head: "\n".join(head.split())])
def test_a_table_is_as_wide_as_it_is_printed(wrap):
    rng = random.Random(3)

    def word():
        return "".join(rng.choice("ab cö漢[]") for _ in range(rng.randint(0, 12)))

    for _ in range(60):
        n_columns = rng.randint(1, 5)
        rows = [
            tuple(Bold(word()) if rng.random() < 0.1 else word() for _ in range(n_columns))
            for _ in range(rng.randint(0, 4))
        ]
        right = tuple(rng.random() < 0.5 for _ in range(n_columns))
        grid = Grid(tuple(word() for _ in range(n_columns)), tuple(rows), right)
        by_rich = text._console().measure(text._table(grid, wrap)).maximum
        assert text._measure(grid, wrap) == by_rich


def test_the_text_of_a_table_needs_no_standard_output(monkeypatch):
    """Which may be full, or closed."""
    grid = Grid(("a", "b"), (("x", "1"),), (False, True))
    expected = as_text([grid])
    with monkeypatch.context() as patch:
        patch.setattr("sys.stdout", None)
        assert as_text([grid]) == expected
    with open(os.devnull) as unwritable, monkeypatch.context() as patch:  # noqa: PTH123
        patch.setattr("sys.stdout", unwritable)
        assert as_text([grid]) == expected


def test_a_notebook_shows_no_empty_box_before_a_result(monkeypatch):
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    shown = []
    monkeypatch.setattr("rich.jupyter.display", lambda *what: shown.append(what))
    result = racer.race([1, 2], lambda c, i, s: c + s % 7, budget=20, seed=1, progress=True)
    comparison = racer.compare(example_scores(), goal="min")
    assert "probability" in str(result)
    assert str(comparison)
    assert not shown


@pytest.mark.parametrize("width", [30, 40, 79, 80, 90])
def test_a_terminal_too_narrow_for_a_table_gets_it_in_parts(width):
    head = ["candidate", *(f"metric {i}" for i in range(8)), "reason"]
    rows = [(f"#{k}", *(f"{k}.{i}54321" for i in range(8)), f"words of {k}") for k in range(3)]
    shown = as_text(
        [
            Section(
                "A title longer than thirty letters",
                (Grid.of(head, rows, left=("candidate", "reason")),),
            )
        ],
        width,
    )
    assert max(map(len, shown.splitlines())) <= width
    words = " ".join(shown.split())
    assert all(cell in words for row in rows for cell in row)
    assert shown.count("candidate") == shown.count("#2") > 1
    assert as_text([Grid.of(head[:3], [row[:3] for row in rows])], 40) == as_text(
        [Grid.of(head[:3], [row[:3] for row in rows])]
    )


@pytest.mark.parametrize("width", [79, 80, 100])
def test_no_number_of_a_table_is_folded(width):
    """Words or heads are folded for it, or the table is split."""
    for n in range(1, 16):
        head = ["name", *(f"the mean of metric {i}" for i in range(n)), "reason"]
        row = ["#7", *(f"{i}.98765432" for i in range(n)), "words that can be folded"]
        lines = as_text([Grid.of(head, [row], left=("name", "reason"))], width).splitlines()
        assert max(map(len, lines)) <= width
        assert all(any(cell in line for line in lines) for cell in row[1:-1])


def test_a_table_that_fits_is_not_split():
    words = [f"reason {i}" for i in range(8)]  # shorter than a folded column
    grid = Grid.of(words, [words], left=words)
    assert len(as_text([grid], 81).splitlines()) == 3
    assert len(as_text([grid], 60).splitlines()) > 3


def test_each_part_of_the_eliminations_names_the_candidates():
    result = racer.race(range(4), lambda c, i, s: c + s % 7, decider="f-race", budget=60, seed=1)
    rows = [f"#{gone}" for gone in result.eliminations["candidate"]]
    section = eliminations(result)
    assert [row[0] for row in section.pieces[1].rows] == rows
    assert as_text([section], 40).count("candidate") > 1
