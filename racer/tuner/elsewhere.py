"""Outcomes that were made elsewhere, of any configurations, for a tuning to begin with."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from racer.errors import RaceStateError, SettingError
from racer.evaluate.outcome import Outcome, check_outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from racer.core.rules import Rules
    from racer.evaluate.outcome import Cell, CellKey
    from racer.space.space import Space

_MOST = 3  # configurations of the first race


class Elsewhere:
    """Known outcomes by configuration, instance and seed; seed None stands for any."""

    def __init__(self, space: Space, instances: tuple[Any, ...] | None, rules: Rules) -> None:
        self._space, self._instances, self._rules = space, instances, rules
        self._outcomes: dict[Any, dict[tuple[int | None, int | None], Outcome]] = {}
        self.configs: dict[Any, dict[str, Any]] = {}

    def add(self, *given: Any) -> None:
        """Take in an outcome, or a frame of them."""
        if len(given) == 1:
            self._add_frame(given[0])
            return
        if len(given) != 4:
            raise RaceStateError("give tell_elsewhere(config, instance, seed, outcome), or a frame")
        config, instance, seed, outcome = given
        check_outcome(outcome, self._rules.metric_names)
        clean, at, seed = self._space.check(config), None, seed if seed is None else int(seed)
        if self._instances is not None or instance is not None:
            if instance not in (self._instances or ()):
                raise SettingError(f"instance={instance!r:.60} is none of the tuning's")
            at = (self._instances or ()).index(instance)
        key = self._space.key(clean)
        self.configs[key] = clean
        seed = None if self._rules.deterministic else seed
        self._outcomes.setdefault(key, {})[at, seed] = outcome

    def _add_frame(self, frame: Any) -> None:
        if "value" not in frame or self._rules.metric_names is not None:
            raise SettingError("a frame needs the column 'value', and a tuning of one number")
        for row in frame.astype(object).where(frame.notna(), None).to_dict("records"):
            config = {
                name: row[name] for name in self._space.parameters if row.get(name) is not None
            }
            value = row["value"]
            outcome = Outcome("failed", None) if value is None else Outcome("ok", float(value))
            self.add(config, row.get("instance"), row.get("seed"), outcome)

    def outcomes(self, cells: Sequence[Cell]) -> dict[CellKey, Outcome]:
        """Return the outcomes of the cells that are known."""
        found = {}
        for cell in cells if self.configs else ():
            if cell.held_out or cell.fidelity is not None:
                continue
            known = self._outcomes.get(self._space.key(cell.config), {})
            one = known.get((cell.instance_index, cell.seed)) or known.get(
                (cell.instance_index, None)
            )
            if one is not None:
                found[cell.key] = one
        return found

    def added_to(
        self, initial: tuple[dict[str, Any], ...], room: float
    ) -> tuple[dict[str, Any], ...]:
        """Return the initial configurations, and the best others by mean that there is room for."""
        sign, means = -1.0 if self._rules.maximize else 1.0, {}
        for key, outcomes in self._outcomes.items():
            costs = [math.inf if o.value is None else sign * o.value for o in outcomes.values()]
            means[key] = float(np.mean(costs))
        for config in initial:
            means.pop(self._space.key(config), None)
        best = sorted(means, key=means.__getitem__)[: int(max(min(_MOST, room), 0))]
        return (*initial, *(self.configs[key] for key in best))
