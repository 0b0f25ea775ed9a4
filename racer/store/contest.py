"""The definition of a contest: encoded for a store, compared with another, made a contest again."""

from __future__ import annotations

from importlib.metadata import version
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from racer.core.arguments import goal_of
from racer.core.budget import Budget
from racer.core.events import Ended
from racer.core.objective import Aim
from racer.core.prices import RecordedPrices, checked_prices
from racer.deciders.decider import Decider
from racer.errors import BudgetError, SettingError, StoreError, warn
from racer.evaluate.command.command import IDENTITY, Command
from racer.evaluate.recorded import SCORES
from racer.space.space import Space
from racer.space.stored import not_kept
from racer.store.jsonable import (
    decode,
    encode,
    is_plain,
    left_class,
    qualified_name,
    same,
    shown_apart,
)
from racer.store.reader import OtherStoreError, sense_made_of
from racer.store.schema import (
    ARGUMENTS,
    MAY_LACK,
    OF_EVALUATIONS,
    CandidateRow,
    Setup,
    argument,
)
from racer.store.source import source_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from racer.core.contest import Contest, Description, Kind
    from racer.evaluate.objective import Objective
    from racer.store.reader import Reader
    from racer.store.writer import Store

VERSION = version("racer-tuning")
"""Read once: later the process may have lost the right to read what is installed."""

IN_SECONDS = "budget=racer.Budget(seconds=..)"
"""How a budget of seconds is given."""

_LEFT_OPEN = ("budget", "seed", "each_test", "deterministic", "decider", *MAY_LACK)  # by None
_RACED_ON = ("metrics", "objective", "groups")  # what is found depends on them
_GIVEN_AS = {"evaluate": "the program", "instance_order": "order", "test_instances": "held_out"}
_GOAL = ("runtime", "metrics", "objective")
_NUMBERED = ("candidates", "instances", "test_instances")
# a larger budget; a program in another folder: see `evaluate`; another source, with a warning
_MAY_DIFFER = ("budget", *OF_EVALUATIONS)


def described_objective(evaluate: Objective) -> dict[str, Any]:
    """Return the name of an objective, and all of a program."""
    command = {"command": evaluate.settings} if isinstance(evaluate, Command) else {}
    return {"evaluate": qualified_name(evaluate), **command}


def set_up(description: Description, evaluate: Objective, how: Mapping[str, Any]) -> Setup:
    """Encode the definition of a contest, the name of its objective, and its limits."""
    settings = {"racer": VERSION, **described_objective(evaluate), **description.settings, **how}
    if (source := source_digest(evaluate)) is not None:
        settings["evaluate_source"] = source
    return Setup(
        description.kind,
        {name: encode(value) for name, value in settings.items()},
        [encode(config) for config in description.candidates],
        [encode(instance) for instance in description.instances or ()] or None,
    )


def refuse_differences(path: str, recorded: Setup, given: Setup) -> None:
    """Refuse with StoreError another contest; warn of another objective or version."""
    goals = [
        {n: setup.settings.get(n) for n in ("maximize", *_GOAL)} for setup in (recorded, given)
    ]
    timed = all(goal["runtime"] for goal in goals)  # of these, what differs is named
    if not same(*goals) and is_plain(goals) and not timed:
        raise _other_goal(path, *map(decode, goals))
    old, new = _parts(recorded), _parts(given)
    sources = {setup.settings.get("evaluate_source") for setup in (recorded, given)} - {None}
    if len(sources) > 1 and _same_function(old["evaluate"], new["evaluate"]):
        warn(
            f"the source of evaluate is not as it was when the race in {path!r} was begun: what is "
            "recorded was evaluated by that, and is not evaluated again; to begin anew, give "
            "another store"
        )
    for name in sorted(old | new, key=lambda name: name == "evaluate"):  # last, the least specific
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
    if name == "evaluate" and all(str(value).startswith(SCORES) for value in (old, new)):
        raise OtherStoreError(
            f"the scores differ from those that the race in {path!r} has: give those, or"
        )
    if name == "evaluate" and not all(str(value).startswith(IDENTITY) for value in (old, new)):
        if not _same_function(str(old), str(new)):
            _warn(path, f"was begun with evaluate={old} and goes on with {new}")
        return
    here, there = (text.replace(IDENTITY, "(") for text in shown_apart(new, old))
    shown = _GIVEN_AS.get(name, name)
    if name in MAY_LACK and old is None:
        raise OtherStoreError(
            f"the race in {path!r} was begun without {shown}, which is {here} here: leave it out, or give"
        )
    raise OtherStoreError(f"{shown} is {here}, but the race in {path!r} has {there}: give that, or")


