"""Rungs: new candidates climb from cheap evaluations to full ones before they are raced."""

from __future__ import annotations

import reprlib
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from racer.core.events import Elimination
from racer.errors import SettingError
from racer.evaluate.fidelity import Fidelity
from racer.racing.asktell import Asked
from racer.seeding import rng_for

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from racer.core.rules import Rules
    from racer.evaluate.outcome import Cell
    from racer.racing.asktell import Ahead
    from racer.tuner.cheap import Cheap, Trust
    from racer.tuner.history import History

_THIRD = 3  # of so many candidates one goes on from each rung
_PER_SCOUT = 4  # candidates at the top for each that climbs whatever its rank
_LEAST = 0.5  # rank correlation with full evaluations, below which a rung is left out
_MOST = 1_000  # candidates that climb at once


def checked_fidelity(given: Any, rules: Rules) -> Fidelity | None:
    """Return the fidelity of a tuning; SettingError if it cannot be used with these rules."""
    if given is None:
        return None
    if not isinstance(given, Fidelity):
        wanted = 'racer.Fidelity("epochs", (1, 3, 9, 27))'
        raise SettingError(f"fidelity={reprlib.repr(given)}: give {wanted}")
    others = {
        "goal=Runtime(..), which already stops slow evaluations early": rules.runtime is not None,
        "a goal of several metrics, by which cheap evaluations have no order": rules.goal
        is not None,
        "Budget(spend=..) or prices, as the price of a cheap evaluation is not known": rules.is_paid
        or rules.prices is not None,
    }
    for what, is_given in others.items():
        if is_given:
            raise SettingError(f"fidelity= does not go with {what}: leave one of them out")
    return given


class Plan(NamedTuple):
    """How many new candidates begin to climb which rungs, and how many reach the top."""

    values: tuple[float, ...]
    begin: int
    top: int


class Rungs:
    """Successive halving of new candidates on one block, before the race that begins with it.

    At each rung the better third goes on, by ranks; failures rank last. A few candidates, drawn at
    random, climb on whatever their rank, up to a full evaluation: by these and by those that
    reach the top it is known how well each rung tells the order of full evaluations. A rung that
    does not is left out, and tried once more each time the budget used has doubled.
    """

    def __init__(self, history: History, note: Callable[[Any], object]) -> None:
        self._history, self._note = history, note
        self._again: dict[float, int] = {}  # rungs left out; evaluations after which they are tried
        self.climbing: Sequence[int] = ()

    @property
    def _cheap(self) -> Cheap:
        cheap = self._history.cheap
        assert cheap is not None  # noqa: S101  (for the type checker)
        return cheap

    def plan(self, wanted: int, each: int) -> Plan:
        """Return the climb that costs no more, with `each` evaluations at the top, than `wanted` ones."""
        values = self._used()
        most = _THIRD ** len(values)
        shares = [*map(self._cheap.fidelity.share, values)]
        climber = sum(share / _THIRD**rung for rung, share in enumerate(shares))
        scout = (1 + sum(shares)) / _PER_SCOUT
        top = max(int(wanted * each / (each + most * climber + scout)), min(wanted, 2))
        rest = (wanted - top) * each - scout * -(-top // _PER_SCOUT) * _PER_SCOUT
        begin = min(top * most, _MOST, int(rest / climber)) if values else 0
        return Plan(values, begin, top) if begin > top else Plan((), wanted, wanted)

    def _used(self) -> tuple[float, ...]:
        """Return the rungs to climb, after a review of each."""
        now, known, fidelity = self._history.evaluations, self._history.known, self._cheap.fidelity
        for value in fidelity.rungs:
            due = self._again.get(value)
            if due is not None and now >= due:
                del self._again[value]  # for one climb at least
            elif due is None and (found := self._cheap.trust(value, known)).high < _LEAST:
                self._again[value] = 2 * now
                self._note(_left_out(fidelity, found))
        return tuple(value for value in fidelity.rungs if value not in self._again)

    def climb(
        self, candidates: Sequence[int], block: int, plan: Plan, later: Ahead = tuple
    ) -> Generator[Asked, Any, tuple[list[int], list[Elimination]]]:
        """Yield cells until the best are at the top; return them, and how the others left.

        `later`: full cells that are needed in any case.
        """
        history, fidelity, gone = self._history, self._cheap.fidelity, list[Elimination]()
        if not plan.values or len(candidates) <= plan.top:
            return [*candidates], []
        self.climbing = candidates
        rng = rng_for(history.plan.seed, "scouts", candidates[0])
        n_scouts = min(-(-plan.top // _PER_SCOUT), len(candidates))
        scouts = sorted(rng.choice(candidates, n_scouts, replace=False).tolist())
        left = [*candidates]
        for value in plan.values:
            some = sorted({*left, *scouts} - history.rejected)
            yield from self._evaluate(some, block, value, later)
            left = self._ranked(left, block, value)
            stay = max(-(-len(left) // _THIRD), plan.top)
            for candidate in left[stay:]:
                out = f"outranked ({fidelity.label(value)})"
                gone.append(Elimination.of_outcomes(0, candidate, out, left[0]))
            left = left[:stay]
        left, behind = left[: plan.top], [c for c in scouts if c not in left]
        behind = [c for c in behind if c not in history.rejected][: history.left()]
        yield Asked(partial(history.cells, behind, block, None), later)
        rejected = [Elimination.of_rejected(0, c) for c in candidates if c in history.rejected]
        self.climbing = ()
        return sorted(left), gone + rejected

    def _evaluate(
        self, candidates: Sequence[int], block: int, value: float, later: Ahead
    ) -> Generator[Asked, Any, None]:
        """Yield the cheap cells of candidates, as many as the budget pays for."""
        history, share, todo = self._history, self._cheap.fidelity.share(value), [*candidates]
        while todo:
            rest = history.left()  # unknown until the first evaluation has shown its seconds
            if not (n := 1 if rest is None else int(rest / share)):
                return
            yield Asked(partial(self._cells, todo[:n], block, value), later)
            todo = todo[n:]

    def _cells(self, candidates: Sequence[int], block: int, value: float) -> list[Cell]:
        cells = self._history.plan.stream.place(block).cells(
            *(block, candidates, self._history.config, self._history.plan.instances),
            metrics=self._history.plan.rules.metric_names,
        )
        return [replace(cell, fidelity=value) for cell in cells]

    def _ranked(self, candidates: Sequence[int], block: int, value: float) -> list[int]:
        """Return candidates, best first: those that failed last, without those rejected."""
        told, rejected = self._cheap.of(value, block), self._history.rejected
        sign = -1.0 if self._history.plan.rules.maximize else 1.0

        def place(candidate: int) -> tuple[bool, float, int]:
            found = told.get(candidate)
            cost = None if found is None else found.value
            return cost is None, sign * (cost or 0.0), candidate

        return sorted((c for c in candidates if c not in rejected), key=place)


def _left_out(fidelity: Fidelity, found: Trust) -> str:
    """Return the warning that a rung is left out."""
    return (
        f"{fidelity.label(found.fidelity)} is left out: its order and that of full evaluations have "
        f"a rank correlation of {found.correlation:.2f} (95 %: {found.low:.2f} to {found.high:.2f}), "
        f"less than {_LEAST:g}; it is tried again when twice as much of the budget is used"
    )
