"""The probability of being the least: by integration and by counting, and digits that hold."""

import math
from unittest import mock

import numpy as np
import pytest
from scipy.special import ndtr, stdtr

from racer.stats import best_posterior, least
from racer.stats.least import Part, lattice_points, probability_least
from racer.stats.places import Design, place_parts, scores

HALF_A_DIGIT = 0.005  # of the last that is printed
DRAWS = 400_000  # whose error is .0008


def close(one, other, tolerance):
    np.testing.assert_allclose(one, other, atol=tolerance)


def drawn(part, freedom, failing=None, seed=0):
    """Return how often each candidate is the smallest of random draws."""
    rng, m = np.random.default_rng(seed), len(part.mean)
    values = rng.standard_normal((DRAWS, m)) @ np.linalg.cholesky(part.covariance).T
    if freedom < math.inf:
        values /= np.sqrt(rng.chisquare(freedom, DRAWS) / freedom)[:, None]
    values += part.mean
    if failing is not None:
        classes = (rng.random((DRAWS, m, 1)) > failing.cumsum(axis=1)[:, :-1]).sum(axis=2)
        values[classes > classes.min(axis=1, keepdims=True)] = np.inf
    return np.bincount(values.argmin(axis=1), minlength=m) / DRAWS


def part_of(m, own):
    """Return m candidates; of a variance of about 1, so much is each one's own."""
    rng = np.random.default_rng(m)
    root = rng.normal(size=(m, m)) * math.sqrt((1.0 - own) / m)
    owns = own * rng.uniform(0.5, 2.0, m)
    mean = 0.8 * rng.normal(size=m)
    return Part(1.0, mean, root @ root.T + np.diag(owns), own=owns)


@pytest.mark.parametrize("own", [0.9, 0.05])
@pytest.mark.parametrize("freedom", [6.0, math.inf])
@pytest.mark.parametrize("m", [2, 5, 30])
def test_integration_and_counting_agree_with_chance(m, freedom, own):
    part = part_of(m, own)
    expected = drawn(part, freedom)
    close(probability_least([part], freedom), expected, HALF_A_DIGIT)
    close(probability_least([part._replace(own=None)], freedom), expected, 0.0085)


@pytest.mark.parametrize("m", [2, 10])
def test_only_who_is_in_the_lowest_class_may_be_the_least(m):
    part = part_of(m, 0.6)
    failing = np.random.default_rng(m).dirichlet([0.5, 4.0, 1.0], m)
    expected = drawn(part, 30.0, failing)
    close(probability_least([part], 30.0, failing), expected, HALF_A_DIGIT)
    close(probability_least([part._replace(own=None)], 30.0, failing), expected, 0.0085)


def test_classes_that_are_known_leave_the_lowest():
    part, failing = part_of(5, 0.6), np.eye(3)[[1, 2, 1, 2, 1]]
    found = probability_least([part], 30.0, failing)
    assert found[[1, 3]].tolist() == [0.0, 0.0]
    lowest = [part.of(np.array([0, 2, 4]))]
    np.testing.assert_array_equal(found[[0, 2, 4]], probability_least(lowest, 30.0))


def test_of_two_it_goes_by_their_difference():
    """One of Student's t: a probability that is known exactly."""
    for gap in (0.0, 0.3, 2.0):
        part = Part(1.0, np.array([0.0, gap]), np.diag([0.5, 1.5]), own=np.array([0.5, 1.5]))
        root = math.sqrt(2.0)
        close(probability_least([part])[0], ndtr(gap / root), 1e-3)
        close(probability_least([part], 5.0)[0], stdtr(5.0, gap / root), 1e-3)


def test_what_all_candidates_share_does_not_matter():
    part = part_of(8, 0.5)
    shared = part._replace(covariance=part.covariance + 50.0)
    close(probability_least([shared]), probability_least([part]), 1e-3)
    alone = Part(1.0, part.mean, np.diag(part.own) + 50.0, own=part.own)
    expected = probability_least([alone._replace(covariance=np.diag(part.own))])
    close(probability_least([alone]), expected, 1e-6)


