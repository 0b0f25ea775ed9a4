"""A tuning: propose candidates, race them, rank the survivors by the model, keep the elites."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from racer.core.budget import Budget
from racer.core.events import CandidatesAdded, Elimination, Ended, RaceCompleted, RaceEnded
from racer.evaluate.outcome import all_failed
from racer.racing.asktell import Asked, Repeated
from racer.racing.loop import best
from racer.results.tuning import Origin
from racer.seeding import seed_for
from racer.tuner.final import FinalStage, is_needed, kept
from racer.tuner.finish import Finish
from racer.tuner.leftover import spend
from racer.tuner.opening import FINALISTS, SMALL, Opening, to_explore
from racer.tuner.present import is_better, without_kept
from racer.tuner.proposals import Child, Proposals
from racer.tuner.race import TunerRace, race_blocks, selection_blocks
from racer.tuner.ranking import Ranking
from racer.tuner.rungs import Rungs

if TYPE_CHECKING:
    from collections.abc import Callable

    from racer.core.rules import Rules
    from racer.core.table import Row
    from racer.evaluate.outcome import Cell, Outcome
    from racer.racing.state import Evidence
    from racer.tuner.history import History
    from racer.tuner.race import RaceKind
    from racer.tuner.schedule import Schedule

_HOPELESS = 2  # races in which every evaluation fails, before the tuning is given up
_LARGE = 1_500  # evaluations, from which on noise sets the pace, and some are kept ..
_RESERVED = 0.05  # .. so many of all, for the finish

Flow = Generator[Asked, Any, None]


class Proposed(NamedTuple):
    """A race among `entrants` that has been proposed: `cells` evaluations, down to the survivors."""

    entrants: tuple[int, ...]
    cells: int
    survivors: int
    stretch: float = 1.0


class Tuning:
    """The races of a tuning, one after the other; events and warnings go to `note`."""

    def __init__(self, history: History, note: Callable[[Any], object]) -> None:
        self.history = history
        self.is_watched = False
        self.current: TunerRace | None = None
        self.origins: list[Origin] = []
        self.races: list[RaceCompleted] = []
        self.eliminations: list[Elimination] = []
        self.evidence: list[tuple[int, Evidence]] = []
        self.elites: tuple[int, ...] = ()
        self.best: int | None = None
        self.ended: Ended | None = None
        self._note = note
        self._begun = 0  # the number of the first race of this phase
        self._proposals = Proposals(history.plan.space, history.plan.seed, history.plan.rules.goal)
        self._has_difference = False
        self._is_exhausted = False  # the space: no new candidate was found

    def run(self) -> Flow:
        """Yield the cells that are needed until the tuning is over."""
        for phase, budget in enumerate(self.history.plan.rules.budgets):
            self.history.budget = without_kept(self.history.plan, budget)
            self.history.verified = None
            small = self._small_budget() if phase == 0 else None
            yield from self._find_elites(phase) if small is None else self._open(small)
            yield from self._select(budget)
            yield from self._spend_rest()
            yield from self._evaluate_held_out()
        self.ended = self._why_over()
        self._note(RaceEnded(self.ended, eliminated=()))

    def _find_elites(self, phase: int) -> Flow:
        """Find the elites of a phase: by races in series, then among all candidates."""
        replaced = yield from self._explore(phase)
        yield from self._race_series(phase, replaced)
        was_exact = self.history.plan.is_exact
        yield from self._finish()
        if self.history.plan.is_exact and not was_exact:  # has turned out just now
            yield from self._race_series(phase, replaced)

    def _spend_rest(self) -> Flow:
        """Evaluate the elites, in their final order, with the rest of the budget."""
        history = self.history
        self.elites = self._ranking.fastest_first(self.elites)
        self.best = None if self.best is None else self.elites[0]
        if history.plan.rules.is_front:
            yield from spend(history, self.elites, evenly=True)
        yield from spend(history, self.elites, evenly=False)
        self._drop_rejected()
        if len(history.configs) == 1:
            self.best, self.elites = 0, (0,)

    def _evaluate_held_out(self) -> Flow:
        """Evaluate the elites, and others that are compared with them, on held-out instances."""
        history = self.history
        tested = history.finalists = self._tested()
        for index in range(len(history.plan.test_instances)):
            cells = partial(history.held_out, index, tested)
            yield Asked(cells, partial(history.all_held_out, tested, index + 1))

    @property
    def _ranking(self) -> Ranking:
        """The order of candidates by all outcomes so far."""
        has_one_unit = self.history.plan.is_exact or self._is_large_and_noisy(self.history.left())
        return Ranking(self.history, self._proposals, by_block=not has_one_unit)

    def _tested(self) -> tuple[int, ...]:
        """Return the elites, the best candidate, and the default, each once."""
        plan = self.history.plan
        if not plan.test_instances or (self.best is None and not self.elites):
            return self.elites
        chosen, most = self.elites, plan.search.test_elites
        if self.best is not None and not plan.rules.is_front:
            found = self.history.verified
            if found is None:
                found = self._ranking.favourite(self.elites, self.best)
            chosen = (*chosen, found) if most is None else (found, *chosen)
        chosen = tuple(dict.fromkeys(chosen))[:most]
        if plan.space.default is not None and 0 not in self.history.rejected:
            chosen = (*chosen, 0)
        return tuple(dict.fromkeys(chosen))

    @property
    def alive(self) -> set[int]:
        """The candidates of which more may be asked: where none succeeds, also eliminated ones."""
        if self.current is None:
            return {*range(len(self.history.configs))} - self.history.rejected
        return {*self.elites, *self.current.entrants, *self.history.finalists}

    @property
    def fell_short(self) -> bool:
        """Whether it is over because its seconds, or its money, were too little for any test."""
        return self.ended is Ended.BUDGET and self._is_too_short()

    def _is_too_short(self) -> bool:
        """Return whether seconds or money, unlike evaluations not known before, did for no test."""
        history = self.history
        is_unforeseen = history.budget.ends_unforeseen(history.evaluations + 1)
        return is_unforeseen and not self.evidence and self.best is None

    def _race_series(self, phase: int, replaced: int) -> Flow:
        """Race the elites and new candidates again and again while the budget pays for a race.

        So many of the first phase's races have been `replaced`.
        """
        history = self.history
        # the opening stands for the first races: the schedule goes on behind them
        self._begun = len(self.races) if phase else -replaced
        while True:
            left, used, spent = self._left_for_races(), history.evaluations, history.known.spent
            if (proposed := (yield from self._proposed(phase, left))) is None:
                break
            yield from self._race("race", proposed)
            if left is not None and proposed.cells >= left and history.evaluations == used:
                break  # all that is left does not pay for a block
            if history.is_free(spent):
                break  # nor does the money, or they are free and there is no end to them
            if len(self.races) >= _HOPELESS and not history.known.n_usable:
                break

    def _proposed(self, phase: int, left: int | None) -> Generator[Asked, Any, Proposed | None]:
        """Propose a race; None if the rest pays for none, or no new candidate was found."""
        history, race = self.history, len(self.races) - self._begun
        if left is None and self.races:
            self._note(
                "all evaluations took 0 seconds, or cost nothing, by their outcomes, and the "
                "budget is in that: the tuning ends here; return the spend or, with ask and tell, "
                "give each Outcome its seconds or spend"
            )
            return None
        if left is None:  # a small race finds out what an evaluation costs
            self._begun, race = self._begun + 1, 0
            schedule = history.plan.schedule(None)
            cells = schedule.least(0)
        else:
            schedule = history.plan.schedule(history.evaluations + left)
            is_first = race == phase == 0
            part = schedule.first_part(left) if is_first else schedule.part(race, left)
            cells = max(part, schedule.least(race))
            if cells > left:
                return None
        if not history.configs:
            cells = max(cells, self._price_of_initial(schedule, left))
        is_anew = not self.elites or (race == 0 and phase == 0)
        used, wanted = history.evaluations, schedule.new_ones(race, cells, known=len(self.elites))
        about = (wanted, self.elites, None if is_anew else 1.0)
        new = yield from self._newcomers(*about, each=schedule.blocks(race))
        entrants = (*self.elites, *new)
        if len(entrants) < 2 or self._is_exhausted:
            return None
        cells -= history.evaluations - used  # of the climb
        return Proposed(entrants, cells, schedule.elites, schedule.stretch)

    def _small_budget(self) -> int | None:
        """Return the evaluations of a budget that is too small for races in series; else None."""
        plan = self.history.plan
        evaluations = plan.rules.budgets[0].evaluations
        if evaluations is None or plan.rules.goal is not None:
            return None
        least = plan.schedule(None).minimum
        small = least if plan.is_exact else max(SMALL, least)
        return self.history.left() if evaluations < small else None

    def _explore(self, phase: int) -> Generator[Asked, Any, int]:
        """Find the first elites as with a small budget, where all candidates have many parameters.

        Return how many races that replaces.
        """
        plan, total = self.history.plan, self.history.budget.evaluations
        if phase or total is None or not plan.is_noisy:
            return 0
        always = [name for name in plan.space.free if name not in plan.space.conditions]
        if not (part := to_explore(len(always), total)):
            return 0
        schedule = plan.schedule(total)
        found = yield from self._opening.explore(part, 0)
        self._note_opening()
        self.elites = tuple(c for c in found if c not in self.history.rejected)[: schedule.elites]
        return max(round(schedule.races * part / total), 1)

    @property
    def _opening(self) -> Opening:
        ranked, needed = self._ranking.expected_best_first, partial(kept, self.history)
        return Opening(self.history, self._newcomers, ranked, needed)

    def _open(self, evaluations: int) -> Flow:
        """Find the elites with few evaluations of many candidates, without races."""
        history, finalists = self.history, self.history.plan.search.elites or FINALISTS
        found = yield from self._opening.run(evaluations, finalists)
        self._note_opening()
        self._has_difference = bool(found) and not history.is_all_equal
        self.elites = found[:finalists]
        self.best = found[0] if self._has_difference else None
        left = history.left() or 0
        entrants = found[: left // history.plan.first_test]
        if self._is_exhausted and len(entrants) > finalists:  # there is nobody else
            yield from self._race("race", Proposed(entrants, left, finalists))

    def _note_opening(self) -> None:
        """Note which candidates were rejected without a race, and on which blocks all failed."""
        history = self.history
        noted = {e.candidate for e in self.eliminations}  # by rungs
        gone = sorted(history.rejected - noted)
        self.eliminations += [Elimination.of_rejected(0, c) for c in gone]
        for block in sorted(history.known.set_aside):
            rows = [row for row in history.known.rows if row.block == block]
            if not any(row.is_usable for row in rows):  # and it does not only repeat another
                self._note_set_aside(block, [o for row in rows for o in row.outcomes()])

    def _left_for_races(self) -> int | None:
        """Return how many evaluations are left beside repeats of the elites' capped ones."""
        again = sum(
            outcome.status == "capped" and outcome.value != self.history.limit
            for candidate in self.elites
            for outcome in self.history.known.of(candidate).values()
        )
        left = self.history.left()
        if left is None:
            return None
        total = self.history.evaluations + left
        reserved = round(_RESERVED * total) if self._is_large_and_noisy(left) else 0
        # where the final stage is needed there is no finish: one reserve serves either
        return max(left - again - max(reserved, kept(self.history, total)), 0)

    def _finish(self) -> Flow:
        """Choose the elites among all candidates, with what races leave, where there is noise."""
        history = self.history
        is_open = self.best is not None and len(self.elites) > 1
        if not (is_open and history.plan.is_noisy) or is_needed(history):
            return
        used, finish = history.evaluations, Finish(history, self._ranking.expected_best_first)
        yield from finish.run(self.elites)
        some = dict.fromkeys((*history.finalists, *self.elites))
        known = tuple(c for c in some if c not in history.rejected)
        self.elites = known[: len(self.elites)]
        self.best = self.elites[0] if self.elites else None
        if history.evaluations > used:
            self._complete("selection", finish.n_candidates, len(self.elites), 0, Ended.BUDGET)

    def _is_large_and_noisy(self, left: int | None) -> bool:
        """Return whether this and the rest make a large budget, and luck may decide a race."""
        is_large = left is not None and self.history.evaluations + left >= _LARGE
        return is_large and self.history.plan.is_noisy

    def _price_of_initial(self, schedule: Schedule, left: int | None) -> int:
        """Return the need of the initial candidates: the first test, and more if it can be paid."""
        n, first_test = len(self.history.plan.initial), self.history.plan.first_test
        usual = n * schedule.blocks(0)
        return usual if left is None else max(min(usual, left), n * first_test)

    def _newcomers(
        self,
        wanted: int,
        elites: Sequence[int],
        clarity: float | None,
        *,
        each: int,
        block: int | None = None,
    ) -> Generator[Asked, Any, Sequence[int]]:
        """Add candidates as `_draw` does; return them, or the best by rungs, and those given.

        Rungs are climbed on `block` (None: the first of the next race). They cost as much as is
        saved where fewer are evaluated in full, at `each` evaluations.
        """
        history, first = self.history, len(self.history.configs)
        if history.cheap is None:
            self._draw(wanted, elites, clarity)
            return range(first, len(history.configs))
        given = 0 if history.configs else len(history.plan.initial)
        rungs = Rungs(history, history.cheap, self._note)
        plan = rungs.plan(max(wanted - given, 0), each)
        if clarity is not None and plan.begin > 1:  # as narrow as for those at the top alone
            clarity *= math.log(plan.top + plan.scouts) / math.log(plan.begin)
        self._draw(given + plan.begin, elites, clarity)
        new = range(first + given, len(history.configs))
        needed: Sequence[int] = ()
        if block is None:
            block, needed = next(race_blocks(history, len(self.races), elites)[0], 0), elites
        later = partial(self._needed, needed, block)
        top, gone = yield from rungs.climb(new, block, plan, later)
        self.eliminations += [replace(e, block=self._steps) for e in gone]
        return [*range(first, first + given), *top]

    def _needed(self, elites: Sequence[int], block: int) -> list[list[Cell]]:
        """Return the cells of elites on the first block of the next race."""
        cells = self.history.cells(elites, block, self.history.limit)
        return [cells] if self.history.pays(len(cells)) else []

    def _draw(self, wanted: int, elites: Sequence[int], clarity: float | None) -> None:
        """Add candidates around the elites, or, without a clarity, from the whole space."""
        history, number = self.history, len(self.races)
        plan, first = history.plan, len(history.configs)
        stream = number or first
        if not history.configs:
            self._add(number, [Child(config, None) for config in plan.initial], initial=True)
            wanted = max(wanted - len(plan.initial), 0)
        if clarity is None or not elites:
            known = elites or range(len(history.configs))
            children = self._proposals.everywhere(wanted, stream, known)
        else:
            self._proposals.is_raced = bool(self.races)
            at_pace = self._is_large_and_noisy(history.left())
            about = (elites, wanted, stream, clarity, self._remaining, at_pace)
            children = self._proposals.around(*about)
        self._add(number, children)
        self._is_exhausted = len(history.configs) == first
        if len(history.configs) == 1 < plan.space.size and plan.space.repair is None:
            self._note(
                "only one configuration that is allowed was found: if there are more, narrow "
                "the ranges to where they are, or give some by initial="
            )

    def _add(self, race: int, children: Sequence[Child], *, initial: bool = False) -> None:
        if not children:
            return
        configs = self.history.configs
        first = len(configs)
        for child in children:
            self._proposals.take(child.config)
            configs.append(child.config)
            self.origins.append(Origin(race, child.parent, initial))
        parents = tuple(child.parent for child in children)
        self._note(
            CandidatesAdded(race, first=first, configs=tuple(configs[first:]), parents=parents)
        )

    def _race(self, kind: RaceKind, race: Proposed) -> Flow:
        """Race candidates, then choose the elites among the candidates left."""
        history, entrants, number = self.history, race.entrants, len(self.races)
        if kind == "race":
            blocks = race_blocks(history, number, entrants)
        else:
            # without more candidates half of what is left is better spent on knowing all elites
            left = (history.left() or 0) if self._is_exhausted else 0
            blocks = selection_blocks(history, entrants, left // (2 * len(entrants)))
        some = (kind, entrants, self._rules(number, race), blocks)
        current = self.current = TunerRace(history, *some, cells=race.cells, elites=self.elites)
        ended = yield from current.run(partial(self._report, current))
        self._keep(current, ended, race.survivors)

    def _rules(self, number: int, race: Proposed) -> Rules:
        """Return the rules of a race.

        Its budget is more than can be paid for, as the race ends before: with the held-out cells, as
        deciders that plan by the budget have always received.
        """
        plan, known, tests = self.history.plan, self.history.known, self.history.tests
        entrants = race.entrants
        seen = sum(len(known.of(c)) + len(tests.of(c)) for c in entrants)
        most = max(round(race.stretch * race.cells) + seen, len(entrants) * plan.first_test)
        return replace(
            plan.rules,
            budget=Budget(evaluations=most),
            seed=seed_for(plan.seed, "race", number),
            deterministic=plan.is_exact,
            first_test=plan.first_test // plan.rules.block_size,
            min_survivors=min(race.survivors, len(entrants) - 1),
        )

    def _report(self, current: TunerRace, eliminated: tuple[Elimination, ...], row: Row) -> None:
        """Count a complete block of a race as used, and report it."""
        self.history.use(row.block)
        if self.is_watched:
            self._note(current.event(eliminated, row, self._steps))
        if not row.is_usable:
            self._note_set_aside(row.block, row.outcomes())

    def _note_set_aside(self, block: int, outcomes: Sequence[Outcome]) -> None:
        self._note(Repeated(f"block {block} is set aside: {all_failed(outcomes)}"))

    @property
    def _remaining(self) -> float:
        """The fraction of the budget that is left for new races; 1 while that is not known."""
        left = self.history.left()
        if left is None:
            return 1.0
        return max(left, 1) / max(self.history.evaluations + left, 1)

    @property
    def _steps(self) -> int:
        """How many blocks the races so far have had."""
        return sum(race.blocks for race in self.races)

    def _keep(self, current: TunerRace, ended: str, survivors: int) -> None:
        """Choose the elites of a race that is over, and announce its end."""
        state, entrants, steps = current.state, current.entrants, self._steps
        self.elites = self._elites_after(current, ended, survivors)
        self._has_difference = self._has_difference or best(state, state.ranked) is not None
        is_answer = len(self.elites) == 1 or not self.history.plan.rules.is_front
        self.best = self.elites[0] if self.elites and self._has_difference and is_answer else None
        self._complete(current.kind, len(entrants), len(current.alive), state.block, ended)
        self.evidence += [(steps + block, evidence) for block, evidence in state.evidence]
        self.eliminations += [e.renumbered(entrants, steps) for e in state.eliminations]

    def _elites_after(self, current: TunerRace, ended: str, survivors: int) -> tuple[int, ...]:
        """Return the elites that a race leaves: the best of all still in."""
        alive, entrants = current.alive, current.entrants
        rejected, known, ranking = self.history.rejected, self.history.known, self._ranking
        succeeded = {c for c in entrants if known.mean(c) is not None and c not in rejected}
        if ended == Ended.ALL_FAILED or not succeeded:
            return tuple(c for c in self.elites if c in succeeded)
        is_race = current.kind == "race" and not self.history.lost.is_partial
        others = [] if is_race else [c for c in entrants if c not in alive]
        ranked = [c for c in ranking.expected_best_first([*alive, *others]) if c in succeeded]
        # a race eliminates by single failures, and keeps who fails where all that are left do
        stay = tuple(c for c in ranked if c in alive or current.kind == "race")
        if not stay:  # a candidate that never succeeded is not an elite
            stay = ranking.expected_best_first(sorted(succeeded))
        if current.kind == "selection":
            return (*stay, *(c for c in ranked if c in others))
        return stay[:survivors]

    def _complete(
        self, kind: RaceKind, candidates: int, alive: int, blocks: int, ended: str
    ) -> None:
        """Announce the end of a race, or of the finish."""
        history = self.history
        event = RaceCompleted(
            len(self.races),
            kind=kind,
            candidates=candidates,
            alive=alive,
            blocks=blocks,
            best=self.best,
            best_mean=None if self.best is None else history.known.mean(self.best),
            elites=self.elites,
            evaluations=history.evaluations,
            seconds=history.seconds,
            left=history.left(),
            ended=ended,
        )
        self.races.append(event)
        self._note(event)

    def _select(self, budget: Budget) -> Flow:
        """Find the candidate to return: where none fails by a race, else by the final stage."""
        history = self.history
        is_open = self.best is not None and history.left() is not None
        if not (is_open and is_needed(history)):
            yield from self._select_by_race()
        has_kept, history.budget = history.budget != budget, budget
        if is_open and is_needed(history):  # which that race may have made it
            stage = FinalStage(history, self._ranking, self.elites)
            yield from stage.run()
            self.elites = stage.order[: max(len(self.elites), 1)]
            self.best = self.elites[0] if self.elites else None
            history.verified = self.best
        elif has_kept and self.best is not None:
            self.best = self._ranking.favourite(self.elites, self.best)
            if self.best and (yield from is_better(history, self.best)) is False:
                self.best = history.verified = 0
            self.elites = tuple(dict.fromkeys((self.best, *self.elites)))

    def _select_by_race(self) -> Flow:
        """Race the elites against each other with the rest, if it pays for a first test."""
        left = self.history.left()
        if len(self.elites) < 2 or left is None or left < len(self.elites):
            return
        if self.history.plan.rules.is_front:
            return
        yield from self._race("selection", Proposed(self.elites, left, 1))

    def _drop_rejected(self) -> None:
        """Remove the candidates that were rejected after the last race from the elites."""
        rejected = self.history.rejected
        self.eliminations += [
            Elimination.of_rejected(self._steps, c) for c in self.elites if c in rejected
        ]
        self.elites = tuple(c for c in self.elites if c not in rejected)
        if self.best in rejected:
            self.best = self.elites[0] if self.elites else None

    def _why_over(self) -> Ended:
        known = self.history.known
        if len(self.history.configs) == 1:
            return Ended.ONE_CANDIDATE
        if self.history.evaluations and not known.n_usable:
            return Ended.ALL_FAILED
        all_equal = self.history.evaluations and self.best is None and self.history.is_all_equal
        if all_equal and not self._is_too_short():
            return Ended.ALL_EQUAL
        nothing_new = self.history.plan.is_exact and self._is_exhausted
        return Ended.INSTANCES if nothing_new and self.history.left() != 0 else Ended.BUDGET
