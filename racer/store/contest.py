"""Contests made from a store, or from arguments given anew."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from racer.core.budget import Budget
from racer.errors import BudgetError, SettingError, StoreError
from racer.space.space import Space
from racer.space.stored import not_kept
from racer.store.jsonable import decode, is_plain
from racer.store.reader import sense_made_of
from racer.store.schema import ARGUMENTS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from racer.core.contest import Contest, Kind
    from racer.store.reader import Reader
    from racer.store.writer import Store

_CALLS = {"race": "racer.race", "tuning": "racer.tune", "ablation": "racer.ablation"}
_LEFT_OPEN = ("seed", "each_test", "deterministic", "decider")  # by None
_NUMBERED = ("candidates", "instances", "test_instances")


def contest_for(store: Store | None, kind: Kind, given: Mapping[str, Any]) -> Contest[Any]:
    """Return the contest of these arguments, or the one in the store that goes on with them.

    There, what they leave open is as recorded. StoreError if it holds another kind of contest.
    """
    if store is None or not store.holds_a_race:
        return _maker(kind)(**given)
    held = store.reader.setup().kind
    if held != kind:
        raise StoreError(
            f"store {store.path!r} holds {_a(held)}: go on with {_CALLS[held]}"
            f"{' or racer.resume' if held != 'ablation' else ''}, or give another store"
        )
    closed = {n: v for n, v in given.items() if v is not None or n not in _LEFT_OPEN}
    return contest_from_store(store.reader, closed)


def contest_from_store(
    reader: Reader,
    given: Mapping[str, Any] = MappingProxyType({}),
    *,
    numbered: bool = False,
) -> Contest[Any]:
    """Return the contest that a store holds, of its recorded arguments but for those `given`.

    The budget may be larger. `numbered`: candidates and instances that JSON cannot hold are
    replaced by their numbers; otherwise they must be given.
    """
    setup = reader.setup()
    if setup.kind == "tuning":
        _refuse_other_sampling(reader)
    recorded = {**setup.settings, "candidates": setup.candidates, "instances": setup.instances}
    names = [name for name in ARGUMENTS[setup.kind] if name in recorded]
    if other := next((name for name in given if name not in names), None):
        raise SettingError(
            f"store {reader.path!r} holds {_a(setup.kind)}, which has no {other}: leave it out"
        )
    with sense_made_of(reader.path):
        arguments = {
            name: given[name]
            if name in given
            else _recorded(reader, name, recorded[name], numbered)
            for name in names
        }
        if "budget" in given:
            written = decode_setting(reader.path, "budget", recorded["budget"])
            arguments["budget"] = _budgets(reader, given["budget"], written)
        return _maker(setup.kind)(**arguments)


def _maker(kind: Kind) -> Callable[..., Contest[Any]]:
    """Return the class of a kind; only that one is loaded, as each module costs start-up."""
    if kind == "race":
        from racer.racing.race import Race  # noqa: PLC0415

        return Race
    if kind == "tuning":
        from racer.tuner.tuner import Tuner  # noqa: PLC0415

        return Tuner
    from racer.racing.ablation import Ablation  # noqa: PLC0415

    return Ablation


def _refuse_other_sampling(reader: Reader) -> None:
    from racer.tuner.proposals import SAMPLING  # noqa: PLC0415

    settings = reader.setup().settings
    if settings["sampling"] != SAMPLING:
        raise StoreError(
            f"store {reader.path!r}: its tuning was begun by racer {settings['racer']}, which "
            "samples other configurations than this version: go on with that version, or begin "
            "a new tuning"
        )


def _a(kind: str) -> str:
    return f"an {kind}" if kind == "ablation" else f"a {kind}"


def _recorded(reader: Reader, name: str, encoded: Any, numbered: bool) -> Any:
    """Return a recorded argument as its contest takes it."""
    if numbered and name in _NUMBERED and not is_plain(encoded):
        return list(range(len(encoded)))
    value = decode_setting(reader.path, name, encoded)
    if name == "space":
        return _space(reader.path, value)
    return value or None if name == "test_instances" else value


def _space(path: str, written: Any) -> Space:
    missing = not_kept(written)
    if missing is not None:
        raise StoreError(
            f"store {path!r}: its space has {missing}, which no store can hold: pass the same "
            "space again, racer.resume(.., space=..)"
        )
    return Space.from_json(written)


def decode_setting(path: str, name: str, encoded: Any) -> Any:
    """Return a recorded setting, decoded; StoreError if it was only described, or makes no sense."""
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


def _budgets(reader: Reader, given: Any, recorded: Any) -> list[Budget]:
    """Return the budgets of a contest that goes on with the one given: a tuning from its end."""
    news = Budget.each(given)
    try:
        olds = Budget.each(recorded)
    except BudgetError as error:
        reader.damaged(f"its budget makes no sense ({error})")
    if reader.setup().kind == "tuning" and len(news) == 1:
        if news[0].is_larger(olds[-1]):
            news = (*olds, *news)
        elif news[0] == olds[-1]:
            news = olds
    is_one = len(olds) == len(news) == 1
    if news[: len(olds)] != olds and not (is_one and news[0].is_larger(olds[0])):
        raise StoreError(
            f"budget is {news[-1]}, but the race in {reader.path!r} has {olds[-1]}: give that, a "
            "larger one, or another store"
        )
    return list(news)
