"""The process of failures: chance, a share of the evaluations, and what fails for sure."""

import numpy as np

from racer.model.failing import Failing, sure

N = 8  # instances


def learnt(fails, seed=0, n=60, last=None):
    """Return a process that has seen n configurations of one parameter on two instances each."""
    rng = np.random.default_rng(seed)
    x = rng.random(n)
    points = np.stack([x, np.zeros(n)], axis=1)[:, None, :]
    at = np.repeat(np.arange(n), 2)
    places = (at * 2 + np.tile([0, 1], n)) % N
    failed = np.array([fails(x[k], i, rng.random()) for k, i in zip(at, places, strict=True)])
    return Failing(points, at, places, failed, N, last)


def at_places(*x):
    return np.stack([np.array(x), np.zeros(len(x))], axis=1)[:, None, :]


def test_failures_by_chance_have_one_price_everywhere():
    failing, price = learnt(lambda x, i, luck: luck < 0.05)(at_places(0.1, 0.5, 0.9))
    assert np.ptp(price) < 1.0  # spreads of a block
    assert not sure(failing).any()
    assert np.abs(failing.mean(axis=1) - 0.05).max() < 0.05


def test_a_larger_share_of_failures_has_a_larger_price():
    _, price = learnt(lambda x, i, luck: luck < (0.5 if x < 0.4 else 0.02))(at_places(0.2, 0.8))
    assert price[0] > price[1] + 10.0


def test_where_a_region_fails_on_an_instance_is_found():
    learnt_from = learnt(lambda x, i, luck: x < 0.5 and i % 2 == 0, n=150)
    failing, price = learnt_from(at_places(0.2, 0.8))
    assert sure(failing).tolist() == [N // 2, 0]
    assert (failing[0, ::2] > 0.5).all()
    assert np.ptp(price) < 10.0  # a doubt that an evaluation ends has no price


def test_laws_are_kept_between_fits_until_the_likeliest_is_another():
    first = learnt(lambda x, i, luck: x < 0.3, n=350)
    assert first.n_cells == 700  # a part of which is learnt from
    more = learnt(lambda x, i, luck: x < 0.3, n=351, last=first)
    assert {*more.laws} <= {*first.laws}
    of_others = [learnt(lambda x, i, luck: luck < 0.3, n=351, last=last) for last in (first, None)]
    assert of_others[0].laws == of_others[1].laws
