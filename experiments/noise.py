"""An objective for benchmarks."""

from __future__ import annotations

__all__ = ["evaluate"]


def evaluate(config: int, instance: int, seed: int) -> float:
    """Return something that looks like noise, for next to nothing."""
    return ((seed + 7919 * instance) * 2654435761 + config * 40503 * seed) % 1000003 / 1000003
