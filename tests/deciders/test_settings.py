"""Settings of deciders that cannot work."""

import math
import re

import pytest

from racer import SettingError
from racer.deciders import (
    AnytimeRace,
    BayesianFriedman,
    CorrelatedTRace,
    FRace,
    MeanRace,
    TRace,
)


@pytest.mark.parametrize(
    ("decider", "settings"),
    [
        *[(BayesianFriedman, {"confidence": c}) for c in (0.0, 0.5, 1.0, 1.5, -1.0, math.nan)],
        *[(BayesianFriedman, {"epsilon": e}) for e in (-0.1, 0.5, 1.0, math.nan, math.inf)],
        *[(BayesianFriedman, {"strength": s}) for s in (-1.0, math.inf, math.nan)],
        *[(BayesianFriedman, {"gate": g}) for g in ("friedman", None, 1)],
        *[(BayesianFriedman, {"draws": d}) for d in (0, 99, 1000.0, True, "1000", None)],
        *[(FRace, {"alpha": a}) for a in (0.0, 0.5, 1.0, -1, math.nan)],
        *[(FRace, {"posthoc": p}) for p in ("nemenyi", "", None, "Conover")],
        *[(FRace, {"correction": c}) for c in ("bh", "", "Holm", False, "shaffer")],
        (TRace, {"correction": "shaffer"}),
        (CorrelatedTRace, {"correlation": 1.0}),
        (CorrelatedTRace, {"rope": -1.0}),
        *[(MeanRace, {"margin": m}) for m in (-1, "2%")],
        *[(MeanRace, {"bounds": b}) for b in ((1, 0), 3, (0, math.inf))],
        (MeanRace, {"familywise": 1}),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else str(value),
)
def test_a_setting_that_cannot_work_is_named_with_its_value(decider, settings):
    [(name, value)] = settings.items()
    with pytest.raises(SettingError, match=re.escape(f"{name}={value!r}: ") + "(give|choose) "):
        decider(**settings)


@pytest.mark.parametrize(
    ("decider", "settings"),
    [
        (BayesianFriedman, {"confidence": 0.501, "epsilon": 0.0, "strength": 0.0, "draws": 100}),
        (BayesianFriedman, {"confidence": 0.999, "epsilon": 0.499, "strength": 10, "gate": False}),
        (FRace, {"alpha": 0.499, "posthoc": "sign", "correction": "shaffer"}),
        (FRace, {"alpha": 1e-9, "posthoc": "mean-rank", "correction": "shaffer", "gate": False}),
        (AnytimeRace, {"alpha": 1e-300}),
    ],
)
def test_settings_at_the_edge_work(table, decider, settings):
    verdict = table.decide(decider(**settings), [[1.0, 2.0, 3.0]] * 12)
    assert verdict.best == 0
