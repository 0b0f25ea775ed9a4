"""Sweeps in Hydra's overrides: a grid of combinations, and the contest that races or tunes them."""

from __future__ import annotations

import functools
import itertools
import json
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from racer._checks import whole
from racer._files import write_text
from racer.evaluate.objective import describe
from racer.racing.race import Race
from racer.seeding import check_seed
from racer.space.numeric import Integer, Real
from racer.space.parameters import Categorical, Ordinal
from racer.space.space import Space
from racer.tuner.tuner import Tuner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from hydra.core.override_parser.types import Override


@dataclass
class KeptJob:
    """A job that was finished before: `return_value` is its return value, or raises."""

    record: dict[str, Any]

    @property
    def return_value(self) -> Any:
        """Return its value."""
        if "error" in self.record:
            raise RuntimeError(self.record["error"])
        return self.record["value"]


class KeptJobs:
    """What finished jobs return, a file for each, so that a sweep that was killed goes on.

    Jobs write them, in whatever process a launcher runs them.
    """

    def __init__(self, folder: str, rules: dict[str, Any]) -> None:
        """Take the folder; the seed of the rules is that with which the sweep began."""
        self._folder = Path(folder).absolute()
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / "seed"
        if "seed" not in rules:
            rules["seed"] = int(path.read_text("utf-8")) if path.exists() else check_seed(None)
        write_text(path, str(rules["seed"]))

    def keeping(self, task: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """Return a task that writes its return value."""
        return functools.partial(_kept, task, self._folder)

    def launched(self, launch: Callable[[list[list[str]], int], Any]) -> Callable[..., Any]:
        """Return a function that launches the jobs of a batch that are not finished."""

        def launched(batch: list[list[str]], first: int) -> Iterator[Any]:
            kept = [self._job(first + i, lines) for i, lines in enumerate(batch)]
            for is_new, group in groupby(enumerate(kept), lambda one: one[1] is None):
                places, known = zip(*group, strict=True)
                new = batch[places[0] : places[-1] + 1]
                yield from launch(new, first + places[0]) if is_new else known

        return launched

    def _job(self, number: int, lines: list[str]) -> KeptJob | None:
        """Return a job if it is finished; HydraException if another one has its number."""
        path = self._folder / f"{number}.json"
        if not path.exists():
            return None
        record = json.loads(path.read_text("utf-8"))
        if record["overrides"] != lines:
            from hydra.errors import HydraException  # noqa: PLC0415  (Hydra may be missing)

            raise HydraException(f"store={self._folder} holds another sweep: give another folder")
        return KeptJob(record)


def _kept(task: Callable[[Any], Any], folder: Path, cfg: Any) -> Any:
    """Run a job, and write its return value or error before Hydra knows of it."""
    from hydra.core.hydra_config import HydraConfig  # noqa: PLC0415  (Hydra may be missing)

    job = HydraConfig.get()
    record: dict[str, Any] = {"overrides": [*job.overrides.task]}
    try:
        record["value"] = task(cfg)
    except Exception as error:
        record["error"] = describe(error)
        raise
    finally:
        if len(record) > 1:
            write_text(folder / f"{job.job.num}.json", json.dumps(record, default=float))
    return record["value"]


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
