"""Which instance with which seed, for the whole run."""

import sys
from itertools import islice

import numpy as np
import pytest

from racer import SettingError
from racer.core.blocks import Stream
from racer.deciders.parts.groups import GroupMeans, Groups
from racer.seeding import block_seed


def instances(stream, n):
    return [stream.place(block).instance for block in range(n)]


def test_shuffled_instances_all_come_before_any_comes_again_in_another_order():
    stream = Stream(20, seed=1)
    first, second = instances(stream, 40)[:20], instances(stream, 40)[20:]
    assert sorted(first) == sorted(second) == list(range(20))
    assert first != second
    assert first != list(range(20))
    assert instances(Stream(20, seed=2), 20) != first


def test_given_instances_come_as_they_stand():
    assert instances(Stream(3, seed=1, order="given"), 7) == [0, 1, 2, 0, 1, 2, 0]


def test_deterministic_ones_are_used_once():
    stream = Stream(5, seed=1, deterministic=True)
    assert stream.length == 5
    assert list(stream.new_ones(3)) == [3, 4]
    assert list(stream.new_ones(5)) == []
    assert list(islice(Stream(5, seed=1).new_ones(3), 4)) == [3, 4, 5, 6]


def test_old_blocks_come_in_another_order_in_each_race():
    stream = Stream(5, seed=1)
    orders = [stream.old_ones(race, 12) for race in range(2)]
    assert orders[0] != orders[1]
    assert [sorted(order) for order in orders] == [list(range(12))] * 2
    assert all(type(block) is int for block in orders[0])


def test_held_out_instances_have_seeds_of_their_own():
    places = [Stream(3, 1).held_out(index) for index in range(10)]
    assert [place.instance for place in places] == list(range(10))
    assert len({place.seed for place in places} | {block_seed(1, b) for b in range(10)}) == 20


def test_settings_are_checked():
    with pytest.raises(SettingError, match="order='sorted': choose 'shuffled' or 'given'"):
        Stream(3, seed=1, order="sorted")
    with pytest.raises(SettingError, match="deterministic=True without instances"):
        Stream(None, seed=1, deterministic=True)


class Long(tuple):
    """Numbers of so many instances that none may be looked for among them at each block."""

    __slots__ = ()
    __hash__ = count = index = None


@pytest.mark.parametrize("order", ["given", "shuffled"])
def test_groups_are_sorted_once_for_all_blocks(order):
    groups = Groups(Long((0, 1, 1, 0, 2)))
    stream = Stream(5, seed=1, order=order, groups=groups)
    means = GroupMeans(groups)
    for turn in range(40):
        taken = instances(stream, 5 * turn + 5)[5 * turn :]
        together = sorted([i for i in taken if i in group] for group in groups.members)
        assert together == [[0, 3], [1, 2], [4]]
        assert order == "shuffled" or taken == [0, 3, 1, 2, 4]
        found = [means.add(instance, np.array([1.0 * instance])) for instance in taken]
        assert sorted(float(mean[0]) for mean in found if mean is not None) == [1.5, 1.5, 4.0]


@pytest.mark.filterwarnings("error")
def test_the_mean_of_a_group_of_the_largest_floats_is_finite():
    means, most = GroupMeans(Groups((0, 0))), sys.float_info.max
    assert means.add(0, np.array([most, 1.0])) is None
    found = means.add(1, np.array([most, 2.0]))
    assert found is not None
    assert found.tolist() == [most, 1.5]
