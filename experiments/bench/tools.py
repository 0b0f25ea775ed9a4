"""What the benchmarks share: an objective, races in which all stay, and clocks."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from racer.deciders import Decider, Scheduled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from racer.deciders import Blocks, Setting, Verdict

__all__ = ["Withheld", "evaluate", "median_ms", "timed"]

T = TypeVar("T")


def evaluate(config: int, instance: int, seed: int) -> float:
    """Return something that looks like noise, for next to nothing."""
    return ((seed + 7919 * instance) * 2654435761 + config * 40503 * seed) % 1000003 / 1000003


@dataclass(frozen=True)
class Withheld(Scheduled):
    """A decider whose drops are computed and not heeded."""

    inner: Decider

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Those of the decider inside."""
        return self.inner.bounds

    def start(self, setting: Setting) -> Any:
        """Start the decider inside."""
        return self.inner.start(setting)

    def decide(self, state: Any, blocks: Blocks) -> tuple[Any, Verdict]:
        """Decide, and keep all candidates."""
        state, verdict = self.inner.decide(state, blocks)
        return state, replace(verdict, dropped=(), undecided=False)


def timed(call: Callable[[], T], clock: Callable[[], float] = time.perf_counter) -> tuple[float, T]:
    """Return the seconds that a call takes, and what it returns."""
    start = clock()
    result = call()
    return clock() - start, result


def median_ms(seconds: Iterable[float]) -> float:
    """Return the median, in milliseconds."""
    return statistics.median(seconds) * 1e3
