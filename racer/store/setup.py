"""What a recorded race was made of, and whether what is given now makes the same one."""

from __future__ import annotations

from dataclasses import fields, replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from racer.errors import StoreError, warn
from racer.evaluate.command.command import IDENTITY, Command
from racer.racing.budget import Budget
from racer.racing.rules import Rules
from racer.store.jsonable import (
    as_in,
    decode,
    encode,
    is_plain,
    qualified_name,
    renewed,
    same,
    shown_apart,
)
from racer.store.reader import sense_made_of
from racer.store.schema import Setup

if TYPE_CHECKING:
    from collections.abc import Mapping

    from racer.evaluate.objective import Objective
    from racer.racing.contest import Description
    from racer.store.writer import Store
    from racer.tuner.tuner import Tuner

_ALWAYS = {"block_size": 1, "proposals": 1}  # what stores without a setting had
VERSION = version("racer-tuning")
"""Read once: later the process may have lost the right to read what is installed."""


def described_objective(evaluate: Objective) -> dict[str, Any]:
    """Return the name of an objective, and all of a program."""
    command = {"command": evaluate.settings} if isinstance(evaluate, Command) else {}
    return {"evaluate": qualified_name(evaluate), **command}


def set_up(description: Description, evaluate: Objective, how: Mapping[str, Any]) -> Setup:
    """Encode what a contest is made of, the name of its objective, and how that is evaluated."""
    settings: dict[str, Any] = {"racer": VERSION, **described_objective(evaluate)}
    return Setup(
        {
            name: encode(value)
            for name, value in {**settings, **description.settings, **how}.items()
        },
        [encode(config) for config in description.candidates],
        None
        if description.instances is None
        else [encode(instance) for instance in description.instances],
    )


def continued(
    store: Store | None, rules: Rules, *, tuned: bool, any_decider: bool = False
) -> Rules:
    """Return the rules that continue a stored contest: its seed, its budgets or a larger one.

    Its distance of tests and whether it is deterministic, too, unless given; its decider, if any will do; a decider's settings
    that are younger than the store are what they were then, unless given.
    """
    if store is None or not store.holds_a_race:
        return rules
    recorded = store.reader.setup()
    refuse_other_kind(store.path, recorded, tuned=tuned)
    if rules.seed is None:
        seed = rebuilt(store.path, "seed", recorded.settings.get("seed"))
        rules = replace(rules, seed=seed)
    if rules.each_test is None:
        each_test = rebuilt(store.path, "each_test", recorded.settings.get("each_test"))
        rules = replace(rules, each_test=each_test)
    if rules.deterministic is None:
        deterministic = rebuilt(store.path, "deterministic", recorded.settings.get("deterministic"))
        rules = replace(rules, deterministic=deterministic)
    if any_decider:
        decider = rebuilt(store.path, "decider", recorded.settings.get("decider"))
        rules = replace(rules, decider=decider)
    decider = as_in(recorded.settings.get("decider"), rules.decider)
    if decider is not rules.decider:
        rules = replace(rules, decider=decider)
    if not tuned or not isinstance(rules.budget, Budget):
        return rules
    written = rebuilt(store.path, "budget", recorded.settings.get("budget"))
    budgets = written if isinstance(written, list) else [written]
    if isinstance(budgets[-1], Budget) and rules.budget.is_larger(budgets[-1]):
        return replace(rules, budget=(*budgets, rules.budget))
    is_same = same(encode(budgets[-1]), encode(rules.budget))
    return replace(rules, budget=written) if is_same else rules


def recorded_rules(store: Store, **given: Any) -> dict[str, Any]:
    """Return the recorded rules, but for those that are given: another decider, a larger budget."""
    recorded = store.reader.setup()
    tuned = "space" in recorded.settings
    names = [field.name for field in fields(Rules) if field.name in recorded.settings]
    values = {
        name: rebuilt(store.path, name, recorded.settings[name])
        if given.get(name) is None
        else given[name]
        for name in names
    }
    settings = continued(store, Rules(**values), tuned=tuned).settings()
    return {name: settings[name] for name in names}


def rebuilt(path: str, name: str, encoded: Any) -> Any:
    """Return what was encoded; StoreError if it was only described, or makes no sense."""
    try:
        return decode(encoded)
    except ValueError as error:
        with sense_made_of(path):
            plain = is_plain(encoded)
        if plain:
            raise StoreError(
                f"store {path!r}: its {name} cannot be rebuilt ({error}): it is damaged, or was "
                f"written on another system; pass the same again, racer.resume(.., {name}=..)"
            ) from None
        raise StoreError(
            f"store {path!r} only describes its {name}, which JSON cannot hold: pass the same "
            f"again, racer.resume(.., {name}=..)"
        ) from None


def refuse_other_kind(path: str, recorded: Setup, *, tuned: bool) -> None:
    """Refuse with StoreError a race where a tuning continues, and the other way round."""
    was_tuned = "space" in recorded.settings
    if "ablation" in recorded.settings:
        raise StoreError(
            f"store {path!r} holds an ablation: go on with the same call of racer.ablation(.., "
            f"store={path!r}), or give another store"
        )
    if was_tuned != tuned:
        what, call = ("tuning", "racer.tune") if was_tuned else ("race", "racer.race")
        raise StoreError(
            f"store {path!r} holds a {what}: go on with {call} or racer.resume, or give another store"
        )


