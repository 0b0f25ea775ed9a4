"""The script that sets regret against observations."""

import numpy as np
import pytest
from typed import typed

from experiments.frontier.bandits import BANDITS, ocba, played, top_two
from experiments.frontier.tables import COMPETITORS, Size, main, point, races
from experiments.report import read
from racer.simulate import NormalWorld

SIZE = Size(rho=0.5, repetitions=6, jobs=1, seed=3)
SMALL = ["--candidates", "8", "--repetitions", "3", "--jobs", "1", "--budgets", "8 25"]


def test_a_line_per_decider_and_a_row_for_each_cell(tmp_path):
    path = tmp_path / "f.csv"
    words = (*SMALL, "--csv", path, "--worlds", "normal runtime")
    result = typed(*words, command=main, exits=0)
    assert result.stdout.count("| `best-for-budget` ") == 1
    rows = read(path)
    assert len(rows) == 2 * 2 * len(COMPETITORS)
    assert {row["decider"] for row in rows} == set(COMPETITORS)
    assert all(float(row["observations"]) <= float(row["budget"]) for row in rows)


def test_halving_is_measured_against_itself_at_the_same_observations():
    own = point("halving", "normal", 8, 400, SIZE)
    assert (own["ratio"], own["ratio_se"], own["halving"]) == (1.0, 0.0, own["regret"])
    early = point("t-race", "normal", 8, 4000, SIZE)
    assert early["observations"] < 0.9 * 4000
    used, _, halving = races("halving", "normal", 8, round(early["observations"]), SIZE)
    assert early["halving"] == halving.mean()
    assert 0.9 * early["observations"] < used.mean() <= early["observations"]


def test_the_error_of_a_ratio_is_that_of_paired_races():
    size = Size(rho=1.0, repetitions=40, jobs=1, seed=3)
    names = ("halving-mean-rank", "halving")
    ours, theirs = (races(name, "normal", 8, 100, size)[2] for name in names)
    found = point(names[0], "normal", 8, 100, size)
    assert found["ratio"] == ours.mean() / theirs.mean()
    without = (ours.sum() - ours) / (theirs.sum() - theirs)  # the jackknife
    assert found["ratio_se"] == pytest.approx(np.sqrt(39 * without.var()), rel=0.2)


@pytest.mark.parametrize("name", BANDITS)
def test_a_bandit_finds_the_best_and_spends_its_budget(name):
    found = [played(name, NormalWorld(8, 0.3), 400, seed) for seed in range(20)]
    mae, regret = np.mean(found, axis=0)
    assert mae < 1.0
    assert regret < 0.1
    assert played(name, NormalWorld(8, 0.3), 400, 3) == found[3]


@pytest.mark.parametrize("rule", [ocba, top_two])
def test_evaluations_go_to_those_that_may_be_best(rule):
    means, variances = np.array([0.0, 0.1, 2.0, 2.0]), np.ones(4)
    given = rule(means, variances, np.full(4, 5), 40, np.random.default_rng(1))
    assert given.sum() == 40
    assert given[:2].sum() > 4 * given[2:].sum()
