"""The script that measures how often deciders err: what it counts is what it says."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from playing import ONE_NUMBER, tell_block
from typed import typed

from experiments.error_rates import tables
from experiments.error_rates.tables import (
    COUNTS,
    DECIDERS,
    NAMED,
    PLANNERS,
    WORLDS,
    Cell,
    counts,
    main,
    rates,
)
from experiments.report import read
from racer import Race
from racer.deciders import AnytimeRace, FixedConfidence, FRace
from racer.simulate import NormalWorld

RECORDED = Path(__file__).parents[2] / "experiments" / "error_rates" / "error_rates.csv"
SMALL = (
    *(
        "--repetitions",
        "3",
        "--jobs",
        "1",
        "--deciders",
        "f-race halving",
        "--worlds",
        "normal heavy-tailed",
    ),
    *("--candidates", "10", "--effects", "0 1", "--blocks", "10 50"),
)


invoke = partial(typed, command=main, exits=0)


def test_every_decider_has_a_row():
    named = [name for name in ONE_NUMBER if isinstance(name, str)]
    assert [tables.label(name) for name in NAMED] == [f'"{name}"' for name in named]
    assert {DECIDERS[name] for name in tables.BY_CLASS} == set(ONE_NUMBER) - set(named)
    assert tables.label("bayesian-best") == "BayesianBest()"
    assert tables.label("bayesian-friedman-no-gate") == "BayesianFriedman(gate=False)"
    assert tables.label(tables.EACH_BLOCK) == "BayesianFriedman(pair_strength=0.0), each_test=1"


@pytest.mark.parametrize("world", WORLDS)
def test_one_candidate_is_better_by_the_effect(world):
    quality = Cell("f-race", world, 6, 0.25).draws_from().draw(3).quality
    assert sorted(quality) == [-0.25, 0, 0, 0, 0, 0]
    assert (Cell("f-race", world, 6, 0.0).draws_from().draw(3).quality == 0.0).all()


def counted(cell, seed, *horizons):
    """Return COUNTS by each horizon, (horizons, 4)."""
    found = counts(horizons, cell, seed)
    return np.array([list(found[blocks].values()) for blocks in horizons])


@pytest.mark.parametrize("name", DECIDERS)
def test_a_longer_race_contains_the_shorter_ones(name):
    """Counted from one race of 40 blocks or from one of 12: the same."""
    cell = Cell(name, "normal", 8, 0.5)
    for seed in range(2):
        together, alone = counted(cell, seed, 12, 40), counted(cell, seed, 12)
        if isinstance(
            DECIDERS[name], AnytimeRace | FixedConfidence
        ):  # may end as undecided before its own end
            np.testing.assert_array_equal(together[0, :2], alone[0, :2])
            assert (alone[0, 2:] <= together[0, 2:]).all()
        else:
            np.testing.assert_array_equal(together[0], alone[0])
        best, anyone, blocks, observations = together.T
        assert (best <= anyone).all()
        assert (observations <= np.minimum(blocks, [12, 40]) * 8).all()
        if not isinstance(DECIDERS[name], PLANNERS):
            assert (np.diff(together, axis=0) >= 0.0).all()


def test_counts_are_those_of_the_race():
    """Played here by hand; seed 5 is one in which the race goes on after dropping some."""
    drawn = NormalWorld(5, 1.0, qualities=(-1.0, 0.0, 0.0, 0.0, 0.0)).draw(5)
    race = Race.of(range(5), range(40), decider=FRace(), budget=200, seed=5, deterministic=True)
    for block in range(40):
        if race.ended is None:
            tell_block(race, drawn.costs(block)[list(race.alive)])
    result = race.result()
    (found,) = counted(Cell("f-race", "normal", 5, 1.0), 5, 40)
    assert found.tolist() == [
        float(int(drawn.quality.argmin()) not in result.survivors),
        float(len(result.survivors) < 5),
        len(result.blocks),
        result.evaluations,
    ]
    assert len(result.eliminations) > 0


def test_where_all_are_equal_the_share_of_them_that_is_dropped_is_counted():
    (found,) = counted(Cell("halving", "normal", 8, 0.0), 1, 40)
    best, anyone, blocks, observations = found
    assert (best, anyone) == (7 / 8, 1.0)  # halving leaves one of eight
    assert blocks > 40
    assert 300 < observations <= 320


def test_tables_and_file_say_the_same(tmp_path):
    path = tmp_path / "rates.csv"
    result = invoke(*SMALL, "--csv", str(path))
    rows = {(r["decider"], r["world"], r["effect"], r["blocks"]): r for r in read(path)}
    assert len(rows) == 2 * 2 * 2 * 2
    row = rows["f-race", "normal", "0", "50"]
    lines = [line for line in result.stdout.splitlines() if line.startswith('| `"f-race"`')]
    (cells,) = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    mean, error = (100 * float(row[f"best_dropped{end}"]) for end in ("", "_se"))
    assert cells[1] == f"{mean:.1f} ± {error:.1f}"
    assert cells[-1] == "-"  # 200 blocks were not asked for


def test_a_file_keeps_what_is_not_run_again(tmp_path):
    path = tmp_path / "rates.csv"
    invoke(*SMALL, "--deciders", "f-race", "--csv", str(path))
    before = path.read_text()
    result = invoke(*SMALL, "--deciders", "halving", "--csv", str(path))
    assert [line[:10] for line in result.stdout.splitlines() if line.startswith("| `")] == [
        '| `"f-race',
        '| `"halvin',
    ]
    invoke(*SMALL, "--deciders", "f-race", "--csv", str(path), "--seed", "2")
    lines = path.read_text().splitlines()
    assert len(lines) == 1 + 2 * 2 * 2 * 2
    kept = [line for line in before.splitlines() if line.startswith("f-race")]
    assert not set(kept) & set(lines)


def test_same_seed_same_figures_whatever_the_jobs():
    few = ("--deciders", "f-race", "--worlds", "normal")

    def table(*more):
        return invoke(*SMALL, *few, *more).stdout.partition("\n\n")[2]

    assert table() == table("--jobs", "2") != table("--seed", "2")


def test_the_anytime_race_keeps_its_alpha_in_every_cell_of_the_grid():
    grid = [row for row in read(RECORDED) if row["decider"].startswith("anytime")]
    assert len(grid) > 2 * 135  # with and without familywise
    assert {"interaction", "rare-failures"} < {row["world"] for row in grid}
    for row in grid:
        dropped = "any_dropped" if row["effect"] == "0" else "best_dropped"
        share = dropped if row["decider"] == "anytime-familywise" else "best_dropped"
        assert float(row[share]) <= 0.05 + 2.0 * float(row[f"{share}_se"])


@pytest.mark.parametrize(
    ("decider", "world", "candidates", "effect"),
    [
        ("anytime", "heavy-tailed", 2, 1.0),
        ("t-race", "unequal", 10, 1.0),
        ("bayesian-friedman", "normal", 10, 0.0),
        ("f-race", "heavy-tailed", 10, 0.0),
    ],
)
def test_recorded_rates_come_out_again(decider, world, candidates, effect):
    (recorded,) = [
        row
        for row in read(RECORDED)
        if (row["decider"], row["world"], row["candidates"]) == (decider, world, str(candidates))
        and (float(row["effect"]), row["blocks"]) == (effect, "10")
    ]
    # a longer race contains the shorter ones, but the anytime race may give up before its end
    blocks = (10, 50, 200) if decider == "anytime" else (10,)
    cell, races = Cell(decider, world, candidates, effect), int(recorded["repetitions"])
    row, *_ = rates([cell], blocks, races, 1, int(recorded["seed"]))
    for name in COUNTS:
        assert row[name] == pytest.approx(float(recorded[name]), rel=1e-5)
