"""Records of settings that are equal when their fields are."""

from __future__ import annotations

from typing import Any

from racer.space.terms import Term
from racer.space.values import token

__all__ = ["Record"]


class Record:
    """Equal when the fields are; bounds that are terms compare as they are written."""

    def _fields(self) -> tuple[Any, ...]:
        fields = vars(self).items()
        return (type(self), *((k, repr(v) if isinstance(v, Term) else token(v)) for k, v in fields))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and self._fields() == other._fields()

    def __hash__(self) -> int:
        return hash(self._fields())
