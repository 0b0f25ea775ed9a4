"""Deciders by name, and what is no decider."""

import dataclasses
import re
from pathlib import Path

import pytest
from playing import BY_CLASS

import racer
from racer import SettingError
from racer.deciders import (
    DECIDERS,
    BayesianFriedman,
    Decider,
    FRace,
    Scheduled,
    TRace,
    as_decider,
)


def page():
    """Return the page with the tables of deciders."""
    return (Path(__file__).parents[2] / "docs" / "deciders.md").read_text(encoding="utf-8")


def test_every_name_is_in_the_table_of_the_page():
    table = [line.split("|")[1] for line in page().splitlines() if line.startswith('| `"')]
    named = re.findall(r'`"([\w-]+)"`', " ".join(table))
    assert set(DECIDERS) <= set(named)


def test_each_public_decider_has_a_name_or_is_in_the_table_by_its_class():
    classes = {value for value in vars(racer.deciders).values() if isinstance(value, type)}
    found = {cls for cls in classes if Decider in cls.__mro__[1:]} - {Scheduled}
    named = {type(as_decider(name)) for name in DECIDERS}
    assert named.isdisjoint(map(type, BY_CLASS))
    assert found == named | {type(decider) for decider in BY_CLASS}
    assert all(f"| `{decider.__name__}()` |" in page() for decider in found - named)


class Mine(Decider):
    def start(self, setting):
        return None

    def decide(self, state, blocks):
        raise NotImplementedError


def test_a_decider_of_ones_own_has_defaults():
    mine = Mine()
    assert as_decider(mine) is mine
    assert (mine.tests, mine.takes_capped, mine.ends_itself, mine.judge) == (1, False, False, None)
    assert mine.planned_room(None, 7) is None


class Outsider:
    """Inherits from nothing, and has all attributes; a setting may be named nearly like one."""

    start, decide, planned_room = Mine.start, Mine.decide, Mine.planned_room
    tests, takes_capped, ends_itself, by_means, judge, bounds = 1, False, False, False, None, None
    objectives = ("cost",)
    first_test, each_test, min_survivors = Mine.first_test, Mine.each_test, Mine.min_survivors
    steps, n_tests, attested, starts = 1, 3, 4, 5


def test_an_object_with_all_attributes_is_a_decider():
    outsider = Outsider()
    assert isinstance(outsider, Decider)
    assert as_decider(outsider) is outsider


def test_a_missing_attribute_is_named_with_the_class_that_has_it():
    class Old:
        start, decide = Mine.start, Mine.decide

    with pytest.raises(SettingError, match=r"Old has no attribute 'tests': let Old inherit from"):
        as_decider(Old())


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("test", "tests"),
        ("takes_caped", "takes_capped"),
    ],
)
def test_a_misspelt_attribute_is_refused(name, meant):
    decider = type("Typed", (Mine,), {name: 1})()
    with pytest.raises(SettingError, match=f"Typed.{name} is no .*did you mean '{meant}'"):
        as_decider(decider)
    set_later = Mine()
    setattr(set_later, name, 1)
    with pytest.raises(SettingError, match=f"Mine.{name} is no .*did you mean '{meant}'"):
        as_decider(set_later)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("bayesian_friedman", "bayesian-friedman"),
        ("F-Race", "f-race"),
    ],
)
def test_an_unknown_name_suggests_the_nearest_and_lists_all(typed, meant):
    with pytest.raises(SettingError, match=f"{typed}.* unknown.*did you mean '{meant}'") as error:
        as_decider(typed)
    assert all(name in str(error.value) for name in DECIDERS)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("signed-rank", "SignedRankRace"), ("wilcoxon", "SignedRankRace")],
)
def test_the_name_of_a_decider_that_has_none_suggests_its_class(typed, meant):
    with pytest.raises(SettingError, match=rf"did you mean racer\.deciders\.{meant}\(\)\?"):
        as_decider(typed)


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
    decider, again = as_decider(name), as_decider(name)
    for name in [field.name for field in dataclasses.fields(decider)] or ["anything"]:
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(decider, name, 1)
    assert hash(decider) == hash(again)
