"""Randomness is a function of what it is for, never of when it is drawn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from racer import SettingError
from racer.seeding import block_seed, check_seed, rng_for, seed_for

LAWS = settings(max_examples=25, deadline=None, derandomize=True)

seeds = st.integers(0, 2**70)
keys = st.lists(st.integers(0, 2**31) | st.text(max_size=8), max_size=3).map(tuple)


@LAWS
@given(seeds, keys)
def test_the_same_key_gives_the_same_numbers(seed, key):
    first, second = rng_for(seed, *key), rng_for(seed, *key)
    assert first.random(5).tolist() == second.random(5).tolist()
    assert seed_for(seed, *key) == seed_for(seed, *key)


@LAWS
@given(seeds, keys)
def test_seeds_have_31_bits(seed, key):
    assert 0 <= seed_for(seed, *key) < 2**31


@LAWS
@given(seeds, st.lists(st.integers(0, 3000), min_size=1, max_size=6))
def test_block_seeds_do_not_depend_on_the_order_of_asking(seed, blocks):
    one_way = {block: block_seed(seed, block) for block in blocks}
    other_way = {block: block_seed(seed, block) for block in reversed(blocks)}
    assert one_way == other_way
    assert all(0 <= s < 2**31 - 1 for s in one_way.values())
    assert all(type(s) is int for s in one_way.values())


def test_block_seeds_differ_between_blocks_and_between_races():
    first = [block_seed(1, block) for block in range(1000)]
    second = [block_seed(2, block) for block in range(1000)]
    assert len(set(first)) == 1000
    assert not set(first) & set(second)


@pytest.mark.parametrize(
    "other",
    [(2, "draws", 17), (1, "draw", 17), (1, "draws", 18), (1, "draws"), (1, 17, "draws"), (1,)],
)
def test_another_seed_or_key_gives_other_numbers(other):
    assert seed_for(1, "draws", 17) != seed_for(*other)
    assert rng_for(1, "draws", 17).random() != rng_for(*other).random()


def test_generators_of_different_keys_are_not_correlated():
    draws = np.stack([rng_for(0, "draws", block).standard_normal(2000) for block in range(20)])
    correlations = np.corrcoef(draws)[np.triu_indices(20, 1)]
    assert np.abs(correlations).max() < 5 / np.sqrt(2000)


@pytest.mark.parametrize("seed", [0, 7, 2**70, np.int64(5), np.uint8(200)])
def test_a_whole_number_is_taken_as_it_is(seed):
    assert check_seed(seed) == seed
    assert type(check_seed(seed)) is int


@pytest.mark.parametrize("seed", [-1, 1.0, 1.5, True, "1", np.float64(2)])
def test_other_seeds_are_refused(seed):
    with pytest.raises(SettingError, match=r"seed=.*give a whole number >= 0"):
        check_seed(seed)


def test_none_draws_a_fresh_seed():
    drawn = {check_seed(None) for _ in range(20)}
    assert len(drawn) > 1
    assert all(0 <= seed < 2**31 for seed in drawn)
