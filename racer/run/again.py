"""Recorded cells evaluated again: which of them have the recorded outcome."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from racer.evaluate.workers import outcomes_of
from racer.run.job import pool
from racer.seeding import rng_for
from racer.store.contest import contest_from_store
from racer.store.reader import open_to_read
from racer.store.replay import Recorder, replay

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from racer.evaluate.objective import Objective
    from racer.evaluate.outcome import Cell, Outcome

_AGREE = 1e-9  # relative difference of values


class _Replayed:
    """A contest that keeps its cells and their outcomes."""

    def __init__(self, contest: Any) -> None:
        self._contest, self.told = contest, list[tuple[Any, Any]]()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._contest, name)

    def tell(self, cell: Cell, outcome: Outcome) -> None:
        self.told.append((cell, outcome))
        self._contest.tell(cell, outcome)


def differences(
    store: str,
    evaluate: Objective,
    how: Mapping[str, Any],
    count: int,
    *,
    seed: int,
    n_jobs: int,
    moved: Callable[[Any], Any],
) -> tuple[int, list[str]]:
    """Evaluate recorded cells, drawn at random; return how many, and a text for each that differs.

    `how` has the limits, and `moved` the place of an instance here.
    """
    with open_to_read(store) as reader:
        contest: Any = _Replayed(contest_from_store(reader))
        recorder = Recorder(lambda _: None)
        recorder.expect(reader, larger_budget=False)
        contest.watch(recorder)
        replay(contest, reader, recorder)
    timed = contest.rules.runtime is not None
    drawn = rng_for(seed, "verify").permutation(len(contest.told))[:count]
    recorded = {cell.key: outcome for cell, outcome in (contest.told[i] for i in drawn)}
    cells = [contest.told[i][0] for i in drawn]
    cells = [replace(cell, instance=moved(cell.instance)) for cell in cells]
    found = []
    with pool(contest, evaluate, how, n_jobs=n_jobs) as workers:
        for cell, outcome in outcomes_of(workers, cells):
            old = recorded[cell.key]
            if not _agree(old, outcome, timed=timed):
                block = "held-out instance" if cell.held_out else "block"
                where = f"candidate {cell.candidate} on {block} {cell.block}"
                found.append(f"{where} is {_shown(outcome)} now, recorded is {_shown(old)}")
    return len(cells), sorted(found)


def _agree(old: Outcome, new: Outcome, *, timed: bool) -> bool:
    """Return True if two outcomes are equal; of run times, if the evaluations ended alike."""
    if timed:
        return {old.status, new.status} <= {"ok", "capped"} or old.status == new.status
    if old.value is None or new.value is None or old.status != new.status:
        return old.status == new.status
    names = old.metrics or {}
    pairs = [(old.value, new.value), *((names[n], (new.metrics or {}).get(n)) for n in names)]
    return all(b is not None and math.isclose(a, b, rel_tol=_AGREE) for a, b in pairs)


def _shown(outcome: Outcome) -> str:
    return outcome.status if outcome.value is None else f"{outcome.value!r}"
