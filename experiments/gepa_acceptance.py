"""Acceptance of proposals in GEPA: by the sum on a minibatch, and by a race.

GEPA's own loop, with a system whose candidates are their own probability of a right answer, and
proposals that differ from their parent by a normal deviate, for the worse on average. An item is
harder or easier for all candidates.
"""

from __future__ import annotations

import math
from random import Random
from statistics import fmean, stdev
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import click

from racer.integrations.gepa import RaceAcceptance
from racer.render.sections import Grid
from racer.render.text import as_text

if TYPE_CHECKING:
    from collections.abc import Callable

TRAINING = range(1_000_000, 1_000_200)
WAYS: dict[str, Callable[[Any, int], Any]] = {
    "strict_improvement": lambda _, __: "strict_improvement",
    "RaceAcceptance": lambda adapter, seed: RaceAcceptance(adapter, TRAINING, seed=seed),
}


class System:
    """An adapter of GEPA that answers right with a probability that is the candidate's text."""

    propose_new_texts = None

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def evaluate(
        self, batch: list[int], candidate: dict[str, str], *, capture_traces: bool = False
    ) -> Any:
        """Return scores, 0 or 1: the same item and candidate always score the same."""
        from gepa.core.adapter import EvaluationBatch  # noqa: PLC0415

        text = candidate["prompt"]
        scores = []
        for item in batch:
            hard = Random(f"{self._seed} {item}").random()  # noqa: S311
            luck = Random(f"{self._seed} {item} {text}").random()  # noqa: S311
            scores.append(float(0.7 * hard + 0.3 * luck < float(text)))
        return EvaluationBatch(scores, scores, [{} for _ in batch] if capture_traces else None)

    def make_reflective_dataset(self, *given: Any) -> dict[str, list[dict[str, str]]]:
        """Return nothing to reflect on."""
        return {name: [{}] for name in given[2]}


def optimized(way: str, seed: int, validation: int, calls: int, step: tuple[float, float]) -> Any:
    """Return GEPA's result."""
    import gepa  # noqa: PLC0415

    system, rng = System(seed), Random(seed)  # noqa: S311

    def propose(candidate: dict[str, str], _: Any, components: list[str]) -> dict[str, str]:
        value = float(candidate["prompt"]) + rng.gauss(*step)
        return dict.fromkeys(components, repr(min(max(value, 0.01), 0.99)))

    return gepa.optimize(
        {"prompt": "0.4"},
        list(TRAINING),
        list(range(validation)),
        adapter=system,
        custom_candidate_proposer=propose,
        max_metric_calls=calls,
        acceptance_criterion=WAYS[way](system, seed),
        skip_perfect_score=False,
        seed=seed,
        logger=SimpleNamespace(log=lambda _: None),
    )


@click.command()
@click.option("--validation", type=int, default=200, show_default=True, help="Validation items.")
@click.option("--calls", type=int, default=4000, show_default=True, help="Metric calls.")
@click.option("--repetitions", type=int, default=24, show_default=True)
@click.option("--mean", type=float, default=-0.01, show_default=True, help="Of a proposal's gain.")
@click.option("--sd", type=float, default=0.04, show_default=True, help="Of a proposal's gain.")
@click.option("--seed", type=int, default=100, show_default=True)
def main(
    *, validation: int, calls: int, repetitions: int, mean: float, sd: float, seed: int
) -> None:
    """Optimize by GEPA, and print the quality of what it returns."""
    rows = []
    for way in WAYS:
        results = [
            optimized(way, number, validation, calls, (mean, sd))
            for number in range(seed, seed + repetitions)
        ]
        found = [float(result.best_candidate["prompt"]) for result in results]
        error = stdev(found) / math.sqrt(len(found))
        accepted = fmean(len(result.candidates) - 1 for result in results)
        rows.append((way, f"{fmean(found):.3f} ± {error:.3f}", f"{accepted:.1f}"))
    click.echo(as_text([Grid.of(("criterion", "quality", "accepted"), rows, left="criterion")]))


if __name__ == "__main__":
    main()
