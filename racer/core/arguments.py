"""What the calls take (goal, instances, decider), as the settings that a contest is made of."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, TypedDict, get_args

from racer._checks import choice, flag, instead, is_one_of, is_real, suggesting, whole
from racer.core.blocks import InstanceOrder
from racer.core.objective import Combined, Pareto
from racer.core.pool import as_instances
from racer.core.runtime import Runtime
from racer.deciders.decider import Scheduled
from racer.deciders.named import as_decider
from racer.direction import GOALS, maximizes
from racer.errors import SettingError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Required

    from racer.core.budget import Budget
    from racer.core.contest import Kind
    from racer.core.objective import Constrained, Direction, Metric, Within
    from racer.deciders.decider import Decider

    Goal = Direction | Mapping[str, str | Metric] | Pareto | Within | Constrained | Runtime

__all__ = ["Instances"]

_WANTED = '"min", "max", {"error": "min", ..}, racer.Pareto, Within, Constrained or Runtime'


class Given(TypedDict, total=False):
    """The arguments that `racer.Race` and `racer.Tuner` share with the calls."""

    budget: Required[int | Budget | Sequence[int | Budget]]
    goal: Goal
    decider: str | Decider | None
    seed: int | None


@suggesting
@dataclass(frozen=True, eq=False)
class Instances:
    """Instances that candidates are evaluated on, with their order, groups and known properties.

    Parameters
    ----------
    items : sequence or None
        Objects of any type. None: a noisy objective without instances.
    groups : sequence, optional
        Of a race: a label per instance. Instances with equal ones (questions on one passage,
        repeats of an item) are taken in a row, and count as one block with their mean. A decider's
        `first_test` and `generalize` count groups.
    order : {"shuffled", "given"}, optional
        Whether instances are taken in a random order (anew each time they begin again), or as they
        stand. None: of a tuning, and with decider "mean", which relies on it, "shuffled"; else
        "given".
    block_size : int
        Number of consecutive instances that form a group, such as one of every kind: groups are
        kept together, a decider's `first_test` and `each_test` count groups, and no test falls within
        one.
    held_out : sequence, optional
        Of a tuning: at the end each elite, and the default of the space, is evaluated once on each
        of them, beyond the budget.
    deterministic : bool, optional
        `evaluate` ignores its seed: each instance is used once, then the race ends. With fewer
        instances than `first_test` the only test is at the end. None: not known. Instances that
        are used again then have to bring another value with another seed, for one candidate at
        least; while they bring the same they are no evidence, and once that is no coincidence the
        race warns and continues as with True. False: they are always evidence.
    generalize : bool, optional
        The claim if instances are used again with other seeds. True: it is about instances like
        these, of which more seeds of one make no more. False: about these alone. None: True from
        ten instances (or groups) on.

    Examples
    --------
    >>> import racer
    >>> items = racer.Instances([0.5, 0.1, 0.9], deterministic=True)
    >>> racer.race([1, 2, 3], lambda config, instance: config + instance, items, budget=9).best
    1
    """

    items: Sequence[Any] | None = None
    _: KW_ONLY
    groups: Sequence[Any] | None = None
    order: InstanceOrder | None = None
    block_size: int = 1
    held_out: Sequence[Any] | None = None
    deterministic: bool | None = None
    generalize: bool | None = None

    def __post_init__(self) -> None:
        for name in ("items", "groups", "held_out"):
            object.__setattr__(self, name, as_instances(getattr(self, name), name))
        if self.order is not None:
            choice(self.order, "order", get_args(InstanceOrder))
        whole(self.block_size, "block_size", least=1)
        for name in ("deterministic", "generalize"):
            if (value := getattr(self, name)) is not None:
                flag(value, name)

    @classmethod
    def of(cls, given: Any) -> Instances:
        """Return it of a sequence, or itself."""
        return given if isinstance(given, cls) else cls(as_instances(given))

    def settings(self, kind: Kind) -> dict[str, Any]:
        """Return the settings of a race or tuning; SettingError for an argument of the other kind."""
        of_race = kind == "race"
        if (self.held_out if of_race else self.groups) is not None:
            what, whose = ("held_out", "tuning") if of_race else ("groups", "race")
            raise SettingError(f"Instances({what}=..) is for a {whose}: leave it out")
        own = {"groups": self.groups} if of_race else {"test_instances": self.held_out}
        order = self.order if of_race or self.order is not None else "shuffled"
        shared = {n: getattr(self, n) for n in ("block_size", "deterministic", "generalize")}
        return {"instances": self.items, "instance_order": order, **own, **shared}


def goal_settings(goal: Any) -> dict[str, Any]:
    """Return the settings of `Rules` for a goal; SettingError if it is not one."""
    found = {"maximize": False, "metrics": None, "objective": None, "runtime": None}
    if isinstance(goal, Runtime):
        return found | {"runtime": goal}
    if isinstance(goal, Combined):
        return found | {"metrics": goal.directions(), "objective": goal.decisive}
    if isinstance(goal, Mapping) and goal:
        objective = Pareto(*goal) if len(goal) > 1 else next(iter(goal))
        return found | {"metrics": goal, "objective": objective}
    if is_one_of(goal, GOALS):
        return found | {"maximize": maximizes(goal)}
    hint = f"; of run times racer.Runtime({goal})" if is_real(goal) else ""
    if isinstance(goal, str):
        hint = f'; of a metric, {{{goal!r}: "min"}} or {{{goal!r}: "max"}}'
    raise SettingError(f"goal={reprlib.repr(goal)}: give {_WANTED}{hint}")


def goal_of(settings: Mapping[str, Any]) -> Any:
    """Return the goal that settings of `Rules` are."""
    metrics, objective = settings.get("metrics"), settings.get("objective")
    if settings.get("runtime") is not None:
        return settings["runtime"]
    if metrics is None:
        return "max" if settings.get("maximize") else "min"
    return dict(metrics) if len(metrics) == 1 else Combined.over(metrics, objective)


@dataclass(frozen=True)
class DefaultWith:
    """The default decider, with settings of its tests."""

    tests: Mapping[str, Any]


def decider_settings(decider: Any, kind: Kind = "race") -> dict[str, Any]:
    """Return the settings that a decider is: itself, and when it tests; nothing for None."""
    if decider is None or isinstance(decider, DefaultWith):
        return {} if decider is None else {**decider.tests}
    found = as_decider(decider)
    names = [field.name for field in fields(Scheduled)]
    tests = {name: getattr(found, name) for name in names}
    if isinstance(found, Scheduled):
        found = replace(found, **{name: getattr(Scheduled, name) for name in names})
    if kind == "tuning" and tests.pop("min_survivors") != 1:
        raise SettingError("a tuner has no min_survivors: give search=racer.Search(elites=3)")
    return {"decider": found, **tests}


def settings_of(kind: Kind, instances: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a race or a tuning from the arguments of a call."""
    names = [*Given.__annotations__]
    if unknown := next((name for name in given if name not in names), None):
        known = [*names, "instances", "candidates" if kind == "race" else "space"]
        hint = instead(
            unknown, [*known, *(["initial", "search", "fidelity"] if kind == "tuning" else [])]
        )
        raise TypeError(f"got an unexpected keyword argument {unknown!r}{hint}")
    if "budget" not in given:
        raise TypeError("missing the keyword argument 'budget'")
    return {
        **Instances.of(instances).settings(kind),
        **goal_settings(given.get("goal", "min")),
        **decider_settings(given.get("decider"), kind),
        "budget": given["budget"],
        "seed": given.get("seed"),
    }