def _other_goal(
    path: str, recorded: Mapping[str, Any], given: Mapping[str, Any]
) -> OtherStoreError:
    """Return the error for a goal that differs from the recorded contest's."""
    return OtherStoreError(
        f"the race in {path!r} was begun with another goal: {_shown_goal(recorded)}; now "
        f"{_shown_goal(given)}: give that, or"
    )


def _shown_goal(settings: Mapping[str, Any]) -> str:
    """Return a goal as it is given."""
    aim = Aim.of(settings.get("metrics"), settings.get("objective"))
    if aim is None:
        return repr(goal_of(settings))
    plain = {name: metric.plain() for name, metric in aim.metrics.items()}
    return repr(goal_of({"metrics": plain, "objective": aim.objective}))


def _same_function(old: str, new: str) -> bool:
    """Return True if two names may mean the same: modules are run, or imported from elsewhere."""
    old, new = (name.removeprefix("__main__.") for name in (old, new))
    return f".{old}".endswith(f".{new}") or f".{new}".endswith(f".{old}")


def _warn(path: str, what: str) -> None:
    warn(f"the race in {path!r} {what}; whether its verdicts come out the same is checked")


def contest_for(store: Store | None, kind: Kind, given: Mapping[str, Any]) -> Contest[Any]:
    """Return the contest of these arguments, or the contest in the store that goes on with them.

    There, open settings are as recorded. StoreError if it holds another kind of contest.
    """
    if store is None or not store.holds_a_race:
        return _maker(kind)(**given)
    held = store.reader.setup.kind
    if held != kind:
        raise OtherStoreError(
            f"store {store.path!r} holds {_a(held)}: go on with {store.reader.how_to_resume()}, or give"
        )
    closed = {n: v for n, v in given.items() if v is not None or n not in _LEFT_OPEN}
    recorded = store.reader.setup.settings
    contest = contest_from_store(store.reader, closed)
    left = [n for n in _RACED_ON if given.get(n) is None and n in recorded]
    if left:
        goal = [] if left == ["groups"] else [f"goal={_shown_goal(decode(recorded))}"]
        warn(
            f"the race in {store.path!r} has {' and '.join(goal + left[2:] if goal else left)}, which "
            "this call leaves out: it goes on with that of the store"
        )
    return contest


def contest_from_store(
    reader: Reader, given: Mapping[str, Any] = MappingProxyType({}), *, numbered: bool = False
) -> Contest[Any]:
    """Return the contest in a store, of its recorded arguments; `given` ones replace these.

    The budget may be larger. `numbered`: candidates and instances that JSON cannot hold are
    replaced by their numbers; otherwise they must be given.
    """
    setup = reader.setup
    if setup.kind == "tuning":
        from racer.tuner.proposals import SAMPLING  # noqa: PLC0415

        if (sampling := setup.settings["sampling"]) != SAMPLING:
            raise StoreError(
                f"store {reader.path!r}: its tuning was begun by racer {setup.settings['racer']} and "
                f"samples configurations by version {sampling}, where racer {VERSION} has version "
                f"{SAMPLING}: go on with the racer that began it, or begin a new tuning"
            )
    recorded = {**setup.settings, "candidates": setup.candidates, "instances": setup.instances}
    names = [name for name in ARGUMENTS[setup.kind] if name in {*recorded, *MAY_LACK}]
    if other := next((name for name in given if name not in names), None):
        raise SettingError(
            f"store {reader.path!r} holds {_a(setup.kind)}, which has no {other}: leave it out"
        )
    # with another goal the recorded decider may be refused before the goals are compared
    is_added = any(given.get(name) is not None and recorded.get(name) is None for name in _GOAL)
    is_left = given.get("maximize") and recorded.get("metrics") and not given.get("metrics")
    if is_added or is_left:
        raise _other_goal(reader.path, decode(setup.settings), given)
    with sense_made_of(reader.path):
        left = [name for name in names if name in recorded and name not in given]
        arguments = {name: _recorded(reader, name, recorded[name], numbered) for name in left}
        arguments |= given
        if "budget" in given:
            arguments["budget"] = _budgets(reader, given["budget"])
        return _maker(setup.kind)(**arguments)


def _maker(kind: Kind) -> Callable[..., Contest[Any]]:
    """Return the class of a kind; only that one is loaded, as each module costs start-up."""
    if kind == "race":
        from racer.racing.race import Race  # noqa: PLC0415

        return Race.of
    if kind == "tuning":
        from racer.tuner.tuner import Tuner  # noqa: PLC0415

        return Tuner.of
    from racer.racing.ablation import Ablation  # noqa: PLC0415

    return Ablation


