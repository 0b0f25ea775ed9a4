"""Races in series: new candidates around the elites of the races before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, islice, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from racer._checks import flag, whole
from racer.candidates.pool import as_sequence
from racer.deciders.names import as_decider
from racer.errors import BudgetError, CandidateError, RaceStateError, SettingError
from racer.evaluate.cell import Cell, Outcome, check_outcome
from racer.racing.budget import Budget
from racer.racing.events import BlockCompleted, Callback, Ended, RaceEnded, check_callbacks
from racer.seeding import check_seed, seed_for
from racer.space.space import Space
from racer.tuner.contest import Contest, Rules
from racer.tuner.effects import effects
from racer.tuner.events import CandidatesAdded, RaceCompleted
from racer.tuner.knowledge import Knowledge
from racer.tuner.proposals import Child, Proposals
from racer.tuner.result import Origin, TuneResult
from racer.tuner.schedule import Schedule
from racer.tuner.stream import HELD_OUT, InstanceOrder, Place, Stream, held_out

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from racer.deciders.decider import Decider

__all__ = ["SETTINGS", "Tuner"]

SETTINGS = (
    *("decider", "budget", "initial", "maximize", "seed", "deterministic"),
    *("first_test", "each_test", "elites", "instance_order"),
)

_RECENT = 1_000  # candidates that are learnt from, beside those still in

Flow = Iterator[list[Cell]]  # yields cells, and goes on once they are known


class Tuner:
    """A run of races as ask and tell: no clock, no files, no processes.

    Ask for the cells that must be known next, evaluate them in any order, tell each outcome.
    Blocks and candidates are numbered through the whole run; no cell is asked for twice, and
    elites take what is known of them from race to race.

    Parameters
    ----------
    space : Space
    instances : sequence or None
        Used again with new seeds when they run out. None: a noisy objective without instances.
    budget : int, Budget, or list of these
        An int means evaluations. A list, each larger than the one before: the run is that of
        the first, and goes on from its end with what the next adds.
    decider : str or Decider
    initial : sequence of configurations
        Candidates of the first race, beside those sampled.
    maximize, deterministic, first_test, each_test
        As of `Race`.
    seed : int, optional
        None draws a fresh one; `TuneResult.seed` tells which.
    elites : int, optional
        Candidates that survive a race; 2 + log2 of the number of parameters if not given.
    instance_order : {"shuffled", "given"}
    test_instances : sequence, optional
        Held out: at the end the elites are evaluated on each of them once, beyond the budget.
    callbacks : sequence of callable
        Each is called with every `BlockCompleted`, `RaceCompleted`, `CandidatesAdded`, and the
        `RaceEnded` of the whole run.

    Raises
    ------
    CandidateError, SettingError, BudgetError
        Settings that cannot work, before anything is asked for.

    References
    ----------
    López-Ibáñez, Dubois-Lacoste, Pérez Cáceres, Birattari, Stützle, The irace package: Iterated
    racing for automatic algorithm configuration, Operations Research Perspectives 3 (2016).
    """

    def __init__(
        self,
        space: Space,
        instances: Sequence[Any] | None = None,
        *,
        budget: int | Budget | Sequence[int | Budget],
        decider: str | Decider = "bayesian-friedman",
        initial: Sequence[Mapping[str, Any]] = (),
        maximize: bool = False,
        seed: int | None = None,
        deterministic: bool = False,
        first_test: int = 5,
        each_test: int = 1,
        elites: int | None = None,
        instance_order: InstanceOrder = "shuffled",
        test_instances: Sequence[Any] | None = None,
        callbacks: Sequence[Callback] = (),
    ) -> None:
        if not isinstance(space, Space):
            raise SettingError(f"space={space!r}: give a racer.Space")
        self.space = space
        self.instances = None if instances is None else as_sequence(instances, "instances")
        self.test_instances = (
            () if test_instances is None else as_sequence(test_instances, "test_instances")
        )
        self.seed = check_seed(seed)
        self._given, self._decider = decider, as_decider(decider)
        self._budgets = _budgets(budget)
        self._initial = _checked(space, initial)
        self._first_test = self._asked_first_test = whole(first_test, "first_test", least=1)
        self._each_test = whole(each_test, "each_test", least=1)
        self._elites = None if elites is None else whole(elites, "elites", least=1)
        self._callbacks = check_callbacks(callbacks)
        n_instances = None if self.instances is None else len(self.instances)
        self._stream = Stream(
            n_instances, self.seed, flag(deterministic, "deterministic"), instance_order
        )
        if self._stream.length is not None:
            self._first_test = min(self._first_test, self._stream.length)
        self.known = Knowledge(maximize=flag(maximize, "maximize"))
        self.configs: list[dict[str, Any]] = []
        self._origins: list[Origin] = []
        self._proposals = Proposals(space, self.seed)
        self._told: dict[tuple[int, int], Outcome] = {}
        self._asked: dict[tuple[int, int], Cell] = {}
        self._evaluations = 0
        self._seconds = 0.0
        self._elite: tuple[int, ...] = ()
        self._best: int | None = None
        self._clarity = 1.0
        self._told_apart = False
        self._races: list[RaceCompleted] = []
        self._contest: Contest | None = None
        self._blocks_used = 0
        self._steps = 0
        self._ended: Ended | None = None
        self._check_budget()
        self._flow = self._run()
        self._advance()

    def _check_budget(self) -> None:
        """Refuse a budget with which no race makes sense."""
        budget = self._budgets[0].evaluations
        if budget is None:
            return
        schedule = self._schedule(budget)
        least = max(schedule.minimum, len(self._initial) * self._first_test)
        if budget < least:
            raise BudgetError(
                f"budget of {budget} evaluations: at least {least} are needed for "
                f"{schedule.races} races, with {schedule.elites} elites and {len(self._initial)} "
                f"initial candidates, the first test after {self._first_test} blocks; raise the "
                "budget, or lower elites or first_test"
            )

    @property
    def settings(self) -> dict[str, Any]:
        """What makes this run, beside the instances."""
        return {
            "space": self.space.to_json(),
            "test_instances": list(self.test_instances),
            **dict(zip(SETTINGS, self._settings(), strict=True)),
        }

    def _settings(self) -> tuple[Any, ...]:
        return (
            self._given,
            self._budgets[0] if len(self._budgets) == 1 else list(self._budgets),
            list(self._initial),
            self.known.maximize,
            self.seed,
            self._stream.deterministic,
            self._asked_first_test,
            self._each_test,
            self._elites,
            self._stream.order,
        )

    @property
    def blocks_held(self) -> int:
        """How many blocks have been used."""
        return self._blocks_used

    @property
    def given_candidates(self) -> tuple[Any, ...]:
        """None: candidates come from the space."""
        return ()

    @property
    def all_instances(self) -> tuple[Any, ...]:
        """The instances that evaluations may get, held-out ones included."""
        return (*(self.instances or ()), *self.test_instances)

    @property
    def ended(self) -> Ended | None:
        """Why the run ended; None while it goes on."""
        return self._ended

    def ask(self) -> tuple[Cell, ...]:
        """Return the cells that must be known next and have not been told; empty when over."""
        return tuple(cell for place, cell in self._asked.items() if place not in self._told)

    def tell(self, cell: Cell, outcome: Outcome) -> None:
        """Record what came of a cell that was asked for.

        Raises
        ------
        RaceStateError
            The cell was not asked for, or has been told before, or this is no outcome.
        """
        if not isinstance(cell, Cell):
            raise RaceStateError(f"{cell!r} is not a cell: tell only cells that ask() returned")
        check_outcome(outcome)
        place = (cell.block, cell.candidate)
        if place not in self._asked:
            raise RaceStateError(
                f"candidate {cell.candidate} on block {cell.block} was not asked for: tell only "
                "cells that ask() returned"
            )
        if place in self._told:
            raise RaceStateError(
                f"candidate {cell.candidate} on block {cell.block} has been told before"
            )
        self._told[place] = outcome
        if len(self._told) == len(self._asked):
            self._take_in()
            self._advance()

    def result(self) -> TuneResult:
        """Return what is known: the result of a run that has ended, or the state of one."""
        for (block, candidate), outcome in self._told.items():
            self.known.add(candidate, block, outcome)
        pending = [outcome for (block, _), outcome in self._told.items() if block >= 0]
        return TuneResult(
            configs=tuple(self.configs),
            best_index=self._best,
            elites=self._elite,
            ended=self._ended or Ended.INTERRUPTED,
            evaluations=self._evaluations + len(pending),
            seconds=self._seconds + sum(outcome.seconds for outcome in pending),
            seed=self.seed,
            races_held=tuple(self._races),
            origins=tuple(self._origins),
            known=self.known,
            place=self._place,
        )

    def _take_in(self) -> None:
        """Note what has been told, in the order in which it was asked for."""
        for block, candidate in self._asked:
            outcome = self._told[block, candidate]
            self.known.add(candidate, block, outcome)
            if block >= 0:
                self._evaluations += 1
                self._seconds += outcome.seconds
        self._told, self._asked = {}, {}

    def _advance(self) -> None:
        """Go on until there is something to ask for."""
        for cells in self._flow:
            if cells:
                self._asked = {(cell.block, cell.candidate): cell for cell in cells}
                return

    def _run(self) -> Flow:
        """Hold all races; what is yielded is known when it goes on."""
        for number, budget in enumerate(self._budgets):
            self._budget = budget
            yield from self._hold_races(number)
            yield from self._select()
            yield from self._spend_rest()
            for index in range(len(self.test_instances)):
                yield self._cells(self._elite, HELD_OUT - index)
        self._ended = self._why_over()
        self._publish(RaceEnded(self._ended, ()))

    def _hold_races(self, phase: int) -> Flow:
        """Hold races among the elites and new candidates while the budget pays for one."""
        begun = len(self._races) if phase else 0
        while True:
            left = self._left()
            if left is None:  # a small race finds out what an evaluation costs
                begun += 1
                schedule, race = self._schedule(None), 0
                share = schedule.least(0)
            else:
                race = len(self._races) - begun
                schedule = self._schedule(self._evaluations + left)
                share = max(schedule.share(race, left), schedule.least(race))
                if not self._races:
                    share = max(share, len(self._initial) * schedule.blocks(0))
                if share > left:
                    return
            entrants = self._entrants(race, schedule, share)
            if len(entrants) < 2 or len(entrants) == len(self._elite):
                return
            yield from self._hold("race", entrants, share, schedule.elites)

    def _entrants(self, race: int, schedule: Schedule, share: int) -> tuple[int, ...]:
        """Return the elites and the new candidates of a race."""
        number = len(self._races)
        first = len(self.configs)
        wanted = schedule.new_ones(race, share, known=len(self._elite))
        if not self.configs:
            self._add(number, [Child(config, None) for config in self._initial], initial=True)
            wanted = max(wanted - len(self._initial), 0)
        if race and self._elite:
            children = self._proposals.around(self._elite, wanted, number, self._clarity)
        else:
            children = self._proposals.everywhere(wanted, number)
        self._add(number, children)
        return (*self._elite, *range(first, len(self.configs)))

    def _add(self, race: int, children: Sequence[Child], *, initial: bool = False) -> None:
        if not children:
            return
        first = len(self.configs)
        for child in children:
            self._proposals.take(child.config)
            self.configs.append(child.config)
            self._origins.append(Origin(race, child.parent, initial))
        parents = tuple(child.parent for child in children)
        event = CandidatesAdded(race, first, tuple(self.configs[first:]), parents)
        self._publish(event)

    def _expected_best_first(self, candidates: Sequence[int]) -> tuple[int, ...]:
        """Order candidates by what is to be expected of them after all that is known."""
        recent = range(max(len(self.configs) - _RECENT, 0), len(self.configs))
        about = sorted({*recent, *candidates})
        known = effects(self.known.all_costs(about))
        order = self._proposals.learn(np.array(about), known, candidates).argsort(kind="stable")
        return tuple(candidates[i] for i in order.tolist())

    def _select(self) -> Flow:
        """Race the elites against each other with what is left, if it pays for a first test."""
        left = self._left()
        if len(self._elite) < 2 or left is None or left < len(self._elite):
            return
        yield from self._hold("selection", self._elite, left, 1)

    def _spend_rest(self) -> Flow:
        """Evaluate the best on blocks that it has not seen with what is still left."""
        left = self._left()
        if not self._elite or not left or self._stream.length is not None:
            return
        best = self._elite[0]
        known = self.known.of(best)
        blocks = [b for b in range(max(known, default=0) + 1 + left) if b not in known][:left]
        yield [cell for block in blocks for cell in self._cells([best], block)]
        self._blocks_used = max(self._blocks_used, blocks[-1] + 1)

    def _hold(self, kind: str, entrants: Sequence[int], share: int, survivors: int) -> Flow:
        """Hold one race."""
        number = len(self._races)
        order, until = self._order(kind, number, entrants)
        contest = self._contest = Contest(
            entrants,
            order,
            until,
            share + sum(len(self.known.of(c)) for c in entrants),
            Rules(
                self._decider,
                seed_for(self.seed, "race", number),
                self._first_test,
                self._each_test,
                min(survivors, len(entrants) - 1),
                self._stream.length,
                patient=kind != "race",
            ),
            self._watch if self._callbacks else None,
        )
        ended = None
        while (ended := contest.ended) is None:
            block, alive = contest.block, contest.alive
            missing = [c for c in alive if block not in self.known.of(c)]
            if len(missing) > share or not self._pays(len(missing)):
                ended = "budget"
                break
            if missing:
                yield self._cells(missing, block)
            share -= len(missing)
            self._blocks_used = max(self._blocks_used, block + 1)
            contest.tell([self.known.of(c)[block] for c in alive])
        self._conclude(kind, contest, ended, survivors)

    def _order(
        self, kind: str, race: int, entrants: Sequence[int]
    ) -> tuple[Iterator[int], list[int]]:
        """Return the blocks of a race, and until when each entrant is protected.

        A race begins with a new block, in which no elite has an advantage; then come the old
        ones, in which the elites are known and cannot go until the others have caught up.
        """
        used = self._blocks_used
        new = self._stream.new_ones(used)
        if kind == "selection":
            common = self.known.common(entrants)
            rest = [block for block in range(used) if block not in set(common)]
            return chain(common, rest, new), [len(common)] * len(entrants)
        first = list(islice(new, 1))
        early = first + self._stream.old_ones(race, used)
        until = []
        for candidate in entrants:
            known = self.known.of(candidate)
            until.append(
                max((at + 1 for at, block in enumerate(early) if block in known), default=0)
            )
        return chain(early, new), until

    def _conclude(self, kind: str, contest: Contest, ended: str, survivors: int) -> None:
        """Take over who goes on, and say what came of a race."""
        alive = contest.alive
        others = [] if kind == "race" else [c for c in contest.entrants if c not in alive]
        if ended == Ended.ALL_FAILED:
            self._elite = ()
        else:
            ranked = self._expected_best_first([*alive, *others])
            stay = tuple(c for c in ranked if c in alive)
            gone = tuple(c for c in ranked if c in others)
            self._elite = stay[:survivors] if kind == "race" else (*stay, *gone)
        self._told_apart = self._told_apart or contest.tells_apart
        self._best = self._elite[0] if self._elite and self._told_apart else None
        self._clarity = (len(contest.entrants) - len(alive)) / (len(contest.entrants) - survivors)
        event = RaceCompleted(
            race=len(self._races),
            kind=kind,
            candidates=len(contest.entrants),
            alive=len(alive),
            blocks=contest.blocks,
            best=self._best,
            best_mean=None if self._best is None else self.known.mean(self._best),
            elites=self._elite,
            evaluations=self._evaluations,
            seconds=self._seconds,
            left=self._left(),
            ended=ended,
        )
        self._races.append(event)
        self._publish(event)

    def _watch(self, event: BlockCompleted | RaceEnded) -> None:
        """Pass on what a race says, in the numbers of the run."""
        contest = self._contest
        if not isinstance(event, BlockCompleted) or contest is None:
            return
        name = contest.entrants
        gone = tuple(
            replace(e, block=self._steps, candidate=name[e.candidate], against=name[e.against])
            for e in event.eliminated
        )
        completed = replace(
            event,
            block=self._steps,
            alive=tuple(name[i] for i in event.alive),
            best=None if event.best is None else name[event.best],
            eliminated=gone,
            evaluations=self._evaluations,
            seconds=self._seconds,
        )
        self._steps += 1
        self._publish(completed)

    def _publish(self, event: Any) -> None:
        for callback in self._callbacks:
            callback(event)

    def _why_over(self) -> Ended:
        if len(self.configs) == 1:
            self._best, self._elite = 0, (0,)
            return Ended.ONE_CANDIDATE
        last = self._races[-1].ended if self._races else ""
        if self._best is None and last in (Ended.ALL_FAILED, Ended.ALL_EQUAL):
            return Ended(last)
        used_up = self._stream.length is not None and self._left() != 0
        return Ended.INSTANCES if used_up else Ended.BUDGET

    def _schedule(self, total: int | None) -> Schedule:
        return Schedule.of(
            len(self.space.free),
            total,
            elites=self._elites,
            first_test=self._first_test,
            length=self._stream.length,
        )

    def _left(self) -> int | None:
        """Return how many evaluations are left; None if that cannot be told yet."""
        return self._budget.left(evaluations=self._evaluations, seconds=self._seconds)

    def _pays(self, cells: int) -> bool:
        return self._budget.pays(cells, evaluations=self._evaluations, seconds=self._seconds)

    def _place(self, block: int) -> Place:
        """Return where a block takes place, a held-out one included."""
        return self._stream.place(block) if block >= 0 else held_out(self.seed, HELD_OUT - block)

    def _cells(self, candidates: Sequence[int], block: int) -> list[Cell]:
        """Return the cells of a block that are not known."""
        index, seed = self._place(block)
        held = self.test_instances if block < 0 else self.instances
        instance = None if index is None or held is None else held[index]
        return [
            Cell(block, c, self.configs[c], instance, seed)
            for c in candidates
            if block not in self.known.of(c)
        ]


def _budgets(given: Any) -> tuple[Budget, ...]:
    """Return the budgets, each larger than the one before."""
    budgets = tuple(Budget.of(b) for b in (given if isinstance(given, list | tuple) else [given]))
    if not budgets:
        raise BudgetError("budget=[]: give at least one")
    for one, other in pairwise(budgets):
        if not other.is_larger(one):
            raise BudgetError(f"budget {other} after {one}: give a larger one")
    return budgets


def _checked(space: Space, initial: Any) -> tuple[dict[str, Any], ...]:
    """Return the initial candidates as the space writes them, each once."""
    if not isinstance(initial, list | tuple):
        raise CandidateError(f"initial is a {type(initial).__name__}: give a list of dicts")
    checked: dict[Any, dict[str, Any]] = {}
    for index, config in enumerate(initial):
        try:
            clean = space.check(config)
        except CandidateError as error:
            raise CandidateError(f"initial[{index}]: {error}") from error
        if checked.setdefault(space.key(clean), clean) is not clean:
            raise CandidateError(f"initial[{index}]={config!r} stands there before: give it once")
    return tuple(checked.values())
