"""A race to the front in sentences and tables."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from racer._checks import shortened
from racer._numerics import shown_probability
from racer.render.sections import Grid, number
from racer.results.base import means_with_failures
from racer.stats.several import on_front

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from racer.core.objective import Aim
    from racer.core.table import Table
    from racer.results.base import Result

_MOST = 12  # candidates in a sentence


class FrontOfMeans:
    """The front of the mean metrics so far, kept up to date while a race runs."""

    def __init__(self, aim: Aim) -> None:
        self._signs = {name: aim.metrics[name].sign for name in aim.deciding}
        self._sums: dict[int, NDArray[np.float64]] = {}  # 1 and the costs of each cell

    def add(self, candidate: int, metrics: Mapping[str, float]) -> None:
        """Take in the metrics of a cell; NaN if it failed."""
        costs = [sign * metrics.get(name, math.nan) for name, sign in self._signs.items()]
        if not any(map(math.isnan, costs)):
            self._sums[candidate] = self._sums.get(candidate, 0.0) + np.array([1.0, *costs])

    def clear(self) -> None:
        """Forget all cells."""
        self._sums.clear()

    def members(self, alive: Iterable[int]) -> tuple[int, ...]:
        """Return the candidates that no other of them beats in all means."""
        known = [candidate for candidate in alive if candidate in self._sums]
        if not known:
            return ()
        sums = np.array([self._sums[candidate] for candidate in known])
        means = sums[:, 1:] / sums[:, :1]
        return tuple(np.array(known)[on_front(means[None])[0]].tolist())


def verdict_of_front(result: Result) -> tuple[str, ...]:
    """Return the result of a race to the front in sentences."""
    metrics, n = result._of_metrics(), len(result.configs)
    if not result._has_evidence:
        return (f"No candidate is certainly on the front of {n}.",)
    likely = metrics.likely_front
    names = metrics.front_names
    of = f"{', '.join(names[:-1])} and {names[-1]}"
    who = f": {listed(likely)}" if likely else ""
    first = (
        f"{len(likely)} of {n} candidates {'are' if len(likely) != 1 else 'is'} on the Pareto front "
        f"of {of} with a posterior probability of at least 0.5{who}."
    )
    credible = metrics.credible_front
    whole = f"With probability 0.95 {listed(credible)} contain{'s' * (len(credible) == 1)} the whole front."
    if len(credible) == n:
        whole = "Any of them may be on it: none is ruled out with probability 0.95."
    return first, *([whole] if len(likely) < n else []), *metrics.notes


def front_first(result: Result) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the likely members of the front and the survivors, and which of these were eliminated."""
    metrics = result._of_metrics()
    likely = metrics.likely_front if result._has_evidence else ()
    gone = tuple(c for c in likely if c not in result.survivors)
    return metrics.likeliest_first((*result.leaders, *gone)), gone


def listed(candidates: Sequence[int]) -> str:
    """Return the numbers of the first candidates, and how many more there are."""
    return shortened([f"#{c}" for c in candidates], _MOST)


def shown_means(known: Table, leaders: Sequence[int], chosen: Sequence[int]) -> list[str]:
    """Return the means of some of the leaders on the blocks that all leaders have seen, as text."""
    _, means = means_with_failures(known, leaders)
    return [number(means.get(c)) for c in chosen]


def front_grid(result: Result, most: int | None = None) -> Grid:
    """Return the survivors of a race to the front: P(on the front), and means as in `front`."""
    metrics = result._of_metrics()
    chances = metrics.probability_front
    order = result.leaders
    failed = {c: result._run_times(c).failed for c in order}
    chosen, is_known = order[:most], result._has_evidence
    columns: list[tuple[str, Sequence[object]]] = [
        ("candidate", [result._label(c) for c in chosen]),
        ("P(front)", [shown_probability(chances[c], 2) if is_known else "-" for c in chosen]),
    ]
    for name in metrics.tables:
        means = dict(metrics.frame.get(f"metric:{name}", {})) if is_known else {}
        columns.append((name, [number(means.get(c)) for c in chosen]))
    columns.append((f"{result._words.run}s", [len(result.known.of(c)) for c in chosen]))
    if any(failed.values()):
        columns.append(("failed", [failed[c] for c in chosen]))
    for name, table in metrics.held_out(result.held_out).items():
        columns.append((f"held-out {name}", [number(table.mean(c)) for c in chosen]))
    title = f"Means are estimates from all {result._words.run}s of each candidate."
    return Grid.of_columns(columns, ["candidate"], title, n_more=len(order) - len(chosen))
