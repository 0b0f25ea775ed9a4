"""Settings of deciders that cannot work."""

import math
import re

import pytest

from racer import SettingError
from racer.deciders import (
    AnytimeRace,
    BayesianBest,
    BayesianFriedman,
    BestForBudget,
    BradleyTerryRace,
    CorrelatedTRace,
    FixedConfidence,
    FRace,
    MeanRace,
    SequentialHalving,
    SignedRankRace,
    TRace,
)
from racer.deciders.faster import FasterRace


@pytest.mark.parametrize(
    ("decider", "settings"),
    [
        *[(BayesianFriedman, {"confidence": c}) for c in (0.0, 0.5, 1.0, 1.5, -1.0, math.nan)],
        *[(BayesianFriedman, {"epsilon": e}) for e in (-0.1, 0.5, 1.0, math.nan, math.inf)],
        *[(BayesianFriedman, {"strength": s}) for s in (-1.0, math.inf, math.nan)],
        *[(BayesianFriedman, {"gate": g}) for g in ("friedman", None, 1)],
        *[(BayesianFriedman, {"equalities": e}) for e in ("all", None, True)],
        *[(BayesianFriedman, {"draws": d}) for d in (0, 99, 1000.0, True, "1000", None)],
        *[
            (kind, {"alpha": a})
            for kind in (FRace, TRace, AnytimeRace, FasterRace, MeanRace)
            for a in (0.0, 0.5, 1.0, -1, math.nan)
        ],
        *[(FixedConfidence, {"confidence": c}) for c in (0.5, 1.0, math.nan)],
        *[(FixedConfidence, {"form": f}) for f in ("sign", "", None, "Median", 1)],
        *[(FRace, {"last_two": t}) for t in ("wilcoxon", "", 2)],
        *[(FRace, {"posthoc": p}) for p in ("nemenyi", "", None, "Conover")],
        *[(kind, {"correction": c}) for kind in (FRace, TRace) for c in ("bh", "", "Holm", False)],
        (FRace, {"correction": "shaffer"}),
        (TRace, {"correction": "shaffer"}),
        *[(BradleyTerryRace, {"threshold": t}) for t in (0.0, 1.0, -1, math.nan, "5")],
        *[(BradleyTerryRace, {"sigma": s}) for s in (0.0, -1.0, 1e9, math.inf, math.nan, None)],
        *[(SignedRankRace, {"confidence": c}) for c in (0.5, 1.0, math.nan)],
        *[(SignedRankRace, {"ignorance": s}) for s in (-0.1, math.inf, math.nan)],
        *[(kind, {"draws": 99}) for kind in (BradleyTerryRace, SignedRankRace)],
        *[
            (kind, {"gate": g})
            for kind in (BradleyTerryRace, SignedRankRace, FRace)
            for g in (1, None, "no")
        ],
        (BradleyTerryRace, {"independent": 0}),
        *[
            (kind, {"by": by})
            for kind in (SequentialHalving, BayesianBest, BestForBudget)
            for by in ("median", 3)
        ],
        (BayesianBest, {"draws": 10}),
        *[
            (CorrelatedTRace, setting)
            for setting in (
                {"correlation": 1.0},
                {"confidence": 0.5},
                {"rope": -1.0},
                {"draws": 99},
            )
        ],
        *[(FasterRace, {"margin": m}) for m in (-0.01, math.inf)],
        *[(MeanRace, {"margin": m}) for m in (-1, "2%")],
        *[(MeanRace, {"bounds": b}) for b in ((1, 0), 3, (0, math.inf))],
        *[(MeanRace, setting) for setting in ({"population": "no"}, {"familywise": 1})],
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
        (FRace, {"correction": "hochberg"}),
        (TRace, {"correction": "bonferroni"}),
        (AnytimeRace, {"alpha": 0.499}),
        (AnytimeRace, {"alpha": 1e-300}),
        (BradleyTerryRace, {"threshold": 0.999, "sigma": 1e-3, "draws": 100}),
        (BradleyTerryRace, {"threshold": 1e-9, "sigma": 1e3, "gate": False, "independent": True}),
        (SignedRankRace, {"confidence": 0.501, "ignorance": 0.0, "draws": 100}),
        (SignedRankRace, {"confidence": 0.999, "ignorance": 100, "gate": False}),
    ],
)
def test_settings_at_the_edge_work(table, decider, settings):
    verdict = table.decide(decider(**settings), [[1.0, 2.0, 3.0]] * 12)
    assert verdict.best == 0
