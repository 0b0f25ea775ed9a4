"""Choices as parameters, without and with an order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from racer.errors import SettingError
from racer.space.domains import Choices
from racer.space.record import Record
from racer.space.values import plain, token

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Categorical", "Ordinal"]


@dataclass(frozen=True, eq=False)
class Categorical(Record):
    """One of some values without an order.

    Parameters
    ----------
    choices : sequence of str, int, float, bool, None, or tuples of these
        Different from each other; a single one is a fixed value.
    """

    choices: Sequence[Any]

    def names(self) -> frozenset[str]:
        """Return nothing: choices depend on no other parameter."""
        return frozenset()

    def checked(self, name: str) -> Categorical:
        """Return it in plain values; SettingError, with the name, if it cannot be."""
        return Categorical(_checked_choices(self.choices, name, "choices"))

    def domain(self, values: Mapping[str, Any]) -> Choices:  # noqa: ARG002
        """Return the values possible."""
        return Choices(tuple(self.choices))


@dataclass(frozen=True, eq=False)
class Ordinal(Record):
    """One of some values in an order, such as "low", "medium", "high".

    Parameters
    ----------
    levels : sequence of str, int, float, bool, None, or tuples of these
        From the lowest to the highest. ``Param("heat") < "high"`` compares by this order.
    """

    levels: Sequence[Any]

    def names(self) -> frozenset[str]:
        """Return nothing: levels depend on no other parameter."""
        return frozenset()

    def checked(self, name: str) -> Ordinal:
        """Return it in plain values; SettingError, with the name, if it cannot be."""
        return Ordinal(_checked_choices(self.levels, name, "levels"))

    def domain(self, values: Mapping[str, Any]) -> Choices:  # noqa: ARG002
        """Return the values possible."""
        return Choices(tuple(self.levels))


def _checked_choices(given: Any, name: str, what: str) -> tuple[Any, ...]:
    if isinstance(given, str | bytes | Mapping | set | frozenset) or not hasattr(given, "__iter__"):
        raise SettingError(f"{name}: {what}={given!r}: give a list of values")
    choices: list[Any] = []
    seen = set()
    for value in given:
        try:
            choice = plain(value)
        except TypeError:
            raise SettingError(
                f"{name}: {what} have {value!r}: give text, finite numbers, True, False, None or "
                "tuples of these, and look anything else up by name in `evaluate`"
            ) from None
        if token(choice) in seen:
            raise SettingError(f"{name}: {what} have {choice!r} twice: give each once")
        seen.add(token(choice))
        choices.append(choice)
    if not choices:
        raise SettingError(f"{name}: {what} are empty: give at least one value")
    return tuple(choices)