def test_a_mixture_is_the_sum_of_its_parts():
    first, last = np.array([0.0, 9.0]), np.array([9.0, 0.0])
    for own in (None, np.ones(2)):
        parts = [Part(0.3, first, np.eye(2), own=own), Part(0.7, last, np.eye(2), own=own)]
        close(probability_least(parts), [0.3, 0.7], 1e-3)
    mixed = [Part(0.3, first, np.eye(2)), Part(0.7, last, np.eye(2), own=np.ones(2))]
    close(probability_least(mixed), [0.3, 0.7], 1e-3)


def test_candidates_without_any_error_share_what_is_equal():
    part = Part(1.0, np.array([1.0, 1.0, 2.0]), np.zeros((3, 3)), own=np.zeros(3))
    assert probability_least([part]).tolist() == [0.5, 0.5, 0.0]


def test_one_of_them_without_an_error_is_counted():
    """An atom: nothing is there to integrate over."""
    covariance = np.diag([0.0, 1.0])
    part = Part(1.0, np.zeros(2), covariance, own=np.diag(covariance).copy())
    close(probability_least([part]), [0.5, 0.5], 1e-3)


@pytest.mark.parametrize("m", [150, 300])
def test_many_candidates(m):
    part = Part(1.0, np.zeros(m), np.eye(m), own=np.ones(m))
    close(probability_least([part]), np.full(m, 1.0 / m), 1e-3)
    failing = np.tile([0.0, 0.8, 0.2], (m, 1))
    close(probability_least([part], 9.0, failing), np.full(m, 1.0 / m), 2e-3)


@pytest.mark.parametrize("settings", [{}, {"shared": 0.25}, {"n_blocks": 30}])
def test_what_each_candidate_has_of_its_own_leaves_a_covariance(settings):
    """After a race with unequal noise, and with effects that are nearly all equal or far apart."""
    rng = np.random.default_rng(1)
    costs = rng.normal(size=(20, 12)) * np.linspace(0.5, 2.0, 12) + 0.3 * rng.normal(size=12)
    costs[np.arange(20)[:, None] >= rng.integers(4, 21, 12)] = math.nan
    for part in place_parts(scores(costs), Design(**settings))[0]:
        smallest = np.linalg.eigvalsh(part.covariance - np.diag(part.own))[0]
        assert smallest >= -1e-9 * np.trace(part.covariance)
        assert part.own.max() <= np.diag(part.covariance).max() * (1.0 + 1e-9)
        assert (part.own > 0.0).all() or not part.covariance.any()


def test_half_a_printed_digit_holds_in_races():
    """By integration, and with four times as many points for it."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        costs = rng.normal(size=(20, 30)) + 0.3 * rng.normal(size=30)
        costs[np.arange(20)[:, None] >= rng.integers(4, 21, 30)] = math.nan
        found = best_posterior(costs).probability_best
        with mock.patch.object(least, "_CELLS", 4 * least._CELLS):
            close(found, best_posterior(costs).probability_best, 0.5 * HALF_A_DIGIT)


def test_the_odds_of_a_normal_value_are_a_polynomial():
    z = np.linspace(least._LEAST_PLACE, 6.0, 1001)
    first, third, fifth = least._LOG_ODDS
    found = 1.0 / (1.0 + np.exp(z * (first + third * z**2 + fifth * z**4)))
    close(found, ndtr(-z), 2e-5)


def test_fewer_points_are_the_first_quarter():
    (many, scale), (few, scale_of_few) = lattice_points(3), lattice_points(3, fewer=True)
    for all_of_them, quarter in ((many.T, few.T), (scale(4.0), scale_of_few(4.0))):
        assert len(all_of_them) == 4 * len(quarter)
        np.testing.assert_array_equal(all_of_them[: len(quarter)], quarter)


def test_each_turn_has_other_points():
    first, last = lattice_points(40)[0], lattice_points(40, turn=31)[0]
    assert first.shape == last.shape == (40, 4096)
    assert not (first == last).all(axis=1).any()
