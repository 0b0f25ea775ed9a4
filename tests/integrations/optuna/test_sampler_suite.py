"""Optuna's own conformance suite for samplers."""

import pytest
from optuna.testing.pytest_samplers import (
    BasicSamplerTestCase,
    RelativeSamplerTestCase,
    SingleOnlySamplerTestCase,
)

from racer.integrations.optuna import RacingSampler

pytestmark = pytest.mark.thorough


class TestRacingSampler(BasicSamplerTestCase, RelativeSamplerTestCase, SingleOnlySamplerTestCase):
    @pytest.fixture
    def sampler(self):
        return RacingSampler


class TestRacingSamplerWithElitesAtOnce(
    BasicSamplerTestCase, RelativeSamplerTestCase, SingleOnlySamplerTestCase
):
    @pytest.fixture
    def sampler(self):
        return lambda: RacingSampler(n_startup_trials=2, seed=1)
