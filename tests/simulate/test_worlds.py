"""Worlds are what they say: costs around the qualities, and the probability of winning."""

import numpy as np
import pandas as pd
import pytest

from racer import ScoresError, SettingError
from racer.simulate import (
    CrossingRuntimesWorld,
    HeavyTailedWorld,
    InteractionWorld,
    NormalWorld,
    RareFailuresWorld,
    RecordedWorld,
    RuntimeWorld,
    UnequalInstancesWorld,
)

WORLDS = [
    NormalWorld(4, 0.5),
    HeavyTailedWorld(4, 0.5),
    UnequalInstancesWorld(4, 0.5),
    RuntimeWorld(4, 0.5),
    InteractionWorld(4, 0.5),
    CrossingRuntimesWorld(4, 0.5),
    RareFailuresWorld(4, 0.5),
]
each_world = pytest.mark.parametrize("world", WORLDS, ids=lambda world: type(world).__name__)


def table(drawn, n=4000):
    return np.array([drawn.costs(block) for block in range(n)])


@each_world
def test_wins_are_the_share_of_blocks_won(world):
    drawn = world.draw(3)
    costs = table(drawn)
    for i, j in ((0, 1), (1, 0), (2, 3)):
        share = (costs[:, i] < costs[:, j]).mean() + (costs[:, i] == costs[:, j]).mean() / 2
        expected = drawn.wins(i, j)
        error = np.sqrt(0.25 / len(costs) + 0.25 / 10_000)
        assert share == pytest.approx(expected, abs=4 * error)
        assert expected + drawn.wins(j, i) == pytest.approx(1.0, abs=1e-6)


@each_world
def test_a_draw_repeats_block_by_block_in_any_order(world):
    first, again = world.draw(7), world.draw(7)
    late = again.costs(5)
    np.testing.assert_array_equal(first.quality, again.quality)
    np.testing.assert_array_equal(first.costs(0), again.costs(0))
    np.testing.assert_array_equal(first.costs(5), late)
    assert (first.costs(0) != first.costs(1)).any()
    assert (world.draw(8).quality != first.quality).any()


def test_heavy_tails_are_those_of_student_s_t_with_two_degrees_of_freedom():
    drawn = HeavyTailedWorld(4, 0.5).draw(2)
    noise = np.abs(table(drawn) - drawn.quality) / 0.5
    for share, quantile in ((0.5, 0.8165), (0.8, 1.8856), (0.98, 6.9646)):
        error = np.sqrt(share * (1 - share) / noise.size)
        assert (noise < quantile).mean() == pytest.approx(share, abs=4 * error)


@pytest.mark.parametrize("spread", [0.3, 1.5])
def test_scales_of_instances_spread_as_asked(spread):
    costs = table(UnequalInstancesWorld(2, 1.0, qualities=(0.0, 0.0), spread=spread).draw(2))
    logs = np.log(np.abs(costs[:, 0] - costs[:, 1]))  # of |N| has a variance of pi^2 / 8
    assert logs.var() == pytest.approx(spread**2 + np.pi**2 / 8, rel=0.12)
    assert costs.mean(axis=1).std() > 9 * spread


def test_equal_candidates_that_interact_differ_on_blocks_of_their_own():
    """A pair's blocks are decided by more than the noise, and its order by nothing else."""
    drawn = InteractionWorld(3, 0.1, interaction=2.0, qualities=(0.0,) * 3).draw(1)
    costs = table(drawn)
    difference = costs[:, 0] - costs[:, 1]
    assert difference.std() > 0.3  # sqrt(2) 0.1 without interaction
    assert abs(difference.mean()) < 4 * difference.std() / np.sqrt(len(costs))
    assert drawn.wins(0, 1) == 0.5
    times = table(CrossingRuntimesWorld(3, 0.1, 2.0, qualities=(0.0,) * 3).draw(1))
    assert (times > 0).all()
    assert (times[:, 0] < times[:, 1]).mean() == pytest.approx(0.5, abs=0.04)


def test_rare_failures_make_the_mean():
    drawn = RareFailuresWorld(4, 0.5, loss=10.0).draw(3)
    costs = table(drawn)
    failed = costs > 5.0
    assert failed.mean(axis=0) == pytest.approx((drawn.quality + 1.0) / 10.0, abs=0.02)
    assert costs.mean(axis=0) == pytest.approx(drawn.quality, abs=0.2)
    with pytest.raises(SettingError, match="give numbers from -1 to loss - 1 = 19"):
        RareFailuresWorld(2, 1.0, qualities=(-1.5, 0.0))
    with pytest.raises(SettingError, match=r"interaction=0\.0: give"):
        InteractionWorld(2, 1.0, 0.0)


