"""Sweeps in Hydra's overrides: a grid of combinations, and the contest that races or tunes them."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from racer._checks import whole
from racer.racing.race import Race
from racer.space.numeric import Integer, Real
from racer.space.parameters import Categorical, Ordinal
from racer.space.space import Space
from racer.tuner.tuner import Tuner

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hydra.core.override_parser.types import Override


def check_settings(instances: Mapping[str, Any], seed_key: str | None, budget: int | None) -> None:
    """Refuse instances that are one list, and seeds that no job would get."""
    from hydra.errors import HydraException  # noqa: PLC0415  (Hydra may be missing)
    from omegaconf import OmegaConf  # noqa: PLC0415

    for key, value in instances.items():
        if OmegaConf.is_list(value):
            raise HydraException(
                f"instances: {key} is a list, which is one value: write several as text, "
                f'{key}: "choice({", ".join(map(str, value))})"'
            )
    if seed_key and budget is None:
        raise HydraException(
            f"seed_key={seed_key}: without a budget there are no seeds: give a budget, or leave "
            "seed_key out"
        )


def check_keys(
    overrides: Mapping[str, Override],
    instances: Mapping[str, Override],
    seeds: Mapping[str, Override],
) -> None:
    """Refuse a key that instances or seeds give as well, or that is swept and given again."""
    from hydra.errors import HydraException  # noqa: PLC0415  (Hydra may be missing)

    taken: dict[Any, tuple[str, Override]] = {}
    for where, given in (("", overrides), ("instances", instances), ("seed_key", seeds)):
        for override in given.values():
            if override.is_delete():
                continue
            key = override.key_or_group, override.package
            here = where or f"the override {override.input_line}"
            there, other = taken.get(key, ("", override))
            is_swept = override.is_sweep_override() or other.is_sweep_override()
            if there and (where or is_swept):  # of two fixed ones the last counts
                raise HydraException(
                    f"{here} and {there} both give {override.key_or_group}: leave one out"
                )
            taken[key] = here, override


def contest_of(swept: Mapping[str, Override], instances: Any, budget: int, **rules: Any) -> Any:
    """Return a race of all combinations if it reaches its first test, otherwise a tuner."""
    budget = whole(budget, "budget", least=1)
    if all(override.is_discrete_sweep() for override in swept.values()):
        combinations = list(itertools.islice(grid(swept), budget + 1))
        if len(combinations) * rules["first_test"] <= budget:
            return Race.of(combinations, instances, budget=budget, **rules)
    space = Space({key: parameter(override) for key, override in swept.items()})
    return Tuner.of(space, instances, budget=budget, **rules)


def grid(swept: Mapping[str, Override]) -> Iterator[dict[str, str]]:
    """Return all combinations, each value as it stands in an override."""
    values: dict[str, list[str]] = {}
    for key, override in swept.items():
        if override.is_interval_sweep():
            from hydra.errors import HydraException  # noqa: PLC0415  (Hydra may be missing)

            raise HydraException(f"{override.input_line}: give a budget, or choices")
        if override.is_sweep_override():
            values[key] = [*override.sweep_string_iterator()]
        else:
            values[key] = [override.get_value_element_as_str()]
    return (
        dict(zip(values, chosen, strict=True)) for chosen in itertools.product(*values.values())
    )


def parameter(override: Override) -> Any:
    """Return the parameter that a sweep describes."""
    sweep = override.value()
    tags = getattr(sweep, "tags", ())  # a glob has none
    if override.is_interval_sweep():
        is_real = isinstance(sweep.start, float) or isinstance(sweep.end, float)
        kind = Real if is_real else Integer
        return kind(sweep.start, sweep.end, log="log" in tags)
    is_ordered = "ordered" in tags or (override.is_range_sweep() and not sweep.shuffle)
    values = [*override.sweep_string_iterator()]
    return Ordinal(values) if is_ordered else Categorical(values)
