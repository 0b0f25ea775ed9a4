"""E-processes of a pair by definition: bets by sizes of differences, and by signs alone."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from racer.deciders.parts.e_processes import Duels, log_e_of_signs

LAWS = settings(max_examples=10, deadline=None, derandomize=True)
SHARES = {"rank": (0.5, 0.7, 0.9), "median": (0.1, 0.2, 0.35, 0.5, 0.75, 1.0)}
each_size = pytest.mark.parametrize("sized", SHARES)


def e_values(one, other, sized):
    """Return E that one, and that other, costs more, as `Duels` knows them block by block."""
    duels = Duels(1, sized)
    for a, b in zip(one, other, strict=True):
        duels.add(np.array([a]), np.array([b]))
    return np.exp(duels.log_e()[:, 0])


def slowly(one, other, sized):
    """Return E that one costs more as it is written down."""
    products, sizes = dict.fromkeys(SHARES[sized], 1.0), []
    for a, b in zip(one.tolist(), other.tolist(), strict=True):
        if a == b:
            continue
        sign = 1.0 if a > b else -1.0
        if math.inf in (a, b):
            size = 1.0 if sized == "rank" else 3.0
        else:
            now = abs(a - b)
            so_far = [*sizes, now]
            if len(sizes) < 256:
                sizes.append(now)
            if sized == "rank":
                size = stats.rankdata(so_far)[-1] / len(so_far)
            else:
                size = min(now / np.median(sizes), 3.0)
        for c in SHARES[sized]:
            z = sign * size
            products[c] *= 1.0 + c * z if sized == "rank" else math.exp(c * z) / math.cosh(c * z)
    return sum(products.values()) / len(products)


def drawn(seed, n):
    """Return two columns of costs with ties and failures."""
    rng = np.random.default_rng(seed)
    costs = np.round(rng.standard_t(3, size=(2, n)), 1)
    costs[rng.random((2, n)) < 0.1] = np.inf
    return costs


@each_size
@LAWS
@given(seed=st.integers(0, 2**32 - 1))
def test_e_values_are_what_they_are_defined_to_be(sized, seed):
    one, other = drawn(seed, 25)
    expected = [slowly(one, other, sized), slowly(other, one, sized)]
    assert e_values(one, other, sized) == pytest.approx(expected, rel=1e-9)


@each_size
def test_later_differences_are_measured_by_the_first_256(sized):
    """Pairs reach 256 at different blocks: two ties in three leave the second one far behind."""
    costs = np.random.default_rng(5).normal(size=(2, 900, 2))
    ties = np.arange(900) % 3 != 0
    costs[0, ties, 1] = costs[1, ties, 1]
    duels = Duels(2, sized)
    for one, other in zip(*costs, strict=True):
        duels.add(one, other)
    for pair in range(2):
        one, other = costs[:, :, pair]
        expected = [slowly(one, other, sized), slowly(other, one, sized)]
        assert np.exp(duels.log_e()[:, pair]) == pytest.approx(expected, rel=1e-9)


@each_size
def test_the_most_that_blocks_to_come_can_bring_is_that_one_of_the_pair_fails_on_each(sized):
    costs = np.random.default_rng(6).normal(size=(20, 2, 1))
    before, after = Duels(1, sized), Duels(1, sized)
    for one, other in costs:
        before.add(one, other)
        after.add(one, other)
    for _ in range(4):
        after.add(np.array([np.inf]), np.zeros(1))
    assert before.log_e(4)[0] == pytest.approx(after.log_e()[0], rel=1e-12)


@each_size
@pytest.mark.parametrize("noise", ["normal", "t(2)", "ties in size"])
def test_over_all_signs_that_differences_may_have_the_mean_is_one(sized, noise):
    """With fair signs given the sizes, each factor has mean 1 exactly, whatever the sizes."""
    rng = np.random.default_rng(5)
    draw = {"normal": rng.normal, "t(2)": lambda size: rng.standard_t(2, size)}
    sizes = np.abs(draw[noise](size=7)) if noise in draw else rng.integers(1, 4, size=7)
    total = 0.0
    for signs in itertools.product((-1.0, 1.0), repeat=7):
        total += e_values(sizes * signs, np.zeros(7), sized)[0]
    assert total / 2**7 == pytest.approx(1.0, rel=1e-9)


@each_size
def test_costs_whose_difference_overflows_are_no_failures(sized):
    signs = np.random.default_rng(2).choice([-1.0, 1.0], size=20)
    near, far = (e_values(size * signs, -size * signs, sized) for size in (0.5, 1.7e308))
    assert near.tolist() == far.tolist()
    smallest = np.where(signs > 0, [[5e-324], [0.0]], [[0.0], [5e-324]])
    assert near.tolist() == e_values(*smallest, sized).tolist()


@pytest.mark.parametrize(("lost", "won"), [(0, 0), (0, 1), (1, 0), (7, 3), (3, 7), (40, 20)])
def test_signs_alone_are_the_likelihood_ratio_of_the_upper_half(lost, won):
    ratio = integrate.quad(lambda p: p**lost * (1 - p) ** won, 0.5, 1.0, epsabs=0.0)[0]
    expected = math.log(2.0 * ratio) + (lost + won) * math.log(2.0)
    assert log_e_of_signs(np.array([lost]), np.array([won])) == pytest.approx([expected])


def test_signs_where_their_probability_is_below_the_smallest_float():
    [log_e] = log_e_of_signs(np.array([0]), np.array([3000]))
    assert math.exp(log_e) == pytest.approx(1.0 / 3001.0)
