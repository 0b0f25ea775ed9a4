"""Checks of settings that every room makes."""

from __future__ import annotations

import difflib
import reprlib
from numbers import Integral, Real
from typing import TYPE_CHECKING

import numpy as np

from racer.errors import SettingError

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["check_jobs", "did_you_mean", "flag", "is_real", "is_whole", "whole"]


def is_whole(value: object) -> bool:
    """Say whether `value` is a whole number (True and False are not)."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_real(value: object) -> bool:
    """Say whether `value` is a real number (True and False are not)."""
    return isinstance(value, Real) and not isinstance(value, bool)


def whole(value: int, name: str, *, least: int) -> int:
    """Return `value` as an int if it is a whole number of at least `least`.

    Raises
    ------
    SettingError
        Otherwise.
    """
    if not is_whole(value) or value < least:
        raise SettingError(f"{name}={reprlib.repr(value)}: give a whole number >= {least}")
    return int(value)


def flag(value: object, name: str) -> bool:
    """Return `value` if it is True or False, and not merely counts as one.

    Raises
    ------
    SettingError
        Otherwise.
    """
    if not isinstance(value, bool | np.bool_):
        raise SettingError(f"{name}={reprlib.repr(value)}: give True or False")
    return bool(value)


def did_you_mean(name: object, names: Iterable[str]) -> str:
    """Return a hint to the nearest of `names`, or nothing."""
    near = difflib.get_close_matches(str(name), list(names), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def check_jobs(n_jobs: int) -> int:
    """Return `n_jobs` if joblib can make something of it.

    Raises
    ------
    SettingError
        Otherwise.
    """
    if not is_whole(n_jobs) or n_jobs == 0:
        raise SettingError(f"n_jobs={n_jobs!r}: give a whole number other than 0 (-1: all cores)")
    return int(n_jobs)