def _a(kind: str) -> str:
    return f"an {kind}" if kind == "ablation" else f"a {kind}"


def has_prices(reader: Reader) -> bool:
    """Return True for a tuning with a recorded price of each sampled candidate."""
    is_tuning = reader.setup.kind == "tuning"
    return is_tuning and len(reader.prices()) == len(reader.concluded(CandidateRow))


def _recorded(reader: Reader, name: str, encoded: Any, numbered: bool) -> Any:
    """Return a recorded argument as its contest takes it."""
    if numbered and name in _NUMBERED and not is_plain(encoded):
        return list(range(len(encoded)))
    if numbered and name == "prices" and not is_plain(encoded) and has_prices(reader):
        prices: Any = reader.prices()
        found: Any = checked_prices(prices) if prices else ()
        return RecordedPrices(found)
    value = decode_setting(reader, name, encoded)
    if name == "space":
        if (missing := not_kept(value)) is not None:
            raise StoreError(
                f"store {reader.path!r}: its space has {missing}, which no store can hold: pass "
                "the same space again, racer.resume(.., space=..)"
            )
        return Space.from_json(value)
    return value or None if name == "test_instances" else value


def decode_setting(reader: Reader, name: str, encoded: Any) -> Any:
    """Return a recorded setting, decoded; StoreError if it was only described, or makes no sense."""
    store = f"store {reader.path!r}"
    if (cls := left_class(encoded)) is not None:
        raise StoreError(
            f"{store}: its {name} is a {cls}, which racer {VERSION} does not have: go on with racer "
            f"{reader.setup.settings['racer']}, which began it, or begin another store"
        )
    try:
        return decode(encoded)
    except ValueError as error:
        what = f"{store} only describes its {name}, which JSON cannot hold:"
        if is_plain(encoded):
            what = (
                f"{store}: its {name} cannot be rebuilt ({error}): it is damaged, or was written "
                "on another system;"
            )
        if name == "instances" and not is_plain(reader.setup.settings.get("test_instances")):
            name = "test_instances"  # both are given in one argument
        again = f"pass the same again, racer.resume(.., {argument(name)})"
        raise StoreError(f"{what} {again}") from None


def recorded_budgets(reader: Reader) -> tuple[Budget, ...]:
    """Return the budgets of a store; StoreError if they make no sense."""
    with sense_made_of(reader.path):
        written = decode_setting(reader, "budget", reader.setup.settings["budget"])
        try:
            return Budget.each(written)
        except BudgetError as error:
            reader.damaged(f"its budget makes no sense ({error})")


def may_grow_to(reader: Reader, budget: Budget) -> bool:
    """Return True if the recorded budget may grow to a budget made of a deadline.

    It must be of seconds alone, and smaller. A race whose decider may plan by it must have used
    it up, too; any other race may still be open.
    """
    last = recorded_budgets(reader)[-1]
    if not last.is_in_seconds or not budget.is_larger(last):
        return False
    if reader.setup.kind == "tuning" or is_used_up(reader):
        return True
    encoded = reader.setup.settings.get("decider")
    decider = decode_setting(reader, "decider", encoded) if is_plain(encoded) else None
    plans = not isinstance(decider, Decider) or decider.ends_itself
    return reader.ending() is None and not plans


def is_used_up(reader: Reader) -> bool:
    """Return True if the recorded contest was ended by its budget."""
    ending = reader.ending()
    return ending is not None and ending.ended == Ended.BUDGET


def _budgets(reader: Reader, given: Any) -> list[Budget]:
    """Return the budgets of a contest that goes on with a `given` one: a tuning from its end."""
    news, olds = Budget.each(given), recorded_budgets(reader)
    if reader.setup.kind == "tuning" and len(news) == 1:
        if news[0].is_larger(olds[-1]):
            news = (*olds, *news)
        elif news[0] == olds[-1]:
            news = olds
    is_one = len(olds) == len(news) == 1
    if news[: len(olds)] != olds and not (is_one and news[0].is_larger(olds[0])):
        in_seconds = olds[-1].is_in_seconds and news[-1].seconds is None
        remedy = f"more seconds ({IN_SECONDS})" if in_seconds else "that, a larger one"
        raise OtherStoreError(
            f"budget is {news[-1]}, but the race in {reader.path!r} has {olds[-1]}: give {remedy}, or"
        )
    return list(news)
