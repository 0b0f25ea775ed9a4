"""Benavoli et al.: A Bayesian Wilcoxon signed-rank test (ICML 2014), Tables 1 and 2.

With fewer repetitions and draws than the script (2000), at as many values of Delta, so that a loss
may be off by more, by 2.5 standard errors.
"""

import numpy as np
import pytest

from experiments.benavoli2014 import losses, published


@pytest.fixture(scope="module")
def parts():
    """Return the tables of ten parts of the repetitions."""
    curves = losses.play(7, 250, 300, seed=1, jobs=1)
    return [
        losses.tables([losses.Curve(c.delta, *(a[k::10] for a in c[1:])) for c in curves])
        for k in range(10)
    ]


@pytest.mark.thorough
@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("l1", losses.L1)
def test_losses_within_their_standard_errors(parts, number, l1):
    for test, figures in published.table(number).items():
        found = [part[number][test][l1] for part in parts]
        error = np.std(found, ddof=1) / 10**0.5
        assert error < 0.003
        assert np.mean(found) == pytest.approx(figures[l1], abs=0.0005 + 2.5 * error), test
