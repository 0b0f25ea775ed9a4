"""What experiment trackers log of a contest: metrics by block, and its result in the end."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from racer.core.events import BlockCompleted, RaceEnded
from racer.errors import RaceInterrupted, warn
from racer.results.base import Result

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Record:
    """A candidate in the result: its values by block (NaN if failed), how it was eliminated.

    `tests` are its values by held-out instance, `test_mean` is from `TuneResult.test_means`.
    """

    candidate: int
    params: dict[str, Any]
    values: dict[int, float]
    mean: float | None
    eliminated: str
    tests: dict[int, float]
    test_mean: float | None


class TrackerCallback(ABC):
    """A callback that logs blocks as they come, and the result when the contest ends.

    Used as a context, it also ends when the contest is interrupted, or fails. An error of the
    tracker becomes a RacerWarning: it must not cost the result.
    """

    def __init__(self) -> None:
        self._step = 0  # of the result, behind those of all blocks
        self._is_open = self._logs_blocks = True

    def __call__(self, event: object) -> None:
        """Log an event."""
        if isinstance(event, BlockCompleted):
            self._step = max(self._step, event.block + 1)
            if self._logs_blocks:
                metrics = _metrics(event)
                self._logs_blocks = self._try("block", lambda: self.log(metrics, event.block))
        elif isinstance(event, RaceEnded):
            self._end(event.ended.value, event.result)

    def _end(self, ended: str, result: Any) -> None:
        self._is_open = False
        found = result if isinstance(result, Result) else None
        if found is not None:
            metrics = _final_metrics(found)
            self._try("result", lambda: self.log(metrics, self._step))
        self._try("result", lambda: self.end(ended, found))

    def _try(self, what: str, log: Callable[[], object]) -> bool:
        """Return whether something could be logged; warn if not."""
        try:
            log()
        except Exception as error:  # noqa: BLE001  (whatever it is: the contest goes on)
            more = "; no further block is logged" if what == "block" else ""
            name = type(self).__name__
            warn(f"{name} could not log a {what}: {type(error).__name__}: {error}{more}")
            return False
        return True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: object
    ) -> None:
        if self._is_open:
            has_failed = kind is not None and issubclass(kind, Exception)
            result = error.result if isinstance(error, RaceInterrupted) else None
            self._end("failed" if has_failed else "interrupted", result)

    @abstractmethod
    def log(self, metrics: dict[str, float], step: int) -> None:
        """Log the metrics of a block, or, as the last step, of the result."""

    @abstractmethod
    def end(self, ended: str, result: Result | None) -> None:
        """Log the candidates of a result, if there is one, and end the run."""


def records_of(result: Result, most: int | None = None) -> list[Record]:
    """Return the candidates evaluated: the best and the survivors, then by their blocks."""
    gone = {
        e.candidate: f"{e.reason}, against #{e.against}, after block {e.block}"
        for e in result._eliminations  # noqa: SLF001  (as events, not as a frame)
        if e.candidate not in result.survivors
    }
    known = {c: result.known.of(c) for c in range(len(result.configs))}
    place = {candidate: at for at, candidate in enumerate(result.leaders)}
    seen = [c for c in known if len(known[c])]
    seen.sort(key=lambda c: (place.get(c, len(place)), -len(known[c])))
    return [
        Record(
            candidate=c,
            params=params_of(result.configs[c]),
            values=_values(known[c]),
            mean=result.mean(c),
            eliminated=gone.get(c, ""),
            tests=_values(result.held_out.of(c)),
            test_mean=result.test_means.get(c),
        )
        for c in seen[:most]
    ]


def params_of(config: Any) -> dict[str, Any]:
    """Return a configuration by names."""
    if isinstance(config, dict):
        return {str(name): value for name, value in config.items()}
    return {} if config is None else {"config": config}


def _values(outcomes: Any) -> dict[int, float]:
    return {at: math.nan if o.value is None else o.value for at, o in outcomes.items()}


def _metrics(event: BlockCompleted) -> dict[str, float]:
    """Return the numbers of a block."""
    found = {
        "best": event.best,
        "best_mean": event.best_mean,
        "alive": len(event.alive),
        "evaluations": event.evaluations,
        "seconds": event.seconds,
        "failed": event.failed,
        "spent": event.spent,
    }
    return {name: float(value) for name, value in found.items() if value is not None}


def _final_metrics(result: Result) -> dict[str, float]:
    """Return the numbers of a result; NaN for a best that there is not."""
    best = result.best_index
    mean = None if best is None else result.mean(best)
    found = {
        "best": math.nan if best is None else best,
        "best_mean": math.nan if mean is None else mean,
        "alive": len(result.survivors),
        "evaluations": result.evaluations,
        "seconds": result.seconds,
        "spent": result.spent,
    }
    return {name: float(value) for name, value in found.items() if value is not None}
