"""The plan of a tuning: its space, instances, rules and schedule."""

from __future__ import annotations

import reprlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from racer._checks import suggesting, whole
from racer.errors import SettingError
from racer.tuner.schedule import Schedule

if TYPE_CHECKING:
    from racer.core.blocks import Stream
    from racer.core.rules import Rules
    from racer.evaluate.fidelity import Fidelity
    from racer.space.space import Space

__all__ = ["Search"]


@suggesting
@dataclass(frozen=True)
class Search:
    """What only a tuning has: how many configurations survive, and how many are tested.

    Parameters
    ----------
    elites : int, optional
        Configurations that survive a race. None: 2 + log2 of the number of parameters; with an
        objective of several metrics at least 4 for each of them, from 2 000 evaluations on 6.
    test_elites : int, optional
        How many elites are evaluated on held-out instances, the best first: 1 saves evaluations.
        None: all.

    Raises
    ------
    SettingError
        A number below 1.

    Examples
    --------
    >>> import racer
    >>> space = racer.Space({"x": racer.Real(-1, 1)})
    >>> tuner = racer.Tuner(space, budget=100, seed=1, search=racer.Search(elites=3))
    """

    elites: int | None = None
    test_elites: int | None = None

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value is not None:
                object.__setattr__(self, name, whole(value, name, least=1))

    @classmethod
    def of(cls, given: Search | None) -> Search:
        """Return the settings, the default ones for None; SettingError for another object."""
        if not isinstance(given, Search | None):
            raise SettingError(f"search={reprlib.repr(given)}: give racer.Search(elites=3)")
        return given or cls()


@dataclass(frozen=True)
class Plan:
    """All that makes a tuning, checked, as in `Tuner`; `first_test` fits few instances."""

    space: Space
    instances: tuple[Any, ...] | None
    test_instances: tuple[Any, ...]
    initial: tuple[dict[str, Any], ...]
    search: Search
    rules: Rules
    first_test: int
    stream: Stream
    fidelity: Fidelity | None = None

    @property
    def seed(self) -> int:
        """The seed that repeats the tuning."""
        return self.rules.seed or 0

    @property
    def is_exact(self) -> bool:
        """Whether nothing is random: each instance is used once, as may turn out on the way."""
        return self.stream.length is not None

    @property
    def is_noisy(self) -> bool:
        """Whether luck may decide a race: of one metric, with noise, of times that are not capped."""
        return not (self.is_exact or self.rules.goal or self.rules.runtime)

    def schedule(self, total: int | None) -> Schedule:
        """Return the schedule for a total of evaluations; None: not known yet."""
        return Schedule.of(
            len(self.space.free),
            total,
            elites=self.search.elites,
            n_metrics=1 if self.rules.goal is None else self.rules.goal.n_metrics,
            first_test=self.first_test,
            length=self.stream.length,
            conditional=len(self.space.conditions) / len(self.space.parameters),
        )
