"""Events of a contest as experiment trackers want them: metrics by step, a record per candidate."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from racer._numerics import mean_of
from racer.core.events import BlockCompleted, CandidatesAdded, RaceCompleted, RaceEnded

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from racer.core.events import Elimination


@dataclass
class Record:
    """What is known of a candidate: its values by block (NaN if failed), how it was eliminated."""

    candidate: int
    config: Any = None
    values: dict[int, float] = field(default_factory=dict)
    eliminated: str = ""

    @property
    def mean(self) -> float | None:
        """The mean over the blocks that did not fail, None without one."""
        known = [value for value in self.values.values() if math.isfinite(value)]
        return mean_of(known) if known else None

    @property
    def params(self) -> dict[str, Any]:
        """The configuration by names."""
        if isinstance(self.config, dict):
            return {str(name): value for name, value in self.config.items()}
        return {} if self.config is None else {"config": self.config}


class TrackerCallback(ABC):
    """A callback that keeps records, and ends what it has begun when the race ends.

    Used as a context, it also ends when the race is interrupted, or fails.
    """

    keeps_candidates = True  # a resume passes it those sampled before, too

    def __init__(self, configs: Sequence[Any]) -> None:
        self.records: dict[int, Record] = {i: Record(i, config) for i, config in enumerate(configs)}
        self.best: int | None = None
        self._is_open = True

    def __call__(self, event: object) -> None:
        """Pass an event on."""
        if isinstance(event, CandidatesAdded):
            new = enumerate(event.configs, event.first)
            self.records |= {number: Record(number, config) for number, config in new}
        elif isinstance(event, BlockCompleted):
            for candidate, value in zip(event.candidates, event.values, strict=True):
                self.record(candidate).values[event.block] = value
            self.best = event.best
            self._eliminate(event.eliminated, event.block)
            self.log(_metrics(event), event.block)
        elif isinstance(event, RaceCompleted):
            self.best = event.best
            for candidate in event.elites:  # safe again, whatever an earlier test has said
                self.record(candidate).eliminated = ""
        elif isinstance(event, RaceEnded):
            last = max((max(r.values) for r in self.records.values() if r.values), default=0)
            self._eliminate(event.eliminated, last)
            self.end(event.ended.value)
            self._is_open = False

    def _eliminate(self, eliminated: Iterable[Elimination], block: int) -> None:
        for drop in eliminated:
            reason = f"{drop.reason}, against #{drop.against}, after block {block}"
            self.record(drop.candidate).eliminated = reason

    def record(self, candidate: int) -> Record:
        """Return the record of a candidate; a new one if a resume has not passed its blocks."""
        return self.records.setdefault(candidate, Record(candidate))

    def by_blocks(self, most: int) -> list[Record]:
        """Return the candidates with the most blocks, those not eliminated first."""
        seen = [record for record in self.records.values() if record.values]
        return sorted(seen, key=lambda r: (bool(r.eliminated), -len(r.values)))[:most]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._is_open:
            self._is_open = False
            has_failed = kind is not None and issubclass(kind, Exception)
            self.end("failed" if has_failed else "interrupted")

    @abstractmethod
    def log(self, metrics: dict[str, float], block: int) -> None:
        """Log the metrics of a block."""

    @abstractmethod
    def end(self, ended: str) -> None:
        """Log the candidates, and end the run."""


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
