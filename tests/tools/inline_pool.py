"""A pool without workers, for tests of what a pool would run in processes of its own."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any


class InlinePool:
    """A pool that makes each call at once, in this process."""

    @staticmethod
    def submit(call: Any, *args: Any) -> Future[Any]:
        """Return the future of a call that has ended."""
        future: Future[Any] = Future()
        future.set_result(call(*args))
        return future
