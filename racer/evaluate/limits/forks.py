"""Signal handlers that are this process's own: what it forks answers signals as usual."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    Handler = TypeVar("Handler", bound=Callable[..., object])

__all__ = ["not_in_forks"]

_OURS: list[object] = []


def not_in_forks(handler: Handler) -> Handler:
    """Mark a handler of signals that is put back to the default in each process forked here."""
    _OURS.append(handler)
    return handler


def _put_back() -> None:
    for number in signal.valid_signals():
        handler: Any = signal.getsignal(number)
        function = getattr(handler, "__func__", handler)
        if any(function is ours for ours in _OURS):
            usual = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
            with suppress(ValueError):  # not in the main thread of a subinterpreter
                signal.signal(number, usual)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_put_back)