def samples_otherwise(recorded: Setup, proposals: int | None) -> bool:
    """Say whether it is a tuning, and of another version of `proposals` than this."""
    return "space" in recorded.settings and proposals_of(recorded) != proposals


def proposals_of(recorded: Setup) -> int:
    """Return the version of what a tuning samples."""
    version: int = recorded.settings.get("proposals", _ALWAYS["proposals"])
    return version


def as_begun(tuner: Tuner, store: Store | None) -> Tuner:
    """Return a tuner that samples as the one in the store did, if it can."""
    if store is not None and store.holds_a_race:
        tuner.go_on_as(proposals_of(store.reader.setup()))
    return tuner


def refuse_differences(path: str, recorded: Setup, given: Setup) -> None:
    """Refuse with StoreError what makes it another race; warn of another `evaluate` or version.

    A command is compared by its identity, `evaluate`: its folders may differ.
    """
    if not ("ablation" in recorded.settings and "ablation" in given.settings):
        refuse_other_kind(path, recorded, tuned="space" in given.settings)
    same_space = same(recorded.settings.get("space"), given.settings.get("space"))
    if same_space and samples_otherwise(recorded, given.settings.get("proposals")):
        raise StoreError(
            f"store {path!r} holds a tuning begun by racer {recorded.settings.get('racer')}, whose "
            "tuner sampled configurations in another way: this version cannot go on with it, as "
            "its candidates would be others. It can be read (racer.load, racer show, racer export); "
            f"begin a new tuning, racer.tune(.., initial={path!r}, store=..)"
        )
    apart = {"command", "proposals"}
    for name in sorted((recorded.settings.keys() | given.settings.keys()) - apart):
        old, new = (setup.settings.get(name, _ALWAYS.get(name)) for setup in (recorded, given))
        old = renewed(old) if name == "decider" else old
        if not same(old, new):
            _check_difference(path, name, old, new)
    for name in ("candidates", "instances"):
        olds, news = getattr(recorded, name), getattr(given, name)
        if (olds is None) != (news is None) or len(olds or ()) != len(news or ()):
            count = [None if values is None else len(values) for values in (news, olds)]
            _refuse(path, f"number of {name}", *count)
        for index, (new, old) in enumerate(zip(news or (), olds or (), strict=True)):
            if not same(new, old):
                _refuse(path, f"{name[:-1]} {index}", new, old)


def _check_difference(path: str, name: str, old: Any, new: Any) -> None:
    """Refuse a setting that differs, unless that is allowed."""
    if name == "racer":
        _warn(path, f"was begun by racer {old} and goes on with {new}")
    elif name == "evaluate":
        if all(str(value).startswith(IDENTITY) for value in (old, new)):
            _refuse(path, name, new, old)
        if not _same_function(str(old), str(new)):
            _warn(path, f"was begun with evaluate={old} and goes on with {new}")
    elif name == "space":
        try:
            place, new, old = _where_they_differ(new, old)
        except (KeyError, TypeError, StopIteration):  # what is recorded is not a space
            place = ""
        _refuse(path, name + place, new, old)
    elif name == "budget":
        _check_budgets(path, decode(new), rebuilt(path, name, old))
    else:
        _refuse(path, name, new, old)


def _where_they_differ(new: Any, old: Any, place: str = "") -> tuple[str, Any, Any]:
    """Return the place of the first difference between two spaces, and what stands there."""
    if place == "['parameters']":
        named = [{item["name"]: item for item in items} for items in (new, old)]
        if list(named[0]) != list(named[1]):
            return place, list(named[0]), list(named[1])
        new, old = named
    if not isinstance(new, dict) or not isinstance(old, dict) or list(new) != list(old):
        return place, new, old
    name = next(name for name in new if not same(new[name], old[name]))
    return _where_they_differ(new[name], old[name], f"{place}[{name!r}]")


def _check_budgets(path: str, new: Budget | list[Budget], old: Budget | list[Budget]) -> None:
    """Refuse a budget, or those of a tuning, that does not allow all that was recorded, and more."""
    news, olds = (given if isinstance(given, list) else [given] for given in (new, old))
    if isinstance(new, list):
        goes_on = news[: len(olds)] == olds
    else:
        goes_on = isinstance(old, Budget) and new.is_larger(old)
    if not goes_on:
        raise StoreError(
            f"budget is {news[-1]}, but the race in {path!r} has {olds[-1]}: give that, a larger "
            "one, or another store"
        )


def _same_function(old: str, new: str) -> bool:
    """Say whether two names may mean the same: modules are run, or imported from elsewhere."""
    old, new = (name.removeprefix("__main__.") for name in (old, new))
    return f".{old}".endswith(f".{new}") or f".{new}".endswith(f".{old}")


def _warn(path: str, what: str) -> None:
    warn(
        f"the race in {path!r} {what}; whether its verdicts come out the same is checked",
    )


def _refuse(path: str, name: str, new: Any, old: Any) -> None:
    here, there = shown_apart(new, old)
    raise StoreError(
        f"{name} is {here}, but the race in {path!r} has {there}: give that, or another store"
    )
