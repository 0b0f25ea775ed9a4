"""Racing over a given table of costs, with a record of every verdict."""

from types import SimpleNamespace

import numpy as np
import pytest

from racer import Outcome, Race
from racer.deciders import Blocks, Decider, Setting


class Recorded(Decider):
    """A decider, with a record of what it said at each look."""

    def __init__(self, decider):
        self.decider = decider
        self.looks = []

    def start(self, setting):
        return self.decider.start(setting)

    def decide(self, state, blocks):
        state, verdict = self.decider.decide(state, blocks)
        self.looks.append((blocks.candidates.tolist(), verdict))
        return state, verdict


def race_over(decider, costs, **settings):
    """Race over a table of costs (blocks x candidates, inf for a failed cell)."""
    n, m = costs.shape
    recorded = Recorded(decider)
    race = Race.of(
        range(m),
        range(n),
        decider=recorded,
        budget=n * m,
        deterministic=True,
        **{"seed": 0, **settings},
    )
    while cells := race.ask():
        for cell in cells:
            cost = float(costs[cell.instance, cell.candidate])
            value = -cost if settings.get("maximize") else cost
            race.tell(cell, Outcome("failed") if np.isinf(cost) else Outcome("ok", value))
    return race.result(), recorded.looks


def decide(decider, costs, *, step=None, seed=0, budget=None):
    """Show a table of costs to a decider, `step` blocks at a time, and return its last verdict."""
    costs = np.asarray(costs, dtype=np.float64)
    n, m = costs.shape
    state = decider.start(Setting(m, np.random.default_rng(seed), budget=budget))
    verdict = None
    for start in range(0, n, step or n):
        blocks = Blocks(np.arange(m), costs[start : start + (step or n)])
        state, verdict = decider.decide(state, blocks)
    return verdict


def check_drop(drop, alive):
    """Assert that a drop says everything it should."""
    assert drop.candidate in alive
    assert drop.against in alive
    assert drop.against != drop.candidate
    assert drop.reason in ("inferior", "indistinguishable", "unlikely")
    assert drop.measure in ("posterior", "p-value", "e-value")
    if drop.measure == "e-value":  # no probability; 1 / alpha, by default
        assert 20.0 <= drop.probability < np.inf
    else:
        assert 0.0 <= drop.probability <= 1.0


@pytest.fixture(name="table", scope="session")
def _table():
    return SimpleNamespace(race_over=race_over, decide=decide, check_drop=check_drop)
