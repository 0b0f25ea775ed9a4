import numpy as np

from racer.deciders.parts.failures import FailedCells

INF = np.inf


def test_a_failure_is_a_range_of_its_block_behind_the_worst():
    failed = FailedCells()
    assert failed.imputed(np.array([1.0, INF, 3.0])).tolist() == [1.0, 5.0, 3.0]
    assert failed.imputed(np.array([1.0, INF, 2.0])).tolist() == [1.0, 3.0, 2.0]


def test_beside_one_success_the_median_range_of_the_blocks_so_far_counts():
    failed = FailedCells()
    for high in (11.0, 12.0, 19.0):
        failed.imputed(np.array([10.0, high]))
    assert failed.imputed(np.array([INF, 100.0])).tolist() == [102.0, 100.0]
    assert failed.imputed(np.array([100.0, INF, 100.0])).tolist() == [100.0, 102.0, 100.0]


def test_costs_that_tie_but_for_rounding_have_no_range():
    failed = FailedCells()
    for block in ([10.0, 12.0], [0.1 + 0.2, 0.3], [0.1 + 0.2, 0.3]):
        failed.imputed(np.array(block))
    found = failed.imputed(np.array([0.1 + 0.2, INF, 0.3]))
    assert found.tolist() == [0.1 + 0.2, 0.1 + 0.2 + 2.0, 0.3]


def test_before_any_range_is_known_the_size_of_the_costs_counts():
    assert FailedCells().imputed(np.array([4.0, INF])).tolist() == [4.0, 8.0]


def test_a_block_without_failures_is_returned_as_it_is():
    costs = np.array([1.0, 2.0])
    assert FailedCells().imputed(costs) is costs
