"""What a second metric costs: processor time per evaluation, beside races of one number.

Candidates are equal, so that all races make the same evaluations, whatever decides. Ways are timed in
turn, and the median of the rounds is printed.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import click

import racer
from experiments.bench.tools import median_ms

__all__ = ["main"]

_HOW = {"error": "min", "seconds": "min"}
_FRONT = {"metrics": _HOW, "objective": racer.Pareto("error", "seconds")}
_WAYS: dict[str, dict[str, Any]] = {  # deciders that go together: what is decided, and by what
    "one number, anytime": {"decider": "anytime"},
    "two metrics, raced on one, anytime": {
        "decider": "anytime",
        "metrics": _HOW,
        "objective": "error",
    },
    "two metrics, front": {"decider": "front", **_FRONT},
    "one number, bayesian-friedman": {"decider": "bayesian-friedman"},
    "two metrics, bayesian-front": {"decider": "bayesian-front", **_FRONT},
}


def one(config: int, instance: int, seed: int) -> float:  # noqa: ARG001
    """Return noise."""
    return seed * (2 * config + 3) % 1009 / 1009.0


def two(config: int, instance: int, seed: int) -> dict[str, float]:
    """Return noise in two metrics."""
    return {"error": one(config, instance, seed), "seconds": seed * (2 * config + 5) % 997 / 997.0}


def raced(way: str, candidates: int, blocks: int, store: Path | None) -> tuple[float, int]:
    """Return the processor seconds of a race, and its evaluations."""
    settings = _WAYS[way]
    evaluate: Any = two if "metrics" in settings else one
    begun = time.process_time()
    result = racer.race(
        *(range(candidates), evaluate, range(blocks)),
        budget=candidates * blocks, seed=1, deterministic=True, store=store, **settings,
    )  # fmt: skip
    return time.process_time() - begun, result.evaluations


@click.command()
@click.option("--candidates", type=click.IntRange(2), default=20, show_default=True)
@click.option("--blocks", type=click.IntRange(10), default=200, show_default=True)
@click.option("--repeats", type=click.IntRange(1), default=7, show_default=True)
def main(candidates: int, blocks: int, repeats: int) -> None:
    """Time races of one number and of two metrics."""
    taken: dict[tuple[str, bool], list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for repeat in range(repeats + 1):  # the first one is not counted: it imports
            for way in _WAYS:
                for stored in (False, True):
                    store = Path(folder) / f"{repeat}-{len(taken)}-{way}.db" if stored else None
                    seconds, evaluations = raced(way, candidates, blocks, store)
                    if repeat:
                        taken.setdefault((way, stored), []).append(seconds / evaluations)
    print(f"| {candidates} candidates, {blocks} blocks | us an evaluation | with a store |")
    print("|---|---|---|")
    for way in _WAYS:
        figures = [1e3 * median_ms(taken[way, stored]) for stored in (False, True)]
        print(f"| {way} | {figures[0]:.1f} | {figures[1]:.1f} |")
