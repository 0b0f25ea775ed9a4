"""Deciders by name, and what is no decider."""

from __future__ import annotations

import dataclasses

import pytest

from racer import SettingError
from racer.deciders import (
    DECIDERS,
    AnytimeRace,
    BayesianBest,
    BayesianFriedman,
    BestForBudget,
    BradleyTerryRace,
    CorrelatedTRace,
    Decider,
    FRace,
    PlackettLuceRace,
    SequentialHalving,
    SignedRankRace,
    TRace,
    as_decider,
)


@pytest.mark.parametrize(
    ("name", "decider"),
    [
        ("bayesian-friedman", BayesianFriedman()),
        (
            "bayesian-friedman-2015",
            BayesianFriedman(gate="region", equalities="joint", pair_strength=0.0),
        ),
        ("best-for-budget", BestForBudget()),
        ("bayesian-best", BayesianBest()),
        ("f-race", FRace(posthoc="conover")),
        ("f-race-sign", FRace(posthoc="sign")),
        ("f-race-mean-rank", FRace(posthoc="mean-rank")),
        ("t-race", TRace()),
        ("correlated-t", CorrelatedTRace()),
        ("halving", SequentialHalving()),
        ("anytime", AnytimeRace()),
        ("bradley-terry", BradleyTerryRace()),
        ("plackett-luce", PlackettLuceRace()),
        ("signed-rank", SignedRankRace()),
    ],
)
def test_a_name_stands_for_default_settings(name, decider):
    assert as_decider(name) == decider
    assert isinstance(as_decider(name), Decider)


def test_every_name_is_tested_here():
    assert len(DECIDERS) == 14


def test_a_decider_stays_itself():
    decider = FRace(alpha=0.01)
    assert as_decider(decider) is decider


def test_anything_with_start_and_decide_is_a_decider():
    class Mine:
        def start(self, n_candidates, rng):
            return None

        def decide(self, state, blocks):
            raise NotImplementedError

    mine = Mine()
    assert as_decider(mine) is mine


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("f-rase", "f-race"),
        ("frace", "f-race"),
        ("t_race", "t-race"),
        ("bayesian_friedman", "bayesian-friedman"),
        ("bayesian-fridman", "bayesian-friedman"),
        ("f-race-signs", "f-race-sign"),
        ("F-Race", "f-race"),
    ],
)
def test_an_unknown_name_suggests_the_nearest_and_lists_all(typed, meant):
    with pytest.raises(SettingError, match=f"{typed}.* unknown.*did you mean '{meant}'") as error:
        as_decider(typed)
    assert all(name in str(error.value) for name in DECIDERS)


def test_a_name_like_none_suggests_nothing():
    with pytest.raises(SettingError, match="decider='xyzzy' is unknown: choose one of") as error:
        as_decider("xyzzy")
    assert "did you mean" not in str(error.value)


@pytest.mark.parametrize("decider", [BayesianFriedman, FRace, TRace])
def test_a_class_is_refused_with_what_to_give(decider):
    name = decider.__name__
    with pytest.raises(SettingError, match=rf"decider={name} is a class: give {name}\(\)"):
        as_decider(decider)


@pytest.mark.parametrize(
    "decider",
    [None, 3, object(), lambda costs: costs],
    ids=["None", "number", "object", "function"],
)
def test_what_is_no_decider_is_refused_with_what_to_give(decider):
    with pytest.raises(SettingError, match=r"is not a decider: give a name .*start.*decide"):
        as_decider(decider)


@pytest.mark.parametrize("name", DECIDERS)
def test_settings_are_frozen(name):
    decider = as_decider(name)
    field = dataclasses.fields(decider)[0].name
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(decider, field, 1)
    assert hash(decider) == hash(as_decider(name))
