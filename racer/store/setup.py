"""The definition of a contest as a store holds it, and the comparison of two."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from racer.errors import StoreError, warn
from racer.evaluate.command.command import IDENTITY, Command
from racer.store.jsonable import encode, qualified_name, same, shown_apart
from racer.store.schema import Setup

if TYPE_CHECKING:
    from collections.abc import Mapping

    from racer.core.contest import Description
    from racer.evaluate.objective import Objective

VERSION = version("racer-tuning")
"""Read once: later the process may have lost the right to read what is installed."""

_MAY_DIFFER = ("budget", "command")  # a larger one; the folder of a program


def described_objective(evaluate: Objective) -> dict[str, Any]:
    """Return the name of an objective, and all of a program."""
    command = {"command": evaluate.settings} if isinstance(evaluate, Command) else {}
    return {"evaluate": qualified_name(evaluate), **command}


def set_up(description: Description, evaluate: Objective, how: Mapping[str, Any]) -> Setup:
    """Encode the definition of a contest, the name of its objective, and its limits."""
    settings = {"racer": VERSION, **described_objective(evaluate), **description.settings, **how}
    return Setup(
        description.kind,
        {name: encode(value) for name, value in settings.items()},
        [encode(config) for config in description.candidates],
        None
        if description.instances is None
        else [encode(instance) for instance in description.instances],
    )


def refuse_differences(path: str, recorded: Setup, given: Setup) -> None:
    """Refuse with StoreError what makes it another contest; warn of another objective or version.

    A command is compared by its identity, `evaluate`: its folders may differ.
    """
    old, new = _parts(recorded), _parts(given)
    for name in old | new:
        if not same(old.get(name), new.get(name)):
            _check_difference(path, name, old.get(name), new.get(name))


def _parts(setup: Setup) -> dict[str, Any]:
    """Return the parts that must be equal, by their names in messages."""
    parts = {name: part for name, part in setup.settings.items() if name not in _MAY_DIFFER}
    for name, values in (("candidate", setup.candidates), ("instance", setup.instances)):
        parts[f"number of {name}s"] = None if values is None else len(values)
        parts |= {f"{name} {index}": value for index, value in enumerate(values or ())}
    return parts


def _check_difference(path: str, name: str, old: Any, new: Any) -> None:
    """Refuse a setting that differs, unless that is allowed."""
    if name == "racer":
        _warn(path, f"was begun by racer {old} and goes on with {new}")
        return
    if name == "evaluate" and not all(str(value).startswith(IDENTITY) for value in (old, new)):
        if not _same_function(str(old), str(new)):
            _warn(path, f"was begun with evaluate={old} and goes on with {new}")
        return
    if name == "space":
        try:
            place, new, old = _where_they_differ(new, old)
            name += place
        except (KeyError, TypeError, StopIteration):  # what is recorded is not a space
            pass
    here, there = shown_apart(new, old)
    raise StoreError(
        f"{name} is {here}, but the race in {path!r} has {there}: give that, or another store"
    )


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


def _same_function(old: str, new: str) -> bool:
    """Return True if two names may mean the same: modules are run, or imported from elsewhere."""
    old, new = (name.removeprefix("__main__.") for name in (old, new))
    return f".{old}".endswith(f".{new}") or f".{new}".endswith(f".{old}")


def _warn(path: str, what: str) -> None:
    warn(
        f"the race in {path!r} {what}; whether its verdicts come out the same is checked",
    )
