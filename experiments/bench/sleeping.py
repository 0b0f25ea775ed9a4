"""Waits as long as an evaluation would take: the objective of the benchmarks of workers.

A worker imports the module of its objective. This one imports nothing of racer, as a user's script
may do; what a tuning needs of racer takes .3 s of CPU to import.
"""

from __future__ import annotations

import time
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["MEAN", "Objective"]

MEAN = 0.1  # seconds


@dataclass(frozen=True)
class Objective:
    """A noisy cost, after as many seconds as the law of running times says."""

    law: str
    scale: float = 1.0

    def seconds(self, config: Any, seed: int) -> float:
        """Return how long an evaluation takes: the same each time."""
        name = zlib.crc32(repr(config).encode())
        rng = np.random.default_rng([name] if self.law == "per candidate" else [name, seed])
        factor = 1.0
        if self.law == "log-normal":
            factor = rng.lognormal(-0.5, 1.0)
        elif self.law != "equal":
            factor = rng.standard_exponential()
        return factor * MEAN * self.scale

    def cost(self, config: Any, seed: int) -> float:
        """Return 0.05 times the candidate's number, or the sum of squares, and N(0, 1)."""
        noise = np.random.default_rng([seed, zlib.crc32(repr(config).encode())]).standard_normal()
        known = 0.05 * config if isinstance(config, int) else sum(x * x for x in config.values())
        return float(known + noise)

    def __call__(self, config: Any, instance: None, seed: int) -> float:  # noqa: ARG002
        """Sleep, and return the cost."""
        time.sleep(self.seconds(config, seed))
        return self.cost(config, seed)
