"""Rungs: new candidates climb from cheap evaluations to full ones before they are raced."""

from __future__ import annotations

import math
import reprlib
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from racer.core.events import Elimination
from racer.errors import SettingError
from racer.evaluate.fidelity import Fidelity
from racer.racing.asktell import Asked
from racer.seeding import rng_for

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from racer.core.cheap import Cheap, Rung
    from racer.core.rules import Rules
    from racer.evaluate.outcome import Cell
    from racer.racing.asktell import Ahead
    from racer.tuner.history import History

_THIRD = 3  # of so many candidates one goes on from each rung
_PER_SCOUT = 4  # candidates at the top for each that climbs whatever its rank
_LEAST = 0.5  # rank correlation with full evaluations, below which a rung is left out
_LATEST = 24  # candidates by which a rung is judged: later ones are nearer to each other
_PART = 0.5  # of the price of candidates at the top, which their climb may cost
_MOST = 27  # candidates that begin to climb for each at the top


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


class Climb(NamedTuple):
    """How many new candidates begin to climb, and how many reach the top.

    So many `scouts` are evaluated at all the `rungs` whatever their rank, and raced if they `enter`;
    the others climb those of the rungs that are known to tell something.
    """

    rungs: tuple[float, ...]
    climbed: tuple[float, ...]
    begin: int
    top: int
    scouts: int = 0
    enter: bool = False


class Rungs:
    """Successive halving of new candidates on one block, before the race that begins with it.

    At each rung the better third goes on, by ranks; failures rank last. By scouts, drawn at random,
    and by those that reach the top it is known how well each rung tells the order of full
    evaluations. A rung is climbed if their correlation is large enough; until it is surely positive
    there are as many scouts as others at the top, and they are raced, too, as if there were no rungs.
    A rung whose correlation is surely small is left out, and tried once more when the budget used
    has doubled.
    """

    def __init__(self, history: History, cheap: Cheap, note: Callable[[Any], object]) -> None:
        self._history, self._cheap, self._note = history, cheap, note

    def plan(self, wanted: int, each: int) -> Climb:
        """Return the climb that costs no more, with `each` evaluations at the top, than `wanted` ones."""
        share, paid = self._cheap.fidelity.share, wanted * each
        used: list[Rung] = []
        for found in self._used():  # the cheapest first
            if self._price([*used, found]) <= _PART * each:
                used.append(found)
        climbed: list[Rung] = []
        for found in used:  # a rung of which nothing is known counts as the one below
            if found.correlation >= _LEAST or (math.isnan(found.correlation) and climbed):
                climbed.append(found)
        enter = not climbed or any(found.low <= 0.0 for found in climbed)
        scout = sum(share(found.fidelity) for found in used) + (each if enter else 1)
        none, rungs = Climb((), (), wanted, wanted), tuple(found.fidelity for found in used)
        if not climbed:
            scouts = int(paid / scout)
            return Climb(rungs, (), scouts, 0, scouts, enter) if rungs and scouts > 1 else none
        per = 1 if enter else _PER_SCOUT
        top = int(paid / (each + _PART * each + scout / per))
        first = int(top * (_PART * each - self._price(climbed[1:])) / share(climbed[0].fidelity))
        begin, scouts = min(first, _MOST * top), -(-top // per)
        values = tuple(found.fidelity for found in climbed)
        return Climb(rungs, values, begin, top, scouts, enter) if begin > top + scouts else none

    def _price(self, rungs: Sequence[Rung]) -> Fraction:
        """Return the evaluations that the climb of one candidate at the top costs."""
        share, price = self._cheap.fidelity.share, Fraction(0)
        for found in rungs:
            price = _THIRD * (price + share(found.fidelity))
        return price

    def _used(self) -> list[Rung]:
        """Return how far the rungs tell that are not left out, after a review of each."""
        now, cheap = self._history.evaluations, self._cheap
        used: list[Rung] = []
        for value in cheap.fidelity.rungs:
            due, found = cheap.again.get(value), cheap.rung(value, self._history.known, _LATEST)
            if due is not None and now >= due:
                del cheap.again[value]  # for one climb at least
            elif due is None and found.high < _LEAST:
                cheap.again[value] = 2 * now
                self._note(_left_out(cheap.fidelity, found))
            if value not in cheap.again:
                used.append(found)
        return used

    def climb(
        self, candidates: Sequence[int], block: int, plan: Climb, later: Ahead = tuple
    ) -> Generator[Asked, Any, tuple[list[int], list[Elimination]]]:
        """Yield cells until the best are at the top; return them, and how the others left.

        `later`: full cells that are needed in any case.
        """
        history, fidelity = self._history, self._cheap.fidelity
        gone: list[Elimination] = []
        if not plan.rungs or not candidates:
            return [*candidates], gone
        left = [*candidates] if plan.climbed else []
        rng = rng_for(history.plan.seed, "scouts", candidates[0])
        n_scouts = min(plan.scouts, len(candidates))
        scouts = {*rng.choice(candidates, n_scouts, replace=False).tolist()}
        for value in plan.rungs:
            some = {*left, *scouts} if value in plan.climbed else scouts
            yield from self._evaluate(sorted(some - history.rejected), block, value, later)
            if value not in plan.climbed:
                continue
            left = self._ranked(left, block, value)
            stay = plan.top * _THIRD ** (len(plan.climbed) - plan.climbed.index(value) - 1)
            out = f"outranked ({fidelity.label(value)})"
            behind = [c for c in left[stay:] if c in self._cheap.of(value, block)]
            gone += [Elimination.of_outcomes(0, c, out, left[0]) for c in behind]
            left = left[:stay]
        scouts -= {*left, *history.rejected}
        if plan.enter:
            gone = [e for e in gone if e.candidate not in scouts]
            left += scouts
        else:
            paid = sorted(scouts)[: history.left()]
            yield Asked(partial(history.cells, paid, block, history.limit), later)
        gone += [Elimination.of_rejected(0, c) for c in candidates if c in history.rejected]
        return sorted({*left} - history.rejected), gone

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


def _left_out(fidelity: Fidelity, found: Rung) -> str:
    """Return the warning that a rung is left out."""
    return (
        f"{fidelity.label(found.fidelity)} is left out: the rank correlation with full evaluations is "
        f"{found} over the latest {found.pairs}, less than {_LEAST:g}; it is tried again when twice as "
        "much of the budget is used"
    )
