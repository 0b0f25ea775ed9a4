"""The papers behind the methods: in prose, and as BibTeX."""

from __future__ import annotations

import re
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

from racer.errors import SettingError

if TYPE_CHECKING:
    from collections.abc import Iterable

EFFECT_SIZE = "kerby2014"
_ENTRY = re.compile(r"% (.+)\n(@\w+{(\w+),\n[^@]+?\n})\n")  # of references.bib


class Reference(NamedTuple):
    """A publication: how prose calls it, and its BibTeX entry."""

    called: str
    entry: str


@cache
def references() -> dict[str, Reference]:
    """Return the publications by key."""
    text = (files(__package__) / "references.bib").read_text(encoding="utf-8")
    text = text.replace("VERSION", version("racer-tuning"))
    return {key: Reference(called, entry) for called, entry, key in _ENTRY.findall(text)}


def _found(keys: Iterable[str]) -> list[Reference]:
    known = references()
    for key in (keys := list(keys)):
        if key not in known:
            raise SettingError(f"no reference {key!r}: choose from {', '.join(known)}")
    return [known[key] for key in keys]


def bibtex(keys: Iterable[str]) -> str:
    """Return the BibTeX entries of some references."""
    return "\n\n".join(reference.entry for reference in _found(keys))


def in_prose(keys: Iterable[str]) -> str:
    """Return references as they stand in parentheses."""
    return "; ".join(reference.called for reference in _found(keys))
