"""Confidence sequences of means cover the mean at all times, and narrow."""

import numpy as np
import pytest

from racer.deciders import MeanRace, Setting
from racer.deciders.decider import Blocks
from racer.errors import ScoresError, SettingError
from racer.stats import difference_sequence, mean_sequence

SEEDS, ALPHA, N = 60, 0.2, 100


COIN = (lambda rng: rng.integers(0, 2, 300) * 1.0, 0.5)
SKEWED = (lambda rng: rng.beta(0.2, 1.8, 300), 0.1)


@pytest.mark.parametrize(
    ("draw", "mean", "n_items"),
    [
        (*COIN, None),
        (*SKEWED, 300),
        pytest.param(*COIN, 300, marks=pytest.mark.thorough),
        pytest.param(*SKEWED, None, marks=pytest.mark.thorough),
    ],
)
def test_the_mean_is_ever_outside_in_alpha_of_sequences_at_most(draw, mean, n_items):
    missed, widths = 0, []
    for seed in range(SEEDS):
        values = draw(np.random.default_rng(seed))
        true = mean if n_items is None else values.mean()
        sequence = mean_sequence(values[:N], 0, 1, n_items=n_items, alpha=ALPHA)
        missed += ((true < sequence.lower) | (sequence.upper < true)).any()
        widths.append(sequence.upper[-1] - sequence.lower[-1])
    assert missed / SEEDS <= ALPHA + 2 * (ALPHA * (1 - ALPHA) / SEEDS) ** 0.5
    assert np.mean(widths) < 0.3  # so that it says something


def test_ends_only_narrow_and_all_items_give_the_mean():
    values = np.random.default_rng(1).random(60)
    sequence = mean_sequence(values, 0, 1, n_items=60)
    assert (np.diff(sequence.lower) >= 0).all()
    assert (np.diff(sequence.upper) <= 0).all()
    assert sequence.lower[-1] == pytest.approx(values.mean())
    assert sequence.upper[-1] == pytest.approx(values.mean())


def test_the_interval_leaves_out_the_means_whose_e_value_is_large():
    x = np.random.default_rng(2).random(80)
    sequence = mean_sequence(x, 0, 1, alpha=0.1)
    low, high = sequence.lower[-1], sequence.upper[-1]
    for inside, sign in ((low, 1), (high, -1)):
        side = "larger" if sign > 0 else "smaller"
        assert sequence.e_values(inside - sign * 0.002, side).max() >= 2 / 0.1
        assert sequence.e_values(inside + sign * 0.002, side).max() < 2 / 0.1


def test_the_e_value_of_equal_means_is_that_of_the_race():
    rng = np.random.default_rng(3)
    x, y = rng.integers(0, 2, 40), rng.integers(0, 2, 40)
    state = MeanRace(population=True).start(Setting(2, rng, bounds=(0.0, 1.0)))
    state, _ = MeanRace(population=True).decide(
        state, Blocks(np.arange(2), np.array([x, y], float).T)
    )
    sequence = difference_sequence(x, y, 0, 1)
    assert np.log(sequence.e_values(0.0, "larger")[-1]) == pytest.approx(state.log_e[0, 1])


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: mean_sequence([], 0, 1), ScoresError, "no value"),
        (lambda: mean_sequence([0.5, 2], 0, 1), ScoresError, "2 is not between"),
        (lambda: mean_sequence([0.5, np.nan], 0, 1), ScoresError, "nan is not between"),
        (lambda: mean_sequence([0.5], 1, 0), SettingError, "largest value"),
        (lambda: mean_sequence([0.5, 1], 0, 1, n_items=1), ScoresError, "of n_items=1"),
        (lambda: difference_sequence([1], [1, 0], 0, 1), ScoresError, "same blocks"),
        (lambda: difference_sequence([1], [3], 0, 1), ScoresError, "y: 3"),
        (lambda: mean_sequence([1], 0, 1).e_values(2), SettingError, "from 0 to 1"),
    ],
)
def test_wrong_calls_are_refused_in_words(call, error, words):
    with pytest.raises(error, match=words):
        call()
