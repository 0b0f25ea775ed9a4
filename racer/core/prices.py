"""Prices of evaluations: given, or learned from past evaluations."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from racer._checks import is_real
from racer.errors import SettingError
from racer.evaluate.outcome import MOST_SPEND

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from racer.evaluate.outcome import Outcome

Given = tuple[Any, ...] | Callable[[Any, Any], float]
"""A price for each candidate, or a tuple of these with one for each instance; or a function."""


class Prices:
    """The expected price of each evaluation, candidate by candidate.

    That given beforehand, and as much more as the candidate has ever cost beyond it; where none is
    given, the most that the candidate has cost, or that any has, if nothing is known of it.
    """

    def __init__(
        self, given: Given | None, configs: Sequence[Any], instances: Sequence[Any] | None
    ) -> None:
        self._given, self._configs, self._instances = given, configs, instances
        self._excess: dict[int, float] = {}  # the most above what is given

    def copy(self) -> Prices:
        """Return the same prices, which learn on their own."""
        twin = Prices(self._given, self._configs, self._instances)
        twin._excess = self._excess.copy()
        return twin

    @property
    def n_given(self) -> int | None:
        """How many candidates have a given price of their own; None: it is not given, or for all."""
        return len(self._given) if isinstance(self._given, tuple) else None

    def recorded(self) -> Given | None:
        """Return the prices that a store keeps: a function's values, unless they are too many."""
        n_instances = len(self._instances or (None,))
        if not callable(self._given) or len(self._configs) * n_instances > 100_000:
            return self._given
        return tuple(map(self.recorded_of, self._configs))

    def recorded_of(self, config: Any) -> float | tuple[float, ...]:
        """Return the function's price of a configuration: a list by instance where they differ."""
        shown = (None,) if self._instances is None else self._instances
        row = tuple(self._said(config, instance) for instance in shown)
        return row[0] if len({*row}) == 1 else row

    def check_instances(self) -> None:
        """Raise SettingError unless a candidate that has prices by instance has all of them."""
        n = len(self._instances or ())
        for place, own in enumerate(self._given if isinstance(self._given, tuple) else ()):
            if isinstance(own, tuple) and len(own) != n:
                raise SettingError(
                    f"prices[{place}] has {len(own)} numbers for {n} instances: give one each"
                )

    def of(self, candidate: int, instance: int | None) -> float:
        """Return the expected price of a candidate on an instance, by its index."""
        excess = self._excess.get(candidate)
        if self._given is not None:
            return self._base(candidate, instance) + (excess or 0.0)
        return max(self._excess.values(), default=0.0) if excess is None else excess

    def total(self, candidates: Sequence[int], instance: int | None) -> float:
        """Return the expected price of some candidates on an instance."""
        return math.fsum(self.of(candidate, instance) for candidate in candidates)

    def given(self) -> NDArray[np.float64] | None:
        """Return the given price of each candidate, (m,), its mean over instances; all checked."""
        if self._given is None:
            return None
        places = [None] if self._instances is None else range(len(self._instances))
        rows = [[self._base(c, i) for i in places] for c in range(len(self._configs))]
        return np.asarray(np.mean(rows, axis=1))

    def _base(self, candidate: int, instance: int | None) -> float:
        """Return a given price; SettingError if it is not a finite number >= 0."""
        if self._given is None:
            return 0.0
        if not callable(self._given):
            own = self._given[candidate]
            return float(own if instance is None or not isinstance(own, tuple) else own[instance])
        shown = None if self._instances is None or instance is None else self._instances[instance]
        return self._said(self._configs[candidate], shown)

    def _said(self, config: Any, instance: Any) -> float:
        """Return the function's price."""
        given: Any = self._given
        return checked_price(
            given(config, instance), f"prices({reprlib.repr(config)}, {reprlib.repr(instance)})"
        )

    def settled(
        self, candidates: Sequence[int], instance: int | None, outcomes: Sequence[Outcome]
    ) -> list[Outcome]:
        """Learn the prices of evaluations on an instance; return them, all with a spend.

        One whose cost is not known, as of a process that was killed, counts at its price: at the
        given one for each attempt, else at the expected one.
        """
        told = []
        for candidate, outcome in zip(candidates, outcomes, strict=True):
            base, spend = self._base(candidate, instance), outcome.spend
            if spend is None and self._given is not None:
                spend = base * outcome.attempts
            if spend is not None:
                above = max(spend - base, 0.0)
                self._excess[candidate] = max(self._excess.get(candidate, 0.0), above)
            told.append(outcome if spend is None else replace(outcome, spend=spend))
        return [
            o if o.spend is not None else replace(o, spend=self.of(candidate, instance))
            for candidate, o in zip(candidates, told, strict=True)
        ]


class RecordedPrices(tuple[Any, ...]):
    """Prices of the candidates of a tuning, as a store has them; none for later candidates."""

    __slots__ = ()

    def __getitem__(self, candidate: Any) -> Any:
        """Return the price of a candidate, or its prices on the instances."""
        return super().__getitem__(candidate) if candidate < len(self) else 0.0


def checked_prices(given: Any) -> Given | None:
    """Return `prices=` as it is kept; SettingError if it cannot work."""
    if given is None or callable(given) or isinstance(given, RecordedPrices):
        return given  # type: ignore[no-any-return]
    if isinstance(given, list | tuple | np.ndarray) and len(given):
        return tuple(_checked(price, f"prices[{i}]") for i, price in enumerate(given))
    raise SettingError(
        f"prices={reprlib.repr(given)}: give a number per candidate, [..], or a function "
        "prices(config, instance) -> float"
    )


def _checked(price: Any, what: str) -> Any:
    """Return the price of a candidate, or its prices on the instances."""
    if isinstance(price, list | tuple | np.ndarray) and len(price):
        return tuple(checked_price(one, f"{what}[{i}]") for i, one in enumerate(price))
    return checked_price(price, what)


def checked_price(price: Any, what: str) -> float:
    """Return a price as a float; SettingError unless it is a number from 0 to MOST_SPEND."""
    if not is_real(price) or not 0.0 <= float(price) <= MOST_SPEND:
        wanted = f"a finite number >= 0, of at most {MOST_SPEND:g}"
        raise SettingError(f"{what} is {reprlib.repr(price)}: give {wanted}")
    return float(price)


NO_SPEND = "returned no 'spend', which a budget of money needs"


def with_spend(outcome: Outcome) -> Outcome:
    """Return an outcome, or, if its spend is missing, that it is invalid."""
    if outcome.value is None or outcome.spend is not None:
        return outcome
    return replace(outcome, status="invalid", value=None, metrics=None, message=NO_SPEND)
