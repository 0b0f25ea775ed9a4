"""The study of money: it runs, its page shows what it counted, and known prices keep the budget."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from experiments.money import tables

PAGE = Path(__file__).parents[2] / "experiments" / "money" / "README.md"


def rows():
    with (PAGE.parent / "money.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_it_runs(monkeypatch, tmp_path):
    monkeypatch.setattr(tables, "HERE", tmp_path)
    monkeypatch.setattr(tables, "SHARES", (0.1,))
    done = CliRunner().invoke(tables.main, ["--repetitions", "2", "--jobs", "1"])
    assert done.exit_code == 0, done.output
    text = (tmp_path / "money.csv").read_text(encoding="utf-8")
    assert text.count("\n") == 1 + 2 * 4
    assert text.count(",2,") >= 8


@pytest.mark.parametrize("prices", tables.PRICES)
def test_what_is_drawn_costs_from_1_to_30_and_the_right_number_is_within_the_budget(prices):
    ability, wrong, costs = tables.drawn(3, prices)
    ratio = costs / costs.min(axis=1, keepdims=True)
    assert np.allclose(ratio.max(axis=1), 30.0)
    found = np.corrcoef(ability, np.log(costs[0]))[0, 1]
    assert found > 0.6 if prices == tables.PRICES[1] else abs(found) < 0.6
    assert abs(wrong.mean(axis=0) - (1 - ability)).max() < 0.2
    told = tables.told_the_right_number(wrong, costs, 0.1 * costs.sum())
    assert 0.08 * costs.sum() < told.spent <= 0.1 * costs.sum()


def test_the_page_shows_the_races():
    text = PAGE.read_text(encoding="utf-8")
    for row in rows():
        shown = (
            f"| {row['prices']} | {100 * float(row['budget']):.0f} | {row['way']} "
            f"| {float(row['regret']):.2f} ± {float(row['regret_error']):.2f} "
            f"| {float(row['beside_told']):+.2f} ± {float(row['beside_told_error']):.2f} "
            f"| {row['beyond']} | {100 * (float(row['most']) - 1):+.1f} "
            f"| {100 * float(row['used']):.0f} |"
        )
        assert shown in text


def test_what_the_page_says_of_them():
    by_way = {}
    for row in rows():
        by_way.setdefault(row["way"], []).append(row)
    known, learned = by_way["money, prices known"], by_way["money, prices learned"]
    assert sum(int(row["races"]) for row in known) == 1000
    assert not any(int(row["beyond"]) for row in known)
    text = PAGE.read_text(encoding="utf-8")
    beyond = sum(int(row["beyond"]) for row in learned)
    most = max(float(row["most"]) for row in learned)
    assert f"in {beyond} of 1 000 races, by {100 * (most - 1):.1f} % at most" in text
    for row in known:  # no worse than the plan that was told, by more than two standard errors
        assert float(row["beside_told"]) <= 2 * float(row["beside_told_error"])