@pytest.mark.parametrize("cutoff", [0.5, 2.0])
def test_runtimes_end_at_the_cutoff(cutoff):
    costs = table(RuntimeWorld(4, 0.5, cutoff=cutoff).draw(2))
    assert costs.max() == cutoff
    assert costs.min() > 0.0
    assert 0.01 < (costs == cutoff).mean() < 0.99


@pytest.mark.parametrize("block", [63, 64, 1000])
@each_world
def test_a_block_does_not_depend_on_what_was_drawn_before(world, block):
    jumped, walked = world.draw(2), world.draw(2)
    table(walked, block)
    np.testing.assert_array_equal(jumped.costs(block), walked.costs(block))
    with pytest.raises(ValueError, match="read-only"):
        jumped.costs(block)[0] = 0.0


def test_unequal_instances_change_the_scale_not_the_order():
    plain = table(NormalWorld(6, 0.5).draw(4), 100)
    scaled = table(UnequalInstancesWorld(6, 0.5).draw(4), 100)
    np.testing.assert_array_equal(plain.argsort(axis=1), scaled.argsort(axis=1))


@pytest.mark.parametrize("world", [type(world) for world in WORLDS])
def test_qualities_may_be_given(world):
    """Each draw has them in an order of its own, so that no place is better than another."""
    given = world(4, 0.5, qualities=[-1.0, 0.0, 0.0, 2])
    assert given.qualities == (-1.0, 0.0, 0.0, 2.0)
    draws = [given.draw(seed).quality for seed in range(400)]
    assert all(sorted(quality) == [-1.0, 0.0, 0.0, 2.0] for quality in draws)
    at = np.bincount([int(quality.argmin()) for quality in draws], minlength=4)
    assert (abs(at - 100) < 4 * np.sqrt(400 * 0.25 * 0.75)).all()
    drawn = given.draw(1)
    best, worst = int(drawn.quality.argmin()), int(drawn.quality.argmax())
    share = (table(drawn)[:, best] < table(drawn)[:, worst]).mean()
    assert share == pytest.approx(drawn.wins(best, worst), abs=0.05)
    assert drawn.wins(best, worst) > 0.55


def test_normal_noise_has_the_spread_asked_for():
    drawn = NormalWorld(3, 0.25).draw(1)
    costs = table(drawn)
    np.testing.assert_allclose(costs.mean(axis=0), drawn.quality, atol=4 * 0.25 / np.sqrt(4000))
    np.testing.assert_allclose(costs.std(axis=0), 0.25, rtol=0.05)
    assert ((drawn.quality <= 0.0) & (drawn.quality >= -1.0)).all()


def test_a_recorded_table_is_played_row_by_row():
    rows = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [3.0, 2.0, 1.5]})
    given = RecordedWorld(rows, shuffle=False)
    assert (given.n_candidates, given.n_blocks) == (2, 3)
    np.testing.assert_array_equal(table(given.draw(9), 3), rows)
    np.testing.assert_allclose(given.draw(9).quality, [2.0, 6.5 / 3])
    assert given.draw(9).wins(0, 1) == pytest.approx((1 + 0.5) / 3)

    shuffled = [table(RecordedWorld(rows).draw(seed), 3).tolist() for seed in range(20)]
    assert all(sorted(drawn) == rows.to_numpy().tolist() for drawn in shuffled)
    assert len({str(drawn) for drawn in shuffled}) > 1


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (
            pd.DataFrame({"a": [1, 2, None], "b": [3, 4, 5]}, dtype="Int64"),
            r"1 cell\(s\) without a finite number, the first in row 2, column 0",
        ),
        ([[1.0], [2.0]], "at least 1 row and 2 columns"),
        ([["a", "b"]], "numbers only"),
    ],
)
def test_bad_tables(bad, message):
    with pytest.raises(ScoresError, match=message):
        RecordedWorld(bad)


def test_a_tail_out_of_range_is_refused():
    with pytest.raises(SettingError, match="tail="):
        RuntimeWorld(2, 0.1, tail=0.0)


def test_a_loss_too_small_for_the_qualities_drawn_is_named():
    with pytest.raises(SettingError, match=r"loss=0.5: give a number >= 1"):
        RareFailuresWorld(3, 0.1, loss=0.5)
    with pytest.raises(SettingError, match=r"qualities=.*from -1 to loss - 1 = -0.5"):
        RareFailuresWorld(2, 0.1, loss=0.5, qualities=(-0.6, -0.2))
    assert RareFailuresWorld(2, 0.1, loss=0.5, qualities=(-0.6, -0.9)).loss == 0.5
