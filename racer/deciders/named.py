"""Deciders by name."""

from __future__ import annotations

import difflib
from functools import lru_cache, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import racer.deciders.registry as registry  # noqa: PLR0402 (not by way of the package)
from racer._checks import is_whole
from racer.deciders.decider import OPTIONAL, Decider
from racer.errors import SettingError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from racer.deciders.decider import Goal

_CLASSES: dict[str, type[Decider]] = {
    found.__module__.rpartition(".")[2].replace("_", "-"): found
    for found in vars(registry).values()
    if isinstance(found, type)
}
_BY_CLASS = {"bayesian-best", "correlated-t", "signed-rank"}
DECIDERS: Mapping[str, Callable[[], Decider]] = MappingProxyType(
    {name: kind for name, kind in _CLASSES.items() if name not in _BY_CLASS}
    | {
        "bayesian-friedman-2015": partial(
            registry.BayesianFriedman, gate="region", equalities="joint", pair_strength=0.0
        ),
        "f-race-sign": partial(registry.FRace, posthoc="sign"),
        "f-race-mean-rank": partial(registry.FRace, posthoc="mean-rank"),
    }
)

OF_ONE_COST: tuple[str, ...] = tuple(
    n for n, make in DECIDERS.items() if "cost" in make().objectives
)
"""Those for a race without metrics."""

_TESTS = {"friedman": "f-race", "wilcoxon": "signed-rank"}


def default_decider(goal: Goal | None) -> str:
    """Return the name of the decider of a race that is given none."""
    if goal is None:
        return "bayesian-friedman"
    return "bayesian-front" if goal.kind == "front" and not any(goal.margins) else goal.kind


def name_of(decider: Decider) -> str:
    """Return how a decider is given in a call: its name in quotes, or the class of one's own."""
    known = [name for name, make in DECIDERS.items() if repr(make()) == repr(decider)]
    known += [name for name, kind in DECIDERS.items() if type(decider) is kind]
    return repr(known[0]) if known else type(decider).__name__


def as_decider(decider: str | Decider) -> Decider:
    """Return the decider of that name, with its default settings; or the object itself.

    Raises
    ------
    SettingError
        Unknown name (with the nearest one), or not a decider: `start`, `decide` or an attribute of
        the protocol is missing, or one is misspelt.

    Examples
    --------
    >>> import racer
    >>> racer.deciders.as_decider("f-race")
    FRace(posthoc='conover', alpha=0.05, gate='sign-flip', correction=None, last_two=None)
    """
    if isinstance(decider, str):
        if decider not in DECIDERS:
            raise SettingError(
                f"decider={decider!r} is unknown{_nearest(decider)}: choose one of "
                f"{', '.join(DECIDERS)}"
            )
        return DECIDERS[decider]()
    if isinstance(decider, type):
        raise SettingError(f"decider={decider.__name__} is a class: give {decider.__name__}()")
    _check_attributes(decider)
    return decider


def _nearest(decider: str) -> str:
    """Return a hint to the decider of a similar name, or of a similarly named test."""
    near = difflib.get_close_matches(decider.lower(), [*_TESTS, *_BY_CLASS, *DECIDERS], n=1)
    if not near:
        return ""
    name = _TESTS.get(near[0], near[0])
    meant = f"racer.deciders.{_CLASSES[name].__name__}()" if name in _BY_CLASS else repr(name)
    return f"; did you mean {meant}?"


def _check_attributes(decider: Any) -> None:
    """Raise SettingError if an attribute of the protocol is missing or misspelt."""
    if not hasattr(decider, "start") or not hasattr(decider, "decide"):
        raise SettingError(
            f"decider={decider!r} is not a decider: give a name ({', '.join(DECIDERS)}) or an "
            "object with start(setting) and decide(state, blocks)"
        )
    name = type(decider).__name__
    if misspelt := _misspelt(tuple(dir(decider))):
        given, meant = misspelt
        raise SettingError(f"{name}.{given} is no attribute of deciders; did you mean {meant!r}?")
    if missing := [wanted for wanted in OPTIONAL if not hasattr(decider, wanted)]:
        raise SettingError(
            f"the decider {name} has no attribute {missing[0]!r}: let {name} inherit from "
            "racer.deciders.Decider, which has a default for it"
        )
    if decider.tests != "growing" and not (is_whole(decider.tests) and decider.tests >= 1):
        raise SettingError(
            f'{name}.tests={decider.tests!r}: give a whole number >= 1, or "growing"'
        )


@lru_cache(maxsize=256)
def _misspelt(names: tuple[str, ...]) -> tuple[str, str] | None:
    """Return the first public name that is nearly one of the protocol, and that one."""
    for name in names:
        if not name.startswith("_") and name not in OPTIONAL:
            for near in difflib.get_close_matches(name, OPTIONAL, n=1, cutoff=0.85):
                return name, near
    return None
