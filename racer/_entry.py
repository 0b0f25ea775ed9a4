"""Switch NumPy's error mode: racer's own in public calls, the caller's in the caller's code."""

from __future__ import annotations

import decimal
import functools
import inspect
import sys
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from types import FunctionType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import numpy as np

from racer._checks import suggests

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

P = ParamSpec("P")
R = TypeVar("R")

_OWN: dict[str, Any] = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}
_IS_IN_CONTEXTS = not np.__version__.startswith("1.")  # else one for each thread
# of whoever called racer; None while code of the user runs
_users: ContextVar[Mapping[str, Any] | None] = ContextVar("_users", default=None)


def own_mode(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function compute in racer's error mode, regardless of its caller's."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        if _users.get() is not None:  # racer calls itself
            return function(*args, **kwargs)
        with called_in(np.geterr()), np.errstate(**_OWN):
            return function(*args, **kwargs)

    return call


def entry(function: Callable[P, R]) -> Callable[P, R]:
    """Make a function a public call: in racer's error mode, and with hints at misspelt keywords."""
    return own_mode(suggests(function))


def entries(cls: type[R]) -> type[R]:
    """Let the public methods and properties that a class defines compute in racer's error mode."""
    for name, value in list(vars(cls).items()):
        if name.startswith("_") and name not in ("__init__", "__repr__"):
            continue
        if isinstance(value, FunctionType):
            setattr(cls, name, own_mode(value))
        elif isinstance(value, property) and value.fget is not None:
            setattr(cls, name, property(own_mode(value.fget)))
        elif isinstance(value, functools.cached_property):
            value.func = own_mode(value.func)
    return cls


def public_room(room: dict[str, Any]) -> None:
    """Make entries of the functions and classes in a package's `__all__`."""
    for name in room["__all__"]:
        value = room[name]
        if inspect.isclass(value):
            entries(value)
        elif isinstance(value, FunctionType):
            room[name] = own_mode(value)
            setattr(sys.modules[value.__module__], name, room[name])  # where pickle finds it


def users_mode() -> dict[str, Any]:
    """Return the error mode of racer's caller, as other processes can use it."""
    # functions to call stay here
    return {k: "warn" if v in ("call", "log") else v for k, v in (_users.get() or _OWN).items()}


@contextmanager
def called_in(mode: Mapping[str, Any] | None) -> Iterator[None]:
    """Note the error mode of the caller."""
    token = _users.set(_OWN if mode == _OWN else mode)
    try:
        yield
    finally:
        _users.reset(token)


@contextmanager
def as_user() -> Iterator[None]:
    """Compute in the user's error mode; changes of the mode end with the block."""
    mode = _users.get() or {}
    with called_in(None), np.errstate(**mode):
        yield


def run_as_user(function: Callable[..., R], *args: Any) -> R:
    """Call a function of the user in a copy of this context, and in the user's error mode."""
    if _IS_IN_CONTEXTS and _users.get() is _OWN:  # nothing to switch, which takes a microsecond
        context = copy_context()
        context.run(_users.set, None)
        context.run(decimal.setcontext, decimal.getcontext().copy())
        return context.run(function, *args)
    with as_user(), decimal.localcontext():
        return copy_context().run(function, *args)
