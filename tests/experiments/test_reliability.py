"""The study of P(best): its counts, and the page that shows them."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from experiments.reliability import tables, worlds
from experiments.reliability.tables import Said, said
from experiments.reliability.worlds import KINDS, best_of

ROOT = Path(__file__).parents[2]


@pytest.mark.thorough
def test_what_is_said_is_counted_with_what_is_true(monkeypatch, tmp_path):
    monkeypatch.setattr(tables, "HERE", tmp_path)
    monkeypatch.setattr(tables, "EQUALS", (3,))
    monkeypatch.setattr(worlds, "HELD_OUT", 100)
    given = ["--repetitions", "1", "--jobs", "1"]
    CliRunner().invoke(tables.main, given, catch_exceptions=False)
    bins, found, claims, named = (
        pd.read_csv(tmp_path / f"{name}.csv") for name in ("bins", "worlds", "claims", "portfolios")
    )
    counted = (bins["true"] * bins["candidates"]).groupby(bins["kind"]).sum()
    assert counted["all"] == pytest.approx(counted.drop("all").sum(), rel=1e-3)
    whole = found.query("m == 0 and world == 'all'")["tables"].sum()
    assert counted["all"] == pytest.approx(whole, rel=1e-3)
    assert {*found["world"]} == {"all"}.union(*(some for _, _, some in KINDS.values()))
    assert found["contradictions"].sum() == 0
    assert len(claims) == 2 * 5
    assert list(named["solvers"]) == list(range(3, 16))
    assert tables.by_world(found, "failures").count("\n") == 2 + len(worlds.FAILING)
    assert tables.by_world(found).count("\n") == 1 + len(KINDS)


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind in ("tables", "failures") for name in KINDS[kind][2]]
)
def test_a_world_draws_the_same_again(kind, name):
    (costs, best), (again, _) = (KINDS[kind][2][name](np.random.default_rng(3), 9) for _ in "ab")
    assert np.array_equal(costs, again, equal_nan=True)
    assert best.shape == costs.shape[1:] == (9,)
    assert best.sum() == pytest.approx(1.0)


def test_equals_share_the_truth_and_who_fails_of_its_own_has_none():
    assert best_of(np.array([0.0, 1.0, 0.0])).tolist() == [0.5, 0.0, 0.5]
    assert best_of(np.arange(3.0), np.array([0.3, 0.02, 0.0])).tolist() == [0.0, 1.0, 0.0]


def test_of_tunings_the_best_is_sought_among_those_that_are_compared():
    found = said("tunings", "sphere", 10, 1)
    assert found.best.sum() == pytest.approx(1.0)
    assert found.probability.sum() == pytest.approx(1.0)
    assert not found.contradicts


def test_a_summary_has_the_worst_bin_the_sets_and_the_logarithm(monkeypatch):
    monkeypatch.setattr(tables, "MANY", 2)
    chances, best = np.array([0.7, 0.2, 0.1]), np.array([0.0, 0.0, 1.0])
    found = tables.summary([Said("races", "w", 3, chances, best, 1.0, contradicts=False)] * 2)
    assert found["worst"] == pytest.approx(-0.9)
    assert (found["tables"], found["set"], found["said"], found["true"]) == (2, 1.0, 0.7, 0.0)
    assert found["log"] == pytest.approx(np.log(0.1))


@pytest.mark.parametrize("page", ["probabilities", "evidence_probabilities"])
def test_the_pages_name_the_largest_error(page):
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    counted = pd.read_csv(tables.HERE / "bins.csv").query("kind == 'all'")
    worst = float((counted["said"] - counted["true"]).abs().max())
    assert re.search(r"is within (\.\d+) of", text)[1] == f"{worst:.3f}"[1:]
